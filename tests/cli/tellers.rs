//! Money at the counter, from the command line.

use crate::support::run::{Ran, run, run_with};
use crate::support::sample::sample;
use crate::support::terminal::Terminal;
use crate::support::world::World;
use serde_json::{Value, json};

/// Verb, account, amount, further flags, and what is expected.
type Case<'a, E> = (&'a str, &'a str, &'a str, &'a [&'a str], E);

/// An account of the sample that holds 100, and one that holds 5.
const ACCOUNT: &str = "c-003.9100.00002";
const OTHER: &str = "c-003.9100.00003";

fn counter() -> World {
    let world = World::start();
    sample(&world);
    world
}

/// `mfa teller VERB desk-2 --account ACCOUNT --amount AMOUNT` and more.
fn transact(world: &World, verb: &str, account: &str, amount: &str, more: &[&str]) -> Ran {
    let line = ["teller", verb, "desk-2", "--account", account, "--amount", amount];
    run(world.mfa(&[&line[..], more].concat()))
}

fn balance(world: &World, account: &str) -> String {
    world.get(&format!("/instances/{account}")).is(200).json()["balance"].to_string()
}

fn states(world: &World) -> Vec<String> {
    let listed = world.get("/teller/desk-2/transactions").json();
    listed.as_array().unwrap().iter().map(|t| t["state"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn each_transaction_shows_what_it_does_to_account_and_drawer() {
    let world = counter();
    let pending = "c-002.9100.00001";
    let table: &[Case<'_, &[&str]>] = &[
        (
            "deposit",
            ACCOUNT,
            "50.50",
            &["--charges", "included"],
            &[
                "amount          50.50",
                "charge Deposit  1.00",
                "total           51.50",
                "account         100.00 -> 150.50 (+50.50)",
                "drawer          +51.50",
            ],
        ),
        (
            "deposit",
            ACCOUNT,
            "10",
            &["--charges", "EXCLUDED"],
            &["account         150.50 -> 159.50 (+9.00)", "drawer          +10.00"],
        ),
        (
            "withdraw",
            ACCOUNT,
            "9.50",
            &[],
            &["charges  none", "account  159.50 -> 150.00 (-9.50)", "drawer   -9.50"],
        ),
        (
            "transfer",
            ACCOUNT,
            "50",
            &["--to", OTHER],
            &[
                "account           150.00 -> 100.00 (-50.00)",
                "c-003.9100.00003  +50.00",
                "drawer            0.00",
            ],
        ),
        ("open-account", pending, "20", &[], &["account  0.00 -> 20.00 (+20.00)", "drawer   +20.00"]),
        (
            "close-account",
            pending,
            "19",
            &[],
            &[
                "charge Close  1.00",
                "total         20.00",
                "account       20.00 -> 0.00 (-20.00)",
                "drawer        -19.00",
            ],
        ),
    ];
    for (verb, account, amount, more, said) in table {
        let ran = transact(&world, verb, account, amount, &[more, &["--yes", "-o", "json"][..]].concat());
        for line in *said {
            let loose = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
            let lines: Vec<_> = ran.err.lines().map(loose).collect();
            assert!(lines.contains(&loose(line)), "{verb}: {line} in {}", ran.err);
        }
        assert_eq!(ran.json()["state"], "CONFIRMED");
    }
    assert_eq!((balance(&world, ACCOUNT), balance(&world, OTHER)), ("100.00".into(), "55".into()));
    assert_eq!(world.get(&format!("/instances/{pending}")).json()["state"], "CLOSED");
}

#[test]
fn without_a_terminal_money_moves_only_after_yes() {
    let world = counter();
    let before = world.get("/teller/desk-2/transactions").text();
    for verb in ["deposit", "withdraw", "open-account", "close-account"] {
        let said = transact(&world, verb, ACCOUNT, "5", &[]).fails(2);
        assert!(said.contains("--yes is needed"), "{said}");
    }
    transact(&world, "transfer", ACCOUNT, "5", &["--to", OTHER]).fails(2);
    assert_eq!(world.get("/teller/desk-2/transactions").text(), before);
}

#[test]
fn a_dry_run_shows_the_charges_and_leaves_nothing() {
    let world = counter();
    let before = states(&world);
    let ran = transact(&world, "deposit", ACCOUNT, "5", &["--dry-run"]);
    assert!(ran.err.contains("charge Deposit  1.00\n") && ran.out.contains("nothing was changed"), "{ran:?}");
    assert_eq!(states(&world), before);
}

#[test]
fn what_cannot_be_confirmed_is_cancelled() {
    let world = counter();
    let error = transact(&world, "withdraw", ACCOUNT, "4000", &["-y", "-q", "-o", "json"]).fails_in_json(6);
    assert_eq!(error["code"], "insufficient_balance");
    assert_eq!(states(&world).last().unwrap(), "CANCELED");
    assert_eq!(balance(&world, ACCOUNT), "100");
}

#[test]
fn the_business_date_of_a_transaction_may_be_a_day() {
    let world = counter();
    for (given, kept) in
        [("2026-05-06", "2026-05-06T00:00:00.000Z"), ("2026-05-06T10:00:00Z", "2026-05-06T10:00:00.000Z")]
    {
        let made =
            transact(&world, "deposit", ACCOUNT, "5.50", &["--date", given, "-y", "-o", "json"]).json();
        assert_eq!(made["transactionDate"], kept);
    }
}

#[test]
fn a_mistake_leaves_no_transaction_behind() {
    let world = counter();
    let before = states(&world);
    let refused: &[Case<'_, (i32, &str)>] = &[
        ("deposit", ACCOUNT, "5,00", &[], (2, "must be an amount")),
        ("deposit", ACCOUNT, "1,250.00", &[], (2, "a point before the cents, and no mark between thousands")),
        ("deposit", ACCOUNT, "5.005", &[], (7, "at most 2 fraction digits")),
        // It would be 1.25.
        ("deposit", ACCOUNT, "1.250", &[], (7, "hint: there is no mark between thousands: 1250.00")),
        ("deposit", ACCOUNT, "0", &[], (7, "must be above 0")),
        ("deposit", ACCOUNT, "5", &["--charges", "both"], (2, "must be included or excluded")),
        ("deposit", ACCOUNT, "5", &["--date", "yesterday"], (7, "/transactionDate")),
        ("deposit", "c-003.9100.0002", "5", &[], (3, "did you mean c-003.9100.00002?")),
        ("deposit", "c-002.9100.00001", "5", &[], (6, "is PENDING; a cash deposit (CDPT) needs")),
        ("withdraw", ACCOUNT, "5001", &[], (6, "pays out at most 5000")),
        ("transfer", ACCOUNT, "5", &["--to", ACCOUNT], (7, "cannot transfer to itself")),
        ("transfer", ACCOUNT, "5", &["--to", "nobody"], (7, "does not exist")),
        ("open-account", ACCOUNT, "5", &[], (6, "is ACTIVE")),
    ];
    for (verb, account, amount, more, (exit, expected)) in refused {
        let said = transact(&world, verb, account, amount, &[more, &["-y"][..]].concat()).fails(*exit);
        assert!(said.contains(expected), "{verb} {amount}: {said}");
    }
    let elsewhere = ["teller", "deposit", "desk-1", "--account", ACCOUNT, "--amount", "5", "-y"];
    assert!(run(world.mfa(&elsewhere)).fails(6).contains("desk-1 is CLOSED"));
    assert_eq!(states(&world), before);
}

#[test]
fn an_account_of_the_ledger_is_not_what_a_customer_account_of_its_name_may_mean() {
    let world = counter();
    let ledger =
        world.get("/ledger/accounts").json()["accounts"][0]["identifier"].as_str().unwrap().to_owned();
    let said = transact(&world, "deposit", &ledger, "5", &["-y"]).fails(3);
    assert!(said.contains(&format!("there is no account \"{ledger}\"")), "{said}");
    assert!(!said.contains("did you mean"), "{said}");
}

#[test]
fn an_account_is_found_by_its_alternative_number_and_its_holder() {
    let world = counter();
    let account = json!({
        "customerIdentifier": "c-001", "productIdentifier": "savings", "alternativeAccountNumber": "BOOK 17"
    });
    let created = world.post("/instances", account.to_string()).is(202).header("location");
    let holder = ["--customer", "c-001", "-y", "-o", "json"];
    let record = transact(&world, "open-account", "BOOK 17", "5", &holder).json();
    assert_eq!(format!("/instances/{}", record["customerAccountIdentifier"].as_str().unwrap()), created);
    let said = transact(&world, "deposit", "BOOK 18", "5", &["--customer", "c-001", "-y"]).fails(3);
    assert!(said.contains("customer c-001 has no account \"BOOK 18\""), "{said}");
}

#[test]
fn the_same_command_with_the_same_key_books_once() {
    let world = counter();
    let line = ["-y", "--idempotency-key", "till-7-0001", "-o", "json"];
    let first = transact(&world, "deposit", ACCOUNT, "5", &line).json();
    assert_eq!(transact(&world, "deposit", ACCOUNT, "5", &line).json(), first);
    assert_eq!(balance(&world, ACCOUNT), "104");
    transact(&world, "deposit", ACCOUNT, "6", &line).fails(7);
    assert_eq!(balance(&world, ACCOUNT), "104");
}

#[test]
fn a_key_whose_transaction_was_cancelled_says_so_and_asks_for_another_key() {
    let world = counter();
    let withdraw =
        |key: &str| transact(&world, "withdraw", ACCOUNT, "101", &["-y", "--idempotency-key", key]);
    withdraw("till-9").fails(6);
    transact(&world, "deposit", ACCOUNT, "50", &["-y"]).ok();
    let said = withdraw("till-9").fails(6);
    assert!(said.contains("made under this key before, was cancelled"), "{said}");
    assert!(said.ends_with("hint: to try it again give a new --idempotency-key\n"), "{said}");
    withdraw("till-10").ok();
}

#[test]
fn transactions_are_listed_read_confirmed_and_cancelled() {
    let world = counter();
    let mfa = |line: &[&str]| run(world.mfa(&[&["teller", "transactions"], line].concat()));
    let listed = mfa(&["list", "desk-2", "-o", "json"]).json();
    let shown: Vec<_> =
        listed.as_array().unwrap().iter().map(|t| (&t["transactionType"], &t["state"])).collect();
    let pair = |kind: &str, state: &str| (json!(kind), json!(state));
    let expected = [pair("ACCO", "CONFIRMED"), pair("ACCO", "CONFIRMED"), pair("CDPT", "PENDING")];
    assert_eq!(shown, expected.iter().map(|(kind, state)| (kind, state)).collect::<Vec<_>>());
    let pending = mfa(&["list", "desk-2", "--status", "pending", "-o", "id"]).ok().trim().to_owned();
    mfa(&["list", "desk-2", "--status", "waiting"]).fails(7);
    let got: Value = mfa(&["get", "desk-2", &pending, "-o", "json"]).json();
    assert_eq!(got, listed[2]);
    assert!(mfa(&["confirm", "desk-2", "nothing"]).fails(3).contains("no transaction \"nothing\""));
    mfa(&["confirm", "desk-2", &pending, "--charges", "perhaps"]).fails(2);
    mfa(&["confirm", "desk-2", &pending, "--charges", "included"]).ok();
    assert_eq!(balance(&world, ACCOUNT), "120");
    assert!(mfa(&["cancel", "desk-2", &pending]).fails(6).contains("is CONFIRMED"));
    assert_eq!(mfa(&["get", "desk-2", &pending, "-o", "json"]).json()["chargesIncluded"], true);
}

#[test]
fn on_a_terminal_a_transaction_is_shown_before_it_is_confirmed() {
    let world = counter();
    let terminal = Terminal::start(&world, 80, &[]);
    let line = format!("clear; mfa teller deposit desk-2 --account {ACCOUNT} --amount 5");
    for (answer, state) in [("", "CANCELED"), ("n", "CANCELED"), ("y", "CONFIRMED")] {
        terminal.type_line(&line);
        let asked = terminal.wait_for("confirm it, with the charges paid by the account? [y/N]");
        assert!(asked.contains("account         100.00 -> 104.00 (+4.00)"), "{asked}");
        assert_eq!(states(&world).last().unwrap(), "PENDING");
        terminal.type_line(answer);
        let after = terminal.wait_for("$");
        assert_eq!(states(&world).last().unwrap(), state);
        let next = after.contains("its receipt: mfa teller receipt --teller desk-2 ");
        assert_eq!(next, state == "CONFIRMED", "{after}");
    }
    assert_eq!(balance(&world, ACCOUNT), "104");
}

#[test]
fn leaving_the_question_with_ctrl_c_cancels_the_transaction() {
    let world = counter();
    let terminal = Terminal::start(&world, 80, &[]);
    let pending = "c-002.9100.00001";
    for (verb, account, amount, more) in [
        ("deposit", ACCOUNT, "5", ""),
        ("withdraw", ACCOUNT, "5", ""),
        ("transfer", ACCOUNT, "5", "--to c-003.9100.00003"),
        ("open-account", pending, "20", ""),
        ("close-account", ACCOUNT, "99", ""),
    ] {
        let before = states(&world).len();
        let line = format!("mfa teller {verb} desk-2 --account {account} --amount {amount} {more}");
        terminal.type_line(&format!("clear; {line}; echo exit $?"));
        terminal.wait_for("[y/N]");
        assert_eq!(states(&world).last().unwrap(), "PENDING");
        terminal.press("C-c");
        let screen = terminal.wait_for("exit 130\n$");
        assert!(screen.contains("interrupted, nothing was done"), "{screen}");
        assert_eq!(states(&world).last().unwrap(), "CANCELED", "{verb}");
        assert_eq!(states(&world).len(), before + 1);
    }
    assert_eq!((balance(&world, ACCOUNT), balance(&world, OTHER)), ("100".to_owned(), "5".to_owned()));
    for (account, state) in [(pending, "PENDING"), (ACCOUNT, "ACTIVE")] {
        assert_eq!(world.get(&format!("/instances/{account}")).json()["state"], state);
    }
}

#[test]
fn no_question_is_asked_about_what_would_be_refused() {
    let world = counter();
    let terminal = Terminal::start(&world, 100, &[]);
    // More than the account has; more than the drawer has, which has 605 and takes part in no deposit.
    transact(&world, "deposit", ACCOUNT, "1000", &["-y"]).ok();
    let take = json!({ "action": "CLOSE", "adjustment": "CREDIT", "amount": 1_600 });
    world.post("/offices/head-office/teller/desk-2/commands", take.to_string()).is(202);
    let open = json!({ "action": "OPEN", "assignedEmployeeIdentifier": "kwame" });
    world.post("/offices/head-office/teller/desk-2/commands", open.to_string()).is(202);
    world.post("/teller/desk-2/drawer", r#"{"employeeIdentifier":"kwame","password":"4711"}"#).is(200);
    for (verb, amount, code, said) in [
        ("withdraw", "2000", "6", "error: account c-003.9100.00002 would have 1099"),
        ("withdraw", "600", "6", "error: the drawer of teller desk-2 would have 5"),
        ("withdraw", "5001", "6", "error: teller desk-2 pays out at most 5000"),
        ("deposit", "-5", "7", "error: /amount (--amount) must be above 0"),
        ("close-account", "100", "6", "error: 998 would remain on account c-003.9100.00002"),
        ("close-account", "1099", "6", "hint: pay out all of it: leave out --amount"),
    ] {
        let line = format!("mfa teller {verb} desk-2 --account {ACCOUNT} --amount {amount}");
        let screen = terminal.run(&line);
        assert!(screen.contains(said) && screen.contains(&format!("exit {code}")), "{screen}");
        assert!(!screen.contains("[y/N]"), "{screen}");
        assert!(states(&world).iter().all(|state| state != "PENDING"), "{screen}");
    }
    assert_eq!(balance(&world, ACCOUNT), "1099");
}

#[test]
fn charges_in_cash_are_spoken_of_only_where_there_are_some() {
    let world = counter();
    let charge = |actions: &[&str]| {
        let charge = |action: &&str| {
            json!({
                "actionIdentifier": action, "incomeAccountIdentifier": "fees", "name": action, "amount": 200
            })
        };
        let body = json!({ "charges": actions.iter().map(charge).collect::<Vec<_>>() });
        run_with(world.mfa(&["products", "update", "savings", "--from", "-"]), &body.to_string()).ok();
    };
    let hint = |verb: &str, amount: &str, charges: &str| {
        let said = transact(&world, verb, ACCOUNT, amount, &["--charges", charges, "-y"]).fails(6);
        said.lines().last().unwrap().to_owned()
    };
    charge(&[]);
    assert_eq!(hint("withdraw", "500", "excluded"), "hint: take less");
    assert_eq!(hint("close-account", "90", "excluded"), "hint: pay out all of it: leave out --amount");
    let waiting = |number: usize| {
        let body = json!({
            "transactionType": "CWDL", "productIdentifier": "savings", "customerIdentifier": "c-003",
            "customerAccountIdentifier": ACCOUNT, "amount": 500, "clerk": "kwame"
        });
        let quote = world.post("/teller/desk-2/transactions", body.to_string()).is(200).json();
        assert_eq!(quote["charges"].as_array().unwrap().len(), number);
        quote["tellerTransactionIdentifier"].as_str().unwrap().to_owned()
    };
    let confirm = |id: &str| run(world.mfa(&["teller", "transactions", "confirm", "desk-2", id])).fails(6);
    let id = waiting(0);
    let next = format!("\nhint: cancel it, and take less: mfa teller transactions cancel desk-2 {id}\n");
    assert!(confirm(&id).ends_with(&next), "{}", confirm(&id));
    charge(&["Withdraw", "Deposit", "Close"]);
    let said = confirm(&waiting(1));
    assert!(said.ends_with("\nhint: take less, or let the charges be paid in cash\n"), "{said}");
    let all = "hint: pay out all of it, the charges in cash: --charges included, without --amount";
    assert_eq!(hint("close-account", "90", "excluded"), all);
    let less = "hint: take less, or pay the charges in cash: --charges included";
    assert_eq!(hint("withdraw", "50", "excluded"), less);
    assert_eq!(hint("withdraw", "500", "included"), "hint: take less");
    let more = "hint: pay in more, or the charges in cash: --charges included";
    assert_eq!(hint("deposit", "5", "excluded"), more);
}

#[test]
fn a_question_does_not_change_what_a_key_repeats() {
    let world = counter();
    let terminal = Terminal::start(&world, 100, &[]);
    let line = format!("mfa teller deposit desk-2 --account {ACCOUNT} --amount 5 --idempotency-key till-8");
    terminal.type_line(&line);
    terminal.wait_for("[y/N]");
    terminal.type_line("y");
    terminal.wait_for("$");
    assert_eq!(balance(&world, ACCOUNT), "104");
    transact(&world, "deposit", ACCOUNT, "5", &["-y", "--idempotency-key", "till-8"]).ok();
    assert_eq!(balance(&world, ACCOUNT), "104");
}

#[test]
fn a_wrong_state_at_the_counter_says_what_to_type_next() {
    let world = counter();
    let hint = |line: &[&str]| {
        let ran = run(world.mfa(&[&["teller"], line, &["-y", "-q", "-o", "json"]].concat()));
        let error = ran.fails_in_json(6);
        assert_eq!(error["code"], "wrong_state");
        error["hint"].as_str().unwrap_or_default().to_owned()
    };
    let deposit = |teller, account| ["deposit", teller, "--account", account, "--amount", "5"];
    let pending = "c-002.9100.00001";
    let open_account = format!("mfa teller open-account desk-2 --account {pending} --amount AMOUNT");
    let office = ["--office", "head-office"];
    let reports = "mfa teller reports list desk-1 --office head-office";
    assert!(hint(&deposit("desk-1", ACCOUNT)).contains("mfa teller open desk-1 --office OFFICE"));
    assert!(hint(&deposit("desk-2", pending)).contains(&open_account));
    assert!(hint(&["pause", "desk-1"]).contains("mfa teller open desk-1"));
    assert!(hint(&[&["close", "desk-1"][..], &office].concat()).contains(reports));
    let open = [&["open", "desk-2", "--employee", "kojo"][..], &office].concat();
    assert!(hint(&open).contains("mfa teller close desk-2 --office head-office"));
    run(world.mfa(&["teller", "pause", "desk-2"])).ok();
    assert!(hint(&deposit("desk-2", ACCOUNT)).contains("mfa teller unlock desk-2"));
    let listed = run(world.mfa(&["teller", "transactions", "list", "desk-2", "-o", "json"])).json();
    let waiting = listed[2]["identifier"].as_str();
    assert!(
        hint(&["transactions", "confirm", "desk-2", waiting.unwrap()]).contains("mfa teller unlock desk-2")
    );
}
