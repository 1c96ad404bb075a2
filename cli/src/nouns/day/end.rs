//! The end of a day: tellers, interest, the report, the books, failures, the backup.

use super::steps::{self, Ending, Step, reason};
use super::{is_sheet, sheet};
use crate::command::cx::Cx;
use crate::command::verb::Verb;
use crate::failure::{Failure, Outcome, codes};
use crate::input::date;
use crate::nouns::teller::{self, FileFlags};
use crate::output::{views, wrap::fill};
use crate::words::quoted;
use clap::Args;
use mfa_shared::api::days::*;
use mfa_shared::api::tellers::ListTellers;
use mfa_shared::endpoint::{Endpoint, Meta};
use mfa_shared::fault::{self, exit};
use mfa_shared::time::Date;
use mfa_shared::wire::{JsonIfAny, Nothing};
use serde_json::{Value, json};
use std::time::Duration;

/// Longest wait for the report: every account of a large institution is read.
const REPORT: Duration = Duration::from_secs(10 * 60);
/// Columns of the name of a step at least.
const STEP_WIDTH: usize = 14;

#[derive(Args)]
pub struct End {
    /// The office [env: MFA_OFFICE]
    #[arg(value_name = "OFFICE")]
    office: Option<String>,
    /// The day, in UTC; today by default. With MFA_OFFICE it can be given alone
    #[arg(value_name = "DATE", value_parser = date)]
    date: Option<Date>,
    /// End the day although tellers are open; the report lists them
    #[arg(long)]
    leave_open: bool,
    #[command(flatten)]
    file: FileFlags,
}

/// The end of a day of an office.
struct Ends {
    office: String,
    leave_open: bool,
    file: FileFlags,
}

impl Verb for End {
    const ENDPOINT: Option<&'static Meta> = Some(&EndOfficeDay::META);
    const ABOUT: &'static str = "End the day of an office: tellers, interest, report, books and backup";
    const EXAMPLES: &'static [&'static str] = &[
        "mfa day end head-office --leave-open",
        "mfa teller close desk-2 --office head-office && mfa day end head-office -o json",
    ];
    const EXITS: &'static [i32] = &[exit::BULK_FAILURES];
    async fn run(self, cx: &Cx) -> Outcome {
        cx.out.check_columns(&views::DAY_STEP)?;
        let Self { office, date, leave_open, file } = self;
        let (office, date) = super::office_and_day(cx, office, date)?;
        let ends = Ends { office, leave_open, file };
        ends.run(cx, date).await
    }
}

impl Ends {
    async fn run(self, cx: &Cx, date: Date) -> Outcome {
        let at = GetOfficeDay { office: self.office.clone(), date: date.to_string() };
        let before = ended_before(cx, &at).await?;
        if before.is_none() {
            let what = format!("end the day {date} of office {}", self.office);
            cx.prompt.before_ending(&what, &self.office)?;
        }
        let mut steps = self.tellers(cx, &at, before.is_some()).await?;
        if cx.client.dry_run {
            self.end(cx, &at).await?;
        }
        let mut report = before.clone();
        if steps.iter().all(|step| step.ending != Ending::Failed) {
            let work = self.steps(cx, &at, date, &mut steps, &mut report);
            let done = cx.prompt.interrupts.taken_by(work).await;
            done.map_err(|failure| self.cut(failure, date, report.as_ref()))?;
        }
        print(cx, &at, &steps, report.as_ref()).await?;
        match steps.iter().filter(|step| step.ending == Ending::Failed).count() {
            0 => Ok(()),
            count => {
                let steps = if count == 1 { "1 step" } else { &format!("{count} steps") };
                let what = format!("{steps} of the end of {date} at office {} failed", self.office);
                Err(Failure::new(codes::DAY_NOT_ENDED, what)
                    .hint("see the lines above, then repeat the command: what is done is not repeated"))
            }
        }
    }

    /// Everything after the tellers. It may be dropped anywhere, and the next call continues.
    async fn steps(
        &self,
        cx: &Cx,
        at: &GetOfficeDay,
        date: Date,
        steps: &mut Vec<Step>,
        report: &mut Option<Value>,
    ) -> Outcome {
        steps.push(steps::interest(cx, date).await);
        let step = match report {
            Some(before) => Step::skipped("report", ended(cx, before)),
            None => self.report(cx, at, report).await,
        };
        steps.push(step);
        steps.push(steps::ledger(report.as_ref()));
        steps.push(steps::messages(cx, date).await);
        steps.push(steps::backup(cx, report.as_ref()).await);
        Ok(())
    }

    /// The state after an interrupt. The hint names the day, because the next call may come after midnight.
    fn cut(&self, failure: Failure, date: Date, report: Option<&Value>) -> Failure {
        let office = &self.office;
        let what = match report {
            Some(report) => format!(
                "; report number {} is written, and the day {date} of office {office} has no backup yet",
                report["number"]
            ),
            None => format!("; the day {date} of office {office} may not have been ended yet"),
        };
        let next = format!("repeat it: mfa day end {} {date}; what is done is not repeated", quoted(office));
        failure.adding(&what).hint(next)
    }
}

/// The report of a day that was ended before.
async fn ended_before(cx: &Cx, at: &GetOfficeDay) -> Outcome<Option<Value>> {
    match cx.client.send(at, &Nothing).await {
        Ok(reply) => Ok(Some(reply.value)),
        Err(failure) if failure.code == fault::DAY_NOT_FOUND.code => Ok(None),
        Err(failure) => Err(failure),
    }
}

fn ended(cx: &Cx, report: &Value) -> String {
    let text = |name: &str| report[name].as_str().unwrap_or_default();
    let on = if is_sheet(cx) { cx.out.moment(text("endedOn")) } else { text("endedOn").to_owned() };
    format!("number {}, ended before: on {on} by {}", report["number"], text("endedBy"))
}

impl Ends {
    /// Asks to close each open teller; returns a step for each. If no question can be asked, none is closed.
    async fn tellers(&self, cx: &Cx, at: &GetOfficeDay, is_ended: bool) -> Outcome<Vec<Step>> {
        const NAME: &str = "tellers";
        let list = ListTellers { office: self.office.clone() };
        let listed = cx.client.send(&list, &Nothing).await?.value;
        let tellers = listed.as_array().cloned().unwrap_or_default();
        let open: Vec<_> = tellers.iter().filter(|teller| teller["state"] != "CLOSED").collect();
        if open.is_empty() {
            return Ok(vec![Step::done(NAME, format!("all {} are closed", tellers.len()))]);
        }
        if is_ended || self.leave_open {
            let open: Vec<_> = open.into_iter().map(in_words).collect();
            return Ok(vec![Step::skipped(NAME, format!("left as they are: {}", open.join(", ")))]);
        }
        self.check_order(cx, at).await?;
        let asks = cx.prompt.can_ask() && !cx.client.dry_run;
        let mut steps = Vec::new();
        for teller in open {
            let code = teller["code"].as_str().unwrap_or_default();
            let name = format!("teller {code}");
            let (teller_code, office) = (quoted(code), quoted(&self.office));
            let hint = format!("close it: mfa teller close {teller_code} --office {office}");
            let closed = if asks {
                self.ask(cx, code, teller).await
            } else {
                Err(Failure::new(codes::TELLER_OPEN, in_words(teller)))
            };
            steps.push(match closed {
                Ok(()) => Step::done(&name, "closed"),
                Err(why) if why.hint.is_empty() => Step::failed(&name, reason(&why.hint(hint))),
                Err(why) => Step::failed(&name, reason(&why)),
            });
        }
        Ok(steps)
    }

    /// Asks whether a teller is to be closed, with what that cancels, and closes it.
    async fn ask(&self, cx: &Cx, code: &str, teller: &Value) -> Outcome {
        let answer = match teller::say_what_waits(cx, code).await {
            0 => cx.prompt.confirm(&format!("{}: close it?", in_words(teller))),
            waiting => {
                let s = if waiting == 1 { "" } else { "s" };
                let what = format!("{waiting} pending transaction{s}");
                cx.prompt.before_ending(&format!("{}: close it and cancel {what}", in_words(teller)), code)
            }
        };
        if answer.is_err() {
            let what = format!("{} and was left so", in_words(teller));
            return Err(Failure::new(codes::TELLER_OPEN, what));
        }
        let client = cx.client.step(code);
        teller::close(cx, &client, &self.office, code, &self.file).await
    }

    /// Refuses a day that cannot end before a teller is closed for it. While tellers are open, the daemon
    /// only looks at the order of the days.
    async fn check_order(&self, cx: &Cx, at: &GetOfficeDay) -> Outcome {
        let end = EndOfficeDay { office: at.office.clone(), date: at.date.clone() };
        let tried = cx.client.try_out(&end, &JsonIfAny(Some(DayEnd { leave_open: false }))).await;
        tried.or_else(
            |failure| if failure.code == fault::DAY_OUT_OF_ORDER.code { Err(failure) } else { Ok(()) },
        )
    }

    async fn end(&self, cx: &Cx, at: &GetOfficeDay) -> Outcome {
        let end = EndOfficeDay { office: at.office.clone(), date: at.date.clone() };
        let how = JsonIfAny(Some(DayEnd { leave_open: self.leave_open }));
        cx.client.patient(REPORT).send(&end, &how).await.map(drop)
    }

    async fn report(&self, cx: &Cx, at: &GetOfficeDay, report: &mut Option<Value>) -> Step {
        const NAME: &str = "report";
        if let Err(failure) = self.end(cx, at).await {
            return Step::failed(NAME, reason(&failure));
        }
        match cx.client.send(at, &Nothing).await {
            Ok(reply) => {
                let read = report.insert(reply.value);
                Step::done(NAME, format!("number {}", read["number"]))
            }
            Err(failure) => Step::failed(NAME, reason(&failure)),
        }
    }
}

/// `desk-2 is ACTIVE for kwame`
fn in_words(teller: &Value) -> String {
    let text = |name: &str| teller[name].as_str();
    let (code, state) = (text("code").unwrap_or_default(), text("state").unwrap_or_default());
    let employee = text("assignedEmployee").map_or_else(String::new, |employee| format!(" for {employee}"));
    format!("{code} is {state}{employee}")
}

/// A blank inside a command, which is copied whole.
const UNBROKEN: char = '\u{2060}';

/// Words of which a line is made, with commands as one.
fn with_whole_commands(text: &str) -> String {
    let mut whole = String::new();
    let mut within = false;
    for word in text.split_whitespace() {
        if !whole.is_empty() {
            whole.push(if within { UNBROKEN } else { ' ' });
        }
        whole.push_str(word);
        within = (within || word == "mfa") && !word.ends_with([';', ',']);
    }
    whole
}

/// A line for each step; long ones are wrapped below their own text.
fn lines(steps: &[Step], width: usize) -> String {
    let longest = steps.iter().map(|step| step.name.chars().count()).max().unwrap_or_default();
    let names = STEP_WIDTH.max(longest + 1);
    let mut text = String::new();
    for step in steps {
        let head = format!("{:<names$}{:<9}", step.name, step.word());
        fill(&mut text, &head, &with_whole_commands(&step.detail), width);
    }
    text.replace(UNBROKEN, " ")
}

async fn print(cx: &Cx, at: &GetOfficeDay, steps: &[Step], report: Option<&Value>) -> Outcome {
    let rows: Vec<_> = steps.iter().map(Step::json).collect();
    if is_sheet(cx) {
        let mut text = match report {
            Some(report) => sheet::of(cx, report).await + "\n",
            None => String::new(),
        };
        text += &lines(steps, cx.out.screen.width.into());
        return cx.out.document("day", &text);
    }
    if cx.out.format.is_structured() || cx.out.jq.is_some() {
        let whole = json!({ "office": at.office, "date": at.date, "steps": rows, "report": report });
        return cx.out.show(&views::DAY_STEP, &whole);
    }
    cx.out.show(&views::DAY_STEP, &Value::Array(rows))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_line_wraps_below_its_text_and_a_long_name_has_its_own_line() {
        let steps = [
            Step::done("ledger", "both sides are the same"),
            Step::failed("teller far-away-desk", "it is open: mfa teller close; no more"),
        ];
        let expected = "ledger               done     both sides
                              are the same
teller far-away-desk failed   it is open:
                              mfa teller close;
                              no more
";
        assert_eq!(lines(&steps, 42), expected);
        assert_eq!(
            lines(&steps[..1], usize::from(u16::MAX)),
            "ledger        done     both sides are the same\n"
        );
    }
}
