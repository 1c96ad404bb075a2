//! A folder in memory for the index, where the disk of the store has no space for it. It is made from
//! checkpoint and journal, and is gone with the process; the index on the disk stays as it is meanwhile.

use super::codec::Hash;
use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

/// Where the system keeps files in memory.
const MEMORY: &str = "/dev/shm";

fn place() -> PathBuf {
    let memory = Some(PathBuf::from(MEMORY)).filter(|place| place.is_dir());
    memory.unwrap_or_else(std::env::temp_dir)
}

fn prefix(store: &Hash) -> String {
    let own: String = store.iter().take(8).map(|byte| format!("{byte:02x}")).collect();
    format!("mfa-index-{own}-")
}

/// The folder; removed with this value.
#[derive(Debug)]
pub(super) struct Away {
    dir: PathBuf,
}

impl Away {
    /// Removes what a killed process left of a store. The caller has the store to itself.
    pub(super) fn sweep(store: &Hash) {
        let place = place();
        let own = prefix(store);
        for entry in fs::read_dir(place).into_iter().flatten().filter_map(Result::ok) {
            if entry.file_name().to_string_lossy().starts_with(&own) {
                // Files of another owner under this name are left alone.
                let _ = fs::remove_dir_all(entry.path());
            }
        }
    }

    /// Makes one for a store.
    pub(super) fn make(store: &Hash) -> io::Result<Self> {
        let place = place();
        let own = prefix(store);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_killed_process_left_is_removed_for_its_own_store_only() {
        let mut store = Hash::default();
        getrandom::fill(&mut store).unwrap();
        let other = store.map(|byte| !byte);
        let left = std::mem::ManuallyDrop::new(Away::make(&store).unwrap());
        let kept = Away::make(&other).unwrap();
        Away::sweep(&store);
        assert!(!left.place().exists() && kept.place().exists());
    }
}
