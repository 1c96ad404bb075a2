//! Errors of a connection, sorted by what follows from them.

use mfa_shared::fault::{DISK_FULL, Fault, INTERNAL, UNAVAILABLE};
use rustls::CertificateError;
use std::fmt;
use std::io;
use tokio_postgres::Error;
use tokio_postgres::error::SqlState;

/// Seconds after which a client may try again.
const RETRY_AFTER_S: u32 = 2;

/// What the server says when its disk is full, as the end of [`Trouble::Lost`].
const DISK_FULL_STATE: &str = "(SQLSTATE 53100)";

/// How a refused certificate is reported.
const BAD_CERTIFICATE: &str = "invalid peer certificate";

/// What follows from an error.
#[derive(Debug, Clone)]
pub(super) enum Trouble {
    /// A conflict with another transaction: run it again.
    Conflict,
    /// The connection is of no use any more, or the server does not take writes.
    Lost(String),
    /// The server lacks commits that were acknowledged, or would give later ones a place before them, in
    /// words.
    Lacks(String),
    /// A statement took too long; the connection may still be good, but no one waits for it.
    TooLong,
    /// This program and the database do not go together.
    Defect(String),
}

/// A temporary fault.
pub(super) fn unavailable(detail: &str) -> Fault {
    Fault::new(UNAVAILABLE, detail).retry_after(RETRY_AFTER_S)
}

impl From<Error> for Trouble {
    fn from(error: Error) -> Self {
        let Some(state) = error.code() else { return Self::Lost(with_causes(&error)) };
        let code = state.code();
        if *state == SqlState::T_R_SERIALIZATION_FAILURE || *state == SqlState::T_R_DEADLOCK_DETECTED {
            return Self::Conflict;
        }
        // Statement limit, lock limit.
        if *state == SqlState::QUERY_CANCELED || *state == SqlState::LOCK_NOT_AVAILABLE {
            return Self::TooLong;
        }
        // The message of the server may quote values, so logs get the code and the plain message only.
        let text = error.as_db_error().map_or_else(String::new, |e| e.message().to_owned());
        let text = format!("{text} (SQLSTATE {code})");
        if is_of_connection(code) { Self::Lost(text) } else { Self::Defect(text) }
    }
}

/// Whether another connection may do what this one cannot.
fn is_of_connection(code: &str) -> bool {
    // Connection, authentication, resources, operator (shutdown, start-up), system.
    let classes = ["08", "28", "53", "57", "58"];
    // A read-only server; a transaction that idled too long, or was given up; a statement that is not
    // prepared, as behind a pooler, or whose tables have changed since.
    let codes = ["25006", "25P03", "25P02", "26000", "0A000"];
    classes.iter().any(|class| code.starts_with(class)) || codes.contains(&code)
}

/// An error with what is behind it; the driver itself says no more than that the handshake failed.
fn with_causes(error: &Error) -> String {
    let mut text = error.to_string();
    let mut cause = std::error::Error::source(error);
    while let Some(error) = cause {
        let tls = error.downcast_ref::<io::Error>().and_then(|e| e.get_ref()?.downcast_ref());
        text = match tls {
            Some(rustls::Error::InvalidCertificate(CertificateError::UnknownIssuer)) => {
                format!("{text}: {BAD_CERTIFICATE}: no authority in sslrootcert has signed it")
            }
            _ => format!("{text}: {error}"),
        };
        cause = error.source();
    }
    text
}

impl Trouble {
    /// Whether trying again at once is of no use: a wrong password or user, a certificate that is refused,
    /// a database that is not there.
    pub(super) fn is_hopeless(&self) -> bool {
        match self {
            Self::Defect(_) => true,
            Self::Lost(why) => why.contains("SQLSTATE 28") || why.contains(BAD_CERTIFICATE),
            Self::Conflict | Self::TooLong | Self::Lacks(_) => false,
        }
    }

    /// The fault for the client; the log gets the reason, see [`Trouble::log`].
    pub(super) fn fault(&self) -> Fault {
        match self {
            Self::Conflict => unavailable("too many requests change the same records at once"),
            Self::Lost(why) if why.ends_with(DISK_FULL_STATE) => {
                let detail = "the disk of the database is full, so nothing was changed";
                Fault::new(DISK_FULL, detail).retry_after(RETRY_AFTER_S)
            }
            Self::Lost(_) => unavailable("the connection to the database was lost"),
            Self::Lacks(why) => unavailable(why),
            Self::TooLong => unavailable("the database did not answer in time"),
            Self::Defect(_) => Fault::new(INTERNAL, "the database refused a statement"),
        }
    }

    /// Writes the reason to the log.
    pub(super) fn log(&self) {
        match self {
            Self::Defect(why) => tracing::error!(why, "the database refused a statement"),
            other => tracing::warn!(why = %other, "a transaction on the database failed"),
        }
    }
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Conflict => f.write_str("a conflict with another transaction"),
            Self::TooLong => f.write_str("no answer in time"),
            Self::Lost(why) | Self::Lacks(why) | Self::Defect(why) => f.write_str(why),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_statement_that_the_connection_does_not_know_is_no_defect() {
        for code in ["26000", "0A000", "57P01", "25006"] {
            assert!(is_of_connection(code), "{code}");
        }
        for code in ["23505", "42601", "22P02"] {
            assert!(!is_of_connection(code), "{code}");
        }
    }

    #[test]
    fn a_full_disk_of_the_database_is_named() {
        let lost = |text: &str| Trouble::Lost(text.to_owned()).fault().kind;
        assert_eq!(lost("could not extend file \"base/1/2\" (SQLSTATE 53100)"), DISK_FULL);
        assert_eq!(lost("too many clients already (SQLSTATE 53300)"), UNAVAILABLE);
    }
}
