//! How far the tree of the index goes: the record in it that says so.

use super::codec::{Cursor, checked, put_checksum};
use super::head::Head;

/// How far the tree goes: it has everything up to one commit, and nothing from behind another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Reach {
    /// The commit up to which everything is there.
    pub(super) head: Head,
    /// The last commit of which something may be there.
    pub(super) until: u64,
}

/// The state record of the tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Meta {
    /// How far it goes.
    pub(super) reach: Reach,
    /// Sum of the hashes of all items.
    pub(super) digest: u128,
}

impl Reach {
    /// Everything up to a commit and nothing behind it.
    pub(super) fn exactly(head: Head) -> Self {
        Self { head, until: head.sequence }
    }
}

impl Meta {
    /// The stored form.
    pub(super) fn to_bytes(self) -> Vec<u8> {
        let mut out = Vec::new();
        self.reach.head.put(&mut out);
        out.extend_from_slice(&self.digest.to_le_bytes());
        out.extend_from_slice(&self.reach.until.to_le_bytes());
        put_checksum(&mut out);
        out
    }

    /// `None` if it is damaged.
    pub(super) fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let mut cursor = Cursor(checked(bytes)?);
        let head = Head::take(&mut cursor)?;
        let digest = cursor.u128()?;
        // A tree that was written before there was anything between the two says nothing of it.
        let until = cursor.u64().unwrap_or(head.sequence);
        Some(Self { reach: Reach { head, until }, digest })
    }
}
