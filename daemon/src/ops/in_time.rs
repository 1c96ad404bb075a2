//! Records that are numbered in the order of time: which one is the first of a moment or later.

use crate::domain::beginnings::Beginnings;
use crate::domain::numbers::ListNumbers;
use crate::store::Tx;
use crate::store::record::{Record, numbered};
use crate::store::records::{StoredAudit, StoredEntry};
use mfa_shared::fault::Fault;
use mfa_shared::time::Timestamp;
use std::ops::Range as Span;

/// Halvings whose records an engine on another machine is asked for together: all that may be looked at.
const HALVINGS_AT_ONCE: u32 = 4;

/// A record under its number; none is of an earlier moment than the one before it.
pub trait InTime: Record {
    /// Its moment.
    fn moment(&self) -> Timestamp;
    /// Where moments are known to begin.
    fn beginnings(numbers: &ListNumbers) -> &Beginnings;
}

impl InTime for StoredAudit {
    fn moment(&self) -> Timestamp {
        self.0.occurred_on
    }

    fn beginnings(numbers: &ListNumbers) -> &Beginnings {
        numbers.trail_days()
    }
}

impl InTime for StoredEntry {
    fn moment(&self) -> Timestamp {
        self.entry.posted_on
    }

    fn beginnings(numbers: &ListNumbers) -> &Beginnings {
        numbers.journal_days()
    }
}

/// The first number of these whose record is of a moment or later. It is found by halves, and kept: where a
/// day began among the records does not change any more.
pub fn first_at<R: InTime>(tx: &mut Tx<'_>, numbers: Span<u64>, moment: Timestamp) -> Result<u64, Fault> {
    let Span { mut start, mut end } = numbers;
    let kept = tx.numbers();
    if let Some(known) = kept.as_deref().and_then(|kept| R::beginnings(kept).get(moment)) {
        return Ok(known.min(end).max(start));
    }
    // The last one first: what is asked for is mostly everything up to now.
    let mut next = end.saturating_sub(1);
    let mut looks = 0;
    while start < end {
        if looks % HALVINGS_AT_ONCE == 0 {
            let mut keys = vec![numbered(&[], next)];
            // Of what is left unless the first look settles it.
            middles_of(start..if looks == 0 { next } else { end }, HALVINGS_AT_ONCE, &mut keys);
            tx.expect(R::SPACE, &keys)?;
        }
        looks += 1;
        match tx.at::<R>(&numbered(&[], next))? {
            Some(record) if record.moment() < moment => start = next + 1,
            _ => end = next,
        }
        next = start + end.saturating_sub(start) / 2;
    }
    if let Some(kept) = kept.filter(|_| start < numbers.end) {
        R::beginnings(&kept).note(moment, start);
    }
    Ok(start)
}

/// The keys of all records that so many halvings may look at.
fn middles_of(Span { start, end }: Span<u64>, halvings: u32, found: &mut Vec<Vec<u8>>) {
    if start < end && halvings > 0 {
        let middle = start + (end - start) / 2;
        found.push(numbered(&[], middle));
        middles_of(start..middle, halvings - 1, found);
        middles_of(middle + 1..end, halvings - 1, found);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ops::ledger::tests::memory::Memory;
    use mfa_shared::api::audit::AuditRecord;
    use proptest::prelude::*;
    use std::sync::Arc;

    #[derive(Debug, Clone)]
    enum Step {
        /// A record so much later than the last one.
        Adds(i64),
        /// The oldest records go.
        Prunes(u64),
        /// Which one is the first of this moment?
        Asks(i64),
    }

    fn step() -> impl Strategy<Value = Step> {
        prop_oneof![
            3 => (0i64..4).prop_map(Step::Adds),
            1 => (0u64..3).prop_map(Step::Prunes),
            3 => (0i64..40).prop_map(Step::Asks),
        ]
    }

    proptest! {
        #[test]
        fn the_first_of_a_moment_is_found_however_the_records_grow_and_go(
            steps in proptest::collection::vec(step(), 1..80),
        ) {
            let (mut store, kept) = (Memory::new(), Arc::new(ListNumbers::default()));
            let (mut moments, mut first) = (Vec::new(), 1);
            for step in steps {
                match step {
                    Step::Adds(later) => {
                        let moment = moments.last().copied().unwrap_or(0) + later;
                        moments.push(moment);
                        let mut record = AuditRecord::of("PutCustomer", Timestamp::from_millis(moment));
                        record.sequence = i64::try_from(moments.len()).ok();
                        store.write(|tx| tx.put(&StoredAudit(record.clone()))).unwrap();
                    }
                    Step::Prunes(count) => first = (first + count).min(moments.len() as u64 + 1),
                    Step::Asks(moment) => {
                        let end = moments.len() as u64 + 1;
                        let expected = (first..end)
                            .find(|number| moments[*number as usize - 1] >= moment)
                            .unwrap_or(end);
                        let at = Timestamp::from_millis(moment);
                        let found = store.read_with(&kept, |tx| first_at::<StoredAudit>(tx, first..end, at));
                        prop_assert_eq!(found, expected);
                    }
                }
            }
        }
    }

    #[test]
    fn the_end_takes_one_look_and_a_day_that_was_asked_for_none() {
        let (mut store, kept) = (Memory::new(), Arc::new(ListNumbers::default()));
        store
            .write(|tx| {
                (1i64..=1_000).try_for_each(|number| {
                    let mut record = AuditRecord::of("PutCustomer", Timestamp::from_millis(number));
                    record.sequence = Some(number);
                    tx.put(&StoredAudit(record))
                })
            })
            .unwrap();
        let mut looks = |moment: i64| {
            store.looked_at = 0;
            let at = Timestamp::from_millis(moment);
            let found = store.read_with(&kept, |tx| first_at::<StoredAudit>(tx, 1..1_001, at));
            (found, store.looked_at)
        };
        assert_eq!(looks(5_000), (1_001, 1));
        let (found, taken) = looks(400);
        assert!(found == 400 && taken <= 11, "{taken} looks");
        assert_eq!(looks(400), (400, 0));
    }
}
