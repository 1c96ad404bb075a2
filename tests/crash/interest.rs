//! A run of interest that is ended by SIGKILL again and again comes out as one that was left alone.

use super::{Process, client, folder, random};
use crate::api::interest::bank::{Bank, interest_product};
use crate::support::template::copy_folder;
use crate::support::world::World;
use mfa_daemon::{Config, StorePlace};
use serde_json::{Value, json};
use std::path::Path;
use std::time::{Duration, Instant};

/// Days before the present on which the accounts were opened.
const DAYS: i64 = 150;
/// Accounts of each of the two products.
const ACCOUNTS: usize = 25;
/// Runs that are killed. Each of the next ones waits some seconds until it takes the one before for dead.
const KILLS: usize = 4;
/// Longest wait for the rest to be run.
const WAIT_MAX: Duration = Duration::from_secs(120);

/// The state of interest: each run without its own time and caller, and each account.
#[derive(Debug, PartialEq)]
struct Books {
    runs: Vec<Value>,
    accounts: Vec<Value>,
    entries: Vec<String>,
}

fn books(bank: &Bank, accounts: &[String]) -> Books {
    let strip = |mut value: Value, names: &[&str]| {
        names.iter().for_each(|name| drop(value.as_object_mut().unwrap().remove(*name)));
        value
    };
    let runs = bank.runs("sortDirection=ASC").into_iter().map(|run| strip(run, &["ranOn", "ranBy"]));
    let account = |account: &String| {
        let mut found = bank.interest(account);
        let payments = found["payments"].as_array_mut().unwrap();
        *payments = payments.iter().map(|one| strip(one.clone(), &["journalEntryIdentifier"])).collect();
        found["balance"] = bank.counter.instance(account)["balance"].clone();
        found
    };
    let mut entries = bank.entries();
    entries.sort();
    Books { runs: runs.collect(), accounts: accounts.iter().map(account).collect(), entries }
}

/// Starts a run and kills the daemon when some more days were run.
async fn killed_half_way(home: &Path, data: &Path, from: Option<&str>) {
    let http = client();
    let process = Process::start(home, data, &http).await;
    let days_run = async || {
        let seen = http.get(format!("{}/interest/runs?size=1", process.url)).send().await.unwrap();
        serde_json::from_slice::<Value>(&seen.bytes().await.unwrap()).unwrap()["totalElements"]
            .as_u64()
            .unwrap()
    };
    let before = days_run().await;
    let run = http.post(format!("{}/interest/runs", process.url)).body(json!({ "from": from }).to_string());
    let running = tokio::spawn(run.send());
    let wanted = before + 3 + random(40);
    while days_run().await < wanted {
        assert!(!running.is_finished(), "the run ended before it was killed");
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    process.kill();
    assert!(running.await.unwrap().is_err(), "what was killed was not acknowledged");
}

#[test]
fn a_run_that_is_killed_again_and_again_books_each_day_once() {
    let (_kept, home) = folder();
    let (data, other) = (home.join("data"), home.join("other"));
    let stored_in = |folder: &Path| {
        let (folder, key) = (folder.to_owned(), home.join("data.key"));
        move |config: &mut Config| {
            (config.data_dir, config.store, config.secret_key_file) = (folder, StorePlace::Embedded, key);
        }
    };
    let world = World::with(stored_in(&data));
    world.to_present();
    world.clock.advance(-DAYS * 86_400);
    let bank = Bank::on(world);
    let from = bank.today();
    bank.sell(&interest_product("month", "2.5", "MONTHLY"));
    bank.sell(&interest_product("quarter", "7.3", "QUARTERLY"));
    let open = |number: usize| {
        let (product, cents) = (["month", "quarter"][number % 2], 7 * number % 100);
        bank.account(&format!("c-{number}"), product, &format!("{}.{cents:02}", 100 + 61 * number))
    };
    let accounts: Vec<_> = (0..2 * ACCOUNTS).map(open).collect();
    drop(bank);
    copy_folder(&data, &other);
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        for kill in 0..KILLS {
            killed_half_way(&home, &data, (kill == 0).then_some(from.as_str())).await;
        }
    });
    // The last daemon gets no request: it continues by its own clock.
    std::fs::create_dir_all(home.join("config/mfa")).unwrap();
    std::fs::write(home.join("config/mfa/config.toml"), "interest_run_at = \"00:00\"\n").unwrap();
    runtime.block_on(async {
        let http = client();
        let process = Process::start(&home, &data, &http).await;
        let begun = Instant::now();
        let yesterday = mfa_daemon::Clock::system().now().day().previous().to_string();
        loop {
            let url = format!("{}/interest/runs?size=2&dateRange={yesterday}..{yesterday}", process.url);
            let seen = http.get(url).send().await.unwrap().bytes().await.unwrap();
            if serde_json::from_slice::<Value>(&seen).unwrap()["totalElements"] == 2 {
                return process.kill();
            }
            assert!(begun.elapsed() < WAIT_MAX, "no one went on with the run");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    });
    let look = |folder: &Path| {
        let world = World::with(stored_in(folder));
        world.to_present();
        Bank { counter: crate::support::counter::Counter { world } }
    };
    let killed = look(&data);
    // The last day may be run twice to its end: by the one that was killed right after it, and by this one.
    killed.run();
    let found = books(&killed, &accounts);
    let alone = look(&other);
    alone.run_body(json!({ "from": from, "date": found.runs.last().unwrap()["date"] })).is(202);
    let expected = books(&alone, &accounts);
    assert_eq!(expected.runs.len() as i64, 2 * DAYS);
    assert!(expected.entries.iter().filter(|entry| entry.starts_with("INTP")).count() > 4 * ACCOUNTS);
    assert_eq!(found, expected);
    killed.check();
    alone.check();
}
