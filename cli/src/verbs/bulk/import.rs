//! An import: rows are read, sent in batches, and reported, in their order.

use super::Bulk;
use super::failed::Failed;
use super::ledger::{Ledger, Tried};
use super::mapping::Mapping;
use super::order::Order;
use super::parts::{Part, Parts, UNDER_WAY, read};
use super::progress::{Counts, Progress};
use super::report::{Before, Report};
use super::row::Reading;
use super::send::{BATCH_BYTES_MAX, Done, Mode, Sender, Status};
use super::source::Source;
use crate::client::References;
use crate::command::cx::Cx;
use crate::failure::{Failure, Outcome, codes};
use crate::input::prompt;
use crate::machine::login;
use crate::machine::signals::Endings;
use crate::output::views;
use mfa_shared::api::batch::OPERATIONS_MAX;
use mfa_shared::fault::exit;
use serde_json::json;
use std::collections::{HashMap, VecDeque};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::Arc;
use tokio::task::JoinHandle;

/// Refuses to write the report and the failed rows over each other, or over the rows that are read.
fn check_distinct(rows: &Path, report: &Path, failed: &Path) -> Outcome {
    let file = |path: &Path| path.metadata().map(|file| (file.dev(), file.ino())).ok();
    let is_same =
        |one: &Path, other: &Path| one == other || (file(one).is_some() && file(one) == file(other));
    let refused = |what: &str, path: &Path| {
        let what = format!("{what} would be written over {}", path.display());
        Err(Failure::usage(what).hint("name others: --report FILE --failed FILE"))
    };
    match () {
        () if is_same(report, rows) => refused("the report", rows),
        () if is_same(failed, rows) => refused("the failed rows", rows),
        () if is_same(failed, report) => refused("the failed rows", report),
        () => Ok(()),
    }
}

pub async fn import(cx: &Cx, noun: Bulk, order: Order) -> Outcome {
    if noun.change().is_none() && order.how.mode != Mode::Create {
        return Err(Failure::usage(format!("{} are only created: their rows name no record", noun.plural)));
    }
    cx.out.check_columns(&views::IMPORT)?;
    let report = order.report();
    let source = Source::open(&order.file, order.how.format)?;
    let map: Vec<_> = order.how.map.iter().flat_map(Mapping::columns).collect();
    let reading = Reading::new(noun, source.header(), &map, order.how.mode == Mode::Create)?;
    let files = order.written();
    check_distinct(Path::new(&order.file), &files.0, &files.1)?;
    // The daemon knows the keys of rows by caller; where rows name their records, it also knows those.
    let caller = if noun.names_records() || order.how.validate_only {
        String::new()
    } else {
        login::caller(&cx.client).await?
    };
    let failed = Failed::begin(noun, &files.1, &files.0, &map, &source)?;
    let (report, before) = if order.how.validate_only {
        let before = Before::look(&report, noun, order.how.resume)?;
        (Report::of_dry_run(&files.0, noun)?, before)
    } else {
        Report::begin(&files.0, noun, &caller, order.how.resume)?
    };
    let progress = Progress::begin(&cx.out, source.bytes);
    let distinct = order.how.validate_only && order.how.mode == Mode::Create && noun.change().is_some();
    let tried = distinct.then(|| Tried { noun, rows: HashMap::new() });
    let (counts, first) = (Counts::default(), Vec::new());
    let mut ledger = Ledger { report, failed, settled: false, progress, counts, first, tried };
    let mut client = cx.client.clone();
    client.sent = Arc::default();
    client.dry_run |= order.how.validate_only;
    if order.how.existing_only {
        client.references = References::Refused;
    }
    let sender = Sender { client, noun, mode: order.how.mode };
    let run = before.run.clone();
    // A row that names one before it is tried together with it, as far as a batch can hold both.
    let together = order.how.atomic || (order.how.validate_only && noun.ordered);
    let parts = read(source, reading, before, if together { OPERATIONS_MAX } else { noun.rows_max });
    // One listener for the whole run: a Ctrl-C while the files are written must be noticed afterwards.
    let mut endings = Endings::listen()?;
    let ended = if order.how.atomic {
        tokio::select! {
            // Rows that were settled count, whatever signal came meanwhile.
            biased;
            ended = whole(&sender, parts, &mut ledger, &run) => ended,
            exit = endings.next() => Err(stopped_whole(&sender, exit)),
        }
    } else {
        one_by_one(&sender, parts, &mut ledger, &mut endings).await
    };
    ledger.progress.end();
    match ended {
        Ok(()) => {
            // What reads the totals may not, and then holds up no signal.
            tokio::spawn(async move { std::process::exit(endings.next().await) });
            finish(cx, noun, &order, ledger)
        }
        Err(failure) if !ledger.settled && !sender.may_have_changed() => {
            // Why nothing was done is what has to be said.
            let _ = ledger.report.take_back();
            Err(beginning_again(failure, noun, &order))
        }
        Err(failure) => Err(going_on(failure, noun, &order)),
    }
}

/// Adds a hint on how to repeat an import of which nothing was done.
fn beginning_again(failure: Failure, noun: Bulk, order: &Order) -> Failure {
    if order.how.resume {
        return going_on(failure, noun, order);
    }
    if order.file == "-" || failure.hint.is_empty() || failure.exit == exit::USAGE {
        return failure;
    }
    let hint = format!("{}; then again: {}", failure.hint, order.again(noun));
    failure.hint(hint)
}

/// Adds a hint on how to resume an import that did not finish.
fn going_on(failure: Failure, noun: Bulk, order: &Order) -> Failure {
    let before = if failure.hint.is_empty() { String::new() } else { format!("{}; then ", failure.hint) };
    let hint = match order.file.as_str() {
        _ if order.how.validate_only => format!("{before}check the rows again"),
        "-" => format!("{before}send the same rows again with --resume"),
        _ => format!("{before}go on: {} --resume", order.again(noun)),
    };
    failure.hint(hint)
}

/// Sends part after part, several at once unless a row may need one before it.
async fn one_by_one(
    sender: &Sender,
    mut parts: Parts,
    ledger: &mut Ledger,
    endings: &mut Endings,
) -> Outcome {
    type UnderWay = JoinHandle<Outcome<(Vec<Done>, u64)>>;
    let mut under_way: VecDeque<UnderWay> = VecDeque::new();
    let mut ended_by = None;
    loop {
        // Only the first part is sent alone: if it is refused as a whole, nothing was done.
        let most = if sender.noun.ordered || !ledger.settled { 1 } else { UNDER_WAY };
        while ended_by.is_none() && under_way.len() < most {
            let part = tokio::select! {
                part = parts.recv() => part,
                exit = endings.next() => {
                    ended_by = Some(exit);
                    break;
                }
            };
            let Some(part) = part else { break };
            let part = part?;
            // The keys of what is sent are in the report before.
            ledger.report.flush()?;
            let sender = sender.clone();
            under_way.push_back(tokio::spawn(async move {
                let mut done = sender.send(part.ready).await?;
                done.extend(part.settled);
                Ok((done, part.position))
            }));
        }
        let Some(mut first) = under_way.pop_front() else { break };
        let ended = loop {
            tokio::select! {
                ended = &mut first => break ended,
                exit = endings.next() => {
                    if ended_by.is_some() {
                        // A second Ctrl-C does not wait for an answer.
                        return Err(stopped(exit));
                    }
                    ended_by = Some(exit);
                }
            }
        };
        let (done, position) = ended.map_err(|_| Failure::local("the import broke off by a defect"))??;
        ledger.settle(done, position)?;
    }
    match ended_by {
        Some(exit) if sender.may_have_changed() || ledger.settled => Err(stopped(exit)),
        Some(exit) => Err(untouched(exit)),
        None => Ok(()),
    }
}

fn untouched(exit: i32) -> Failure {
    prompt::interrupted("interrupted, nothing was done").exit(exit)
}

/// The same of rows that are made all together or not at all.
fn stopped_whole(sender: &Sender, exit: i32) -> Failure {
    if sender.may_have_changed() {
        prompt::interrupted("interrupted").in_doubt().exit(exit)
    } else {
        untouched(exit)
    }
}

fn stopped(exit: i32) -> Failure {
    prompt::interrupted("interrupted; what was done is in the report").exit(exit)
}

/// Sends all rows as one atomic batch.
async fn whole(sender: &Sender, mut parts: Parts, ledger: &mut Ledger, run: &str) -> Outcome {
    let Some(part) = parts.recv().await else { return Ok(()) };
    let Part { settled, ready, position } = part?;
    if parts.recv().await.is_some() {
        let what =
            format!("--atomic takes at most {OPERATIONS_MAX} rows and {BATCH_BYTES_MAX} bytes of them");
        let hint = "nothing was sent; check all rows with --validate-only, then import them \
                    without --atomic: --resume continues one that breaks off";
        return Err(Failure::usage(what).hint(hint));
    }
    let unreadable = settled.iter().find(|done| done.status == Status::Failed).map(|done| done.number);
    let mut done = match unreadable {
        _ if ready.is_empty() => Vec::new(),
        None => {
            ledger.report.flush()?;
            sender.send_atomic(ready, run).await?
        }
        Some(number) => {
            let why = format!("not sent, because row {number} cannot be read");
            ready.iter().map(|ready| Done::failed(&ready.row, codes::TAKEN_BACK.code, &why)).collect()
        }
    };
    done.extend(settled);
    ledger.settle(done, position)
}

/// Ends the report and shows its totals.
fn finish(cx: &Cx, noun: Bulk, order: &Order, mut ledger: Ledger) -> Outcome {
    ledger.begin_results();
    let Ledger { report, failed, progress, counts, first, .. } = ledger;
    // What was done counts, whatever becomes of the files about it.
    let unreported = report.finish().err();
    let files = order.written();
    let shown = |path: &Path| path.display().to_string();
    let failures = failed.whole().map(shown);
    let show = cx.out.show(
        &views::IMPORT,
        &json!({
            "noun": noun.name, "file": order.file, "rows": counts.rows, "created": counts.created,
            "updated": counts.updated, "skipped": counts.skipped, "valid": counts.valid,
            "doneBefore": counts.before, "failed": counts.failed,
            "rowsPerSecond": progress.rate(counts.rows - counts.before),
            "report": shown(&files.0), "failedRows": failures,
        }),
    );
    let done = |failure: Failure| {
        let failed = if counts.failed == 0 { "none".to_owned() } else { counts.failed.to_string() };
        going_on(failure.adding(&format!("; {failed} of the {} rows failed", counts.rows)), noun, order)
    };
    let has_changed = counts.created + counts.updated > 0 && !order.how.validate_only;
    show.map_err(|failure| done(if has_changed { failure.of_no_usage() } else { failure }))?;
    if counts.failed == 0 {
        return unreported.map_or(Ok(()), |failure| Err(done(failure)));
    }
    let see = unreported.map_or_else(|| format!("see {}", shown(&files.0)), |why| why.message.clone());
    let mut what = format!("{} of {} rows failed: {see}", counts.failed, counts.rows);
    if let Some(why) = &failed.unwritten {
        what += &format!("; {}", why.message);
    }
    first.iter().for_each(|line| cx.out.tip(line));
    if counts.failed > first.len() as u64 {
        cx.out.tip(&format!("and {} more", counts.failed - first.len() as u64));
    }
    let tried = order.how.validate_only;
    let again = match (order.file.as_str(), &failures) {
        ("-", Some(failures)) => format!("correct them: {}", order.line(noun, failures)),
        (file, Some(failures)) if failed.unreadable == 0 => {
            let line = order.line(noun, failures);
            let whole = if tried { "check it again" } else { "import it with --resume" };
            format!("correct them: {line}; or correct {file} and {whole}")
        }
        ("-", None) if tried => "correct the rows, and check all of them again".to_owned(),
        ("-", None) => "correct the rows, and send all of them again with --resume".to_owned(),
        (file, _) if tried => format!("correct {file} and check it again: {}", order.again(noun)),
        (file, _) => format!("correct {file} and import it again: {} --resume", order.again(noun)),
    };
    Err(Failure::new(codes::BULK_FAILURES, what).hint(again))
}
