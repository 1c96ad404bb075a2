//! One request by HTTP and its answer.
//!
//! The connection is our own rather than that of a pooled client: this separates connecting, encrypting and
//! sending, limits time and length, and keeps a redirect, proxy or retry from carrying a secret elsewhere.

use super::dial;
use super::span::{Span, broke_off, failed};
use crate::domain::gateway::{Failed, Limits, Stage};
use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::client::conn::http1;
use hyper::{Request, StatusCode};
use hyper_util::rt::TokioIo;
use mfa_shared::address::ServiceAddress;
use tokio::io::{AsyncRead, AsyncWrite};

/// What came back: the status, and as much of the body as was read.
pub type Answer = (StatusCode, Vec<u8>);

/// Sends a request to an address; with `loopback_only` the address must be one of this machine.
pub async fn exchange(
    to: &ServiceAddress,
    request: Request<Full<Bytes>>,
    loopback_only: bool,
    limits: &Limits,
    span: Span,
) -> Result<Answer, Failed> {
    let stream = dial::connect(&to.host, to.port, loopback_only, limits, span).await?;
    if !to.tls {
        return ask(stream, request, &to.host, span).await;
    }
    let trust = dial::trust(limits, span).await?;
    let stream = dial::encrypt(stream, &to.host, &trust, span).await?;
    ask(stream, request, &to.host, span).await
}

async fn ask<S>(stream: S, request: Request<Full<Bytes>>, host: &str, span: Span) -> Result<Answer, Failed>
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let broken = |error: hyper::Error| {
        let cause = std::error::Error::source(&error).map_or_else(|| error.to_string(), ToString::to_string);
        failed(Stage::Send, format!("the connection to {host} {}: {cause}", broke_off(Stage::Send)))
    };
    let begun = span.step(Stage::Send, http1::handshake(TokioIo::new(stream))).await?;
    let (mut sender, connection) = begun.map_err(broken)?;
    // It ends with this request, even if no one waits for the answer any more.
    let _connection = AbortOnDrop(tokio::spawn(connection));
    match span.step(Stage::Send, sender.send_request(request)).await? {
        Ok(answer) => {
            let (head, body) = answer.into_parts();
            Ok((head.status, read(body, span).await))
        }
        Err(error) => Err(broken(error)),
    }
}

/// A task that ends with its owner.
struct AbortOnDrop<T>(tokio::task::JoinHandle<T>);

impl<T> Drop for AbortOnDrop<T> {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// As much of a body as comes: the status has decided already whether the message was taken.
async fn read(mut body: Incoming, span: Span) -> Vec<u8> {
    let mut bytes = Vec::new();
    while let Ok(Some(Ok(frame))) = span.step(Stage::Send, body.frame()).await {
        if let Ok(part) = frame.into_data() {
            bytes.extend_from_slice(&part);
        }
    }
    bytes
}
