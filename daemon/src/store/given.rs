//! What the transactions of a store have besides their state.

use super::Tx;
use super::engine::View;
use super::seal::Keys;
use crate::clock::Clock;
use crate::domain::calendar::Calendar;
use crate::domain::numbers::ListNumbers;
use crate::domain::webhook::Receivers;
use std::sync::{Arc, RwLock};

/// What each transaction is given; not the engine, which must be able to close.
#[derive(Debug, Clone)]
pub(super) struct Given {
    pub(super) clock: Clock,
    strict: bool,
    pub(super) keys: Option<Arc<Keys>>,
    pub(super) receivers: Arc<Receivers>,
    pub(super) calendar: Arc<RwLock<Calendar>>,
    pub(super) numbers: Arc<ListNumbers>,
}

impl Given {
    /// The clock, and whether every descriptive reference is a checked one.
    pub(super) fn new(clock: Clock, strict: bool) -> Self {
        let (receivers, calendar, numbers) = (Arc::default(), Arc::default(), Arc::default());
        Self { clock, strict, keys: None, receivers, calendar, numbers }
    }

    /// A transaction.
    pub(super) fn tx<'v>(&self, view: &'v mut dyn View) -> Tx<'v> {
        let tx = Tx::new(view, self.clock.now(), self.strict).with_keys(self.keys.clone());
        tx.with_receivers(self.receivers.clone()).with_calendar(self.calendar.clone())
    }

    /// One that only reads what is committed, and so may keep the numbers of lists.
    pub(super) fn reading<'v>(&self, view: &'v mut dyn View) -> Tx<'v> {
        self.tx(view).with_numbers(self.numbers.clone())
    }
}
