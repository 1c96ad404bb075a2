//! Rows as batches of operations, and the result of each row.

use super::row::{Keys, Record, Row};
use super::source::Raw;
use super::{Bulk, Change};
use crate::client::{Client, Way, operation};
use crate::failure::{Outcome, codes};
use crate::words::hex;
use clap::ValueEnum;
use mfa_shared::api::batch::OperationResult;
use mfa_shared::endpoint::{Meta, Method};
use mfa_shared::fault::{self, CARD_NUMBER_TAKEN, IDENTIFIER_TAKEN, Problem};
use mfa_shared::rule::FieldError;
use ring::digest::{SHA256, digest};
use serde_json::{Value, json};

/// Bytes of one batch, well below what the daemon takes.
pub const BATCH_BYTES_MAX: usize = 700_000;

/// What to do with a row whose record exists already.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Mode {
    /// It fails
    Create,
    /// Its record is changed
    Upsert,
    /// It is passed over
    SkipExisting,
}

/// The result of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    Created,
    Updated,
    /// Its record existed already.
    Skipped,
    /// It would be done.
    Valid,
    Failed,
}

impl Status {
    /// The word of the report.
    pub fn as_str(self) -> &'static str {
        match self {
            Status::Created => "created",
            Status::Updated => "updated",
            Status::Skipped => "skipped",
            Status::Valid => "valid",
            Status::Failed => "failed",
        }
    }

    /// The status of a row that need not be sent again, by its word.
    pub fn done(word: &str) -> Option<Self> {
        [Status::Created, Status::Updated, Status::Skipped].into_iter().find(|status| status.as_str() == word)
    }
}

/// A row with its result.
#[derive(Debug, Clone)]
pub struct Done {
    /// Its place in the file.
    pub number: u64,
    /// What names its record.
    pub id: String,
    /// That of [`Row`].
    pub content: String,
    pub status: Status,
    /// The code of a refusal.
    pub code: String,
    /// Why it was refused.
    pub message: String,
    /// The row as in the file, if it failed or may still fail.
    pub raw: Option<Raw>,
    /// Whether an earlier run did it.
    pub before: bool,
}

impl Done {
    /// A row that succeeded.
    pub fn well(row: &Row, status: Status) -> Self {
        let (code, message) = (String::new(), String::new());
        // A row that was only tried may still fail together with another row.
        let raw = (status == Status::Valid).then(|| row.raw.clone());
        let (id, content) = (row.id.clone(), row.content.clone());
        Self { number: row.number, id, content, status, code, message, raw, before: false }
    }

    /// A row that was refused.
    pub fn failed(row: &Row, code: &str, message: &str) -> Self {
        let (code, message) = (code.to_owned(), message.to_owned());
        let (id, content) = (row.id.clone(), row.content.clone());
        let (status, raw) = (Status::Failed, Some(row.raw.clone()));
        Self { number: row.number, id, content, status, code, message, raw, before: false }
    }

    /// A row that cannot be sent.
    pub fn unreadable(row: &Row, why: &str) -> Self {
        Self::failed(row, codes::INVALID_ROW.code, why)
    }
}

/// A row that can be sent, with its operation.
pub struct Ready {
    pub row: Row,
    record: Record,
    key: String,
    body: String,
}

impl Ready {
    /// The row as an operation; `Err` is a row that cannot be sent.
    pub fn new(row: Row, keys: &mut Keys) -> Result<Self, Box<Done>> {
        let record = match &row.record {
            Ok(record) => record.clone(),
            Err(why) => return Err(Box::new(Done::unreadable(&row, why))),
        };
        let body = record.body.to_string();
        let key = keys.key(&record, &body);
        Ok(Self { row, record, key, body })
    }

    /// Bytes that it needs in a batch, about.
    pub fn bytes(&self) -> usize {
        self.body.len() + 256
    }

    fn create(&self, noun: Bulk) -> String {
        operation(noun.create.meta, &self.within(), Some(&self.key), None, Some(&self.body))
    }

    fn change(&self, noun: Bulk, (row, body): Change) -> String {
        let body = body(&self.record.body);
        let key = format!("{}-u", self.key);
        operation(row.meta, &self.address(noun), Some(&key), None, Some(&body.to_string()))
    }

    fn within(&self) -> Vec<&str> {
        self.record.within.iter().map(String::as_str).collect()
    }

    /// The parameters of the record's own path.
    fn address(&self, noun: Bulk) -> Vec<&str> {
        let own = noun.id.last().and_then(|own| self.record.body[*own].as_str());
        let mut address = self.within();
        address.push(own.unwrap_or_default());
        address
    }
}

/// How rows are sent.
#[derive(Clone)]
pub struct Sender {
    pub client: Client,
    pub noun: Bulk,
    /// What is done with existing records.
    pub mode: Mode,
}

impl Sender {
    /// Whether any of what was sent may have been done.
    pub fn may_have_changed(&self) -> bool {
        self.client.may_have_changed()
    }

    /// Sends rows, each with an outcome of its own.
    pub async fn send(&self, rows: Vec<Ready>) -> Outcome<Vec<Done>> {
        let mut done: Vec<Option<Done>> = rows.iter().map(|_| None).collect();
        // Some lack what a new record needs, and can only change an existing one.
        let changes =
            |ready: &Ready| self.mode != Mode::Create && (self.noun.only_change)(&ready.record.body);
        let new: Vec<_> = (0..rows.len()).filter(|i| !changes(&rows[*i])).collect();
        let results = self.results(new.iter().map(|i| rows[*i].create(self.noun))).await?;
        for (i, result) in new.into_iter().zip(results) {
            let outcome = self.outcome(&rows[i], &result, Status::Created);
            done[i] = Some(outcome).filter(|outcome| self.mode == Mode::Create || !is_taken(outcome));
        }
        self.treat_present(&rows, &mut done).await?;
        Ok(done.into_iter().flatten().collect())
    }

    /// Changes the existing records, or makes sure that they exist.
    async fn treat_present(&self, rows: &[Ready], done: &mut [Option<Done>]) -> Outcome {
        let there: Vec<_> = (0..rows.len()).filter(|i| done[*i].is_none()).collect();
        let Some(change) = self.noun.change().filter(|_| !there.is_empty()) else { return Ok(()) };
        let status = if self.mode == Mode::Upsert { Status::Updated } else { Status::Skipped };
        let operation = |i: &usize| match self.mode {
            Mode::Upsert => rows[*i].change(self.noun, change),
            // A number that is taken may be taken by another customer.
            _ => operation(&reading(change.0.meta), &rows[*i].address(self.noun), None, None, None),
        };
        let results = self.results(there.iter().map(operation)).await?;
        for (i, result) in there.into_iter().zip(results) {
            done[i] = Some(match (self.mode, result.status) {
                (Mode::SkipExisting, 404) => {
                    let why = format!("{} is taken by another record", rows[i].row.id);
                    Done::failed(&rows[i].row, IDENTIFIER_TAKEN.code, &why)
                }
                _ => self.outcome(&rows[i], &result, status),
            });
        }
        Ok(())
    }

    fn outcome(&self, ready: &Ready, result: &OperationResult, status: Status) -> Done {
        let Some(problem) = &result.problem else {
            let status =
                if self.client.dry_run && status != Status::Skipped { Status::Valid } else { status };
            return Done::well(&ready.row, status);
        };
        let (code, message) = code_and_reason(&json!(problem));
        Done::failed(&ready.row, &code, &message)
    }

    async fn results(&self, operations: impl Iterator<Item = String>) -> Outcome<Vec<OperationResult>> {
        self.client.operations(&operations.collect::<Vec<_>>()).await
    }

    /// Sends rows of a run as one atomic batch.
    pub async fn send_atomic(&self, rows: Vec<Ready>, run: &str) -> Outcome<Vec<Done>> {
        let mut there = vec![false; rows.len()];
        if let Some(change) = self.noun.change().filter(|_| self.mode != Mode::Create) {
            let look = |ready: &Ready| {
                operation(&reading(change.0.meta), &ready.address(self.noun), None, None, None)
            };
            let results = self.results(rows.iter().map(look)).await?;
            for (there, result) in there.iter_mut().zip(results) {
                *there = result.status == 200;
            }
        }
        let status = |there: bool| match (there, self.mode) {
            (false, _) => Status::Created,
            (true, Mode::Upsert) => Status::Updated,
            (true, _) => Status::Skipped,
        };
        let sent: Vec<_> = (0..rows.len()).filter(|i| status(there[*i]) != Status::Skipped).collect();
        let operation = |i: &usize| match self.noun.change().filter(|_| there[*i]) {
            Some(change) => rows[*i].change(self.noun, change),
            None => rows[*i].create(self.noun),
        };
        let operations: Vec<_> = sent.iter().map(operation).collect();
        // What was made by a request without an answer is there at the next look: other operations, and
        // another key.
        let key = keyed(run, &operations);
        match self.client.batch(&operations, Way { atomic: true, key: Some(&key), ..Way::default() }).await {
            Ok(_) => {
                let well = |(i, ready): (usize, &Ready)| {
                    let status = status(there[i]);
                    let tried = self.client.dry_run && status != Status::Skipped;
                    Done::well(&ready.row, if tried { Status::Valid } else { status })
                };
                Ok(rows.iter().enumerate().map(well).collect())
            }
            Err(failure) => match failure.operation.and_then(|i| Some((i, *sent.get(i)?))) {
                Some((operation, refused)) => {
                    // The row is identified by its place in the file.
                    let detail = fault::detail_of_operation(operation, &failure.message);
                    let message = in_one_line(&failure.errors, detail);
                    Ok(taken_back(&rows, refused, &failure.code, &message))
                }
                // The other rows are well below what a batch can hold.
                None if failure.status == Some(413) && !rows.is_empty() => {
                    let largest = (0..rows.len()).max_by_key(|i| rows[*i].bytes()).unwrap_or_default();
                    Ok(taken_back(&rows, largest, &failure.code, &failure.message))
                }
                None => Err(failure),
            },
        }
    }
}

/// The key of operations that a run sends together: the same for the same ones only.
fn keyed(run: &str, operations: &[String]) -> String {
    let text = format!("{run}\0{}", operations.join("\0"));
    hex(&digest(&SHA256, text.as_bytes()).as_ref()[..16])
}

/// The results of rows that were all rolled back because one of them was refused.
fn taken_back(rows: &[Ready], refused: usize, code: &str, message: &str) -> Vec<Done> {
    let number = rows[refused].row.number;
    let outcome = |(i, ready): (usize, &Ready)| {
        if i == refused {
            Done::failed(&ready.row, code, message)
        } else {
            let why = format!("taken back, because row {number} was refused");
            Done::failed(&ready.row, codes::TAKEN_BACK.code, &why)
        }
    };
    rows.iter().enumerate().map(outcome).collect()
}

/// Whether a row was refused because its record exists already.
fn is_taken(done: &Done) -> bool {
    [IDENTIFIER_TAKEN.code, CARD_NUMBER_TAKEN.code].contains(&done.code.as_str())
}

/// The endpoint that reads what another changes.
fn reading(change: &Meta) -> Meta {
    let read = mfa_shared::api::rows().find(|row| Some(row.name) == change.tag && row.method == Method::Get);
    // A change of a record has a tag, which the read of that record carries.
    *read.unwrap_or(change)
}

/// The code of a problem, and its errors in one line.
pub fn code_and_reason(problem: &Value) -> (String, String) {
    let Ok(problem) = serde_json::from_value::<Problem>(problem.clone()) else {
        return ("refused".to_owned(), problem.to_string());
    };
    (problem.code, in_one_line(&problem.errors, &problem.detail))
}

/// All errors in one line.
fn in_one_line(errors: &[FieldError], detail: &str) -> String {
    let several: Vec<_> = errors.iter().map(|error| error.detail.as_str()).collect();
    if several.len() > 1 { several.join("; ") } else { detail.to_owned() }
}
