//! `mfa migrate`: a whole store from one engine into the other, without a daemon.

use crate::clock::Clock;
use crate::config::Config;
use crate::open::{How, StartError, open_engine};
use crate::store::engine::Engine;
use crate::store::transfer::{Transferred, Watch, transfer};
use futures_util::future::LocalBoxFuture;
use std::path::{Path, PathBuf};

/// Copies a store; the target must be empty, or hold the beginning of the same copy. No daemon may use
/// either meanwhile, which both engines see to.
pub fn migrate<'a>(
    from: &'a Config,
    to: &'a Config,
    watch: Watch<'a>,
) -> LocalBoxFuture<'a, Result<Transferred, StartError>> {
    Box::pin(async move {
        if from.folder().is_some_and(|folder| !folder.join("FORMAT").exists()) {
            return Err(StartError::Settings(format!("there is no store in {}", from.shown_store())));
        }
        if let (Some(dir), Some(copy)) = (from.folder(), to.folder())
            && let (Ok(dir), Some(place)) = (dir.canonicalize(), there(copy))
            && place.starts_with(&dir)
        {
            let is = if place == dir && copy.exists() { "is" } else { "is in" };
            let why = format!("{} {is} the store that is to be copied: name another folder", copy.display());
            return Err(StartError::Settings(why));
        }
        let how = || How { alone: true, ..How::to_look() };
        let source = open_engine(from, How { existing: true, ..how() }).await?;
        let target = match open_engine(to, how()).await {
            Ok(target) => target,
            Err(error) => {
                close(&*source).await;
                return Err(error);
            }
        };
        let copied = transfer(&*source, &*target, Clock::system().now(), watch).await;
        close(&*source).await;
        close(&*target).await;
        copied.map_err(|error| StartError::Store(error.to_string()))
    })
}

/// The folder, or the nearest one above it that exists.
fn there(folder: &Path) -> Option<PathBuf> {
    folder.ancestors().find_map(|above| {
        let above = if above.as_os_str().is_empty() { Path::new(".") } else { above };
        above.canonicalize().ok()
    })
}

async fn close(engine: &dyn Engine) {
    if let Err(fault) = engine.close().await {
        tracing::error!(%fault, "a store did not close cleanly");
    }
}
