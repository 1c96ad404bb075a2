//! Random histories against a model: the invariants hold after every step, and a store that someone altered
//! is distinguished from an intact one.

use super::memory::Memory;
use super::posting::{amount, customer, entry};
use crate::domain::instance::transaction_types;
use crate::ops::check::check_books;
use crate::ops::ledger::*;
use crate::ops::{Caller, actions, definitions, instances};
use crate::store::record::{key, numbered};
use crate::store::records::*;
use mfa_shared::api::actions::{Action, CreateAction};
use mfa_shared::api::definitions::{CreateDefinition, NewDefinition};
use mfa_shared::api::instances::*;
use mfa_shared::api::ledger::AccountRole::{self, *};
use mfa_shared::api::ledger::{AsOf, GetTrialBalance, JournalLine};
use mfa_shared::api::tellers::{Transaction, TransactionCharge, TransactionState, TransactionType};
use mfa_shared::node::Node;
use mfa_shared::object::Object;
use mfa_shared::object::nested;
use mfa_shared::rule::check_body;
use mfa_shared::time::Timestamp;
use mfa_shared::wire::{Form, Json, Query};
use proptest::prelude::*;
use std::collections::BTreeMap;

fn read<T: Object>(text: &str) -> T {
    let day = Timestamp::from_millis(0).day();
    check_body(&nested::<T>(), &Node::parse(text.as_bytes()).unwrap(), day).unwrap()
}

/// A store with two products in two currencies and their accounts.
fn store() -> Memory {
    let mut store = Memory::new();
    store
        .write(|tx| {
            for (product, code) in [("usd", "USD"), ("eur", "EUR")] {
                let text = format!(
                    r#"{{"type":"SAVINGS","identifier":"{product}","name":"S","currency":{{"code":"{code}",
                    "name":"N","sign":"S","scale":2}},"equityLedgerIdentifier":"9{product}",
                    "cashAccountIdentifier":"cash","expenseAccountIdentifier":"cost",
                    "accrueAccountIdentifier":"accrue","term":{{"interestPayable":"MONTHLY"}}}}"#
                );
                let new = Json(read::<NewDefinition>(&text));
                definitions::create(tx, &Caller::guest(), &CreateDefinition {}, &new)?;
            }
            for (identifier, role) in [("d1", Drawer), ("d2", Drawer), ("v1", Vault), ("i1", Income)] {
                name_account(tx, "/x", identifier, role)?;
            }
            Ok(())
        })
        .unwrap();
    store
}

#[derive(Debug, Clone)]
enum Step {
    Open(bool),
    Command(usize, InstanceCommand),
    /// Cash in or out of an account with a charge: account, drawer, out, amount, charge, in cents.
    Move(usize, bool, bool, u32, u32),
    /// Cash from the vault into a drawer, or back.
    Adjust(bool, bool, u32),
    Wait(i32),
}

fn step() -> impl Strategy<Value = Step> {
    use InstanceCommand::*;
    prop_oneof![
        1 => any::<bool>().prop_map(Step::Open),
        2 => (0usize..6, prop_oneof![4 => Just(Activate), 1 => Just(Close), 1 => Just(Transaction)])
            .prop_map(|(at, command)| Step::Command(at, command)),
        6 => (0usize..6, any::<bool>(), any::<bool>(), 0u32..50_000, 0u32..300)
            .prop_map(|(at, drawer, out, sum, charge)| Step::Move(at, drawer, out, sum, charge)),
        2 => (any::<bool>(), any::<bool>(), 0u32..90_000)
            .prop_map(|(drawer, out, sum)| Step::Adjust(drawer, out, sum)),
        2 => (-40_000i32..90_000).prop_map(Step::Wait),
    ]
}

fn cents(value: u32) -> Amount {
    amount(&format!("{}.{:02}", value / 100, value % 100))
}

/// The confirmed transaction whose charges the lines book.
fn confirmed(teller: &str, number: u64, lines: &[JournalLine]) -> StoredTransaction {
    let charges = lines.iter().filter(|line| line.role == Income).map(|line| TransactionCharge {
        code: "Open".to_owned(),
        income_account_identifier: line.account_identifier.clone(),
        name: "Fee".to_owned(),
        amount: line.amount,
    });
    let transaction = Transaction {
        identifier: format!("{number:032}"),
        transaction_type: TransactionType::Cdpt,
        transaction_date: Timestamp::from_millis(0),
        customer_identifier: "c-1".to_owned(),
        product_identifier: "usd".to_owned(),
        customer_account_identifier: "a".to_owned(),
        target_account_identifier: None,
        clerk: "ama".to_owned(),
        amount: Amount::ZERO,
        total_amount: Amount::ZERO,
        charges: charges.collect(),
        charges_included: Some(true),
        state: TransactionState::Confirmed,
        created_on: Timestamp::from_millis(0),
        finished_on: None,
    };
    StoredTransaction { teller: teller.to_owned(), number, sequence: None, dated: false, transaction }
}

#[derive(Default)]
struct Model {
    accounts: Vec<(String, InstanceState)>,
    balances: BTreeMap<String, i64>,
    entries: usize,
}

impl Model {
    fn post(&mut self, store: &mut Memory, teller: &str, lines: Vec<(&str, AccountRole, bool, u32)>) {
        let written: Vec<_> = lines
            .iter()
            .map(|(account, role, is_debit, sum)| {
                if *is_debit {
                    debit(account, *role, cents(*sum))
                } else {
                    credit(account, *role, cents(*sum))
                }
            })
            .collect();
        let number = self.entries as u64 + 1;
        let posted = store.write(|tx| {
            let posted = post(tx, Entry { teller_code: Some(teller), ..entry("MOVE", written.clone()) })?;
            if posted.is_some() {
                tx.put(&confirmed(teller, number, &written))?;
            }
            Ok(posted)
        });
        match posted {
            Ok(None) => assert!(lines.iter().all(|line| line.3 == 0)),
            Ok(Some(_)) => {
                self.entries += 1;
                for (account, role, is_debit, sum) in lines {
                    let raises = is_debit == matches!(role, Drawer | Vault);
                    *self.balances.entry(account.to_owned()).or_default() +=
                        if raises { i64::from(sum) } else { -i64::from(sum) };
                }
            }
            Err(fault) => assert_eq!(fault.kind.code, "currency_mismatch"),
        }
    }

    fn run(&mut self, store: &mut Memory, step: &Step) {
        match step {
            Step::Open(usd) => {
                let product = if *usd { "usd" } else { "eur" };
                let text = format!(r#"{{"customerIdentifier":"c-1","productIdentifier":"{product}"}}"#);
                let new = Json(read::<NewInstance>(&text));
                let guest = Caller::guest();
                let made = store.write(|tx| instances::create(tx, &guest, &CreateInstance {}, &new)).unwrap();
                let number = self.accounts.len() + 1;
                assert_eq!(made.0.account, format!("c-1.9{product}.{number:05}"));
                self.accounts.push((made.0.account, InstanceState::Pending));
            }
            Step::Command(at, command) => {
                let Some((account, state)) = self.accounts.get_mut(*at) else { return };
                let zero = self.balances.get(account).is_none_or(|balance| *balance == 0);
                let at = CommandInstance { account: account.clone() };
                let form = Form(InstanceCommandForm { command: *command });
                let done = store.write(|tx| instances::command(tx, &Caller::guest(), &at, &form));
                use InstanceCommand::*;
                let expected = match (*state, command) {
                    (InstanceState::Closed, Activate | Transaction) => Err("wrong_state"),
                    (InstanceState::Active, Close) if !zero => Err("balance_not_zero"),
                    _ => Ok(()),
                };
                assert_eq!(done.map(drop).map_err(|fault| fault.kind.code), expected);
                match (expected, command) {
                    (Ok(()), Activate) => *state = InstanceState::Active,
                    (Ok(()), Close) => *state = InstanceState::Closed,
                    _ => {}
                }
            }
            Step::Move(at, first, out, sum, charge) => {
                let Some((account, state)) = self.accounts.get(*at).cloned() else { return };
                let (drawer, teller) = if *first { ("d1", "T1") } else { ("d2", "T2") };
                let held = |name: &str| self.balances.get(name).copied().unwrap_or_default();
                let enough =
                    !*out || held(&account) >= i64::from(sum + charge) && held(drawer) >= i64::from(*sum);
                let covered = held(&account) + i64::from(*sum) >= i64::from(*charge);
                if !transaction_types(state).contains(&"CDPT") || !enough || !covered {
                    return;
                }
                let lines = if *out {
                    vec![
                        (account.as_str(), Customer, true, *sum),
                        (account.as_str(), Customer, true, *charge),
                        (drawer, Drawer, false, *sum),
                        ("i1", Income, false, *charge),
                    ]
                } else {
                    vec![
                        (drawer, Drawer, true, *sum),
                        (account.as_str(), Customer, true, *charge),
                        (account.as_str(), Customer, false, *sum),
                        ("i1", Income, false, *charge),
                    ]
                };
                self.post(store, teller, lines);
            }
            Step::Adjust(first, out, sum) => {
                let (drawer, teller) = if *first { ("d1", "T1") } else { ("d2", "T2") };
                if *out && self.balances.get(drawer).is_none_or(|held| *held < i64::from(*sum)) {
                    return;
                }
                self.post(store, teller, vec![(drawer, Drawer, !*out, *sum), ("v1", Vault, *out, *sum)]);
            }
            Step::Wait(seconds) => store.now = store.now.plus_seconds(i64::from(*seconds)),
        }
    }
}

fn hold(store: &mut Memory, model: &Model) {
    assert_eq!(store.read(check_books), []);
    assert_eq!(store.read(last_sequence), model.entries as u64);
    for (account, expected) in &model.balances {
        let sum = u32::try_from(expected.unsigned_abs()).unwrap();
        let expected = if *expected < 0 { cents(sum).negated() } else { cents(sum) };
        assert_eq!(store.read(|tx| balance(tx, account)), expected, "{account}");
    }
    for (teller, drawer) in [("T1", "d1"), ("T2", "d2")] {
        let (cash, kept) = store.read(|tx| Ok((drawer_cash(tx, teller)?, balance(tx, drawer)?)));
        assert_eq!(cash, kept, "{teller}");
    }
    for days in 0..4 {
        let as_of = (days > 0).then(|| store.now.plus_seconds(-86_400 * (days - 2)).day());
        let sheet =
            store.read(|tx| trial_balance(tx, &Caller::guest(), &GetTrialBalance {}, &Query(AsOf { as_of })));
        assert_eq!(sheet.0.total_debit, sheet.0.total_credit);
    }
    for (account, state) in &model.accounts {
        let at = GetInstance { account: account.clone() };
        let shown = store.read(|tx| instances::get(tx, &Caller::guest(), &at, &mfa_shared::wire::Nothing)).0;
        assert_eq!((shown.state, shown.balance), (*state, store.read(|tx| balance(tx, account))));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn after_any_history_the_books_hold(steps in proptest::collection::vec(step(), 1..60)) {
        let (mut store, mut model) = (store(), Model::default());
        for step in &steps {
            model.run(&mut store, step);
        }
        hold(&mut store, &model);
    }
}

/// A store with some postings.
fn busy() -> Memory {
    let mut store = store();
    let mut model = Model::default();
    let open = [Step::Open(true), Step::Command(0, InstanceCommand::Activate)];
    let moves = [(false, 10_000, 150), (false, 5_000, 150), (true, 2_000, 60), (true, 2_000, 60)];
    let moves = moves.map(|(out, sum, charge)| Step::Move(0, true, out, sum, charge));
    for step in open.iter().chain(&moves) {
        model.run(&mut store, step);
        store.now = store.now.plus_seconds(1);
    }
    assert_eq!(model.entries, 4);
    hold(&mut store, &model);
    store
}

fn subjects(store: &mut Memory) -> Vec<String> {
    let mut found: Vec<_> = store.read(check_books).into_iter().map(|finding| finding.subject).collect();
    found.dedup();
    found
}

fn doctored(change: impl FnOnce(&mut Memory)) -> Vec<String> {
    let mut store = busy();
    change(&mut store);
    subjects(&mut store)
}

fn entry_key(sequence: u64) -> (u8, Vec<u8>) {
    (JOURNAL.id, StoredEntry::at(sequence))
}

fn alter(store: &mut Memory, at: (u8, Vec<u8>), from: &str, to: &str) {
    let text = String::from_utf8(store.pairs[&at].clone()).unwrap();
    assert!(text.contains(from), "{text}");
    store.pairs.insert(at, text.replace(from, to).into_bytes());
}

#[test]
fn a_single_altered_amount_is_found() {
    let found = doctored(|store| alter(store, entry_key(2), "\"amount\":50.00", "\"amount\":50.01"));
    assert!(found.contains(&"entry 2".to_owned()), "{found:?}");
    let in_account = (LEDGER_ACCOUNTS.id, key(&["i1"]));
    assert_eq!(doctored(|s| alter(s, in_account, "\"balance\":4.20", "\"balance\":4.21")), ["account i1"]);
    let line = (ACCOUNT_LINES.id, numbered(&["i1"], line_number(1, 3)));
    assert_eq!(doctored(|s| alter(s, line, "1.50", "1.51")), ["entry 1"]);
    let drawer = || (DRAWER_CASH.id, key(&["T1"]));
    assert_eq!(doctored(|s| alter(s, drawer(), "110.00", "110")), Vec::<String>::new());
    assert_eq!(doctored(|s| alter(s, drawer(), "110.00", "111")), ["drawer T1"]);
    let last = || (LAST_POSTING.id, key(LastPosting::KEY));
    assert_eq!(doctored(|s| alter(s, last(), "\"sequence\":4", "\"sequence\":3")), ["journal"]);
    assert_eq!(doctored(|s| drop(s.pairs.remove(&last()))), ["journal"]);
    let by_drawer = (DRAWER_ENTRIES.id, [&b"T1\0"[..], &StoredEntry::at(1)].concat());
    assert_eq!(doctored(|s| drop(s.pairs.remove(&by_drawer))), ["entry 1", "journal"]);
    let message = |s: &mut Memory| alter(s, entry_key(3), "\"clerk\":\"ama\"", "\"clerk\":\"eve\"");
    assert_eq!(doctored(message), ["entry 3"]);
}

#[test]
fn income_that_no_confirmed_transaction_charged_is_found() {
    let first = (TRANSACTIONS.id, StoredTransaction::at("T1", 1));
    let altered = doctored(|s| alter(s, first.clone(), "\"amount\":1.50", "\"amount\":1.49"));
    assert_eq!(altered, ["account i1"]);
    assert_eq!(doctored(|s| alter(s, first.clone(), "CONFIRMED", "CANCELED")), ["account i1"]);
    assert_eq!(doctored(|s| drop(s.pairs.remove(&first))), ["account i1"]);
    assert_eq!(doctored(|s| alter(s, first.clone(), "\"i1\"", "\"i2\"")), ["account i1", "account i2"]);
}

#[test]
fn a_removed_line_or_entry_is_found() {
    let line = (ACCOUNT_LINES.id, numbered(&["i1"], line_number(1, 3)));
    let found = doctored(|store| drop(store.pairs.remove(&line)));
    assert_eq!(found, ["entry 1", "journal"]);
    let in_entry = r#",{"accountIdentifier":"i1","side":"CREDIT","role":"INCOME","amount":1.50}"#;
    assert!(doctored(|s| alter(s, entry_key(1), in_entry, "")).contains(&"entry 1".to_owned()));
    assert!(doctored(|s| drop(s.pairs.remove(&entry_key(2)))).contains(&"entry 3".to_owned()));
    assert!(!doctored(|s| drop(s.pairs.remove(&entry_key(4)))).is_empty());
}

#[test]
fn two_entries_that_changed_places_are_found_even_if_they_move_the_same() {
    let found = doctored(|store| {
        let (third, fourth) = (store.pairs[&entry_key(3)].clone(), store.pairs[&entry_key(4)].clone());
        let swapped = |bytes: Vec<u8>, from: &str, to: &str| {
            String::from_utf8(bytes).unwrap().replace(from, to).into_bytes()
        };
        store.pairs.insert(entry_key(3), swapped(fourth, "\"sequence\":4", "\"sequence\":3"));
        store.pairs.insert(entry_key(4), swapped(third, "\"sequence\":3", "\"sequence\":4"));
    });
    assert!(found.contains(&"entry 3".to_owned()) && found.contains(&"entry 4".to_owned()), "{found:?}");
}

#[test]
fn an_instance_and_its_account_belong_together() {
    let at = "c-1.9usd.00001";
    let found = doctored(|s| drop(s.pairs.remove(&(INSTANCES.id, key(&[at])))));
    assert_eq!(found, [format!("account {at}")]);
    let state = |s: &mut Memory| alter(s, (INSTANCES.id, key(&[at])), "\"ACTIVE\"", "\"PENDING\"");
    assert_eq!(doctored(state), [format!("instance {at}")]);
    let mut store = busy();
    store.write(|tx| name_customer_account(tx, customer("alone", "USD"))).unwrap();
    assert_eq!(subjects(&mut store), ["account alone"]);
}

#[test]
fn several_actions_of_one_type_are_found_letter_case_aside() {
    let mut store = Memory::new();
    for (identifier, kind) in [("a1", "ACCO"), ("a2", "acco"), ("a3", "CDPT")] {
        let text = format!(r#"{{"identifier":"{identifier}","name":"N","transactionType":"{kind}"}}"#);
        let new = Json(read::<Action>(&text));
        store.write(|tx| actions::create(tx, &Caller::guest(), &CreateAction {}, &new)).unwrap();
    }
    let found = ["a1", "a2", "a3", "a4"]
        .map(|identifier| store.read(|tx| actions::is_for_type(tx, identifier, "Acco")));
    assert_eq!(found, [true, true, false, false]);
}
