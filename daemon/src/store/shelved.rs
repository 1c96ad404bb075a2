//! A page whose place was looked up before its transaction, so that no one waits for the lookup.

use super::tx::{Shelved, Tx};
use crate::domain::shelf::Found;

impl Tx<'_> {
    /// The list of this transaction, which changes nothing, shows these records.
    pub fn show_found(&mut self, found: Found) {
        self.shelved = Some(Shelved { found: Some(found), moved: false });
    }

    /// The records that the list shows, once.
    pub fn take_found(&mut self) -> Option<Found> {
        self.shelved.as_mut().and_then(|shelved| shelved.found.take())
    }

    /// Notes that a record is no longer where it was found.
    pub fn note_moved(&mut self) {
        if let Some(shelved) = &mut self.shelved {
            shelved.moved = true;
        }
    }

    /// Whether that was noted.
    pub fn has_moved(&self) -> bool {
        self.shelved.as_ref().is_some_and(|shelved| shelved.moved)
    }
}
