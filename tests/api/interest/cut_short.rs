//! Days that an earlier program cut short: they count as done, and only the accounts of their first transaction
//! have accrued. And dividends that were cut short by a kill.

use super::bank::{Bank, interest_product, refusal, share_product};
use super::runs::{in_euros, left_out_of_many, made_up_for};
use crate::support::counter::same;
use crate::support::stored;
use mfa_daemon::ops::OrderName;
use mfa_daemon::ops::check::check_ledger;
use mfa_daemon::ops::dividends::{self, Distribution};
use mfa_daemon::ops::interest::{Job, Next, Order, Part, accounts_at_once, claim, end_day, release, step};
use mfa_daemon::store::Tx;
use mfa_daemon::store::records::{InterestState, Remembered, RunPhase, StoredRun};
use mfa_shared::amount::Amount;
use mfa_shared::api::ledger::LedgerAccount;
use mfa_shared::fault::Fault;
use mfa_shared::time::Date;
use serde_json::{Value, json};

const DAYS: [&str; 2] = ["2031-05-30", "2031-05-31"];

/// Does with a store what the earlier program did: of each day the first transaction, after which it took the
/// day for done; and all of the next day, which books what the accounts have accrued.
fn cut_short(tx: &mut Tx<'_>) -> Result<(), Fault> {
    let by = "guest";
    let [_, last] = DAYS.map(|day| Date::parse(day).unwrap());
    let order = Order { until: last, from: None, name: OrderName::default(), by: by.to_owned() };
    claim(tx, &order, by, None)?;
    for text in DAYS {
        let job = Job { day: Date::parse(text).unwrap(), product: "gain".to_owned(), again: true };
        let next = step(tx, &job, Part::Any, accounts_at_once(true, Part::Any), by, by)?.next;
        assert_eq!(next, Next::Step(Part::Accrual), "there is more to do");
        let mut row: StoredRun = tx.get(&[text, "gain"])?.unwrap();
        row.ended = true;
        tx.put(&row)?;
    }
    let next = Job { day: last.next(), product: "gain".to_owned(), again: false };
    while matches!(step(tx, &next, Part::Any, accounts_at_once(true, Part::Any), by, by)?.next, Next::Step(_))
    {
    }
    end_day(tx, next.day)?;
    release(tx, by)?;
    let state: InterestState = tx.get(InterestState::KEY)?.unwrap();
    tx.put(&InterestState { looked_through: false, ..state })
}

/// Plants the days in a store, and what the check finds then.
fn planted(bank: &mut Bank) -> Vec<String> {
    bank.counter.world.stop();
    let store = stored::open(bank.world().config(), bank.world().clock.clone());
    bank.world().block_on(store.write("test", cut_short)).unwrap();
    let found = bank.world().block_on(store.read(true, check_ledger)).unwrap();
    bank.world().block_on(store.close());
    drop(store);
    bank.counter.world.restart();
    found.iter().map(|found| format!("{} {}", found.subject, found.detail)).collect()
}

#[test]
fn the_next_run_makes_up_for_days_that_count_as_done_and_are_not() {
    let (mut bank, accounts) = left_out_of_many();
    let found = planted(&mut bank);
    bank.days(1);
    assert_eq!(found.len(), DAYS.len(), "{found:#?}");
    for (found, day) in found.iter().zip(DAYS) {
        // How many accounts a transaction looks at is no matter here.
        let begin = format!("run {day} of gain is listed as done, but accounts after c0");
        let end = " accrued nothing for it; make up for them: mfa interest run";
        assert!(found.starts_with(&begin) && found.ends_with(end), "{found}");
    }
    let runs = bank.runs("product=gain&dateRange=2031-05-30..2031-05-31");
    assert!(runs.iter().all(|run| run["outcome"] == "DONE" && run["accounts"] == 1), "{runs:?}");
    // Nothing is accrued or paid twice, however often it is run. What the day behind has earned is paid, too.
    for _ in 0..2 {
        bank.run();
        made_up_for(&bank, &accounts, "3");
    }
    let mut entries = bank.entries();
    entries.retain(|entry| entry.contains("accrue-gain"));
    let expected = [
        "INTA 2031-06-01 4.00 DEBIT expense-gain CREDIT accrue-gain",
        "INTA 2031-05-30 1.00 DEBIT expense-gain CREDIT accrue-gain",
        "INTA 2031-05-31 1.00 DEBIT expense-gain CREDIT accrue-gain",
        "INTP 2031-05-31 3.00 DEBIT accrue-gain CREDIT c0000.9100.00001",
        "INTP 2031-05-31 3.00 DEBIT accrue-gain CREDIT c9999.9100.00001",
    ];
    assert_eq!(entries, expected);
    bank.check();
}

/// Pays the next accounts of a dividend in the store of a daemon that is stopped meanwhile; whether all of them
/// are paid, and how many by this.
fn pay_some(bank: &mut Bank) -> (bool, usize) {
    bank.counter.world.stop();
    let store = stored::open(bank.world().config(), bank.world().clock.clone());
    let (definition, due) = ("shares".to_owned(), Date::parse("2031-06-30").unwrap());
    let rate = Amount::parse("36.5").unwrap();
    let order = Distribution {
        definition,
        due,
        rate,
        by: "guest".to_owned(),
        order: OrderName::new(vec!["first".to_owned()]),
    };
    let pay = move |tx: &mut Tx<'_>| dividends::step(tx, &order);
    let paid = bank.world().block_on(store.write("test", pay)).unwrap();
    bank.world().block_on(store.close());
    drop(store);
    bank.counter.world.restart();
    (paid.all, paid.accounts.len())
}

#[test]
fn a_dividend_ends_by_the_terms_with_which_it_began() {
    let mut bank = Bank::open();
    bank.sell(&share_product("shares", "MONTHLY"));
    let accounts = 103;
    for number in 0..accounts {
        bank.account(&format!("c{number:03}"), "shares", "100");
    }
    bank.days(60);
    assert_eq!(bank.today(), "2031-07-05");
    assert_eq!(pay_some(&mut bank), (false, 50));
    // Of a year, the accounts would get 56 days. And the product is sold no more.
    bank.world().put("/definitions/shares", share_product("shares", "ANNUALLY").to_string()).is(202);
    bank.command("shares", "DEACTIVATE");
    let distribute = |bank: &Bank, rate: f64| {
        let due = json!({ "year": 2031, "month": 6, "day": 30 });
        let body = json!({ "dueDate": due, "dividendRate": rate });
        bank.world().post("/definitions/shares/dividends", body.to_string())
    };
    assert_eq!(refusal(&distribute(&bank, 1.0)), "409 product_inactive");
    distribute(&bank, 36.5).is(202);
    let paid = bank.entries();
    let expected =
        |number: usize| format!("DIVD 2031-06-30 3.00 DEBIT expense-shares CREDIT c{number:03}.9100.00001");
    assert_eq!(paid, (0..accounts).map(expected).collect::<Vec<_>>());
    // Whose answer was lost, or who paid beside another, hears that it is done, and pays nobody twice.
    assert_eq!(pay_some(&mut bank), (true, 0));
    assert_eq!(bank.entries(), paid);
    bank.check();
}

/// Does a day of `gain` until some of its accounts have been through a phase and others have not.
fn some_of_a_day(tx: &mut Tx<'_>, text: &str, phase: RunPhase, at_once: usize) -> Result<(), Fault> {
    let (by, day) = ("guest", Date::parse(text).unwrap());
    claim(tx, &Order { until: day, from: None, name: OrderName::default(), by: by.to_owned() }, by, None)?;
    let job = Job { day, product: "gain".to_owned(), again: false };
    loop {
        assert!(matches!(step(tx, &job, Part::Any, at_once, by, by)?.next, Next::Step(_)));
        let row: StoredRun = tx.get(&[text, "gain"])?.unwrap();
        if row.phase == phase && row.after.is_some() {
            return release(tx, by);
        }
    }
}

/// Does something in the store of a daemon that is stopped meanwhile.
fn in_store(bank: &mut Bank, work: impl FnMut(&mut Tx<'_>) -> Result<(), Fault> + Send + 'static) {
    bank.counter.world.stop();
    let store = stored::open(bank.world().config(), bank.world().clock.clone());
    bank.world().block_on(store.write("test", work)).unwrap();
    bank.world().block_on(store.close());
    drop(store);
    bank.counter.world.restart();
}

#[test]
fn all_accounts_of_a_day_are_paid_by_the_terms_with_which_it_began() {
    let mut bank = Bank::open();
    bank.sell(&interest_product("gain", "36.5", "MONTHLY"));
    for number in 0..60 {
        bank.account(&format!("c{number:03}"), "gain", "100");
    }
    bank.days(26);
    bank.run_body(json!({ "date": "2031-05-30" })).is(202);
    in_store(&mut bank, |tx| some_of_a_day(tx, "2031-05-31", RunPhase::Pay, 50));
    let paid = |bank: &Bank| bank.entries().iter().filter(|entry| entry.starts_with("INTP")).count();
    assert!((1..60).contains(&paid(&bank)), "{}", paid(&bank));
    bank.world().put("/definitions/gain", interest_product("gain", "36.5", "ANNUALLY").to_string()).is(202);
    bank.run();
    assert_eq!(paid(&bank), 60);
    bank.check();
}

/// A first day half way: of two accounts of `gain`, the first has accrued. An account of another product holds
/// euros.
fn half_of_the_first_day() -> (Bank, Value, [String; 2]) {
    let mut bank = Bank::open();
    let mut euro = interest_product("euro", "36.5", "ANNUALLY");
    euro["currency"]["code"] = json!("EUR");
    bank.sell(&euro);
    in_euros(&bank, "euro");
    bank.days(1);
    bank.run();
    let gain = interest_product("gain", "36.5", "ANNUALLY");
    bank.sell(&gain);
    let accounts = ["Maria", "Nana"].map(|customer| bank.account(customer, "gain", "1000"));
    bank.days(1);
    in_store(&mut bank, |tx| some_of_a_day(tx, "2031-05-07", RunPhase::Accrue, 1));
    same(&bank.interest(&accounts[0])["accrued"], "1");
    same(&bank.interest(&accounts[1])["accrued"], "0");
    (bank, gain, accounts)
}

/// Gives a product another expense account.
fn expense(bank: &Bank, product: &mut Value, account: &str) {
    product["expenseAccountIdentifier"] = json!(account);
    let path = format!("/definitions/{}", product["identifier"].as_str().unwrap());
    bank.world().put(&path, product.to_string()).is(202);
}

#[test]
fn what_is_given_up_is_never_booked_on_an_account_of_another_currency() {
    let (bank, mut gain, [account, other]) = half_of_the_first_day();
    expense(&bank, &mut gain, "expense-euro");
    let before = bank.entries();
    let refused = bank.act("ACCC", &account, "gain", "1000");
    assert_eq!(refusal(&refused), "409 currency_mismatch");
    let detail = refused.json()["detail"].as_str().unwrap().to_owned();
    for part in ["expense-euro has EUR", "gain has USD", &account, "expenseAccountIdentifier"] {
        assert!(detail.contains(part), "{detail}");
    }
    // One that has accrued nothing is closed all the same.
    bank.act("ACCC", &other, "gain", "1000").is(202);
    assert_eq!(bank.entries(), before);
    same(&bank.counter.instance(&account)["balance"], "1000");
    expense(&bank, &mut gain, "expense-gain");
    bank.act("ACCC", &account, "gain", "1000").is(202);
    assert_eq!(bank.entries().pop().unwrap(), "INTF 2031-05-08 1.00 DEBIT accrue-gain CREDIT expense-gain");
    for name in ["expense-gain", "accrue-gain"] {
        assert_eq!(bank.world().get(&format!("/ledger/accounts/{name}")).is(200).json()["currency"], "USD");
    }
    bank.run();
    bank.check();
}

#[test]
fn a_day_that_has_begun_is_booked_whatever_becomes_of_the_accounts_of_its_product() {
    let (mut bank, mut gain, [account, other]) = half_of_the_first_day();
    in_store(&mut bank, |tx| {
        // Nothing is booked yet, and the accounts are taken.
        assert_eq!(check_ledger(tx)?, []);
        for name in ["expense-gain", "accrue-gain"] {
            assert_eq!(tx.get::<LedgerAccount>(&[name])?.unwrap().currency.as_deref(), Some("USD"));
        }
        Ok(())
    });
    let mut euro = interest_product("euro", "36.5", "ANNUALLY");
    euro["currency"]["code"] = json!("EUR");
    expense(&bank, &mut euro, "expense-gain");
    expense(&bank, &mut gain, "expense-euro");
    bank.days(1);
    bank.run();
    let runs = bank.runs("sortDirection=ASC&dateRange=2031-05-07..2031-05-08");
    let shown = |run: &Value| {
        let text = [&run["date"], &run["productIdentifier"], &run["code"], &run["booked"]];
        text.map(Value::to_string).join(" ").replace('"', "")
    };
    let expected = [
        "2031-05-07 euro currency_mismatch 0",
        "2031-05-07 gain null 2.00",
        "2031-05-08 euro currency_mismatch 0",
        "2031-05-08 gain currency_mismatch 0",
    ];
    assert_eq!(runs.iter().map(shown).collect::<Vec<_>>(), expected);
    let entry = "INTA 2031-05-07 2.00 DEBIT expense-gain CREDIT accrue-gain";
    assert_eq!(bank.entries().pop().unwrap(), entry);
    // No more is paid than was booked.
    for account in [&account, &other] {
        bank.pay(account).is(202);
        same(&bank.interest(account)["paidTotal"], "1");
    }
    same(&bank.counter.ledger("accrue-gain"), "0");
    bank.check();
}

#[test]
fn a_product_that_an_earlier_program_left_half_way_and_cannot_be_booked_stops_no_other() {
    let mut bank = Bank::open();
    let mut euro = interest_product("euro", "36.5", "ANNUALLY");
    euro["currency"]["code"] = json!("EUR");
    bank.sell(&euro);
    in_euros(&bank, "euro");
    let mut gain = interest_product("gain", "36.5", "ANNUALLY");
    bank.sell(&gain);
    bank.sell(&interest_product("more", "36.5", "ANNUALLY"));
    let [_, closed, other] = [("Maria", "gain"), ("Nana", "gain"), ("Kofi", "more")]
        .map(|(customer, product)| bank.account(customer, product, "1000"));
    bank.days(1);
    bank.run();
    bank.days(1);
    in_store(&mut bank, |tx| {
        some_of_a_day(tx, "2031-05-07", RunPhase::Accrue, 1)?;
        // Earlier programs did not keep to the expense account with which a day began.
        let row: StoredRun = tx.get(&["2031-05-07", "gain"])?.unwrap();
        tx.put(&StoredRun { expense: None, ..row })
    });
    // The account that is still to come is closed, so what it earned on the day has to be given up; but it
    // cannot be: the expense account holds euros now.
    bank.act("ACCC", &closed, "gain", "1000").is(202);
    expense(&bank, &mut gain, "expense-euro");
    let outcomes = || {
        let runs = bank.runs("date=2031-05-07&sortDirection=ASC");
        let shown = |run: &Value| format!("{} {}", run["productIdentifier"], run["code"]).replace('"', "");
        runs.iter().map(shown).collect::<Vec<_>>()
    };
    bank.run();
    assert_eq!(outcomes(), ["euro null", "gain currency_mismatch", "more null"]);
    same(&bank.interest(&other)["accrued"], "2");
    expense(&bank, &mut gain, "expense-gain");
    bank.run();
    assert_eq!(outcomes(), ["euro null", "gain null", "more null"]);
    assert_eq!(bank.runs("date=2031-05-07&product=gain")[0]["accounts"], 2);
    bank.check();
}

#[test]
fn a_first_run_that_was_killed_goes_on_when_it_is_ordered_again() {
    let mut bank = Bank::open();
    bank.sell(&interest_product("gain", "36.5", "MONTHLY"));
    let account = bank.account("Maria", "gain", "1000");
    bank.days(3);
    // It had done the first day.
    in_store(&mut bank, |tx| {
        let by = "guest";
        let [from, until] = ["2031-05-06", "2031-05-08"].map(|day| Date::parse(day).unwrap());
        claim(
            tx,
            &Order { until, from: Some(from), name: OrderName::default(), by: by.to_owned() },
            "dead",
            None,
        )?;
        let job = Job { day: from, product: "gain".to_owned(), again: false };
        while step(tx, &job, Part::Any, 50, "dead", by)?.next != Next::End {}
        end_day(tx, from)
    });
    let run_from = |from: &str| bank.run_body(json!({ "from": from }));
    assert_eq!(refusal(&run_from("2031-05-07")), "409 already_begun");
    run_from("2031-05-06").is(202);
    same(&bank.interest(&account)["accrued"], "3");
    assert_eq!(bank.runs("").len(), 3);
    assert_eq!(refusal(&run_from("2031-05-06")), "409 already_begun");
    bank.check();
}

#[test]
fn an_order_that_was_killed_before_its_answer_is_accepted_again_under_its_key() {
    let mut bank = Bank::open();
    bank.sell(&interest_product("gain", "36.5", "MONTHLY"));
    bank.sell(&share_product("shares", "MONTHLY"));
    bank.account("Maria", "gain", "1000");
    bank.account("Nana", "shares", "1000");
    bank.days(2);
    let order = |bank: &Bank, key: &str, path: &str, body: &Value| {
        let request = bank.world().request("POST", path).header("idempotency-key", key);
        bank.world().send(request.header("content-type", "application/json").body(body.to_string()))
    };
    let due = json!({ "year": 2031, "month": 5, "day": 7 });
    let dividend = json!({ "dueDate": due, "dividendRate": 36.5 });
    let orders = [
        ("/interest/runs", json!({ "from": "2031-05-06" }), "409 already_begun"),
        ("/definitions/shares/dividends", dividend, "409 already_distributed"),
    ];
    for (path, body, _) in &orders {
        order(&bank, path, path, body).is(202);
    }
    let booked = bank.entries();
    // All was done, and the answer was not yet stored. And the daemon that comes has another key in use.
    mfa_daemon::store::key_file::add(&bank.world().config().secret_key_file).unwrap();
    in_store(&mut bank, |tx| {
        let answers = tx.all::<Remembered>(&[])?;
        assert_eq!(answers.len(), 2);
        answers.iter().for_each(|answer| tx.remove(answer));
        Ok(())
    });
    for (path, body, refused) in &orders {
        assert_eq!(&refusal(&order(&bank, "another", path, body)), refused);
        let again = order(&bank, path, path, body).is(202);
        assert_eq!(again.headers.get("idempotency-replayed"), None, "{path}");
    }
    let other = json!({ "dueDate": due, "dividendRate": 73 });
    let path = orders[1].0;
    assert_eq!(refusal(&order(&bank, "other", path, &other)), orders[1].2);
    assert_eq!(bank.entries(), booked);
    bank.check();
}
