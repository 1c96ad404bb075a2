//! Spaces, keys and changes: what an engine keeps.

use mfa_shared::fault::Fault;
use std::cmp::Ordering;
use std::future::Future;
use std::pin::Pin;

/// One ordered space of keys. The number is part of the stored form and never changes its meaning.
#[derive(Debug, Clone, Copy)]
pub struct Space {
    /// Number in the stored form.
    pub id: u8,
    /// Name for people, and for an engine that has tables.
    pub name: &'static str,
}

/// The number alone makes a space what it is: the journal knows no names.
impl PartialEq for Space {
    fn eq(&self, other: &Self) -> bool {
        self.id == other.id
    }
}

impl Eq for Space {}

impl Ord for Space {
    fn cmp(&self, other: &Self) -> Ordering {
        self.id.cmp(&other.id)
    }
}

impl PartialOrd for Space {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// A key and its value.
pub type Pair = (Vec<u8>, Vec<u8>);

/// Keys from `from` (included) to `to` (excluded; `None` is the end of the space).
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Range {
    /// First key.
    pub from: Vec<u8>,
    /// First key behind the range.
    pub to: Option<Vec<u8>>,
}

impl Range {
    /// Every key that starts with `prefix`.
    pub fn prefix(prefix: &[u8]) -> Self {
        let mut to = prefix.to_vec();
        while to.last() == Some(&0xff) {
            to.pop();
        }
        let to = match to.last_mut() {
            Some(last) => {
                *last += 1;
                Some(to)
            }
            None => None,
        };
        Self { from: prefix.to_vec(), to }
    }

    /// Leaves out what was seen up to this key, in the order of a scan.
    pub fn pass(&mut self, last: &[u8], reverse: bool) {
        if reverse {
            self.to = Some(last.to_vec());
        } else {
            self.from = [last, &[0]].concat();
        }
    }

    /// Leaves out what comes behind this key, in the order of a scan.
    pub fn end_with(&mut self, last: &[u8], reverse: bool) {
        if reverse {
            self.from = last.to_vec();
        } else {
            self.to = Some([last, &[0]].concat());
        }
    }

    /// Leaves out what another range, which begins where this one does, has.
    pub fn pass_all(&mut self, first: Range, reverse: bool) {
        if reverse {
            self.to = Some(first.from);
        } else {
            self.from = first.to.unwrap_or_default();
        }
    }

    /// Whether a key is in the range.
    pub fn has(&self, key: &[u8]) -> bool {
        self.from.as_slice() <= key && self.to.as_ref().is_none_or(|to| key < to.as_slice())
    }

    /// Whether no key can lie in the range.
    pub fn is_empty(&self) -> bool {
        self.to.as_ref().is_some_and(|to| *to <= self.from)
    }
}

/// The new value of a key; `None` removes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// Space of the key.
    pub space: Space,
    /// The key.
    pub key: Vec<u8>,
    /// The value, or nothing.
    pub value: Option<Vec<u8>>,
}

/// What an engine's calls return.
pub type Pending<T> = Pin<Box<dyn Future<Output = Result<T, Fault>> + Send>>;
