//! The log of the daemon in the background.

use super::mark::Place;
use super::reach;
use crate::command::cx::Cx;
use crate::command::verb::Verb;
use crate::failure::{Failure, Outcome};
use crate::machine::daemon::DaemonFlags;
use clap::Args;
use mfa_shared::fault::exit;
use std::fs;
use std::path::Path;
use std::time::Duration;

/// Wait between two looks at a log that is followed.
const FOLLOW_MILLIS: u64 = 200;

#[derive(Args)]
pub struct Logs {
    /// Address that the daemon listens on [env: MFA_LISTEN]
    #[arg(long, value_name = "ADDRESS:PORT")]
    listen: Option<String>,
    /// Lines to show
    #[arg(long, value_name = "NUMBER", default_value_t = 100)]
    lines: usize,
    /// Follow the log as it grows
    #[arg(long)]
    follow: bool,
}

impl Verb for Logs {
    const ABOUT: &'static str = "Show the log of the daemon in the background";
    const EXAMPLES: &'static [&'static str] = &["mfa daemon logs", "mfa daemon logs --lines 20"];
    async fn run(self, cx: &Cx) -> Outcome {
        let flags = DaemonFlags { listen: self.listen, ..DaemonFlags::default() };
        let (listen, _) = reach(cx, &flags)?;
        let place = Place::of_port(listen.port())?;
        let Ok(length) = fs::metadata(&place.log).map(|file| file.len()) else {
            let what = format!("no daemon has logged to {}", place.log.display());
            return Err(Failure::new("no_log", exit::NOT_FOUND, what)
                .hint("start one: mfa daemon start; the log of a service: journalctl -u mfa -e"));
        };
        let tail = place.log_tail(self.lines, 0);
        cx.out.document("log", &(tail + "\n"))?;
        if self.follow {
            return follow(cx, &place.log, length).await;
        }
        Ok(())
    }
}

/// Shows what is appended to a log, until interrupted.
async fn follow(cx: &Cx, log: &Path, length: u64) -> Outcome {
    let mut seen = usize::try_from(length).unwrap_or(0);
    loop {
        tokio::time::sleep(Duration::from_millis(FOLLOW_MILLIS)).await;
        let text = fs::read(log).unwrap_or_default();
        let new = text.get(seen..).unwrap_or_default();
        if !new.is_empty() {
            cx.out.document("log", &String::from_utf8_lossy(new))?;
        }
        seen = text.len();
    }
}
