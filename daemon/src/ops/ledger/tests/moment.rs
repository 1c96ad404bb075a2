//! Lists that are read bit by bit while there are postings: they show one moment.

use super::memory::Memory;
use super::posting::{amount, entry};
use crate::domain::ledger::on_sides;
use crate::domain::shelf::{NewColumn, Row, Shelf, texts};
use crate::ops::Caller;
use crate::ops::ledger::*;
use crate::ops::list::{Cursor, List, Ordered};
use crate::ops::listing::{Findable, Shelved};
use crate::store::Tx;
use crate::store::limits::AnswerRoom;
use mfa_shared::amount::Amount;
use mfa_shared::api::ledger::AccountRole::{Drawer, Income, Vault};
use mfa_shared::api::ledger::{AccountQuery, AsOf, GetTrialBalance, LedgerAccount, ListLedgerAccounts};
use mfa_shared::fault::{Fault, UNAVAILABLE};
use mfa_shared::query::Paging;
use mfa_shared::wire::Query;
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex, RwLock};

/// More than one chunk of a stream.
const ACCOUNTS: usize = 1_203;

fn name(number: usize) -> String {
    format!("drawer-{number:04}")
}

/// Cash from the vault into a drawer.
fn bring(store: &mut Memory, number: usize, sum: &str) {
    let lines = vec![debit(&name(number), Drawer, amount(sum)), credit("vault", Vault, amount(sum))];
    store.write(|tx| post(tx, entry("DAJT", lines))).unwrap();
}

fn store() -> Memory {
    let mut store = Memory::new();
    store
        .write(|tx| {
            (0..ACCOUNTS).try_for_each(|number| name_account(tx, "/x", &name(number), Drawer))?;
            name_account(tx, "/x", "vault", Vault)?;
            name_account(tx, "/x", "zero", Income)
        })
        .unwrap();
    for number in (0..ACCOUNTS).step_by(3) {
        bring(&mut store, number, "1.25");
    }
    store
}

/// Every line of a stream, with something done to the store after each chunk.
fn streamed(
    store: &mut Memory,
    paging: Paging<LedgerAccount>,
    mut meanwhile: impl FnMut(&mut Memory),
) -> Vec<Value> {
    let list = list(store, paging);
    meanwhile(store);
    rest(store, &list, Cursor::Start, meanwhile)
}

fn list(store: &mut Memory, paging: Paging<LedgerAccount>) -> impl List + use<> {
    let query = Query(AccountQuery { paging, kind: None });
    store.read(|tx| list_accounts(tx, &Caller::guest(), &ListLedgerAccounts {}, &query))
}

/// Every line of a stream from a place on, with something done to the store after each chunk.
fn rest(
    store: &mut Memory,
    list: &impl List,
    mut cursor: Cursor,
    mut meanwhile: impl FnMut(&mut Memory),
) -> Vec<Value> {
    let mut out = Vec::new();
    while !matches!(cursor, Cursor::End) {
        let (lines, next) = store.read(|tx| list.lines(tx, cursor.clone()));
        assert!(lines.iter().filter(|byte| **byte == b'\n').count() <= 500, "one chunk at a time");
        out.extend(lines);
        cursor = next;
        meanwhile(store);
    }
    String::from_utf8(out).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn columns(paging: &str) -> Paging<LedgerAccount> {
    let mut read = Paging::default();
    (read.sort_column, read.descending) =
        (Some(paging.trim_start_matches('-').to_owned()), paging.starts_with('-'));
    read
}

#[test]
fn accounts_are_streamed_as_they_were_when_they_were_asked_for() {
    for order in ["identifier", "-identifier", "balance", "-balance", "createdOn"] {
        let mut store = store();
        let before = streamed(&mut store, columns(order), |_| {});
        assert_eq!(before.len(), ACCOUNTS + 2);
        let mut posted = 0;
        let during = streamed(&mut store, columns(order), |store| {
            for number in [0, 1, 2, 600, 1_200, 1_202] {
                bring(store, number, "3.50");
                posted += 1;
            }
            store.now = store.now.plus_seconds(1);
            let late = format!("late-{posted}");
            store.write(|tx| name_account(tx, "/x", &late, Vault)).unwrap();
        });
        assert!(posted > 18, "{posted}");
        assert_same(&before, &during, order);
    }
}

fn assert_same(before: &[Value], during: &[Value], order: &str) {
    for (before, during) in before.iter().zip(during) {
        assert_eq!(before["identifier"], during["identifier"], "{order}");
        for property in ["balance", "debitTotal", "creditTotal"] {
            let number = |value: &Value| Amount::parse(&value[property].to_string()).unwrap();
            assert_eq!(number(before), number(during), "{order} {before}");
        }
        assert_eq!(before["lastEntryOn"], during["lastEntryOn"], "{order} {before}");
    }
    assert_eq!(before.len(), during.len(), "{order}");
}

/// The accounts as a shelf has them, with the order of their balances.
fn shelf(store: &mut Memory) -> Arc<RwLock<Shelf>> {
    let accounts: Vec<LedgerAccount> = store.read(|tx| tx.all(&[]));
    let row = |account: &LedgerAccount| {
        let (identifier, group) = (account.identifier.clone(), account.group());
        let row =
            Row { identifier: identifier.clone(), texts: texts(account.texts()), group, keys: Vec::new() };
        (identifier, Some(row))
    };
    let keys = accounts.iter().map(|account| (account.identifier.clone(), account.sort_key("balance")));
    let shelf = Arc::new(RwLock::new(Shelf::default()));
    shelf.write().unwrap().apply(accounts.iter().map(row).collect());
    let column = NewColumn::of(&shelf, "balance", keys.collect());
    let column = shelf.read().unwrap().fitted(column, BTreeMap::new());
    shelf.write().unwrap().keep(column);
    shelf
}

#[test]
fn accounts_are_streamed_in_the_order_of_the_moment_though_a_shelf_knows_what_came_later() {
    for order in ["balance", "-balance"] {
        let mut store = store();
        let before = streamed(&mut store, columns(order), |_| {});
        let list = list(&mut store, columns(order));
        let late = |store: &mut Memory| {
            store.now = store.now.plus_seconds(1);
            for number in [0, 1, 2, 600, 1_200, 1_202] {
                bring(store, number, "3.50");
            }
        };
        late(&mut store);
        store.write(|tx| name_account(tx, "/x", "late", Vault)).unwrap();
        let shelf = shelf(&mut store);
        late(&mut store);
        let others = store.read(|tx| list.other_keys(tx));
        assert_eq!(others.len(), 7, "six drawers and the vault");
        let taken = list.order(&shelf.read().unwrap(), &others).unwrap();
        let taken = Cursor::Order(Arc::new(Ordered::new(shelf, taken)), 0);
        assert_same(&before, &rest(&mut store, &list, taken, late), order);
    }
}

#[derive(Debug, Default)]
struct Counted(AtomicUsize);

impl AnswerRoom for Counted {
    fn grow(&self, bytes: usize) -> Result<(), Fault> {
        self.0.fetch_add(bytes, SeqCst);
        Ok(())
    }
}

#[test]
fn what_a_stream_keeps_in_memory_takes_room_of_its_answer() {
    let mut store = store();
    for (order, kept) in [("identifier", false), ("-identifier", false), ("balance", true)] {
        let list = list(&mut store, columns(order));
        let room = Arc::<Counted>::default();
        store.read(|tx| {
            tx.limits.room = Some(room.clone());
            list.begin(tx)
        });
        let least = ACCOUNTS * (name(0).len() + size_of::<Vec<u8>>());
        assert_eq!(room.0.load(SeqCst) > least, kept, "{order}");
        assert_eq!(room.0.load(SeqCst) > 0, kept, "{order}");
    }
}

/// Room for so many bytes.
#[derive(Debug)]
struct Room(Mutex<usize>);

impl AnswerRoom for Room {
    fn grow(&self, bytes: usize) -> Result<(), Fault> {
        let mut left = self.0.lock().unwrap();
        *left = left.checked_sub(bytes).ok_or_else(|| Fault::new(UNAVAILABLE, "no room"))?;
        Ok(())
    }
}

#[test]
fn a_trial_balance_takes_its_room_while_it_is_made() {
    let mut store = Memory::new();
    store.write(|tx| name_account(tx, "/x", "vault", Vault)).unwrap();
    for number in 0..ACCOUNTS {
        store.write(|tx| name_account(tx, "/x", &name(number), Drawer)).unwrap();
        bring(&mut store, number, "1");
    }
    let mut rows = |room| {
        store.read(|tx| {
            tx.limits.room = Some(Arc::new(Room(Mutex::new(room))));
            let asked = Query(AsOf { as_of: None });
            let made = trial_balance(tx, &Caller::guest(), &GetTrialBalance {}, &asked);
            Ok(made.map(|balance| balance.0.rows.len()))
        })
    };
    assert_eq!(rows(1_000_000).unwrap(), ACCOUNTS + 1);
    assert_eq!(rows(80_000).unwrap_err().kind, UNAVAILABLE);
}

#[test]
fn the_books_that_a_stream_shows_balance() {
    let mut store = store();
    let mut next = 0;
    let shown = streamed(&mut store, Paging::default(), |store| {
        next += 1;
        bring(store, next * 7 % ACCOUNTS, "0.01");
    });
    let accounts = shown.into_iter().map(|value| serde_json::from_value::<LedgerAccount>(value).unwrap());
    let sides: Vec<_> = accounts.map(|account| on_sides(account.kind, account.balance)).collect();
    let total = |side: fn(&(Amount, Amount)) -> Amount| Amount::sum(sides.iter().map(side));
    assert_eq!(total(|side| side.0), total(|side| side.1));
    assert_eq!(total(|side| side.0), amount("501.25"));
}

#[test]
fn a_stream_shows_every_account_when_the_clock_was_set_back() {
    let mut store = Memory::new();
    store.now = store.now.plus_seconds(600);
    let make = |name: &'static str| move |tx: &mut Tx<'_>| name_account(tx, "/x", name, Drawer);
    store.write(make("drawer-0001")).unwrap();
    store.write(make("empty")).unwrap();
    store.write(|tx| name_account(tx, "/x", "vault", Vault)).unwrap();
    bring(&mut store, 1, "3.50");
    store.now = store.now.plus_seconds(-600);
    let shown = streamed(&mut store, Paging::default(), |_| {});
    let names: Vec<_> = shown.iter().map(|account| account["identifier"].as_str().unwrap()).collect();
    assert_eq!(names, ["drawer-0001", "empty", "vault"]);
    // Another daemon's clock was ahead by two seconds, and catches up before the stream comes there.
    store.now = store.now.plus_seconds(599);
    let mut left = 1;
    let shown = streamed(&mut store, Paging::default(), |store| {
        store.now = store.now.plus_seconds(std::mem::take(&mut left));
    });
    let total = shown.iter().filter(|account| account["balance"] != 0).count();
    assert_eq!(total, 2, "{shown:?}");
}
