//! Backups of the whole store, made while the daemon serves.

use crate::endpoints;
use crate::wire::{Answer, AnswerKind, AnswerShape, Nothing};
use serde_json::json;

/// Content type of the bytes of a file.
pub const FILE_TYPE: &str = "application/octet-stream";

/// 200 with the bytes of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileBytes;

impl Answer for FileBytes {
    const SHAPE: AnswerShape = AnswerShape {
        kind: AnswerKind::File,
        schema: || Some(json!({ "type": "string", "format": "binary" })),
    };
}

endpoints! {
    application "admin-v1";
    /// Stream a backup of the whole store, as it is at one moment.
    GetBackup {} Get "/admin/backup" Nothing => FileBytes;
}
