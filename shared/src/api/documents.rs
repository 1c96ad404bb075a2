//! The description of the interface. These rows describe the endpoint table, so they are not in it.

use crate::endpoints;
use crate::wire::{Answer, AnswerKind, AnswerShape, Nothing};

/// 200 with a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Document;

impl Answer for Document {
    const SHAPE: AnswerShape = AnswerShape { kind: AnswerKind::Json, schema: || None };
}

endpoints! {
    application "admin-v1";
    /// Describe every endpoint in the words of OpenAPI.
    GetOpenApi {} Get "/openapi.json" Nothing => Document, public true;
    /// Show every endpoint on a page.
    GetDocs {} Get "/docs" Nothing => Document, public true;
}
