//! What can be seen of a store without a daemon, and beside one.

use super::DaemonFlags;
use crate::cx::Cx;
use crate::failure::Outcome;
use mfa_daemon::{look_at_images, look_at_journal, look_at_key_file};
use std::path::{Path, PathBuf};
use std::time::Instant;

pub use mfa_daemon::{ImagesSeen, JournalSeen, KeyFileSeen};

/// Whether a daemon would take the settings.
pub fn settings(cx: &Cx, flags: &DaemonFlags) -> Outcome {
    flags.config(cx).map(drop)
}

/// The key file and what is the case with it; nothing where the settings cannot be read.
pub fn key_file(cx: &Cx, flags: &DaemonFlags, deadline: Instant) -> Option<(PathBuf, KeyFileSeen)> {
    let config = flags.config(cx).ok()?;
    let seen = look_at_key_file(&config, deadline);
    Some((config.secret_key_file, seen))
}

/// The journal in a folder, or what is wrong with it.
pub fn journal(folder: &Path, deadline: Instant) -> Result<JournalSeen, String> {
    look_at_journal(folder, deadline).map_err(|error| error.to_string())
}

/// Images in a folder, as many as can be read before `deadline`.
pub fn images(folder: &Path, deadline: Instant) -> ImagesSeen {
    look_at_images(folder, deadline)
}
