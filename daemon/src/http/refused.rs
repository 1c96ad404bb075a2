//! What a request was about that its caller may not send: where only the body names it, a short body is read
//! for the audit trail (`audit.md` section 1). The answer waits no longer for that than it waits for the end
//! of any body that nobody reads (`body::drain`).

use super::access::AccessRequest;
use super::body;
use super::head::Head;
use super::payload::Payload;
use super::request::Request;
use super::route::{Handler, Route};
use super::routes::Found;
use super::state::State;
use super::trail::is_of_body;
use bytes::Buf;
use futures_util::Stream;
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
    if !named || !is_of_body(&route.meta) || head.noted.known().is_none() || head.headers.contains_key(EXPECT)
    {
        return;
    }
    if body::check_head(&head.headers, kind, BYTES_MAX).is_err() {
        return;
    }
    let body = body::paced(body, state.config.pace);
    if let Ok(bytes) = body::read(body, BYTES_MAX, WITHIN).await {
        let payload = Payload { bytes, form: None };
        Request::prepare(state, head, asked, found, route, &payload).record_refusal(head, fault);
    }
}
