//! What bodies may name: records that do not exist are refused, or noted for the answer; addresses are those
//! that the settings allow. And what the daemon has in memory beside the store.

use super::keys::Space;
use super::tx::Tx;
use crate::domain::calendar::Calendar;
use crate::domain::numbers::ListNumbers;
use crate::domain::webhook::Receivers;
use mfa_shared::api::batch::DANGLING_MAX;
use std::sync::{Arc, PoisonError, RwLock};

impl Tx<'_> {
    /// Whether every descriptive reference must name an existing record.
    pub fn strict_references(&self) -> bool {
        self.references.strict
    }

    /// The same transaction where events may be delivered to these receivers.
    pub fn with_receivers(mut self, receivers: Arc<Receivers>) -> Self {
        self.receivers = receivers;
        self
    }

    /// Where events may be delivered to.
    pub fn receivers(&self) -> &Receivers {
        &self.receivers
    }

    /// The same transaction with what came and went on each day.
    pub fn with_calendar(mut self, calendar: Arc<RwLock<Calendar>>) -> Self {
        self.calendar = calendar;
        self
    }

    /// The same transaction with the numbers of long lists. Only one that reads may have them: what another
    /// one has posted may never be committed.
    pub fn with_numbers(mut self, numbers: Arc<ListNumbers>) -> Self {
        self.sealed = numbers.sealed();
        self.numbers = Some(numbers);
        self
    }

    /// A place in the journal of a shared engine up to which all that the transaction can see is sealed: it
    /// was noted before its first question. 0 where that is not known.
    pub fn sealed(&self) -> u64 {
        self.sealed
    }

    /// The numbers of long lists, if this transaction may use them.
    pub fn numbers(&self) -> Option<Arc<ListNumbers>> {
        self.numbers.clone()
    }

    /// Looks at what came and went on each day; nothing until that was read from the store.
    pub fn calendar<T>(&self, look: impl FnOnce(&Calendar) -> T) -> Option<T> {
        let calendar = self.calendar.read().unwrap_or_else(PoisonError::into_inner);
        if calendar.made {
            return Some(look(&calendar));
        }
        drop(calendar);
        self.calendar.write().unwrap_or_else(PoisonError::into_inner).wanted = true;
        None
    }

    /// Refuses every change of this transaction with dangling references. Of these kinds of record the caller
    /// may not learn what exists.
    pub fn set_existing_only(&mut self, hidden: Vec<Space>) {
        self.references.existing_only = true;
        self.references.hidden = hidden;
    }

    /// Whether references must exist: by the configuration, or because this request asks for it.
    pub fn refuses_unknown(&self) -> bool {
        self.references.strict || self.references.existing_only
    }

    /// Whether a refusal would say more than the caller may know. Where the configuration refuses what does
    /// not exist, everybody learns of it.
    pub fn hides(&self, space: Space) -> bool {
        !self.references.strict && self.references.existing_only && self.references.hidden.contains(&space)
    }

    /// Notes a dangling reference, as a JSON pointer into the body, and the kind of record that it names.
    pub fn note_dangling(&mut self, pointer: &str, kind: Option<Space>) {
        if self.references.dangling.len() < DANGLING_MAX {
            self.references.dangling.push((pointer.to_owned(), kind));
        }
    }

    /// The fields that were noted; they are returned only once.
    pub fn take_dangling(&mut self) -> Vec<(String, Option<Space>)> {
        std::mem::take(&mut self.references.dangling)
    }
}
