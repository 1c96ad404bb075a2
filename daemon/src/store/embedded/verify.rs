//! Verification of what is too large to be verified before opening.

use super::directory::At;
use super::disk::JOURNAL;
use super::head::Head;
use super::options::OpenError;
use super::scan::Scanner;
use super::shared::Shared;
use crate::store::space::is_out_of_files;
use rustix::process::nice;
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::PoisonError;
use std::sync::atomic::Ordering::SeqCst;
use std::thread;
use std::time::{Duration, Instant};

/// How far the threads give way to those that serve and write.
const NICE: i32 = 10;
/// Time between two tries to open a file.
const PAUSE: Duration = Duration::from_secs(1);

/// Verifies the index page by page beside readers and writer.
pub(super) fn index(shared: &Shared) {
    let _ = nice(NICE);
    while !shared.stopping.load(SeqCst) {
        let begun = Instant::now();
        let why = match shared.index.pairs.audit_page() {
            Ok(None) => {
                // What goes into the tree waits for this, and the cache of the tree is everybody's.
                thread::sleep(begun.elapsed());
                continue;
            }
            Ok(Some(true)) => return,
            Ok(Some(false)) => "its pairs are not those that were written".to_owned(),
            Err(why) => why,
        };
        // What is read may be wrong, so nothing may be decided on it any more.
        let fault = shared.index_failed(&why);
        let _ = shared.read_fault.set(fault.clone());
        let _ = shared.write_fault.set(fault);
        return;
    }
}

/// Verifies the journal from its beginning to `until`, where the verification on opening began.
pub(super) fn journal(shared: &Shared, dir: &Path, until: Head) {
    let _ = nice(NICE);
    let at = At { disk: &*shared.disk, dir };
    let stop = || shared.stopping.load(SeqCst);
    let wanted = BTreeSet::from([until.sequence]);
    // Meanwhile no file is archived.
    let _whole = shared.archiving.lock().unwrap_or_else(PoisonError::into_inner);
    let begins = shared.begins();
    let until_sequence = until.sequence;
    let store = &shared.store;
    let begins = &begins;
    let scanner = Scanner { at: &at, store, begins, wanted: &wanted, until: until_sequence, stop: &stop };
    let mut found = scanner.run(*begins);
    // That there is no file left to open says nothing of the journal.
    while matches!(&found, Err(OpenError::Io { source, .. }) if is_out_of_files(source)) && !stop() {
        thread::sleep(PAUSE);
        found = scanner.run(*begins);
    }
    let error = match found {
        Err(_) if stop() => return,
        // What was verified on opening may begin a file, and this ends with the file before.
        Ok(scan) if stop() || scan.anchors.get(&until.sequence).is_some_and(|a| a.hash == until.hash) => {
            return;
        }
        Ok(_) => at.damaged(JOURNAL, "its beginning does not lead to its end".to_owned()),
        Err(error) => error,
    };
    tracing::error!(%error, "an older part of the journal is damaged; writes are refused");
    shared.refuse_writes("the journal of the store is damaged, so nothing can be written");
}
