//! Space on a disk: how much is reserved for what must be written, and the faults when it is full.

use mfa_shared::fault::{DISK_FULL, DISK_READ_ONLY, Fault};
use rustix::fs::StatVfsMountFlags;
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

/// Whether the disk of a path is mounted for reading only.
pub fn is_read_only(path: &Path) -> bool {
    rustix::fs::statvfs(path).is_ok_and(|disk| disk.f_flag.contains(StatVfsMountFlags::RDONLY))
}

/// Whether a write was refused because the disk is mounted for reading only.
pub fn is_refused_by_mount(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::ReadOnlyFilesystem
}

/// The fault for a disk that is mounted for reading only.
pub fn disk_read_only() -> Fault {
    let detail = "the disk of the store is mounted for reading only, so nothing was changed; what is stored \
                  can be read";
    Fault::new(DISK_READ_ONLY, detail).retry_after(RETRY_AFTER_S)
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

/// The fault for a full disk.
pub fn disk_full() -> Fault {
    let detail = "the disk of the store is full, so nothing was changed; what is stored can still be read";
    Fault::new(DISK_FULL, detail).retry_after(RETRY_AFTER_S)
}

/// The fault for a refusal by the disk that a person can end.
pub fn refusal(error: &io::Error) -> Option<Fault> {
    match () {
        () if is_full(error) => Some(disk_full()),
        () if is_refused_by_mount(error) => Some(disk_read_only()),
        () => None,
    }
}

/// Bytes that may be written to the disk of a path before the reserve begins. What cannot be found out is
/// not a reason to refuse: the disk itself says so then.
pub fn above_reserve(path: &Path) -> u64 {
    rustix::fs::statvfs(path).map_or(u64::MAX, |disk| {
        let reserve = RESERVE_BYTES.min(disk.f_blocks.saturating_mul(disk.f_frsize) / RESERVE_PART);
        disk.f_bavail.saturating_mul(disk.f_frsize).saturating_sub(reserve)
    })
}
