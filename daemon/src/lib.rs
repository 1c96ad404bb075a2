//! The mfa daemon as a library: `mfa daemon run` and the tests start it.

pub mod clock;
pub mod config;
pub mod domain;
pub mod store;

pub use clock::Clock;
pub use config::{Auth, Config};

use std::fmt;
use std::net::SocketAddr;

/// A running daemon.
#[derive(Debug)]
pub struct Daemon {
    address: SocketAddr,
}

/// Why a daemon did not start.
#[derive(Debug)]
pub enum StartError {
    /// Another process holds the data directory.
    Locked(String),
    /// The store cannot be opened.
    Store(String),
    /// The address cannot be listened on.
    Listen(String),
    /// The settings do not go together.
    Settings(String),
}

impl fmt::Display for StartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Locked(why) | Self::Store(why) | Self::Listen(why) | Self::Settings(why) => {
                f.write_str(why)
            }
        }
    }
}

impl std::error::Error for StartError {}

impl Daemon {
    /// Opens the store, makes it if it is not there, and serves.
    pub async fn start(config: Config, _clock: Clock) -> Result<Self, StartError> {
        Err(StartError::Listen(format!("cannot listen on {}", config.listen)))
    }

    /// The address on which it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Ends when the store takes no writes any more and the process should leave.
    pub async fn failed(&self) -> String {
        std::future::pending().await
    }

    /// Stops: readiness first, then the running requests, then the store.
    pub async fn stop(self) {}
}

/// What `mfa init` made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Initialized {
    /// Whether the store was made now; false if it was there.
    pub created: bool,
    /// Name of the store.
    pub instance: String,
}

/// Makes the store, if it is not there, without serving.
pub async fn init(config: &Config) -> Result<Initialized, StartError> {
    Err(StartError::Store(format!("cannot make a store in {}", config.data_dir.display())))
}
