//! Settings of a PostgreSQL store.

use super::address::Address;
use crate::store::engine::Space;

/// Settings of a PostgreSQL store.
#[derive(Debug, Clone)]
pub struct Options {
    /// Where it is.
    pub address: Address,
    /// Connections for requests.
    pub connections_max: usize,
    /// Connections for reads that take long.
    pub long_connections_max: usize,
    /// The spaces that get a view under their name.
    pub spaces: &'static [Space],
    /// Whether no other program may use the store meanwhile.
    pub alone: bool,
}

impl Options {
    /// Connections for reads that take long, beside those that the settings say.
    pub const LONG_CONNECTIONS: usize = 4;

    /// The usual sizes.
    pub fn new(address: Address, spaces: &'static [Space]) -> Self {
        Self {
            address,
            connections_max: 16,
            long_connections_max: Self::LONG_CONNECTIONS,
            spaces,
            alone: false,
        }
    }
}
