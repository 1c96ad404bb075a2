//! `GET /metrics`: the metrics of the daemon. Contract: `audit.md` section 5.
//!
//! A scrape costs the same however many records there are: events are counted when they happen, sizes are
//! those of files, and only the tellers and a bounded number of sessions are read from the store. It also
//! answers while the store is unavailable, and leaves out what it does not know.

pub mod families;
mod page;
mod process;

use super::access::{self, AccessRequest};
use super::counts::{CLASSES, Counts, DELIVERED, GRANTS, LOCKED, OUTCOMES};
use super::head::Head;
use super::listeners::Listeners;
use super::load::Class;
use super::origin;
use super::reply::Reply;
use super::response::respond;
use super::state::State;
use crate::domain::rate::Bucket;
use crate::ops::figures::{self, TELLER_STATES};
use crate::store::figures::{Figures, Own};
use families::*;
use mfa_shared::fault::Fault;
use page::{CONTENT_TYPE, Page, Seconds};
pub use page::{Family, Kind};
use process::Process;
use std::sync::Arc;
use std::time::Duration;
use warp::reply::Response;

/// How long a scrape waits for the store. Prometheus gives up after 10 seconds by default.
const STORE_WAIT: Duration = Duration::from_secs(3);
/// What a proxy adds for whomever it asks. Who is behind it need not be on this machine.
const FORWARDED: [&str; 4] = ["forwarded", "via", "x-forwarded-for", "x-real-ip"];

/// Answers with all metrics.
pub async fn answer(state: &Arc<State>, head: &Head, asked: AccessRequest) -> Result<Response, Fault> {
    if !is_open_to(state, head) {
        let shared = state.clone();
        state.store.read(false, move |tx| access::admit(&shared, tx, &asked)).await?;
    }
    let reading = tokio::time::timeout(STORE_WAIT, state.store.read(true, figures::look)).await;
    let of_records = reading.ok().and_then(|read| {
        read.inspect_err(|fault| tracing::debug!(%fault, "the store cannot be read for metrics")).ok()
    });
    let process = tokio::task::spawn_blocking(Process::look).await.unwrap_or_default();
    let mut page = Page::default();
    let of_store = state.store.figures().await?;
    let engine = match of_store.own {
        Own::Embedded { .. } => "embedded",
        Own::Postgres { .. } => "postgres",
    };
    page.begin(BUILD);
    page.value(BUILD, &[("version", env!("CARGO_PKG_VERSION")), ("store", engine)], 1);
    show_http(&mut page, &state.counts, state.config.connections_max);
    page.begin(REQUESTS_OVERLOADED);
    for (class, count) in Class::ALL.iter().zip(state.loads.refused()) {
        page.value(REQUESTS_OVERLOADED, &[("class", class.as_str())], count);
    }
    show_logins(&mut page, &state.counts);
    show_records(&mut page, of_records.as_ref(), &state.listeners);
    let writable = state.store.write_fault().or_else(|| state.store.pressing_fault()).is_none();
    page.one(STORE_READABLE, u8::from(of_records.is_some()));
    page.one(STORE_WRITABLE, u8::from(writable));
    show_store(&mut page, &of_store, state.store.clock().now().millis());
    show_process(&mut page, &process);
    let text = Some(CONTENT_TYPE.to_owned());
    Ok(respond(Reply { content_type: text, ..Reply::json(page.text().into_bytes()) }, None))
}

/// Whether no token is needed: on this machine, where the setting allows it. A web page in a browser of this
/// machine and clients behind a proxy do not count as local.
pub fn is_open_to(state: &State, head: &Head) -> bool {
    state.config.metrics_public
        && head.origin.to_canonical().is_loopback()
        && FORWARDED.iter().all(|name| !head.headers.contains_key(*name))
        && origin::is_here(&head.headers)
}

fn show_http(page: &mut Page, counts: &Counts, connections_max: usize) {
    let operations = counts.operations();
    page.begin(REQUESTS);
    for (operation, classes, _) in &operations {
        for (class, count) in CLASSES.iter().zip(classes) {
            page.value(REQUESTS, &[("operation", operation), ("status", class)], count);
        }
    }
    page.begin(REQUEST_DURATION);
    for (operation, _, duration) in &operations {
        page.spread(REQUEST_DURATION, &[("operation", operation)], duration, Seconds);
    }
    page.one(REQUESTS_RUNNING, counts.running());
    page.begin(REQUESTS_LIMITED);
    for (bucket, count) in Bucket::ALL.iter().zip(counts.all_limited()) {
        page.value(REQUESTS_LIMITED, &[("bucket", bucket.as_str())], count);
    }
    page.one(CONNECTIONS, counts.connections.get());
    page.one(CONNECTIONS_MAX, connections_max);
    page.one(CONNECTIONS_ACCEPTED, counts.accepted.get());
    page.one(CONNECTIONS_REFUSED, counts.turned_away.get());
}

fn show_logins(page: &mut Page, counts: &Counts) {
    page.begin(LOGINS);
    for (grant, outcomes) in GRANTS.iter().zip(counts.logins()) {
        for (outcome, count) in OUTCOMES.iter().zip(outcomes) {
            page.value(LOGINS, &[("grant", grant), ("outcome", outcome)], count);
        }
    }
    page.begin(LOCKS);
    for (what, count) in LOCKED.iter().zip(counts.locks()) {
        page.value(LOCKS, &[("of", what)], count);
    }
    page.begin(WEBHOOKS);
    for (outcome, count) in DELIVERED.iter().zip(counts.webhooks()) {
        page.value(WEBHOOKS, &[("outcome", outcome)], count);
    }
}

fn show_records(page: &mut Page, seen: Option<&figures::Figures>, listeners: &Listeners) {
    page.one(LISTENERS, listeners.count());
    let Some(seen) = seen else { return };
    page.one(LISTENER_LAG, listeners.lag(seen.audit_sequence));
    page.one(WEBHOOK_LAG, seen.webhook_lag);
    page.one(AUDIT_SEQUENCE, seen.audit_sequence);
    page.one(SESSIONS, seen.sessions);
    page.begin(TELLERS);
    for (state, count) in TELLER_STATES.iter().zip(seen.tellers) {
        page.value(TELLERS, &[("state", state.as_str())], count);
    }
    page.known(BACKUP_MADE, seen.backup_made.map(|moment| moment.millis() / 1000));
    page.known(BACKUP_BYTES, seen.backup_bytes);
    page.one(BACKUP_MISSED, u8::from(seen.backup_missed));
}

fn show_store(page: &mut Page, figures: &Figures, now_millis: i64) {
    page.begin(STORE_COMMITS);
    page.spread(STORE_COMMITS, &[], &figures.commits, Seconds);
    page.one(STORE_WAITING, figures.waiting);
    match &figures.own {
        Own::Embedded { groups, journal_bytes, index_bytes, grown_bytes, growth_bytes_max, checkpoint } => {
            page.begin(GROUPS);
            page.spread(GROUPS, &[], groups, |size| size);
            page.known(JOURNAL_BYTES, *journal_bytes);
            page.known(INDEX_BYTES, *index_bytes);
            page.one(JOURNAL_GROWN_BYTES, grown_bytes);
            page.one(JOURNAL_GROWTH_MAX_BYTES, growth_bytes_max);
            // A clock that was set back makes no age below 0.
            let age = checkpoint.map(|made| now_millis.saturating_sub(made.millis()).max(0).unsigned_abs());
            page.known(CHECKPOINT_AGE, age.map(|millis| Seconds(millis.saturating_mul(1000))));
        }
        Own::Postgres { round_trips, retries, connections } => {
            page.one(ROUND_TRIPS, round_trips);
            page.one(RETRIES, retries);
            page.one(STORE_CONNECTIONS, connections);
        }
    }
}

fn show_process(page: &mut Page, process: &Process) {
    page.known(CPU, process.cpu_micros.map(Seconds));
    page.known(STARTED, process.started_micros.map(Seconds));
    page.known(RESIDENT, process.resident_bytes);
    page.known(VIRTUAL, process.virtual_bytes);
    page.known(THREADS, process.threads);
    page.known(FILES, process.files);
    page.known(FILES_MAX, process.files_max);
}
