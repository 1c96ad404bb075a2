//! A daemon at the address that already serves another store.

use super::{Place, listening, runs};
use crate::command::cx::Cx;
use crate::failure::{Failure, Outcome};
use crate::machine::daemon::DaemonFlags;
use crate::settings::Origin;
use mfa_shared::fault::exit;
use std::fs;
use std::io::ErrorKind;
use std::path::Path;

/// Refuses a daemon that serves already but for a different store than the one asked for. If a daemon was not
/// started here, only the lock of the folder says whether it is in use.
pub(super) fn refuse_store(cx: &Cx, flags: &DaemonFlags, place: &Place, url: &str) -> Outcome {
    let named = flags.data_dir.is_some() || *cx.settings.get("data_dir").1 != Origin::Default;
    let asked = flags.shown_store(cx);
    let wanted = std::path::absolute(flags.data_dir(cx)?)?;
    let real = |folder: &Path| folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    let mark = place.mark().filter(|mark| runs(mark.pid));
    let (served, other) = match &mark {
        Some(mark) if !mark.store.is_empty() => (mark.store.clone(), mark.store != asked),
        Some(mark) => {
            let same = asked.is_empty() && real(&mark.data_dir) == real(&wanted);
            (mark.data_dir.display().to_string(), !same)
        }
        None => ("another store".to_owned(), asked.is_empty() && !may_be_locked(&wanted.join("lock"))),
    };
    if !other || (asked.is_empty() && !named) {
        return Ok(());
    }
    let asked = if asked.is_empty() { wanted.display().to_string() } else { asked };
    let what = format!("a daemon serves {served} at {url} already, and not {asked}");
    Err(Failure::new("serves_another_store", exit::CONFLICT, what).hint(format!(
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
