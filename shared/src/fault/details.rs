//! What a fault can say beside its code and detail.

use super::problem::quoted;
use super::{Fault, GatewayFailure, UNKNOWN_REFERENCE, operation_words};
use crate::identifier::shown;
use crate::permission::Permission;
use crate::rule::FieldError;

impl Fault {
    /// The same fault with the seconds until another try makes sense.
    pub fn retry_after(mut self, seconds: u32) -> Self {
        self.0.retry_after = Some(seconds);
        self
    }

    /// The same fault with the permissions that the caller lacks.
    pub fn missing(mut self, permissions: Vec<Permission>) -> Self {
        self.0.missing = Some(permissions);
        self
    }

    /// The same fault with an OAuth 2.0 error word.
    pub fn error(mut self, word: &'static str) -> Self {
        self.0.error = Some(word);
        self
    }

    /// The same fault with how far a message came.
    pub fn gateway(mut self, stage: &'static str, code: Option<u16>) -> Self {
        self.0.gateway = Some(GatewayFailure { stage, code });
        self
    }

    /// The same fault as the reason why a whole batch is refused: its operation is named, and the places of
    /// bad fields are those in the batch.
    pub fn of_operation(mut self, index: usize, method: &str, path: &str) -> Self {
        let detail = quoted(&self, path);
        self.0.detail = format!("{}{method} {}: {detail}", operation_words(index), shown(path));
        for error in &mut self.0.errors {
            error.field = format!("/operations/{index}/body{}", error.field);
        }
        self.0.operation = Some(index);
        self
    }

    /// The same fault with the lock that it began, if it began one.
    pub fn locking(mut self, seconds: Option<u32>) -> Self {
        self.0.locked_seconds = seconds;
        self
    }

    /// The same fault with the methods of the path.
    pub fn allow(mut self, methods: String) -> Self {
        self.0.allow = Some(methods);
        self
    }
}

impl FieldError {
    /// A field that names a record which does not exist.
    pub fn unknown_reference(pointer: &str, noun: &str, name: &str) -> Self {
        let field = pointer.to_owned();
        let code = UNKNOWN_REFERENCE.code.to_owned();
        Self { field, code, detail: format!("{pointer} names {noun} \"{name}\", which does not exist") }
    }
}
