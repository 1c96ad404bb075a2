//! Which values an argument takes: words that the program knows, and identifiers that the daemon knows.

use super::{Candidate, Line, first_line};
use crate::command::cx::Cx;
use crate::command::noun::Noun;
use crate::machine::profile;
use crate::nouns::{self, accounts, teller};
use crate::output::views::View;
use crate::tree::{explain, topics};
use crate::verbs::wait;
use clap::Arg;
use mfa_shared::api::rows;
use mfa_shared::endpoint::Meta;
use mfa_shared::wire::AnswerKind;
use serde_json::Value;
use std::time::Duration;

/// Longest wait for identifiers; a person is waiting after a key press.
const IDENTIFIERS_TIMEOUT: Duration = Duration::from_millis(300);

/// What a value may be; the names of files where these are meant.
pub(super) async fn of(cx: &Cx, line: &Line<'_>, arg: &Arg, typed: &str) -> Vec<Candidate> {
    let possible = arg.get_possible_values();
    if !possible.is_empty() {
        let value =
            |value: clap::builder::PossibleValue| (value.get_name().to_owned(), first_line(value.get_help()));
        return possible.into_iter().map(value).collect();
    }
    let own = match arg.get_id().as_str() {
        "columns" => Some(listed(typed, columns(line).iter().map(|name| (*name).to_owned()).collect())),
        "sort" => Some(listed(typed, sorts(line))),
        "filter" => Some(filters(line, typed)),
        "condition" => Some(conditions(line, typed)),
        "words" if line.leaf.is_some_and(|leaf| leaf.name == "explain") => {
            Some(explain::names(line.positionals.first().map(|word| word.as_str())))
        }
        _ => None,
    };
    if let Some(own) = own {
        return plain(own);
    }
    if arg.get_id() == "record" {
        return plain(records(cx, line, typed).await);
    }
    let shown =
        arg.get_value_names().and_then(|names| names.first()).map(|name| name.as_str()).unwrap_or_default();
    if shown.contains("FILE") || shown.contains("DIR") {
        return vec![(super::FILES.to_owned(), String::new())];
    }
    // If only a few words are possible, the help lists them as they are typed.
    if shown.contains('|') && shown.chars().all(|c| c.is_ascii_lowercase() || c == '|') {
        return plain(shown.split('|').map(str::to_owned).collect());
    }
    // The argument for the identifier of a new record has a different name, so nothing is offered for it.
    match arg.get_id().as_str() {
        "profile" => plain(profile::identifiers()),
        "topic" => plain(topics::names()),
        id => plain(known(cx, line, id, typed).await),
    }
}

fn plain(values: Vec<String>) -> Vec<Candidate> {
    values.into_iter().map(|value| (value, String::new())).collect()
}

/// The identifiers of the records that an argument names, if the daemon answers soon.
async fn known(cx: &Cx, line: &Line<'_>, argument: &str, typed: &str) -> Vec<String> {
    let names = |noun: &&&Noun| noun.param() == argument || noun.arguments.contains(&argument);
    let mut named = nouns::all().iter().filter(names);
    // Kinds of gateways have an argument of one name: the words before it say which kind is meant.
    let path = line.path.join(" ");
    let own = named.clone().find(|noun| path.starts_with(noun.typed));
    let Some(noun) = own.or_else(|| named.next()) else { return Vec::new() };
    let client = cx.client.hasty(IDENTIFIERS_TIMEOUT);
    let office = line.given("office").unwrap_or_else(|| cx.settings.get("office").0.to_owned());
    let of_ledger = line.path.first().is_some_and(|noun| ["ledger", "products"].contains(noun));
    let asked = async {
        match noun.typed {
            "accounts" if !of_ledger => {
                let customer = line.given("customer");
                accounts::identifiers(&client, customer.as_deref(), typed).await
            }
            _ => noun.beginning(&client, &office, typed).await,
        }
    };
    tokio::time::timeout(IDENTIFIERS_TIMEOUT, asked).await.unwrap_or_default()
}

/// Names behind those that were typed already, with a comma between.
fn listed(typed: &str, names: Vec<String>) -> Vec<String> {
    let before = typed.rfind(',').map_or("", |comma| &typed[..=comma]);
    let taken: Vec<_> = before.split(',').collect();
    let free = names.into_iter().filter(|name| !taken.contains(&name.as_str()));
    free.map(|name| format!("{before}{name}")).collect()
}

/// The columns of what a command shows.
fn columns(line: &Line<'_>) -> Vec<&'static str> {
    let view = line.meta().and_then(view_of);
    view.map_or(Vec::new(), |view| view.columns.iter().map(|column| column.name).collect())
}

/// The columns by which the daemon sorts a list, either way.
fn sorts(line: &Line<'_>) -> Vec<String> {
    let documented = line.meta().map(|meta| (meta.body.params)()).unwrap_or_default();
    let sort = documented.into_iter().find(|param| param.name == "sortColumn");
    let names = sort.map(|param| param.schema["enum"].clone()).unwrap_or_default();
    let names: Vec<_> = names.as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    names.iter().map(|name| (*name).to_owned()).chain(names.iter().map(|name| format!("-{name}"))).collect()
}

fn filters(line: &Line<'_>, typed: &str) -> Vec<String> {
    line.meta().map_or(Vec::new(), |meta| named_values(meta, typed))
}

/// What may be waited for of the record that the line names.
fn conditions(line: &Line<'_>, typed: &str) -> Vec<String> {
    let record = line.positionals.first().and_then(|record| wait::row(record));
    let mut found = record.map_or(Vec::new(), |row| named_values(row, typed));
    found.extend(["exists", "gone"].map(str::to_owned));
    found
}

/// Names of properties with their equals sign; behind it, the words that the property may be.
fn named_values(meta: &'static Meta, typed: &str) -> Vec<String> {
    let Some(view) = view_of(meta) else { return Vec::new() };
    let Some((name, _)) = typed.split_once('=') else {
        let simple = view.columns.iter().filter(|column| !column.pointer.contains('*'));
        return simple.map(|column| format!("{}=", column.name)).collect();
    };
    let pointer = view.column(name).map(|column| column.pointer);
    let words =
        explain::object_of(meta).zip(pointer).map(|(object, pointer)| explain::words_of(&object, pointer));
    words.unwrap_or_default().into_iter().map(|word| format!("{name}={word}")).collect()
}

/// The columns of what a row answers: those of the row that reads one record of the kind.
fn view_of(meta: &'static Meta) -> Option<&'static View> {
    let object = explain::object_of(meta)?;
    let of_one = |row: &&Meta| {
        row.answer.kind == AnswerKind::Json && explain::object_of(row).as_ref() == Some(&object)
    };
    std::iter::once(meta).chain(rows().filter(of_one)).find_map(wait::view)
}

/// Records that may be waited for: `customer/c-001`, and `teller/head-office/desk-1`.
async fn records(cx: &Cx, line: &Line<'_>, typed: &str) -> Vec<String> {
    let Some((before, last)) = typed.rsplit_once('/') else {
        let mut nouns: Vec<_> = wait::kinds().map(|(kind, _)| kind).collect();
        nouns.sort_unstable();
        nouns.dedup();
        return nouns.into_iter().map(|noun| format!("{noun}/")).collect();
    };
    let mut words = before.split('/');
    let noun = words.next().unwrap_or_default();
    let given: Vec<_> = words.collect();
    let path = wait::row_of(noun).and_then(wait::path_nouns).unwrap_or_default();
    let Some(next) = path.get(given.len()) else { return Vec::new() };
    let more = if given.len() + 1 < path.len() { "/" } else { "" };
    let found = match (*next, given.first()) {
        ("teller", Some(office)) => {
            let client = cx.client.hasty(IDENTIFIERS_TIMEOUT);
            let asked = teller::NOUN.beginning(&client, office, last);
            tokio::time::timeout(IDENTIFIERS_TIMEOUT, asked).await.unwrap_or_default()
        }
        (noun, _) => known(cx, line, noun, last).await,
    };
    found.into_iter().map(|identifier| format!("{before}/{identifier}{more}")).collect()
}
