//! Pages of the audit trail beside a look at each record.

use super::*;
use crate::domain::numbers::ListNumbers;
use crate::ops::audit::lists::{pieces, put_pieces};
use crate::ops::audit::prune::{Cleared, clear, cut};
use crate::ops::ledger::tests::memory::Memory;
use proptest::prelude::*;
use std::sync::Arc;

const NAMES: [&str; 3] = ["ama", "kofi", "esi"];
const OPERATIONS: [&str; 2] = ["CreateCustomer", "PutCustomer"];

fn seal(store: &mut Memory, actor: usize, operation: usize) {
    let sealed = store.write(|tx| {
        let end = tx.get::<AuditEnd>(AuditEnd::KEY)?;
        let sequence = end.as_ref().map_or(0, |end| end.sequence) + 1;
        let mut record = AuditRecord::of(OPERATIONS[operation], tx.now());
        record.sequence = i64::try_from(sequence).ok();
        record.actor = NAMES[actor].to_owned();
        record.resource = Some(format!("customer/c-{}", sequence % 4));
        let first = end.map_or(1, |end| end.first);
        tx.put(&AuditEnd { first, sequence, hash: String::new(), occurred_on: tx.now() })?;
        tx.put(&StoredAudit(record))
    });
    sealed.unwrap();
}

fn list(store: &mut Memory, records: u64) {
    if let Some(work) = store.read(|tx| pieces(tx, records)) {
        store.write(|tx| put_pieces(tx, &work)).unwrap();
    }
}

/// Cuts off the oldest records, but for the last one.
fn cut_off(store: &mut Memory, records: u64) {
    let cut_off = |tx: &mut Tx<'_>| {
        let Some(end) = tx.get::<AuditEnd>(AuditEnd::KEY)? else { return Ok(()) };
        let numbers = end.first..end.sequence.min(end.first + records);
        if numbers.is_empty() { Ok(()) } else { cut(tx, &numbers, tx.now().day()) }
    };
    store.write(cut_off).unwrap();
}

#[derive(Debug, Clone)]
enum Step {
    /// So many records of an actor.
    Seal(usize, usize, usize),
    List(u64),
    /// The oldest records go.
    Cut(u64),
    Clear,
    Look(AuditQuery),
}

fn looks() -> impl Strategy<Value = AuditQuery> {
    let some = |below: usize| proptest::option::of(0..below);
    let paging = (any::<bool>(), 0u32..3, 1u32..8);
    let after = prop_oneof![2 => Just(None), 1 => (0i64..100).prop_map(Some)];
    // Often the same filters, so that what was found for them is met again.
    let filters =
        prop_oneof![Just((Some(0), Some(0), None)), (some(NAMES.len()), some(OPERATIONS.len()), some(4)),];
    (filters, paging, after).prop_map(|((actor, operation, resource), (descending, page, size), after)| {
        let mut query = AuditQuery {
            actor: actor.map(|actor| NAMES[actor].to_owned()),
            operation: operation.map(|operation| OPERATIONS[operation].to_owned()),
            resource: resource.map(|number| format!("customer/c-{number}")),
            after,
            ..AuditQuery::default()
        };
        query.paging.descending = descending;
        (query.paging.page_index, query.paging.size) = (Some(page), Some(size));
        query
    })
}

/// The numbers that a page must show, by a look at each record, and how many match.
fn expected(tx: &mut Tx<'_>, query: &AuditQuery) -> Result<(Vec<i64>, usize), Fault> {
    let trail = Trail::new(tx, query)?;
    let mut numbers: Vec<_> = tx
        .all::<StoredAudit>(&[])?
        .into_iter()
        .filter(|stored| trail.matches(&stored.0))
        .filter_map(|stored| stored.0.sequence)
        .filter(|number| {
            number.unsigned_abs() >= trail.first && query.after.is_none_or(|after| *number > after)
        })
        .collect();
    if query.paging.descending {
        numbers.reverse();
    }
    let all = numbers.len();
    let size = query.paging.size.unwrap() as usize;
    let skipped = query.paging.page_index.unwrap() as usize * size;
    Ok((numbers.into_iter().skip(skipped).take(size).collect(), all))
}

/// The numbers that a page shows, and how many it says there are.
fn shown(page: &[u8]) -> (Vec<i64>, usize) {
    let page: serde_json::Value = serde_json::from_slice(page).unwrap();
    let numbers = page["records"].as_array().unwrap().iter().map(|record| record["sequence"].as_i64());
    (numbers.map(Option::unwrap).collect(), page["totalElements"].as_u64().unwrap() as usize)
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        2 => (1..12usize).prop_map(|count| Step::Seal(0, 0, count)),
        2 => (0..NAMES.len(), 0..OPERATIONS.len(), 1..12usize)
            .prop_map(|(actor, kind, count)| Step::Seal(actor, kind, count)),
        1 => (1u64..40).prop_map(Step::List),
        1 => (1u64..5).prop_map(Step::Cut),
        1 => Just(Step::Clear),
        3 => looks().prop_map(Step::Look),
    ];
    proptest::collection::vec(step, 0..80)
}

#[test]
fn a_page_takes_notice_of_the_first_records_that_wait_to_be_sealed() {
    let mut store = Memory::new();
    let wait = |tx: &mut Tx<'_>| {
        let record = AuditRecord::of(OPERATIONS[0], tx.now());
        let pending = |name: usize| PendingAudit { name: format!("{name:06}"), record: record.clone() };
        (0..PENDING_MAX + 5).try_for_each(|name| tx.put(&pending(name)))
    };
    store.write(wait).unwrap();
    let total = store.read(|tx| Ok(Trail::new(tx, &AuditQuery::default())?.pending(tx)?.len()));
    assert_eq!(total, PENDING_MAX);
}

#[test]
fn a_page_for_two_filters_costs_what_it_shows_once_the_matches_were_found() {
    let (mut store, kept) = (Memory::new(), Arc::new(ListNumbers::default()));
    let grow = |store: &mut Memory, records: usize| {
        (0..records).for_each(|at| seal(store, at % 2, at / 2 % 2));
        list(store, records as u64);
    };
    grow(&mut store, 2_000);
    let query = AuditQuery {
        actor: Some(NAMES[0].to_owned()),
        operation: Some(OPERATIONS[1].to_owned()),
        ..AuditQuery::default()
    };
    let cost = |store: &mut Memory, page: u32| {
        let mut query = query.clone();
        (query.paging.page_index, query.paging.size) = (Some(page), Some(5));
        store.looked_at = 0;
        let page = store.read_with(&kept, |tx| Trail::new(tx, &query)?.page(tx));
        (shown(&page).1, store.looked_at)
    };
    let (found, first) = cost(&mut store, 0);
    assert!(found == 500 && first > 100, "{found}, {first} looks");
    for page in [0, 50, 99] {
        let (found, looks) = cost(&mut store, page);
        assert!(found == 500 && looks < 20, "{found}, {looks} looks");
    }
    grow(&mut store, 40);
    let (found, looks) = cost(&mut store, 101);
    assert!(found == 510 && looks < 60, "{found}, {looks} looks");
    let (found, looks) = cost(&mut store, 101);
    assert!(found == 510 && looks < 20, "{found}, {looks} looks");
}

proptest! {
    #[test]
    fn a_page_shows_what_a_look_at_each_record_finds(
        steps in steps(),
        // Little room: what lists have in common is not known up to its end.
        room in prop_oneof![Just(200), Just(1_000_000)],
    ) {
        let (mut store, kept) = (Memory::new(), Arc::new(ListNumbers::with_room(room)));
        for step in steps {
            match step {
                Step::Seal(actor, operation, count) => {
                    (0..count).for_each(|_| seal(&mut store, actor, operation));
                }
                Step::List(records) => list(&mut store, records),
                Step::Cut(records) => cut_off(&mut store, records),
                Step::Clear => {
                    store.write(|tx| clear(tx, &Cleared::default())).unwrap();
                }
                Step::Look(query) => {
                    let expected = store.read(|tx| expected(tx, &query));
                    let page = |tx: &mut Tx<'_>| Trail::new(tx, &query)?.page(tx);
                    prop_assert_eq!(shown(&store.read(page)), expected.clone());
                    // The same, with what stays in memory.
                    prop_assert_eq!(shown(&store.read_with(&kept, page)), expected);
                }
            }
        }
    }
}

#[test]
fn lines_of_a_trail_that_lacks_a_record_are_all_the_others() {
    let mut store = Memory::new();
    (0..300).for_each(|number| seal(&mut store, number % 3, 0));
    let lack = |tx: &mut Tx<'_>| {
        let lost = tx.at::<StoredAudit>(&numbered(&[], 7))?;
        lost.iter().for_each(|lost| tx.remove(lost));
        Ok(())
    };
    store.write(lack).unwrap();
    for descending in [false, true] {
        let mut query = AuditQuery::default();
        query.paging.descending = descending;
        let trail = store.read(|tx| Trail::new(tx, &query));
        let (mut cursor, mut lines) = (Cursor::Start, 0);
        while !matches!(cursor, Cursor::End) {
            let (chunk, next) = store.read(|tx| trail.lines(tx, cursor.clone()));
            (cursor, lines) = (next, lines + chunk.split(|byte| *byte == b'\n').count() - 1);
        }
        assert_eq!(lines, 299);
    }
}
