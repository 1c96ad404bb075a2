//! Wire types and rows, one file for each noun.

pub mod cards;
pub mod customers;
pub mod employees;
pub mod offices;
pub mod portraits;
pub mod scans;
pub mod system;

use crate::endpoint::Meta;

/// Every row of the endpoint table.
pub fn rows() -> impl Iterator<Item = &'static Meta> {
    [system::ROWS, offices::ROWS, employees::ROWS, customers::ROWS, cards::ROWS, scans::ROWS, portraits::ROWS]
        .into_iter()
        .flatten()
}
