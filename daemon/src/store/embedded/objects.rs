//! Images as files of their own: `objects/ab/<SHA-256>`. Names on disk are hashes only.
//!
//! A file gets its name after its contents are durable, and the name is durable before the record that
//! names the image goes into the journal.

use super::disk::Disk;
use super::shared::unavailable;
use crate::store::engine::Pending;
use crate::store::objects::{Draft, Objects, Opened, UsedBy, is_hash};
use crate::store::space;
use mfa_shared::fault::Fault;
use std::collections::BTreeSet;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

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

fn name(hash: &str) -> String {
    format!("{}/{hash}", folder(hash))
}

impl FileObjects {
    /// Opens the folders, and removes the drafts of earlier processes.
    pub(super) fn open(disk: Arc<dyn Disk>, root: &Path) -> io::Result<Self> {
        disk.make_dir(DRAFTS)?;
        disk.make_dir(DIR)?;
        for draft in disk.list(DRAFTS)? {
            disk.remove(&format!("{DRAFTS}/{draft}"))?;
        }
        disk.sync_dir("")?;
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
            // Somebody has removed the folder below the running daemon.
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

    fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Self) -> io::Result<T> + Send + 'static,
    ) -> Pending<T> {
        let objects = self.clone();
        Box::pin(async move {
            let done = tokio::task::spawn_blocking(move || work(&objects)).await;
            let failed = |error: io::Error| -> Fault {
                tracing::error!(%error, "the disk refuses an image");
                if space::is_full(&error) {
                    return space::disk_full();
                }
                unavailable("the disk of the store refuses an image")
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
        self.run(move |objects| {
            if !is_hash(&hash) {
                return Ok(None);
            }
            match File::open(objects.root.join(name(&hash))) {
                Ok(file) => Ok(Some(Opened::File(file))),
                Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
                Err(error) => Err(error),
            }
        })
    }

    fn remove(&self, hash: &str, _: UsedBy) -> Pending<()> {
        let hash = hash.to_owned();
        self.run(move |objects| if is_hash(&hash) { objects.disk.remove(&name(&hash)) } else { Ok(()) })
    }

    fn list(&self, first: u8) -> Pending<Vec<String>> {
        self.run(move |objects| {
            let names = objects.disk.list(&folder(&format!("{first:02x}")))?;
            Ok(names.into_iter().filter(|name| is_hash(name)).collect())
        })
    }
}
