//! Changes that may have been made although no answer says so.

use super::Client;
use super::connect::is_of_daemon;
use super::idempotency::Keys;
use crate::failure::Failure;
use mfa_shared::fault::UNAVAILABLE;
use reqwest::{Error, Response};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

/// The tries of a request, as far as they tell whether it was carried out.
#[derive(Debug, Clone, Copy)]
pub(super) struct Doubt {
    /// Whether one of them may have made a change, without an answer that says so.
    is_there: bool,
    /// Whether the daemon knows a repetition by its key.
    keyed: bool,
}

impl Doubt {
    /// The doubts about a request; none about one that changes nothing.
    pub fn of(changes: bool, keyed: bool) -> Option<Self> {
        changes.then_some(Self { is_there: false, keyed })
    }

    /// Takes note of a try.
    pub fn note(&mut self, answer: &Result<Response, Error>) {
        self.is_there = match answer {
            Ok(response) if is_of_daemon(response) && self.is_settled(response.status().as_u16()) => false,
            answer => self.is_there || is_lost(answer),
        };
    }

    /// Whether an answer of this status says what became of a change, whatever became of its tries before:
    /// the daemon looks its key up, unless it refuses the caller before that. Without a key the change itself
    /// may be why a later try is refused.
    fn is_settled(self, status: u16) -> bool {
        let most = if self.keyed { 500 } else { 300 };
        (200..most).contains(&status) && !matches!(status, 401 | 403 | 408 | 429)
    }
}

/// The changes that a command has sent.
#[derive(Debug, Default)]
pub struct Sent {
    /// How many of them were not refused, so that they may have been made.
    unrefused: AtomicU32,
    /// The keys by which they can be repeated.
    keys: OnceLock<Keys>,
}

impl Sent {
    /// Whether any of them may have been made.
    pub fn may_have_changed(&self) -> bool {
        self.unrefused.load(Ordering::Relaxed) > 0
    }
}

impl Client {
    /// Counts a change from the moment at which it is sent until it is refused: one whose answer never comes
    /// may have been made.
    pub(super) async fn noting(
        &self,
        changes: bool,
        send: impl Future<Output = Result<Response, Error>>,
    ) -> Result<Response, Error> {
        let sent = &self.sent;
        sent.unrefused.fetch_add(u32::from(changes), Ordering::Relaxed);
        if changes && self.keys.are_taken() {
            sent.keys.get_or_init(|| self.keys.clone());
        }
        let answer = send.await;
        sent.unrefused.fetch_sub(u32::from(changes && is_not_made(&answer)), Ordering::Relaxed);
        answer
    }

    /// A failure with what it leaves open of the change that it is about.
    pub(super) fn doubting(&self, doubt: Option<Doubt>, failure: Failure) -> Failure {
        let Some(doubt) = doubt else { return failure };
        // The store may not know itself whether it has made the change.
        let may_be_made = doubt.is_there || failure.code == UNAVAILABLE.code;
        let failure = if doubt.is_there { failure.in_doubt() } else { failure };
        if may_be_made && doubt.keyed { repeatable(&self.keys, failure) } else { failure }
    }

    /// The same where the answer to a change broke off.
    pub(super) fn broken_off(&self, doubt: Option<Doubt>, failure: Failure) -> Failure {
        self.doubting(doubt.map(|doubt| Doubt { is_there: true, ..doubt }), failure)
    }

    /// The failure of a command whose output could not be written, with what it has changed nevertheless; and
    /// of one that got no answer behind a change, which need not have been its last one.
    pub fn done_unseen(&self, failure: Failure) -> Failure {
        if failure.in_doubt || failure.key.is_some() || !self.may_have_changed() {
            return failure;
        }
        match () {
            () if failure.unshown => repeatable(self.sent_keys(), failure.after_change()),
            () if failure.is_silence() => {
                let failure = failure.adding("; what the command had changed before stays changed");
                repeatable(self.sent_keys(), failure)
            }
            () => failure,
        }
    }

    /// The failure of a command that was ended from outside, with what it may have changed.
    pub fn ended(&self, failure: Failure) -> Failure {
        if self.may_have_changed() { repeatable(self.sent_keys(), failure.in_doubt()) } else { failure }
    }

    /// Whether changes were sent and not refused.
    pub fn may_have_changed(&self) -> bool {
        self.sent.may_have_changed()
    }

    /// The keys of the command: those under which it has sent a change, where it has a client of its own.
    fn sent_keys(&self) -> &Keys {
        self.sent.keys.get().unwrap_or(&self.keys)
    }
}

/// Says how the command of a failed change can be repeated.
fn repeatable(keys: &Keys, failure: Failure) -> Failure {
    let Some((key, how)) = keys.repeated() else { return failure };
    let hint = if failure.hint.is_empty() { how } else { format!("{}; then {how}", failure.hint) };
    failure.hint(hint).of_key(key)
}

/// Whether it is certain that what was sent was not done.
fn is_not_made(answer: &Result<Response, Error>) -> bool {
    match answer {
        // 408 is that of a proxy which has waited for too long.
        Ok(response) => response.status().is_client_error() && response.status().as_u16() != 408,
        Err(error) => error.is_connect() || error.is_builder(),
    }
}

/// Whether what was sent may have been done, and no answer of the daemon says so.
pub(super) fn is_lost(answer: &Result<Response, Error>) -> bool {
    !is_not_made(answer) && !answer.as_ref().is_ok_and(is_of_daemon)
}
