//! What is counted while requests are answered.

use crate::count::{Counted, Counter, Level, Spread, Within};
use crate::domain::rate::Bucket;
use mfa_shared::api::tokens::TokenRequest;
use mfa_shared::fault::{self, Fault};
use std::collections::BTreeMap;
use std::time::Duration;

/// Bounds of the duration of a request, in microseconds.
const REQUEST_MICROS: &[u64] = &[
    500, 1_000, 2_500, 5_000, 10_000, 25_000, 50_000, 100_000, 250_000, 500_000, 1_000_000, 2_500_000,
    10_000_000,
];
/// The classes of status that an answer may have, by their hundreds.
pub const CLASSES: [&str; 4] = ["2xx", "3xx", "4xx", "5xx"];
/// The label for a path that the table does not have, or does not have with the method.
pub const UNKNOWN: &str = "unknown";
/// The kinds of login, in the order of [`grant`].
pub const GRANTS: [&str; 3] = ["password", "refresh_token", "assertion"];
/// How a login ends.
pub const OUTCOMES: [&str; 5] = ["done", "refused", "locked", "second_factor", "failed"];
/// What too many wrong passwords lock.
pub const LOCKED: [&str; 2] = ["login", "drawer"];

/// The outcomes of a delivery of a webhook.
pub const DELIVERED: [&str; 2] = ["delivered", "failed"];

/// What is counted of one operation.
#[derive(Debug)]
struct Operation {
    classes: [Counter; CLASSES.len()],
    duration: Spread,
}

impl Default for Operation {
    fn default() -> Self {
        Self { classes: Default::default(), duration: Spread::over(REQUEST_MICROS) }
    }
}

/// All counts of the HTTP side.
#[derive(Debug, Default)]
pub struct Counts {
    /// Open connections.
    pub connections: Level,
    /// Connections that were accepted so far.
    pub accepted: Counter,
    /// Connections that were closed at once, because their address had as many as it may.
    pub turned_away: Counter,
    /// Requests that were refused because of their number, in the order of [`Bucket::ALL`].
    limited: [Counter; Bucket::ALL.len()],
    /// Requests that are being answered.
    running: Level,
    operations: BTreeMap<&'static str, Operation>,
    unknown: Operation,
    logins: [[Counter; OUTCOMES.len()]; GRANTS.len()],
    locks: [Counter; LOCKED.len()],
    webhooks: [Counter; DELIVERED.len()],
}

impl Counts {
    /// Nothing counted yet, for these operations.
    pub fn of(operations: impl Iterator<Item = &'static str>) -> Self {
        Self { operations: operations.map(|name| (name, Operation::default())).collect(), ..Self::default() }
    }

    /// A request that is being answered, until the answer is dropped.
    pub fn begin(&self) -> Within {
        self.running.enter()
    }

    /// How many requests are being answered.
    pub fn running(&self) -> u64 {
        self.running.get()
    }

    /// Counts a request at its end.
    pub fn request(&self, operation: &str, status: u16, took: Duration) {
        let counts = self.operations.get(operation).unwrap_or(&self.unknown);
        if let Some(class) = usize::from(status / 100).checked_sub(2).and_then(|at| counts.classes.get(at)) {
            class.one();
        }
        counts.duration.note_time(took);
    }

    /// Counts a login by how it ended.
    pub fn login(&self, grant: usize, refused: Option<&Fault>) {
        self.logins[grant][outcome(refused)].one();
    }

    /// Counts a request that is one too many.
    pub fn limited(&self, bucket: Bucket) {
        self.limited[bucket as usize].one();
    }

    /// The requests that were too many, in the order of [`Bucket::ALL`].
    pub fn all_limited(&self) -> [u64; Bucket::ALL.len()] {
        self.limited.each_ref().map(Counter::get)
    }

    /// Counts a lock that began.
    pub fn lock(&self, operation: &str) {
        self.locks[usize::from(operation == "UnlockDrawer")].one();
    }

    /// Counts a delivery of a webhook.
    pub fn webhook(&self, delivered: bool) {
        self.webhooks[usize::from(!delivered)].one();
    }

    /// The deliveries of webhooks, in the order of [`DELIVERED`].
    pub fn webhooks(&self) -> [u64; DELIVERED.len()] {
        self.webhooks.each_ref().map(Counter::get)
    }

    /// Each operation that was asked for: its name, its answers in the order of [`CLASSES`], and how long
    /// they took.
    pub fn operations(&self) -> Vec<(&'static str, [u64; CLASSES.len()], Counted)> {
        let all = self.operations.iter().map(|(name, counts)| (*name, counts));
        let all = all.chain([(UNKNOWN, &self.unknown)]).map(|(name, counts)| {
            (name, counts.classes.each_ref().map(Counter::get), counts.duration.counted())
        });
        all.filter(|(_, _, duration)| duration.count > 0).collect()
    }

    /// The logins, in the order of [`GRANTS`] and [`OUTCOMES`].
    pub fn logins(&self) -> [[u64; OUTCOMES.len()]; GRANTS.len()] {
        self.logins.each_ref().map(|of_grant| of_grant.each_ref().map(Counter::get))
    }

    /// The locks, in the order of [`LOCKED`].
    pub fn locks(&self) -> [u64; LOCKED.len()] {
        self.locks.each_ref().map(Counter::get)
    }
}

/// The kind of a login, as a place in [`GRANTS`].
pub fn grant(request: &TokenRequest) -> usize {
    match request {
        TokenRequest::Password { .. } => 0,
        TokenRequest::Refresh { .. } => 1,
        TokenRequest::Assertion { .. } => 2,
    }
}

/// How a login ended, as a place in [`OUTCOMES`].
fn outcome(refused: Option<&Fault>) -> usize {
    match refused.map(|fault| fault.kind) {
        None => 0,
        Some(fault::TOO_MANY_ATTEMPTS) => 2,
        // The password was right, and the program asks for the code now.
        Some(fault::SECOND_FACTOR_REQUIRED) => 3,
        Some(kind) if kind.status >= 500 => 4,
        Some(_) => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_counts_for_its_operation_and_its_class() {
        let counts = Counts::of(["ListOffices", "GetOffice"].into_iter());
        counts.request("GetOffice", 200, Duration::from_millis(3));
        counts.request("GetOffice", 499, Duration::from_millis(3));
        counts.request("/offices", 405, Duration::ZERO);
        let seen: Vec<_> =
            counts.operations().into_iter().map(|(name, classes, d)| (name, classes, d.sum)).collect();
        assert_eq!(seen, [("GetOffice", [1, 0, 1, 0], 6000), (UNKNOWN, [0, 0, 1, 0], 0)]);
    }

    #[test]
    fn a_login_counts_by_how_it_ended() {
        let counts = Counts::default();
        counts.login(0, None);
        for kind in [fault::LOGIN_FAILED, fault::TOO_MANY_ATTEMPTS, fault::SECOND_FACTOR_REQUIRED] {
            counts.login(0, Some(&Fault::new(kind, "")));
        }
        counts.login(2, Some(&Fault::new(fault::UNAVAILABLE, "")));
        assert_eq!(counts.logins(), [[1, 1, 1, 1, 0], [0; 5], [0, 0, 0, 0, 1]]);
    }
}
