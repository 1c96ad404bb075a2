//! Space on a disk: how much is kept back for what must be written, and what is said when there is none.

use mfa_shared::fault::{DISK_FULL, Fault};
use std::io;
use std::path::Path;

/// What images, checkpoints and the index leave free for the journal, on a disk of a usual size.
const RESERVE_BYTES: u64 = 16 * 1024 * 1024;
/// On a small disk it is this part.
const RESERVE_PART: u64 = 8;
/// Seconds after which a client may try again; a person has to make space first.
const RETRY_AFTER_S: u32 = 30;

/// Whether a disk refused because it is full.
pub fn is_full(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded)
}

/// Whether a file cannot be opened because the process or the machine has too many open.
pub fn is_out_of_files(error: &io::Error) -> bool {
    let number = error.raw_os_error().map(rustix::io::Errno::from_raw_os_error);
    matches!(number, Some(rustix::io::Errno::MFILE | rustix::io::Errno::NFILE))
}

/// What the system would say.
pub fn full() -> io::Error {
    io::ErrorKind::StorageFull.into()
}

/// What a client is told.
pub fn disk_full() -> Fault {
    let detail = "the disk of the store is full, so nothing was changed; what is stored can still be read";
    Fault::new(DISK_FULL, detail).retry_after(RETRY_AFTER_S)
}

/// Bytes that may be written to the disk of a path before the reserve begins. What cannot be found out is
/// not a reason to refuse: the disk itself says so then.
pub fn above_reserve(path: &Path) -> u64 {
    rustix::fs::statvfs(path).map_or(u64::MAX, |disk| {
        let reserve = RESERVE_BYTES.min(disk.f_blocks.saturating_mul(disk.f_frsize) / RESERVE_PART);
        disk.f_bavail.saturating_mul(disk.f_frsize).saturating_sub(reserve)
    })
}
