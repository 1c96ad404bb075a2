//! What records are sorted by.

use mfa_shared::amount::Amount;

/// What a record is sorted by. Null comes first.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum SortKey {
    /// No value.
    Null,
    /// A boolean, a date as days, a moment as milliseconds.
    Number(i64),
    /// An amount, by its value.
    Amount(Amount),
    /// A text, by code point.
    Text(String),
}

impl<T: Into<SortKey>> From<Option<T>> for SortKey {
    fn from(value: Option<T>) -> Self {
        value.map_or(SortKey::Null, Into::into)
    }
}
impl From<&str> for SortKey {
    fn from(value: &str) -> Self {
        SortKey::Text(value.to_owned())
    }
}
impl From<&String> for SortKey {
    fn from(value: &String) -> Self {
        SortKey::Text(value.clone())
    }
}
impl From<i64> for SortKey {
    fn from(value: i64) -> Self {
        SortKey::Number(value)
    }
}
impl From<Amount> for SortKey {
    fn from(value: Amount) -> Self {
        SortKey::Amount(value)
    }
}
impl From<bool> for SortKey {
    fn from(value: bool) -> Self {
        SortKey::Number(value.into())
    }
}
