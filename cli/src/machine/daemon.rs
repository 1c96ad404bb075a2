//! The daemon in this process, and work on its store while it is stopped. Nothing outside of this file and
//! its folder names the daemon's library.

pub mod admin;
pub mod check;
mod config;
mod init;
pub mod look;
pub mod migrate;

use crate::command::cx::Cx;
use crate::command::verb::Verb;
use crate::failure::{Failure, Outcome, codes};
use crate::machine::log;
use crate::machine::signals::listen;
use crate::output::{Format, talk};
use clap::Args;
use mfa_daemon::{Clock, Daemon, StartError};
use mfa_shared::fault::{UNAVAILABLE, exit};
use sd_notify::NotifyState;
use serde_json::json;
use std::io::{Write, stdout};
use std::net::SocketAddr;
use tokio::signal::unix::SignalKind;

pub use config::{DaemonFlags, address, shown_store};
pub use init::{Init, add_accounts, first_users};

#[derive(Args)]
pub struct Run {
    #[command(flatten)]
    flags: DaemonFlags,
}

impl Verb for Run {
    const ABOUT: &'static str = "Run the daemon in the foreground until it is stopped";
    const EXAMPLES: &'static [&'static str] =
        &["mfa daemon run", "mfa daemon run --data-dir /var/lib/mfa/store --listen 127.0.0.1:6320 --auth on"];
    const SERVES: bool = true;
    async fn run(self, cx: &Cx) -> Outcome {
        let listen = cx.settings.parse::<SocketAddr>("listen", self.flags.listen.as_deref()).ok();
        log::to_stderr(cx, listen.and_then(|listen| log::log_file(listen.port()).ok()))?;
        serve(cx, &self.flags, async |_| Ok(())).await
    }
}

/// Serves until a signal comes, or until the store takes no writes any more. `welcome` runs before the
/// address is printed.
pub async fn serve(cx: &Cx, flags: &DaemonFlags, welcome: impl AsyncFnOnce(&str) -> Outcome) -> Outcome {
    let mut term = listen(SignalKind::terminate())?;
    let mut int = listen(SignalKind::interrupt())?;
    // A daemon outlives the terminal that started it.
    let mut hangup = listen(SignalKind::hangup())?;
    let daemon = Daemon::start(flags.config(cx)?, Clock::system()).await.map_err(not_started)?;
    let url = daemon.url();
    let welcomed = async {
        welcome(&url).await?;
        let ready = match cx.out.format {
            Format::Id => url.clone(),
            format if format.is_structured() => json!({ "url": url, "status": "up" }).to_string(),
            _ => format!("mfa daemon listens on {url}"),
        };
        let _ = writeln!(stdout(), "{ready}");
        // From now on there is no end to wait for.
        talk::release();
        notify_systemd(NotifyState::Ready);
        std::future::pending::<Outcome>().await
    };
    let reloading = async {
        while hangup.recv().await.is_some() {
            daemon.reload();
        }
        std::future::pending::<Outcome>().await
    };
    let ended = tokio::select! {
        ended = reloading => ended,
        failed = welcomed => failed,
        why = daemon.failed() => Err(Failure::new(codes::DAEMON_FAILED, why)),
        _ = term.recv() => Ok(()),
        _ = int.recv() => Ok(()),
    };
    notify_systemd(NotifyState::Stopping);
    tokio::select! {
        () = daemon.stop() => return ended,
        _ = term.recv() => {}
        _ = int.recv() => {}
    }
    log::end();
    std::process::exit(exit::INTERRUPTED)
}

/// Notifies the service manager, if one has started this process.
fn notify_systemd(state: NotifyState<'_>) {
    if let Err(error) = sd_notify::notify(&[state]) {
        tracing::warn!(%error, "the service manager cannot be notified");
    }
}

pub fn not_started(error: StartError) -> Failure {
    let why = error.to_string();
    match error {
        StartError::Locked(_) => Failure::new(codes::STORE_LOCKED, why)
            .hint("stop the daemon that uses it: mfa daemon stop, or of a service: sudo systemctl stop mfa"),
        StartError::Settings(_) => Failure::usage(why).hint("see: mfa config view --origin"),
        StartError::Listen(_) => {
            Failure::new(codes::CANNOT_LISTEN, why).hint("choose another address: --listen")
        }
        StartError::Store(_) => Failure::new(codes::STORE, why),
        // No daemon says when to try again.
        StartError::Refused(fault) if fault.kind == UNAVAILABLE => Failure::from(fault).hint(""),
        StartError::Refused(fault) => Failure::from(fault),
    }
}
