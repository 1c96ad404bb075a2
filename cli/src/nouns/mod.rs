//! The nouns: one file for each, with its record, and under it its flags and the verbs that only it has.

pub mod accounts;
pub mod actions;
pub mod applications;
pub mod audit;
pub mod cards;
pub mod customers;
pub mod day;
pub mod employees;
pub mod events;
pub mod gateways;
pub mod groups;
pub mod interest;
pub mod ledger;
pub mod offices;
pub mod products;
pub mod report;
pub mod roles;
pub mod second_factor;
pub mod sessions;
pub mod teller;
pub mod users;
pub mod webhooks;

use crate::command::noun::Noun;
use std::sync::LazyLock;

/// Every noun, in the order in which help shows them.
pub const NOUNS: &[&Noun] = &[
    &offices::NOUN,
    &employees::NOUN,
    &customers::NOUN,
    &cards::NOUN,
    &products::NOUN,
    &accounts::NOUN,
    &interest::NOUN,
    &ledger::NOUN,
    &report::NOUN,
    &actions::NOUN,
    &teller::NOUN,
    &day::NOUN,
    &users::NOUN,
    &roles::NOUN,
    &groups::NOUN,
    &applications::NOUN,
    &sessions::NOUN,
    &second_factor::NOUN,
    &gateways::NOUN,
    &webhooks::NOUN,
    &audit::NOUN,
    &events::NOUN,
];

/// Every noun, with those that are inside others.
pub fn all() -> &'static [&'static Noun] {
    static ALL: LazyLock<Vec<&'static Noun>> = LazyLock::new(|| {
        let mut found = NOUNS.to_vec();
        let mut next = 0;
        while let Some(noun) = found.get(next) {
            found.extend(noun.parts);
            next += 1;
        }
        found
    });
    &ALL
}

/// Every name of the noun that is called by a word.
pub fn called(word: &str) -> Vec<&'static str> {
    let names = |noun: &Noun| [noun.typed].into_iter().chain(noun.alias.split_whitespace());
    let found = NOUNS.iter().find(|noun| names(noun).any(|name| name == word));
    found.map_or(Vec::new(), |noun| names(noun).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use mfa_shared::api::kinds;

    /// A session and a second factor have no identifier of their own that a person knows: the history of the
    /// user has what happened to them.
    const OF_THE_USER: [&str; 2] = ["session", "second-factor"];

    #[test]
    fn every_kind_of_the_audit_trail_is_the_history_of_one_noun() {
        for kind in kinds().filter(|kind| !OF_THE_USER.contains(&kind.name)) {
            let nouns: Vec<_> = all().iter().filter(|noun| noun.history == kind.name).collect();
            let [noun] = nouns[..] else { panic!("{}: {} nouns", kind.name, nouns.len()) };
            assert_eq!(noun.address().len(), kind.path.matches("{}").count(), "{}", noun.typed);
        }
    }
}
