//! Wire types and rows, one file for each noun.

pub mod actions;
pub mod applications;
pub mod batch;
pub mod cards;
pub mod customers;
pub mod definitions;
pub mod documents;
pub mod employees;
pub mod gateways;
pub mod groups;
pub mod instances;
pub mod ledger;
pub mod offices;
pub mod portraits;
pub mod roles;
pub mod scans;
pub mod system;
pub mod tellers;
pub mod tokens;
pub mod users;

use crate::endpoint::Meta;

/// Every row of the endpoint table.
pub fn rows() -> impl Iterator<Item = &'static Meta> {
    let nouns = [
        system::ROWS,
        batch::ROWS,
        tokens::ROWS,
        users::ROWS,
        roles::ROWS,
        groups::ROWS,
        applications::ROWS,
        offices::ROWS,
        employees::ROWS,
        customers::ROWS,
        cards::ROWS,
        scans::ROWS,
        portraits::ROWS,
        actions::ROWS,
        definitions::ROWS,
        instances::ROWS,
        ledger::ROWS,
        gateways::ROWS,
        tellers::ROWS,
    ];
    nouns.into_iter().flatten()
}
