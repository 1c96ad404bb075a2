//! The daemon as a process of its own: killed, cut from its power, damaged.

mod backups;
mod days;
mod full;
mod images;
mod interest;
mod kept;
mod kill;
mod memory;
pub mod power;
mod slow;
mod tellers;

use crate::support::served::free_address;
use crate::support::world::mfa;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// Clients that write at the same time.
const WRITERS: usize = 8;
/// Time in which a daemon must be ready, also on a slow machine.
const START_MAX: Duration = Duration::from_secs(60);

/// `mfa daemon run` as a child.
pub struct Process {
    child: Child,
    pub url: String,
}

impl Process {
    /// The command that serves a folder.
    fn command(home: &Path, data: &Path, listen: &str) -> Command {
        let data = data.to_str().unwrap();
        mfa(home, &["daemon", "run", "--data-dir", data, "--listen", listen, "--auth", "off"])
    }

    /// Starts it; it need not be ready.
    fn spawn(home: &Path, data: &Path) -> Self {
        let listen = free_address();
        let mut command = Self::command(home, data, &listen);
        command.env("MFA_URL", format!("http://{listen}"));
        Self::spawn_as(home, command)
    }

    /// Starts a command that serves where its environment names the daemon.
    fn spawn_as(home: &Path, mut command: Command) -> Self {
        // With a library that makes fdatasync do nothing, the power cuts must find losses.
        if let Some(library) = std::env::var_os("MFA_TEST_PRELOAD") {
            command.env("LD_PRELOAD", library);
        }
        let child = command.stdout(Stdio::null()).stderr(log(home)).spawn().unwrap();
        let url = command.get_envs().find(|(name, _)| *name == "MFA_URL").and_then(|(_, url)| url);
        Self { child, url: url.unwrap().to_str().unwrap().to_owned() }
    }

    /// Starts it and waits until it is ready.
    pub async fn start(home: &Path, data: &Path, http: &reqwest::Client) -> Self {
        Self::ready(Self::spawn(home, data), home, http).await
    }

    /// As [`Process::spawn_as`], and waits until it is ready.
    async fn start_as(home: &Path, command: Command, http: &reqwest::Client) -> Self {
        Self::ready(Self::spawn_as(home, command), home, http).await
    }

    async fn ready(mut process: Self, home: &Path, http: &reqwest::Client) -> Self {
        let begin = Instant::now();
        loop {
            if let Ok(answer) = http.get(format!("{}/ready", process.url)).send().await
                && answer.status().is_success()
            {
                return process;
            }
            if let Some(status) = process.child.try_wait().unwrap() {
                panic!("the daemon ended with {status}: {}", log_text(home));
            }
            assert!(begin.elapsed() < START_MAX, "the daemon is not ready: {}", log_text(home));
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }

    pub fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn log(home: &Path) -> Stdio {
    let path = home.join("daemon.log");
    std::fs::OpenOptions::new().create(true).append(true).open(path).unwrap().into()
}

fn log_text(home: &Path) -> String {
    let text = std::fs::read_to_string(home.join("daemon.log")).unwrap_or_default();
    text.lines().rev().take(20).collect::<Vec<_>>().join("\n")
}

/// What was acknowledged: a customer and the last surname and activation that a 202 confirmed.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Known {
    pub surname: String,
    active: bool,
    /// A change was sent whose answer never came: it may or may not have happened.
    unsure: bool,
}

pub type Acknowledged = Arc<Mutex<BTreeMap<String, Known>>>;

/// Writes until it is stopped or the daemon is gone: creates, changes and activates customers.
pub async fn write(
    http: reqwest::Client,
    url: String,
    name: String,
    known: Acknowledged,
    stop: Arc<AtomicBool>,
) {
    for i in 0.. {
        if stop.load(SeqCst) {
            return;
        }
        let id = format!("{name}-{i}");
        let body = |surname: &str| json!({ "identifier": id, "surname": surname }).to_string();
        let steps = [
            (reqwest::Method::POST, "/customers".to_owned(), body("first")),
            (reqwest::Method::PUT, format!("/customers/{id}"), body("second")),
            (
                reqwest::Method::POST,
                format!("/customers/{id}/commands"),
                json!({"action": "ACTIVATE"}).to_string(),
            ),
        ];
        for (step, (method, path, body)) in steps.into_iter().enumerate() {
            if step > 0 && i % 3 != 0 {
                continue;
            }
            known.lock().unwrap().entry(id.clone()).or_default().unsure = true;
            let sent = http.request(method, format!("{url}{path}")).body(body).send().await;
            match sent.map(|answer| answer.status().as_u16()) {
                Ok(202) => {}
                // Stopping or gone: nothing was acknowledged.
                Ok(503) | Err(_) => return,
                Ok(status) => panic!("{id}: step {step} was answered with {status}"),
            }
            let mut known = known.lock().unwrap();
            let entry = known.get_mut(&id).unwrap();
            match step {
                0 => entry.surname = "first".to_owned(),
                1 => entry.surname = "second".to_owned(),
                _ => entry.active = true,
            }
            entry.unsure = false;
        }
    }
}

/// Every acknowledged change is there, and no customer is half-written. Returns what is wrong.
pub async fn verify(http: &reqwest::Client, url: &str, known: &BTreeMap<String, Known>) -> Vec<String> {
    let list = http.get(format!("{url}/customers?includeClosed=true"));
    let text = list.header("accept", "application/x-ndjson").send().await.unwrap().text().await.unwrap();
    let stored: BTreeMap<String, Value> = text
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap())
        .map(|customer| (customer["identifier"].as_str().unwrap().to_owned(), customer))
        .collect();
    let mut wrong = Vec::new();
    for (id, expected) in known {
        let Some(customer) = stored.get(id) else {
            if !expected.surname.is_empty() {
                wrong.push(format!("{id} is lost"));
            }
            continue;
        };
        let active = customer["currentState"] == "ACTIVE";
        let surname = customer["surname"].as_str().unwrap_or_default();
        if !expected.unsure && (surname != expected.surname || active != expected.active) {
            wrong.push(format!("{id} is {surname} {active}, acknowledged was {expected:?}"));
        }
        if expected.surname == "second" && surname != "second" || expected.active && !active {
            wrong.push(format!("{id} went back to {surname} {active}"));
        }
    }
    for (id, customer) in &stored {
        if !known.contains_key(id) {
            wrong.push(format!("{id} was never asked for"));
        }
        if customer.as_object().map(serde_json::Map::len) != Some(20) {
            wrong.push(format!("{id} is not whole: {customer}"));
        }
    }
    wrong.extend(half_written(http, url, &stored).await);
    wrong.extend(unrecorded(http, url, &stored).await);
    wrong
}

/// The audit trail is whole, and its records add up to exactly what is stored: no change lacks its record,
/// and no record its change.
async fn unrecorded(http: &reqwest::Client, url: &str, stored: &BTreeMap<String, Value>) -> Vec<String> {
    let trail = http.get(format!("{url}/audit?sortDirection=ASC")).header("accept", "application/x-ndjson");
    let text = trail.send().await.unwrap().text().await.unwrap();
    let lines: Vec<_> = text.lines().map(str::to_owned).collect();
    let mut wrong: Vec<_> = crate::api::audit::verify(&lines).err().into_iter().collect();
    let mut found: BTreeMap<String, (Value, Value)> = BTreeMap::new();
    for line in &lines {
        let record: Value = serde_json::from_str(line).unwrap();
        let Some(id) = record["resource"].as_str().and_then(|name| name.strip_prefix("customer/")) else {
            continue;
        };
        let (surname, state) = found.entry(id.to_owned()).or_default();
        for change in record["changes"].as_array().unwrap() {
            match change["field"].as_str().unwrap() {
                "" => {
                    *surname = change["after"]["surname"].clone();
                    *state = change["after"]["currentState"].clone();
                }
                "/surname" => *surname = change["after"].clone(),
                "/currentState" => *state = change["after"].clone(),
                _ => {}
            }
        }
    }
    let is: BTreeMap<_, _> = stored
        .iter()
        .map(|(id, customer)| (id.clone(), (customer["surname"].clone(), customer["currentState"].clone())))
        .collect();
    for id in is.keys().chain(found.keys()).filter(|id| is.get(*id) != found.get(*id)) {
        wrong.push(format!("{id} is {:?}, and the trail says {:?}", is.get(id), found.get(id)));
    }
    wrong
}

/// State and record of an activation are one transaction: there is the one exactly if there is the other.
async fn half_written(http: &reqwest::Client, url: &str, stored: &BTreeMap<String, Value>) -> Vec<String> {
    let mut wrong = Vec::new();
    // The last customers of each writer are those that a crash may have caught in the middle.
    let mut last: BTreeMap<&str, Vec<&String>> = BTreeMap::new();
    for id in stored.keys() {
        last.entry(id.rsplit_once('-').unwrap().0).or_default().push(id);
    }
    for ids in last.values_mut() {
        ids.sort_by_key(|id| std::cmp::Reverse(id.rsplit_once('-').unwrap().1.parse::<u64>().unwrap()));
        for id in ids.iter().take(4) {
            let path = format!("{url}/customers/{id}/commands");
            let records: Value =
                serde_json::from_slice(&http.get(path).send().await.unwrap().bytes().await.unwrap()).unwrap();
            let active = stored[*id]["currentState"] == "ACTIVE";
            if records.as_array().unwrap().len() != usize::from(active) {
                wrong.push(format!("{id} is half-written: active is {active}, its commands are {records}"));
            }
        }
    }
    wrong
}

/// How many kills under load a test makes: this many, or what `MFA_TEST_KILLS` says.
pub fn kills(usual: usize) -> usize {
    std::env::var("MFA_TEST_KILLS").map_or(usual, |kills| kills.parse().unwrap())
}

/// A number below `below`, different at every run.
fn random(below: u64) -> u64 {
    let mut bytes = [0; 8];
    getrandom::fill(&mut bytes).unwrap();
    u64::from_be_bytes(bytes) % below
}

/// It gives up on a daemon that is silent for long. A whole list may take as long as it is long.
pub fn client() -> reqwest::Client {
    let _ = rustls::crypto::ring::default_provider().install_default();
    reqwest::Client::builder().no_proxy().read_timeout(Duration::from_secs(30)).build().unwrap()
}

/// A folder that is removed at the end.
pub fn folder() -> (tempfile::TempDir, PathBuf) {
    folder_in(&std::env::temp_dir())
}

/// The same in another folder.
pub fn folder_in(parent: &Path) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::TempDir::new_in(parent).unwrap();
    let path = folder.path().to_owned();
    (folder, path)
}
