//! Backups of the whole store, made while the daemon serves.

use crate::endpoints;
use crate::wire::{FileBytes, Nothing};

endpoints! {
    /// Stream a backup of the whole store, as it is at one moment.
    GetBackup {} Get "/admin/backup" Nothing => FileBytes;
}
