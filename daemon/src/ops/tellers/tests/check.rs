//! A store that somebody altered is told from one that nobody did: each invariant of `tellers.md` section 14
//! that a store can break.

use super::branch::{Branch, account, cents, code};
use crate::ops::ledger::{Finding, check_ledger, debit, drawer_cash};
use crate::ops::tellers::check_tellers;
use crate::store::Tx;
use crate::store::record::Record;
use crate::store::records::*;
use mfa_shared::api::ledger::AccountRole;
use mfa_shared::api::tellers::*;
use mfa_shared::fault::Fault;

/// A day at two tellers: T0 has closed once and is at work again, T1 is paused; T2 was never opened.
fn day() -> Branch {
    use TellerAction::{Close, Open};
    let mut branch = Branch::new();
    for (number, product) in [(0, 0), (1, 0), (2, 1)] {
        branch.new_account(number, product);
    }
    let done = |branch: &mut Branch, teller, kind: &str, on, target, amount, included| {
        branch.create(teller, kind, on, target, amount);
        let last = branch.transactions.len() - 1;
        branch.finish(teller, last, true, included);
    };
    for (teller, cash) in [(0, 50_000), (1, 20_000)] {
        branch.command(Open, teller, teller, cash);
        branch.unlock(teller, teller);
    }
    done(&mut branch, 0, "ACCO", (0, 0), 0, 30_000, true);
    done(&mut branch, 1, "ACCO", (1, 0), 0, 20_000, false);
    done(&mut branch, 0, "CWDL", (0, 0), 0, 5_050, true);
    done(&mut branch, 1, "ACCT", (1, 0), 0, 5_000, false);
    branch.create(0, "CDPT", (0, 0), 0, 100);
    branch.pause(0);
    branch.count(0, 76_000);
    branch.command(Close, 0, 0, -70_000);
    branch.command(Open, 0, 0, 10_000);
    branch.unlock(0, 0);
    done(&mut branch, 0, "CDPT", (0, 0), 0, 700, true);
    branch.create(0, "CDPT", (0, 0), 0, 200);
    branch.change(0, 100_000, "drawer-9");
    branch.pause(1);
    branch
}

fn found(branch: &mut Branch) -> Vec<Finding> {
    branch.store.read(check_tellers)
}

/// What is found after a store was altered.
fn after(alter: impl FnOnce(&mut Tx<'_>) -> Result<(), Fault>) -> Vec<String> {
    let mut branch = day();
    branch.store.write(alter).unwrap();
    found(&mut branch).into_iter().map(|finding| format!("{} {}", finding.subject, finding.detail)).collect()
}

fn teller(tx: &mut Tx<'_>, number: usize) -> StoredTeller {
    tx.get(&[&code(number)]).unwrap().unwrap()
}

/// The first transaction of a type.
fn transaction(tx: &mut Tx<'_>, kind: TransactionType) -> StoredTransaction {
    let mut all: Vec<StoredTransaction> = tx.all(&[]).unwrap();
    all.sort_by_key(|stored| (stored.teller.clone(), stored.number));
    all.into_iter().find(|stored| stored.transaction.transaction_type == kind).unwrap()
}

fn entry(tx: &mut Tx<'_>, is: impl Fn(&StoredEntry) -> bool) -> StoredEntry {
    let all: Vec<StoredEntry> = tx.all(&[]).unwrap();
    all.into_iter().find(is).unwrap()
}

#[track_caller]
fn one(found: &[String], start: &str, words: &str) {
    assert!(found.iter().any(|f| f.starts_with(start) && f.contains(words)), "{start} {words}: {found:?}");
}

#[test]
fn nothing_is_found_where_nobody_altered_anything() {
    let mut branch = day();
    assert_eq!(branch.store.read(check_ledger), []);
}

#[test]
fn cash_that_no_entry_explains_is_found() {
    let found = after(|tx| {
        let number = tx.last::<DrawerLine>(&crate::store::engine::Range::prefix(b"T1\0"))?.unwrap().number;
        let cash = drawer_cash(tx, "T1")?.plus(cents(1));
        tx.put(&DrawerLine { teller: "T1".to_owned(), number, cash })
    });
    one(&found, "teller T1", "on hand");
    let found = after(|tx| {
        let mut stored = teller(tx, 0);
        let session = stored.session.as_mut().unwrap();
        session.carried = session.carried.plus(cents(5));
        tx.put(&stored)
    });
    one(&found, "teller T0", "was opened with 60.05, and had 60.00 before");
    let found = after(|tx| {
        let mut stored = entry(tx, |stored| stored.entry.teller_code == "T1");
        stored.entry.teller_code = "T2".to_owned();
        tx.put(&stored)
    });
    one(&found, "teller T2", "was never opened, and is in use or has entries");
}

#[test]
fn a_drawer_that_differs_from_its_account_is_found() {
    let found = after(|tx| {
        let mut stored = teller(tx, 1);
        stored.teller.teller_account_identifier = "drawer-9".to_owned();
        tx.put(&stored)
    });
    one(&found, "account drawer-1", "holds 400.00, and the drawers on it 0");
    one(&found, "account drawer-9", "and the drawers on it");
}

#[test]
fn a_transaction_that_is_not_booked_once_as_it_was_quoted_is_found() {
    for (alter, words) in [
        ((|t| t.sequence = None) as fn(&mut StoredTransaction), "was not booked"),
        (|t| t.sequence = Some(1), "in another way"),
        (|t| t.transaction.charges_included = None, "does not say how"),
        (|t| t.transaction.charges_included = Some(false), "in another way"),
        (|t| t.transaction.amount = cents(29_999), "in another way"),
        (|t| t.transaction.state = TransactionState::Canceled, "is CANCELED and was booked"),
        (|t| t.transaction.customer_account_identifier = account(2), "in another way"),
        (|t| t.teller = "T1".to_owned(), "in another way"),
    ] {
        let found = after(|tx| {
            let mut stored = transaction(tx, TransactionType::Acco);
            alter(&mut stored);
            tx.put(&stored)
        });
        one(&found, "transaction ", words);
    }
    let found = after(|tx| {
        let stored = transaction(tx, TransactionType::Acct);
        tx.remove(&stored);
        Ok(())
    });
    one(&found, "entry ", "does not book transaction");
    one(&found, "teller T1", "has 1 transactions and has numbered 2");
}

#[test]
fn an_entry_that_a_teller_could_not_post_is_found() {
    let found = after(|tx| {
        let mut stored = entry(tx, |stored| stored.entry.r#type == "DAJT");
        stored.entry.lines.push(debit("drawer-0", AccountRole::Drawer, cents(1)));
        tx.put(&stored)
    });
    one(&found, "entry 1", "is of type DAJT and moves something else");
    let found = after(|tx| {
        let mut stored = entry(tx, |stored| stored.entry.r#type == "CAJT");
        stored.entry.r#type = "DAJT".to_owned();
        tx.put(&stored)
    });
    one(&found, "entry ", "is of type DAJT and moves something else");
}

#[test]
fn a_count_that_the_drawer_did_not_hold_is_found() {
    let count = |tx: &mut Tx<'_>| tx.all::<StoredDenomination>(&["T0"]).unwrap().remove(0);
    let found = after(|tx| {
        let mut stored = count(tx);
        stored.denomination.counted_total = cents(76_001);
        tx.put(&stored)
    });
    one(&found, "count 1 of teller T0", "found 760.01, and the drawer held 760.00 then");
    let found = after(|tx| {
        let mut stored = count(tx);
        stored.denomination.adjusting_journal_entry = Some("0".repeat(32));
        tx.put(&stored)
    });
    one(&found, "count 1 of teller T0", "which does not book it");
    let found = after(|tx| {
        let stored = count(tx);
        tx.remove(&stored);
        tx.put(&StoredDenomination { number: 2, ..stored })
    });
    one(&found, "count 2 of teller T0", "stands where 1 is due");
}

#[test]
fn tellers_whose_state_and_people_contradict_are_found() {
    let found = after(|tx| {
        let mut stored = teller(tx, 1);
        stored.teller.assigned_employee = Some("emp0".to_owned());
        tx.put(&stored)
    });
    one(&found, "teller T1", "is assigned to emp0, and so is teller T0");
    let found = after(|tx| {
        let mut stored = teller(tx, 1);
        stored.teller.assigned_employee = None;
        tx.put(&stored)
    });
    one(&found, "teller T1", "is PAUSED and nobody is assigned to it");
    let found = after(|tx| {
        let mut stored = teller(tx, 0);
        stored.teller.state = TellerState::Closed;
        tx.put(&stored)
    });
    one(&found, "teller T0", "is CLOSED and has a PENDING transaction");
}

#[test]
fn a_report_that_was_altered_is_found() {
    let report = |tx: &mut Tx<'_>| tx.all::<DayReport>(&["T0"]).unwrap().remove(0);
    let found = after(|tx| {
        let mut stored = report(tx);
        stored.cash_on_hand = cents(1);
        tx.put(&stored)
    });
    one(&found, "report 1 of teller T0", "does not sum up to its movements");
    one(&found, "teller T0", "was opened with 60.00, and the last report left 0.01");
    let found = after(|tx| {
        let stored = report(tx);
        tx.remove(&stored);
        tx.put(&DayReport { number: 3, ..stored })
    });
    one(&found, "report 3 of teller T0", "stands where 1 is due");
    assert_eq!(DayReport::SPACE, DAY_REPORTS);
}

#[test]
fn an_account_closed_by_a_clock_that_was_set_back_has_no_younger_lines() {
    let mut branch = Branch::new();
    branch.new_account(0, 1);
    branch.command(TellerAction::Open, 0, 0, 50_000);
    branch.unlock(0, 0);
    branch.store.now = branch.store.now.plus_seconds(-86_400);
    for (last, (kind, amount)) in [("ACCO", 1_000), ("ACCC", 1_000)].into_iter().enumerate() {
        branch.create(0, kind, (0, 1), 0, amount);
        branch.finish(0, last, true, true);
    }
    assert_eq!(branch.store.read(check_ledger), []);
    let stored: StoredInstance = branch.store.read(|tx| tx.get(&[&account(0)])).unwrap();
    let posted_on = branch.store.read(|tx| tx.all::<StoredEntry>(&[])).pop().unwrap().entry.posted_on;
    assert_eq!((stored.closed_on, stored.opened_on), (Some(posted_on), Some(posted_on.day())));
    let finished = branch.store.read(|tx| tx.all::<StoredTransaction>(&[]));
    assert!(finished.iter().all(|stored| stored.transaction.finished_on == Some(posted_on)));
}
