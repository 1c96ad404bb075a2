//! What each kind of record needs for being applied.

use crate::command::noun::{Apply, Noun};
use crate::failure::Outcome;
use crate::input::Row;
use crate::nouns;
use mfa_shared::endpoint::Meta;
use serde_json::Value;
use std::ops::Deref;
use std::sync::LazyLock;

pub struct Kind {
    pub name: &'static str,
    /// The property that names a record.
    pub key: &'static str,
    /// The property that is in the path and not in the body: the record that contains this one.
    pub within: Option<&'static str>,
    /// The endpoint that reads a record.
    pub read: &'static Meta,
    pub create: Row,
    pub change: Row,
    pub noun: &'static Noun,
    apply: &'static Apply,
}

impl Kind {
    fn of(noun: &'static Noun) -> Option<Self> {
        let apply = noun.apply.as_ref()?;
        Some(Self {
            name: apply.kind,
            key: noun.key,
            within: noun.within.first().copied(),
            read: noun.read?,
            create: noun.create?,
            change: noun.change?,
            noun,
            apply,
        })
    }

    /// The body that changes a record, from the whole record.
    pub fn changed(&self, record: &Value) -> Outcome<Value> {
        self.change.held(&(self.noun.change_body)(record))
    }
}

impl Deref for Kind {
    type Target = Apply;
    fn deref(&self) -> &Apply {
        self.apply
    }
}

/// Every kind, in the order in which records are sent that do not depend on each other.
pub static KINDS: LazyLock<Vec<Kind>> = LazyLock::new(|| {
    let mut kinds: Vec<_> = nouns::all().iter().filter_map(|noun| Kind::of(noun)).collect();
    kinds.sort_by_key(|kind| kind.place);
    kinds
});

pub fn find(name: &str) -> Option<&'static Kind> {
    KINDS.iter().find(|kind| kind.name == name)
}
