use super::memory::Memory;
use crate::ops::ledger::*;
use crate::store::Tx;
use mfa_shared::api::definitions::ProductType;
use mfa_shared::api::ledger::AccountRole::{self, *};
use mfa_shared::api::ledger::{AccountKind, JournalEntry, JournalLine, NewLedgerAccount};
use mfa_shared::api::tellers::CashMovements;
use mfa_shared::fault::Fault;

pub fn amount(text: &str) -> Amount {
    Amount::parse(text).unwrap()
}

pub fn entry<'a>(r#type: &'a str, lines: Vec<JournalLine>) -> Entry<'a> {
    Entry {
        r#type,
        message: r#type,
        transaction_date: None,
        clerk: "ama",
        teller_code: Some("T1"),
        teller_transaction: None,
        lines,
    }
}

pub fn customer(identifier: &'static str, currency: &'static str) -> CustomerAccount<'static> {
    CustomerAccount {
        identifier,
        customer: "c-1",
        product: ProductType::Savings,
        name: "Savings",
        ledger: "9100",
        currency,
    }
}

fn named(tx: &mut Tx<'_>) -> Result<(), Fault> {
    for (identifier, role) in [("drawer", Drawer), ("vault", Vault), ("income", Income)] {
        name_account(tx, "/field", identifier, role)?;
    }
    name_customer_account(tx, customer("c-1.9100.00001", "USD"))
}

fn account(store: &mut Memory, identifier: &str) -> LedgerAccount {
    store.read(|tx| tx.get(&[identifier])).unwrap()
}

#[test]
fn an_account_keeps_the_kind_of_its_first_naming() {
    let mut store = Memory::new();
    let name = |store: &mut Memory, identifier: &'static str, role: AccountRole| {
        store.write(|tx| name_account(tx, "/x", identifier, role)).map_err(|fault| fault.kind.code)
    };
    store.write(named).unwrap();
    assert_eq!(name(&mut store, "drawer", OverShort), Ok(()));
    let drawer = account(&mut store, "drawer");
    assert_eq!((drawer.kind, drawer.role), (AccountKind::Asset, Some(Drawer)));
    assert_eq!(name(&mut store, "c-1.9100.00001", Vault), Err("account_kind_mismatch"));
    store.strict = true;
    assert_eq!(name(&mut store, "drawer", OverShort), Err("account_kind_mismatch"));
    assert_eq!(name(&mut store, "drawer", Vault), Ok(()));
    assert_eq!(name(&mut store, "new", Vault), Err("unknown_reference"));
    assert_eq!(name(&mut store, "new", ProductCash), Ok(()));
    let new = NewLedgerAccount { identifier: "added".to_owned(), kind: AccountKind::Expense };
    store.write(|tx| add_account(tx, &new)).unwrap();
    assert_eq!(name(&mut store, "added", OverShort), Ok(()));
    assert_eq!(account(&mut store, "added").role, None);
}

#[test]
fn an_entry_moves_its_balances_its_totals_and_the_cash_of_its_drawer() {
    let mut store = Memory::new();
    store.write(named).unwrap();
    let lines = vec![
        debit("drawer", Drawer, amount("105")),
        credit("c-1.9100.00001", Customer, amount("100")),
        credit("income", Income, amount("5.00")),
        credit("vault", Vault, amount("0.00")),
    ];
    let posted = store.write(|tx| post(tx, entry("ACCO", lines))).unwrap().unwrap();
    assert_eq!((posted.sequence, posted.lines.len(), posted.identifier.len()), (1, 3, 32));
    let lines = vec![
        debit("c-1.9100.00001", Customer, amount("40")),
        debit("c-1.9100.00001", Customer, amount("1.25")),
        credit("drawer", Drawer, amount("40")),
        credit("income", Income, amount("1.25")),
    ];
    store.now = store.now.plus_seconds(60);
    let second = store.write(|tx| post(tx, entry("CWDL", lines))).unwrap().unwrap();
    assert_eq!((second.sequence, second.posted_on), (2, store.now));
    let shown = |a: LedgerAccount| {
        format!("{} {} {} {:?}", a.balance, a.debit_total, a.credit_total, a.currency.unwrap_or_default())
    };
    assert_eq!(shown(account(&mut store, "drawer")), "65 105 40 \"USD\"");
    assert_eq!(shown(account(&mut store, "c-1.9100.00001")), "58.75 41.25 100 \"USD\"");
    assert_eq!(shown(account(&mut store, "income")), "6.25 0 6.25 \"USD\"");
    assert_eq!(shown(account(&mut store, "vault")), "0 0 0 \"\"");
    assert_eq!(account(&mut store, "drawer").last_entry_on, Some(store.now));
    assert_eq!(store.read(|tx| drawer_cash(tx, "T1")), amount("65"));
    assert_eq!(store.read(|tx| drawer_cash(tx, "T2")), Amount::ZERO);
    store.unannounced = 0;
    let mut moved_after = |sequence| {
        let mut moved = Vec::new();
        let mut look = |e: &JournalEntry, l: &JournalLine| {
            moved.push(format!("{} {} {}", e.r#type, l.side, l.amount));
        };
        store.read(|tx| walk_drawer(tx, "T1", sequence, &mut look));
        assert_eq!(store.unannounced, 0, "a database is asked for many entries at once");
        moved
    };
    assert_eq!(moved_after(0), ["ACCO DEBIT 105", "CWDL CREDIT 40"]);
    assert_eq!(moved_after(1), ["CWDL CREDIT 40"]);
    assert_eq!(store.read(last_sequence), 2);
}

type At = (&'static str, AccountRole);

fn move_cash(store: &mut Memory, kind: &str, from: At, to: At, sum: &str) {
    let lines = vec![debit(to.0, to.1, amount(sum)), credit(from.0, from.1, amount(sum))];
    store.write(|tx| post(tx, entry(kind, lines))).unwrap();
}

#[test]
fn what_a_session_moves_is_counted_with_each_posting() {
    let mut store = Memory::new();
    store
        .write(|tx| {
            name_account(tx, "/x", "drawer", Drawer)?;
            name_account(tx, "/x", "other", Drawer)?;
            name_account(tx, "/x", "vault", Vault)
        })
        .unwrap();
    let (drawer, vault) = (("drawer", Drawer), ("vault", Vault));
    move_cash(&mut store, "DAJT", vault, drawer, "10");
    store.write(|tx| begin_session(tx, "T1", 1, ("carried", amount("10")))).unwrap();
    move_cash(&mut store, "DAJT", vault, drawer, "5");
    move_cash(&mut store, "DAJT", drawer, vault, "2.50");
    // It goes to another account, and stays in the drawer.
    move_cash(&mut store, "ADJT", drawer, ("other", Drawer), "12.50");
    let counted = |store: &mut Memory, after| {
        let moved = store.read(|tx| session_cash(tx, "T1", after));
        let shown = |m: &CashMovements| format!("{} {} {} {}", m.message, m.count, m.received, m.disbursed);
        moved.map(|moved| moved.iter().map(shown).collect::<Vec<_>>())
    };
    let message = entry("DAJT", Vec::new()).message;
    let expected = ["carried 1 10 0".to_owned(), format!("{message} 2 5 2.50")];
    assert_eq!(counted(&mut store, 1), Some(expected.to_vec()));
    assert_eq!(counted(&mut store, 0), None, "another session");
    store.write(|tx| begin_session(tx, "T1", 4, ("carried", Amount::ZERO))).unwrap();
    assert_eq!(counted(&mut store, 4), Some(Vec::new()));
    assert_eq!(store.read(|tx| drawer_cash(tx, "T1")), amount("12.50"));
}

#[test]
fn an_entry_without_an_amount_is_not_written() {
    let mut store = Memory::new();
    store.write(named).unwrap();
    let lines = vec![debit("drawer", Drawer, Amount::ZERO), credit("vault", Vault, amount("0.00"))];
    assert_eq!(store.write(|tx| post(tx, entry("DAJT", lines))).unwrap(), None);
    assert_eq!(store.read(last_sequence), 0);
}

#[test]
fn what_does_not_balance_or_was_never_named_is_refused_whole() {
    let mut store = Memory::new();
    store.write(named).unwrap();
    let before = store.pairs.clone();
    for (dr, cr, sum) in [("drawer", "vault", "2"), ("drawer", "nobody", "1")] {
        let lines = vec![debit(dr, Drawer, amount("1")), credit(cr, Vault, amount(sum))];
        let refused = store.write(|tx| post(tx, entry("DAJT", lines))).unwrap_err();
        assert_eq!(refused.kind.code, "internal");
    }
    assert_eq!(store.pairs, before);
}

#[test]
fn an_account_takes_the_currency_of_the_first_account_that_has_one() {
    let mut store = Memory::new();
    store.write(named).unwrap();
    store.write(|tx| name_customer_account(tx, customer("c-1.9100.00002", "EUR"))).unwrap();
    let adjust = |store: &mut Memory, dr: &'static str, cr: &'static str| {
        let lines = vec![debit(dr, Drawer, amount("1")), credit(cr, Vault, amount("1"))];
        store
            .write(|tx| post(tx, entry("DAJT", lines)))
            .map(drop)
            .map_err(|f| (f.kind.code, f.detail.clone()))
    };
    assert_eq!(adjust(&mut store, "drawer", "vault"), Ok(()));
    assert_eq!(account(&mut store, "drawer").currency, None);
    assert_eq!(adjust(&mut store, "drawer", "c-1.9100.00001"), Ok(()));
    assert_eq!(account(&mut store, "drawer").currency.as_deref(), Some("USD"));
    assert_eq!(account(&mut store, "vault").currency, None);
    let detail = "account drawer has USD, account c-1.9100.00002 has EUR".to_owned();
    assert_eq!(adjust(&mut store, "drawer", "c-1.9100.00002"), Err(("currency_mismatch", detail)));
    assert_eq!(adjust(&mut store, "drawer", "vault"), Ok(()));
    assert_eq!(account(&mut store, "vault").currency.as_deref(), Some("USD"));
    let both = [account(&mut store, "vault"), account(&mut store, "c-1.9100.00002")];
    assert_eq!(join_currencies(both.iter()).map_err(|f| f.kind.code), Err("currency_mismatch"));
}

#[test]
fn entries_stand_in_the_order_of_posting_also_when_the_clock_was_set_back() {
    let mut store = Memory::new();
    store.write(named).unwrap();
    let move_one = |store: &mut Memory| {
        let lines = vec![debit("drawer", Drawer, amount("1")), credit("vault", Vault, amount("1"))];
        store.write(|tx| post(tx, entry("DAJT", lines))).unwrap().unwrap()
    };
    let first = move_one(&mut store);
    store.now = store.now.plus_seconds(-3600);
    let second = move_one(&mut store);
    assert_eq!((second.sequence, second.posted_on), (2, first.posted_on));
}
