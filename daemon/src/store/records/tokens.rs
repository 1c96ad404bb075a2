//! Records of login: sessions, tokens, failed attempts, used assertions. None of them leaves the store, and
//! of a token only its hash is kept.

use super::*;
use crate::domain::lockout::Attempts;
use crate::store::record::{Record, key, moment};

/// A session of a user.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StoredSession {
    /// The user.
    pub user: String,
    /// Its name: sessions of one user sort by their beginning.
    pub name: String,
    /// When it began.
    pub began: Timestamp,
    /// When it ends.
    pub ends: Timestamp,
    /// How often it was refreshed.
    pub rotation: u32,
    /// Address from which it began; earlier programs did not note it.
    #[serde(default)]
    pub origin: Option<String>,
    /// When it was used last, as far as it was written.
    #[serde(default)]
    pub last_used: Option<Timestamp>,
}

impl Record for StoredSession {
    const SPACE: Space = SESSIONS;
    fn key(&self) -> Vec<u8> {
        key(&[&self.user, &self.name])
    }
    fn index(&self) -> Vec<(Space, Vec<u8>)> {
        vec![(SESSIONS_BY_TIME, key(&[&moment(self.ends)]))]
    }
}

/// What a token is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum TokenKind {
    /// The access token of a session.
    Access {
        /// The session.
        session: String,
    },
    /// A refresh token of a session.
    Refresh {
        /// The session.
        session: String,
        /// How often the session had been refreshed when the token was given.
        rotation: u32,
    },
    /// The access token of an application.
    Application {
        /// The application.
        application: String,
        /// The key that signed for it.
        key: String,
        /// The groups to which it is narrowed.
        scope: Option<Vec<String>>,
        /// Applications that it is intended for.
        intended: Vec<String>,
    },
}

/// A token.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StoredToken {
    /// Its SHA-256 hash, in hexadecimal digits.
    pub hash: String,
    /// The user, if there is one.
    pub user: Option<String>,
    /// When it ends.
    pub ends: Timestamp,
    /// What it is.
    pub kind: TokenKind,
    /// When it was given to an application; earlier programs did not note it.
    #[serde(default)]
    pub given: Option<Timestamp>,
    /// Address of the application.
    #[serde(default)]
    pub origin: Option<String>,
}

impl Record for StoredToken {
    const SPACE: Space = TOKENS;
    fn key(&self) -> Vec<u8> {
        key(&[&self.hash])
    }
    fn index(&self) -> Vec<(Space, Vec<u8>)> {
        let mut entries = vec![(TOKENS_BY_TIME, key(&[&moment(self.ends)]))];
        if let Some(user) = &self.user {
            entries.push((TOKENS_BY_USER, key(&[user])));
        }
        match (&self.kind, &self.user) {
            (TokenKind::Application { application, key: signature, .. }, _) => {
                entries.push((TOKENS_BY_KEY, key(&[application, signature])));
            }
            (TokenKind::Access { session } | TokenKind::Refresh { session, .. }, Some(user)) => {
                entries.push((TOKENS_BY_SESSION, key(&[user, session])));
            }
            _ => {}
        }
        entries
    }
}

/// The failed logins under one name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StoredAttempts {
    /// A keyed hash of what was typed as the name, which may have been a password.
    pub name: String,
    /// Failures since the last lock that still count.
    pub failures: Vec<Timestamp>,
    /// Locks so far.
    pub locks: u32,
    /// When the last lock ends.
    pub locked_until: Option<Timestamp>,
    /// When all of this expires.
    pub forgotten_from: Timestamp,
}

impl Record for StoredAttempts {
    const SPACE: Space = LOGIN_ATTEMPTS;
    fn key(&self) -> Vec<u8> {
        key(&[&self.name])
    }
    fn index(&self) -> Vec<(Space, Vec<u8>)> {
        vec![(LOGIN_ATTEMPTS_BY_TIME, key(&[&moment(self.forgotten_from)]))]
    }
}

/// An address from which a user has logged in. A lock of the name does not hold there until as many failures
/// came from there, too.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct KnownAddress {
    /// The user.
    pub user: String,
    /// A keyed hash of the address.
    pub address: String,
    /// Until when it is known.
    pub until: Timestamp,
    /// Failed logins of the user from there.
    pub attempts: Attempts,
}

impl Record for KnownAddress {
    const SPACE: Space = KNOWN_ADDRESSES;
    fn key(&self) -> Vec<u8> {
        key(&[&self.user, &self.address])
    }
    fn index(&self) -> Vec<(Space, Vec<u8>)> {
        vec![(KNOWN_ADDRESSES_BY_TIME, key(&[&moment(self.until)]))]
    }
}

/// An assertion that was used.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct UsedAssertion {
    /// The application.
    pub application: String,
    /// The SHA-256 hash of its name, in hexadecimal digits.
    pub jti: String,
    /// Until when it is remembered.
    pub until: Timestamp,
}

impl Record for UsedAssertion {
    const SPACE: Space = ASSERTIONS;
    fn key(&self) -> Vec<u8> {
        key(&[&self.application, &self.jti])
    }
    fn index(&self) -> Vec<(Space, Vec<u8>)> {
        vec![(ASSERTIONS_BY_TIME, key(&[&moment(self.until)]))]
    }
}
