//! What every request of a daemon shares.

use super::buckets::Buckets;
use super::counts::Counts;
use super::heavy::Heavy;
use super::kept::Kept;
use super::listeners::Listeners;
use super::load::Loads;
use super::messages::Messages;
use super::patient::Patient;
use super::room::Room;
use super::routes::Routes;
use super::under_way::UnderWay;
use super::unread::Unread;
use crate::audit::Auditor;
use crate::config::Config;
use crate::domain::token::Lifetimes;
use crate::ops::caller::LoginRules;
use crate::ops::callers::KnownCallers;
use crate::ops::init;
use crate::reports::Reports;
use crate::search::Search;
use crate::shelves::Shelves;
use crate::store::Store;
use crate::tls::Tls;
use mfa_shared::fault::{self, Fault};
use mfa_shared::time::Timestamp;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering::SeqCst};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::Semaphore;

/// Backups that are made at once: each reads the whole store.
pub(super) const BACKUPS_AT_ONCE: usize = 2;
/// Listeners who read a piece of older events at once; the others wait for their turn. Fewer than the threads
/// for lists: however many listeners begin far behind, a list finds a thread.
const OLDER_EVENTS_AT_ONCE: usize = 4;
/// So many operations of the batches of one caller run at once, and a longer batch by itself. An application
/// that sends many short ones shares syncs of the store among them.
const OPERATIONS_AT_ONCE: u32 = 32;
/// Seconds after which a client may try again while the daemon stops.
const STOP_RETRY_SECONDS: u32 = 5;

/// What every request shares.
#[derive(Debug)]
pub struct State {
    /// The store.
    pub store: Store,
    /// The settings.
    pub config: Config,
    /// Its TLS settings, if it speaks TLS.
    pub tls: Option<Arc<Tls>>,
    /// The endpoint table.
    pub routes: Routes,
    /// Name of the store.
    pub instance: String,
    /// Callers as they were computed before.
    pub callers: KnownCallers,
    /// The threads for heavy work.
    pub heavy: Heavy,
    /// The threads for lists.
    pub patient: Patient,
    /// The room for bodies, from their arrival to the answer.
    pub arriving: Room,
    /// The room for answers that are not read yet.
    pub unread: Unread,
    /// What is found by words.
    pub search: Arc<Search>,
    /// The orders of lists.
    pub shelves: Arc<Shelves>,
    /// The figures of reports.
    pub reports: Arc<Reports>,
    /// Reports to the audit trail outside of requests.
    pub auditor: Arc<Auditor>,
    /// How much each token and address may ask.
    pub buckets: Buckets,
    /// How many requests are being answered, and how many may be.
    pub loads: Arc<Loads>,
    /// What is counted of requests.
    pub counts: Arc<Counts>,
    phase: AtomicU8,
    has_users: AtomicBool,
    backup_failed: Mutex<Option<Timestamp>>,
    /// Errands with an idempotency key that are under way, by token and key. Until the first one has ended,
    /// there is no answer that a repetition could get; so it waits for that one, and does not do the same
    /// work outside the store again. What another daemon has under way is not known here.
    pub errands: UnderWay<(Option<String>, String)>,
    /// Batches of changes that are under way, by caller.
    pub batches: UnderWay<String>,
    /// What is remembered for batches, by caller.
    pub kept: Kept,
    /// Test messages that are.
    pub messages: Messages,
    /// Places for backups that are being made.
    pub backup_places: Arc<Semaphore>,
    /// The listeners to whom events are streamed.
    pub listeners: Arc<Listeners>,
    /// Places for listeners who read older events.
    pub older_events: Arc<Semaphore>,
}

/// The phase of the daemon between its start and its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// Serves.
    Serving = 0,
    /// Serves, but is no longer ready for new clients.
    Draining = 1,
    /// Refuses.
    Stopping = 2,
}

impl State {
    /// The state of a daemon that serves.
    pub fn new(
        store: Store,
        config: Config,
        routes: Routes,
        instance: String,
        threads: (Heavy, Patient),
    ) -> Self {
        let (heavy, patient) = threads;
        let rules = LoginRules {
            current_password_required: config.current_password_required,
            session_idle_seconds: config.session_idle_seconds,
            second_factor_roles: config.second_factor_roles.clone(),
        };
        let callers = KnownCallers::new(rules, store.is_shared());
        let phase = AtomicU8::new(Phase::Serving as u8);
        let has_users = AtomicBool::new(false);
        let search = Arc::default();
        let shelves = Arc::default();
        let auditor = Arc::default();
        let reports = Arc::default();
        let counts = Arc::new(Counts::of(routes.names()));
        let listeners = Arc::new(Listeners::new(config.connections_max));
        let kept = Kept::new(config.remembered_bytes);
        Self {
            store,
            config,
            tls: None,
            routes,
            instance,
            callers,
            heavy,
            patient,
            arriving: Room::default(),
            unread: Unread::default(),
            errands: UnderWay::new(1),
            batches: UnderWay::new(OPERATIONS_AT_ONCE),
            kept,
            messages: Messages::default(),
            search,
            shelves,
            reports,
            auditor,
            buckets: Buckets::default(),
            loads: Arc::default(),
            counts,
            phase,
            has_users,
            backup_failed: Mutex::default(),
            backup_places: Arc::new(Semaphore::new(BACKUPS_AT_ONCE)),
            listeners,
            older_events: Arc::new(Semaphore::new(OLDER_EVENTS_AT_ONCE)),
        }
    }

    /// Whether there are users. Once there is one there always is, so it is asked only until then; what
    /// cannot be looked at is not said to be missing.
    pub async fn has_users(&self) -> bool {
        if !self.has_users.load(SeqCst) {
            let empty = self.store.read(false, init::is_empty).await;
            self.has_users.store(!empty.unwrap_or(false), SeqCst);
        }
        self.has_users.load(SeqCst)
    }

    /// Notes when a backup of the schedule failed, if one did since the last.
    pub fn set_backup_failed(&self, on: Option<Timestamp>) {
        *self.backup_failed.lock().unwrap_or_else(PoisonError::into_inner) = on;
    }

    /// When a backup of the schedule failed, if one did since the last.
    pub fn backup_failed(&self) -> Option<Timestamp> {
        *self.backup_failed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How long tokens live.
    pub fn lifetimes(&self) -> Lifetimes {
        let Config { access_token_seconds, refresh_token_seconds, .. } = self.config;
        Lifetimes { access_seconds: access_token_seconds, session_seconds: refresh_token_seconds }
    }

    /// The names under which an assertion may name this daemon.
    pub fn audiences(&self) -> Vec<String> {
        let own = format!("urn:mfa:instance:{}", self.instance);
        [own].into_iter().chain(self.config.token_audiences.iter().cloned()).collect()
    }

    /// Goes on to the next phase.
    pub fn enter(&self, phase: Phase) {
        self.phase.store(phase as u8, SeqCst);
    }

    /// The present phase of the daemon.
    pub fn phase(&self) -> Phase {
        match self.phase.load(SeqCst) {
            0 => Phase::Serving,
            1 => Phase::Draining,
            _ => Phase::Stopping,
        }
    }

    /// Why a request is refused before anything of it is looked at.
    pub fn refusal(&self, writes: bool) -> Option<Fault> {
        if self.phase() == Phase::Stopping {
            return Some(stopping());
        }
        if writes { self.store.write_fault() } else { None }
    }
}

/// Why no requests are taken any more.
pub(super) fn stopping() -> Fault {
    Fault::new(fault::UNAVAILABLE, "the daemon is shutting down").retry_after(STOP_RETRY_SECONDS)
}
