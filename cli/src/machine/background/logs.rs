//! The log of the daemon in the background.

use super::mark::Place;
use super::reach;
use crate::command::cx::Cx;
use crate::command::verb::Verb;
use crate::failure::{Failure, Outcome, codes};
use crate::machine::daemon::DaemonFlags;
use clap::Args;
use mfa_shared::fault::exit;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::os::unix::fs::MetadataExt;
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
    const EXITS: &'static [i32] = &[exit::NOT_FOUND];
    async fn run(self, cx: &Cx) -> Outcome {
        let flags = DaemonFlags { listen: self.listen, ..DaemonFlags::default() };
        let (listen, _) = reach(cx, &flags)?;
        let place = Place::of_port(listen.port())?;
        let opened = File::open(&place.log).and_then(|mut log| log.seek(SeekFrom::End(0)).map(|_| log));
        let Ok(log) = opened else {
            let what = format!("no daemon has logged to {}", place.log.display());
            return Err(Failure::new(codes::NO_LOG, what)
                .hint("start one: mfa daemon start; the log of a service: journalctl -u mfa -e"));
        };
        let tail = place.last_lines(self.lines);
        cx.out.document("log", &(tail + "\n"))?;
        if self.follow {
            return follow(cx, log, &place.log).await;
        }
        Ok(())
    }
}

/// Shows what is appended to a log behind where it was read, until interrupted, and goes on in the file that
/// takes its place.
async fn follow(cx: &Cx, mut log: File, path: &Path) -> Outcome {
    loop {
        tokio::time::sleep(Duration::from_millis(FOLLOW_MILLIS)).await;
        // Looked at before: what is in the file then is all that will ever be there.
        let next = File::open(path).ok().filter(|next| !is_same(next, &log));
        // Somebody may have emptied it.
        if log.metadata()?.len() < log.stream_position()? {
            log.rewind()?;
        }
        let mut new = Vec::new();
        log.read_to_end(&mut new)?;
        if let Some(next) = next {
            log = next;
            log.read_to_end(&mut new)?;
        }
        if !new.is_empty() {
            cx.out.document("log", &String::from_utf8_lossy(&new))?;
        }
    }
}

fn is_same(one: &File, other: &File) -> bool {
    let identity = |file: &File| file.metadata().map(|file| (file.dev(), file.ino()));
    matches!((identity(one), identity(other)), (Ok(one), Ok(other)) if one == other)
}
