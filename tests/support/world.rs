//! A daemon of its own for each test: in a temporary folder, on a free port, with a stopped clock, and a
//! client that shows exactly what went over the wire. On PostgreSQL there are two daemons on one database,
//! and requests go to them in turns: what one has answered the other one knows.

use crate::support::stored::postgres;
use mfa_daemon::{Auth, Check, Clock, Config, Daemon, Found, check};
use mfa_shared::time::Timestamp;
use serde_json::Value;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::time::Duration;
use tempfile::TempDir;
use tokio::runtime::Runtime;
use tokio::task::JoinHandle;

/// The moment at which every test begins.
pub const NOW: &str = "2031-05-06T07:08:09.123Z";

/// Daemons on one database.
const DAEMONS: usize = 2;

/// A daemon with a client.
pub struct World {
    runtime: Runtime,
    daemons: Vec<Daemon>,
    turn: AtomicUsize,
    config: Config,
    pub clock: Clock,
    pub dir: TempDir,
    http: reqwest::Client,
}

/// What came back.
#[derive(Debug)]
pub struct Seen {
    pub status: u16,
    pub headers: reqwest::header::HeaderMap,
    pub body: Vec<u8>,
}

impl World {
    /// A fresh daemon without access control.
    pub fn start() -> Self {
        Self::with(|_| {})
    }

    /// A fresh daemon with changed settings.
    pub fn with(change: impl FnOnce(&mut Config)) -> Self {
        Self::prepared(change, |_, _| {})
    }

    /// As [`World::with`], and something is done to the store before the daemon starts.
    pub fn prepared(change: impl FnOnce(&mut Config), before: impl FnOnce(&Runtime, &Config)) -> Self {
        let runtime = Runtime::new().unwrap();
        let dir = TempDir::new().unwrap();
        let mut config = Config::new(dir.path().join("data"));
        config.listen = "127.0.0.1:0".parse().unwrap();
        config.auth = Auth::Off;
        config.store = postgres().into();
        config.store_connections_max = 4;
        // Only the tests of readiness watch it.
        config.drain = Duration::ZERO;
        change(&mut config);
        before(&runtime, &config);
        let clock = Clock::fixed(Timestamp::parse(NOW).unwrap());
        // Building a client needs the crypto provider, even without encryption; installing it twice is
        // harmless.
        let _ = rustls::crypto::ring::default_provider().install_default();
        // Reading all certificates of this machine for each test would take longer than many of them. A
        // daemon closes a connection that has been idle for ten seconds, perhaps just as it is used again.
        let http = reqwest::Client::builder().no_proxy().tls_certs_only([]);
        let http = http.pool_idle_timeout(Duration::from_secs(5)).build().unwrap();
        let (daemons, turn) = (Vec::new(), AtomicUsize::new(0));
        let mut world = Self { runtime, daemons, turn, config, clock, dir, http };
        world.run();
        world
    }

    fn run(&mut self) {
        let count = if self.config.store.postgres().is_some() { DAEMONS } else { 1 };
        for _ in 0..count {
            let started = self.runtime.block_on(Daemon::start(self.config.clone(), self.clock.clone()));
            self.daemons.push(started.unwrap());
        }
    }

    /// Stops the daemon and starts it again over the same data.
    pub fn restart(&mut self) {
        self.stop();
        self.run();
    }

    /// Moves the clock to that of this machine.
    pub fn to_present(&self) {
        let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
        let present = i64::try_from(since.as_secs()).unwrap();
        self.clock.advance(present - self.clock.now().millis() / 1000);
    }

    /// Stops the daemon, or the daemons.
    pub fn stop(&mut self) {
        let stops = self.daemons.drain(..).map(Daemon::stop);
        self.runtime.block_on(futures_util::future::join_all(stops));
    }

    /// Stops one daemon of several.
    pub fn stop_one(&mut self) {
        let daemon = self.daemons.remove(0);
        self.runtime.block_on(daemon.stop());
    }

    /// Starts a daemon with other settings after [`World::stop`].
    pub fn start_on(&mut self, config: Config) {
        self.config = config;
        self.run();
    }

    /// Stops the daemon, works on its data, and starts it again.
    pub fn restart_after(&mut self, work: impl FnOnce()) {
        self.stop();
        work();
        self.run();
    }

    /// The base address of the first daemon.
    pub fn url(&self) -> String {
        self.url_of(0)
    }

    fn url_of(&self, daemon: usize) -> String {
        self.daemons[daemon].url()
    }

    /// A request, to be changed before it is sent with [`World::send`].
    pub fn request(&self, method: &str, path: &str) -> reqwest::RequestBuilder {
        self.request_at(self.turn.fetch_add(1, SeqCst) % self.daemons.len(), method, path)
    }

    /// A request to the first daemon (0) or the second one.
    pub fn request_at(&self, daemon: usize, method: &str, path: &str) -> reqwest::RequestBuilder {
        self.http.request(method.parse().unwrap(), format!("{}{path}", self.url_of(daemon)))
    }

    pub fn send(&self, request: reqwest::RequestBuilder) -> Seen {
        self.runtime.block_on(async {
            let answer = request.send().await.unwrap();
            let (status, headers) = (answer.status().as_u16(), answer.headers().clone());
            Seen { status, headers, body: answer.bytes().await.unwrap().to_vec() }
        })
    }

    /// Sends requests all at once; their statuses and bodies in the order of the requests.
    pub fn send_all(&self, requests: Vec<reqwest::RequestBuilder>) -> Vec<Seen> {
        let send = |request: reqwest::RequestBuilder| async {
            let answer = request.send().await.unwrap();
            let (status, headers) = (answer.status().as_u16(), answer.headers().clone());
            Seen { status, headers, body: answer.bytes().await.unwrap().to_vec() }
        };
        self.runtime.block_on(async {
            let running: Vec<_> = requests.into_iter().map(|request| tokio::spawn(send(request))).collect();
            let mut seen = Vec::new();
            for request in running {
                seen.push(request.await.unwrap());
            }
            seen
        })
    }

    /// Sends requests at once, and those that are sent away because too much waits again, until none is.
    pub fn insist_all(&self, mut requests: Vec<reqwest::RequestBuilder>) -> Vec<Seen> {
        let mut answers = Vec::new();
        while !requests.is_empty() {
            let again: Vec<_> = requests.iter().map(|request| request.try_clone().unwrap()).collect();
            let seen = self.send_all(requests).into_iter().zip(again);
            let (away, taken): (Vec<_>, Vec<_>) = seen.partition(|(seen, _)| seen.status == 503);
            answers.extend(taken.into_iter().map(|(seen, _)| seen));
            requests = away.into_iter().map(|(_, again)| again).collect();
        }
        answers
    }

    /// Sends a JSON text.
    pub fn call(&self, method: &str, path: &str, body: impl Into<String>) -> Seen {
        let request = self.request(method, path).header("content-type", "application/json");
        self.send(request.body(body.into()))
    }

    pub fn get(&self, path: &str) -> Seen {
        self.send(self.request("GET", path))
    }

    /// The client, for work in parallel with the test.
    pub fn http(&self) -> reqwest::Client {
        self.http.clone()
    }

    /// The settings of the daemon.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// Does work that waits.
    pub fn block_on<T>(&self, work: impl Future<Output = T>) -> T {
        self.runtime.block_on(work)
    }

    /// Begins work in parallel with the test.
    pub fn spawn<T: Send + 'static>(&self, work: impl Future<Output = T> + Send + 'static) -> JoinHandle<T> {
        self.runtime.spawn(work)
    }

    /// Waits for work in parallel with the test.
    pub fn wait<T>(&self, work: JoinHandle<T>) -> T {
        self.runtime.block_on(work).unwrap()
    }

    /// POST of a JSON text.
    pub fn post(&self, path: &str, body: impl Into<String>) -> Seen {
        self.call("POST", path, body)
    }

    /// PUT of a JSON text.
    pub fn put(&self, path: &str, body: impl Into<String>) -> Seen {
        self.call("PUT", path, body)
    }

    pub fn delete(&self, path: &str) -> Seen {
        self.send(self.request("DELETE", path))
    }

    /// Sends a request line as it is, and reads the whole answer.
    pub fn raw(&self, line: &str) -> String {
        use std::io::{Read, Write};
        let mut socket = std::net::TcpStream::connect(self.daemons[0].address()).unwrap();
        write!(socket, "{line}\r\nhost: localhost\r\nconnection: close\r\n\r\n").unwrap();
        let mut answer = String::new();
        socket.read_to_string(&mut answer).unwrap();
        answer
    }

    /// What the checks of the stopped daemon's store find: `record field detail`.
    pub fn check(&self, checks: &[Check]) -> Vec<String> {
        let found = self.block_on(check(&self.config, checks, &|_, _| {})).unwrap();
        let shown = |f: &Found| format!("{} {} {}", f.record, f.field.as_deref().unwrap_or("-"), f.detail);
        found.iter().map(shown).collect()
    }

    /// `mfa` for work on the store itself.
    pub fn mfa_on_store(&self, arguments: &[&str]) -> Command {
        let mut command = mfa(self.dir.path(), arguments);
        command.env("MFA_DATA_DIR", &self.config.data_dir);
        command.env("MFA_SECRET_KEY_FILE", &self.config.secret_key_file);
        if let Some(address) = self.config.store.postgres() {
            command.env("MFA_STORE", address.to_string());
        }
        command
    }

    /// `mfa` with this daemon as its server and a home of its own.
    pub fn mfa(&self, arguments: &[&str]) -> Command {
        let mut command = mfa(self.dir.path(), arguments);
        command.env("MFA_URL", self.url());
        command
    }
}

/// `mfa` with a home of its own and nothing of the environment.
pub fn mfa(home: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mfa"));
    command.env_clear().env("HOME", home).env("PATH", std::env::var_os("PATH").unwrap_or_default());
    for (name, folder) in
        [("XDG_CONFIG_HOME", "config"), ("XDG_DATA_HOME", "share"), ("XDG_STATE_HOME", "state")]
    {
        command.env(name, home.join(folder));
    }
    // What people see would else depend on where the tests run.
    command.env("TZ", "UTC");
    command.args(arguments).stdin(std::process::Stdio::null());
    command
}

impl Drop for World {
    fn drop(&mut self) {
        self.stop();
    }
}

impl Seen {
    /// The body as JSON.
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|e| panic!("{e}: {}", self.text()))
    }

    /// The body as text.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// A header, empty where it is missing.
    pub fn header(&self, name: &str) -> String {
        self.headers.get(name).map_or(String::new(), |v| v.to_str().unwrap().to_owned())
    }

    /// Holds a success to its status.
    #[track_caller]
    pub fn is(self, status: u16) -> Self {
        assert_eq!(self.status, status, "{}", self.text());
        self
    }

    /// Holds a refusal to its status and code, and its body to the shape of every problem.
    #[track_caller]
    pub fn refused(self, status: u16, code: &str) -> Self {
        assert_eq!(self.status, status, "{}", self.text());
        let problem = self.json();
        assert_eq!(problem["code"], code, "{problem}");
        assert_eq!(problem["status"], status);
        assert_eq!(problem["type"], format!("urn:mfa:problem:{code}"));
        assert_eq!(problem["requestId"], self.header("x-request-id"));
        assert!(self.header("content-type").starts_with("application/problem+json"));
        assert!(problem["detail"].as_str().is_some_and(|d| !d.is_empty() && !d.ends_with('.')), "{problem}");
        self
    }

    /// Holds a refusal of fields to `pointer code` for each, in their order.
    #[track_caller]
    pub fn fields(self, expected: &[&str]) -> Self {
        let seen = self.refused(400, "invalid_fields");
        let errors = seen.json()["errors"].as_array().unwrap().clone();
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        let found: Vec<_> =
            errors.iter().map(|e| format!("{} {}", text(&e["field"]), text(&e["code"]))).collect();
        assert_eq!(found, expected);
        seen
    }
}
