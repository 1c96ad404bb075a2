//! `GET /admin/backup`: the whole store in one stream, made as fast as the client takes it.

use super::access::{self, AccessRequest};
use super::head::Head;
use super::reply::{CACHE_CONTROL, Reply};
use super::response::{CHUNKS_WAITING, Chunks, respond};
use super::state::{BACKUPS_AT_ONCE, State};
use mfa_shared::api::backup::FILE_TYPE;
use mfa_shared::fault::{self, Fault};
use std::sync::Arc;
use tokio::sync::mpsc;
use warp::http::Method;
use warp::reply::Response;

/// Seconds after which to ask again.
const RETRY_SECONDS: u32 = 30;

/// Answers with a backup. A failure on the way breaks the stream off, and what has arrived has no end then,
/// by which it is known.
pub async fn answer(state: &Arc<State>, head: &Head, asked: AccessRequest) -> Result<Response, Fault> {
    let shared = state.clone();
    state.store.read(false, move |tx| access::admit(&shared, tx, &asked).map(drop)).await?;
    let mut reply = Reply::empty(200);
    reply.content_type = Some(FILE_TYPE.to_owned());
    reply.headers.push((CACHE_CONTROL.to_owned(), "no-store".to_owned()));
    let name = "attachment; filename=\"backup.mfab\"";
    reply.headers.push(("content-disposition".to_owned(), name.to_owned()));
    if head.method == Method::HEAD {
        return Ok(respond(reply, None));
    }
    let Ok(place) = state.backup_places.clone().try_acquire_owned() else {
        let detail = format!("{BACKUPS_AT_ONCE} backups are being made; ask again when one is done");
        return Err(Fault::new(fault::UNAVAILABLE, detail).retry_after(RETRY_SECONDS));
    };
    let (sender, receiver): (_, Chunks) = mpsc::channel(CHUNKS_WAITING);
    let store = state.store.clone();
    tokio::spawn(async move {
        let _place = place;
        if let Err(error) = store.back_up_beside_daemons(sender).await {
            tracing::warn!(%error, "a backup broke off");
        }
    });
    Ok(respond(reply, Some(receiver)))
}
