//! The audit trail: who did what, and the proof that it is whole.

mod prune;
mod verify;

pub use prune::Prune;
pub use verify::Verify;

use crate::command::cx::Cx;
use crate::command::noun::{self, Noun, Section};
use crate::command::verb::{Verb, shows, verb};
use crate::failure::{Failure, Outcome};
use crate::input::{date, days};
use crate::output::{escaped_json, views};
use crate::settings::files::{Pending, unwritable};
use clap::Args;
use mfa_shared::api::audit::*;
use mfa_shared::endpoint::{Endpoint, Meta};
use mfa_shared::fault::exit;
use mfa_shared::query::{PAGE_SIZE_MAX, Paging};
use mfa_shared::rule::Word;
use mfa_shared::time::Date;
use mfa_shared::wire::{Listed, Query};
use serde_json::Value;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::time::Duration;

/// Wait between two looks for new records.
const LOOK: Duration = Duration::from_secs(1);

pub const NOUN: Noun = Noun {
    section: Section::Machine,
    typed: "audit",
    alias: "",
    about: "The audit trail: who did what, and the proof that it is whole",
    singular: "audit record",
    read: Some(&GetAuditRecord::META),
    view: &views::AUDIT,
    verbs: &[
        verb::<List>("list"),
        shows("show", &GetAuditRecord::META, &views::AUDIT, "audit record")
            .arguments(&[("SEQUENCE", "Number of the record")])
            .examples(&["mfa audit show 1", "mfa audit show 1 -o yaml"]),
        verb::<Follow>("follow"),
        verb::<Verify>("verify"),
        shows("head", &GetAuditHead::META, &views::AUDIT_HEAD, "")
            .examples(&["mfa audit head", "mfa audit head -o jsonl >>ledger-of-heads"]),
        verb::<Export>("export"),
        verb::<Prune>("prune"),
    ],
    ..noun::NOUN
};

/// An outcome, in any letter case.
fn outcome(text: &str) -> Result<AuditOutcome, String> {
    AuditOutcome::find(text).ok_or_else(|| format!("it must be one of {}", AuditOutcome::listed()))
}

// Which records.
#[derive(Args)]
pub struct Filter {
    /// What this user did; unknown for refused logins under a name that is no user's
    #[arg(long, value_name = "USER")]
    actor: Option<String>,
    /// This operation only, such as CreateCustomer
    #[arg(long, value_name = "NAME")]
    operation: Option<String>,
    /// done, refused or failed
    #[arg(long, value_name = "WORD", value_parser = outcome)]
    outcome: Option<AuditOutcome>,
    /// What concerns this record, such as customer/c-001; customer/* for all of them
    #[arg(long, value_name = "NOUN/ID")]
    resource: Option<String>,
    /// What one request did
    #[arg(long, value_name = "ID")]
    request: Option<String>,
    /// First day, in UTC
    #[arg(long, value_name = "DATE", value_parser = date)]
    from: Option<Date>,
    /// Last day, in UTC
    #[arg(long, value_name = "DATE", value_parser = date)]
    to: Option<Date>,
    /// Records after this number
    #[arg(long, value_name = "SEQUENCE")]
    after: Option<u32>,
}

impl Filter {
    fn query(&self, paging: Paging<AuditRecord>) -> Outcome<AuditQuery> {
        Ok(AuditQuery {
            paging,
            dates: days(self.from, self.to)?,
            actor: self.actor.clone(),
            operation: self.operation.clone(),
            outcome: self.outcome,
            resource: self.resource.clone(),
            request_id: self.request.clone(),
            after: self.after.map(i64::from),
        })
    }
}

#[derive(Args)]
pub struct List {
    #[command(flatten)]
    filter: Filter,
}

impl Verb for List {
    const ENDPOINT: Option<&'static Meta> = Some(&ListAudit::META);
    const EXAMPLES: &'static [&'static str] = &[
        "mfa audit list --resource customer/c-001",
        "mfa audit list --outcome refused --operation CreateToken -o csv",
    ];
    async fn run(self, cx: &Cx) -> Outcome {
        let asked = self.filter.query(Paging::default())?;
        let query = |mut paging: Paging<AuditRecord>| {
            // The newest first, unless --sort says otherwise.
            paging.descending |= paging.sort_column.is_none();
            Query(AuditQuery { paging, ..asked.clone() })
        };
        cx.list(ListAudit {}, &views::AUDIT, query).await
    }
}

#[derive(Args)]
pub struct Follow {
    #[command(flatten)]
    filter: Filter,
    /// End after so many records
    #[arg(long, value_name = "COUNT")]
    count: Option<u64>,
}

impl Verb for Follow {
    const ABOUT: &'static str = "Show records of the audit trail as they come, until interrupted";
    const EXAMPLES: &'static [&'static str] =
        &["mfa audit follow --after 0 --count 3", "mfa audit follow --after 0 --count 3 -o jsonl"];
    const EXITS: &'static [i32] = &[exit::NOT_LOGGED_IN, exit::FORBIDDEN, exit::UNREACHABLE];
    async fn run(mut self, cx: &Cx) -> Outcome {
        let mut left = self.count.unwrap_or(u64::MAX);
        let mut after = match self.filter.after {
            Some(after) => i64::from(after),
            // Existing records are not new.
            None => self.page(cx, None, 1).await?.last().and_then(number).unwrap_or_default(),
        };
        self.filter.after = None;
        let mut out = cx.out.clone();
        // A pager would hold the stream back.
        out.pager = String::new();
        loop {
            let size = u32::try_from(left).unwrap_or(u32::MAX).min(PAGE_SIZE_MAX);
            let mut records = self.page(cx, Some(after), size).await?;
            // A record that is not sealed yet comes again with its number.
            records.retain(|record| number(record).is_some());
            if let Some(last) = records.last().and_then(number) {
                (after, left) = (last, left - records.len() as u64);
                out.show(&views::AUDIT, &Value::Array(records))?;
                out.no_header = true;
            }
            if left == 0 {
                return Ok(());
            }
            tokio::time::sleep(LOOK).await;
        }
    }
}

fn number(record: &Value) -> Option<i64> {
    record["sequence"].as_i64()
}

impl Follow {
    /// The next records after one, or the last one.
    async fn page(&self, cx: &Cx, after: Option<i64>, size: u32) -> Outcome<Vec<Value>> {
        let mut paging = Paging::default();
        (paging.size, paging.descending) = (Some(size), after.is_none());
        let query = AuditQuery { after, ..self.filter.query(paging)? };
        let reply = cx.client.send(&ListAudit {}, &Query(query)).await?;
        Ok(reply.value[AuditRecord::PLURAL].as_array().cloned().unwrap_or_default())
    }
}

#[derive(Args)]
pub struct Export {
    /// File for the records, one a line, - for standard output
    #[arg(value_name = "FILE")]
    file: String,
    #[command(flatten)]
    filter: Filter,
}

impl Verb for Export {
    const ABOUT: &'static str = "Write the audit trail into a new file, one record a line, the oldest first";
    const EXAMPLES: &'static [&'static str] =
        &["mfa audit export trail.ndjson && mfa audit verify --file trail.ndjson", "mfa audit export -"];
    const EXITS: &'static [i32] = &[exit::NOT_LOGGED_IN, exit::FORBIDDEN, exit::CONFLICT, exit::UNREACHABLE];
    async fn run(self, cx: &Cx) -> Outcome {
        let query = Query(self.filter.query(Paging::default())?);
        if self.file == "-" {
            let mut stream = cx.client.stream(&ListAudit {}, &query).await?;
            let mut out = std::io::stdout().lock();
            let shown = cx.out.screen.stdout_is_terminal;
            while let Some(line) = stream.next().await? {
                writeln!(out, "{}", if shown { escaped_json(line) } else { line })?;
            }
            return Ok(());
        }
        let place = Path::new(&self.file);
        // Half a trail would look like a whole one, so it gets its name last.
        let mut file = BufWriter::new(Pending::begin_new(place)?);
        let read = async {
            let mut stream = cx.client.stream(&ListAudit {}, &query).await?;
            let mut count = 0u64;
            while let Some(line) = stream.next().await? {
                writeln!(file, "{line}").map_err(unwritable(place))?;
                count += 1;
            }
            Ok::<u64, Failure>(count)
        };
        let count = cx.prompt.interrupts.taken_by(read).await?;
        file.into_inner().map_err(|error| unwritable(place)(error.into_error()))?.keep_new()?;
        cx.out.tip(&format!("{count} records written to {}", self.file));
        cx.result(&self.file, "written")
    }
}
