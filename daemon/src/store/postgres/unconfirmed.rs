//! Commits that the database does not confirm. While its standby is away, a commit waits at the server for as
//! long as that takes: no limit of the server ends it, and its process and its locks stay when nobody waits
//! for it here any more. To cancel it would show the change without its replica. So after one such commit no
//! other one begins until the server says that none waits: else they would take all its connections, also
//! those for reads.

use super::trouble::unavailable;
use mfa_shared::fault::Fault;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Pause between two questions.
const ASK_PAUSE: Duration = Duration::from_millis(500);
/// Whether any commit of this user waits for its standby for longer than is usual.
pub(super) const ANY_WAITS: &str = "select exists (select 1 from pg_stat_activity \
    where usename = session_user and wait_event = 'SyncRep' \
    and query_start < clock_timestamp() - interval '3 s')";

/// Whether commits wait in vain.
#[derive(Debug, Default)]
pub(super) struct Unconfirmed(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    marked: bool,
    asked: Option<Instant>,
}

impl Unconfirmed {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes that a commit was not answered in time.
    pub(super) fn mark(&self) {
        if !std::mem::replace(&mut self.state().marked, true) {
            tracing::warn!("the database does not confirm commits; changes are refused until it does");
        }
    }

    /// Why no commit begins at present.
    pub(super) fn fault(&self) -> Option<Fault> {
        let detail = "the database does not confirm commits, so nothing was changed: check whether its \
                      standby is away";
        self.state().marked.then(|| unavailable(detail))
    }

    /// Notes that the server says that none waits.
    pub(super) fn clear(&self) {
        self.state().marked = false;
        tracing::info!("the database confirms commits again");
    }

    /// Whether the server is to be asked: now and then, while there is a doubt.
    pub(super) fn is_to_ask(&self) -> bool {
        let mut state = self.state();
        let is_to_ask = state.marked && state.asked.is_none_or(|asked| asked.elapsed() > ASK_PAUSE);
        if is_to_ask {
            state.asked = Some(Instant::now());
        }
        is_to_ask
    }
}
