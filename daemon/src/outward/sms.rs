//! One short message through an SMS service, by one POST in the way of the common Messages APIs.
//!
//! The connection is ours and not one of a client with a pool: so connecting, encrypting and asking are told
//! apart, time and length have a limit, and no redirect, proxy or second try can carry the token elsewhere.

use super::dial;
use super::words::Mask;
use super::{Span, broke_off, failed};
use crate::domain::gateway::{ACCOUNT_PLACE, Failed, Sms, Stage, Taken};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::client::conn::http1;
use hyper::header::{ACCEPT, AUTHORIZATION, CONNECTION, CONTENT_TYPE, HOST, HeaderValue, USER_AGENT};
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use mfa_shared::endpoint::percent_encode;
use tokio::io::{AsyncRead, AsyncWrite};

/// Sends a short message.
pub async fn send(sms: Sms) -> Result<Taken, Failed> {
    let span = Span::new(sms.limits.whole);
    let mask = Mask::new(&sms.account_sid, &sms.auth_token);
    let covered = |failed: Failed| Failed { why: mask.clean(&failed.why), ..failed };
    let request = write(&sms).map_err(covered)?;
    let (host, tls) = (&sms.endpoint.host, sms.endpoint.tls);
    let stream = dial::connect(host, sms.endpoint.port, !tls, &sms.limits, span).await.map_err(covered)?;
    let answer = if tls {
        let authorities = dial::authorities(&sms.limits).await.map_err(covered)?;
        let stream = dial::encrypt(stream, host, authorities, span).await.map_err(covered)?;
        ask(stream, request, host, span).await
    } else {
        ask(stream, request, host, span).await
    };
    let (answer, body) = answer.map_err(covered)?;
    let status = answer.status();
    let words = format!("{} {}", status.as_u16(), String::from_utf8_lossy(&body));
    if status.is_success() {
        let sid = serde_json::from_slice::<serde_json::Value>(&body).ok();
        let sid = sid.and_then(|json| json.get("sid")?.as_str().map(|sid| mask.clean(sid)));
        return Ok(Taken { answer: mask.clean(&words), message: sid });
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
        .header(HOST, authority(sms))
        .header(AUTHORIZATION, sign_in)
        .header(CONTENT_TYPE, "application/x-www-form-urlencoded")
        .header(ACCEPT, "application/json")
        .header(USER_AGENT, concat!("mfa/", env!("CARGO_PKG_VERSION")))
        .header(CONNECTION, "close")
        .body(Full::new(Bytes::from(form)))
        .map_err(|_| unwritable())
}

fn authority(sms: &Sms) -> String {
    let (host, port) = (&sms.endpoint.host, sms.endpoint.port);
    let usual = if sms.endpoint.tls { 443 } else { 80 };
    if port == usual { host.clone() } else { format!("{host}:{port}") }
}

async fn ask<S>(
    stream: S,
    request: Request<Full<Bytes>>,
    host: &str,
    span: Span,
) -> Result<(Response<()>, Vec<u8>), Failed>
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let broken = |error: hyper::Error| {
        let cause = std::error::Error::source(&error).map_or_else(|| error.to_string(), ToString::to_string);
        failed(Stage::Send, format!("the connection to {host} {}: {cause}", broke_off(Stage::Send)))
    };
    let begun = span.step(Stage::Send, http1::handshake(TokioIo::new(stream))).await?;
    let (mut sender, connection) = begun.map_err(broken)?;
    let connection = tokio::spawn(connection);
    let answer = span.step(Stage::Send, sender.send_request(request)).await;
    let answer = match answer {
        Ok(Ok(answer)) => {
            let (head, body) = answer.into_parts();
            Ok((Response::from_parts(head, ()), read(body, span).await))
        }
        Ok(Err(error)) => Err(broken(error)),
        Err(late) => Err(late),
    };
    connection.abort();
    answer
}

/// As much of a body as comes: the status has decided already what became of the message.
async fn read(mut body: Incoming, span: Span) -> Vec<u8> {
    let mut bytes = Vec::new();
    while let Ok(Some(Ok(frame))) = span.step(Stage::Send, body.frame()).await {
        if let Ok(part) = frame.into_data() {
            bytes.extend_from_slice(&part);
        }
    }
    bytes
}
