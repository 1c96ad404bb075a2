//! Operations that were written down already, in one request.

use super::request::{Manner, Request};
use super::{Client, IDEMPOTENCY_KEY, header};
use crate::failure::{Failure, Outcome};
use mfa_shared::api::batch::{BatchResult, OPERATIONS_MAX, OperationResult, SendBatch};
use mfa_shared::endpoint::{Endpoint, Meta, render};
use mfa_shared::wire::{JSON_TYPE, Outgoing};
use serde_json::{Value, json};

/// How the text of an operation begins that reads, as [`operation`] writes it.
const READ: &str = r#"{"method":"GET""#;

/// How operations are sent.
#[derive(Debug, Clone, Copy, Default)]
pub struct Way<'w> {
    /// All of them or none.
    pub atomic: bool,
    /// None of them changes anything.
    pub reads: bool,
    /// The key of the batch. Without one, each change has to have its own: a batch may be sent twice.
    pub key: Option<&'w str>,
    /// Whether the keys of its changes are made from that of the command.
    pub parts_keyed: bool,
    /// What the printed line of curl has in their place.
    pub plain: Option<&'w [String]>,
}

/// The text of an operation; `body` is JSON already.
pub fn operation(
    meta: &Meta,
    params: &[&str],
    key: Option<&str>,
    tag: Option<&str>,
    body: Option<&str>,
) -> String {
    let method = meta.method.as_str();
    let path = Value::from(render(meta.path, params));
    let key = key.map_or_else(String::new, |key| format!(r#","idempotencyKey":{}"#, Value::from(key)));
    let tag = tag.map_or_else(String::new, |tag| format!(r#","ifMatch":{}"#, Value::from(tag)));
    let body = body.map_or_else(String::new, |body| format!(r#","body":{body}"#));
    format!(r#"{{"method":"{method}","path":{path}{key}{tag}{body}}}"#)
}

/// The result of an operation that no batch can hold, as the daemon reports that of a refused one.
fn too_large(failure: &Failure, url: &str) -> Outcome<OperationResult> {
    let (code, message) = (&failure.code, &failure.message);
    let problem = json!({
        "type": format!("urn:mfa:problem:{code}"), "title": message, "status": 413, "detail": message,
        "code": code, "instance": SendBatch::META.path, "requestId": "",
    });
    let result = json!({ "status": 413, "replayed": false, "problem": problem });
    serde_json::from_value(result).map_err(|_| Failure::status(413, url))
}

impl Client {
    /// Sends operations, each with a key of its own, in as many batches as the daemon requires.
    pub async fn operations(&self, operations: &[String]) -> Outcome<Vec<OperationResult>> {
        let mut results = Vec::with_capacity(operations.len());
        let mut waiting: Vec<_> = operations.chunks(OPERATIONS_MAX).rev().collect();
        while let Some(part) = waiting.pop() {
            let reads = part.iter().all(|operation| operation.starts_with(READ));
            match self.batch(part, Way { reads, ..Way::default() }).await {
                Ok(BatchResult { results: of_part }) => results.extend(of_part),
                Err(failure) if failure.status == Some(413) && part.len() > 1 => {
                    let (first, second) = part.split_at(part.len() / 2);
                    waiting.extend([second, first]);
                }
                // What is too large by itself is refused by itself.
                Err(failure) if failure.status == Some(413) => results.push(too_large(&failure, &self.url)?),
                Err(failure) => return Err(failure),
            }
        }
        Ok(results)
    }

    /// Sends operations, each the text of its JSON.
    pub async fn batch(&self, operations: &[String], way: Way<'_>) -> Outcome<BatchResult> {
        let Way { atomic, reads, key, parts_keyed, plain } = way;
        let body = |operations: &[String]| {
            format!(r#"{{"atomic":{atomic},"operations":[{}]}}"#, operations.join(",")).into_bytes()
        };
        let sent = Some((JSON_TYPE.into(), body(operations)));
        let outgoing = Outgoing { query: Vec::new(), body: sent };
        let printed = plain.map(body);
        let manner = Manner { parts_keyed, reads, bulk: true, printed, ..Manner::default() };
        let row = Request::of_row((&SendBatch::META, &[]), outgoing);
        let mut request = Request { reports: true, manner, ..row };
        if let Some(key) = key {
            request.headers.insert(IDEMPOTENCY_KEY, header(key)?);
        }
        let (text, reply) = self.heard(request).await?;
        let answer = serde_json::from_str(&text).ok();
        // What has no result would count as done, or be passed over.
        let is_whole = |answer: &BatchResult| answer.results.len() == operations.len();
        let answer = answer.filter(is_whole).ok_or_else(|| self.misread(&reply))?;
        for (operation, result) in operations.iter().zip(&answer.results) {
            self.note_result(operation, result);
        }
        Ok(answer)
    }
}
