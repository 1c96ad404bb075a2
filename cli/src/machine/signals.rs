//! Signals of the system.

use crate::failure::{Failure, Outcome};
use tokio::signal::unix::{Signal, SignalKind, signal};

/// Listens for a signal; one that arrives from then on is kept, even while nothing waits for it.
pub fn listen(kind: SignalKind) -> Outcome<Signal> {
    signal(kind).map_err(|error| Failure::local(format!("cannot listen for signals: {error}")))
}
