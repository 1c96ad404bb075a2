//! `GET /openapi.json`: the endpoint table for programs, without a token.
//!
//! Each operation names, beside what OpenAPI knows, the application and the path under which a permittable
//! matches it and the operation that a permission needs, so that groups can be written from it.

use super::rate;
use super::route::{Handler, Look, Route, status};
use super::table::table;
use crate::ops::listing::json as text;
use bytes::Bytes;
use mfa_shared::api::answers_secret;
use mfa_shared::api::applications::KEY_TIMESTAMP_PATTERN;
use mfa_shared::api::backup::FILE_TYPE;
use mfa_shared::api::documents::{GetDocs, GetOpenApi};
use mfa_shared::api::events::{EVENT_STREAM, ListEvents};
use mfa_shared::endpoint::{Endpoint, Meta, Method, path_params, segments};
use mfa_shared::object::named_schemas;
use mfa_shared::rule::{Rule as _, Word, date};
use mfa_shared::upload::ImageType;
use mfa_shared::wire::{AnswerKind, BodyKind, FORM_TYPE, NDJSON_TYPE};
use serde_json::{Map, Value, json};
use std::sync::OnceLock;

/// The rows that describe the table.
pub fn routes() -> Vec<Route> {
    vec![status::<GetOpenApi>(Look::OpenApi), status::<GetDocs>(Look::Docs)]
}

/// The description. All answers share its bytes, however many clients ask and do not read.
pub(super) fn described(guarded: bool) -> Bytes {
    static DOCUMENTS: [OnceLock<Bytes>; 2] = [OnceLock::new(), OnceLock::new()];
    DOCUMENTS[usize::from(guarded)].get_or_init(|| text(&document(guarded)).into()).clone()
}

/// The description; `guarded` says whether this daemon asks for tokens.
fn document(guarded: bool) -> Value {
    let mut paths = Map::new();
    for route in table() {
        let path = paths.entry(route.meta.path).or_insert_with(|| json!({}));
        path[route.meta.method.as_str().to_ascii_lowercase()] = operation(&route);
    }
    let problem = json!({
        "type": "object",
        "description": "Why a request was refused; clients decide by code and status.",
        "required": ["type", "title", "status", "detail", "code", "instance", "requestId"],
        "properties": {
            "type": { "type": "string" }, "title": { "type": "string" }, "status": { "type": "integer" },
            "detail": { "type": "string" }, "code": { "type": "string" }, "instance": { "type": "string" },
            "requestId": { "type": "string" }, "retryAfter": { "type": "integer" },
            "error": { "type": "string" }, "stage": { "type": "string" },
            "gatewayCode": { "type": ["integer", "null"] }, "operation": { "type": "integer" },
            "missing": { "type": "array", "items": { "$ref": "#/components/schemas/Permission" } },
            "errors": { "type": "array", "items": { "$ref": "#/components/schemas/FieldError" } },
        },
    });
    let field_error = json!({
        "type": "object",
        "description": "One refused field of a body.",
        "required": ["field", "code", "detail"],
        "properties": {
            "field": { "type": "string", "description": "JSON pointer, such as /address/street." },
            "code": { "type": "string", "description": "Stable word, such as required or too_long." },
            "detail": { "type": "string", "description": "One sentence for people." },
        },
    });
    let mut schemas: Map<String, Value> = named_schemas().map(|(n, schema)| (n.to_owned(), schema)).collect();
    schemas.insert("Problem".to_owned(), problem);
    schemas.insert("FieldError".to_owned(), field_error);
    json!({
        "openapi": "3.1.0",
        "info": { "title": "Microfinance administration", "version": env!("CARGO_PKG_VERSION") },
        "security": if guarded { json!([{ "bearer": [] }]) } else { json!([]) },
        "paths": paths,
        "components": {
            "schemas": schemas,
            "responses": { "TooManyRequests": too_many_requests() },
            "securitySchemes": { "bearer": { "type": "http", "scheme": "bearer" } },
        },
    })
}

fn too_many_requests() -> Value {
    let header = |description: &str, schema: Value| json!({ "description": description, "schema": schema });
    let whole = json!({ "type": "integer", "minimum": 1 });
    let text = json!({ "type": "string" });
    json!({
        "description": "Too many requests of the token or the address, or too many wrong passwords.",
        "headers": {
            "Retry-After": header("Seconds after which another try makes sense.", whole),
            "RateLimit": header("Requests that are left (r), seconds to more (t).", text.clone()),
            "RateLimit-Policy": header("Requests that may come (q) in so many seconds (w).", text),
        },
        "content": { "application/problem+json": { "schema": { "$ref": "#/components/schemas/Problem" } } },
    })
}

fn operation(route: &Route) -> Value {
    let row = &route.meta;
    let mut operation = json!({
        "operationId": row.name,
        "summary": row.doc,
        "tags": [segments(row.path).next().unwrap_or_default()],
        "parameters": parameters(row),
        "responses": responses(route),
    });
    match route.handler {
        Handler::Status(_) | Handler::Login => operation["security"] = json!([]),
        // It needs a token and no permission: each operation in it is permitted by itself.
        Handler::Batch => {}
        _ => {
            operation["x-application"] = json!(row.application());
            operation["x-permittable-path"] = json!(permittable(row));
            operation["x-allowed-operation"] = json!(match row.method {
                Method::Get => "READ",
                Method::Post | Method::Put => "CHANGE",
                Method::Delete => "DELETE",
            });
        }
    }
    if let Some(schema) = (row.body.schema)() {
        let kinds: &[&str] = match row.body.kind {
            BodyKind::Upload(_) => &["multipart/form-data"],
            BodyKind::Credentials => &["application/json", FORM_TYPE],
            _ => &["application/json"],
        };
        let mut content: Map<_, _> =
            kinds.iter().map(|kind| ((*kind).to_owned(), json!({ "schema": schema }))).collect();
        if let BodyKind::Upload(part) = row.body.kind {
            content["multipart/form-data"]["encoding"] =
                json!({ part: { "contentType": image_types().join(", ") } });
        }
        operation["requestBody"] = json!({ "required": true, "content": content });
    }
    operation
}

/// The path of a row as a permittable can name it: `{*}` for each parameter.
fn permittable(row: &Meta) -> String {
    let named = segments(row.path).map(|segment| if segment.starts_with('{') { "{*}" } else { segment });
    [row.application()].into_iter().chain(named).collect::<Vec<_>>().join("/")
}

fn parameters(row: &Meta) -> Vec<Value> {
    let mut all: Vec<_> = path_params(row.path)
        .map(|name| json!({ "name": name, "in": "path", "required": true, "schema": in_path_schema(name) }))
        .collect();
    all.extend((row.body.params)().into_iter().map(|param| {
        json!({
            "name": param.name, "in": "query", "required": param.required, "description": param.doc,
            "schema": param.schema
        })
    }));
    let header = |name: &str, schema: Value| json!({ "name": name, "in": "header", "schema": schema });
    if !row.method.reads() && row.path != "/token" {
        let switch = json!({ "type": "string", "enum": ["true", "false"] });
        if !answers_secret(row) {
            all.push(header("Idempotency-Key", json!({ "type": "string", "pattern": "^[!-~]{1,255}$" })));
        }
        all.extend([header("Dry-Run", switch.clone()), header("Existing-Only", switch)]);
    }
    if row.tag.is_some() && matches!(row.method, Method::Put | Method::Delete) {
        all.push(header("If-Match", json!({ "type": "string" })));
    }
    if has_tag(row) {
        all.push(header("If-None-Match", json!({ "type": "string" })));
    }
    all
}

/// Whether the answer carries the `ETag` of its record, or of the one that it is a part of.
fn has_tag(row: &Meta) -> bool {
    row.method.reads() && row.tag.is_some()
}

/// The content types of images.
fn image_types() -> Vec<&'static str> {
    ImageType::WORDS.iter().map(|(word, _)| *word).collect()
}

/// The rule of a word of a path. A word without a rule may be anything, and most names match no record.
fn in_path_schema(name: &str) -> Value {
    match name {
        "application" => json!({ "type": "string", "pattern": "^[A-Za-z0-9.*_-]{2,64}$" }),
        "timestamp" => json!({ "type": "string", "pattern": KEY_TIMESTAMP_PATTERN }),
        "date" => date().schema(),
        _ => json!({ "type": "string" }),
    }
}

fn responses(route: &Route) -> Value {
    let row = &route.meta;
    let (code, description) = match row.answer.kind {
        AnswerKind::Accepted => ("202", "The change is complete, durable and visible."),
        AnswerKind::Created => ("201", "The record is stored; Location names it."),
        AnswerKind::Done => ("200", "Done."),
        _ => ("200", "What was asked for."),
    };
    let mut success = json!({ "description": description });
    if let Some(schema) = (row.answer.schema)() {
        let kinds: Vec<&str> = match row.answer.kind {
            AnswerKind::Text => vec!["text/plain"],
            AnswerKind::File => vec![FILE_TYPE],
            AnswerKind::Image => image_types(),
            _ => vec!["application/json"],
        };
        let content = kinds.into_iter().map(|kind| (kind.to_owned(), json!({ "schema": schema })));
        success["content"] = content.collect();
        // What comes bit by bit is asked for with `Accept`.
        if row.lists() {
            let doc = "The elements of the list, all of them, a line of JSON for each.";
            success["content"][NDJSON_TYPE] = json!({ "schema": { "type": "string", "description": doc } });
        }
        if row.name == ListEvents::META.name {
            let doc = "Server-sent events: id is the sequence, event the operation, data the event as JSON.";
            success["content"][EVENT_STREAM] = json!({ "schema": { "type": "string", "description": doc } });
        }
    }
    // The results of a batch have a property for it.
    if !row.method.reads() && !["/token", "/batch"].contains(&row.path) {
        let doc = "Fields of the body, as JSON pointers, that name records which do not exist; at most 20.";
        let header = json!({ "description": doc, "schema": { "type": "string" } });
        success["headers"] = json!({ "Dangling-References": header });
    }
    if has_tag(row) {
        let doc = "The state of the record, for If-None-Match here and If-Match of a change.";
        success["headers"] = json!({ "ETag": { "description": doc, "schema": { "type": "string" } } });
    }
    if row.name == ListEvents::META.name {
        let doc =
            "The number up to which an array has looked at the trail; the next request gives it as `after`.";
        let header = json!({ "description": doc, "schema": { "type": "integer", "minimum": 0 } });
        success["headers"] = json!({ "Last-Event-ID": header });
    }
    let problem = json!({ "schema": { "$ref": "#/components/schemas/Problem" } });
    let mut responses = json!({
        code: success,
        "default": { "description": "Refused.", "content": { "application/problem+json": problem } },
    });
    if !rate::answers_always(route) {
        responses["429"] = json!({ "$ref": "#/components/responses/TooManyRequests" });
    }
    if has_tag(row) {
        responses["304"] = json!({ "description": "It is as If-None-Match names it." });
    }
    if row.answer.kind == AnswerKind::JsonOrNone {
        responses["204"] = json!({ "description": "There is none." });
    }
    responses
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_answer_has_the_same_bytes_of_memory() {
        let same = |made: fn() -> Bytes| std::ptr::eq(made().as_ptr(), made().as_ptr());
        assert!(same(|| described(true)) && same(|| described(false)));
    }
}
