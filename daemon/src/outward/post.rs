//! One message to a service, by one POST.

use super::exchange::exchange;
use super::span::{Span, failed};
use super::words::Mask;
use crate::domain::gateway::{Failed, Post, Stage, Taken};
use bytes::Bytes;
use http_body_util::Full;
use hyper::Request;
use hyper::header::{ACCEPT, AUTHORIZATION, CONNECTION, CONTENT_TYPE, HOST, HeaderValue, USER_AGENT};

/// Sends a message.
pub async fn send(post: Post) -> Result<Taken, Failed> {
    let span = Span::new(post.limits.whole);
    let mask = Mask::new(&post.covered.0, &post.covered.1);
    let covered = |failed: Failed| Failed { why: mask.clean(&failed.why), ..failed };
    let request = write(&post).map_err(covered)?;
    // The secret travels with the request, so in clear it stays on this machine.
    let loopback_only = !post.to.tls;
    let answer = exchange(&post.to, request, loopback_only, &post.limits, span).await;
    let (status, body) = answer.map_err(covered)?;
    let host = &post.to.host;
    let words = format!("{} {}", status.as_u16(), String::from_utf8_lossy(&body));
    if status.is_success() {
        let named = serde_json::from_slice::<serde_json::Value>(&body).ok();
        let named = named.and_then(|json| json.get(post.named_by)?.as_str().map(|name| mask.clean(name)));
        return Ok(Taken { answer: mask.clean(&words), message: named, code: Some(status.as_u16()) });
    }
    let (stage, refused) = match status.as_u16() {
        401 | 403 => (Stage::SignIn, "refused the sign-in"),
        _ => (Stage::Send, "refused the message"),
    };
    let why = format!("{host} {refused}: \"{}\"", mask.clean(&words));
    Err(Failed { stage, code: Some(status.as_u16()), why })
}

fn write(post: &Post) -> Result<Request<Full<Bytes>>, Failed> {
    let unwritable = || failed(Stage::Send, "the request to the service cannot be written");
    let mut sign_in = HeaderValue::from_str(post.sign_in.expose()).map_err(|_| unwritable())?;
    sign_in.set_sensitive(true);
    Request::post(&post.to.path)
        .header(HOST, post.to.authority())
        .header(AUTHORIZATION, sign_in)
        .header(CONTENT_TYPE, post.content_type)
        .header(ACCEPT, "application/json")
        .header(USER_AGENT, concat!("mfa/", env!("CARGO_PKG_VERSION")))
        .header(CONNECTION, "close")
        .body(Full::new(Bytes::from(post.body.clone())))
        .map_err(|_| unwritable())
}
