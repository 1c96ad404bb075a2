//! Errors in a set of files.

use crate::failure::{Failure, codes};
use mfa_shared::rule::FieldError;

/// What to do where a secret is not where it is looked for.
pub const LACKS_SECRET: &str =
    "put each secret where it is looked for: a file holds it alone, on one line; see: mfa help apply";

/// All that was found, in the order of the files.
#[derive(Debug, Default)]
pub struct Findings {
    errors: Vec<FieldError>,
    hint: String,
    lacks_secret: bool,
}

impl Findings {
    /// Notes an error in a field of the document at a place.
    pub fn add(&mut self, place: &str, field: &str, what: &str) {
        let detail = format!("{place}: {what}");
        self.errors.push(FieldError { field: field.to_owned(), code: "invalid_document".to_owned(), detail });
    }

    /// As [`Findings::add`], with what to do next.
    pub fn hint(&mut self, place: &str, field: &str, what: &str, hint: impl Into<String>) {
        if self.errors.is_empty() {
            self.hint = hint.into();
        }
        self.add(place, field, what);
    }

    /// Notes what a rule of the interface refuses.
    pub fn refused(&mut self, place: &str, failure: &Failure) {
        self.lacks_secret |= failure.hint == LACKS_SECRET;
        for error in &failure.errors {
            let detail = format!("{place}: {}", error.detail);
            self.errors.push(FieldError { detail, ..error.clone() });
        }
        if failure.errors.is_empty() {
            self.add(place, "", &failure.message);
        }
    }

    /// Refuses the set if anything is wrong with it.
    pub fn settle(&mut self) -> Result<(), Failure> {
        let message = match self.errors.as_slice() {
            [] => return Ok(()),
            [one] => one.detail.clone(),
            several => format!("{} mistakes in the files; nothing was sent", several.len()),
        };
        let hint = if self.lacks_secret {
            LACKS_SECRET.to_owned()
        } else if self.errors.len() == 1 && !self.hint.is_empty() {
            std::mem::take(&mut self.hint)
        } else {
            "see: mfa help apply".to_owned()
        };
        let failure = Failure::new(codes::INVALID_FILES, message).hint(hint);
        Err(failure.about(std::mem::take(&mut self.errors)))
    }
}
