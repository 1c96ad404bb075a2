//! Another daemon at the address, or another start of one.

use super::mark::Place;
use super::{START_MAX, listening};
use crate::client::Client;
use crate::command::cx::Cx;
use crate::failure::{Failure, Outcome, codes};
use crate::machine::daemon::DaemonFlags;
use crate::settings::{Origin, files};
use std::fs;
use std::io::ErrorKind;
use std::path::Path;

/// Whether a daemon serves already.
pub(super) async fn serves(cx: &Cx, flags: &DaemonFlags, place: &Place, client: &Client) -> Outcome<bool> {
    if !super::serves(client).await {
        return Ok(false);
    }
    refuse_store(cx, flags, place, &client.url)?;
    cx.out.tip(&format!("a daemon serves at {} already", client.url));
    Ok(true)
}

/// Waits for another start of the same daemon to end, and keeps others away until the value ends.
pub(super) async fn wait_for_start(place: &Place, url: &str) -> Outcome<fs::File> {
    let taken = files::lock(&place.mark.with_extension("lock"), START_MAX).await?;
    taken.ok_or_else(|| {
        let what = format!("another mfa daemon start at {url} is still under way");
        Failure::new(codes::DAEMON_NOT_READY, what).hint("wait for it or end it, then repeat this one")
    })
}

/// Refuses a daemon that serves already but for a different store than the one asked for. If a daemon was not
/// started here, only the lock of the folder says whether it is in use.
fn refuse_store(cx: &Cx, flags: &DaemonFlags, place: &Place, url: &str) -> Outcome {
    let named = flags.data_dir.is_some() || *cx.settings.get("data_dir").1 != Origin::Default;
    let asked = flags.shown_store(cx);
    let wanted = std::path::absolute(flags.data_dir(cx)?)?;
    let (served, other) = match place.running() {
        Some(mark) => (mark.shown_store(), !mark.serves(&asked, &wanted)),
        None => ("another store".to_owned(), asked.is_empty() && !may_be_locked(&wanted.join("lock"))),
    };
    if !other || (asked.is_empty() && !named) {
        return Ok(());
    }
    let asked = if asked.is_empty() { wanted.display().to_string() } else { asked };
    let what = format!("a daemon serves {served} at {url} already, and not {asked}");
    Err(Failure::new(codes::ANOTHER_STORE, what).hint(format!(
        "choose another address with --listen, or stop it first: mfa daemon stop{}",
        listening(flags)
    )))
}

/// Whether a running daemon has the lock of its folder, or may have it: the folder of a service shows
/// nothing to other users.
fn may_be_locked(file: &Path) -> bool {
    match fs::File::open(file) {
        Ok(file) => matches!(file.try_lock(), Err(fs::TryLockError::WouldBlock)),
        Err(error) => error.kind() == ErrorKind::PermissionDenied,
    }
}
