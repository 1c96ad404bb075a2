//! What is found out about a request while it is decided, for the log, the headers and the audit trail.

use crate::domain::rate::Standing;
use crate::ops::Caller;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::{Mutex, OnceLock, PoisonError};

/// What is found out about a request while it is decided.
#[derive(Debug, Default)]
pub struct Noted {
    pub(super) operation: OnceLock<&'static str>,
    pub(super) actor: OnceLock<String>,
    pub(super) about: OnceLock<String>,
    caller: OnceLock<Known>,
    audited: AtomicBool,
    standing: Mutex<Option<Standing>>,
}

/// The caller, as the audit trail names them.
#[derive(Debug, Clone)]
pub struct Known {
    /// The user, or `application:` and its identifier.
    pub name: String,
    /// The application that signed in.
    pub application: Option<String>,
}

impl Noted {
    /// Notes the caller, where a token identifies one.
    pub fn caller(&self, caller: &Caller) {
        self.actor(&caller.actor);
        let known = || Known { name: caller.name.clone(), application: caller.application.clone() };
        self.caller.get_or_init(known);
    }

    /// Who asks.
    pub fn known(&self) -> Option<&Known> {
        self.caller.get()
    }

    /// The caller for the log.
    pub fn named(&self) -> Option<&str> {
        self.actor.get().map(String::as_str)
    }

    /// Notes that the audit trail has its record already.
    pub fn mark_audited(&self) {
        self.audited.store(true, SeqCst);
    }

    /// Whether it has.
    pub fn is_audited(&self) -> bool {
        self.audited.load(SeqCst)
    }

    /// Notes the standing of a bucket of the caller; the lowest counts.
    pub fn standing(&self, standing: Standing) {
        let mut noted = self.standing.lock().unwrap_or_else(PoisonError::into_inner);
        if noted.is_none_or(|noted| standing.is_lower(&noted)) {
            *noted = Some(standing);
        }
    }

    /// The standing of the caller's lowest bucket, if it should be reported.
    pub fn low(&self) -> Option<Standing> {
        self.standing.lock().unwrap_or_else(PoisonError::into_inner).filter(Standing::is_low)
    }

    /// Notes the endpoint, or the path of the table where the method is not possible there.
    pub fn operation(&self, operation: &'static str) {
        let _ = self.operation.set(operation);
    }

    /// Notes the caller: a name from the records, never one that was only typed.
    pub fn actor(&self, actor: &str) {
        self.actor.get_or_init(|| actor.to_owned());
    }

    /// Notes the drawer or the login that is locked or unlocked.
    pub fn about(&self, what: &str, name: &str) {
        self.about.get_or_init(|| format!("{what} {name}"));
    }
}
