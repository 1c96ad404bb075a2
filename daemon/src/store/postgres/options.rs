//! Settings of a PostgreSQL store.

use super::address::Address;
use crate::clock::Clock;
use crate::store::engine::Space;

/// Settings of a PostgreSQL store.
#[derive(Debug, Clone)]
pub struct Options {
    /// Where it is.
    pub address: Address,
    /// Most connections for requests.
    pub connections_max: usize,
    /// The spaces that get a view under their name.
    pub spaces: &'static [Space],
    /// Whether no other program may use the store meanwhile.
    pub alone: bool,
    /// The clock that must agree with that of the database, if one must.
    pub clock: Option<Clock>,
    /// Whether tables are made where there are none.
    pub makes: bool,
}

impl Options {
    /// The usual sizes.
    pub fn new(address: Address, spaces: &'static [Space]) -> Self {
        Self { address, connections_max: 16, spaces, alone: false, clock: Some(Clock::system()), makes: true }
    }

    /// Connections for reads that take long, beside this many for requests: half as many, from 2 to 4.
    #[must_use]
    pub fn long_connections(connections_max: usize) -> usize {
        (connections_max / 2).clamp(2, 4)
    }
}
