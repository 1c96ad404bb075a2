//! Events to their receiver, by one POST as the Standard Webhooks specification has it.

use super::exchange::exchange;
use super::span::{Span, failed};
use super::words::Mask;
use crate::domain::gateway::{Failed, Stage, Taken};
use crate::domain::webhook::{Message, signature};
use bytes::Bytes;
use http_body_util::Full;
use hyper::Request;
use hyper::header::{CONNECTION, CONTENT_TYPE, HOST, USER_AGENT};

/// Delivers events.
pub async fn send(message: Message) -> Result<Taken, Failed> {
    let span = Span::new(message.limits.whole).with("the receiver");
    let unwritable = |_| failed(Stage::Send, "the request to the receiver cannot be written");
    let Message { to, limits, secret, id, at, body } = &message;
    let seconds = at.millis().div_euclid(1000);
    let request = Request::post(&to.path)
        .header(HOST, to.authority())
        .header(CONTENT_TYPE, "application/json")
        .header(USER_AGENT, concat!("mfa/", env!("CARGO_PKG_VERSION")))
        .header(CONNECTION, "close")
        .header("webhook-id", id)
        .header("webhook-timestamp", seconds)
        .header("webhook-signature", signature(secret, id, seconds, body))
        .body(Full::new(Bytes::from(body.clone())))
        .map_err(unwritable)?;
    // What is sent is no secret; only its signature depends on one.
    let mask = Mask::new("", secret);
    let covered = |failed: Failed| Failed { why: mask.clean(&failed.why), ..failed };
    let (status, body) = exchange(to, request, false, limits, span).await.map_err(covered)?;
    let words = mask.clean(&format!("{} {}", status.as_u16(), String::from_utf8_lossy(&body)));
    if status.is_success() {
        return Ok(Taken { answer: words, message: Some(id.clone()), code: Some(status.as_u16()) });
    }
    let refused =
        if status.is_redirection() { "redirects, which is not followed" } else { "refused the events" };
    let why = format!("{} {refused}: \"{words}\"", to.host);
    Err(Failed { stage: Stage::Send, code: Some(status.as_u16()), why })
}
