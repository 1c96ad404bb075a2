//! Lists whose numbers stay in memory once they were found: what is known of one, and a page of it.

use crate::domain::numbers::{ListName, ListNumbers, Numbers};
use crate::store::Tx;
use mfa_shared::fault::Fault;
use std::ops::Range as Span;
use std::sync::Arc;

/// The part of a list that is asked for.
#[derive(Debug)]
pub struct Asked {
    /// The whole list.
    pub whole: ListName,
    /// The numbers of the part.
    pub numbers: Span<u64>,
    /// Numbers outside of the part are looked at, too, if they are no more than this and the whole list is
    /// known then. A longer walk is made by one of those who ask for the list, and the others wait.
    pub near: u64,
}

/// What is known of a list or of the part that is asked for. `step` looks at the first of some numbers, adds
/// those that are in the list, and says how far it came. What follows is not known only where nothing may be
/// kept, or where the list is too long for it.
pub fn known(
    tx: &mut Tx<'_>,
    asked: Asked,
    mut step: impl FnMut(&mut Tx<'_>, Span<u64>, &mut Numbers) -> Result<(), Fault>,
) -> Result<Arc<Numbers>, Fault> {
    let Asked { numbers: Span { start, end }, near, .. } = asked;
    let Some(kept) = tx.numbers() else { return Ok(Arc::new(Numbers::beginning_at(start))) };
    let name = kept_under(&kept, asked);
    let mut known = kept.get(&name);
    if known.upto() >= end || kept.is_full(&known) {
        return Ok(known);
    }
    let making = if end - known.upto() > near { Some(tx.lock_name(kept.making(), &name)?) } else { None };
    if making.is_some() {
        known = kept.get(&name);
    }
    let mut walked = Ok(());
    let all = Arc::make_mut(&mut known);
    while walked.is_ok() && all.upto() < end && !kept.is_full(all) {
        walked = step(tx, all.upto()..end, all);
    }
    all.shrink();
    // What was found before the walk broke off is true, and the next one goes on from there.
    kept.put(name, &known);
    walked.map(|()| known)
}

/// Under which name a part is kept: that of the whole list, unless much that was not looked at precedes it.
fn kept_under(kept: &ListNumbers, asked: Asked) -> ListName {
    let Asked { whole, numbers: Span { start, end }, near } = asked;
    let known = kept.get(&whole);
    let is_near = end.saturating_sub(known.upto()) <= end.saturating_sub(start).saturating_add(near);
    if known.upto() >= start || is_near && !kept.is_full(&known) {
        return whole;
    }
    ListName { from: start, ..whole }
}

/// The numbers of a page, taken from all those of a list as they come in its order.
#[derive(Debug)]
pub struct Page {
    descending: bool,
    skipped: u64,
    size: u64,
    /// How many came.
    pub total: u64,
    /// Those of the page.
    pub numbers: Vec<u64>,
}

impl Page {
    /// The page with this index, from 0.
    pub fn new(descending: bool, index: u64, size: u64) -> Self {
        Self { descending, skipped: index.saturating_mul(size), size, total: 0, numbers: Vec::new() }
    }

    /// Numbers that come next.
    pub fn add(&mut self, numbers: impl IntoIterator<Item = u64>) {
        for number in numbers {
            if self.total >= self.skipped && (self.numbers.len() as u64) < self.size {
                self.numbers.push(number);
            }
            self.total += 1;
        }
    }

    /// The known ones within a range come next.
    pub fn add_known(&mut self, known: &Numbers, range: &Span<u64>) {
        let Span { start, end } = known.places(range);
        let place = |of_all: u64| (of_all.saturating_sub(self.total) as usize).min(end - start);
        let passed = place(self.skipped);
        let taken = place(self.skipped.saturating_add(self.size));
        if self.descending {
            let part: Vec<_> = known.at(end - taken..end - passed).collect();
            self.numbers.extend(part.into_iter().rev());
        } else {
            self.numbers.extend(known.at(start + passed..start + taken));
        }
        self.total += (end - start) as u64;
    }
}
