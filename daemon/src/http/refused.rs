//! What a request was about that its caller may not send: where only the body names it, a short body is read
//! for the audit trail (`audit.md` section 1). For that the answer waits half a second at most, and then, as
//! always, for the rest of a body that nobody reads (`body::drain`).

use super::access::AccessRequest;
use super::body;
use super::head::Head;
use super::payload::Payload;
use super::request::Request;
use super::route::{Handler, Route};
use super::routes::Found;
use super::state::State;
use super::trail::makes_what_its_body_names;
use bytes::Buf;
use futures_util::Stream;
use mfa_shared::endpoint::Method;
use mfa_shared::fault::Fault;
use mfa_shared::wire::BodyKind;
use std::sync::Arc;
use std::time::Duration;
use warp::http::header::EXPECT;

/// Most bytes that are read, and how long is waited for them.
const BYTES_MAX: usize = 64 * 1024;
const WITHIN: Duration = Duration::from_millis(500);

/// Records the refusal of a request with the record that its body names.
pub async fn name<S, B, E>(
    state: &Arc<State>,
    head: &Head,
    asked: AccessRequest,
    found: &Found<'_>,
    route: &Arc<Route>,
    body: S,
    fault: &Fault,
) where
    S: Stream<Item = Result<B, E>> + Send,
    B: Buf,
{
    let kind = route.meta.body.kind;
    let named = matches!(route.handler, Handler::Operation(_)) && kind == BodyKind::Json;
    // A client that asked whether to send takes the answer for a no.
    if !named
        || !makes_what_its_body_names(&route.meta)
        || head.noted.known().is_none()
        || head.headers.contains_key(EXPECT)
    {
        return;
    }
    if body::check_head(&head.headers, kind, BYTES_MAX).is_err() {
        return;
    }
    let body = body::paced(body, state.config.pace);
    let room = (&state.arriving, head.origin);
    let Ok((bytes, mut taken)) = body::read(body, BYTES_MAX, WITHIN, room).await else { return };
    if body::hold_values(&bytes, &mut taken, room).is_ok() {
        let payload = Payload { bytes, room: taken.map(Arc::new), ..Payload::default() };
        let request = Request::prepare(state, head, asked, found, route, &payload);
        // Of what is put, a body that does not keep to the rules does not say which kind of record it is.
        if request.prepared.is_ok() || route.meta.method == Method::Post {
            request.record_refusal(head, fault);
        }
    }
}
