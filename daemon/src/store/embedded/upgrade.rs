//! From one form of the data directory to the next. There is one small function for each step, which is not
//! changed after a release.
//!
//! A step is made before the first file of the new form is written, so that a program that does not know the
//! form refuses the directory by its `FORMAT` and never meets such a file.

use super::codec::Hash;
use super::disk::Disk;
use super::format::{self, FORM};
use std::io;
use std::sync::{Mutex, PoisonError};

/// The form of an open data directory.
#[derive(Debug)]
pub(super) struct Form(Mutex<u32>);

impl Form {
    pub(super) fn new(form: u32) -> Self {
        Self(Mutex::new(form))
    }

    /// Brings the directory up to the form of this program, if it is not of that form yet.
    pub(super) fn raise(&self, disk: &dyn Disk, store: &Hash) -> io::Result<()> {
        let mut form = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        while *form < FORM {
            *form = step(*form, disk, store)?;
            tracing::info!(form = *form, "the data directory has a new form, which earlier programs refuse");
        }
        Ok(())
    }
}

fn step(form: u32, disk: &dyn Disk, store: &Hash) -> io::Result<u32> {
    match form {
        1 => to_2(disk, store),
        _ => Err(io::Error::other(format!("there is no step from form {form}"))),
    }
}

/// Form 2: closed journal files may be packed and checkpoints compressed. Existing files are not changed.
fn to_2(disk: &dyn Disk, store: &Hash) -> io::Result<u32> {
    format::write(disk, store, 2)?;
    Ok(2)
}
