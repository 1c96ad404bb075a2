//! What a transaction does with secrets: it encrypts and decrypts those of records, and hashes texts under
//! the keys of the store.

use super::record::{Record, key};
use super::seal::{Keys, Place, Sealed};
use super::tx::Tx;
use crate::secret::Secret;
use mfa_shared::fault::{self, Fault};
use std::sync::Arc;

impl Tx<'_> {
    /// The same transaction with the keys of secrets.
    pub fn with_keys(mut self, keys: Option<Arc<Keys>>) -> Self {
        self.keys = keys;
        self
    }

    /// Encrypts a secret for a field of a record.
    pub fn seal<R: Record>(&self, record: &R, field: &'static str, secret: &Secret) -> Result<Sealed, Fault> {
        Ok(self.keys()?.seal(&Place::of(record, field), secret))
    }

    /// Encrypts a secret for a field of the record with this key, before there is one.
    pub fn seal_for<R: Record>(
        &self,
        parts: &[&str],
        field: &'static str,
        secret: &Secret,
    ) -> Result<Sealed, Fault> {
        Ok(self.keys()?.seal(&Place::new(R::SPACE, key(parts), field), secret))
    }

    /// Decrypts a secret of a record. One that was changed is refused, never used.
    pub fn unseal<R: Record>(
        &self,
        record: &R,
        field: &'static str,
        sealed: &Sealed,
    ) -> Result<Secret, Fault> {
        self.keys()?.open(&Place::of(record, field), sealed).ok_or_else(|| {
            let key = String::from_utf8_lossy(&record.key()).into_owned();
            tracing::error!(space = R::SPACE.name, key, field, "a stored secret does not decrypt");
            let detail =
                format!("the {field} of {key} in {} was changed or is of another key", R::SPACE.name);
            Fault::new(fault::INTERNAL, detail)
        })
    }

    /// Keyed hashes of a text under each key of the key file, that of the key in use first.
    pub fn hashes(&self, purpose: &str, text: &[u8]) -> Result<Vec<String>, Fault> {
        Ok(self.keys()?.hashes(purpose, text))
    }

    /// The entity tag of a representation.
    pub fn tag(&self, representation: &[u8]) -> Result<String, Fault> {
        Ok(self.keys()?.tag(representation))
    }

    /// The keys of secrets.
    pub(super) fn keys(&self) -> Result<&Keys, Fault> {
        let none = || Fault::new(fault::INTERNAL, "the store was opened without the keys of its secrets");
        self.keys.as_deref().ok_or_else(none)
    }
}
