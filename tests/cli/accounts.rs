//! Products, accounts and the ledger on the command line.

use crate::support::run::run;
use crate::support::sample::sample;
use crate::support::stored;
use crate::support::world::World;
use mfa_daemon::clock::Clock;
use mfa_daemon::ops::ledger::{Entry, credit, debit, name_account, post};
use mfa_shared::amount::Amount;
use mfa_shared::api::ledger::AccountRole::{Customer, Drawer};
use mfa_shared::time::Timestamp;

const ACCOUNT: &str = "c-003.9100.00001";

/// The sample institution with 1000.00 paid in on 2031-05-07, and 200.50 paid out and 7 paid in two days
/// later.
fn busy() -> World {
    let mut world = World::start();
    sample(&world);
    let config = world.config().clone();
    world.restart_after(|| {
        tokio::runtime::Runtime::new().unwrap().block_on(async {
            let clock = Clock::fixed(Timestamp::parse("2031-05-07T12:00:00Z").unwrap());
            let store = stored::open(&config, clock.clone());
            let pay = |kind: &'static str, sum: &'static str| {
                store.write("test", move |tx| {
                    name_account(tx, "/x", "d1", Drawer)?;
                    let sum = Amount::parse(sum).unwrap();
                    let lines = match kind {
                        "CDPT" => vec![debit("d1", Drawer, sum), credit(ACCOUNT, Customer, sum)],
                        _ => vec![debit(ACCOUNT, Customer, sum), credit("d1", Drawer, sum)],
                    };
                    let (message, clerk, teller_code) = (kind, "ama", Some("T1"));
                    let (transaction_date, teller_transaction) = (None, None);
                    let r#type = kind;
                    let entry = Entry {
                        r#type,
                        message,
                        transaction_date,
                        clerk,
                        teller_code,
                        teller_transaction,
                        lines,
                    };
                    post(tx, entry).map(drop)
                })
            };
            pay("CDPT", "1000.00").await.unwrap();
            clock.advance(2 * 86_400);
            pay("CWDL", "200.50").await.unwrap();
            pay("CDPT", "7").await.unwrap();
            store.close().await;
        });
    });
    world
}

#[test]
fn an_empty_list_of_accounts_says_so_where_there_is_no_such_customer() {
    let world = World::start();
    sample(&world);
    for (customer, known) in [("c-001", true), ("C-003", false), ("c-003 ", false)] {
        let ran = run(world.mfa(&["accounts", "list", "--customer", customer, "-o", "json"]));
        let warned = ran.err.contains(&format!("warning: there is no customer \"{customer}\""));
        assert_eq!((ran.json(), warned), (serde_json::json!([]), !known), "{customer}");
    }
}

#[test]
fn an_account_that_holds_money_is_closed_at_the_counter() {
    let world = World::start();
    sample(&world);
    let said = run(world.mfa(&["accounts", "close", "c-003.9100.00002", "--yes"])).fails(6);
    let next = "mfa teller close-account CODE --account c-003.9100.00002\n";
    assert!(said.contains("has a balance of 100") && said.ends_with(next), "{said}");
}

#[test]
fn a_statement_is_between_two_balances() {
    let world = busy();
    let statement = |more: &[&str]| {
        let line: Vec<_> = ["accounts", "statement", ACCOUNT].iter().chain(more).copied().collect();
        run(world.mfa(&line)).ok()
    };
    let whole = statement(&["--to", "2031-05-31", "-o", "csv"]);
    let opened = world.clock.now().day();
    let lines = ",,opening balance,,,0.00\n\
        2031-05-07T12:00:00.000Z,CDPT,CDPT,,1000.00,1000.00\n\
        2031-05-09T12:00:00.000Z,CWDL,CWDL,200.50,,799.50\n\
        2031-05-09T12:00:00.000Z,CDPT,CDPT,,7,806.50\n\
        2031-05-31,,closing balance,,,806.50\n";
    assert_eq!(whole, format!("posted,type,message,debit,credit,balance\n{opened}{lines}"));
    let table = statement(&["--from", "2031-05-08", "--to", "2031-05-09", "-o", "table"]);
    let lines: Vec<_> =
        table.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
    assert_eq!(lines[1], "2031-05-08 opening balance 1000.00");
    assert_eq!(lines.last().unwrap(), "2031-05-09 closing balance 806.50");
    assert!(lines[2].starts_with("2031-05-09 12:00:00Z cash withdrawal 200.50 799.50"), "{table}");
    let quiet = statement(&["--from", "2031-05-08", "--to", "2031-05-08", "-o", "json"]);
    let quiet: serde_json::Value = serde_json::from_str(&quiet).unwrap();
    assert_eq!(
        (quiet["openingBalance"].to_string(), quiet["entries"].to_string()),
        ("1000.00".into(), "[]".into())
    );
    assert_eq!(quiet["closingBalance"].to_string(), "1000.00");
    let before = statement(&["--from", "2031-05-01", "--to", "2031-05-02", "-o", "json"]);
    assert!(before.contains("\"closingBalance\": 0"), "{before}");
    let turned = ["accounts", "statement", ACCOUNT, "--from", "2031-05-09", "--to", "2031-05-08"];
    run(world.mfa(&turned)).fails(2);
}

#[test]
fn one_end_of_the_days_is_enough_for_a_list_of_entries() {
    let world = busy();
    let found = |list: &[&str], end: [&str; 2]| {
        let line = [list, &[ACCOUNT, "-o", "csv", "--no-header"], &end].concat();
        run(world.mfa(&line)).ok().lines().count()
    };
    for list in [["ledger", "entries"], ["accounts", "entries"]] {
        assert_eq!(found(&list, ["--from", "2031-05-07"]), 3, "{list:?}");
        assert_eq!(found(&list, ["--from", "2031-05-08"]), 2, "{list:?}");
        assert_eq!(found(&list, ["--to", "2031-05-08"]), 1, "{list:?}");
    }
}

#[test]
fn tables_show_times_in_the_readers_zone_and_programs_get_utc() {
    let world = busy();
    // A zone in the form that needs no file of the machine: two hours ahead of UTC.
    let posted = |variables: &[(&str, &str)], more: &[&str]| {
        let line = ["accounts", "statement", ACCOUNT, "--to", "2031-05-31"];
        let mut command = world.mfa(&[&line[..], more].concat());
        command.envs(variables.iter().copied());
        run(command).ok().lines().nth(2).unwrap().to_owned()
    };
    let here = [("TZ", "HERE-2")];
    let begins = |line: String, start: &str| assert!(line.starts_with(start), "{line}");
    begins(posted(&here, &["-o", "table"]), "2031-05-07 14:00:00+02:00 ");
    begins(posted(&here, &["-o", "table", "--utc"]), "2031-05-07 12:00:00Z ");
    begins(posted(&[here[0], ("MFA_TIME_ZONE", "UTC")], &["-o", "wide"]), "2031-05-07 12:00:00Z ");
    begins(posted(&here, &["-o", "csv"]), "2031-05-07T12:00:00.000Z,CDPT,");
    begins(posted(&here, &["-o", "tsv"]), "2031-05-07T12:00:00.000Z\tCDPT\t");
    let mut unknown = world.mfa(&["customers", "list"]);
    unknown.env("MFA_TIME_ZONE", "Nowhere/Land");
    let said = run(unknown).fails(2);
    assert!(said.contains("no time zone \"Nowhere/Land\", from environment MFA_TIME_ZONE"), "{said}");
}

#[test]
fn the_days_of_a_statement_are_the_readers_and_utc_for_programs() {
    let world = busy();
    // The deposit of 1000 at noon of 7 May, in UTC, falls on the 8th in the east and on the 6th in the west.
    let of_day = |zone: &str, day: &str, format: &str| {
        let mut command =
            world.mfa(&["accounts", "statement", ACCOUNT, "--from", day, "--to", day, "-o", format]);
        command.env("TZ", zone);
        run(command).ok()
    };
    let amounts = |table: &str| {
        let last = |line: &str| line.split_whitespace().last().unwrap_or_default().to_owned();
        table.lines().skip(1).map(last).collect::<Vec<_>>().join(" ")
    };
    let (east, west) = ("EAST-13", "WEST+13");
    for (zone, day, format, expected) in [
        (east, "2031-05-07", "table", "0.00 0.00"),
        (east, "2031-05-08", "table", "0.00 1000.00 1000.00"),
        (east, "2031-05-09", "wide", "1000.00 1000.00"),
        (west, "2031-05-05", "table", "0.00 0.00"),
        (west, "2031-05-06", "wide", "0.00 1000.00 1000.00"),
        (west, "2031-05-07", "table", "1000.00 1000.00"),
        ("UTC", "2031-05-07", "table", "0.00 1000.00 1000.00"),
    ] {
        let table = of_day(zone, day, format);
        assert_eq!(amounts(&table), expected, "{zone} {day} {format}:\n{table}");
    }
    let moved = |zone: &str, day: &str| {
        let statement: serde_json::Value = serde_json::from_str(&of_day(zone, day, "json")).unwrap();
        statement["entries"].as_array().unwrap().len()
    };
    for zone in [east, west] {
        assert_eq!(
            (moved(zone, "2031-05-06"), moved(zone, "2031-05-07"), moved(zone, "2031-05-08")),
            (0, 1, 0)
        );
    }
    let year_0 =
        ["accounts", "statement", ACCOUNT, "--from", "0000-01-01", "--to", "9999-12-31", "-o", "table"];
    let ever = run(world.mfa(&year_0)).ok();
    assert!(ever.trim_end().ends_with("806.50"), "{ever}");
}

#[test]
fn a_teller_gives_a_statement_without_seeing_the_ledger() {
    let world = World::guarded();
    let olga = world.login("olga");
    let product: serde_json::Value = serde_json::from_str(crate::api::definitions::PRODUCT).unwrap();
    olga.post("/definitions", product).is(202);
    olga.post(
        "/instances",
        serde_json::json!({ "customerIdentifier": "Maria", "productIdentifier": "savings" }),
    )
    .is(202);
    let tina = world.user("tina", "teller");
    let mfa = |line: &[&str]| {
        let mut command = world.mfa(line);
        command.env("MFA_TOKEN", &tina.token);
        run(command)
    };
    let account = "Maria.9100.00001";
    mfa(&["ledger", "entries", account]).fails(5);
    assert_eq!(mfa(&["accounts", "entries", account, "-o", "json"]).ok(), "[]\n");
    let statement = mfa(&["accounts", "statement", account, "-o", "json"]).json();
    assert_eq!((&statement["currency"], &statement["entries"]), (&"USD".into(), &serde_json::json!([])));
    // On paper as well, also where no record of the holder is kept.
    let paper = mfa(&["statement", account]).ok();
    assert!(paper.contains("Holder    Maria\n") && paper.contains("Currency  USD\n"), "{paper}");
}

#[test]
fn amounts_stand_on_the_right_of_their_column() {
    let world = busy();
    let table = run(world.mfa(&["ledger", "trial-balance", "-o", "table"])).ok();
    let line = |start: &str| table.lines().find(|line| line.starts_with(start)).unwrap();
    let end = |line: &str, text: &str| line.find(text).map(|at| at + text.len());
    let debit = end(line("ACCOUNT"), "DEBIT");
    assert_eq!(end(line("d1"), "806.50"), debit, "{table}");
    assert_eq!(end(line(ACCOUNT), " 0.00"), debit, "{table}");
    // 605 in the drawer of the sample.
    assert!(line("total").trim_end().ends_with("1411.50"), "{table}");
}

#[test]
fn an_account_that_was_opened_is_named_by_the_daemon() {
    let world = World::start();
    sample(&world);
    let create = ["instances", "create", "--customer", "c-001", "--product", "savings", "-o", "id"];
    assert_eq!(run(world.mfa(&create)).ok(), "c-001.9100.00001\n");
    let close = run(world.mfa(&["account", "close", "c-001.9100.00001", "-o", "json"])).ok();
    assert!(close.contains("\"state\": \"CLOSED\""), "{close}");
    let unknown = run(world.mfa(&["definition", "get", "savngs"])).fails(3);
    assert!(unknown.contains("did you mean savings?"), "{unknown}");
    let clear = ["products", "update", "savings", "--name", "New"];
    assert!(run(world.mfa(&clear)).ok().contains("New"));
}
