//! A store whose closed journal files are packed: what a booking takes there, and that every tool reads it.

use crate::support::counter::Counter;
use crate::support::run::run;
use crate::support::stored::{close_and_pack, in_folder};
use crate::support::world::World;
use serde_json::Value;
use std::fs;
use std::path::Path;

/// What a confirmed deposit takes at most of a closed journal file.
const DEPOSIT_BYTES_MAX: u64 = 1_024;

/// A counter with accounts, and so many confirmed deposits; and what the journal grew by with them.
fn deposited(deposits: u64) -> (Counter, u64) {
    let counter = Counter::with(World::with(in_folder));
    counter.open("T1", "emp1", "100");
    counter.unlock("T1", "emp1");
    let accounts: Vec<String> =
        (0..20).map(|number| counter.account(&format!("customer-{number}"))).collect();
    for account in &accounts {
        counter.transact("ACCO", account, None, "500", "excluded").is(202);
    }
    let log = counter.world.dir.path().join("data/journal/00000001.log");
    let before = fs::metadata(&log).unwrap().len();
    for (number, account) in (0..deposits).zip(accounts.iter().cycle()) {
        let amount = format!("{}.{:02}", 10 + number % 90, number % 100);
        counter.transact("CDPT", account, None, &amount, "excluded").is(202);
    }
    let grown = fs::metadata(&log).unwrap().len() - before;
    (counter, grown)
}

#[test]
fn a_confirmed_deposit_takes_at_most_a_kilobyte_of_a_closed_journal_file() {
    const DEPOSITS: u64 = 500;
    let (mut counter, grown) = deposited(DEPOSITS);
    counter.world.stop();
    let (plain, packed) = close_and_pack(&counter.world.dir.path().join("data"));
    // What was made before the deposits is counted with them.
    let (before, after) = (grown / DEPOSITS, packed / DEPOSITS);
    println!("a deposit takes {before} bytes, and {after} when its file is packed ({plain}, {packed})");
    assert!(before > DEPOSIT_BYTES_MAX, "{before} bytes as they are written");
    assert!(after <= DEPOSIT_BYTES_MAX, "{after} bytes when they are packed");
}

#[test]
fn every_tool_reads_a_store_with_packed_files() {
    let (mut counter, _) = deposited(30);
    let accounts = |world: &World| world.get("/ledger/accounts?size=100").is(200).json();
    let before = accounts(&counter.world);
    counter.world.stop();
    let home = counter.world.dir.path().to_owned();
    let world = &mut counter.world;
    close_and_pack(&home.join("data"));
    let (text, file) = (|path: &Path| path.to_str().unwrap().to_owned(), home.join("of-packed.mfab"));
    let holds = |world: &World, data: &Path| {
        for what in ["store", "ledger"] {
            let check = ["check", what, "--data-dir", data.to_str().unwrap(), "-o", "json"];
            assert_eq!(run(world.mfa_on_store(&check)).ok(), "[]\n");
        }
    };
    holds(world, &home.join("data"));
    let seen: Value = serde_json::from_str(&run(world.mfa_on_store(&["doctor", "-o", "json"])).out).unwrap();
    let journal = seen.as_array().unwrap().iter().find(|finding| finding["check"] == "journal").unwrap();
    assert_eq!(journal["result"], "ok", "{journal}");
    let data = text(&home.join("data"));
    run(world.mfa_on_store(&["backup", "create", "--data-dir", &data, "--out", &text(&file)])).ok();
    run(world.mfa_on_store(&["backup", "verify", &text(&file)])).ok();
    let copy = home.join("copy");
    let migrate = ["migrate", "--from", &data, "--to", &text(&copy)];
    run(world.mfa_on_store(&migrate)).ok();
    holds(world, &copy);
    world.restart();
    assert_eq!(accounts(world), before);
    let log = home.join("data/journal");
    let files = fs::read_dir(log).unwrap().map(|entry| entry.unwrap());
    let logs = files.filter(|entry| entry.path().extension().is_some_and(|end| end == "log"));
    let bytes: u64 = logs.map(|entry| entry.metadata().unwrap().len()).sum();
    let metrics = world.get("/metrics").is(200).text();
    let shown = metrics.lines().find_map(|line| line.strip_prefix("mfa_store_journal_bytes ")).unwrap();
    assert_eq!(shown, bytes.to_string(), "what the files take");
    let mut copied = world.config().clone();
    (copied.data_dir, copied.listen) = (copy, "127.0.0.1:0".parse().unwrap());
    world.stop();
    world.start_on(copied);
    assert_eq!(accounts(world), before);
}
