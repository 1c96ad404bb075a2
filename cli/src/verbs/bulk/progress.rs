//! Progress of an import: a bar for a person at a terminal, a line of JSON now and then for a program.

use crate::output::Output;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde_json::json;
use std::io::{Write, stderr};
use std::time::{Duration, Instant};

/// Time between two lines.
const LINES_EVERY: Duration = Duration::from_secs(1);

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    pub rows: u64,
    pub created: u64,
    pub updated: u64,
    /// They were done in an earlier run, which is not counted again.
    pub before: u64,
    /// Their records existed already.
    pub skipped: u64,
    /// They would be done.
    pub valid: u64,
    pub failed: u64,
}

pub struct Progress {
    begun: Instant,
    reported: Instant,
    bytes: Option<u64>,
    shown: Shown,
}

enum Shown {
    Bar(ProgressBar),
    Lines,
    Nothing,
}

impl Progress {
    /// Begins with a file of so many bytes.
    pub fn begin(out: &Output, bytes: Option<u64>) -> Self {
        let shown = match (out.quiet, out.screen.stderr_is_terminal) {
            (true, _) => Shown::Nothing,
            (false, false) => Shown::Lines,
            (false, true) => Shown::Bar(bar(bytes)),
        };
        let now = Instant::now();
        Self { begun: now, reported: now, bytes: bytes.filter(|bytes| *bytes > 0), shown }
    }

    /// Reports more rows, which end at this byte of the file.
    pub fn report(&mut self, counts: Counts, position: u64) {
        let rate = self.rate(counts.rows - counts.before);
        match &self.shown {
            Shown::Nothing => {}
            Shown::Bar(bar) => {
                bar.set_position(position);
                let failed =
                    if counts.failed > 0 { format!(", {} failed", counts.failed) } else { String::new() };
                bar.set_message(format!("{} rows, {rate}/s{failed}", counts.rows));
            }
            Shown::Lines if self.reported.elapsed() >= LINES_EVERY => {
                self.reported = Instant::now();
                self.line(counts, position, rate);
            }
            Shown::Lines => {}
        }
    }

    /// Rows in a second.
    pub fn rate(&self, rows: u64) -> u64 {
        let millis = u64::try_from(self.begun.elapsed().as_millis()).unwrap_or(u64::MAX).max(1);
        rows.saturating_mul(1000) / millis
    }

    fn line(&self, counts: Counts, position: u64, rate: u64) {
        let left = self.bytes.filter(|_| position > 0).map(|bytes| {
            let millis = u64::try_from(self.begun.elapsed().as_millis()).unwrap_or(u64::MAX);
            millis.saturating_mul(bytes.saturating_sub(position)) / position / 1000
        });
        let done = counts.created + counts.updated + counts.valid;
        let line = json!({ "progress": {
            "rows": counts.rows, "done": done, "doneBefore": counts.before, "skipped": counts.skipped,
            "failed": counts.failed, "rowsPerSecond": rate, "secondsLeft": left,
        } });
        let _ = writeln!(stderr(), "{line}");
    }

    /// Takes the bar away.
    pub fn end(&self) {
        if let Shown::Bar(bar) = &self.shown {
            bar.finish_and_clear();
        }
    }
}

#[expect(clippy::expect_used, reason = "both templates are literals that every bar uses")]
fn bar(bytes: Option<u64>) -> ProgressBar {
    let (bar, template) = match bytes {
        Some(bytes) => (ProgressBar::new(bytes), "{wide_bar} {percent}% {msg}, {eta} left"),
        None => (ProgressBar::no_length(), "{spinner} {msg}"),
    };
    bar.set_draw_target(ProgressDrawTarget::stderr());
    bar.set_style(ProgressStyle::with_template(template).expect("a template"));
    bar
}
