//! Passwords are kept only as argon2id hashes. Contract: `decisions.md` section 9.

use argon2::password_hash::{PasswordHasher, PasswordVerifier, phc::PasswordHash};
use argon2::{Algorithm, Argon2, Params, Version};

/// Memory of one hash.
pub const MEMORY_KIB: u32 = 19 * 1024;
/// Passes over it.
pub const PASSES: u32 = 2;
/// Lanes.
pub const LANES: u32 = 1;
/// Length of the salt.
pub const SALT_BYTES: usize = 16;

/// A hash that no password fits: an unknown user takes as much time as a wrong password.
const NOBODY: &str = "$argon2id$v=19$m=19456,t=2,p=1$bm9ib2R5IGlzIGhlcmUh$\
    AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";

#[expect(clippy::expect_used, reason = "parameters within the bounds")]
fn argon2id() -> Argon2<'static> {
    let params = Params::new(MEMORY_KIB, PASSES, LANES, None).expect("parameters within the bounds");
    Argon2::new(Algorithm::Argon2id, Version::V0x13, params)
}

/// Hashes a password; tens of milliseconds of work, never to be done where others wait.
#[expect(clippy::expect_used, reason = "a password of bounded length and a salt of the right one")]
pub fn hash(password: &str, salt: &[u8; SALT_BYTES]) -> String {
    let hash = argon2id().hash_password_with_salt(password.as_bytes(), salt);
    hash.expect("a password of bounded length and a salt of the right one").to_string()
}

/// Whether the password fits the hash; with no hash it never does, in the same time.
#[expect(clippy::expect_used, reason = "a constant hash")]
pub fn verify(password: &str, stored: Option<&str>) -> bool {
    let parsed = stored.and_then(|stored| PasswordHash::new(stored).ok());
    let known = parsed.is_some();
    let nobody = || PasswordHash::new(NOBODY).expect("a constant hash");
    let hash = parsed.unwrap_or_else(nobody);
    // The hash contains its parameters, so older hashes still verify after new ones are made stronger.
    argon2id().verify_password(password.as_bytes(), &hash).is_ok() && known
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_fits_its_own_hash_only() {
        let stored = hash("blue kettle 7", &[7; SALT_BYTES]);
        assert!(stored.starts_with("$argon2id$v=19$m=19456,t=2,p=1$"), "{stored}");
        assert!(verify("blue kettle 7", Some(&stored)));
        assert!(!verify("blue kettle 8", Some(&stored)));
        assert!(!verify("", Some(&stored)));
        assert_ne!(stored, hash("blue kettle 7", &[8; SALT_BYTES]));
    }

    #[test]
    fn an_unknown_user_takes_as_long_to_refuse_as_a_known_one() {
        let nobody = PasswordHash::new(NOBODY).unwrap();
        let somebody = hash("x", &[1; SALT_BYTES]);
        let somebody = PasswordHash::new(&somebody).unwrap();
        assert_eq!(nobody.params, somebody.params);
        assert_eq!(nobody.hash.unwrap().len(), somebody.hash.unwrap().len());
        for password in ["", "blue kettle 7", "\0"] {
            assert!(!verify(password, None));
            assert!(!verify(password, Some("no hash at all")));
        }
    }
}
