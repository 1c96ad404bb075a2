//! Requests written by the user: any method and path of the daemon.

use super::connect::is_of_daemon;
use super::doubt::Doubt;
use super::dry_run;
use super::request::{DRY_RUN, Manner, Parcel};
use super::{Client, connect, header};
use crate::failure::{Failure, Outcome};
use mfa_shared::fault::Problem;
use mfa_shared::wire::JSON_TYPE;
use reqwest::Method;
use reqwest::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, LOCATION};
use serde::de::IgnoredAny;

const METHODS: [Method; 6] =
    [Method::GET, Method::HEAD, Method::POST, Method::PUT, Method::DELETE, Method::OPTIONS];

/// The raw answer of the daemon.
#[derive(Debug)]
pub struct RawReply {
    pub content_type: String,
    pub bytes: Vec<u8>,
}

impl Client {
    /// Sends a request to a path, which begins with a slash and may have a query.
    pub async fn raw(
        &self,
        method: &str,
        path: &str,
        more: &[(String, String)],
        body: Option<(String, Vec<u8>)>,
    ) -> Outcome<RawReply> {
        let method = method.to_ascii_uppercase();
        let known = METHODS.into_iter().find(|known| known.as_str() == method);
        let Some(verb) = known.filter(|_| path.starts_with('/')) else {
            let hint = "such as: mfa api GET /customers, or mfa api PUT /offices/accra --input office.json";
            return Err(Failure::usage(format!("\"{method} {path}\" is not a method and a path")).hint(hint));
        };
        let mut headers = HeaderMap::new();
        headers.insert(ACCEPT, header("*/*")?);
        if let Some(token) = self.bearer().await? {
            headers.insert(AUTHORIZATION, header(&format!("Bearer {token}"))?);
        }
        for (name, value) in more {
            let name: HeaderName = name
                .parse()
                .map_err(|_| Failure::usage(format!("\"{name}\" is not the name of a header")))?;
            headers.insert(name, header(value)?);
        }
        let tries = self.dry_run && !["GET", "HEAD", "OPTIONS"].contains(&method.as_str());
        if tries {
            headers.insert(DRY_RUN, HeaderValue::from_static("true"));
        }
        let url = format!("{}{path}", self.url);
        let is_head = verb == Method::HEAD;
        // Nobody knows how long the answer is, nor whether it ends.
        let manner = Manner { keyed: true, flows: true, ..Manner::default() };
        let parcel = Parcel { method: verb, url, headers, body, manner };
        let response = self.deliver(parcel).await?;
        let doubt = response.extensions().get::<Doubt>().copied();
        if is_head && response.status().as_u16() >= 400 && is_of_daemon(&response) {
            return Err(Failure::without_body(response.status().as_u16(), path));
        }
        let kind = response.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
        let status = response.status();
        let content_type = kind.unwrap_or_default().to_owned();
        if !status.is_success() && status.as_u16() != 304 {
            let (status, text) = self.text(response).await?;
            let failure = match serde_json::from_str::<Problem>(&text) {
                Ok(problem) => Failure::problem(problem),
                Err(_) => Failure::status(status, &self.url),
            };
            return Err(self.doubting(doubt, failure));
        }
        if !is_of_daemon(&response) {
            return Err(self.doubting(doubt, Failure::status(status.as_u16(), &self.url)));
        }
        if tries && !response.headers().contains_key(DRY_RUN) {
            return Err(dry_run::ignored(&self.url));
        }
        let location = response.headers().get(LOCATION).and_then(|value| value.to_str().ok());
        let location = location.map(str::to_owned);
        let bytes = response.bytes().await;
        let bytes = bytes
            .map_err(|error| self.broken_off(doubt, connect::unreachable(&self.url, self.timeout, &error)))?;
        let is_json = content_type.starts_with(JSON_TYPE) && !bytes.is_empty();
        if is_json && serde_json::from_slice::<IgnoredAny>(&bytes).is_err() {
            return Err(self.broken_off(doubt, Failure::unexpected(&self.url, "with JSON that is cut")));
        }
        // An answer with a body reports the result of the change itself.
        if tries && bytes.is_empty() {
            return Err(dry_run::would_be_accepted(&method, path, location));
        }
        Ok(RawReply { content_type, bytes: bytes.into() })
    }
}
