//! The journal of a store that no one has open, for a restore to a moment. Its files may be in several
//! folders: that of the store, and the archive of the older ones. Nothing in them is changed.
//!
//! What is read is verified: every checksum, every sequence, every link of the chain, and at its beginning
//! one commit that is known from elsewhere.

use super::codec::{Hash, hash};
use super::disk::JOURNAL;
use super::feed::Feed;
use super::format;
use super::frame;
use super::head::{HEADER_BYTES, Head, Position};
use super::lock::Lock;
use super::objects;
use super::options::OpenError;
use super::past_commits::{Commits, Next};
use super::past_files::{Files, PastError, identity, places, refused, same_folder};
use super::segment::{self, Header};
use super::shared::Shared;
use crate::hex::hexadecimal;
use crate::store::engine::{Commit, JournalMark};
use mfa_shared::fault::Fault;
use mfa_shared::time::Timestamp;
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;

/// Up to where a journal is followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Until {
    /// Up to and including this commit.
    Sequence(u64),
    /// Up to and including the last commit before the first that is later than this. It is refused where the
    /// clock was set back, so that commits behind that one are not later.
    Moment(Timestamp),
}

impl FromStr for Until {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let sequence = text.parse().ok().filter(|_| text.bytes().all(|byte| byte.is_ascii_digit()));
        let until = sequence.map(Self::Sequence).or_else(|| Timestamp::parse(text).map(Self::Moment));
        until.ok_or_else(|| {
            "it must be a moment with its offset (2026-11-24T14:03:00Z) or the number of a commit".to_owned()
        })
    }
}

/// A commit, by its number and its time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Moment {
    /// Its sequence in the journal.
    pub sequence: u64,
    /// When it was decided.
    pub time: Timestamp,
}

impl fmt::Display for Moment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "commit {} ({})", self.sequence, self.time)
    }
}

fn hash_of(sequence: u64, commit: &Commit) -> String {
    let mut stored = Vec::new();
    frame::put_commit(&mut stored, sequence, commit);
    hexadecimal(&hash(&stored))
}

/// The mark that distinguishes a commit of the open journal from that of any other.
pub(super) fn mark(shared: Arc<Shared>, sequence: u64) -> Result<Option<JournalMark>, Fault> {
    let store = hexadecimal(&hash(&shared.store));
    let first = sequence.checked_sub(1).and_then(|before| Feed::new(shared, before).next());
    let Some((found, commit)) = first.transpose()? else { return Ok(None) };
    Ok((found == sequence).then(|| JournalMark { store, commit: hash_of(sequence, &commit) }))
}

/// A journal that no one has open, as long as this value lives.
#[derive(Debug)]
pub struct Past {
    files: Files,
    store: Hash,
    /// The folders that may have images.
    roots: Vec<PathBuf>,
    /// In words, where the journal is.
    place: String,
    _locks: Vec<Lock>,
}

impl Past {
    /// Opens the journal in some folders. The caller holds the lock of `held`.
    pub fn open(folders: &[PathBuf], held: Option<&Path>) -> Result<Self, PastError> {
        let mut files = Files::default();
        let mut roots = Vec::<PathBuf>::new();
        let mut locks = Vec::new();
        let mut store = None;
        for folder in folders {
            let (root, journal) = places(folder);
            let shown = folder.display();
            let unreadable = |error| PastError::Refused(format!("{shown} cannot be read: {error}"));
            let mine = held.is_some_and(|held| same_folder(held, &root));
            let seen = roots.iter().any(|seen| same_folder(seen, &root));
            if root.join("lock").exists() && !mine && !seen {
                locks.push(Lock::take(&root).map_err(|error| match error {
                    OpenError::Locked { .. } => PastError::Locked(error.to_string()),
                    error => PastError::Refused(error.to_string()),
                })?);
            }
            let mut own = Files::default();
            for entry in fs::read_dir(&journal).map_err(unreadable)? {
                let path = entry.map_err(unreadable)?.path();
                if let Some(name) = path.file_name().and_then(|name| name.to_str()) {
                    own.0.insert(format!("{JOURNAL}/{name}"), path);
                }
            }
            if segment::segments(&own).map_err(unreadable)?.is_empty() {
                return refused(format!(
                    "there is no journal in {shown}: name the folder of the old store, its folder {JOURNAL}, \
                     or its archive"
                ));
            }
            let Some(identity) = identity(&root, &own)? else {
                return refused(format!(
                    "{shown} does not say whose journal it has: put the file {} of its store beside it",
                    format::NAME
                ));
            };
            if *store.get_or_insert(identity) != identity {
                return refused(format!(
                    "{shown} has the journal of another store than the folder before it"
                ));
            }
            roots.push(root);
            own.0.into_iter().for_each(|(name, path)| {
                files.0.entry(name).or_insert(path);
            });
        }
        let place =
            folders.iter().map(|folder| folder.display().to_string()).collect::<Vec<_>>().join(" and ");
        let nothing = || PastError::Refused("no folder of a journal was named".to_owned());
        Ok(Self { files, store: store.ok_or_else(nothing)?, roots, place, _locks: locks })
    }

    /// Whether the journal of a folder is that of the store in another one.
    pub fn is_in(folder: &Path, store: &Path) -> bool {
        same_folder(&places(folder).0, store)
    }

    /// The file of an image, if a folder has one.
    pub fn image(&self, hash: &str) -> Option<PathBuf> {
        self.roots.iter().map(|root| root.join(objects::name(hash))).find(|file| file.is_file())
    }

    /// The commits from one of them on.
    fn commits_from(&self, sequence: u64) -> Result<Commits<'_>, PastError> {
        let segments =
            segment::segments(&self.files).map_err(|error| PastError::Refused(error.to_string()))?;
        let (mut start, mut first, mut broken) = (None, None, None);
        for segment in &segments {
            match Header::read(&self.files, *segment) {
                Ok(Some(header)) if header.segment == *segment && header.first > 0 => {
                    let at = Position { segment: *segment, offset: HEADER_BYTES };
                    first.get_or_insert(header.first);
                    if header.first <= sequence {
                        start = Some(Head { sequence: header.first - 1, hash: header.before, at });
                    }
                }
                _ => drop(broken.get_or_insert(*segment)),
            }
        }
        match (start, broken, first) {
            (Some(head), ..) => {
                let last = segments.last().copied().unwrap_or_default();
                Ok(Commits::behind(&self.files, self.store, head, last))
            }
            (None, Some(broken), _) => refused(format!(
                "{} is damaged: its first bytes are not those of a journal file; name a folder with a whole \
                 copy of it first: --journal DIR",
                self.files.path(broken)
            )),
            (None, None, first) => refused(format!(
                "the journal in {} begins with commit {}, and the backup ends with commit {sequence}: name \
                 the archive with the older files as well (--journal DIR), or take a later backup",
                self.place,
                first.unwrap_or_default()
            )),
        }
    }

    /// Verifies the journal from a commit that is known to the moment, and hands over the commits between.
    /// Says which one is the last.
    pub fn reach(
        &self,
        from: u64,
        mark: &JournalMark,
        until: Until,
        see: &mut dyn FnMut(&Commit) -> Result<(), String>,
    ) -> Result<Moment, PastError> {
        let place = &self.place;
        if hexadecimal(&hash(&self.store)) != mark.store {
            return refused(format!(
                "the journal in {place} is that of another store than the backup: name the folder that the \
                 backup was made of"
            ));
        }
        let mut commits = self.commits_from(from)?;
        let mut reached: Option<Moment> = None;
        loop {
            let (sequence, commit) = match commits.step() {
                Next::Commit(sequence, commit) => (sequence, commit),
                Next::End(why) => return self.ends(from, reached, until, why),
            };
            let here = Moment { sequence, time: commit.time };
            if sequence < from {
                continue;
            }
            let Some(before) = reached else {
                if sequence != from || hash_of(sequence, &commit) != mark.commit {
                    return refused(format!(
                        "commit {sequence} in {place} is not the one in the backup, which was made of \
                         another copy of the store: name the folder of that one"
                    ));
                }
                if until.is_before(&here) {
                    clock_went_on(&mut commits, None, here, until)?;
                    return refused(format!(
                        "the moment is before the backup, which ends with {here}: take an earlier backup \
                         (mfa backup list DIR)"
                    ));
                }
                reached = Some(here);
                if until == Until::Sequence(sequence) {
                    return Ok(here);
                }
                continue;
            };
            if until.is_before(&here) {
                clock_went_on(&mut commits, Some(before), here, until)?;
                return Ok(before);
            }
            if let Err(why) = see(&commit) {
                let last = before.sequence;
                return refused(format!("{why}; up to commit {last} it can be restored: --until {last}"));
            }
            reached = Some(here);
            if until == Until::Sequence(sequence) {
                return Ok(here);
            }
        }
    }

    /// The journal ends before anything was found behind the moment.
    fn ends(
        &self,
        from: u64,
        reached: Option<Moment>,
        until: Until,
        why: Option<String>,
    ) -> Result<Moment, PastError> {
        let Some(last) = reached else {
            let why = why.unwrap_or_else(|| format!("the journal in {} ends", self.place));
            return refused(format!(
                "{why} before commit {from}, with which the backup ends: name a folder with a whole copy of \
                 it first (--journal DIR), or restore the backup without --until"
            ));
        };
        let number = last.sequence;
        match (why, until) {
            (None, Until::Moment(moment)) if moment == last.time => Ok(last),
            (None, _) => refused(format!(
                "the moment is behind the end of the journal, whose last is {last}: for all of it, --until \
                 {number}{}",
                self.headless().unwrap_or_default()
            )),
            (Some(why), _) => refused(format!(
                "{why}, before the moment; all is whole up to {last}: restore that with --until {number}, or \
                 name a folder with a whole copy first: --journal DIR"
            )),
        }
    }

    /// What is to be said of a last file that ends within its header. An earlier program left it so when it
    /// was killed while it made it; else commits are missing.
    fn headless(&self) -> Option<String> {
        let last = segment::segments(&self.files).ok()?.last().copied()?;
        let header = Header::read(&self.files, last).ok()?;
        header.is_none().then(|| {
            let file = self.files.path(last);
            format!("; {file} ends within its header, so look for a whole copy of it first: --journal DIR")
        })
    }

    /// The commits after one of them up to another.
    pub fn commits(
        &self,
        after: u64,
        upto: u64,
    ) -> Result<impl Iterator<Item = Result<(u64, Commit), PastError>> + '_, PastError> {
        let mut commits = self.commits_from(after)?;
        let mut done = after;
        Ok(std::iter::from_fn(move || {
            while done < upto {
                match commits.step() {
                    Next::Commit(sequence, _) if sequence <= after => {}
                    Next::Commit(sequence, commit) => {
                        done = sequence;
                        return Some(Ok((sequence, commit)));
                    }
                    Next::End(why) => {
                        done = upto;
                        let why = why.unwrap_or_else(|| "it ends".to_owned());
                        return Some(refused(format!("the journal was changed while it was read: {why}")));
                    }
                }
            }
            None
        }))
    }
}

/// Refuses a moment that does not say where to stop: behind the first commit that is later come some that are
/// not, since the clock was set back. To stop there would drop what was acknowledged by the moment.
fn clock_went_on(
    commits: &mut Commits<'_>,
    before: Option<Moment>,
    later: Moment,
    until: Until,
) -> Result<(), PastError> {
    if matches!(until, Until::Sequence(_)) {
        return Ok(());
    }
    let mut back: Option<(Moment, Moment)> = None;
    // A damage behind the moment does no harm; what is behind the damage cannot be restored anyway.
    while let Next::Commit(sequence, commit) = commits.step() {
        let here = Moment { sequence, time: commit.time };
        if !until.is_before(&here) {
            back = Some((back.map_or(here, |(first, _)| first), here));
        }
    }
    let Some((first, last)) = back else { return Ok(()) };
    let last = last.sequence;
    let upto = before.map(|before| before.sequence);
    let upto = upto.map_or(String::new(), |upto| format!("--until {upto} for what was before {later}, or "));
    refused(format!(
        "the clock was set back: {later} is later than the moment and {first} is not, so the moment does not \
         say where to stop; name a commit: {upto}--until {last} for all that is not later than the moment"
    ))
}

impl Until {
    /// Whether it is before a commit.
    fn is_before(self, commit: &Moment) -> bool {
        match self {
            Self::Sequence(sequence) => sequence < commit.sequence,
            Self::Moment(moment) => moment < commit.time,
        }
    }
}
