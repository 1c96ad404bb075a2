//! The list of runs. Which products were run on which days is known in memory (`domain/runs.rs`), so a page
//! reads the runs that it shows and those of the day that is not over.

use crate::domain::runs::{Days, RUNS_KEPT_MAX, RunDays};
use crate::ops::Caller;
use crate::ops::list::{Cursor, List};
use crate::ops::listing::{Listing, SortKey, envelope, json};
use crate::store::Tx;
use crate::store::engine::Range;
use crate::store::record::{Record, key, prefix};
use crate::store::records::{InterestState, StoredRun};
use crate::store::tx::decode;
use mfa_shared::api::interest::{InterestRun, ListInterestRuns, RunQuery};
use mfa_shared::fault::Fault;
use mfa_shared::query::PAGE_SIZE_DEFAULT;
use mfa_shared::time::Date;
use mfa_shared::wire::Query;
use std::sync::Arc;

/// The runs that were asked for.
#[derive(Debug)]
pub struct Runs {
    /// The same list by a walk: for streams, and where nothing may be kept in memory.
    walk: Listing<StoredRun, InterestRun>,
    product: Option<String>,
    first: Option<Date>,
    last: Option<Date>,
    descending: bool,
    page_index: u64,
    size: u64,
}

/// `GET /interest/runs`
pub fn list(
    _: &mut Tx<'_>,
    _: &Caller,
    _: &ListInterestRuns,
    Query(query): &Query<RunQuery>,
) -> Result<Runs, Fault> {
    let days = [query.dates.map(|days| (days.first, days.last)), query.date.map(|day| (day, day))];
    let days = days.into_iter().flatten();
    let first = days.clone().map(|(first, _)| first).max();
    let last = days.map(|(_, last)| last).min();
    let product = query.product.clone();
    let is_asked = move |row: &StoredRun| {
        row.ended && product.as_ref().is_none_or(|product| *product == row.run.product_identifier)
    };
    // Its keys begin with the day.
    let listing = Listing::new(&query.paging, |_, _| SortKey::Null, |_, row: StoredRun| Ok(json(&row.run)));
    // The other way round, the runs of a day stay in the order of their products.
    let listing = if query.paging.descending {
        listing.by(|row, _| row.run.date.start().millis().into())
    } else {
        listing
    };
    Ok(Runs {
        walk: listing.between(of_days(first, last)).only(is_asked),
        product: query.product.clone(),
        first,
        last,
        descending: query.paging.descending,
        page_index: query.paging.page_index.unwrap_or(0).into(),
        size: query.paging.size.unwrap_or(PAGE_SIZE_DEFAULT).into(),
    })
}

/// The keys of the days from the first to the last, as far as these are given.
fn of_days(first: Option<Date>, last: Option<Date>) -> Range {
    let under = |day: Date| Range::prefix(&prefix(&[&day.to_string()]));
    let from = first.map(|day| under(day).from).unwrap_or_default();
    // A day outside of the range leaves nothing.
    let to = last.and_then(|day| under(day).to).map(|end| end.max(from.clone()));
    Range { from, to }
}

/// Adds the runs of the days up to `last` to what is known; nothing if they may not be kept.
fn known(tx: &mut Tx<'_>, state: &InterestState, last: Date) -> Result<Option<Arc<RunDays>>, Fault> {
    let Some(numbers) = tx.numbers() else { return Ok(None) };
    let mut known = numbers.runs().get();
    if known.revision() != state.removed {
        known = Arc::new(RunDays::at(state.removed));
    }
    if known.upto() >= Some(last) {
        return Ok(Some(known));
    }
    let days = Arc::make_mut(&mut known);
    let mut whole = true;
    let unknown = of_days(days.upto().map(Date::next), Some(last));
    tx.walk(StoredRun::SPACE, unknown, &mut |_, value| {
        let row: StoredRun = decode(StoredRun::SPACE, value)?;
        days.add(row.run.date, &row.run.product_identifier);
        whole = row.ended && days.count() <= RUNS_KEPT_MAX;
        Ok(whole)
    })?;
    if !whole {
        return Ok(None);
    }
    days.close(last);
    numbers.runs().put(&known);
    Ok(Some(known))
}

impl Runs {
    /// The runs of days after `last`, which was run for all products: those of one day at most.
    fn newer(&self, tx: &mut Tx<'_>, last: Option<Date>) -> Result<Vec<StoredRun>, Fault> {
        let first = self.first.max(last.map(Date::next));
        let mut found = Vec::new();
        tx.walk(StoredRun::SPACE, of_days(first, self.last), &mut |_, value| {
            let row: StoredRun = decode(StoredRun::SPACE, value)?;
            let asked = self.product.as_ref().is_none_or(|product| *product == row.run.product_identifier);
            if row.ended && asked {
                found.push(row);
            }
            Ok(true)
        })?;
        Ok(found)
    }

    /// The page by what is known; nothing where the list has to be walked.
    fn found(&self, tx: &mut Tx<'_>) -> Result<Option<Vec<u8>>, Fault> {
        let Some(state) = tx.get::<InterestState>(InterestState::KEY)? else { return Ok(None) };
        let Some(over) = state.last else { return Ok(None) };
        let Some(known) = known(tx, &state, over)? else { return Ok(None) };
        let last = self.last.map_or(over, |last| last.min(over));
        let part = known.part(self.product.as_deref(), Days { first: self.first, last });
        let newer = self.newer(tx, Some(over))?;
        let total = part.count() + newer.len();
        let day = |at: usize| match part.at(at) {
            Some((day, _)) => day,
            None => newer[at - part.count()].run.date,
        };
        // The newest day first, and the runs of a day in the order of their products all the same.
        let mirrored = |at: usize| {
            let of_day = day(total - 1 - at);
            let first = partition_point(total, |other| day(other) < of_day);
            let behind = partition_point(total, |other| day(other) <= of_day);
            first + (at - (total - behind))
        };
        let place = |place: u64| usize::try_from(place).map_or(total, |place| place.min(total));
        let skipped = self.page_index.saturating_mul(self.size);
        let mut shown = Vec::new();
        let places = place(skipped)..place(skipped.saturating_add(self.size));
        let places: Vec<_> = places.map(|at| if self.descending { mirrored(at) } else { at }).collect();
        let key_at = |at: &usize| part.at(*at).map(|(day, product)| key(&[&day.to_string(), product]));
        tx.expect(StoredRun::SPACE, &places.iter().filter_map(key_at).collect::<Vec<_>>())?;
        for at in places {
            let Some(key) = key_at(&at) else {
                shown.extend(newer.get(at - part.count()).map(|row| json(&row.run)));
                continue;
            };
            match tx.at::<StoredRun>(&key)? {
                Some(row) => shown.push(json(&row.run)),
                None => return Ok(None),
            }
        }
        Ok(Some(envelope::<InterestRun>(&shown, total as u64, self.size)))
    }
}

/// The first of the places below `count` for which this is not so.
fn partition_point(count: usize, is_before: impl Fn(usize) -> bool) -> usize {
    let (mut from, mut to) = (0, count);
    while from < to {
        let middle = from + (to - from) / 2;
        if is_before(middle) { from = middle + 1 } else { to = middle }
    }
    from
}

impl List for Runs {
    fn page(&self, tx: &mut Tx<'_>) -> Result<Vec<u8>, Fault> {
        match self.found(tx)? {
            Some(page) => Ok(page),
            None => self.walk.page(tx),
        }
    }

    fn begin(&self, tx: &mut Tx<'_>) -> Result<Cursor, Fault> {
        self.walk.begin(tx)
    }

    fn lines(&self, tx: &mut Tx<'_>, cursor: Cursor) -> Result<(Vec<u8>, Cursor), Fault> {
        self.walk.lines(tx, cursor)
    }
}
