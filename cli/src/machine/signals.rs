//! Signals of the system.

use crate::failure::{Failure, Outcome};
use mfa_shared::fault::exit;
use std::fs;
use std::io::{IsTerminal, stdin};
use tokio::signal::unix::{Signal, SignalKind, signal};

/// Listens for a signal; one that arrives from then on is kept, even while nothing waits for it.
pub fn listen(kind: SignalKind) -> Outcome<Signal> {
    signal(kind).map_err(|error| Failure::local(format!("cannot listen for signals: {error}")))
}

/// The signals that end a command.
pub struct Endings {
    int: Signal,
    term: Signal,
    hangup: Option<Signal>,
}

impl Endings {
    /// Listens for Ctrl-C, SIGTERM, and the end of the terminal or the session, unless the command was begun
    /// to outlive that, as by `nohup`.
    pub fn listen() -> Outcome<Self> {
        let hangup = if ignores_hangup() { None } else { Some(listen(SignalKind::hangup())?) };
        let (int, term) = (listen(SignalKind::interrupt())?, listen(SignalKind::terminate())?);
        Ok(Self { int, term, hangup })
    }

    /// Waits for one; the exit code of a command that it ends.
    pub async fn next(&mut self) -> i32 {
        let hung_up = async {
            match &mut self.hangup {
                Some(hangup) => hangup.recv().await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            _ = self.int.recv() => exit::INTERRUPTED,
            _ = self.term.recv() => exit::TERMINATED,
            _ = hung_up => exit::HUNG_UP,
        }
    }
}

/// Whether SIGHUP is ignored, which listening for it would undo. Where the system does not say, it may be,
/// unless a terminal is there to be put back as it was.
fn ignores_hangup() -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    // The first signal has the lowest bit, and SIGHUP is the first.
    let mask = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    mask.map_or_else(|| !stdin().is_terminal(), |mask| mask & 1 == 1)
}
