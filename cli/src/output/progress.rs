//! A progress bar on stderr. It appears on a terminal only, and only after a moment.

use super::Output;
use indicatif::{ProgressBar, ProgressStyle};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

/// Work that takes less time needs no bar.
const MOMENT: Duration = Duration::from_millis(400);

impl Output {
    /// Returns a callback that takes the bytes done and the total, and shows them.
    pub fn progress(&self, what: &'static str) -> Arc<dyn Fn(u64, u64) + Send + Sync> {
        if !self.screen.stderr_is_terminal || self.quiet {
            return Arc::new(|_, _| {});
        }
        let begun = Instant::now();
        let bar = OnceLock::new();
        Arc::new(move |done, total| {
            if begun.elapsed() < MOMENT {
                return;
            }
            let bar: &ProgressBar = bar.get_or_init(|| {
                let form = "{msg} {wide_bar} {bytes} of {total_bytes}";
                let style =
                    ProgressStyle::with_template(form).unwrap_or_else(|_| ProgressStyle::default_bar());
                ProgressBar::new(total).with_style(style).with_message(what)
            });
            bar.set_position(done);
            if done == total {
                bar.finish_and_clear();
            }
        })
    }
}
