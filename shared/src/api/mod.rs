//! Wire types and rows, one file for each noun.

pub mod customers;
pub mod offices;
pub mod system;
pub mod tellers;

use crate::endpoint::Meta;

/// Every row of the endpoint table.
pub fn rows() -> impl Iterator<Item = &'static Meta> {
    [system::ROWS, offices::ROWS, customers::ROWS].into_iter().flatten()
}
