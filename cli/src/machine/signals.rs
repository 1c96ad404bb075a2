//! Signals of the system.

use crate::failure::{Failure, Outcome};
use tokio::signal::unix::{Signal, SignalKind, signal};

/// Listens for a signal; what comes from then on is heard, also while nobody waits for it.
pub fn listen(kind: SignalKind) -> Outcome<Signal> {
    signal(kind).map_err(|error| Failure::local(format!("cannot listen for signals: {error}")))
}
