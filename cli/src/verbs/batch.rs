//! Many operations in one request, from a file.

use super::api::{cover, last_word, refuse_masked};
use crate::client::Way;
use crate::command::cx::Cx;
use crate::command::verb::Verb;
use crate::failure::{Failure, Outcome, codes};
use crate::input;
use crate::output::{Format, views};
use clap::Args;
use mfa_shared::api::batch::{Operation, OperationMethod, SendBatch};
use mfa_shared::api::{answers_secret, rows_at};
use mfa_shared::endpoint::{Endpoint, Meta, split};
use mfa_shared::wire::Json;
use serde_json::{Value, json};

/// The text of an operation, with a key of its own if it changes something: it may be sent twice. The keys
/// are made from that of the command, so that the command with that one repeats them all.
fn keyed(command: &str, at: usize, operation: &Value) -> String {
    let mut operation = operation.clone();
    let reads = operation["method"].as_str().is_some_and(|method| method.eq_ignore_ascii_case("GET"));
    if !reads && operation["idempotencyKey"].is_null() {
        operation["idempotencyKey"] = json!(format!("{command}.{at}"));
    }
    operation.to_string()
}

/// Whether the daemon keeps the answer to a batch, so that all of it can be repeated under one key: nothing
/// in it reads, or is answered with a secret.
fn can_be_kept(operations: &[Operation]) -> bool {
    let shows = |operation: &Operation| {
        let path = split(operation.path.split('?').next().unwrap_or_default()).unwrap_or_default();
        let rows = rows_at(&path).map_or_else(Vec::new, |(rows, _)| rows);
        operation.method == OperationMethod::Get || rows.into_iter().any(answers_secret)
    };
    !operations.iter().any(shows)
}

/// Asks before a batch that deletes something; where it is one record, its name is to be typed, and else how
/// many they are.
fn before_deleting(cx: &Cx, operations: &[Operation]) -> Outcome {
    let deletes = |operation: &&Operation| operation.method == OperationMethod::Delete;
    let paths: Vec<_> = operations.iter().filter(deletes).map(|operation| operation.path.as_str()).collect();
    match paths.as_slice() {
        _ if cx.client.dry_run => Ok(()),
        [] => Ok(()),
        [path] => cx.prompt.before_ending(&format!("send DELETE {path}"), last_word(path)),
        many => {
            let count = many.len().to_string();
            cx.prompt.before_ending(&format!("delete {count} records"), &count)
        }
    }
}

#[derive(Args)]
pub struct Send {
    /// File of JSON or YAML with the operations, - for standard input
    #[arg(value_name = "FILE")]
    file: String,
    /// All operations or none: the first refusal undoes everything
    #[arg(long)]
    atomic: bool,
    /// Show secrets that a read answers instead of ***
    #[arg(long)]
    show_secrets: bool,
}

impl Verb for Send {
    const ENDPOINT: Option<&'static Meta> = Some(&SendBatch::META);
    const EXAMPLES: &'static [&'static str] = &[
        "echo '[{\"method\": \"GET\", \"path\": \"/offices/market\"}]' | mfa batch -",
        "echo '[{\"method\": \"POST\", \"path\": \"/customers\",\n    \
         \"body\": {\"identifier\": \"c-110\"}}]' | mfa batch - --atomic -o json",
    ];
    async fn run(self, cx: &Cx) -> Outcome {
        cx.out.check_columns(&views::BATCH)?;
        let mut batch = match input::structured(&self.file)? {
            Value::Array(operations) => json!({ "operations": operations }),
            whole => whole,
        };
        if self.atomic {
            batch["atomic"] = json!(true);
        }
        // Checked here first, so that all its errors are reported at once.
        let Json(checked) = input::body::<SendBatch>(&batch)?;
        refuse_masked(&batch)?;
        before_deleting(cx, &checked.operations)?;
        // With a key for the whole batch, its parts need none.
        let whole = can_be_kept(&checked.operations);
        let command = cx.client.keys.of_command();
        let key = whole.then_some(command);
        let written = || batch["operations"].as_array().into_iter().flatten();
        let plain: Vec<_> = written().map(Value::to_string).collect();
        let keyed = |(at, operation)| keyed(command, at, operation);
        let operations = if whole { plain.clone() } else { written().enumerate().map(keyed).collect() };
        // A curl command that is pasted twice is meant twice.
        let reads = checked.operations.iter().all(|operation| operation.method == OperationMethod::Get);
        let way = Way { atomic: checked.atomic, reads, key, parts_keyed: !whole, plain: Some(&plain) };
        let heard = cx.client.batch(&operations, way).await?;
        let mut answer = json!(heard);
        if let Some(results) = answer["results"].as_array_mut().filter(|_| !self.show_secrets) {
            // What a change answers with a secret is shown once, so it is never covered.
            let reads = checked.operations.iter().map(|operation| operation.method == OperationMethod::Get);
            results.iter_mut().zip(reads).filter(|(_, reads)| *reads).for_each(|(result, _)| cover(result));
        }
        let results = answer["results"].as_array().cloned().unwrap_or_default();
        let failed = results.iter().filter(|result| !result["problem"].is_null()).count();
        if cx.out.format.is_structured() && cx.out.format != Format::Jsonl {
            cx.out.show(&views::BATCH, &answer)?;
        } else {
            let named = results.into_iter().zip(&checked.operations).enumerate();
            let row = |(i, (mut result, operation)): (usize, (Value, &Operation))| {
                result["operation"] = json!(i);
                (result["method"], result["path"]) = (json!(operation.method), json!(operation.path));
                result
            };
            cx.out.show(&views::BATCH, &named.map(row).collect())?;
        }
        if cx.client.dry_run {
            cx.out.tip("a dry run: nothing was changed");
        }
        match failed {
            0 => Ok(()),
            _ => {
                let what = format!("{failed} of {} operations were refused", checked.operations.len());
                Err(Failure::new(codes::BULK_FAILURES, what))
            }
        }
    }
}
