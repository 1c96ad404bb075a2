//! Why a PostgreSQL store cannot be opened.

use std::fmt;

/// Why a store cannot be opened.
#[derive(Debug)]
pub enum OpenError {
    /// The address is wrong.
    Address(String),
    /// No server of the address can be worked with.
    Unreachable {
        /// The address, without its password.
        address: String,
        /// What the last server said.
        why: String,
    },
    /// A later version of this program set the tables up.
    TooNew {
        /// The version that the database names.
        found: i32,
        /// The newest version that this program reads.
        known: i32,
    },
    /// The store is in use, and it is wanted alone, or another version uses it.
    InUse(String),
    /// There are no tables, and none are to be made.
    Missing,
    /// The tables cannot be set up.
    Refused(String),
}

impl fmt::Display for OpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Address(why) => f.write_str(why),
            Self::Unreachable { address, why } => write!(f, "the store {address} cannot be reached: {why}"),
            Self::TooNew { found, known } => write!(
                f,
                "the tables in the database have version {found}, and this program reads versions up to \
                 {known}: use the version of mfa that set them up, or a newer one"
            ),
            Self::InUse(why) => f.write_str(why),
            Self::Missing => f.write_str("the database holds no store"),
            Self::Refused(why) => write!(f, "the store cannot be set up: {why}"),
        }
    }
}

impl std::error::Error for OpenError {}
