//! The figures of reports after histories of real operations, and of thousands of entries.

use super::books::{Books, Period, Sums, amount, by_month, lines};
use crate::support::counter::{Counter, plain_product, teller};
use crate::support::stored;
use crate::support::world::World;
use mfa_daemon::ops::ledger::{Entry, credit, debit, name_account, post};
use mfa_daemon::store::Tx;
use mfa_daemon::{Check, Clock};
use mfa_shared::amount::Amount;
use mfa_shared::api::ledger::AccountRole::{Customer, Drawer, OverShort, Vault};
use mfa_shared::fault::Fault;
use mfa_shared::time::{Date, Timestamp};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Numbers by chance, the same ones in every run.
struct Chance(u64);

impl Chance {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }
}

fn report(world: &World, path: &str) -> Vec<Value> {
    world.get(path).is(200).json().as_array().unwrap().clone()
}

/// The rows of a cash report: currency, day, sums.
fn cash_rows(rows: &[Value]) -> Vec<(Option<String>, Date, Sums)> {
    let row = |row: &Value| {
        let sums = ["received", "disbursed", "over", "short", "cashOnHand"].map(|name| amount(&row[name]));
        let day = Date::parse(row["date"].as_str().unwrap()).unwrap();
        (row["currency"].as_str().map(str::to_owned), day, sums)
    };
    rows.iter().map(row).collect()
}

fn period(world: &World, days: i64) -> Period {
    let now = world.clock.now();
    (now.plus_seconds(-(days - 1) * 86_400).day(), now.day())
}

/// Holds the cash report of the office to a plain sum.
#[track_caller]
fn cash_is_right(world: &World, books: &Books, tellers: &[&str], currencies: &[Option<&str>], days: i64) {
    let shown = cash_rows(&report(world, &format!("/ledger/reports/cash?office=accra&days={days}")));
    let expected = currencies.iter().flat_map(|currency| {
        let sums = books.cash(tellers, *currency, period(world, days));
        sums.into_iter().map(|(day, sums)| (currency.map(str::to_owned), day, sums))
    });
    let expected: Vec<_> = expected.collect();
    assert_eq!(shown.len(), expected.len(), "{days} days");
    for (shown, expected) in shown.iter().zip(&expected) {
        assert_eq!(shown, expected, "{days} days");
    }
}

/// Compares the deposit report of a product with a plain sum, and returns its rows.
#[track_caller]
fn deposits_are_right(world: &World, books: &Books, product: &str, months: i64) -> Vec<Value> {
    let rows = report(world, &format!("/ledger/reports/deposits?product={product}&months={months}"));
    let accounts = lines(world, &format!("/definitions/{product}/instances"));
    let accounts: Vec<_> =
        accounts.iter().map(|a| a["accountIdentifier"].as_str().unwrap().to_owned()).collect();
    let (year, month, _) = world.clock.now().day().parts();
    let first = Date::new(year.into(), month.into(), 1).unwrap().plus_months(1 - months);
    let last = world.clock.now().day().last_of_month();
    let expected = by_month(&books.deposits(&accounts, (first, last)));
    assert_eq!(rows.len(), expected.len());
    for (row, (month, sums)) in rows.iter().zip(&expected) {
        assert_eq!(row["month"], **month);
        let shown = ["paidIn", "paidOut", "balance"].map(|name| amount(&row[name]));
        assert_eq!(shown, [sums[0], sums[1], sums[4]], "{month}");
    }
    rows
}

/// What was opened and closed in each month.
#[derive(Default)]
struct Tally(BTreeMap<String, [i64; 3]>);

impl Tally {
    fn note(&mut self, world: &World, place: usize) {
        let month = world.clock.now().day().to_string()[..7].to_owned();
        self.0.entry(month).or_default()[place] += 1;
    }

    /// Holds the rows of a report to what was noted; the last name is of what is there at the end.
    #[track_caller]
    fn is(&self, rows: &[Value], names: [&str; 4]) {
        let mut there = 0;
        for row in rows {
            let noted = self.0.get(row["month"].as_str().unwrap()).copied().unwrap_or_default();
            there += noted[0] - noted[1] + noted[2];
            let shown = names.map(|name| row[name].as_i64().unwrap_or_default());
            assert_eq!(shown, [noted[0], noted[1], noted[2], there], "{row}");
        }
    }
}

fn money(chance: &mut Chance) -> String {
    format!("{}.{:02}", 1 + chance.below(400), chance.below(100))
}

fn command(world: &World, path: &str, action: &str) -> u16 {
    world.post(path, json!({ "action": action }).to_string()).status
}

/// Something that happens at the counter on one day.
fn happen(counter: &Counter, chance: &mut Chance, accounts: &mut Vec<String>, tally: &mut Tally) {
    let open = |account: &String| counter.instance(account)["state"] == "ACTIVE";
    let at = usize::try_from(chance.below(accounts.len() as u64)).unwrap();
    let account = accounts[at].clone();
    match chance.below(9) {
        0 => {
            let account = counter.account("anna");
            if counter
                .transact("ACCO", &account, None, &format!("{}", 150 + chance.below(300)), "included")
                .status
                == 202
            {
                tally.note(&counter.world, 0);
            }
            accounts.push(account);
        }
        1 | 2 => drop(counter.transact("CWDL", &account, None, &money(chance), "excluded")),
        3 => drop(counter.transact("ACCT", &account, Some(&accounts[0].clone()), &money(chance), "included")),
        4 if open(&account) => {
            let balance = counter.instance(&account)["balance"].to_string();
            if counter.transact("ACCC", &account, None, &balance, "included").status == 202 {
                tally.note(&counter.world, 1);
            }
        }
        5 => {
            counter.pause("T1").is(202);
            let cash = amount(&counter.balance("T1")["cashOnHand"]);
            let cent = Amount::parse(&format!("0.{:02}", chance.below(100))).unwrap();
            let counted = if chance.below(2) == 0 { cash.plus(cent) } else { cash.minus(cent) };
            counter.count("T1", &counted.to_string()).is(202);
            counter.unlock("T1", "emp1");
        }
        6 => {
            counter.close("T1").is(202);
            let mut changed = teller("T1");
            changed["tellerAccountIdentifier"] = json!(format!("drawer-{}", chance.below(3)));
            counter.world.put("/offices/accra/teller/T1", changed.to_string()).is(202);
            counter.open("T1", "emp1", &money(chance));
            counter.unlock("T1", "emp1");
        }
        _ => drop(counter.transact("CDPT", &account, None, &money(chance), "included")),
    }
}

#[test]
fn after_a_history_every_figure_is_that_of_a_plain_sum() {
    let counter = Counter::start();
    let world = &counter.world;
    // Into a winter that has a change of the year and a leap day in it.
    world.clock.advance(
        Date::parse("2031-12-18").unwrap().start().millis() / 1000 - world.clock.now().millis() / 1000,
    );
    counter.open("T1", "emp1", "3000");
    counter.unlock("T1", "emp1");
    let (mut chance, mut tally, mut accounts) = (Chance(11), Tally::default(), Vec::new());
    for _ in 0..3 {
        let account = counter.account("anna");
        counter.transact("ACCO", &account, None, "400", "included").is(202);
        tally.note(world, 0);
        accounts.push(account);
    }
    // An account that is closed before it was ever open counts nowhere.
    let never = counter.account("anna");
    world.post(&format!("/instances/{never}?command=CLOSE"), "").is(202);
    while world.clock.now().day() < Date::parse("2032-03-03").unwrap() {
        for _ in 0..chance.below(3) {
            happen(&counter, &mut chance, &mut accounts, &mut tally);
        }
        world.clock.advance(i64::try_from(chance.below(2 * 86_400)).unwrap());
    }
    let books = Books::read(world);
    assert!(books.entries() > 40, "{}", books.entries());
    for days in [1, 2, 30, 200, 366] {
        cash_is_right(world, &books, &["T1"], &[Some("USD")], days);
    }
    let rows = deposits_are_right(world, &books, "saver", 4);
    let months: Vec<_> = rows.iter().map(|row| row["month"].as_str().unwrap()).collect();
    assert_eq!(months, ["2031-12", "2032-01", "2032-02", "2032-03"]);
    tally.is(&rows, ["opened", "closed", "none", "open"]);
    deposits_are_right(world, &books, "saver", 1);
}

#[test]
fn a_day_without_movements_keeps_the_cash_of_the_day_before() {
    let counter = Counter::active("100.50");
    let world = &counter.world;
    world.clock.advance(2 * 86_400);
    counter.command("T1", json!({ "action": "CLOSE", "adjustment": "CREDIT", "amount": 40 })).is(202);
    world.clock.advance(86_400);
    let text = world.get("/ledger/reports/cash?office=accra&days=5").is(200).text();
    let row = |date: &str, received: &str, disbursed: &str, cash: &str| {
        format!(
            r#"{{"date":"{date}","currency":null,"received":{received},"disbursed":{disbursed},"over":0,"short":0,"cashOnHand":{cash}}}"#
        )
    };
    let expected = [
        row("2031-05-05", "0", "0", "0"),
        row("2031-05-06", "100.50", "0", "100.50"),
        row("2031-05-07", "0", "0", "100.50"),
        row("2031-05-08", "0", "40", "60.50"),
        row("2031-05-09", "0", "0", "60.50"),
    ];
    assert_eq!(text, format!("[{}]", expected.join(",")));
    assert_eq!(report(world, "/ledger/reports/cash?office=accra").len(), 30);
    world.post("/offices", r#"{"identifier":"empty","name":"Empty"}"#).is(202);
    assert!(report(world, "/ledger/reports/cash?office=empty").is_empty());
}

#[test]
fn customers_are_counted_in_the_months_in_which_they_came_and_went() {
    let world = World::start();
    let (mut chance, mut tally) = (Chance(5), Tally::default());
    let mut customers = 0;
    while world.clock.now().day() < Date::parse("2032-03-02").unwrap() {
        let customer = format!("/customers/c-{}/commands", chance.below(customers + 1));
        match chance.below(5) {
            0 if command(&world, &customer, "CLOSE") == 202 => tally.note(&world, 1),
            1 if command(&world, &customer, "REOPEN") == 202 => tally.note(&world, 2),
            2 => drop(command(&world, &customer, "ACTIVATE")),
            3 => {
                world
                    .post("/customers", json!({ "identifier": format!("c-{customers}") }).to_string())
                    .is(202);
                tally.note(&world, 0);
                customers += 1;
            }
            _ => {}
        }
        // What is asked in between changes nothing of what is counted.
        if chance.below(9) == 0 {
            tally.is(&report(&world, "/ledger/reports/customers"), ["created", "closed", "reopened", "open"]);
        }
        world.clock.advance(i64::try_from(chance.below(4 * 86_400)).unwrap());
    }
    let rows = report(&world, "/ledger/reports/customers?months=14");
    assert_eq!(rows.len(), 14);
    assert_eq!((&rows[0]["month"], &rows[13]["month"]), (&json!("2031-02"), &json!("2032-03")));
    tally.is(&rows, ["created", "closed", "reopened", "open"]);
    let listed = world.get("/customers?size=1").json()["totalElements"].clone();
    assert_eq!(rows[13]["open"], listed);
    let before = report(&world, "/ledger/reports/customers?months=1");
    assert_eq!(before[0], rows[13]);
}

/// Posts entries on many days, in two currencies, with cash that moves to another account of its teller.
fn posted(tx: &mut Tx<'_>, chance: &mut Chance, accounts: &[String; 2], count: u64) -> Result<(), Fault> {
    for _ in 0..count {
        let other = usize::try_from(chance.below(2)).unwrap();
        let (account, teller) = (accounts[other].as_str(), ["T1", "T2"][other]);
        let (drawer, spare) = (["d1", "d2"][other], ["e1", "e2"][other]);
        let (vault, over) = (["v1", "v2"][other], ["o1", "o2"][other]);
        for (name, role) in [(drawer, Drawer), (spare, Drawer), (vault, Vault), (over, OverShort)] {
            name_account(tx, "/x", name, role)?;
        }
        let sum = Amount::parse(&money(chance)).unwrap();
        let (r#type, lines) = match chance.below(8) {
            0 => ("ADJT", vec![debit(spare, Drawer, sum), credit(drawer, Drawer, sum)]),
            1 => ("CAJT", vec![debit(over, OverShort, sum), credit(drawer, Drawer, sum)]),
            2 => ("DAJT", vec![debit(drawer, Drawer, sum), credit(over, OverShort, sum)]),
            3 => ("CAJT", vec![debit(vault, Vault, sum), credit(drawer, Drawer, sum)]),
            4 => ("CWDL", vec![debit(account, Customer, sum), credit(drawer, Drawer, sum)]),
            _ => ("CDPT", vec![debit(drawer, Drawer, sum), credit(account, Customer, sum)]),
        };
        let (message, clerk, teller_code) = (r#type, "ama", Some(teller));
        let (transaction_date, teller_transaction) = (None, None);
        post(tx, Entry { r#type, message, transaction_date, clerk, teller_code, teller_transaction, lines })?;
    }
    Ok(())
}

#[test]
fn thousands_of_entries_are_summed_up_once_and_reports_go_on_from_there() {
    let counter = Counter::start();
    counter.define(&plain_product("euro", "EUR", 2));
    counter.teller_with(&teller("T2")).is(202);
    let accounts = [counter.account("anna"), counter.account_of("bela", "euro")];
    let mut world = counter.world;
    world.stop();
    let clock = Clock::fixed(Timestamp::parse("2030-04-20T22:00:00Z").unwrap());
    let store = stored::open(world.config(), clock.clone());
    let seed = std::cell::Cell::new(7);
    world.block_on(async {
        for _ in 0..100 {
            let (start, accounts) = (seed.get(), accounts.clone());
            let write = move |tx: &mut Tx<'_>| posted(tx, &mut Chance(start), &accounts, 28);
            store.write("test", write).await.unwrap();
            let mut chance = Chance(start);
            seed.set(chance.below(u64::from(u32::MAX)));
            clock.advance(i64::try_from(chance.below(7 * 86_400)).unwrap());
        }
        store.close().await;
    });
    drop(store);
    let config = world.config().clone();
    world.start_on(config);
    let books = Books::read(&world);
    assert_eq!(books.entries(), 2_800);
    let right = |books: &Books| {
        for days in [1, 31, 366] {
            cash_is_right(&world, books, &["T1", "T2"], &[Some("EUR"), Some("USD")], days);
        }
        for product in ["saver", "euro"] {
            deposits_are_right(&world, books, product, 14);
        }
    };
    right(&books);
    // The same again, from what is kept by now and with what is posted after it.
    let counter = Counter { world };
    counter.open("T1", "emp1", "12.34");
    let world = &counter.world;
    let books = Books::read(world);
    cash_is_right(world, &books, &["T1", "T2"], &[None, Some("EUR"), Some("USD")], 3);
    let mut world = counter.world;
    world.stop();
    let found: Vec<_> =
        world.check(&[Check::Ledger]).into_iter().filter(|line| line.contains("reports")).collect();
    assert_eq!(found, [""; 0]);
}
