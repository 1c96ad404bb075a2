//! What can be read from a store, with or without a daemon.

use super::DaemonFlags;
use crate::command::cx::Cx;
use crate::failure::{Failure, Outcome};
use mfa_daemon::{
    BackupSchedule, CertificateFacts, TlsFiles, is_backup_name, look_at_certificate, look_at_database,
    look_at_files, look_at_images, look_at_journal, look_at_key_file, store_and_moment,
};
use mfa_shared::time::Timestamp;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::Instant;

pub use mfa_daemon::{FilesSeen, HeldBack, ImagesSeen, JournalSeen, KeyFileSeen};

/// Whether a daemon would take the settings.
pub fn settings(cx: &Cx, flags: &DaemonFlags) -> Outcome {
    flags.config(cx)?.tls_files().map(drop).map_err(Failure::usage)
}

/// The files of the certificate, and what they present to clients or what is wrong with them; nothing if the
/// daemon does not use TLS.
pub fn certificate(cx: &Cx, flags: &DaemonFlags) -> Option<(TlsFiles, Result<CertificateFacts, String>)> {
    let files = flags.config(cx).ok()?.tls_files().ok()??;
    let looked = look_at_certificate(&files);
    Some((files, looked))
}

/// What the daemon may open: the one that serves the store in a folder, else one that is started here.
pub fn files(cx: &Cx, flags: &DaemonFlags, folder: &Path) -> Option<FilesSeen> {
    let config = flags.config(cx).ok()?;
    // The process that holds the lock has written its number into it.
    let lock = folder.join("lock");
    let held = File::open(&lock).is_ok_and(|file| file.try_lock().is_err());
    let holder = fs::read_to_string(&lock).ok().filter(|_| held).and_then(|text| text.trim().parse().ok());
    Some(look_at_files(&config, holder))
}

/// The folder of the scheduled backups, and the moment of the last one in it; nothing if there is no
/// schedule.
pub fn backups(cx: &Cx, flags: &DaemonFlags) -> Option<(PathBuf, Option<Timestamp>)> {
    let dir = flags.config(cx).ok()?.backups?.dir;
    let last = last_backup(&dir).map(|(moment, _)| moment);
    Some((dir, last))
}

/// The backup schedule of the daemon, as this machine is set up.
pub fn schedule(cx: &Cx) -> Outcome<Option<BackupSchedule>> {
    super::config::backups(&cx.settings)
}

/// The last backup in a folder, and its moment.
pub fn last_backup(dir: &Path) -> Option<(Timestamp, PathBuf)> {
    let files = fs::read_dir(dir).into_iter().flatten().flatten().map(|entry| entry.path());
    let files = files.filter(|file| is_backup_name(file));
    files.filter_map(|file| Some((store_and_moment(&file)?.1, file))).max()
}

/// The key file and its state; nothing where the settings cannot be read.
pub fn key_file(cx: &Cx, flags: &DaemonFlags, deadline: Instant) -> Option<(PathBuf, KeyFileSeen)> {
    let config = flags.config(cx).ok()?;
    let seen = look_at_key_file(&config, deadline);
    Some((config.secret_key_file, seen))
}

/// What holds back the audit trail of a store in PostgreSQL, or why that cannot be seen; nothing where the
/// store is a folder.
pub async fn database(cx: &Cx, flags: &DaemonFlags) -> Option<Result<Option<HeldBack>, String>> {
    let config = flags.config(cx).ok()?;
    let address = config.store.postgres()?;
    Some(look_at_database(address).await.map_err(|error| error.to_string()))
}

/// The hosts of a store in PostgreSQL that somebody on the network could take the place of, if there are any;
/// nothing where the store is a folder.
pub fn unverified(cx: &Cx, flags: &DaemonFlags) -> Option<Option<String>> {
    Some(flags.config(cx).ok()?.store.postgres()?.unverified())
}

/// The journal in a folder, or what is wrong with it.
pub fn journal(folder: &Path, deadline: Instant) -> Result<JournalSeen, String> {
    look_at_journal(folder, deadline).map_err(|error| error.to_string())
}

/// Images in a folder, as many as can be read before `deadline`.
pub fn images(folder: &Path, deadline: Instant) -> ImagesSeen {
    look_at_images(folder, deadline)
}
