//! Operations that were written down already, in one request.

use super::{Client, Request, header};
use crate::failure::{Failure, Outcome};
use mfa_shared::api::batch::{BatchResult, SendBatch};
use mfa_shared::endpoint::Endpoint;
use mfa_shared::wire::{JSON_TYPE, Outgoing};
use reqwest::header::{HeaderMap, HeaderName};

impl Client {
    /// Sends operations, each the text of its JSON. Without a key for the batch, each has to have its own:
    /// a batch may be sent twice.
    pub async fn batch(
        &self,
        operations: &[String],
        atomic: bool,
        key: Option<&str>,
    ) -> Outcome<BatchResult> {
        let body = format!(r#"{{"atomic":{atomic},"operations":[{}]}}"#, operations.join(","));
        let outgoing = Outgoing { query: Vec::new(), body: Some((JSON_TYPE.into(), body.into_bytes())) };
        let mut headers = HeaderMap::new();
        if let Some(key) = key {
            headers.insert(HeaderName::from_static("idempotency-key"), header(key)?);
        }
        let (meta, params) = (&SendBatch::META, Vec::new());
        let request = Request {
            meta,
            params,
            outgoing,
            headers,
            head_only: false,
            tells: true,
            keyed: false,
            watch: None,
        };
        let heard = self.heard(request).await?;
        serde_json::from_str(&heard.text).map_err(|_| Failure::status(200, &self.url))
    }
}
