//! Money at the counter while the daemon is killed again and again: 32 clients, ten accounts, four drawers.
//! A client who hears nothing sends the same request with the same key until it is answered.

use super::{Process, client, folder, random};
use crate::api::tellers::races::{CLIENTS, TELLERS, branch, check};
use crate::support::counter::Counter;
use crate::support::world::World;
use mfa_daemon::{Check, Config, StorePlace};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::task::JoinHandle;

/// Kills of a run.
const KILLS: usize = 10;
/// Time between a start and the next kill: at least the first, and by chance up to the second more.
const LOAD_MS: (u64, u64) = (300, 1_200);
/// Why a transaction may be refused, however the others go.
const REFUSALS: [&str; 3] = ["insufficient_balance", "insufficient_cash", "below_minimum_balance"];

/// What all clients know together.
#[derive(Default)]
pub struct Heard {
    /// Where the daemon is at present, and how often it was started.
    pub daemon: Mutex<(String, usize)>,
    pub stop: AtomicBool,
    /// Transactions whose confirmation was acknowledged, each with its request.
    pub confirmed: Mutex<BTreeMap<String, Value>>,
    /// Transactions that were quoted.
    quoted: Mutex<BTreeSet<String>>,
    /// The receipts of each teller by their numbers.
    receipts: Mutex<BTreeSet<(usize, u64)>>,
    /// Confirmations that were sent again after a crash and had been booked before it.
    replayed: Mutex<BTreeSet<String>>,
}

/// One client.
struct Client {
    http: reqwest::Client,
    heard: Arc<Heard>,
    accounts: Arc<Vec<String>>,
}

/// Settings of a daemon on the embedded store that the processes of a test have.
pub fn stored_in(home: &Path) -> impl FnOnce(&mut Config) {
    let (data, key) = (home.join("data"), home.join("data.key"));
    |config| {
        (config.data_dir, config.store) = (data, StorePlace::Embedded);
        config.secret_key_file = key;
    }
}

/// The accounts of a branch at the present, whose store is left in a folder.
pub fn accounts_of_a_branch(home: &Path) -> Vec<String> {
    let world = World::with(stored_in(home));
    world.to_present();
    let (counter, accounts) = branch(world);
    drop(counter);
    accounts
}

/// Clients that work until they are stopped, at the daemon that they hear of.
pub fn clients(
    http: &reqwest::Client,
    heard: &Arc<Heard>,
    accounts: &Arc<Vec<String>>,
) -> Vec<JoinHandle<()>> {
    let client = |number: usize| {
        let (http, heard, accounts) = (http.clone(), heard.clone(), accounts.clone());
        tokio::spawn(Client { http, heard, accounts }.work(number))
    };
    (0..CLIENTS).map(client).collect()
}

/// The answer to a request: its status, whether it had been given before, and its body.
struct Answer {
    status: u16,
    replayed: bool,
    body: Value,
}

impl Client {
    /// Sends a request until it is answered, always with the same key.
    async fn send(&self, path: &str, key: &str, body: &str) -> Answer {
        loop {
            let url = self.heard.daemon.lock().unwrap().0.clone();
            let request = self.http.post(format!("{url}{path}")).header("idempotency-key", key);
            if let Ok(answer) = request.body(body.to_owned()).send().await {
                let (status, headers) = (answer.status().as_u16(), answer.headers().clone());
                if let Ok(bytes) = answer.bytes().await {
                    let body = serde_json::from_slice(&bytes).unwrap_or_default();
                    return Answer { status, replayed: headers.contains_key("idempotency-replayed"), body };
                }
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }

    /// A transaction at the counter.
    fn wish(&self) -> Value {
        let below = |count: usize| usize::try_from(random(count as u64)).unwrap();
        let (from, kind) = (below(self.accounts.len()), ["CDPT", "CWDL", "ACCT"][below(3)]);
        let to = (from + 1 + below(self.accounts.len() - 1)) % self.accounts.len();
        let amount = format!("{}.{:02}", 1 + below(60), below(100));
        let mut request = Counter::request(kind, &self.accounts[from], &amount);
        request["productIdentifier"] = json!("plain");
        request["targetAccountIdentifier"] = json!(self.accounts[to]);
        request
    }

    /// Asks for one transaction after the other, and confirms each.
    async fn work(self, number: usize) {
        let path = format!("/teller/T{}/transactions", number % TELLERS + 1);
        let mut last: Option<(String, usize)> = None;
        for turn in 0.. {
            if self.heard.stop.load(SeqCst) {
                return;
            }
            let starts = self.heard.daemon.lock().unwrap().1;
            if let Some((transaction, _)) = last.take_if(|(_, before)| *before != starts) {
                // A client that is not sure of having got the answer retries, and nothing happens.
                let again = self.send(&confirm(&path, &transaction), &transaction, "").await;
                assert!(again.status == 202 && again.replayed, "{transaction}: {}", again.body);
            }
            let request = self.wish();
            let quote = self.send(&path, &format!("c{number}-{turn}"), &request.to_string()).await;
            assert_eq!(quote.status, 200, "{}", quote.body);
            let transaction = quote.body["tellerTransactionIdentifier"].as_str().unwrap().to_owned();
            self.heard.quoted.lock().unwrap().insert(transaction.clone());
            let answer = self.send(&confirm(&path, &transaction), &transaction, "").await;
            if answer.status == 202 {
                if answer.replayed {
                    self.heard.replayed.lock().unwrap().insert(transaction.clone());
                }
                self.heard.confirmed.lock().unwrap().insert(transaction.clone(), request);
                let receipt = format!("{path}/{transaction}/receipt");
                let receipt = self.send(&receipt, &format!("r-{transaction}"), "").await.body;
                assert_eq!(receipt["copy"], 1, "a retry is no copy: {receipt}");
                let place = (number % TELLERS + 1, receipt["number"].as_u64().unwrap());
                assert!(self.heard.receipts.lock().unwrap().insert(place), "twice: {place:?}");
                last = Some((transaction, starts));
            } else {
                let code = answer.body["code"].as_str().unwrap_or_default();
                assert!(answer.status == 409 && REFUSALS.contains(&code), "{transaction}: {}", answer.body);
            }
        }
    }
}

fn confirm(path: &str, transaction: &str) -> String {
    format!("{path}/{transaction}?command=CONFIRM")
}

#[test]
fn money_at_the_counter_survives_ten_kills_and_every_retry_is_booked_once() {
    let (_kept, home) = folder();
    let data = home.join("data");
    let (accounts, heard) = (Arc::new(accounts_of_a_branch(&home)), Arc::<Heard>::default());
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let http = client();
        let mut working = Vec::new();
        for start in 0..=KILLS {
            let process = Process::start(&home, &data, &http).await;
            *heard.daemon.lock().unwrap() = (process.url.clone(), start);
            if working.is_empty() {
                working = clients(&http, &heard, &accounts);
            }
            tokio::time::sleep(Duration::from_millis(LOAD_MS.0 + random(LOAD_MS.1))).await;
            if start < KILLS {
                process.kill();
                continue;
            }
            // The last one stays until every client has its answer.
            heard.stop.store(true, SeqCst);
            for client in working.drain(..) {
                client.await.unwrap();
            }
        }
    });
    let confirmed = heard.confirmed.lock().unwrap().clone();
    let counter = Counter { world: World::with(stored_in(&home)) };
    check(&counter, &accounts, &confirmed);
    let listed = (1..=TELLERS).map(|number| format!("/teller/T{number}/transactions"));
    let listed: usize =
        listed.map(|path| counter.world.get(&path).is(200).json().as_array().unwrap().len()).sum();
    let quoted = heard.quoted.lock().unwrap().len();
    assert_eq!(
        listed,
        quoted + accounts.len(),
        "each request made one transaction, however often it was sent"
    );
    let receipts = heard.receipts.lock().unwrap().clone();
    assert_eq!(receipts.len(), confirmed.len());
    for teller in 1..=TELLERS {
        let numbers = receipts.iter().filter(|(code, _)| *code == teller).map(|(_, number)| *number);
        assert!(numbers.zip(1..).all(|(number, due)| number == due), "gaps at T{teller}: {receipts:?}");
    }
    assert!(confirmed.len() > CLIENTS, "there was work between the kills: {}", confirmed.len());
    let Counter { mut world } = counter;
    world.stop();
    assert_eq!(world.check(&[Check::Store, Check::Ledger]), Vec::<String>::new());
    let replayed = heard.replayed.lock().unwrap().len();
    println!("{KILLS} kills, {} confirmed, {replayed} of them before a crash", confirmed.len());
}
