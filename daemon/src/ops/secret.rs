//! Passwords in requests. Hashing one takes tens of milliseconds, so it is done before the transaction
//! begins, and what came out is handed to the operation.

use crate::domain::password::{self, SALT_BYTES};
use mfa_shared::fault::{self, Fault};

/// The result for a password before the transaction.
#[derive(Clone, Default)]
pub struct Judged {
    /// Its fresh hash, where one was wanted.
    pub hash: Option<String>,
    /// The stored hash with which it was compared, if there was one.
    pub compared: Option<String>,
    /// The stored hash that it fits. It was read before the transaction, so it must be compared with what
    /// is stored by then.
    pub fits: Option<String>,
    /// The stored hash that the present password fits, where it was sent beside a new one.
    pub present: Option<String>,
}

impl std::fmt::Debug for Judged {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Judged").finish_non_exhaustive()
    }
}

impl Judged {
    /// Compares a password with a stored hash, and hashes it with a salt.
    pub fn new(plain: &str, stored: Option<&str>, salt: Option<&[u8; SALT_BYTES]>) -> Self {
        let fits = stored.filter(|stored| password::verify(plain, Some(stored)));
        let hash = salt.map(|salt| password::hash(plain, salt));
        let compared = stored.map(str::to_owned);
        Self { hash, compared, fits: fits.map(str::to_owned), present: None }
    }

    /// The hash to be stored.
    pub fn hash(&self) -> Result<String, Fault> {
        let hash = self.hash.clone();
        hash.ok_or_else(|| Fault::new(fault::INTERNAL, "the password was not hashed before the transaction"))
    }
}

/// Whether a password matches a stored hash; without a hash it never does, and takes the same time.
pub fn fits(plain: &str, stored: Option<&str>) -> bool {
    password::verify(plain, stored)
}
