//! The steps of the end of a day: each ends in a line, and a failed one does not stop the others.

use crate::command::cx::Cx;
use crate::command::money::with_digits;
use crate::failure::{Failure, Outcome};
use crate::input::today;
use crate::machine::backup;
use crate::machine::daemon::look;
use crate::nouns::interest;
use mfa_shared::amount::Amount;
use mfa_shared::api::audit::{AuditOutcome, AuditQuery, ListAudit};
use mfa_shared::fault::exit;
use mfa_shared::time::{Date, DateRange, Timestamp};
use mfa_shared::wire::Query;
use serde_json::{Value, json};

const BACKUP: &str = "backup";

/// How a step ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    Done,
    Skipped,
    Failed,
}

/// A step, how it ended, and why.
#[derive(Debug)]
pub struct Step {
    pub name: String,
    pub ending: Ending,
    pub detail: String,
}

impl Step {
    fn new(name: &str, ending: Ending, detail: impl Into<String>) -> Self {
        Self { name: name.to_owned(), ending, detail: detail.into() }
    }

    pub fn done(name: &str, detail: impl Into<String>) -> Self {
        Self::new(name, Ending::Done, detail)
    }

    pub fn skipped(name: &str, detail: impl Into<String>) -> Self {
        Self::new(name, Ending::Skipped, detail)
    }

    pub fn failed(name: &str, detail: impl Into<String>) -> Self {
        Self::new(name, Ending::Failed, detail)
    }

    /// A step that was refused: skipped where the caller lacks the permission.
    pub fn refused(name: &str, what: &str, failure: &Failure) -> Self {
        if failure.exit == exit::FORBIDDEN {
            Self::skipped(name, format!("you may not {what}"))
        } else {
            Self::failed(name, reason(failure))
        }
    }

    pub fn word(&self) -> &'static str {
        match self.ending {
            Ending::Done => "done",
            Ending::Skipped => "skipped",
            Ending::Failed => "failed",
        }
    }

    pub fn json(&self) -> Value {
        json!({ "step": self.name, "result": self.word(), "detail": self.detail })
    }
}

/// What went wrong, and what to do about it.
pub fn reason(failure: &Failure) -> String {
    match failure.hint.as_str() {
        "" => failure.message.clone(),
        hint => format!("{}; {hint}", failure.message),
    }
}

/// Interest of every day that is over. It is run in any case: the list has only products that are done, and
/// not those in which an earlier run was killed or is at work.
pub async fn interest(cx: &Cx, date: Date) -> Step {
    const NAME: &str = "interest";
    let until = date.min(today().previous());
    let is_done = |run: &Value| run["outcome"] == "DONE";
    let before = match interest::runs_of(cx, until).await {
        Ok(runs) => runs,
        Err(failure) => return Step::refused(NAME, "read the runs of interest", &failure),
    };
    if let Err(failure) = interest::run(cx, until).await {
        return Step::refused(NAME, "run interest", &failure);
    }
    match interest::runs_of(cx, until).await {
        Err(failure) => Step::failed(NAME, reason(&failure)),
        Ok(runs) if runs.is_empty() => Step::skipped(NAME, "nothing is due"),
        Ok(runs) => match runs.iter().find(|run| !is_done(run)) {
            None if runs == before => Step::skipped(NAME, format!("{until} was run before")),
            None => {
                let products = if runs.len() == 1 { "product" } else { "products" };
                Step::done(NAME, format!("run up to {until} for {} {products}", runs.len()))
            }
            Some(run) => {
                let (product, why) = (&run["productIdentifier"], &run["detail"]);
                let [product, why] = [product, why].map(|text| text.as_str().unwrap_or_default());
                Step::failed(NAME, format!("product {product} could not be booked: {why}"))
            }
        },
    }
}

/// Whether the books balance, as the report has them. The daemon's own store is checked elsewhere.
pub fn ledger(report: Option<&Value>) -> Step {
    const NAME: &str = "ledger";
    let Some(report) = report else { return Step::skipped(NAME, "there is no report of the day") };
    let amount = |name: &str| serde_json::from_value::<Amount>(report[name].clone()).ok();
    match (amount("totalDebit"), amount("totalCredit")) {
        (Some(debit), Some(credit)) if debit == credit => {
            let debit = with_digits(debit, None);
            let more = "single amounts are checked by mfa backup verify FILE, or mfa check on the machine";
            Step::done(NAME, format!("debits and credits are both {debit}; {more}"))
        }
        _ => {
            let (debit, credit) = (&report["totalDebit"], &report["totalCredit"]);
            Step::failed(
                NAME,
                format!("debits are {debit}, and credits {credit}; stop the daemon: mfa check"),
            )
        }
    }
}

/// Messages of gateways and webhooks that failed on the day.
pub async fn messages(cx: &Cx, date: Date) -> Step {
    const NAME: &str = "messages";
    let mut query = AuditQuery { outcome: Some(AuditOutcome::Failed), ..AuditQuery::default() };
    query.dates = Some(DateRange { first: date, last: date });
    query.paging.size = Some(1);
    match cx.client.send(&ListAudit {}, &Query(query)).await {
        Err(failure) => Step::refused(NAME, "read the audit trail", &failure),
        Ok(reply) => match reply.value["totalElements"].as_u64().unwrap_or_default() {
            0 => Step::done(NAME, "no gateway, webhook or backup failed"),
            count => {
                let list = format!("mfa audit list --outcome failed --from {date} --to {date}");
                Step::done(NAME, format!("{count} failed, of gateways, webhooks or backups: {list}"))
            }
        },
    }
}

/// A backup that includes the end of the day, where backups are set up.
pub async fn backup(cx: &Cx, report: Option<&Value>) -> Step {
    let step = try_backup(cx, report).await;
    step.unwrap_or_else(|failure| Step::refused(BACKUP, "make backups", &failure))
}

async fn try_backup(cx: &Cx, report: Option<&Value>) -> Outcome<Step> {
    let Some(schedule) = look::schedule(cx)? else {
        return Ok(Step::skipped(BACKUP, "backup_dir is not set on this machine"));
    };
    let ended = report.and_then(|report| Timestamp::parse(report["endedOn"].as_str()?));
    if let (Some((moment, file)), Some(ended)) = (look::last_backup(&schedule.dir), ended)
        && moment > ended
    {
        return Ok(Step::skipped(BACKUP, format!("{} has the day in it", file.display())));
    }
    let file = backup::scheduled(cx, &schedule).await?;
    Ok(Step::done(BACKUP, format!("{} was read back and verified", file.display())))
}
