//! Backups beside 32 clients at the counter: each holds the books of its moment, and one that is killed leaves
//! no file.

use super::tellers::{Heard, accounts_of_a_branch, clients};
use super::{Process, client, folder, random};
use crate::api::tellers::races::CLIENTS;
use crate::store::backup::{on, played, records, text, with_key, without_trail};
use crate::support::counter::Counter;
use crate::support::run::run;
use crate::support::world::{World, mfa};
use mfa_daemon::{Check, StorePlace};
use mfa_shared::amount::Amount;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::Ordering::SeqCst;
use std::time::{Duration, Instant};

const BACKUPS: usize = 4;
/// Backups that are killed after each of them.
const KILLED: usize = 4;

fn backup(home: &Path, url: &str, file: &Path) -> Command {
    let mut command = mfa(home, &["backup", "create", "--out", text(file), "-o", "json"]);
    command.env("MFA_URL", url);
    command
}

fn backup_killed(home: &Path, url: &str, file: &Path, after: Duration) {
    let mut command = backup(home, url, file);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    std::thread::sleep(after);
    child.kill().unwrap();
    child.wait().unwrap();
}

fn amount(value: &Value) -> Amount {
    Amount::parse(&value.to_string()).unwrap()
}

/// What each account has on its debit side, by the trial balance.
fn trial_balance(books: &Counter) -> BTreeMap<String, Amount> {
    let sheet = books.world.get("/ledger/trial-balance").is(200).json();
    let rows = sheet["rows"].as_array().unwrap().iter();
    let balance = |row: &Value| amount(&row["debit"]).minus(amount(&row["credit"]));
    rows.map(|row| (row["accountIdentifier"].as_str().unwrap().to_owned(), balance(row))).collect()
}

/// The same by the entries.
fn booked(journal: &[Value]) -> BTreeMap<String, Amount> {
    let mut sums = BTreeMap::<String, Amount>::new();
    for line in journal.iter().flat_map(|entry| entry["lines"].as_array().unwrap()) {
        let sum = sums.entry(line["accountIdentifier"].as_str().unwrap().to_owned()).or_default();
        let moved = amount(&line["amount"]);
        *sum = if line["side"] == "DEBIT" { sum.plus(moved) } else { sum.minus(moved) };
    }
    sums
}

/// The record of a backup. The daemon makes two at a time, and on a busy machine it may notice late that a
/// client was killed.
fn made_in_turn(backup: impl Fn() -> Command) -> Value {
    let until = Instant::now() + Duration::from_secs(30);
    loop {
        let ran = run(backup());
        if !ran.err.contains("backups are being made") || Instant::now() > until {
            return ran.json();
        }
        std::thread::sleep(Duration::from_millis(100));
    }
}

#[test]
fn backups_beside_32_clients_hold_the_books_of_their_moment() {
    let (_kept, home) = folder();
    let data = home.join("data");
    let (accounts, heard) = (Arc::new(accounts_of_a_branch(&home)), Arc::<Heard>::default());
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let (mut made, mut half_way) = (Vec::new(), 0);
    runtime.block_on(async {
        let http = client();
        let process = Process::start(&home, &data, &http).await;
        *heard.daemon.lock().unwrap() = (process.url.clone(), 0);
        let working = clients(&http, &heard, &accounts);
        tokio::time::sleep(Duration::from_millis(500)).await;
        for number in 0..BACKUPS {
            let (whole, half) = (home.join(format!("b{number}.mfab")), home.join(format!("k{number}.mfab")));
            let confirmed = || heard.confirmed.lock().unwrap().len();
            let mut tries = 0;
            let (record, took) = loop {
                let (before, begun) = (confirmed(), Instant::now());
                let record = made_in_turn(|| backup(&home, &process.url, &whole));
                // On a busy machine it may be done before anyone has had a turn: then it is made again.
                if confirmed() > before {
                    break (record, begun.elapsed());
                }
                tries += 1;
                assert!(tries < 50, "no one worked meanwhile");
                fs::remove_file(&whole).unwrap();
            };
            made.push((whole, record));
            // One that is killed leaves nothing under its name, unless it was done.
            for _ in 0..KILLED {
                backup_killed(&home, &process.url, &half, took * u32::try_from(random(100)).unwrap() / 100);
                if half.exists() {
                    run(mfa(&home, &["backup", "verify", text(&half)])).ok();
                    fs::remove_file(&half).unwrap();
                } else {
                    half_way += 1;
                }
            }
        }
        heard.stop.store(true, SeqCst);
        for client in working {
            client.await.unwrap();
        }
    });
    let mut world = World::with(|config| config.store = StorePlace::Embedded);
    for (number, (file, record)) in made.iter().enumerate() {
        let sequence = record["journalSequence"].as_u64().unwrap();
        let expected = played(&world, &on(&home, &data, None), sequence);
        let dir = home.join(format!("restored{number}"));
        with_key(&home, &["backup", "restore", text(file), "--data-dir", text(&dir)]).ok();
        let restored = on(&home, &dir, None);
        assert!(
            without_trail(&records(&world, &restored)) == without_trail(&expected),
            "backup {number} differs"
        );
        world.stop();
        world.start_on(restored);
        let books = Counter { world };
        let (sheet, sums) = (trial_balance(&books), booked(&books.journal()));
        assert_eq!(sheet, sums, "backup {number}");
        world = books.world;
        world.stop();
        assert_eq!(world.check(&[Check::Store, Check::Ledger]), Vec::<String>::new());
    }
    let confirmed = heard.confirmed.lock().unwrap().len();
    println!("{BACKUPS} backups beside {CLIENTS} clients, {confirmed} confirmed; {half_way} killed half-way");
    assert!(half_way > BACKUPS, "{half_way} were killed half-way");
}
