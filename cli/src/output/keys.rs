//! The terminal while it is read key by key: it shows nothing that is typed, and a process that a signal ends
//! has to put that right.

use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcsetattr};
use std::fs::File;
use std::io::{Write, stderr};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The terminal with its modes before.
static BEFORE: Mutex<Option<(File, Termios)>> = Mutex::new(None);

fn before() -> MutexGuard<'static, Option<(File, Termios)>> {
    BEFORE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The terminal is read key by key, as long as this value is there.
pub struct ByKey(());

impl ByKey {
    pub fn begin() -> Self {
        let modes = |terminal: File| tcgetattr(&terminal).ok().map(|modes| (terminal, modes));
        *before() = File::open("/dev/tty").ok().and_then(modes);
        Self(())
    }

    /// The same where Ctrl-C is read like any other key, from here on: between a question and its answer it
    /// would be a signal that nobody expects.
    pub fn without_signals() -> Self {
        let by_key = Self::begin();
        if let Some((terminal, modes)) = &*before() {
            let mut modes = modes.clone();
            modes.local_modes -= LocalModes::ISIG | LocalModes::ECHO;
            let _ = tcsetattr(terminal, OptionalActions::Now, &modes);
        }
        by_key
    }

    /// Gives the terminal its modes again, before the process ends in the middle of a question.
    pub fn put_back() {
        if restore() {
            // A list hides the cursor, and no answer ends the line of a question.
            let _ = writeln!(stderr(), "\x1b[?25h");
        }
    }
}

impl Drop for ByKey {
    fn drop(&mut self) {
        restore();
    }
}

/// Gives the terminal its modes again, once; whether it was to be done.
fn restore() -> bool {
    let Some((terminal, modes)) = before().take() else { return false };
    let _ = tcsetattr(terminal, OptionalActions::Now, &modes);
    true
}
