//! A folder in memory for the index, where the disk of the store has no space for it. It is made from
//! checkpoint and journal, and is gone with the process; the index on the disk stays as it is meanwhile.

use super::codec::Hash;
use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

/// Where the system keeps files in memory.
const MEMORY: &str = "/dev/shm";

/// The folder; removed with this value.
#[derive(Debug)]
pub(super) struct Away {
    dir: PathBuf,
}

impl Away {
    /// Makes one for a store, and removes what a killed process left of it. The caller has the store to
    /// itself.
    pub(super) fn make(store: &Hash) -> io::Result<Self> {
        let place = Some(PathBuf::from(MEMORY)).filter(|place| place.is_dir());
        let place = place.unwrap_or_else(std::env::temp_dir);
        let own: String = store.iter().take(8).map(|byte| format!("{byte:02x}")).collect();
        let own = format!("mfa-index-{own}-");
        for entry in fs::read_dir(&place)?.filter_map(Result::ok) {
            if entry.file_name().to_string_lossy().starts_with(&own) {
                // What belongs to somebody else under this name is not ours to care for.
                let _ = fs::remove_dir_all(entry.path());
            }
        }
        let mut chance = [0; 8];
        getrandom::fill(&mut chance).map_err(io::Error::other)?;
        let dir = place.join(format!("{own}{:016x}", u64::from_le_bytes(chance)));
        DirBuilder::new().mode(0o700).create(&dir)?;
        Ok(Self { dir })
    }

    /// Where the index is.
    pub(super) fn index(&self) -> PathBuf {
        self.dir.join("index")
    }

    /// The folder itself.
    pub(super) fn place(&self) -> &Path {
        &self.dir
    }
}

impl Drop for Away {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.dir);
    }
}
