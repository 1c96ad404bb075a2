//! `mfa check ledger` on doctored stores, with each engine.

use crate::support::counter::Counter;
use crate::support::stored;
use crate::support::world::World;
use mfa_daemon::Check;
use mfa_daemon::ops::reports::days;
use mfa_daemon::store::Tx;
use mfa_daemon::store::records::{
    AccountLine, DrawerCash, LedgerDay, StoredEntry, StoredInstance, StoredTransaction,
};
use mfa_shared::amount::Amount;
use mfa_shared::api::ledger::LedgerAccount;
use mfa_shared::fault::Fault;

/// A stopped daemon with four entries: cash into the drawer, two accounts opened, a transfer.
fn books() -> World {
    let counter = Counter::active("2000");
    let (a, b) = (counter.account("anna"), counter.account("bela"));
    counter.transact("ACCO", &a, None, "400", "included").is(202);
    counter.transact("ACCO", &b, None, "500", "excluded").is(202);
    counter.transact("ACCT", &b, Some(&a), "100", "excluded").is(202);
    let mut world = counter.world;
    world.stop();
    assert_eq!(world.check(&[Check::Ledger]), [""; 0]);
    world
}

/// What is found after the store was doctored: each subject once.
fn found(doctor: impl FnMut(&mut Tx<'_>) -> Result<(), Fault> + Send + 'static) -> Vec<String> {
    let world = books();
    let store = stored::open(world.config(), world.clock.clone());
    world.block_on(async move {
        store.write("doctor", doctor).await.unwrap();
        stored::close(store).await;
    });
    let mut subjects: Vec<_> = world
        .check(&[Check::Ledger])
        .into_iter()
        .map(|line| line.split_once(" - ").unwrap().0.to_owned())
        .collect();
    subjects.sort();
    subjects.dedup();
    subjects
}

fn entry(tx: &mut Tx<'_>, sequence: i64) -> Result<StoredEntry, Fault> {
    let all = tx.all::<StoredEntry>(&[])?;
    Ok(all.into_iter().find(|stored| stored.entry.sequence == sequence).unwrap())
}

fn cent() -> Amount {
    Amount::parse("0.01").unwrap()
}

#[test]
fn a_single_altered_amount_is_found_wherever_it_is() {
    let in_entry = found(|tx| {
        let mut stored = entry(tx, 2)?;
        stored.entry.lines[1].amount = stored.entry.lines[1].amount.plus(cent());
        tx.put(&stored)
    });
    assert!(in_entry.contains(&"entry 2".to_owned()), "{in_entry:?}");
    let in_account = found(|tx| {
        let mut account: LedgerAccount = tx.get(&["vault"])?.unwrap();
        account.balance = account.balance.plus(cent());
        tx.put(&account)
    });
    assert_eq!(in_account, ["account vault"]);
    let in_line = found(|tx| {
        let mut line = tx.all::<AccountLine>(&["drawer-T1"])?.remove(1);
        line.balance = line.balance.plus(cent());
        tx.put(&line)
    });
    assert_eq!(in_line, ["entry 2"]);
    let in_transaction = found(|tx| {
        let mut stored = tx.all::<StoredTransaction>(&[])?.remove(0);
        stored.transaction.charges[0].amount = stored.transaction.charges[0].amount.plus(cent());
        tx.put(&stored)
    });
    // The ledger misses it where the charge was booked, and the teller's books at the transaction itself.
    assert_eq!(in_transaction.len(), 2, "{in_transaction:?}");
    assert_eq!(in_transaction[0], "account income");
    assert!(in_transaction[1].starts_with("transaction "), "{in_transaction:?}");
}

#[test]
fn a_session_that_moved_something_else_than_its_sums_say_is_found() {
    let altered = found(|tx| {
        let mut drawer: DrawerCash = tx.get(&["T1"])?.unwrap();
        let sum = &mut drawer.session.as_mut().unwrap().moved[1];
        sum.received = sum.received.plus(cent());
        tx.put(&drawer)
    });
    assert_eq!(altered, ["drawer T1"]);
    let of_earlier_program = found(|tx| {
        let drawer: DrawerCash = tx.get(&["T1"])?.unwrap();
        tx.put(&DrawerCash { session: None, ..drawer })
    });
    assert_eq!(of_earlier_program, [""; 0]);
}

#[test]
fn an_account_under_the_alternative_number_of_another_is_found() {
    let shared = found(|tx| {
        let mut instance = tx.all::<StoredInstance>(&[])?.remove(0);
        instance.alternative_account_number = Some("vault".to_owned());
        tx.put(&instance)
    });
    assert_eq!(shared.len(), 1, "{shared:?}");
    assert!(shared[0].starts_with("instance anna."), "{shared:?}");
}

#[test]
fn both_sides_of_an_entry_altered_alike_are_found() {
    let found = found(|tx| {
        let mut stored = entry(tx, 1)?;
        for line in &mut stored.entry.lines {
            line.amount = line.amount.plus(cent());
        }
        tx.put(&stored)
    });
    assert!(found.contains(&"entry 1".to_owned()), "{found:?}");
}

#[test]
fn a_removed_line_is_found() {
    let in_entry = found(|tx| {
        let mut stored = entry(tx, 3)?;
        stored.entry.lines.pop();
        tx.put(&stored)
    });
    assert!(in_entry.contains(&"entry 3".to_owned()), "{in_entry:?}");
    let under_account = found(|tx| {
        let line = tx.all::<AccountLine>(&["income"])?.remove(0);
        tx.remove(&line);
        Ok(())
    });
    assert_eq!(under_account, ["entry 2", "journal"]);
}

#[test]
fn a_removed_entry_is_found_also_the_last_one() {
    for sequence in 1..=4 {
        let found = found(move |tx| {
            let stored = entry(tx, sequence)?;
            tx.remove(&stored);
            Ok(())
        });
        assert!(!found.is_empty(), "entry {sequence}");
    }
}

#[test]
fn two_entries_that_changed_places_are_found() {
    let found = found(|tx| {
        let (mut second, mut third) = (entry(tx, 2)?, entry(tx, 3)?);
        tx.remove(&second);
        tx.remove(&third);
        (second.entry.sequence, third.entry.sequence) = (3, 2);
        tx.put(&second)?;
        tx.put(&third)
    });
    assert!(found.contains(&"entry 2".to_owned()) && found.contains(&"entry 3".to_owned()), "{found:?}");
}

#[test]
fn an_account_that_was_closed_with_money_on_it_is_found() {
    let found = found(|tx| {
        let mut instance = tx.all::<StoredInstance>(&[])?.remove(0);
        instance.close(tx.now());
        tx.put(&instance)
    });
    assert_eq!(found, ["instance anna.9100.00001"]);
}

#[test]
fn a_day_of_a_report_that_was_altered_is_found() {
    let kept = |tx: &mut Tx<'_>| {
        let sum = days::sum_up(tx, 1, 100)?.unwrap();
        days::keep(tx, &sum)
    };
    assert_eq!(found(kept), [""; 0]);
    let altered = found(move |tx| {
        kept(tx)?;
        let mut day = tx.all::<LedgerDay>(&["product"])?.remove(0);
        day.moved.received = day.moved.received.plus(cent());
        tx.put(&day)
    });
    assert_eq!(altered, ["product saver on 2031-05-06"]);
    let removed = found(move |tx| {
        kept(tx)?;
        let day = tx.all::<LedgerDay>(&["drawer", "T1"])?.remove(0);
        tx.remove(&day);
        Ok(())
    });
    assert_eq!(removed, ["drawer T1 drawer-T1 on 2031-05-06"]);
}

#[test]
fn only_a_transaction_that_reads_remembers_the_numbers_of_lists() {
    let world = books();
    let store = stored::open(world.config(), world.clock.clone());
    world.block_on(async move {
        let has = |tx: &mut Tx<'_>| Ok(tx.numbers().is_some());
        assert!(store.read(true, has).await.unwrap());
        assert!(!store.write("batch", has).await.unwrap(), "what it posts may never be committed");
        store.close().await;
    });
}
