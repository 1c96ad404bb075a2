//! `GET /search`: the column in memory finds candidates, and the store decides.

use super::access::{self, AccessRequest};
use super::head::Head;
use super::load::Class;
use super::reply::Reply;
use super::response::respond;
use super::state::State;
use crate::config::Auth;
use crate::domain::search::{Kind, Phrase};
use crate::ops;
use crate::ops::listing::json;
use crate::store::Tx;
use mfa_shared::api::search::{HITS_DEFAULT, SearchQuery};
use mfa_shared::fault::Fault;
use mfa_shared::query::{Parameters, Params};
use std::sync::Arc;
use warp::reply::Response;

/// Finds that are looked at beyond those that are shown, since some may have gone meanwhile.
const SPARE: usize = 10;
/// The header that names kinds of records that were not searched, because the caller may not read them.
const LEFT_OUT: &str = "left-out";
const KINDS: [Kind; 4] = [Kind::Customer, Kind::Employee, Kind::Office, Kind::Account];

/// Answers a search.
pub async fn answer(state: &Arc<State>, head: &Head, asked: AccessRequest) -> Result<Response, Fault> {
    let _pass = state.loads.enter(Class::List)?;
    let shared = state.clone();
    let caller = state.store.read(false, move |tx| access::admit(&shared, tx, &asked)).await?;
    let query = SearchQuery::read(&Params::parse(&head.query))?;
    let checked = state.config.auth == Auth::On;
    let wanted = |kind: &Kind| query.kinds.is_empty() || query.kinds.contains(&ops::search::hit_kind(*kind));
    let asked_for = KINDS.into_iter().filter(wanted);
    let (kinds, left_out): (Vec<_>, Vec<_>) =
        asked_for.partition(|kind| !checked || ops::search::may_read(&caller, *kind));
    let phrase = Arc::new(Phrase::parse(&query.text));
    let size = query.size.unwrap_or(HITS_DEFAULT) as usize;
    let (found, near) = state.search.find(&state.store, &phrase, &kinds, size + SPARE).await?;
    let look = move |tx: &mut Tx<'_>| ops::search::hits(tx, &phrase, &found, near, size);
    let hits = state.store.read(true, look).await?;
    let mut reply = Reply::json(json(&hits));
    if !left_out.is_empty() {
        let names: Vec<_> = left_out.into_iter().map(|kind| ops::search::hit_kind(kind).as_str()).collect();
        reply.headers.push((LEFT_OUT.to_owned(), names.join(", ")));
    }
    Ok(respond(reply, None))
}
