//! Tokens and sessions. Contract: `identity.md` section 6.
//!
//! A token is opaque: 256 random bits in base64url after a prefix that shows its kind. Only its SHA-256 hash
//! is stored. A login begins a session, which has one refresh token at a time and ends as a whole.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use mfa_shared::time::Timestamp;
use sha2::{Digest, Sha256};

/// Random bytes of a token.
pub const TOKEN_BYTES: usize = 32;
/// Sessions of one user; the oldest ends when another begins.
pub const SESSIONS_MAX: usize = 50;
/// How long a `jti` is remembered after the end of its assertion.
pub const JTI_SECONDS: i64 = 60;

/// What a token is good for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Requests.
    Access,
    /// Letting a session go on.
    Refresh,
}

impl Kind {
    fn prefix(self) -> &'static str {
        match self {
            Self::Access => "mfaa_",
            Self::Refresh => "mfar_",
        }
    }

    /// Writes a token of this kind.
    pub fn write(self, random: &[u8; TOKEN_BYTES]) -> String {
        format!("{}{}", self.prefix(), URL_SAFE_NO_PAD.encode(random))
    }

    /// Whether a text has the form of such a token.
    pub fn fits(self, text: &str) -> bool {
        let random = text.strip_prefix(self.prefix()).and_then(|rest| URL_SAFE_NO_PAD.decode(rest).ok());
        random.is_some_and(|random| random.len() == TOKEN_BYTES)
    }
}

/// The hash under which a text is known, in hexadecimal digits.
pub fn hash(text: &str) -> String {
    // This is done for every request, and a formatted byte costs as much as the whole hash.
    let digits =
        |byte: &u8| [byte >> 4, byte & 15].map(|digit| char::from(b"0123456789abcdef"[usize::from(digit)]));
    Sha256::digest(text.as_bytes()).iter().flat_map(digits).collect()
}

/// How long tokens live.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lifetimes {
    /// An access token.
    pub access_seconds: u32,
    /// A session, from the login to its end.
    pub session_seconds: u32,
}

/// What a login began.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Session {
    /// When it began.
    pub began: Timestamp,
    /// When it ends; refreshing never moves this.
    pub ends: Timestamp,
    /// How often it was refreshed; the refresh token of this count is the one that may be used.
    pub rotation: u32,
}

/// What a refresh token does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refresh {
    /// The session goes on with a new token.
    Rotated(Session),
    /// The token was used before, so someone else has it: the session ends.
    Reused,
    /// The session is over.
    Over,
}

impl Session {
    /// A session that begins.
    pub fn begin(now: Timestamp, lifetimes: Lifetimes) -> Self {
        Self { began: now, ends: now.plus_seconds(lifetimes.session_seconds.into()), rotation: 0 }
    }

    /// When an access token that is given now ends: never after the session.
    pub fn access_ends(&self, now: Timestamp, lifetimes: Lifetimes) -> Timestamp {
        now.plus_seconds(lifetimes.access_seconds.into()).min(self.ends)
    }

    /// Its refresh token of the given count is used.
    pub fn refresh(&self, rotation: u32, now: Timestamp) -> Refresh {
        if now >= self.ends {
            Refresh::Over
        } else if rotation != self.rotation {
            Refresh::Reused
        } else {
            Refresh::Rotated(Self { rotation: self.rotation.saturating_add(1), ..self.clone() })
        }
    }
}

/// The whole seconds from now to an end, rounded down.
pub fn expires_in_seconds(ends: Timestamp, now: Timestamp) -> i64 {
    (ends.millis() - now.millis()).max(0) / 1000
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIFETIMES: Lifetimes = Lifetimes { access_seconds: 1200, session_seconds: 54_000 };

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_millis(1_900_000_000_000).plus_seconds(seconds)
    }

    #[test]
    fn a_token_has_a_prefix_and_256_bits_and_is_known_by_its_hash() {
        let access = Kind::Access.write(&[0xfb; TOKEN_BYTES]);
        assert_eq!((access.len(), &access[..5]), (48, "mfaa_"));
        assert!(Kind::Access.fits(&access) && !Kind::Refresh.fits(&access));
        for cut in ["", "mfaa_", &access[..47], &access[5..], &format!("{access}A"), &format!("{access}=")] {
            assert!(!Kind::Access.fits(cut), "{cut}");
        }
        assert!(Kind::Refresh.fits(&Kind::Refresh.write(&[0; TOKEN_BYTES])));
        assert_ne!(hash(&access), hash(&Kind::Refresh.write(&[0xfb; TOKEN_BYTES])));
    }

    #[test]
    fn a_refresh_token_is_used_once_and_using_it_again_ends_the_session() {
        let session = Session::begin(at(0), LIFETIMES);
        let Refresh::Rotated(next) = session.refresh(0, at(10)) else { panic!("the token was good") };
        assert_eq!((next.rotation, next.ends), (1, session.ends));
        assert_eq!(next.refresh(0, at(11)), Refresh::Reused);
        assert!(matches!(next.refresh(1, at(53_999)), Refresh::Rotated(_)));
        assert_eq!(next.refresh(1, at(54_000)), Refresh::Over);
    }

    #[test]
    fn an_access_token_never_outlives_its_session() {
        let session = Session::begin(at(0), LIFETIMES);
        assert_eq!(session.access_ends(at(0), LIFETIMES), at(1200));
        assert_eq!(session.access_ends(at(53_000), LIFETIMES), at(54_000));
        assert_eq!(expires_in_seconds(at(54_000), at(53_000)), 1000);
        assert_eq!(expires_in_seconds(Timestamp::from_millis(1999), Timestamp::from_millis(0)), 1);
        assert_eq!(expires_in_seconds(at(0), at(5)), 0);
    }
}
