//! What kind of body a row of the endpoint table takes, as table data.

use crate::query::ParamDoc;
use serde_json::Value;

/// How a request body is encoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BodyKind {
    /// A body is ignored.
    None,
    /// `application/json` or `application/*+json`; no content type at all counts as JSON.
    Json,
    /// JSON, whatever content type it has, of those who must send it; that of others is ignored.
    JsonOfSome,
    /// `application/x-www-form-urlencoded`, which no content type at all counts as, or `application/json`
    /// with the same names. Such a body holds a few short words.
    Credentials,
    /// Form parameters: in the query string, as `application/x-www-form-urlencoded`, or as `key=value` text
    /// in a body of any other type.
    Form,
    /// `multipart/form-data` with an image in the part of this name.
    Upload(&'static str),
}

impl BodyKind {
    /// Most bytes of such a body, where the kind sets a limit of its own.
    pub fn bytes_max(self) -> Option<usize> {
        (self == Self::Credentials).then_some(32_768)
    }
}

/// A request body as table data.
#[derive(Debug, Clone, Copy)]
pub struct BodyShape {
    /// Its encoding.
    pub kind: BodyKind,
    /// Its JSON schema.
    pub schema: fn() -> Option<Value>,
    /// The query parameters beside it.
    pub params: fn() -> Vec<ParamDoc>,
}

impl BodyShape {
    /// Parameters alone.
    pub(crate) const fn parameters(kind: BodyKind, params: fn() -> Vec<ParamDoc>) -> Self {
        Self { kind, schema: || None, params }
    }

    /// A JSON body.
    pub(crate) const fn json(schema: fn() -> Option<Value>) -> Self {
        Self { kind: BodyKind::Json, schema, params: Vec::new }
    }
}
