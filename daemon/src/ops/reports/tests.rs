//! Days that are kept step by step equal those of the whole journal, and a check finds an altered one.

use super::days::{self, Days, Ledger, Wanted};
use super::{months, name_of};
use crate::ops::check::check_books;
use crate::ops::ledger::tests::memory::Memory;
use crate::ops::ledger::tests::posting::{amount, customer, entry};
use crate::ops::ledger::{credit, debit, name_account, name_customer_account, post};
use crate::store::records::{LedgerDay, LedgerDaysEnd, StoredEntry, StoredInstance};
use mfa_shared::api::instances::InstanceState;
use mfa_shared::api::ledger::AccountRole::*;
use mfa_shared::time::{Date, Timestamp};
use proptest::prelude::*;
use std::collections::BTreeMap;

const ACCOUNT: &str = "c-1.9100.00001";

fn store() -> Memory {
    let mut store = Memory::new();
    store.now = Timestamp::parse("2031-12-30T12:00:00Z").unwrap();
    let made = store.write(|tx| {
        for (name, role) in [("d1", Drawer), ("d2", Drawer), ("vault", Vault), ("over", OverShort)] {
            name_account(tx, "/x", name, role)?;
        }
        name_customer_account(tx, customer(ACCOUNT, "USD"))?;
        tx.put(&StoredInstance {
            account_identifier: ACCOUNT.to_owned(),
            customer_identifier: "c-1".to_owned(),
            product_identifier: "saver".to_owned(),
            alternative_account_number: None,
            beneficiaries: Vec::new(),
            opened_on: None,
            transaction_command_on: None,
            closed_on: None,
            state: InstanceState::Active,
        })
    });
    made.unwrap();
    store
}

/// Posts an entry of one of six kinds, and lets time pass.
fn step(store: &mut Memory, kind: u8, cents: u32, seconds: i64) {
    let sum = amount(&format!("{}.{:02}", cents / 100, cents % 100));
    let (r#type, lines) = match kind {
        0 => ("ADJT", vec![debit("d2", Drawer, sum), credit("d1", Drawer, sum)]),
        1 => ("CAJT", vec![debit("over", OverShort, sum), credit("d1", Drawer, sum)]),
        2 => ("CWDL", vec![debit(ACCOUNT, Customer, sum), credit("d2", Drawer, sum)]),
        3 => ("DAJT", vec![debit("d1", Drawer, sum), credit("vault", Vault, sum)]),
        _ => ("CDPT", vec![debit("d1", Drawer, sum), credit(ACCOUNT, Customer, sum)]),
    };
    store.write(|tx| post(tx, entry(r#type, lines)).map(drop)).unwrap();
    store.now = store.now.plus_seconds(seconds);
}

/// Keeps what was posted, so many entries at once; as a second daemon would, each sum comes twice.
fn keep(store: &mut Memory, worth: u64, at_once: u64) {
    while let Some(sum) = store.read(|tx| days::sum_up(tx, worth, at_once)) {
        store.write(|tx| days::keep(tx, &sum)).unwrap();
        store.write(|tx| days::keep(tx, &sum)).unwrap();
    }
}

fn kept(store: &mut Memory) -> BTreeMap<Vec<u8>, LedgerDay> {
    let all = store.read(|tx| tx.all::<LedgerDay>(&[]));
    all.into_iter().map(|day| (LedgerDay::at(&day.series, day.day), day)).collect()
}

fn anew(store: &mut Memory) -> BTreeMap<Vec<u8>, LedgerDay> {
    store.read(|tx| {
        let mut days = Days::anew();
        for stored in tx.all::<StoredEntry>(&[])? {
            days.post(tx, &stored.entry)?;
        }
        Ok(days.summed())
    })
}

fn findings(store: &mut Memory) -> Vec<String> {
    let found = store.read(check_books).into_iter();
    found.filter(|f| f.detail.contains("reports")).map(|f| format!("{} {}", f.subject, f.detail)).collect()
}

proptest! {
    #[test]
    fn days_that_are_kept_step_by_step_are_those_of_the_whole_journal(
        steps in proptest::collection::vec((0u8..6, 1u32..90_000, 0i64..90_000), 1..60),
        worth in 1u64..9, at_once in 1u64..7, often in 1usize..20,
    ) {
        let mut store = store();
        for (i, (kind, cents, seconds)) in steps.iter().enumerate() {
            step(&mut store, *kind, *cents, *seconds);
            if i % often == 0 {
                keep(&mut store, worth, at_once);
            }
        }
        prop_assert_eq!(findings(&mut store), [""; 0]);
        let whole = anew(&mut store);
        // What is kept and what is behind it are together what the whole journal sums up to.
        let period = (Date::parse("2031-12-30").unwrap(), store.now.day());
        let series: Vec<_> = whole.values().map(|day| day.series.clone()).collect();
        for series in series {
            let (before, days) = store.read(|tx| {
                let ledger = Ledger::read(tx, Wanted::All)?;
                ledger.days(tx, &series, period)
            });
            prop_assert!(before.is_zero());
            let days: Vec<_> = days.into_values().collect();
            let expected: Vec<_> = whole.values().filter(|day| day.series == series).cloned().collect();
            prop_assert_eq!(days, expected);
        }
        let accounts = store.read(|tx| Ledger::read(tx, Wanted::Drawers)?.accounts(tx, "T1"));
        let mut expected: Vec<_> = whole.values().filter_map(|day| day.series.get(2).cloned()).collect();
        expected.sort();
        expected.dedup();
        prop_assert_eq!(accounts, expected);
        keep(&mut store, 1, at_once);
        prop_assert_eq!(kept(&mut store), whole);
        prop_assert_eq!(findings(&mut store), [""; 0]);
    }
}

#[test]
fn a_kept_day_that_was_altered_is_found() {
    let mut store = store();
    for (kind, cents) in [(4, 100_000), (1, 71), (2, 2_500)] {
        step(&mut store, kind, cents, 80_000);
    }
    keep(&mut store, 1, 2);
    assert_eq!(findings(&mut store), [""; 0]);
    let days: Vec<_> = kept(&mut store).into_values().collect();
    for day in &days {
        let mut other = store.clone();
        other
            .write(|tx| tx.put(&LedgerDay { balance: day.balance.plus(amount("0.01")), ..day.clone() }))
            .unwrap();
        let name = format!("{} on {}", day.series.join(" "), day.day);
        assert_eq!(
            findings(&mut other),
            [format!("{name} is kept for reports with other sums than its entries have")]
        );
        let mut other = store.clone();
        other
            .write(|tx| {
                tx.remove(day);
                Ok(())
            })
            .unwrap();
        assert_eq!(findings(&mut other), [format!("{name} has entries, and is not kept for reports")]);
        let mut other = store.clone();
        let beyond = LedgerDay { day: Date::parse("2040-01-01").unwrap(), ..day.clone() };
        other.write(|tx| tx.put(&beyond)).unwrap();
        assert_eq!(findings(&mut other).len(), 1);
    }
    let mut other = store.clone();
    other.write(|tx| tx.put(&LedgerDaysEnd { sequence: 9 })).unwrap();
    assert_eq!(findings(&mut other), ["journal has 3 entries, and reports sum up 9"]);
}

#[test]
fn months_end_on_their_last_day_in_leap_years_too() {
    let shown = |day: &str, count| -> Vec<String> {
        let months = months(Date::parse(day).unwrap(), Some(count));
        months.iter().map(|(first, last)| format!("{} {last}", name_of(*first))).collect()
    };
    assert_eq!(shown("2024-03-31", 3), ["2024-01 2024-01-31", "2024-02 2024-02-29", "2024-03 2024-03-31"]);
    assert_eq!(shown("2025-02-28", 1), ["2025-02 2025-02-28"]);
    assert_eq!(shown("2026-01-01", 2), ["2025-12 2025-12-31", "2026-01 2026-01-31"]);
    assert_eq!(shown("2026-01-31", 120).len(), 120);
}
