//! The daemon in the background: start, stop, restart, status, logs.

mod another;
mod logs;
mod mark;
mod restart;

use super::daemon::DaemonFlags;
use super::session::warn_of_access;
use crate::client::Client;
use crate::command::cx::{Cx, Done};
use crate::command::verb::Verb;
use crate::failure::{Failure, Outcome, codes};
use crate::output::views;
use crate::settings::Origin;
use crate::settings::files::unwritable;
use crate::words::quoted;
use clap::Args;
use mfa_shared::api::system::{GetLive, GetReady, GetVersion};
use mfa_shared::endpoint::{Endpoint, Meta};
use mfa_shared::fault::exit;
use mfa_shared::wire::Nothing;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;
use std::fs::{self, OpenOptions};
use std::net::SocketAddr;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use mark::{Mark, Place};

pub use logs::Logs;
pub use restart::Restart;

/// Time in which a daemon becomes ready; replaying a long journal takes a while.
const START_MAX: Duration = Duration::from_secs(60);
/// Time beyond that of the daemon's own in which it is gone.
const STOP_SECONDS_SPARE: u64 = 10;
/// What to do with a daemon that another user or program has started.
const OF_SERVICE: &str =
    "stop or restart it where it was started; a service: sudo systemctl stop mfa, or restart mfa";
/// Wait between two looks.
const LOOK_MILLIS: u64 = 50;

/// Whether a daemon answers at an address.
async fn lives(client: &Client) -> bool {
    client.hasty(Duration::from_secs(2)).send(&GetLive {}, &Nothing).await.is_ok()
}

/// Whether the daemon at an address takes requests.
pub async fn serves(client: &Client) -> bool {
    client.hasty(Duration::from_secs(2)).send(&GetReady {}, &Nothing).await.is_ok()
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
    const EXITS: &'static [i32] = &[exit::CONFLICT, exit::LOCKED];
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
    let other = place.running().is_some();
    let logged = place.log_length();
    let mut child = spawn(&place, &data_dir, listen, &auth, flags, cx.settings.profile())?;
    // Its number always fits: the system's process numbers are positive 32-bit integers.
    let pid = i32::try_from(child.id()).unwrap_or_default();
    let mark = Mark {
        pid,
        begun: mark::begun(pid),
        url: client.url.clone(),
        data_dir_flag: flags.data_dir.as_ref().map(|_| data_dir.display().to_string()),
        data_dir,
        store: flags.shown_store(cx),
        store_flag: flags.store.clone(),
        tls_flags: flags.tls_cert.clone().zip(flags.tls_key.clone()),
        listen_flag: flags.listen.clone(),
        plaintext_flag: flags.plaintext.clone(),
        strict_flag: flags.strict_references.clone(),
        auth,
        auth_flag: flags.auth.clone(),
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
            return Err(Failure::new(
                codes::DAEMON_ENDED,
                explained(&place, logged, "the daemon did not start"),
            )
            .exit(exit)
            .hint(format!("the whole log: mfa daemon logs{}", listening(flags))));
        }
        if started.elapsed() > START_MAX {
            let what = format!("the daemon is not ready after {} s", START_MAX.as_secs());
            return Err(Failure::new(codes::DAEMON_NOT_READY, explained(&place, logged, &what))
                .hint(format!("follow it: mfa daemon logs{} --follow", listening(flags))));
        }
        tokio::time::sleep(Duration::from_millis(LOOK_MILLIS)).await;
    }
    // It may be the other one that serves now.
    if other && place.running().is_none() {
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

/// What went wrong with a start, and what the daemon has logged since the log had a length.
fn explained(place: &Place, logged: u64, what: &str) -> String {
    let log = place.log.display();
    match place.log_tail(10, logged) {
        tail if tail.is_empty() => format!("{what}; it has written nothing to its log {log}"),
        tail => format!("{what}; its log {log} ends with\n{tail}"),
    }
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
        let what = if stop(cx, &self.flags).await? { "stopped" } else { "was not running" };
        cx.done(Done { noun: "daemon", id: &client.url, what })
    }
}

/// Stops the daemon of a port; returns whether there was one.
async fn stop(cx: &Cx, flags: &DaemonFlags) -> Outcome<bool> {
    let (listen, client) = reach(cx, flags)?;
    let place = Place::of_port(listen.port())?;
    let Some(mark) = place.running() else {
        if lives(&client).await {
            let what = format!("the daemon at {} was not started by this user", client.url);
            return Err(Failure::local(what).hint(OF_SERVICE));
        }
        return Ok(false);
    };
    let process =
        Pid::from_raw(mark.pid).ok_or_else(|| Failure::local("the daemon has no process number"))?;
    kill_process(process, Signal::TERM)
        .map_err(|error| Failure::local(format!("cannot stop process {}: {error}", mark.pid)))?;
    let patience = cx.settings.parse::<u64>("stop_timeout_seconds", None)? + STOP_SECONDS_SPARE;
    let asked = Instant::now();
    while mark.runs() {
        if asked.elapsed().as_secs() > patience {
            let what = format!("the daemon, process {}, is still there after {patience} s", mark.pid);
            let hint = format!("its log may say why: mfa daemon logs{}; {}", listening(flags), end(mark.pid));
            return Err(Failure::local(what).hint(hint));
        }
        tokio::time::sleep(Duration::from_millis(LOOK_MILLIS)).await;
    }
    let _ = fs::remove_file(&place.mark);
    Ok(true)
}

async fn report(cx: &Cx, flags: &DaemonFlags) -> Outcome {
    let (listen, client) = reach(cx, flags)?;
    let live = client.send(&GetLive {}, &Nothing).await?.value;
    show(cx, &client, listen.port(), &live["status"]).await
}

async fn show(cx: &Cx, client: &Client, port: u16, status: &serde_json::Value) -> Outcome {
    warn_of_access(cx, &client.send(&GetVersion {}, &Nothing).await?.value);
    let place = Place::of_port(port)?;
    let mark = place.running();
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
    let mark = Place::of_port(port).ok().and_then(|place| place.running());
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
