//! What a command says on stderr beside its result. Where its failure would be one line of JSON there, it is
//! held until the command has ended, so that a program finds nothing else before that line.

use std::io::{self, Write, stderr};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// What is held; nothing while everything is said at once.
static HELD: Mutex<Option<Vec<Line>>> = Mutex::new(None);

struct Line {
    /// As it is shown.
    shown: String,
    /// What a warning says; a failure in JSON has it as well.
    warning: Option<String>,
}

fn held() -> MutexGuard<'static, Option<Vec<Line>>> {
    HELD.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Holds everything from here on.
pub fn hold() {
    *held() = Some(Vec::new());
}

/// Shows a line, or holds it; `warning` is what it says if it is one.
pub(super) fn put(shown: String, warning: Option<&str>) -> io::Result<()> {
    match held().as_mut() {
        Some(lines) => lines.push(Line { shown, warning: warning.map(str::to_owned) }),
        None => writeln!(stderr(), "{shown}")?,
    }
    Ok(())
}

/// Shows what was held.
pub fn release() {
    for line in held().take().into_iter().flatten() {
        let _ = writeln!(stderr(), "{}", line.shown);
    }
}

/// The warnings among what was held; the rest does not matter once the command has failed.
pub(super) fn warnings() -> Vec<String> {
    held().take().into_iter().flatten().filter_map(|line| line.warning).collect()
}
