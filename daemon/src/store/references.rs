//! What the bodies of a transaction may name.

use super::keys::Space;

/// Which records bodies may name, and which of them do not exist.
#[derive(Debug, Default)]
pub(super) struct References {
    /// The configuration takes only those that exist.
    pub(super) strict: bool,
    /// The request does.
    pub(super) existing_only: bool,
    /// Kinds of which the caller may not learn what exists.
    pub(super) hidden: Vec<Space>,
    /// Fields that name what does not exist, as JSON pointers, with the kind of record.
    pub(super) dangling: Vec<(String, Option<Space>)>,
}

impl References {
    /// Where it is `strict`, only records that exist.
    pub(super) fn new(strict: bool) -> Self {
        Self { strict, ..Self::default() }
    }
}
