//! Accrued interest at the counter: what closing an account shows and asks.

use crate::api::interest::bank::{Bank, interest_product};
use crate::support::counter::same;
use crate::support::guarded::PASSWORD;
use crate::support::run::run;
use crate::support::terminal::Terminal;
use crate::support::world::World;
use mfa_daemon::{Auth, Config, NewLogin, init};
use serde_json::{Value, json};
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering::SeqCst};

/// A bank in which an account of each of these customers has accrued 0.06849.
fn bank(customers: &[&str]) -> (Bank, Vec<String>) {
    let bank = Bank::open();
    bank.sell(&interest_product("gain", "2.50", "MONTHLY"));
    let accounts = customers.iter().map(|customer| bank.account(customer, "gain", "1000")).collect();
    bank.days(1);
    bank.run();
    (bank, accounts)
}

fn close(account: &str, amount: &str) -> String {
    format!("mfa teller close-account T1 --account {account} --amount {amount}")
}

#[test]
fn closing_an_account_shows_accrued_interest_and_asks_to_pay_it_first() {
    let (bank, accounts) = bank(&["Maria", "Nana"]);
    let terminal = Terminal::start(bank.world(), 120, &[]);
    // Paid first, it is part of what is handed out.
    terminal.type_line(&format!("clear; {}; echo exit $?", close(&accounts[0], "1000.07")));
    let asked = terminal.wait_for("pay it to the account first? y or n [y]:");
    assert!(asked.contains("account Maria.9100.00001 has accrued 0.06849 of interest"), "{asked}");
    terminal.type_line("");
    terminal.wait_for("[y/N]");
    terminal.type_line("y");
    terminal.wait_for("exit 0\n$");
    let interest = bank.interest(&accounts[0]);
    same(&interest["paidTotal"], "0.07");
    assert_eq!(bank.counter.instance(&accounts[0])["state"], "CLOSED");
    // Given up, it stays with the institution.
    terminal.type_line(&format!("clear; {}; echo exit $?", close(&accounts[1], "1000")));
    terminal.wait_for("pay it to the account first? y or n [y]:");
    terminal.type_line("n");
    terminal.wait_for("[y/N]");
    terminal.type_line("y");
    terminal.wait_for("exit 0\n$");
    same(&bank.interest(&accounts[1])["paidTotal"], "0");
    assert_eq!(bank.counter.instance(&accounts[1])["state"], "CLOSED");
    bank.check();
}

#[test]
fn leaving_the_question_about_interest_pays_nothing_and_closes_nothing() {
    let (bank, accounts) = bank(&["Maria"]);
    let terminal = Terminal::start(bank.world(), 120, &[]);
    for (key, exit) in [("C-c", 130), ("C-d", 1)] {
        terminal.type_line(&format!("clear; {}; echo exit $?", close(&accounts[0], "1000.07")));
        terminal.wait_for("pay it to the account first? y or n [y]:");
        terminal.press(key);
        terminal.wait_for(&format!("exit {exit}\n$"));
        let interest = bank.interest(&accounts[0]);
        assert_eq!(interest["payments"], json!([]));
        assert_eq!(bank.counter.instance(&accounts[0])["state"], "ACTIVE");
    }
    bank.check();
}

#[test]
fn where_no_one_can_be_asked_a_flag_says_what_happens_to_interest() {
    let (bank, accounts) = bank(&["Maria", "Nana"]);
    let mfa = |account: &str, amount: &str, more: &[&str]| {
        let words = ["teller", "close-account", "T1", "--account", account, "--amount"];
        run(bank.world().mfa(&[&words[..], &[amount, "--yes"], more].concat()))
    };
    let found = mfa(&accounts[0], "1000", &[]).fails(2);
    assert!(found.contains("--pay-interest") && found.contains("--forfeit-interest"), "{found}");
    mfa(&accounts[0], "1000.07", &["--pay-interest", "--forfeit-interest"]).fails(2);
    // What is refused is refused before interest is paid.
    mfa(&accounts[0], "1000.07", &["--pay-interest", "--columns", "nothing"]).fails(2);
    assert_eq!(bank.interest(&accounts[0])["payments"], json!([]));
    assert_eq!(bank.counter.instance(&accounts[0])["state"], "ACTIVE");
    mfa(&accounts[0], "1000.07", &["--pay-interest"]).ok();
    mfa(&accounts[1], "1000", &["--forfeit-interest"]).ok();
    let ended: Vec<_> = bank.entries().into_iter().filter(|entry| !entry.starts_with("INTA")).collect();
    assert_eq!(ended.len(), 2, "{ended:?}");
    assert!(ended[0].starts_with("INTP") && ended[0].contains(" 0.07 "), "{ended:?}");
    bank.check();
}

#[test]
fn a_teller_who_may_not_pay_interest_hears_what_to_do() {
    let first = |name: &str| NewLogin { name: name.to_owned(), password: Some(PASSWORD.to_owned()) };
    let world = World::prepared(
        |_| {},
        |runtime, config| {
            runtime.block_on(init(config, &first("admin"), Some(&first("olga")))).unwrap();
        },
    );
    let mut bank = Bank::on(world);
    bank.sell(&interest_product("gain", "2.50", "MONTHLY"));
    let account = bank.account("Maria", "gain", "1000");
    bank.days(1);
    bank.run();
    let on = Config { auth: Auth::On, ..bank.world().config().clone() };
    bank.counter.world.stop();
    bank.counter.world.start_on(on);
    bank.world().user("kwame", "teller");
    let password = bank.world().dir.path().join("password");
    std::fs::write(&password, PASSWORD).unwrap();
    run(bank.world().mfa(&["login", "kwame", "--password-file", password.to_str().unwrap()])).ok();
    let words = ["teller", "close-account", "T1", "--account", &account, "--amount", "1000.07"];
    let said = run(bank.world().mfa(&[&words[..], &["--pay-interest", "--yes"]].concat())).fails(5);
    let way_out = format!("mfa accounts pay-interest {account}; or give it up: --forfeit-interest");
    assert!(said.contains(&way_out), "{said}");
}

#[test]
fn a_run_of_a_day_without_interest_says_so() {
    let world = World::start();
    let screen = Terminal::start(&world, 120, &[]).run("mfa interest run");
    let day = world.clock.now().day().previous();
    let said = format!("interest run up to {day}, a day on which no product earned or paid; all days:");
    assert!(screen.contains(&said) && screen.ends_with("exit 0\n$"), "{screen}");
}

#[test]
fn a_run_shows_every_product_of_the_day() {
    let bank = Bank::open();
    for number in 0..21 {
        let product = format!("gain-{number:02}");
        bank.sell(&interest_product(&product, "2.50", "MONTHLY"));
        bank.account("Maria", &product, "1000");
    }
    bank.days(1);
    let runs = run(bank.world().mfa(&["interest", "run", "-o", "json"])).json();
    assert_eq!(runs.as_array().map(Vec::len), Some(21));
}

/// Pays the interest of an account, by a request of its own.
fn pay(address: &str, account: &str) {
    let mut daemon = TcpStream::connect(address).unwrap();
    let body = r#"{"action":"PAY"}"#;
    let head = format!("POST /instances/{account}/interest HTTP/1.1\r\nhost: {address}\r\n");
    write!(daemon, "{head}connection: close\r\ncontent-length: {}\r\n\r\n{body}", body.len()).unwrap();
    let mut answer = String::new();
    daemon.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 202"), "{answer}");
}

/// The address of a relay before a daemon, which has the interest of an account paid when the lines of the
/// account have been read, before its interest is.
fn paying_meanwhile(bank: &Bank, account: &str) -> String {
    let (daemon, account) = (bank.world().url().trim_start_matches("http://").to_owned(), account.to_owned());
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    // 1 when the lines have been read, 2 when the interest is paid.
    let seen = Arc::new(AtomicU8::new(0));
    std::thread::spawn(move || {
        for mut client in listener.incoming().flatten() {
            let mut server = TcpStream::connect(&daemon).unwrap();
            let (mut back, mut to) = (server.try_clone().unwrap(), client.try_clone().unwrap());
            std::thread::spawn(move || std::io::copy(&mut back, &mut to));
            let (seen, daemon, account) = (seen.clone(), daemon.clone(), account.clone());
            std::thread::spawn(move || {
                let mut bytes = [0; 65_536];
                while let Ok(count @ 1..) = client.read(&mut bytes) {
                    let request = String::from_utf8_lossy(&bytes[..count]);
                    if request.contains("/entries?") {
                        let _ = seen.compare_exchange(0, 1, SeqCst, SeqCst);
                    } else if request.contains("/interest ")
                        && seen.compare_exchange(1, 2, SeqCst, SeqCst).is_ok()
                    {
                        pay(&daemon, &account);
                    }
                    server.write_all(&bytes[..count]).unwrap();
                }
            });
        }
    });
    url
}

#[test]
fn a_statement_shows_interest_that_is_paid_while_it_is_read() {
    let (bank, accounts) = bank(&["Maria"]);
    let account = accounts[0].as_str();
    let mut command =
        bank.world().mfa(&["accounts", "statement", account, "--to", "2031-05-31", "-o", "json"]);
    command.env("MFA_URL", paying_meanwhile(&bank, account));
    let statement = run(command).json();
    same(&bank.interest(account)["paidTotal"], "0.07");
    let types: Vec<_> =
        statement["entries"].as_array().unwrap().iter().map(|line| line["type"].clone()).collect();
    assert_eq!(types, [json!("ACCO"), json!("INTP")]);
    same(&statement["closingBalance"], "1000.07");
    assert_eq!(statement["accruedInterest"], Value::Null);
}
