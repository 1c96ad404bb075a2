//! Wire types and rows, one file for each noun.

pub mod customers;
pub mod employees;
pub mod offices;
pub mod system;

use crate::endpoint::Meta;

/// Every row of the endpoint table.
pub fn rows() -> impl Iterator<Item = &'static Meta> {
    [system::ROWS, offices::ROWS, employees::ROWS, customers::ROWS].into_iter().flatten()
}
