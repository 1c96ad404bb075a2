//! The terminal: its size, whether it shows colour, its pager, and who has it.

use crate::output::{Colour, escaped_lines, wrap};
use std::io::{IsTerminal, Write, stderr, stdout};
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use terminal_size::{Height, Width, terminal_size_of};

/// The terminal.
#[derive(Debug, Clone, Copy)]
pub struct Screen {
    pub stdout_is_terminal: bool,
    pub stderr_is_terminal: bool,
    /// Columns that a table may use.
    pub width: u16,
    /// Columns that a message may use.
    pub message_width: u16,
    /// Lines that are seen at once.
    pub lines: usize,
    pub stdout_colour: bool,
    pub stderr_colour: bool,
}

impl Screen {
    /// Looks at the terminal of this process.
    pub fn look(colour: Colour) -> Self {
        let (stdout_is_terminal, stderr_is_terminal) = (stdout().is_terminal(), stderr().is_terminal());
        let size = terminal_size_of(stdout());
        let given = std::env::var("COLUMNS").ok().and_then(|text| text.parse().ok());
        let width = size.map(|(Width(width), _)| width).filter(|width| *width > 0).or(given);
        let message_width = terminal_size_of(stderr()).map(|(Width(width), _)| width);
        let lines = size.map_or(usize::MAX, |(_, Height(lines))| usize::from(lines));
        Self {
            stdout_is_terminal,
            stderr_is_terminal,
            width: width.unwrap_or(u16::MAX),
            message_width: message_width.filter(|width| *width > 0).unwrap_or(u16::MAX),
            lines,
            stdout_colour: takes_colour(colour, stdout_is_terminal),
            stderr_colour: takes_colour(colour, stderr_is_terminal),
        }
    }

    /// A message for stderr behind a label of so many columns: nothing in it can steer a terminal, and its
    /// lines end between words.
    pub fn message(&self, text: &str, before: usize) -> String {
        wrap::message(&escaped_lines(text), before, self.message_width)
    }

    /// A word for stderr in a colour, where stderr takes colour.
    pub fn mark(&self, word: &str, code: &str) -> String {
        if self.stderr_colour { format!("\x1b[{code}m{word}\x1b[0m") } else { word.to_owned() }
    }
}

fn takes_colour(colour: Colour, is_terminal: bool) -> bool {
    let set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    match colour {
        Colour::Always => true,
        Colour::Never => false,
        Colour::Auto if set("NO_COLOR") => false,
        Colour::Auto if set("CLICOLOR_FORCE") => std::env::var("CLICOLOR_FORCE").is_ok_and(|v| v != "0"),
        Colour::Auto => is_terminal && std::env::var("TERM").map_or(true, |term| term != "dumb"),
    }
}

/// Shows text in the pager; returns false if no pager starts.
pub fn page(pager: &str, text: &str) -> bool {
    let mut words = pager.split_whitespace();
    let Some(program) = words.next() else { return false };
    let lent = Lent::begin();
    let Ok(mut child) = Command::new(program).args(words).stdin(Stdio::piped()).spawn() else { return false };
    if let Some(mut stdin) = child.stdin.take() {
        // A pager may be closed before it has read everything.
        let _ = stdin.write_all(text.as_bytes());
    }
    let ended = child.wait();
    if ended.as_ref().is_ok_and(|status| status.signal().is_some()) {
        lent.for_good();
    }
    ended.is_ok()
}

/// Whether there is a [`Lent`].
static LENT: AtomicBool = AtomicBool::new(false);

/// The terminal is lent to a pager, an editor or a hidden question, as long as this value is there. A Ctrl-C
/// is meant for them: to end here would leave two programs reading the same keys, or a terminal without echo.
pub struct Lent(());

impl Lent {
    pub fn begin() -> Self {
        LENT.store(true, SeqCst);
        Self(())
    }

    /// Of a Ctrl-C that has ended what had the terminal, this process may hear later: it is not meant twice.
    pub fn for_good(self) {
        std::mem::forget(self);
    }

    /// Whether something else has the terminal.
    pub fn is_there() -> bool {
        LENT.load(SeqCst)
    }
}

impl Drop for Lent {
    fn drop(&mut self) {
        LENT.store(false, SeqCst);
    }
}
