//! Wire types and rows, one file for each noun.

pub mod actions;
pub mod cards;
pub mod customers;
pub mod definitions;
pub mod employees;
pub mod instances;
pub mod ledger;
pub mod offices;
pub mod system;

use crate::endpoint::Meta;

/// Every row of the endpoint table.
pub fn rows() -> impl Iterator<Item = &'static Meta> {
    let nouns = [
        system::ROWS,
        offices::ROWS,
        employees::ROWS,
        customers::ROWS,
        cards::ROWS,
        actions::ROWS,
        definitions::ROWS,
        instances::ROWS,
        ledger::ROWS,
    ];
    nouns.into_iter().flatten()
}
