//! Tests of the audit trail outside of requests.

use super::lists::*;
use super::waiting::{KEPT_FOR_LOOKS, Refused};
use super::*;
use crate::clock::Clock;
use crate::ops::audit::check_trail;
use crate::store::embedded::{Embedded, Options};
use crate::store::records::StoredAudit;
use mfa_shared::api::audit::AuditOutcome;
use mfa_shared::node::Node;
use mfa_shared::time::Timestamp;
use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;
use std::thread;
use std::time::Instant;

fn record(number: usize) -> AuditRecord {
    let operation = if number.is_multiple_of(3) { "CreateToken" } else { "ListUsers" };
    AuditRecord::of(operation, Timestamp::from_millis(0))
}

#[test]
fn records_are_sealed_in_parts_that_end_with_a_commit() {
    let commit = |sequence: u64, records: usize| (sequence, vec![vec![1]; records]);
    let commits =
        [(1, 3), (2, 0), (4, SEALED_AT_ONCE - 3), (5, 1), (9, 2 * SEALED_AT_ONCE), (12, 2), (13, 0)];
    let found = parts(commits.map(|(sequence, records)| commit(sequence, records)).to_vec());
    let found: Vec<_> = found.iter().map(|(upto, keys)| (*upto, keys.len())).collect();
    assert_eq!(found, [(4, SEALED_AT_ONCE), (5, 1), (9, 2 * SEALED_AT_ONCE), (12, 2)]);
}

#[test]
fn the_lists_of_the_trail_catch_up_keep_up_or_wait_by_how_much_is_new() {
    assert_eq!([0, QUIET_RECORDS].map(|new| steps(new, 0, 1)), [CATCH_UP_STEPS; 2]);
    for new in QUIET_RECORDS + 1..=BUSY_RECORDS {
        assert!(steps(new, 0, 1) * LISTED_AT_ONCE > new, "{new}");
    }
    assert_eq!([0, LISTED_AT_ONCE].map(at_once), [LISTED_AT_ONCE; 2]);
    assert_eq!(at_once(LISTED_AT_ONCE + 1), LISTED_WHEN_BEHIND);
    let flood = |behind| (0..2 * BUSY_LOOKS).map(move |look| steps(BUSY_RECORDS + 1, behind, look));
    assert_eq!((flood(BEHIND_RECORDS).sum::<u64>(), flood(BEHIND_RECORDS).next()), (2, Some(1)));
    assert!(flood(BEHIND_RECORDS + 1).all(|steps| steps * LISTED_AT_ONCE > BUSY_RECORDS + 1));
}

#[test]
fn a_flood_that_the_lists_wait_out_is_noticed_before_they_take_anything() {
    let mut seen = Seen::default();
    assert_eq!((seen.look(5_000_000), seen.behind), (0, 0));
    let flood = 10 * BUSY_RECORDS;
    let waits = |look: &u64| {
        let new = seen.look(5_000_000 + look * flood);
        steps(new, seen.behind, *look) == 0
    };
    let waited = (1..BUSY_LOOKS).take_while(waits).count() as u64;
    assert_eq!(waited, BEHIND_RECORDS / flood);
}

#[test]
fn what_waits_has_a_bound_and_what_was_left_out_is_counted() {
    let folder = tempfile::tempdir().unwrap();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let engine = Embedded::open(Options::new(folder.path().join("data"))).unwrap();
        let store = Store::new(engine, Clock::system(), false);
        let auditor = Arc::new(Auditor::default());
        for number in 0..WAITING_MAX + 500 {
            auditor.add(record(number));
        }
        auditor.settle(&store).await;
        let all = |tx: &mut Tx<'_>| tx.all::<StoredAudit>(&[]);
        let records: Vec<_> = store.read(false, all).await.unwrap();
        assert_eq!(records.len(), WAITING_MAX + 1);
        let StoredAudit(last) = &records[WAITING_MAX];
        assert_eq!(last.operation, "AuditOverflow");
        let left: Vec<_> = last.changes.iter().map(|c| (c.field.as_str(), c.after.clone())).collect();
        let count = |digits: &str| Some(Node::Number(digits.to_owned()));
        assert_eq!(left, [("/CreateToken", count("166")), ("/ListUsers", count("334"))]);
        // Nothing is left to write, and the trail is complete.
        auditor.settle(&store).await;
        let again: Vec<StoredAudit> = store.read(false, |tx| tx.all(&[])).await.unwrap();
        assert_eq!(again.len(), records.len());
        let found = store.read(false, check_trail).await.unwrap();
        assert_eq!(found, []);
        store.close().await;
    });
}

#[test]
fn a_flood_of_refusals_leaves_places_to_what_was_looked_at() {
    let refused = |operation: &str| AuditRecord {
        outcome: AuditOutcome::Refused,
        ..AuditRecord::of(operation, Timestamp::from_millis(0))
    };
    for flood in ["CreateToken", "GetUser"] {
        let auditor = Auditor::default();
        (0..2 * WAITING_MAX).for_each(|_| auditor.add(refused(flood)));
        (0..KEPT_FOR_LOOKS).for_each(|number| auditor.add(record(number)));
        let waiting = auditor.waiting();
        assert_eq!(waiting.records.len(), WAITING_MAX);
        assert_eq!(waiting.left_out, BTreeMap::from([(flood.to_owned(), 1_250)]));
    }
}

#[test]
fn of_logins_that_are_refused_all_day_ten_a_second_are_recorded() {
    let mut logins = Refused::default();
    let begun = Instant::now();
    let admitted = |logins: &mut Refused, after: u64| {
        let now = begun + Duration::from_secs(after);
        (0..5_000).filter(|_| logins.admits(1_000, now)).count()
    };
    let seen = [0, 1, 2, 10, 11, 10_000].map(|after| admitted(&mut logins, after));
    assert_eq!(seen, [1_000, 10, 10, 80, 10, 1_000]);
}

#[test]
fn of_what_one_caller_is_refused_all_day_ten_a_second_are_recorded_and_all_of_others() {
    let mut waiting = Waiting::default();
    let refused = |actor: &str| AuditRecord {
        actor: actor.to_owned(),
        outcome: AuditOutcome::Refused,
        ..AuditRecord::of("GetUser", Timestamp::from_millis(0))
    };
    // Written as soon as they come, so that it is no matter of places.
    let mut recorded = |actor: &str, count: usize| -> usize {
        let add = |_| {
            waiting.add(refused(actor));
            waiting.take(1, Instant::now()).0.len()
        };
        (0..count).map(add).sum()
    };
    let of_flood = recorded("mallory", 20_000);
    assert!((10_000..11_000).contains(&of_flood), "{of_flood} of 20,000");
    assert_eq!(recorded("ama", 5_000), 5_000);
}

#[test]
fn while_a_flood_goes_on_one_record_a_minute_says_what_was_left_out_and_one_to_whoever_looks() {
    let mut waiting = Waiting::default();
    let begun = Instant::now();
    let mut said = |after: u64, is_looked_at: bool| {
        waiting.left_out.insert("CreateToken".to_owned(), 1);
        if is_looked_at {
            waiting.is_looked_at();
        }
        !waiting.take(WAITING_MAX, begun + Duration::from_millis(after)).1.is_empty()
    };
    assert_eq!((0..120_000).filter(|after| said(*after, false)).count(), 2);
    assert!(said(120_000, false) && !said(120_001, false) && said(120_002, true) && !said(120_003, false));
    // Of what comes after a quiet time, at once.
    waiting = Waiting::default();
    waiting.left_out.insert("CreateToken".to_owned(), 7);
    assert_eq!(waiting.take(WAITING_MAX, begun).1, BTreeMap::from([("CreateToken".to_owned(), 7)]));
}

#[test]
fn whoever_looks_at_the_trail_waits_for_no_end_of_a_flood() {
    let folder = tempfile::tempdir().unwrap();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let engine = Embedded::open(Options::new(folder.path().join("data"))).unwrap();
        let store = Store::new(engine, Clock::system(), false);
        let (auditor, over) = (Arc::new(Auditor::default()), Arc::new(AtomicBool::new(false)));
        (0..WAITING_MAX).for_each(|number| auditor.add(record(number)));
        let (flooded, ends) = (auditor.clone(), over.clone());
        let flood = thread::spawn(move || {
            while !ends.load(SeqCst) {
                (0..WAITING_MAX).for_each(|number| flooded.add(record(number)));
            }
        });
        let looked = tokio::time::timeout(Duration::from_secs(60), auditor.settle(&store)).await;
        over.store(true, SeqCst);
        flood.join().unwrap();
        looked.unwrap();
        let all = |tx: &mut Tx<'_>| tx.all::<StoredAudit>(&[]);
        let records: Vec<_> = store.read(false, all).await.unwrap();
        // What waited when it began, and how much more there was.
        assert_eq!(records.len(), WAITING_MAX + 1);
        assert_eq!(records[WAITING_MAX].0.operation, "AuditOverflow");
        store.close().await;
    });
}
