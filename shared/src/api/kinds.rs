//! The kinds of records of all nouns.

use super::{
    actions, applications, cards, customers, days, definitions, employees, gateways, groups, instances,
    offices, portraits, roles, scans, second_factor, sessions, tellers, users,
};
use crate::kind::Kind;

/// Subscriptions name kinds of records, so their own kind is not in their file.
const WEBHOOKS: &[Kind] = &[Kind::of("webhook", "/events/subscriptions/{}", "identifier", "GetSubscription")];

/// Every kind of record. Where the path of one begins with that of another, the longer one is meant.
pub fn kinds() -> impl Iterator<Item = &'static Kind> {
    let nouns = [
        users::KINDS,
        second_factor::KINDS,
        sessions::KINDS,
        roles::KINDS,
        groups::KINDS,
        applications::KINDS,
        offices::KINDS,
        days::KINDS,
        tellers::KINDS,
        employees::KINDS,
        customers::KINDS,
        portraits::KINDS,
        cards::KINDS,
        scans::KINDS,
        actions::KINDS,
        definitions::KINDS,
        instances::KINDS,
        gateways::KINDS,
        tellers::TRANSACTION_KIND,
        tellers::RECEIPT_KIND,
        WEBHOOKS,
    ];
    nouns.into_iter().flatten()
}
