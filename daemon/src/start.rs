//! Start and stop of a daemon.

use crate::backups;
use crate::clock::{Clock, Deadline};
use crate::config::{Auth, Config};
use crate::files;
use crate::http::heavy::Heavy;
use crate::http::openapi;
use crate::http::patient::Patient;
use crate::http::routes::Routes;
use crate::http::server;
use crate::http::state::State;
use crate::http::table::table;
use crate::interest::keep_running;
use crate::memory;
use crate::open::{StartError, open};
use crate::ops::last_use;
use crate::ops::ledger::posting_time;
use crate::outward;
use crate::store::postgres::Address;
use crate::store::seed::SYSTEM_ACTOR;
use crate::store::{Store, Tx};
use crate::tls::Tls;
use crate::webhooks;
use futures_util::future::BoxFuture;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::net::TcpListener;
use tokio::sync::{oneshot, watch};
use tokio::task::JoinHandle;

/// How often a daemon looks whether its store still takes writes.
const WATCH: Duration = Duration::from_millis(500);
/// How often a daemon that stops looks whether all have let go of the store, and for how long.
const LET_GO: Duration = Duration::from_millis(5);
const LET_GO_MAX: Duration = Duration::from_secs(5);
/// Time between two writes of when sessions were used.
const USES_PAUSE: Duration = Duration::from_secs(20);
/// The same where several daemons share the store: what comes in this time is written together.
const USES_PAUSE_SHARED: Duration = Duration::from_millis(200);
/// Seconds by which the clock may be behind the journal without a word; clocks of several machines differ.
const BEHIND_SECONDS: i64 = 60;
/// How soon images go that a backup has kept.
const PUT_OFF_PAUSE: Duration = Duration::from_secs(5);
/// Time between two sweeps of the images.
const SWEEP_PAUSE: Duration = Duration::from_secs(6 * 60 * 60);

/// A running daemon.
#[derive(Debug)]
pub struct Daemon {
    address: SocketAddr,
    state: Arc<State>,
    stop: watch::Sender<bool>,
    served: JoinHandle<()>,
    sweep: JoinHandle<()>,
    follow: JoinHandle<()>,
    shelves: JoinHandle<()>,
    uses: JoinHandle<()>,
    audit: JoinHandle<()>,
    webhooks: JoinHandle<()>,
    /// The figures of reports, and what runs only where settings ask for it: interest, backups, the look at
    /// the certificate.
    optional: Vec<JoinHandle<()>>,
}

impl Daemon {
    /// Opens the store, makes it if it is not there, and serves.
    pub fn start(mut config: Config, clock: Clock) -> BoxFuture<'static, Result<Self, StartError>> {
        Box::pin(async move {
            check(&config)?;
            let tls = config.tls_files().and_then(|files| files.map(Tls::open).transpose());
            let tls = tls.map_err(StartError::Settings)?.map(Arc::new);
            hold_connections(&mut config)?;
            warn_of_database(&config);
            memory::use_small_pages();
            let (store, seeded) = open(&config, clock).await?;
            let listen = |e| StartError::Listen(format!("cannot listen on {}: {e}", config.listen));
            let listener = TcpListener::bind(config.listen).await.map_err(listen)?;
            let address = listener.local_addr().map_err(listen)?;
            let routes = Routes::new(table().into_iter().chain(openapi::routes()).collect());
            let no_thread = |e| StartError::Settings(format!("the system starts no more threads: {e}"));
            let threads = (Heavy::start().map_err(no_thread)?, Patient::start().map_err(no_thread)?);
            let mut state = State::new(store, config, routes, seeded.facts.instance, threads);
            state.tls = tls;
            let state = Arc::new(state);
            if state.config.auth == Auth::On && !state.has_users().await {
                tracing::warn!("there are no users, so no one can log in: run mfa init");
            }
            warn_of_clock(&state.store).await;
            let (stop, stopped) = watch::channel(false);
            let webhooks = tokio::spawn(webhooks::keep(state.clone(), stopped.clone()));
            let served = tokio::spawn(server::serve(listener, state.clone(), stopped));
            let sweep = tokio::spawn(sweep(state.store.clone()));
            let (made, lists_made) = oneshot::channel();
            let shelves = tokio::spawn(state.shelves.clone().keep_up(state.store.clone(), made));
            let follow = tokio::spawn(state.search.clone().keep_up(state.store.clone(), lists_made));
            let uses = tokio::spawn(keep_uses(state.clone()));
            let reports = tokio::spawn(state.reports.clone().keep_up(state.store.clone()));
            let audited = state.clone();
            let audit = tokio::spawn(async move { audited.auditor.keep(&audited.store).await });
            let minute = state.config.interest_run_at;
            let interest = minute.map(|minute| tokio::spawn(keep_running(state.store.clone(), minute)));
            let backups = state.config.backups.clone();
            let backups = backups.map(|schedule| tokio::spawn(backups::keep(state.clone(), schedule)));
            let tls = state.tls.clone().map(|tls| tokio::spawn(tls.keep()));
            let optional = [Some(reports), interest, backups, tls].into_iter().flatten().collect();
            Ok(Self { address, state, stop, served, sweep, follow, shelves, uses, audit, webhooks, optional })
        })
    }

    /// The address on which it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Where it is reached, unless a name leads there.
    pub fn url(&self) -> String {
        let scheme = if self.state.tls.is_some() { "https" } else { "http" };
        format!("{scheme}://{}", self.address)
    }

    /// Reads the files of the certificate again.
    pub fn reload(&self) {
        if let Some(tls) = &self.state.tls {
            tls.reload();
        }
    }

    /// Ends when the store takes no writes any more and the process should leave.
    pub fn failed(&self) -> BoxFuture<'_, String> {
        Box::pin(async move {
            loop {
                if let Some(fault) = self.state.store.final_fault() {
                    return fault.detail.clone();
                }
                tokio::time::sleep(WATCH).await;
            }
        })
    }

    /// Stops: readiness first, then the running requests, then the store, which can be opened again at once.
    pub fn stop(self) -> BoxFuture<'static, ()> {
        Box::pin(async move {
            let Self { state, stop, served, sweep, follow, shelves, uses, audit, webhooks, optional, .. } =
                self;
            let _ = stop.send(true);
            if served.await.is_err() {
                tracing::error!("the server ended by a defect");
            }
            // It lets another daemon go on.
            let _ = webhooks.await;
            for task in [sweep, follow, shelves, uses, audit].into_iter().chain(optional) {
                task.abort();
                let _ = task.await;
            }
            write_uses(&state).await;
            state.auditor.say_what_was_left_out();
            state.auditor.catch_up(&state.store).await;
            state.store.remove_put_off().await;
            let store = state.store.clone();
            drop(state);
            store.close().await;
            // Connections that have just ended, and reads that nobody waits for any more, let go of it in
            // their own time; its folder is locked as long.
            let closed = Instant::now();
            while !store.is_held_once() && closed.elapsed() < LET_GO_MAX {
                tokio::time::sleep(LET_GO).await;
            }
        })
    }
}

/// Serves no more connections at once than the system allows open files.
fn hold_connections(config: &mut Config) -> Result<(), StartError> {
    let limit = files::raise();
    if let Some(why) = files::too_few(config, limit) {
        return Err(StartError::Settings(why));
    }
    let connections = files::connections(config, limit);
    if connections < config.connections_max {
        let wanted = config.connections_max;
        let limit = limit.unwrap_or_default();
        tracing::warn!(
            "{connections} connections are served at once and not {wanted}, because the system allows \
             {limit} open files; raise its limit (ulimit -n, LimitNOFILE)"
        );
        config.connections_max = connections;
    }
    Ok(())
}

/// Writes now and then when sessions were used last.
async fn keep_uses(state: Arc<State>) {
    loop {
        // Other daemons of the store look at the same sessions, and hear of a use as soon as they can.
        if state.store.is_shared() {
            // What has ended is forgotten also where there is no news.
            let _ = tokio::time::timeout(USES_PAUSE, state.callers.uses().news().notified()).await;
            tokio::time::sleep(USES_PAUSE_SHARED).await;
        } else {
            tokio::time::sleep(USES_PAUSE).await;
        }
        write_uses(&state).await;
    }
}

async fn write_uses(state: &State) {
    let uses = state.callers.uses().unwritten();
    if uses.is_empty() || state.store.write_fault().is_some() || state.store.pressing_fault().is_some() {
        return;
    }
    let noted = uses.clone();
    let write = move |tx: &mut Tx<'_>| {
        tx.set_actor(SYSTEM_ACTOR);
        last_use::write(tx, &noted)
    };
    match state.store.write("last-use", write).await {
        Ok(gone) => state.callers.uses().written(&uses, &gone),
        Err(fault) => tracing::debug!(%fault, "when sessions were used could not be written"),
    }
}

/// Removes what a crash has left among the images, beside the requests. Where several daemons share the
/// images, what is young is left to a later round.
async fn sweep(store: Store) {
    loop {
        if let Err(fault) = store.sweep_images().await {
            tracing::warn!(%fault, "images without a record could not be swept");
        }
        let next = Deadline::after(SWEEP_PAUSE);
        while !next.has_passed() {
            tokio::time::sleep(PUT_OFF_PAUSE).await;
            store.remove_put_off().await;
        }
    }
}

fn check(config: &Config) -> Result<(), StartError> {
    let refuse = |why: String| Err(StartError::Settings(why));
    match config.auth {
        Auth::Off if !config.listen.ip().is_loopback() => refuse(format!(
            "auth is off, so the daemon listens on loopback only and not on {}; \
             use --auth on, or listen on 127.0.0.1",
            config.listen
        )),
        _ if !config.listen.ip().is_loopback() && !config.plaintext && config.tls_cert.is_none() => {
            refuse(format!(
                "what clients send to {} is not encrypted: give the daemon a certificate (mfa tls generate), \
                 listen on 127.0.0.1 behind a proxy for TLS, or allow it with --plaintext (setting \
                 plaintext = true) where the network is yours alone",
                config.listen
            ))
        }
        _ if !(60..=86_400).contains(&config.access_token_seconds) => {
            refuse("access_token_seconds must be from 60 to 86400".to_owned())
        }
        _ if !(300..=2_592_000).contains(&config.refresh_token_seconds) => {
            refuse("refresh_token_seconds must be from 300 to 2592000".to_owned())
        }
        Auth::On | Auth::Off => outward::check(config).map_err(StartError::Settings),
    }
}

/// Warns if somebody on the network could take the place of the database.
fn warn_of_database(config: &Config) {
    if let Some(hosts) = config.store.postgres().and_then(Address::unverified) {
        tracing::warn!(
            "nothing shows that {hosts} is the database that is meant: who answers in its place gets the \
             password and all records; add sslmode=verify-full&sslrootcert=FILE to the address of the store: \
             mfa help postgres"
        );
    }
}

/// Warns if the clock was set back behind the last entry: new entries then keep a time of the future.
async fn warn_of_clock(store: &Store) {
    let ahead = |tx: &mut Tx<'_>| Ok((posting_time(tx)?.millis() - tx.now().millis()) / 1000);
    if let Ok(seconds @ BEHIND_SECONDS..) = store.read(false, ahead).await {
        tracing::warn!(
            "the clock of this machine is {seconds} s behind the last entry of the journal; new entries keep \
             the time of that one until the clock has caught up; set the clock: timedatectl set-ntp true"
        );
    }
}
