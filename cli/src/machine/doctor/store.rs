//! The store of this machine: its disk, its lock, its journal, its key file.

use super::Finding::{self, Failure, Fine, Warning};
use super::reach::port_here;
use super::{AS_DAEMON, Seen, failed, is_hidden};
use crate::command::cx::Cx;
use crate::failure::Outcome;
use crate::machine::daemon::look::{self, KeyFileSeen};
use crate::machine::session::damaged_images;
use crate::moment::now_seconds;
use crate::words::quoted_path;
use mfa_shared::api::audit::AuditRecord;
use mfa_shared::time::Timestamp;
use mfa_shared::wire::Listed;
use rustix::fs::StatVfsMountFlags;
use std::fs::{self, File};
use std::time::{Duration, Instant};

/// Free bytes of the store's disk below which it needs attention, and below which it is urgent.
const FREE_BYTES_WARN: u64 = 2 << 30;
const FREE_BYTES_FAIL: u64 = 200 << 20;
/// Longest look at the files of a journal.
const JOURNAL_SECONDS_MAX: u64 = 20;
/// Age of the last backup at which a daily one was missed.
const BACKUP_SECONDS_MAX: i64 = 26 * 3600;
/// Longest look at the images.
const IMAGES_SECONDS_MAX: u64 = 3;
const DAY_SECONDS: i64 = 24 * 3600;
/// What to do where the daemon of this machine has another store than the one that is looked at.
const ELSEWHERE: &str = "name its folder: mfa doctor --data-dir DIR, or data_dir in the settings";

/// Whether the scheduled backups of the daemon are there.
pub(super) fn backup(seen: &Seen<'_>) -> Option<Finding> {
    let (dir, last) = look::backups(seen.cx, &seen.flags)?;
    let hidden = is_hidden(fs::read_dir(&dir));
    let mend = format!(
        "see why: mfa daemon logs, of a service journalctl -u mfa -e; one at once: mfa backup create \
         --out {}",
        quoted_path(&dir)
    );
    let dir = dir.display();
    let version = seen.answers.as_ref().and_then(|answers| answers.about.as_ref().ok());
    let failed = version.and_then(|version| version["backupFailedOn"].as_str());
    Some(match (last, failed) {
        (_, Some(on)) => Failure(format!("the backup in {dir} failed on {on}"), mend),
        (None, None) if hidden => {
            let found = format!("{dir} is not readable for this user, so its backups were not seen");
            Warning(found, AS_DAEMON.to_owned())
        }
        (None, None) => Warning(format!("there is no backup in {dir} yet"), mend),
        (Some(last), None) if now_seconds() - last.millis() / 1000 > BACKUP_SECONDS_MAX => {
            Failure(format!("the last backup in {dir} is of {last}"), mend)
        }
        (Some(last), None) => Fine(format!("the last backup in {dir} is of {last}")),
    })
}

fn deadline() -> Instant {
    Instant::now() + Duration::from_secs(JOURNAL_SECONDS_MAX)
}

pub(super) fn disk(seen: &Seen<'_>) -> Option<Finding> {
    let folder = seen.folder.as_path();
    if !seen.on_machine {
        return None;
    }
    let there = folder.ancestors().find(|path| path.exists()).unwrap_or(folder);
    let free = match rustix::fs::statvfs(there) {
        Ok(disk) if disk.f_flag.contains(StatVfsMountFlags::RDONLY) => {
            let found =
                format!("the disk of {} is mounted for reading only, so nothing changes", there.display());
            let mend = "mount it for writing, as root: mount -o remount,rw MOUNTPOINT; then mfa daemon \
                        restart, or of a service: systemctl restart mfa";
            return Some(Failure(found, mend.to_owned()));
        }
        Ok(disk) => disk.f_bavail.saturating_mul(disk.f_frsize),
        Err(error) => {
            let found = format!("cannot look at the disk of {}: {error}", there.display());
            return Some(Warning(found, String::new()));
        }
    };
    let found = format!("{} MiB are free where {} is", free >> 20, there.display());
    let mend = || format!("make room: du -sh {}", quoted_path(folder));
    Some(match free {
        0..FREE_BYTES_FAIL => Failure(found, mend()),
        FREE_BYTES_FAIL..FREE_BYTES_WARN => Warning(found, mend()),
        _ => Fine(found),
    })
}

pub(super) fn store(seen: &Seen<'_>) -> Option<Finding> {
    let folder = &seen.folder;
    let served = seen.ready.is_ok();
    let shown = seen.folder.display();
    if !seen.on_machine {
        return None;
    }
    let format = folder.join("FORMAT");
    if is_hidden(fs::metadata(&format)) {
        let found = format!("{shown} is not readable for this user, so the store was not checked");
        return Some(Warning(found, AS_DAEMON.to_owned()));
    }
    if !format.exists() {
        let elsewhere = format!("the daemon has its store elsewhere, not in {shown}");
        return Some(match (served, port_here(seen)) {
            (true, Some(_)) => Warning(format!("{elsewhere}: it was not checked"), ELSEWHERE.to_owned()),
            (true, None) => Fine(elsewhere),
            (false, _) => {
                let mend = "mfa quickstart to try it, mfa init for real".to_owned();
                Warning(format!("there is no store in {shown}"), mend)
            }
        });
    }
    let locked = File::open(folder.join("lock")).is_ok_and(|file| file.try_lock().is_err());
    Some(match (locked, served) {
        (true, true) => Fine(format!("{shown} is open in the daemon")),
        (true, false) => {
            let mend = format!("see who it is: fuser -v {}", quoted_path(&folder.join("lock")));
            Warning(format!("{shown} is open in a process that does not answer at this address"), mend)
        }
        (false, true) => {
            let found = format!("{shown} is there, but the daemon has another store");
            match port_here(seen) {
                Some(_) => Warning(found, ELSEWHERE.to_owned()),
                None => Fine(found),
            }
        }
        (false, false) => Fine(format!("{shown} is there and not in use")),
    })
}

/// Every frame of every file of the journal, even while a daemon runs.
pub(super) fn journal(seen: &Seen<'_>) -> Option<Finding> {
    let folder = &seen.folder;
    if !seen.on_machine || !folder.join("journal").exists() {
        return None;
    }
    Some(match look::journal(folder, deadline()) {
        Ok(looked) if looked.whole => {
            let files = if looked.files == 1 { "file" } else { "files" };
            Fine(format!("{} {files} with {} commits, every frame is right", looked.files, looked.commits))
        }
        Ok(looked) => {
            let found = format!(
                "right up to commit {}; a look at all {} files takes longer",
                looked.commits, looked.files
            );
            Warning(found, "while the daemon is stopped: mfa check store".to_owned())
        }
        Err(why) => {
            let shown = quoted_path(folder);
            Failure(why, format!("when it is restored: mfa check store --data-dir {shown}"))
        }
    })
}

/// Damage that the daemon found, and as many images as can be read quickly: an institution may have a
/// million.
pub(super) fn images(seen: &Seen<'_>) -> Option<Finding> {
    let mend = "mfa check store names their records; upload these images again, or restore the files";
    let about = seen.answers.as_ref().and_then(|answers| answers.about.as_ref().ok());
    if let Some(found) = about.and_then(damaged_images) {
        return Some(Failure(found, mend.to_owned()));
    }
    if !seen.on_machine || !seen.folder.join("objects").exists() {
        return None;
    }
    let looked = look::images(&seen.folder, Instant::now() + Duration::from_secs(IMAGES_SECONDS_MAX));
    let read = looked.read;
    Some(match (looked.damaged.as_slice(), looked.whole) {
        ([], true) => Fine(format!("{read} images, all of them as they were uploaded")),
        ([], false) => Fine(format!("{read} images are as they were uploaded; mfa check store reads all")),
        ([only], _) => Failure(format!("{only} is damaged"), mend.to_owned()),
        ([first, others @ ..], _) => {
            Failure(format!("{first} and {} others are damaged", others.len()), mend.to_owned())
        }
    })
}

pub(super) fn key_file(seen: &Seen<'_>) -> Option<Finding> {
    let (file, looked) = look::key_file(seen.cx, &seen.flags, deadline())?;
    let shown = file.display();
    let word = quoted_path(&file);
    let restore =
        || format!("bring it back from its copy: cp -p COPY {word}, or name it in MFA_SECRET_KEY_FILE");
    if is_hidden(File::open(&file)) {
        let found = format!("{shown} is not readable for this user, so it was not checked");
        return Some(Warning(found, AS_DAEMON.to_owned()));
    }
    Some(match looked {
        KeyFileSeen::Fine => Fine(format!("{shown} can be used")),
        KeyFileSeen::NotYet => return None,
        KeyFileSeen::Missing => {
            Failure(format!("{shown} is missing, and the store has secrets that need it"), restore())
        }
        KeyFileSeen::Open => {
            Failure(format!("{shown} is open to other users of this machine"), format!("chmod 600 {word}"))
        }
        KeyFileSeen::Wrong(why) => Failure(why, restore()),
    })
}

/// Days that the audit trail may go back without a warning; 0 for any number.
pub(super) fn retention_days(cx: &Cx) -> Outcome<u32> {
    cx.settings.parse("audit_retention_days", None)
}

/// Nothing is removed from the audit trail automatically, so the user gets a reminder.
pub(super) fn audit(seen: &Seen<'_>) -> Option<Finding> {
    let days = match retention_days(seen.cx) {
        Ok(0) => return None,
        Ok(days) => days,
        Err(failure) => return Some(failed(&failure)),
    };
    let answers = seen.answers.as_ref()?;
    let page = match answers.oldest.as_ref()? {
        Ok(page) => page,
        Err(failure) => return Some(Warning(failure.message.clone(), failure.hint.clone())),
    };
    let oldest = page[AuditRecord::PLURAL][0]["occurredOn"].as_str().and_then(Timestamp::parse)?.day();
    let now = answers.daemon_seconds.unwrap_or_else(now_seconds);
    let kept = Timestamp::from_millis((now - i64::from(days) * DAY_SECONDS) * 1000).day();
    let found = format!("the audit trail goes back to {oldest}");
    Some(if oldest < kept {
        Warning(
            format!("{found}, and audit_retention_days is {days}"),
            format!("with the daemon stopped: mfa audit prune --before {kept} --out FILE"),
        )
    } else {
        Fine(found)
    })
}
