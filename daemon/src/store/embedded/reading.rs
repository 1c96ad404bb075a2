//! Work that reads: on the thread of its caller, or beside it on one that may wait for the disk.

use super::panicked::panic_text;
use super::refusal::unavailable;
use super::shared::Shared;
use mfa_shared::fault::{Fault, INTERNAL};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

/// Runs a read that may panic, which is a defect of its own.
pub(super) fn run_read(shared: &Shared, read: impl FnOnce(&Shared)) -> Result<(), Fault> {
    if let Some(fault) = shared.read_fault.get() {
        return Err(fault.clone());
    }
    catch_unwind(AssertUnwindSafe(|| read(shared))).map_err(|panic| {
        tracing::error!(why = panic_text(&*panic), "reading work has panicked");
        Fault::new(INTERNAL, "the request broke off because of a defect")
    })
}

/// Work that reads much of the disk. Until it ends the folder stays locked.
pub(super) async fn blocking<T: Send + 'static>(
    shared: Arc<Shared>,
    work: impl FnOnce(Arc<Shared>) -> Result<T, Fault> + Send + 'static,
) -> Result<T, Fault> {
    let held = shared.counts.beside.enter();
    let work = move || {
        let done = work(shared);
        drop(held);
        done
    };
    let done = tokio::task::spawn_blocking(work).await;
    done.unwrap_or_else(|error| {
        let stopping = error.is_cancelled();
        Err(unavailable(if stopping { "the daemon is stopping" } else { "the work broke off" }))
    })
}
