//! `mfa wait`: waits for a state of a record.

use crate::client::{Client, too_late};
use crate::command::cx::Cx;
use crate::command::money::Money;
use crate::command::noun::Noun;
use crate::command::verb::Verb;
use crate::failure::{Failure, Outcome, codes};
use crate::input::shape::Shape;
use crate::nouns;
use crate::output::views::{self, View};
use crate::output::{has, text};
use crate::words::did_you_mean;
use clap::Args;
use mfa_shared::api::rows;
use mfa_shared::endpoint::{Meta, Method, path_params, render};
use mfa_shared::fault::exit;
use mfa_shared::wire::AnswerKind;
use serde_json::Value;
use std::time::{Duration, Instant};

/// Wait between two looks.
const LOOK_EVERY: Duration = Duration::from_millis(250);
/// Time that a look has at least.
const LOOK_MIN: Duration = Duration::from_secs(1);

#[derive(Args)]
pub struct Wait {
    /// Noun and identifier, such as customer/c-001; a record inside another has both identifiers, such as
    /// teller/head-office/desk-1
    #[arg(value_name = "NOUN/ID")]
    record: String,
    /// What to wait for: a property and its value, such as state=ACTIVE or address.city=Accra; exists; gone
    #[arg(long = "for", value_name = "NAME=VALUE|exists|gone")]
    condition: String,
    /// Longest wait, such as 90, 60s, 5m or 1h; a daemon that cannot be reached meanwhile is waited for, too
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = duration)]
    timeout: Duration,
}

impl Verb for Wait {
    const ABOUT: &'static str = "Wait until a record has a value, exists or is gone";
    const EXAMPLES: &'static [&'static str] = &[
        "mfa wait customer/c-001 --for state=ACTIVE --timeout 60s",
        "mfa wait office/nowhere --for gone -q",
    ];
    const EXITS: &'static [i32] =
        &[exit::NOT_FOUND, exit::NOT_LOGGED_IN, exit::FORBIDDEN, exit::WAIT_TIMEOUT, exit::UNREACHABLE];
    async fn run(self, cx: &Cx) -> Outcome {
        let place = Place::of(&self.record)?;
        let path = render(place.row.path, &place.identifiers);
        let condition = self.condition.as_str();
        if !matches!(condition, "exists" | "gone") && !condition.contains('=') {
            return Err(Failure::usage(format!("\"{condition}\" is not a condition"))
                .hint("wait for NAME=VALUE, exists or gone"));
        }
        // A look that fails is followed by the next one, so nothing else repeats it.
        let mut once = cx.client.clone();
        once.retries = 0;
        let (began, mut client) = (Instant::now(), once.clone());
        let (mut answered, mut silent) = (None, None);
        loop {
            let left = self.timeout.saturating_sub(began.elapsed()).max(LOOK_MIN);
            match self.look(&once, &mut client, &path, left).await? {
                Look::Silent(failure) => {
                    if silent.is_none() {
                        cx.out.tip(&format!("{}; waiting for it", failure.message));
                    }
                    silent = Some(failure);
                }
                Look::Answered(seen) => {
                    if self.holds(place.row, seen.as_ref())? {
                        cx.out.tip(&in_words(&self.record, condition));
                        return match seen {
                            Some(record) => place.show(cx, record).await,
                            None => Ok(()),
                        };
                    }
                    (answered, silent) = (Some(seen), None);
                }
            }
            if began.elapsed() >= self.timeout {
                return Err(self.over(answered, silent));
            }
            tokio::time::sleep(LOOK_EVERY).await;
        }
    }
}

/// What a look has found.
enum Look {
    /// The record, where it exists.
    Answered(Option<Value>),
    /// The daemon did not answer, or could not; it may come back.
    Silent(Failure),
}

impl Wait {
    /// Looks once, for a time at most, with the token of the caller.
    async fn look(&self, caller: &Client, client: &mut Client, path: &str, left: Duration) -> Outcome<Look> {
        // A refresh of the login is not cut off: its new tokens would be lost.
        let looked = match caller.bearer().await {
            Ok(token) => {
                client.token = token;
                let look = tokio::time::timeout(left, client.raw("GET", path, &[], None));
                look.await.unwrap_or_else(|_| Err(too_late(&client.url, left)))
            }
            Err(failure) => Err(failure),
        };
        match looked {
            Ok(reply) => Ok(Look::Answered(Some(read(&reply.bytes)))),
            Err(failure)
                if failure.exit == exit::NOT_FOUND
                    && matches!(self.condition.as_str(), "exists" | "gone") =>
            {
                Ok(Look::Answered(None))
            }
            Err(failure)
                if failure.is_silence()
                    || failure.status.is_some_and(|status| status == 429 || status >= 500) =>
            {
                Ok(Look::Silent(failure))
            }
            Err(failure) => Err(failure),
        }
    }

    /// Whether what was found is what is waited for.
    fn holds(&self, row: &Meta, seen: Option<&Value>) -> Outcome<bool> {
        match (self.condition.as_str(), seen) {
            ("gone", seen) => Ok(seen.is_none()),
            ("exists", seen) => Ok(seen.is_some()),
            (condition, Some(record)) => holds(row, record, condition),
            (_, None) => Ok(false),
        }
    }

    /// How the time ended: with the last answer, and with why none came at last.
    fn over(&self, answered: Option<Option<Value>>, silent: Option<Failure>) -> Failure {
        let (seen, silent) = match (answered, silent) {
            (None, Some(never)) => return never,
            (answered, silent) => (answered.flatten(), silent),
        };
        let condition = self.condition.as_str();
        let now = seen
            .as_ref()
            .and_then(|record| Some(text(record, &pointer(record, condition.split('=').next()?)?)));
        let now = now.map_or_else(String::new, |now| format!(", it is {now}"));
        let silent = silent.map_or_else(String::new, |silent| format!("; {}", silent.message));
        let seconds = self.timeout.as_secs();
        let is_not =
            if condition == "exists" { "does not exist".into() } else { format!("is not {condition}") };
        let what = format!("{} {is_not} after {seconds} s{now}{silent}", self.record);
        Failure::new(codes::WAIT_TIMEOUT, what)
    }
}

/// The record that is waited for.
struct Place<'a> {
    /// The row that reads it.
    row: &'static Meta,
    /// The parameters of its path.
    identifiers: Vec<&'a str>,
}

impl<'a> Place<'a> {
    /// The one record that is meant.
    fn of(record: &'a str) -> Outcome<Self> {
        let mut words = record.split('/');
        let noun = words.next().unwrap_or_default();
        let identifiers: Vec<_> = words.collect();
        let Some(row) = row_of(noun) else {
            let known: Vec<_> = kinds().map(|(kind, _)| kind).collect();
            let meant = did_you_mean(noun, known.iter().copied());
            let hint = meant.unwrap_or_else(|| format!("it is one of {}", known.join(", ")));
            return Err(Failure::usage(format!("\"{noun}\" cannot be waited for")).hint(hint));
        };
        let needed = path_nouns(row).unwrap_or_default();
        if identifiers.len() != needed.len()
            || identifiers.iter().any(|word| matches!(*word, "" | "." | ".."))
        {
            let words: Vec<_> = needed.iter().map(|noun| format!("{}-ID", noun.to_uppercase())).collect();
            let what = format!("\"{record}\" does not name one {noun}");
            return Err(Failure::usage(what).hint(format!("it is written {noun}/{}", words.join("/"))));
        }
        Ok(Self { row, identifiers })
    }

    /// Shows the record as the command does that reads it.
    async fn show(&self, cx: &Cx, record: Value) -> Outcome {
        let view = view(self.row).unwrap_or(&views::ANSWER);
        let record =
            Money::of_row(&cx.client, &cx.out, (self.row, &self.identifiers), view).shown(record).await;
        cx.out.show(view, &record)
    }
}

/// The columns of what a row reads, where a noun is read by it.
pub fn view(row: &Meta) -> Option<&'static View> {
    let is_read = |noun: &&&Noun| noun.read.is_some_and(|read| read.name == row.name);
    nouns::all().iter().find(is_read).map(|noun| noun.view)
}

/// The row that reads the record of a text such as customer/c-001.
pub fn row(record: &str) -> Option<&'static Meta> {
    Some(Place::of(record).ok()?.row)
}

/// A record as this command compares and shows it, which is without the secret of a gateway.
fn read(bytes: &[u8]) -> Value {
    let mut record = serde_json::from_slice(bytes).unwrap_or_default();
    nouns::all().iter().for_each(|noun| noun.cover(&mut record));
    record
}

/// The condition that was met, in words.
fn in_words(record: &str, condition: &str) -> String {
    match condition.split_once('=') {
        Some((name, value)) => format!("{record}: {name} is {value}"),
        None if condition == "gone" => format!("{record} is gone"),
        None => format!("{record} {condition}"),
    }
}

/// The row that reads a record of a noun, by its name in the path, in commands, or in the audit trail.
pub fn row_of(noun: &str) -> Option<&'static Meta> {
    let names = nouns::called(noun);
    let is_meant = |own: &&str| *own == noun || names.contains(own);
    let found = rows().find(|row| path_nouns(row).is_some_and(|nouns| nouns.last().is_some_and(is_meant)));
    found.or_else(|| kinds().find(|(kind, _)| *kind == noun).map(|(_, row)| row))
}

/// The kinds of records of the audit trail and of events that can be read one by one, with the rows that do.
pub fn kinds() -> impl Iterator<Item = (&'static str, &'static Meta)> {
    let named = nouns::all().iter().filter(|noun| !noun.history.is_empty());
    let read = |noun: &&'static Noun| noun.read.filter(|row| path_nouns(row).is_some());
    named.filter_map(move |noun| Some((noun.history, read(noun)?)))
}

/// The nouns in the path of a row that reads one record.
pub fn path_nouns(row: &Meta) -> Option<Vec<&'static str>> {
    let one = row.method == Method::Get && row.answer.kind == AnswerKind::Json && row.path.ends_with('}');
    one.then(|| path_params(row.path).collect())
}

/// Whether a record shows what is waited for. Words are the same however they are written.
fn holds(row: &Meta, record: &Value, condition: &str) -> Outcome<bool> {
    let Some((name, value)) = condition.split_once('=') else { return Ok(false) };
    let Some(pointer) = pointer(record, name) else {
        return Err(Failure::usage(format!("the record has no \"{name}\"")).hint("see its -o json"));
    };
    let words = Shape::of_answer(row).words(&pointer[1..].replace('/', "."));
    match words.iter().find(|word| word.eq_ignore_ascii_case(value)) {
        Some(word) => Ok(has(record, &pointer, word)),
        // It would be waited for in vain; empty is what may be missing.
        None if !words.is_empty() && !value.is_empty() => {
            let meant = did_you_mean(value, words.iter().map(String::as_str));
            let hint = meant.unwrap_or_else(|| format!("it is one of {}", words.join(", ")));
            Err(Failure::usage(format!("{name} is never \"{value}\"")).hint(hint))
        }
        None => Ok(has(record, &pointer, value)),
    }
}

/// Where a property is; a customer's state is called currentState.
fn pointer(record: &Value, name: &str) -> Option<String> {
    let first = name.split('.').next().unwrap_or_default();
    let name = match name {
        "state" if record.get("state").is_none() => "currentState",
        _ if record.get(first).is_none() => return None,
        name => name,
    };
    Some(format!("/{}", name.replace('.', "/")))
}

fn duration(text: &str) -> Result<Duration, String> {
    let (digits, unit) = text.split_at(text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len()));
    let unit = match unit {
        "" | "s" => 1,
        "m" => 60,
        "h" => 3600,
        _ => return Err("it must be a number of seconds, or end with s, m or h".to_owned()),
    };
    let number: u64 = digits.parse().map_err(|_| "it must begin with a number".to_owned())?;
    Ok(Duration::from_secs(number.saturating_mul(unit)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_can_be_waited_for_has_columns_of_its_own() {
        let waited: Vec<_> = rows().filter(|row| path_nouns(row).is_some()).collect();
        assert!(waited.len() > 15, "{waited:?}");
        for row in waited {
            assert!(view(row).is_some(), "{} has none", row.name);
        }
    }
}
