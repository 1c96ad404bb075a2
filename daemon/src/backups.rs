//! Backups that the daemon makes by itself, once a day: written, read back and thinned out. Of several
//! daemons one does it.

use crate::clock::Deadline;
use crate::config::BackupSchedule;
use crate::http::state::State;
use crate::ops::backups::{self, seen};
use crate::ops::turn::Work;
use crate::store::backup::BackupError;
use crate::store::backup::crypt::{EncryptTo, Seal};
use crate::store::backup::file::{Draft, is_draft, store_and_moment_of_own_name};
use crate::store::backup::read::Facts;
use crate::store::records::{BackupMade, ScheduledBackups};
use crate::store::seed::SYSTEM_ACTOR;
use crate::store::{Store, Tx};
use crate::turn::Ours;
use mfa_shared::fault::Fault;
use mfa_shared::time::Timestamp;
use std::collections::BTreeMap;
use std::fs::{self, DirBuilder};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;

/// How often a daemon looks whether its time has come.
const TICK: Duration = Duration::from_secs(1);
/// Pause before a backup that failed is tried again.
const AGAIN: Duration = Duration::from_secs(600);
/// Two backups are at least so far apart.
const APART_MILLIS: u64 = 3_600_000;
/// Age at which a draft counts as abandoned.
const DRAFT_AGE_MAX: Duration = Duration::from_secs(86_400);
/// Pieces of a backup that wait to be written.
const PIECES_WAITING: usize = 4;

impl BackupSchedule {
    /// Whether the backup of the day is still to be made.
    fn is_due(&self, now: Timestamp, known: &ScheduledBackups) -> bool {
        let minute = (now.millis() - now.day().start().millis()) / 60_000;
        // Not only an earlier day: a clock that was a year ahead must not keep backups from being made.
        let last = known.made.as_ref().map(|made| made.moment);
        let of_today = last.is_some_and(|last| last.day() == now.day());
        // Around midnight daemons whose clocks differ are in different days: then a backup may come later.
        let just_made = last.is_some_and(|last| now.millis().abs_diff(last.millis()) < APART_MILLIS);
        minute >= i64::from(self.minute) && !of_today && !just_made
    }
}

/// Makes backups for as long as the daemon serves.
pub async fn keep(state: Arc<State>, schedule: BackupSchedule) {
    let mut ours = Ours::of(Work::Backups);
    let mut again = None::<Deadline>;
    let store = &state.store;
    loop {
        tokio::time::sleep(TICK).await;
        let Ok(known) = store.read(false, seen).await else { continue };
        state.set_backup_failed(known.missed.as_ref().map(|missed| missed.on));
        let now = store.clock().now();
        if again.is_some_and(|again| !again.has_passed()) || !schedule.is_due(now, &known) {
            continue;
        }
        // Another daemon may have made it while this one waited for its turn.
        let is_due = |known| schedule.is_due(now, &known);
        if ours.is_it(store).await && store.read(false, seen).await.is_ok_and(is_due) {
            let ended = tokio::select! {
                made = make(store, &schedule) => Some(made),
                () = ours.stay(store) => None,
            };
            again = match ended {
                Some(made) => note(&state, &schedule, made).await.then(|| Deadline::after(AGAIN)),
                None => Some(Deadline::after(AGAIN)),
            };
        }
        ours.let_go(store).await;
    }
}

async fn make(store: &Store, schedule: &BackupSchedule) -> Result<(BackupMade, Facts), BackupError> {
    let BackupSchedule { dir, encrypt_to, .. } = schedule;
    let seal = Seal { to: EncryptTo::Keys(encrypt_to.clone()), key_file: None };
    DirBuilder::new().recursive(true).mode(0o700).create(dir)?;
    sweep(dir);
    let mut draft = Draft::begin(dir, Some(&seal).filter(|_| !encrypt_to.is_empty()))?;
    let (sender, mut pieces) = mpsc::channel::<Result<_, Fault>>(PIECES_WAITING);
    let source = store.clone();
    let making = tokio::spawn(async move { source.back_up_beside_daemons(sender).await });
    let writing = tokio::task::spawn_blocking(move || {
        while let Some(piece) = pieces.blocking_recv() {
            draft.write(&piece?)?;
        }
        Ok::<_, BackupError>(draft)
    });
    let broken = |_| BackupError::Refused("the work broke off because of a defect".to_owned());
    // The error of the disk first: the producer only learns that its receiver has gone.
    let draft = writing.await.map_err(broken)??;
    making.await.map_err(broken)??;
    let (file, facts) = draft.finish(None).await?;
    let file = file.display().to_string();
    let moment = facts.trailer.moment;
    let digest = facts.digest.clone();
    Ok((BackupMade { moment, file, bytes: facts.bytes, digest }, facts))
}

/// Removes drafts that a daemon has left which was killed; younger ones may be in use.
fn sweep(dir: &Path) {
    for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
        let age = entry.metadata().and_then(|facts| facts.modified()).map(|time| time.elapsed());
        let is_old = matches!(age, Ok(Ok(age)) if age > DRAFT_AGE_MAX);
        if is_old && is_draft(&entry.file_name()) {
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// Records the outcome, and thins out; returns whether to try again.
async fn note(
    state: &State,
    schedule: &BackupSchedule,
    made: Result<(BackupMade, Facts), BackupError>,
) -> bool {
    let store = &state.store;
    let why = match made {
        Ok((made, facts)) => {
            tracing::info!(file = made.file, bytes = made.bytes, "a backup was made and read back");
            let file = PathBuf::from(&made.file);
            let noted = write(store, move |tx| backups::made(tx, &made)).await;
            thin(facts.head.store(), schedule, file, store.clock().now()).await;
            if let Some(days) = schedule.journal_keep_days.filter(|_| !store.is_shared()) {
                behind_backup(store, &facts, &schedule.dir, days).await;
            }
            return noted.is_err();
        }
        Err(error) => format!("no backup could be made in {}: {error}", schedule.dir.display()),
    };
    tracing::error!("{why}");
    if let Err(fault) = write(store, move |tx| backups::missed(tx, &why)).await {
        tracing::warn!(%fault, "that there is no backup could not be noted");
    }
    true
}

/// Moves the journal files that the backup covers and that are older than the days that are kept.
async fn behind_backup(store: &Store, facts: &Facts, dir: &Path, keep_days: u32) {
    let out = dir.join(format!("journal-{}", facts.head.store()));
    match store.archive_journal(facts, &out, Some(keep_days)).await {
        Ok(moved) if moved.files > 0 => {
            let (files, begins) = (moved.files, moved.begins);
            tracing::info!(files, begins, out = %out.display(), "journal files went into the archive");
        }
        Ok(_) => {}
        Err(fault) => tracing::warn!(why = fault.detail, "journal files stay where they are"),
    }
}

async fn write(
    store: &Store,
    mut work: impl FnMut(&mut Tx<'_>) -> Result<(), Fault> + Send + 'static,
) -> Result<(), Fault> {
    let named = move |tx: &mut Tx<'_>| {
        tx.set_actor(SYSTEM_ACTOR);
        work(tx)
    };
    store.write("backup", named).await
}

/// Removes the backups of this store that need not stay. What is no backup of it, cannot be read, or has
/// another name than it was given, does; those of the store from which this one was restored are not its own.
/// So does the one that was just made, whatever the clock says.
async fn thin(of: String, schedule: &BackupSchedule, made: PathBuf, now: Timestamp) {
    let BackupSchedule { dir, keep, .. } = schedule.clone();
    let thinned = tokio::task::spawn_blocking(move || {
        let found = of_store(&dir, &of);
        let gone = keep.gone(&found.keys().copied().collect(), now);
        for (moment, files) in &found {
            for file in files.iter().filter(|file| gone.contains(moment) && **file != made) {
                match fs::remove_file(file) {
                    Ok(()) => tracing::info!(file = %file.display(), "a backup was thinned out"),
                    Err(error) => {
                        tracing::warn!(file = %file.display(), %error, "a backup cannot be removed")
                    }
                }
            }
        }
    });
    let _ = thinned.await;
}

/// The backups of a store in a folder, by their moments.
fn of_store(dir: &Path, wanted: &str) -> BTreeMap<Timestamp, Vec<PathBuf>> {
    let mut found: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
        let path = entry.path();
        if let Some((of, moment)) = store_and_moment_of_own_name(&path)
            && of == wanted
        {
            found.entry(moment).or_default().push(path);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_backup_is_due_once_a_day_whichever_clock_looks() {
        let at = |text: &str| Timestamp::parse(&format!("2031-{text}:00.000Z")).unwrap();
        let is_due = |minute: u16, now: &str, last: Option<&str>| {
            let (dir, keep) = (PathBuf::from("backups"), "1d".parse().unwrap());
            let schedule =
                BackupSchedule { dir, minute, keep, encrypt_to: Vec::new(), journal_keep_days: None };
            let made = last.map(|last| {
                let (file, digest) = (String::new(), String::new());
                BackupMade { moment: at(last), file, bytes: 0, digest }
            });
            schedule.is_due(at(now), &ScheduledBackups { made, ..ScheduledBackups::default() })
        };
        assert!(!is_due(60, "05-06T00:59", None) && is_due(60, "05-06T01:00", None));
        assert!(
            !is_due(60, "05-06T23:59", Some("05-06T01:00")) && is_due(60, "05-07T01:00", Some("05-06T01:00"))
        );
        // A daemon whose clock is a minute behind, and then the one whose clock is right.
        assert!(
            !is_due(0, "05-06T23:59", Some("05-07T00:00")) && is_due(0, "05-07T00:00", Some("05-06T00:00"))
        );
        // One that was late the day before does not take the place of today's.
        assert!(
            !is_due(0, "05-07T00:10", Some("05-06T23:30")) && is_due(0, "05-07T00:30", Some("05-06T23:30"))
        );
        // Of a clock that was far ahead.
        assert!(is_due(60, "05-06T01:00", Some("12-24T01:00")));
    }
}
