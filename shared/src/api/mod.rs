//! Wire types and rows, one file for each noun.

pub mod actions;
pub mod applications;
pub mod audit;
pub mod backup;
pub mod batch;
pub mod cards;
pub mod customers;
pub mod days;
pub mod definitions;
pub mod dividends;
pub mod documents;
pub mod employees;
pub mod events;
pub mod gateways;
pub mod groups;
pub mod instances;
pub mod interest;
mod kinds;
pub mod ledger;
pub mod offices;
pub mod portraits;
pub mod reports;
pub mod roles;
pub mod scans;
pub mod search;
pub mod second_factor;
pub mod sessions;
pub mod system;
pub mod tellers;
pub mod tokens;
pub mod users;
pub mod webhooks;

pub use kinds::kinds;

use crate::endpoint::{Endpoint, Meta, segments};
use std::collections::BTreeMap;

/// Every row of the endpoint table.
pub fn rows() -> impl Iterator<Item = &'static Meta> {
    let nouns = [
        system::ROWS,
        backup::ROWS,
        batch::ROWS,
        search::ROWS,
        tokens::ROWS,
        users::ROWS,
        second_factor::ROWS,
        sessions::ROWS,
        roles::ROWS,
        groups::ROWS,
        applications::ROWS,
        offices::ROWS,
        days::ROWS,
        employees::ROWS,
        customers::ROWS,
        cards::ROWS,
        scans::ROWS,
        portraits::ROWS,
        actions::ROWS,
        definitions::ROWS,
        instances::ROWS,
        dividends::ROWS,
        interest::ROWS,
        ledger::ROWS,
        reports::ROWS,
        gateways::ROWS,
        tellers::ROWS,
        audit::ROWS,
        events::ROWS,
        webhooks::ROWS,
    ];
    nouns.into_iter().flatten()
}

/// Whether the answer holds a secret that is shown once: it is kept for no repetition, of a batch neither.
pub fn answers_secret(meta: &Meta) -> bool {
    let names = [
        second_factor::BeginSecondFactor::META.name,
        second_factor::EnableSecondFactor::META.name,
        webhooks::CreateSubscription::META.name,
    ];
    names.contains(&meta.name)
}

/// The prefixes under which the older split services had the same paths, each followed by `v1`.
pub const OLD_PREFIXES: &[&str] = &["identity", "office", "customer", "deposit", "teller", "notification"];

/// The segments of a path without an old prefix.
pub fn without_prefix(path: &[String]) -> Option<&[String]> {
    let [service, version, rest @ ..] = path else { return None };
    (version == "v1" && OLD_PREFIXES.contains(&service.as_str())).then_some(rest)
}

/// The rows of a path, one for each method, and its segments without an old prefix: with the prefix
/// first, then without it. Literal segments win over parameters.
pub fn rows_at(path: &[String]) -> Option<(Vec<&'static Meta>, &[String])> {
    let fitting = |path: &[String]| {
        let mut by_shape: BTreeMap<Vec<bool>, Vec<&'static Meta>> = BTreeMap::new();
        for row in rows().filter(|row| segments(row.path).count() == path.len()) {
            let mut pairs = segments(row.path).zip(path);
            if pairs.all(|(segment, asked)| segment.starts_with('{') || segment == asked) {
                let shape = segments(row.path).map(|segment| segment.starts_with('{')).collect();
                by_shape.entry(shape).or_default().push(row);
            }
        }
        // The first in this order has its literals earliest.
        by_shape.into_values().next()
    };
    let bare = || without_prefix(path).and_then(|rest| Some((fitting(rest)?, rest)));
    fitting(path).map(|rows| (rows, path)).or_else(bare)
}
