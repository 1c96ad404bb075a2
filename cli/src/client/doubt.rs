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
    /// Flags that the repetition needs besides, each with a space behind it.
    flags: OnceLock<String>,
}

impl Sent {
    /// Whether any of them may have been made.
    pub fn may_have_changed(&self) -> bool {
        self.unrefused.load(Ordering::Relaxed) > 0
    }
}

impl Client {
    /// Counts a change from the moment at which it is sent until it is refused: one whose answer never comes
    /// may have been made. A change under a key is one that the command repeats with its own.
    pub(super) async fn noting(
        &self,
        changes: bool,
        keyed: bool,
        send: impl Future<Output = Result<Response, Error>>,
    ) -> Result<Response, Error> {
        let sent = &self.sent;
        if changes && keyed && self.keys.are_taken() {
            sent.keys.get_or_init(|| self.keys.clone());
        }
        sent.unrefused.fetch_add(u32::from(changes), Ordering::Relaxed);
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
        if may_be_made && doubt.keyed { self.repeatable(&self.keys, failure) } else { failure }
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
            () if failure.unshown => {
                self.repeating_sent(failure.of_no_usage().adding("; the change was made nevertheless"))
            }
            () if failure.is_silence() => {
                self.repeating_sent(failure.adding("; what the command had changed before stays changed"))
            }
            () => failure,
        }
    }

    /// The failure of a command that was ended from outside, with what it may have changed.
    pub fn ended(&self, failure: Failure) -> Failure {
        if self.may_have_changed() { self.repeating_sent(failure.in_doubt()) } else { failure }
    }

    /// Whether changes were sent and not refused.
    pub fn may_have_changed(&self) -> bool {
        self.sent.may_have_changed()
    }

    /// Has the way to repeat the command name a flag that was not given, but that decides what is repeated.
    pub fn repeat_with(&self, flag: &str) {
        self.sent.flags.get_or_init(|| format!("{flag} "));
    }

    /// Says how the command can be repeated, if it has sent changes under keys.
    fn repeating_sent(&self, failure: Failure) -> Failure {
        match self.sent.keys.get() {
            Some(keys) => self.repeatable(keys, failure),
            None => failure,
        }
    }

    /// Says how the command of a failed change can be repeated.
    fn repeatable(&self, keys: &Keys, failure: Failure) -> Failure {
        let flags = self.sent.flags.get().map_or("", String::as_str);
        let Some((key, how)) = keys.repeated(flags) else { return failure };
        let hint = if failure.hint.is_empty() { how } else { format!("{}; then {how}", failure.hint) };
        failure.hint(hint).of_key(key)
    }
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
