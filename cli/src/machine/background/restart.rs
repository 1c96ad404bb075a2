//! `mfa daemon restart`: the same flags and the same store, with the settings as they are now.

use super::mark::{Mark, Place};
use super::{listening, reach, report, start, stop};
use crate::command::cx::Cx;
use crate::command::verb::Verb;
use crate::failure::{Failure, Outcome, codes};
use crate::machine::daemon::DaemonFlags;
use crate::words::quoted;
use clap::Args;
use mfa_shared::fault::exit;

#[derive(Args)]
pub struct Restart {
    #[command(flatten)]
    flags: DaemonFlags,
}

impl Verb for Restart {
    const ABOUT: &'static str = "Stop the daemon in the background and start it again with the same flags";
    const EXAMPLES: &'static [&'static str] =
        &["mfa daemon restart", "mfa daemon restart --strict-references true"];
    const EXITS: &'static [i32] = &[exit::CONFLICT, exit::LOCKED];
    async fn run(self, cx: &Cx) -> Outcome {
        let (listen, _) = reach(cx, &self.flags)?;
        let flags = match Place::of_port(listen.port())?.running() {
            Some(was) => {
                let flags = repeated(self.flags.clone(), was.clone());
                refuse_another_store(cx, &flags, &was, &listening(&self.flags))?;
                flags
            }
            None => self.flags.clone(),
        };
        // With the flags of this command, which find the daemon.
        stop(cx, &self.flags).await?;
        start(cx, &flags).await?;
        report(cx, &flags).await
    }
}

/// The flags of a restart: its own, else those of the start. What was a setting follows the settings.
fn repeated(flags: DaemonFlags, was: Mark) -> DaemonFlags {
    let (tls_cert, tls_key) = match (flags.tls_cert, was.tls_flags) {
        (None, Some((certificate, key))) => (Some(certificate), Some(key)),
        (given, _) => (given, flags.tls_key),
    };
    DaemonFlags {
        data_dir: flags.data_dir.or(was.data_dir_flag),
        store: flags.store.or(was.store_flag),
        listen: flags.listen.or(was.listen_flag),
        plaintext: flags.plaintext.or(was.plaintext_flag),
        tls_cert,
        tls_key,
        auth: flags.auth.or(was.auth_flag),
        strict_references: flags.strict_references.or(was.strict_flag),
    }
}

/// Refuses a restart that would serve another store than the daemon does, such as an empty one where a
/// variable is missing.
fn refuse_another_store(cx: &Cx, flags: &DaemonFlags, was: &Mark, listening: &str) -> Outcome {
    let database = flags.shown_store(cx);
    let folder = std::path::absolute(flags.data_dir(cx)?)?;
    if was.serves(&database, &folder) {
        return Ok(());
    }
    let served = was.shown_store();
    let folder_flag = || format!("--data-dir {}", quoted(&served));
    let again = match (was.store.is_empty(), database.is_empty()) {
        (true, true) => format!("to keep the store: mfa daemon restart{listening} {}", folder_flag()),
        (true, false) => {
            format!("to keep the store: mfa daemon restart{listening} --store '' {}", folder_flag())
        }
        (false, _) => {
            let flag = format!("--store {}", quoted(&served));
            format!("to keep the store, set MFA_STORE again, or: mfa daemon restart{listening} {flag}")
        }
    };
    let next = if database.is_empty() { folder.display().to_string() } else { database };
    let what = format!("the daemon at {} serves {served}, and a restart would serve {next}", was.url);
    let change = format!("to change it: mfa daemon stop{listening}, then mfa daemon start{listening}");
    Err(Failure::new(codes::ANOTHER_STORE, what).hint(format!("{again}; {change}")))
}
