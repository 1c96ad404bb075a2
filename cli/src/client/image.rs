//! Images, sent and received piece by piece, so that progress on a slow line can be shown.

use super::limits::{self, IMAGE_MIB_MAX, Unread};
use super::request::{Request, Watch};
use super::{Client, connect, too_late};
use crate::failure::{Failure, Outcome, codes};
use crate::words::hex;
use bytes::Bytes;
use futures_util::stream;
use mfa_shared::endpoint::Endpoint;
use mfa_shared::time::Timestamp;
use mfa_shared::upload::ImageBytes;
use mfa_shared::wire::Nothing;
use reqwest::header::{CONTENT_LENGTH, CONTENT_TYPE, ETAG, HeaderMap, HeaderName, LAST_MODIFIED};
use ring::digest;
use std::convert::Infallible;
use std::time::UNIX_EPOCH;

/// Bytes that are sent at once.
const PIECE_BYTES: usize = 16 * 1024;

/// What the daemon says about an image.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Facts {
    pub content_type: String,
    /// Number of its bytes, unless something on the way has left it out.
    pub bytes: Option<u64>,
    pub sha256: String,
    /// When it was uploaded; in seconds, which is the precision of HTTP.
    pub uploaded_on: Option<Timestamp>,
}

/// The body of an upload, and its length.
pub(super) fn upload(
    request: reqwest::RequestBuilder,
    bytes: &Bytes,
    watch: &Watch,
) -> reqwest::RequestBuilder {
    let (bytes, watch, length) = (bytes.clone(), watch.clone(), bytes.len());
    let pieces = (0..length).step_by(PIECE_BYTES).map(move |at| {
        let end = length.min(at + PIECE_BYTES);
        watch(end as u64, length as u64);
        Ok::<_, Infallible>(bytes.slice(at..end))
    });
    let body = reqwest::Body::wrap_stream(stream::iter(pieces));
    request.header(CONTENT_LENGTH, length).body(body)
}

impl Client {
    /// Sends an image and reports its progress to `watch`.
    pub async fn upload<E: Endpoint>(&self, endpoint: &E, body: &E::Body, watch: Watch) -> Outcome {
        let mut request = Request::new(endpoint, body);
        request.manner.watch = Some(watch);
        self.answered(request).await.map(drop)
    }

    /// What the daemon says about an image, and all its bytes, once their digest is right.
    pub async fn image<E>(&self, endpoint: &E) -> Outcome<(Facts, Bytes)>
    where
        E: Endpoint<Body = Nothing, Answer = ImageBytes>,
    {
        let mut response = self.accepted(Request::new(endpoint, &Nothing).flowing()).await?;
        let facts = facts(response.headers()).ok_or_else(|| Failure::status(200, &self.url))?;
        let broken = |why: &str| {
            let message = format!("the image from {} did not arrive whole: {why}", self.url);
            Failure::new(codes::IMAGE_BROKEN, message).hint("repeat the command")
        };
        let read = limits::whole(&mut response, IMAGE_MIB_MAX, self.timeout).await;
        let bytes = read.map_err(|unread| match unread {
            Unread::TooLong => {
                Failure::unexpected(&self.url, &format!("with an image of more than {IMAGE_MIB_MAX} MiB"))
            }
            Unread::TooSlow => too_late(&self.url, self.timeout),
            Unread::Broken(error) => broken(&connect::root(&error)),
        })?;
        if hex(digest::digest(&digest::SHA256, &bytes).as_ref()) != facts.sha256 {
            return Err(broken("its bytes were changed"));
        }
        Ok((facts, bytes.into()))
    }

    /// What the daemon says about an image, without the image.
    pub async fn image_facts<E>(&self, endpoint: &E) -> Outcome<Facts>
    where
        E: Endpoint<Body = Nothing, Answer = ImageBytes>,
    {
        let request = Request { head_only: true, ..Request::new(endpoint, &Nothing) };
        let response = self.request(request).await?;
        let status = response.status().as_u16();
        let facts = facts(response.headers()).filter(|_| status == 200);
        facts.ok_or_else(|| Failure::status(status, &self.url))
    }
}

fn facts(headers: &HeaderMap) -> Option<Facts> {
    let text = |name: HeaderName| headers.get(name)?.to_str().ok();
    Some(Facts {
        content_type: text(CONTENT_TYPE)?.to_owned(),
        bytes: text(CONTENT_LENGTH).and_then(|length| length.parse().ok()),
        sha256: text(ETAG)?.trim_start_matches("W/").trim_matches('"').to_owned(),
        uploaded_on: text(LAST_MODIFIED).and_then(moment),
    })
}

/// The moment that a header names.
pub(super) fn moment(text: &str) -> Option<Timestamp> {
    let since = httpdate::parse_http_date(text).ok()?.duration_since(UNIX_EPOCH).ok()?;
    Some(Timestamp::from_millis(i64::try_from(since.as_millis()).ok()?))
}
