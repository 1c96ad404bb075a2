//! Images as files of their own: `objects/ab/<SHA-256>`. Names on disk are hashes only.
//!
//! A file gets its name after its contents are durable, and the name is durable before the record that
//! names the image goes into the journal.

use super::disk::Disk;
use super::refusal::unavailable;
use crate::store::engine::Pending;
use crate::store::images::damaged;
use crate::store::objects::{Draft, Objects, Opened, UsedBy, hash_and_length, is_hash};
use crate::store::space;
use mfa_shared::fault::{self, Fault};
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

const DIR: &str = "objects";
const DRAFTS: &str = "objects/tmp";

/// The objects of a data directory.
#[derive(Debug, Clone)]
pub(super) struct FileObjects {
    disk: Arc<dyn Disk>,
    root: PathBuf,
    drafts: PathBuf,
    /// Folders that this process has made durable.
    folders: Arc<Mutex<BTreeSet<String>>>,
}

/// The folder of a hash.
fn folder(hash: &str) -> String {
    format!("{DIR}/{}", &hash[..2])
}

/// The file of a hash.
pub(super) fn name(hash: &str) -> String {
    format!("{}/{hash}", folder(hash))
}

impl FileObjects {
    /// Opens the folders, and removes the drafts of earlier processes. Anything else there is
    /// harmless if it cannot be removed.
    pub(super) fn open(disk: Arc<dyn Disk>, root: &Path) -> io::Result<Self> {
        if !disk.is_read_only() {
            disk.make_dir(DRAFTS)?;
            disk.make_dir(DIR)?;
            for draft in disk.list(DRAFTS)? {
                if let Err(error) = disk.remove(&format!("{DRAFTS}/{draft}")) {
                    tracing::warn!(%error, "{DRAFTS}/{draft} cannot be removed, and is left there");
                }
            }
            disk.sync_dir("")?;
        }
        let (root, drafts) = (root.to_owned(), root.join(DRAFTS));
        Ok(Self { disk, root, drafts, folders: Arc::default() })
    }

    fn make_folder(&self, folder: &str) -> io::Result<()> {
        let mut folders = self.folders.lock().unwrap_or_else(PoisonError::into_inner);
        if !folders.contains(folder) {
            self.disk.make_dir(folder)?;
            self.disk.sync_dir(DIR)?;
            folders.insert(folder.to_owned());
        }
        Ok(())
    }

    fn keep_now(&self, mut draft: Draft) -> io::Result<()> {
        let hash = draft.hash();
        self.make_folder(&folder(&hash))?;
        let path = draft.write_out()?;
        let draft_name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let draft_name = format!("{DRAFTS}/{draft_name}");
        let file = self.disk.open(&draft_name)?.ok_or_else(|| io::Error::other("the draft is gone"))?;
        file.sync_data()?;
        if let Err(error) = self.disk.rename(&draft_name, &name(&hash)) {
            // The folder was removed below the running daemon.
            let mut folders = self.folders.lock().unwrap_or_else(PoisonError::into_inner);
            if error.kind() != io::ErrorKind::NotFound || !folders.remove(&folder(&hash)) {
                return Err(error);
            }
            drop(folders);
            self.make_folder(&folder(&hash))?;
            self.disk.rename(&draft_name, &name(&hash))?;
        }
        self.disk.sync_dir(&folder(&hash))
    }

    /// What is in a folder; nothing if there is no such folder.
    async fn names(&self, folder: String) -> Result<Vec<String>, Fault> {
        let (disk, place) = (self.disk.clone(), folder.clone());
        let listed = tokio::task::spawn_blocking(move || disk.list(&place)).await;
        let unreadable = |error| {
            if passes(&error) {
                unavailable("the folder of the images cannot be read now")
            } else {
                let detail = format!("the folder {folder} of images cannot be read ({error})");
                Fault::new(fault::IMAGE_DAMAGED, detail)
            }
        };
        listed.map_err(|_| unavailable("the daemon is stopping"))?.map_err(unreadable)
    }

    fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Self) -> io::Result<T> + Send + 'static,
    ) -> Pending<T> {
        let objects = self.clone();
        Box::pin(async move {
            let done = tokio::task::spawn_blocking(move || work(&objects)).await;
            let failed = |error: io::Error| -> Fault {
                tracing::error!(%error, "the disk refuses an image");
                let known = space::refusal(&error);
                known.unwrap_or_else(|| unavailable("the disk of the store refuses an image"))
            };
            done.unwrap_or_else(|_| Err(io::Error::other("the daemon is stopping"))).map_err(failed)
        })
    }
}

impl Objects for FileObjects {
    fn drafts(&self) -> &Path {
        &self.drafts
    }

    fn keep(&self, draft: Draft) -> Pending<()> {
        self.run(move |objects| objects.keep_now(draft))
    }

    fn open(&self, hash: &str) -> Pending<Option<Opened>> {
        let hash = hash.to_owned();
        let root = self.root.clone();
        Box::pin(async move {
            if !is_hash(&hash) {
                return Ok(None);
            }
            let path = root.join(name(&hash));
            let opened = tokio::task::spawn_blocking(move || open_plain(&path)).await;
            match opened.map_err(|_| unavailable("the daemon is stopping"))? {
                Ok(file) => Ok(file.map(Opened::File)),
                Err(error) if passes(&error) => {
                    tracing::error!(%error, "an image cannot be opened now");
                    Err(unavailable("the image cannot be opened now"))
                }
                Err(error) => Err(damaged(&hash, &format!("it cannot be opened ({error})"))),
            }
        })
    }

    fn remove(&self, hash: &str, _: UsedBy) -> Pending<()> {
        let hash = hash.to_owned();
        self.run(move |objects| if is_hash(&hash) { objects.disk.remove(&name(&hash)) } else { Ok(()) })
    }

    fn list(&self, first: u8) -> Pending<Vec<String>> {
        let objects = self.clone();
        Box::pin(async move {
            let mut names = objects.names(folder(&format!("{first:02x}"))).await?;
            names.retain(|name| is_hash(name));
            Ok(names)
        })
    }

    fn firsts(&self) -> Pending<Vec<u8>> {
        let objects = self.clone();
        Box::pin(async move {
            let names = objects.names(DIR.to_owned()).await?;
            Ok(names.iter().filter_map(|name| u8::from_str_radix(name, 16).ok()).collect())
        })
    }
}

/// Opens a file that is one: a pipe in its place would never end, and what a link leads to may change.
fn open_plain(path: &Path) -> io::Result<Option<File>> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = match rustix::fs::open(path, flags, Mode::empty()) {
        Ok(file) => File::from(file),
        Err(Errno::NOENT) => return Ok(None),
        Err(Errno::LOOP) => return Err(io::Error::other("it is a symbolic link")),
        Err(error) => return Err(error.into()),
    };
    if file.metadata()?.is_file() { Ok(Some(file)) } else { Err(io::Error::other("it is no file")) }
}

/// Whether an error is about this moment, and not about the file.
fn passes(error: &io::Error) -> bool {
    let now = [Errno::MFILE, Errno::NFILE, Errno::NOMEM, Errno::INTR];
    now.iter().any(|errno| error.raw_os_error() == Some(errno.raw_os_error()))
}

/// What a look at images in a data directory found.
#[derive(Debug, Default)]
pub struct ImagesSeen {
    /// Images that were read.
    pub read: u64,
    /// Which of them are damaged, by their hash, or which folder.
    pub damaged: Vec<String>,
    /// Whether it was all of them.
    pub whole: bool,
}

/// Reads images until `deadline`, from a folder of them by chance, so that several looks see several images.
/// Which ones are missing is known to the records only.
pub fn look_at_images(dir: &Path, deadline: Instant) -> ImagesSeen {
    let (mut seen, [begin]) = (ImagesSeen::default(), crate::random::bytes::<1>());
    for step in 0..=u8::MAX {
        let folder = folder(&format!("{:02x}", begin.wrapping_add(step)));
        let names = match fs::read_dir(dir.join(&folder)) {
            Ok(entries) => entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Err(_) => {
                seen.damaged.push(folder);
                continue;
            }
        };
        for hash in names.filter(|name| is_hash(name)) {
            if Instant::now() > deadline {
                return seen;
            }
            match open_plain(&dir.join(&folder).join(&hash)) {
                // It was removed meanwhile.
                Ok(None) => continue,
                Ok(Some(file)) if hash_and_length(&file).is_ok_and(|(now, _)| now == hash) => {}
                _ => seen.damaged.push(hash),
            }
            seen.read += 1;
        }
    }
    seen.whole = true;
    seen
}
