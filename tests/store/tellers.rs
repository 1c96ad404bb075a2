//! `mfa check ledger` on doctored tellers, with each engine: each number of `tellers.md` section 14 that a
//! store can break. An altered amount of the ledger is found in `books.rs`.

use crate::support::counter::{Counter, PIN, teller};
use crate::support::stored;
use crate::support::world::World;
use mfa_daemon::Check;
use mfa_daemon::ops::ledger::{debit, drawer_cash};
use mfa_daemon::ops::tellers::check_tellers;
use mfa_daemon::store::records::*;
use mfa_daemon::store::{Store, Tx};
use mfa_shared::amount::Amount;
use mfa_shared::api::ledger::AccountRole;
use mfa_shared::api::tellers::*;
use mfa_shared::fault::Fault;
use serde_json::json;

type Alter = fn(&mut Tx<'_>) -> Result<(), Fault>;

fn amount(text: &str) -> Amount {
    Amount::parse(text).unwrap()
}

/// A transaction at a teller, not finished.
fn quote(counter: &Counter, code: &str, kind: &str, account: &str, to: Option<&str>, sum: &str) -> String {
    let mut request = Counter::request(kind, account, sum);
    request["targetAccountIdentifier"] = json!(to);
    let quote = counter.create(code, &request).is(200).json();
    quote["tellerTransactionIdentifier"].as_str().unwrap().to_owned()
}

/// A stopped daemon after a day at two tellers: T1 has closed once and is at work again, T2 is paused; T3 was
/// never opened.
struct Day {
    world: World,
    store: Store,
}

impl Day {
    fn start() -> Self {
        let counter = Counter::active("500");
        for code in ["T2", "T3"] {
            counter.teller_with(&teller(code)).is(202);
        }
        counter.open("T2", "emp2", "200");
        counter.unlock("T2", "emp2");
        let [a, b, _] = ["anna", "bela", "cilla"].map(|customer| counter.account(customer));
        let done = |code: &str, kind: &str, account: &str, to, sum: &str, charges: &str| {
            let transaction = quote(&counter, code, kind, account, to, sum);
            counter.finish(code, &transaction, &format!("command=CONFIRM&charges={charges}")).is(202);
        };
        done("T1", "ACCO", &a, None, "300", "included");
        done("T2", "ACCO", &b, None, "200", "excluded");
        done("T1", "CWDL", &a, None, "50.50", "included");
        done("T2", "ACCT", &b, Some(&a), "50", "excluded");
        quote(&counter, "T1", "CDPT", &a, None, "1");
        counter.pause("T1").is(202);
        counter.count("T1", "760.00").is(202);
        counter.command("T1", json!({ "action": "CLOSE", "adjustment": "CREDIT", "amount": 700 })).is(202);
        counter.open("T1", "emp1", "100");
        counter.unlock("T1", "emp1");
        done("T1", "CDPT", &a, None, "7", "included");
        quote(&counter, "T1", "CDPT", &a, None, "2");
        let change = json!({ "code": "T1", "password": PIN, "tellerAccountIdentifier": "drawer-9" });
        counter.world.put("/offices/accra/teller/T1", change.to_string()).is(202);
        counter.pause("T2").is(202);
        for transaction in
            counter.world.get("/teller/T1/transactions?status=CONFIRMED").json().as_array().unwrap()
        {
            let identifier = transaction["identifier"].as_str().unwrap();
            counter.world.post(&format!("/teller/T1/transactions/{identifier}/receipt"), "").is(200);
        }
        let mut world = counter.world;
        world.stop();
        assert_eq!(world.check(&[Check::Ledger]), [""; 0]);
        let store = stored::open(world.config(), world.clock.clone());
        Self { world, store }
    }

    /// The findings while the store is altered; the alteration is then undone.
    fn after(&self, alter: impl Fn(&mut Tx<'_>) -> Result<(), Fault> + Send + 'static) -> Vec<String> {
        let found = self.store.write("doctor", move |tx| {
            tx.set_dry_run();
            alter(tx)?;
            check_tellers(tx)
        });
        let found = self.world.block_on(found).unwrap();
        found.into_iter().map(|finding| format!("{} {}", finding.subject, finding.detail)).collect()
    }

    /// Something that begins with one text and has the other in it is found.
    #[track_caller]
    fn finds(&self, alter: Alter, expected: &[(&str, &str)]) {
        let found = self.after(alter);
        for (start, words) in expected {
            let is_one = |finding: &String| finding.starts_with(start) && finding.contains(words);
            assert!(found.iter().any(is_one), "{start} {words}: {found:?}");
        }
    }

    fn close(self) {
        assert_eq!(self.after(|_| Ok(())), [""; 0], "an alteration was not taken back");
        self.world.block_on(self.store.close());
    }
}

fn stored_teller(tx: &mut Tx<'_>, code: &str) -> StoredTeller {
    tx.get(&[code]).unwrap().unwrap()
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

fn count(tx: &mut Tx<'_>) -> StoredDenomination {
    tx.all::<StoredDenomination>(&["T1"]).unwrap().remove(0)
}

fn report(tx: &mut Tx<'_>) -> DayReport {
    tx.all::<DayReport>(&["T1"]).unwrap().remove(0)
}

#[test]
fn cash_that_no_entry_explains_is_found() {
    let day = Day::start();
    // Number 2: cash in the drawer, cash on hand and the entries; nothing if the teller was never opened.
    day.finds(
        |tx| {
            let cash = drawer_cash(tx, "T2")?.plus(amount("0.01"));
            tx.put(&DrawerCash { teller: "T2".to_owned(), cash, session: None })
        },
        &[("teller T2", "on hand")],
    );
    day.finds(
        |tx| {
            let mut stored = entry(tx, |stored| stored.entry.teller_code.as_deref() == Some("T2"));
            stored.entry.teller_code = Some("T3".to_owned());
            tx.put(&stored)
        },
        &[("teller T3", "was never opened, and is in use or has entries")],
    );
    // Number 3: the account of a drawer.
    day.finds(
        |tx| {
            let mut stored = stored_teller(tx, "T2");
            stored.teller.teller_account_identifier = "drawer-9".to_owned();
            tx.put(&stored)
        },
        &[
            ("account drawer-T2", "holds 400, and the drawers on it 0"),
            ("account drawer-9", "and the drawers on it"),
        ],
    );
    // Number 4: what one session left is what the next began with.
    day.finds(
        |tx| {
            let mut stored = stored_teller(tx, "T1");
            let session = stored.session.as_mut().unwrap();
            session.carried = session.carried.plus(amount("0.05"));
            tx.put(&stored)
        },
        &[("teller T1", "was opened with 60.05, and had 60.00 before")],
    );
    day.close();
}

#[test]
fn a_transaction_that_is_not_booked_once_as_it_was_quoted_is_found() {
    let day = Day::start();
    // Number 5.
    for (alter, words) in [
        ((|t| t.sequence = None) as fn(&mut StoredTransaction), "was not booked"),
        (|t| t.sequence = Some(1), "in another way"),
        (|t| t.transaction.charges_included = None, "does not say how"),
        (|t| t.transaction.charges_included = Some(false), "in another way"),
        (|t| t.transaction.amount = amount("299.99"), "in another way"),
        (|t| t.transaction.state = TransactionState::Canceled, "is CANCELED and was booked"),
        (|t| t.transaction.customer_account_identifier = "cilla.9100.00001".to_owned(), "in another way"),
        (|t| t.teller = "T2".to_owned(), "in another way"),
    ] {
        let found = day.after(move |tx| {
            let mut stored = transaction(tx, TransactionType::Acco);
            alter(&mut stored);
            tx.put(&stored)
        });
        let is_one = |finding: &String| finding.starts_with("transaction ") && finding.contains(words);
        assert!(found.iter().any(is_one), "{words}: {found:?}");
    }
    day.finds(
        |tx| {
            let stored = transaction(tx, TransactionType::Acct);
            tx.remove(&stored);
            Ok(())
        },
        &[("entry ", "does not book transaction"), ("teller T2", "has 1 transactions and has numbered 2")],
    );
    day.finds(
        |tx| {
            let identifier = transaction(tx, TransactionType::Acct).transaction.identifier;
            let place = tx.get::<TransactionPlace>(&[&identifier])?.unwrap();
            tx.remove(&place);
            Ok(())
        },
        &[("transaction ", "is not found by its identifier"), ("transactions", "identifiers are kept")],
    );
    day.close();
}

#[test]
fn an_entry_that_a_teller_could_not_post_is_found() {
    let day = Day::start();
    // Number 6: nothing but adjustments moves a vault.
    day.finds(
        |tx| {
            let mut stored = entry(tx, |stored| stored.entry.r#type == "DAJT");
            stored.entry.lines.push(debit("drawer-T1", AccountRole::Drawer, amount("0.01")));
            tx.put(&stored)
        },
        &[("entry 1", "is of type DAJT and moves something else")],
    );
    day.finds(
        |tx| {
            let mut stored = entry(tx, |stored| stored.entry.r#type == "CAJT");
            stored.entry.r#type = "DAJT".to_owned();
            tx.put(&stored)
        },
        &[("entry ", "is of type DAJT and moves something else")],
    );
    day.close();
}

#[test]
fn a_count_that_the_drawer_did_not_hold_is_found() {
    let day = Day::start();
    // Number 7.
    day.finds(
        |tx| {
            let mut stored = count(tx);
            stored.denomination.counted_total = amount("760.01");
            tx.put(&stored)
        },
        &[("count 1 of teller T1", "found 760.01, and the drawer held 760.00 then")],
    );
    day.finds(
        |tx| {
            let mut stored = count(tx);
            stored.denomination.adjusting_journal_entry = Some("0".repeat(32));
            tx.put(&stored)
        },
        &[("count 1 of teller T1", "which does not book it")],
    );
    day.finds(
        |tx| {
            let stored = count(tx);
            tx.remove(&stored);
            tx.put(&StoredDenomination { number: 2, ..stored })
        },
        &[("count 2 of teller T1", "is in the place of number 1")],
    );
    day.close();
}

#[test]
fn tellers_whose_state_and_people_contradict_are_found() {
    let day = Day::start();
    // Number 8.
    day.finds(
        |tx| {
            let mut stored = stored_teller(tx, "T2");
            stored.teller.assigned_employee = Some("emp1".to_owned());
            tx.put(&stored)
        },
        &[("teller T2", "is assigned to emp1, and so is teller T1")],
    );
    day.finds(
        |tx| {
            let mut stored = stored_teller(tx, "T2");
            stored.teller.assigned_employee = None;
            tx.put(&stored)
        },
        &[("teller T2", "is PAUSED and no one is assigned to it")],
    );
    day.finds(
        |tx| {
            let mut stored = stored_teller(tx, "T1");
            stored.teller.state = TellerState::Closed;
            tx.put(&stored)
        },
        &[("teller T1", "is CLOSED and has a PENDING transaction")],
    );
    day.close();
}

#[test]
fn a_report_that_was_altered_is_found() {
    let day = Day::start();
    day.finds(
        |tx| {
            let mut stored = report(tx);
            stored.cash_on_hand = amount("0.01");
            tx.put(&stored)
        },
        &[
            ("report 1 of teller T1", "does not sum up to its movements"),
            ("teller T1", "was opened with 60.00, and the last report left 0.01"),
        ],
    );
    day.finds(
        |tx| {
            let stored = report(tx);
            tx.remove(&stored);
            tx.put(&DayReport { number: 3, ..stored })
        },
        &[("report 3 of teller T1", "is in the place of number 1")],
    );
    day.close();
}

fn receipt(tx: &mut Tx<'_>, number: usize) -> Receipt {
    tx.all::<Receipt>(&["T1"]).unwrap().remove(number - 1)
}

#[test]
fn a_gap_between_receipts_and_one_of_no_transaction_are_found() {
    let day = Day::start();
    day.finds(
        |tx| {
            let stored = receipt(tx, 1);
            tx.remove(&stored);
            Ok(())
        },
        &[("receipt 2 of teller T1", "is in the place of number 1"), ("receipts", "are 2, and copies of 3")],
    );
    day.finds(
        |tx| {
            let stored = receipt(tx, 2);
            tx.put(&Receipt { transaction_identifier: "none".to_owned(), ..stored })
        },
        &[("receipt 2 of teller T1", "is of transaction none, which is not there")],
    );
    day.finds(
        |tx| {
            let stored = receipt(tx, 2);
            tx.put(&Receipt { amount: stored.amount.plus(amount("0.01")), ..stored })
        },
        &[("receipt 2 of teller T1", "differs from transaction ")],
    );
    day.finds(
        |tx| {
            let mut stored = transaction(tx, TransactionType::Acco);
            stored.transaction.state = TransactionState::Canceled;
            tx.put(&stored)
        },
        &[("receipt 1 of teller T1", "which is CANCELED at teller T1")],
    );
    day.finds(
        |tx| {
            let stored = receipt(tx, 3);
            let copies = tx.get::<ReceiptCopies>(&[&stored.transaction_identifier])?.unwrap();
            tx.put(&ReceiptCopies { number: 2, ..copies })
        },
        &[("receipt 3 of teller T1", "is not the one whose copies are counted")],
    );
    day.close();
}

#[test]
fn an_account_closed_by_a_clock_that_was_set_back_has_no_younger_lines() {
    let counter = Counter::active("500");
    let account = counter.account("anna");
    counter.transact("ACCO", &account, None, "100", "included").is(202);
    let posted_on = counter.journal().pop().unwrap()["postedOn"].clone();
    counter.world.clock.advance(-86_400);
    counter.transact("ACCC", &account, None, "100", "included").is(202);
    assert_eq!(counter.journal().pop().unwrap()["postedOn"], posted_on);
    let listed = counter.world.get("/teller/T1/transactions").is(200).json();
    assert_eq!((&listed[0]["finishedOn"], &listed[1]["finishedOn"]), (&posted_on, &posted_on));
    let mut world = counter.world;
    world.stop();
    assert_eq!(world.check(&[Check::Ledger]), [""; 0]);
}
