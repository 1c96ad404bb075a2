//! Whose a data directory is. Root may open that of any user; but what it writes there would be its own, and
//! the service of that user could not open the store any more.

use super::options::OpenError;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

const ROOT: u32 = 0;

/// Refuses root the store of another user.
pub fn check_owner(dir: &Path) -> Result<(), OpenError> {
    let Ok(format) = dir.join("FORMAT").metadata() else { return Ok(()) };
    if rustix::process::geteuid().as_raw() == ROOT && format.uid() != ROOT {
        return Err(OpenError::Foreign { dir: dir.to_owned(), owner: format.uid() });
    }
    Ok(())
}
