//! One short message through an SMS service, by one POST in the way of the common Messages APIs.

use super::exchange::exchange;
use super::span::{Span, failed};
use super::words::Mask;
use crate::domain::gateway::{ACCOUNT_PLACE, Failed, Sms, Stage, Taken};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use http_body_util::Full;
use hyper::Request;
use hyper::header::{ACCEPT, AUTHORIZATION, CONNECTION, CONTENT_TYPE, HOST, HeaderValue, USER_AGENT};
use mfa_shared::endpoint::percent_encode;

/// Sends a short message.
pub async fn send(sms: Sms) -> Result<Taken, Failed> {
    let span = Span::new(sms.limits.whole);
    let mask = Mask::new(&sms.account_sid, &sms.auth_token);
    let covered = |failed: Failed| Failed { why: mask.clean(&failed.why), ..failed };
    let request = write(&sms).map_err(covered)?;
    // The token travels with the request, so in clear it stays on this machine.
    let loopback_only = !sms.endpoint.tls;
    let answer = exchange(&sms.endpoint, request, loopback_only, &sms.limits, span).await;
    let (status, body) = answer.map_err(covered)?;
    let host = &sms.endpoint.host;
    let words = format!("{} {}", status.as_u16(), String::from_utf8_lossy(&body));
    if status.is_success() {
        let sid = serde_json::from_slice::<serde_json::Value>(&body).ok();
        let sid = sid.and_then(|json| json.get("sid")?.as_str().map(|sid| mask.clean(sid)));
        return Ok(Taken { answer: mask.clean(&words), message: sid, code: Some(status.as_u16()) });
    }
    let (stage, refused) = match status.as_u16() {
        401 | 403 => (Stage::SignIn, "refused the sign-in"),
        _ => (Stage::Send, "refused the message"),
    };
    let why = format!("{host} {refused}: \"{}\"", mask.clean(&words));
    Err(Failed { stage, code: Some(status.as_u16()), why })
}

fn write(sms: &Sms) -> Result<Request<Full<Bytes>>, Failed> {
    let account = percent_encode(&sms.account_sid);
    let path = sms.endpoint.path.replace(ACCOUNT_PLACE, &account);
    let form = [("To", &sms.to), ("From", &sms.from), ("Body", &sms.text)]
        .map(|(name, value)| format!("{name}={}", percent_encode(value)))
        .join("&");
    let sign_in = STANDARD.encode(format!("{}:{}", sms.account_sid, sms.auth_token.expose()));
    let unwritable = || failed(Stage::Send, "the request to the service cannot be written");
    let mut sign_in = HeaderValue::from_str(&format!("Basic {sign_in}")).map_err(|_| unwritable())?;
    sign_in.set_sensitive(true);
    Request::post(path)
        .header(HOST, sms.endpoint.authority())
        .header(AUTHORIZATION, sign_in)
        .header(CONTENT_TYPE, "application/x-www-form-urlencoded")
        .header(ACCEPT, "application/json")
        .header(USER_AGENT, concat!("mfa/", env!("CARGO_PKG_VERSION")))
        .header(CONNECTION, "close")
        .body(Full::new(Bytes::from(form)))
        .map_err(|_| unwritable())
}
