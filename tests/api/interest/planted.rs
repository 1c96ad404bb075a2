//! Errors in the books of interest that `mfa check ledger` finds.

use super::bank::{Bank, interest_product, share_product};
use crate::support::stored;
use mfa_daemon::Clock;
use mfa_daemon::ops::check::check_ledger;
use mfa_daemon::ops::ledger::{Entry, credit, debit, post};
use mfa_daemon::store::records::{
    ProductInterest, RunPhase, StoredDividend, StoredEntry, StoredInterest, StoredPayment, StoredRun,
};
use mfa_daemon::store::{Store, Tx};
use mfa_shared::amount::Amount;
use mfa_shared::api::interest::RunOutcome;
use mfa_shared::api::ledger::AccountRole::{Customer, ProductAccrue, ProductExpense};
use mfa_shared::api::ledger::LedgerAccount;
use mfa_shared::fault::Fault;
use mfa_shared::time::{Date, Timestamp};
use serde_json::json;

const ACCOUNT: &str = "Maria.9100.00001";

type Alter = fn(&mut Tx<'_>) -> Result<(), Fault>;

/// A month of interest, a payment that was asked for, a closed account and a dividend, in a stopped store.
fn books() -> (Bank, Store) {
    let mut bank = Bank::open();
    bank.sell(&interest_product("gain", "36.5", "MONTHLY"));
    bank.sell(&share_product("shares", "MONTHLY"));
    let account = bank.account("Maria", "gain", "1000");
    let closed = bank.account("Nana", "gain", "1000");
    bank.account("Kofi", "shares", "1000");
    bank.days(28);
    bank.run_body(json!({ "from": "2031-05-06" })).is(202);
    bank.pay(&account).is(202);
    bank.act("ACCC", &closed, "gain", "1026").is(202);
    let due = json!({ "dueDate": { "year": 2031, "month": 5, "day": 31 }, "dividendRate": 5 });
    bank.world().post("/definitions/shares/dividends", due.to_string()).is(202);
    bank.counter.world.stop();
    let clock = Clock::fixed(Timestamp::parse("2031-07-01T00:00:00Z").unwrap());
    let store = stored::open(bank.world().config(), clock);
    (bank, store)
}

fn cent() -> Amount {
    Amount::parse("0.01").unwrap()
}

fn kept(tx: &mut Tx<'_>) -> StoredInterest {
    tx.get(&[ACCOUNT]).unwrap().unwrap()
}

fn post_again(tx: &mut Tx<'_>, r#type: &str, about: &str) -> Result<(), Fault> {
    let lines =
        vec![debit("expense-gain", ProductExpense, cent()), credit("accrue-gain", ProductAccrue, cent())];
    let entry = Entry {
        r#type,
        message: about,
        transaction_date: Timestamp::parse("2031-05-07T00:00:00Z"),
        clerk: "guest",
        teller_code: None,
        teller_transaction: None,
        lines,
    };
    post(tx, entry).map(drop)
}

fn pay_again(tx: &mut Tx<'_>, account: &str) -> Result<(), Fault> {
    let lines = vec![debit("accrue-gain", ProductAccrue, cent()), credit(account, Customer, cent())];
    let entry = Entry {
        r#type: "INTP",
        message: account,
        transaction_date: Timestamp::parse("2031-05-31T00:00:00Z"),
        clerk: "guest",
        teller_code: None,
        teller_transaction: None,
        lines,
    };
    post(tx, entry).map(drop)
}

/// Changes of the records of accounts, and what is found of each.
const OF_ACCOUNTS: [(Alter, &str); 5] = [
    (|_| Ok(()), ""),
    (
        |tx| {
            let mut kept = kept(tx);
            kept.accruals = kept.accruals.plus(cent());
            tx.put(&kept)
        },
        "interest of product gain has 56.00000 accrued, its accounts have 56.01000",
    ),
    (
        |tx| {
            let mut kept = kept(tx);
            kept.paid = kept.paid.plus(cent());
            tx.put(&kept)
        },
        "interest of Maria.9100.00001 has 28.01 paid, its entries sum to 28.00",
    ),
    (
        |tx| {
            let mut kept: StoredInterest = tx.get(&["Nana.9100.00001"])?.unwrap();
            kept.given_up = Amount::ZERO;
            tx.put(&kept)
        },
        "interest of Nana.9100.00001 has 0 given up, its entries sum to 2.00",
    ),
    (
        |tx| {
            let payment: StoredPayment = tx.all(&[ACCOUNT])?.remove(0);
            tx.remove(&payment);
            Ok(())
        },
        "interest of Maria.9100.00001 has 28.00 paid, its entries sum to 2.00",
    ),
];

/// The same of products, days and dividends.
const OF_PRODUCTS: [(Alter, &str); 8] = [
    (
        |tx| {
            let mut kept: ProductInterest = tx.get(&["gain"])?.unwrap();
            kept.booked = kept.booked.minus(cent());
            tx.put(&kept)
        },
        "interest of product gain has 55.99 booked, its entries sum to 56.00",
    ),
    (
        |tx| {
            // A day that was left out excuses nothing: it has accrued nothing.
            let mut run: StoredRun = tx.get(&["2031-05-07", "gain"])?.unwrap();
            (run.run.date, run.run.outcome) = (Date::parse("2031-06-30").unwrap(), RunOutcome::Failed);
            (run.run.accrued, run.run.booked) = (Amount::ZERO, Amount::ZERO);
            run.phase = RunPhase::Accrue;
            tx.put(&run)?;
            let mut kept: ProductInterest = tx.get(&["gain"])?.unwrap();
            kept.booked = kept.booked.minus(cent());
            tx.put(&kept)
        },
        "interest of product gain has 55.99 booked and not the rounded 56.00",
    ),
    (
        |tx| {
            let mut run: StoredRun = tx.get(&["2031-05-07", "gain"])?.unwrap();
            run.run.outcome = RunOutcome::Failed;
            tx.put(&run)
        },
        "run 2031-05-07 of gain is listed as left out, but 2.00000 is accrued of it and not booked",
    ),
    (
        |tx| {
            let mut run: StoredRun = tx.get(&["2031-05-07", "gain"])?.unwrap();
            run.run.accrued = run.run.accrued.plus(cent());
            tx.put(&run)
        },
        "interest of product gain has 56.00000 accrued, its days have 56.01000",
    ),
    (
        |tx| {
            let mut run: StoredRun = tx.get(&["2031-05-31", "gain"])?.unwrap();
            (run.phase, run.after) = (RunPhase::Pay, Some(ACCOUNT.to_owned()));
            tx.put(&run)
        },
        "run 2031-05-31 of gain is listed as done, but accounts after Maria.9100.00001 were not paid on it",
    ),
    (|tx| post_again(tx, "INTA", "gain"), "books the interest of gain for 2031-05-07 again"),
    (|tx| post_again(tx, "MOVE", "gain"), "is of type MOVE and moves accrued interest"),
    (
        |tx| {
            let mut kept: StoredDividend = tx.get(&["shares", "2031-05-31"])?.unwrap();
            kept.amount = kept.amount.plus(cent());
            tx.put(&kept)
        },
        "dividend 2031-05-31 of shares says that 3.57 was paid, its entries sum to 3.56",
    ),
];

/// The first entry of a type.
fn entry(tx: &mut Tx<'_>, r#type: &str) -> Result<StoredEntry, Fault> {
    Ok(tx.all::<StoredEntry>(&[])?.into_iter().find(|stored| stored.entry.r#type == r#type).unwrap())
}

/// Changes of entries of the journal and of what surrounds them.
const OF_ENTRIES: [(Alter, &str); 13] = [
    (
        |tx| {
            let entry = entry(tx, "INTA")?;
            tx.remove(&entry);
            Ok(())
        },
        "run 2031-05-06 of gain says that 2.00 was booked, its entry says 0",
    ),
    (
        |tx| {
            let mut stored = entry(tx, "INTA")?;
            stored.entry.lines.iter_mut().for_each(|line| line.amount = line.amount.plus(cent()));
            tx.put(&stored)
        },
        "run 2031-05-06 of gain says that 2.00 was booked, its entry says 2.01",
    ),
    (
        |tx| {
            let mut stored = entry(tx, "INTA")?;
            stored.entry.transaction_date = Timestamp::parse("2031-05-05T00:00:00Z").unwrap();
            tx.put(&stored)
        },
        "run 2031-05-06 of gain says that 2.00 was booked, its entry says 0",
    ),
    (
        |tx| {
            let mut stored = entry(tx, "INTA")?;
            stored.entry.lines.swap(0, 1);
            tx.put(&stored)
        },
        "is of type INTA and has other lines",
    ),
    (
        |tx| {
            let entry = entry(tx, "INTP")?;
            tx.remove(&entry);
            Ok(())
        },
        "interest of Maria.9100.00001 has 28.00 paid, its entries sum to",
    ),
    (|tx| pay_again(tx, ACCOUNT), "interest of Maria.9100.00001 has 28.00 paid, its entries sum to 28.01"),
    (
        |tx| pay_again(tx, "Kofi.9100.00001"),
        "account Kofi.9100.00001 was paid interest that it did not accrue",
    ),
    (
        |tx| {
            let mut stored = entry(tx, "INTF")?;
            stored.entry.lines.iter_mut().for_each(|line| line.amount = line.amount.plus(cent()));
            tx.put(&stored)
        },
        "interest of Nana.9100.00001 has 2.00 given up, its entries sum to 2.01",
    ),
    (
        |tx| {
            // An account in euros gave up its interest on accounts in dollars.
            let kept: LedgerAccount = tx.get(&[ACCOUNT])?.unwrap();
            let (identifier, currency) = ("Euro.9100.00001".to_owned(), Some("EUR".to_owned()));
            let mut stored = entry(tx, "INTF")?;
            stored.entry.message.clone_from(&identifier);
            tx.put(&LedgerAccount { identifier, currency, ..kept })?;
            tx.put(&stored)
        },
        "joins two currencies, ",
    ),
    (
        |tx| {
            let run: StoredRun = tx.get(&["2031-05-07", "gain"])?.unwrap();
            tx.remove(&run);
            Ok(())
        },
        "interest of product gain has 56.00000 accrued, its days have 54.00000",
    ),
    (
        |tx| {
            // A day before the accounts were opened.
            let mut run: StoredRun = tx.get(&["2031-05-07", "gain"])?.unwrap();
            run.run.date = Date::parse("2031-05-05").unwrap();
            tx.put(&run)
        },
        "run 2031-05-05 of gain says that 2.00 was booked, its entry says 0",
    ),
    (
        |tx| {
            let mut account: LedgerAccount = tx.get(&[ACCOUNT])?.unwrap();
            account.balance = account.balance.plus(cent());
            tx.put(&account)
        },
        "account Maria.9100.00001 has balance 1028.01, its lines sum to 1028.00",
    ),
    (
        |tx| {
            let entry = entry(tx, "DIVD")?;
            tx.remove(&entry);
            Ok(())
        },
        "dividend 2031-05-31 of shares says that 3.56 was paid, its entries sum to 0",
    ),
];

#[test]
fn planted_errors_are_found_and_whole_books_have_none() {
    let (bank, store) = books();
    for (alter, words) in OF_ACCOUNTS.into_iter().chain(OF_PRODUCTS).chain(OF_ENTRIES) {
        let look = move |tx: &mut Tx<'_>| {
            alter(tx)?;
            check_ledger(tx)
        };
        let found = bank.world().block_on(store.read(true, look)).unwrap();
        let found: Vec<_> = found.iter().map(|f| format!("{} {}", f.subject, f.detail)).collect();
        match words {
            "" => assert_eq!(found, Vec::<String>::new()),
            words => assert!(found.iter().any(|found| found.contains(words)), "{words}: {found:#?}"),
        }
    }
    bank.world().block_on(store.close());
}
