//! The daemon in the background: start, stop, restart, status, logs.

mod another;
mod logs;

use super::daemon::DaemonFlags;
use super::session::warn_of_access;
use crate::client::Client;
use crate::command::cx::{Cx, Done};
use crate::command::verb::Verb;
use crate::failure::{Failure, Outcome};
use crate::output::views;
use crate::settings::files::unwritable;
use crate::settings::{Origin, state_dir};
use crate::words::quoted;
use clap::Args;
use mfa_shared::api::system::{GetLive, GetReady, GetVersion};
use mfa_shared::endpoint::{Endpoint, Meta};
use mfa_shared::fault::exit;
use mfa_shared::wire::Nothing;
use rustix::process::{Pid, Signal, kill_process, test_kill_process};
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::fs::{self, OpenOptions};
use std::net::SocketAddr;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

pub use logs::Logs;

/// Time in which a daemon becomes ready; replaying a long journal takes a while.
const START_MAX: Duration = Duration::from_secs(60);
/// Time beyond that of the daemon's own in which it is gone.
const STOP_SECONDS_SPARE: u64 = 10;
/// What to do with a daemon that another user or program has started.
const OF_SERVICE: &str =
    "stop or restart it where it was started; a service: sudo systemctl stop mfa, or restart mfa";
/// Wait between two looks.
const LOOK_MILLIS: u64 = 50;

/// What is remembered about a daemon in the background. Whether it is running, the daemon itself is asked.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Mark {
    pub pid: i32,
    pub url: String,
    /// Folder of its store.
    pub data_dir: PathBuf,
    /// The PostgreSQL store instead, without a password; empty for none.
    #[serde(default)]
    pub store: String,
    /// The same as it was given on the command line, which may hold no password.
    #[serde(default)]
    store_flag: Option<String>,
    /// Files of its certificate and key, where the command line named them.
    #[serde(default)]
    tls_flags: Option<(String, String)>,
    /// The other flags that a restart repeats, where the command line gave them.
    #[serde(default)]
    listen_flag: Option<String>,
    #[serde(default)]
    plaintext_flag: Option<String>,
    #[serde(default)]
    strict_flag: Option<String>,
    /// Whether it asks for tokens.
    pub auth: String,
}

/// Where a daemon of a port is remembered, and where it logs.
struct Place {
    mark: PathBuf,
    log: PathBuf,
}

impl Place {
    fn of_port(port: u16) -> Outcome<Self> {
        let folder = state_dir()?;
        fs::create_dir_all(&folder)
            .map_err(|error| Failure::local(format!("cannot make {}: {error}", folder.display())))?;
        Ok(Self { mark: folder.join(format!("daemon-{port}.json")), log: log_file(port)? })
    }

    fn mark(&self) -> Option<Mark> {
        serde_json::from_str(&fs::read_to_string(&self.mark).ok()?).ok()
    }

    fn remember(&self, mark: &Mark) -> Outcome {
        fs::write(&self.mark, json!(mark).to_string()).map_err(unwritable(&self.mark))
    }

    fn log_tail(&self, lines: usize) -> String {
        let text = fs::read(&self.log).unwrap_or_default();
        let text = String::from_utf8_lossy(&text);
        let all: Vec<_> = text.lines().collect();
        all[all.len().saturating_sub(lines)..].join("\n")
    }
}

/// Where the daemon of a port logs that runs in the background.
pub fn log_file(port: u16) -> Outcome<PathBuf> {
    Ok(state_dir()?.join(format!("daemon-{port}.log")))
}

/// Whether a daemon answers at an address.
async fn lives(client: &Client) -> bool {
    client.hasty(Duration::from_secs(2)).send(&GetLive {}, &Nothing).await.is_ok()
}

/// Whether the daemon at an address takes requests.
pub async fn serves(client: &Client) -> bool {
    client.hasty(Duration::from_secs(2)).send(&GetReady {}, &Nothing).await.is_ok()
}

/// Whether a process is a daemon of ours: the number may have been reused by another program.
fn runs(pid: i32) -> bool {
    let Some(process) = Pid::from_raw(pid) else { return false };
    match fs::read(format!("/proc/{pid}/cmdline")) {
        Ok(words) => words.split(|byte| *byte == 0).any(|word| word == b"daemon"),
        Err(_) => !cfg!(target_os = "linux") && test_kill_process(process).is_ok(),
    }
}

/// The address that a daemon of these flags listens on, and the client that reaches it from here. Where
/// nothing sets it, it is the loopback address that commands speak to.
fn reach(cx: &Cx, flags: &DaemonFlags) -> Outcome<(SocketAddr, Client)> {
    let given = flags.listen.is_some() || *cx.settings.get("listen").1 != Origin::Default;
    let address = cx.client.url.split_once("://").map(|(_, address)| address);
    let spoken_to = address.and_then(|address| address.parse::<SocketAddr>().ok());
    let listen = match spoken_to.filter(|address| !given && address.ip().is_loopback()) {
        Some(address) => address,
        None => cx.settings.parse("listen", flags.listen.as_deref())?,
    };
    if listen.port() == 0 {
        return Err(
            Failure::usage("a daemon in the background needs a port of its own").hint("give --listen")
        );
    }
    let host = match listen.ip() {
        ip if ip.is_unspecified() => "127.0.0.1".to_owned(),
        ip if ip.is_ipv6() => format!("[{ip}]"),
        ip => ip.to_string(),
    };
    let own = flags.tls_cert.as_ref().map(PathBuf::from).or_else(|| cx.client.trust.own.clone());
    let scheme = if own.is_some() { "https" } else { "http" };
    let mut client = cx.client.at(&format!("{scheme}://{host}:{}", listen.port()));
    client.trust.own = own;
    Ok((listen, client))
}

/// The flag that makes a hint apply to the same daemon.
fn listening(flags: &DaemonFlags) -> String {
    flags.listen.as_ref().map_or_else(String::new, |listen| format!(" --listen {}", quoted(listen)))
}

/// The client that reaches the daemon of these flags.
pub fn client(cx: &Cx, flags: &DaemonFlags) -> Outcome<Client> {
    reach(cx, flags).map(|(_, client)| client)
}

#[derive(Args)]
pub struct Start {
    #[command(flatten)]
    flags: DaemonFlags,
}

impl Verb for Start {
    const ABOUT: &'static str = "Start the daemon in the background and wait until it serves";
    const EXAMPLES: &'static [&'static str] =
        &["mfa daemon start", "mfa daemon start --data-dir ./store --listen 127.0.0.1:6321 --auth off"];
    async fn run(self, cx: &Cx) -> Outcome {
        start(cx, &self.flags).await.map(drop)?;
        report(cx, &self.flags).await
    }
}

/// Starts a daemon unless one answers already; returns whether it did.
pub async fn start(cx: &Cx, flags: &DaemonFlags) -> Outcome<bool> {
    let (listen, client) = reach(cx, flags)?;
    let place = Place::of_port(listen.port())?;
    if another::serves(cx, flags, &place, &client).await? {
        return Ok(false);
    }
    let _lock = another::wait_for_start(&place, &client.url).await?;
    // The start that had the lock may have brought it up.
    if another::serves(cx, flags, &place, &client).await? {
        return Ok(false);
    }
    let data_dir = std::path::absolute(flags.data_dir(cx)?)?;
    let auth = flags.auth.clone().unwrap_or_else(|| cx.settings.get("auth").0.to_owned());
    // One that runs there and does not serve yet, or no more, stays the one that can be stopped.
    let other = place.mark().is_some_and(|mark| runs(mark.pid));
    let mut child = spawn(&place, &data_dir, listen, &auth, flags, cx.settings.profile())?;
    let mark = Mark {
        // Its number always fits: the system's process numbers are positive 32-bit integers.
        pid: i32::try_from(child.id()).unwrap_or_default(),
        url: client.url.clone(),
        data_dir,
        store: flags.shown_store(cx),
        store_flag: flags.store.clone(),
        tls_flags: flags.tls_cert.clone().zip(flags.tls_key.clone()),
        listen_flag: flags.listen.clone(),
        plaintext_flag: flags.plaintext.clone(),
        strict_flag: flags.strict_references.clone(),
        auth,
    };
    // Before it serves: who interrupts the start can stop the daemon, which goes on.
    if !other {
        place.remember(&mark)?;
    }
    let started = Instant::now();
    while !serves(&client).await {
        if let Ok(Some(status)) = child.try_wait() {
            if !other {
                let _ = fs::remove_file(&place.mark);
            }
            let exit = status.code().filter(|code| *code != 0).unwrap_or(exit::FAILURE);
            return Err(Failure::new("daemon_ended", exit, explained(&place, "the daemon did not start"))
                .hint(format!("the whole log: mfa daemon logs{}", listening(flags))));
        }
        if started.elapsed() > START_MAX {
            let what = format!("the daemon is not ready after {} s", START_MAX.as_secs());
            return Err(Failure::new("daemon_not_ready", exit::FAILURE, explained(&place, &what))
                .hint(format!("follow it: mfa daemon logs{} --follow", listening(flags))));
        }
        tokio::time::sleep(Duration::from_millis(LOOK_MILLIS)).await;
    }
    // It may be the other one that serves now.
    if other && !place.mark().is_some_and(|mark| runs(mark.pid)) {
        place.remember(&mark)?;
    }
    Ok(true)
}

fn spawn(
    place: &Place,
    data_dir: &Path,
    listen: SocketAddr,
    auth: &str,
    flags: &DaemonFlags,
    profile: Option<&str>,
) -> Outcome<Child> {
    let log = OpenOptions::new().create(true).append(true).open(&place.log);
    let failed = |error| Failure::local(format!("cannot start the daemon: {error}"));
    let log = log.map_err(unwritable(&place.log))?;
    let mut command = Command::new(std::env::current_exe().map_err(failed)?);
    command.args(["daemon", "run", "--data-dir"]).arg(data_dir);
    command.args(["--listen", &listen.to_string(), "--auth", auth]);
    if let Some(strict) = &flags.strict_references {
        command.args(["--strict-references", strict]);
    }
    if let Some(plaintext) = &flags.plaintext {
        command.args(["--plaintext", plaintext]);
    }
    for (flag, file) in [("--tls-cert", &flags.tls_cert), ("--tls-key", &flags.tls_key)] {
        command.args(file.iter().flat_map(|file| [flag, file]));
    }
    if let Some(store) = &flags.store {
        command.args(["--store", store]);
    }
    if let Some(profile) = profile {
        command.env("MFA_PROFILE", profile);
    }
    // The daemon outlives the caller, so it does not inherit the caller's secrets.
    for secret in ["MFA_TOKEN", "MFA_TOKEN_FILE", "MFA_PASSWORD_FILE"] {
        command.env_remove(secret);
    }
    // A group of its own keeps the terminal's Ctrl-C away from it.
    let copy = log.try_clone().map_err(failed)?;
    command.env_remove("MFA_OUTPUT").stdin(Stdio::null()).stdout(copy).stderr(log).process_group(0);
    command.spawn().map_err(failed)
}

fn explained(place: &Place, what: &str) -> String {
    format!("{what}; its log {} ends with\n{}", place.log.display(), place.log_tail(10))
}

#[derive(Args)]
pub struct Stop {
    #[command(flatten)]
    flags: DaemonFlags,
}

impl Verb for Stop {
    const ABOUT: &'static str = "Stop the daemon in the background and wait until it is gone";
    const EXAMPLES: &'static [&'static str] = &["mfa daemon stop", "mfa daemon stop --listen 127.0.0.1:6321"];
    async fn run(self, cx: &Cx) -> Outcome {
        cx.out.check_columns(&views::RESULT)?;
        let (_, client) = reach(cx, &self.flags)?;
        let what = if stop(cx, &self.flags).await?.is_some() { "stopped" } else { "was not running" };
        cx.done(Done { noun: "daemon", id: &client.url, what })
    }
}

/// Stops the daemon of a port and returns its mark.
async fn stop(cx: &Cx, flags: &DaemonFlags) -> Outcome<Option<Mark>> {
    let (listen, client) = reach(cx, flags)?;
    let place = Place::of_port(listen.port())?;
    let Some(mark) = place.mark().filter(|mark| runs(mark.pid)) else {
        if lives(&client).await {
            let what = format!("the daemon at {} was not started by this user", client.url);
            return Err(Failure::local(what).hint(OF_SERVICE));
        }
        return Ok(None);
    };
    let process =
        Pid::from_raw(mark.pid).ok_or_else(|| Failure::local("the daemon has no process number"))?;
    kill_process(process, Signal::TERM)
        .map_err(|error| Failure::local(format!("cannot stop process {}: {error}", mark.pid)))?;
    let patience = cx.settings.parse::<u64>("stop_timeout_seconds", None)? + STOP_SECONDS_SPARE;
    let asked = Instant::now();
    while runs(mark.pid) {
        if asked.elapsed().as_secs() > patience {
            let what = format!("the daemon, process {}, is still there after {patience} s", mark.pid);
            let hint = format!("its log may say why: mfa daemon logs{}; {}", listening(flags), end(mark.pid));
            return Err(Failure::local(what).hint(hint));
        }
        tokio::time::sleep(Duration::from_millis(LOOK_MILLIS)).await;
    }
    let _ = fs::remove_file(&place.mark);
    Ok(Some(mark))
}

#[derive(Args)]
pub struct Restart {
    #[command(flatten)]
    flags: DaemonFlags,
}

impl Verb for Restart {
    const ABOUT: &'static str = "Stop the daemon in the background and start it again with the same flags";
    const EXAMPLES: &'static [&'static str] =
        &["mfa daemon restart", "mfa daemon restart --strict-references true"];
    async fn run(self, cx: &Cx) -> Outcome {
        let mut flags = self.flags;
        if let Some(was) = stop(cx, &flags).await? {
            flags.data_dir = flags.data_dir.or_else(|| Some(was.data_dir.display().to_string()));
            flags.store = flags.store.or(was.store_flag);
            if let (Some((certificate, key)), None) = (was.tls_flags, &flags.tls_cert) {
                (flags.tls_cert, flags.tls_key) = (Some(certificate), Some(key));
            }
            flags.listen = flags.listen.or(was.listen_flag);
            flags.plaintext = flags.plaintext.or(was.plaintext_flag);
            flags.strict_references = flags.strict_references.or(was.strict_flag);
            flags.auth = flags.auth.or(Some(was.auth));
        }
        start(cx, &flags).await?;
        report(cx, &flags).await
    }
}

async fn report(cx: &Cx, flags: &DaemonFlags) -> Outcome {
    let (listen, client) = reach(cx, flags)?;
    let live = client.send(&GetLive {}, &Nothing).await?.value;
    show(cx, &client, listen.port(), &live["status"]).await
}

async fn show(cx: &Cx, client: &Client, port: u16, status: &serde_json::Value) -> Outcome {
    warn_of_access(cx, &client.send(&GetVersion {}, &Nothing).await?.value);
    let place = Place::of_port(port)?;
    let mark = place.mark().filter(|mark| runs(mark.pid));
    let record = json!({
        "url": client.url,
        "status": status,
        "auth": mark.as_ref().map(|mark| &mark.auth),
        "pid": mark.as_ref().map(|mark| mark.pid),
        "dataDir": mark.as_ref().filter(|mark| mark.store.is_empty()).map(|mark| &mark.data_dir),
        "store": mark.as_ref().map(|mark| &mark.store).filter(|store| !store.is_empty()),
        "log": mark.is_some().then_some(&place.log),
    });
    cx.out.show(&views::SERVICE, &record)
}

#[derive(Args)]
pub struct Status {}

impl Verb for Status {
    const ENDPOINT: Option<&'static Meta> = Some(&GetLive::META);
    const ABOUT: &'static str = "Show whether a daemon runs at the address, and where its log is";
    const EXAMPLES: &'static [&'static str] = &["mfa daemon status", "mfa daemon status -o json"];
    async fn run(self, cx: &Cx) -> Outcome {
        let client = cx.client.looking();
        let port = client.url.rsplit(':').next().and_then(|port| port.parse().ok()).unwrap_or(0);
        let answered = client.send(&GetLive {}, &Nothing).await;
        let live = answered.map_err(|failure| unanswered(&client, port, failure))?.value;
        show(cx, &client, port, &live["status"]).await
    }
}

/// Why a daemon does not answer, where its process is there.
fn unanswered(client: &Client, port: u16, failure: Failure) -> Failure {
    let mark = Place::of_port(port).ok().and_then(|place| place.mark()).filter(|mark| runs(mark.pid));
    match mark.filter(|mark| mark.url == client.url && failure.exit == exit::UNREACHABLE) {
        Some(Mark { pid, .. }) => failure.hint(format!(
            "its process {pid} is there: its log may say why, mfa daemon logs; if it is stopped (state T in \
             ps {pid}), it goes on with kill -CONT {pid}; {}",
            end(pid)
        )),
        None => failure,
    }
}

/// How a daemon is ended that does not end by itself.
fn end(pid: i32) -> String {
    format!("kill -KILL {pid} ends it at once, and nothing that was acknowledged is lost")
}
