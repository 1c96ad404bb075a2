//! What every command is given, and the few shapes that most commands have: list, show, change, update.

use crate::client::{Client, Reply};
use crate::failure::{Failure, Outcome};
use crate::globals::{ChangeFlags, ListFlags};
use crate::input::Draft;
use crate::output::Output;
use crate::prompt::Prompt;
use crate::settings::Settings;
use crate::views::{self, View};
use mfa_shared::endpoint::Endpoint;
use mfa_shared::query::{PAGE_SIZE_MAX, Paging};
use mfa_shared::wire::{Listed, Nothing, Page};
use serde_json::{Value, json};
use std::cmp::Ordering;

/// Records that a list shows on a terminal unless told otherwise.
const TERMINAL_LIMIT: u64 = 50;

/// What every command is given.
#[derive(Debug)]
pub struct Cx {
    /// Every setting.
    pub settings: Settings,
    /// The way to the daemon.
    pub client: Client,
    /// The way to the reader.
    pub out: Output,
    /// Questions.
    pub prompt: Prompt,
    /// Flags of a list.
    pub list: ListFlags,
    /// Flags of a change.
    pub change: ChangeFlags,
}

/// What a change comes to, in words: `customer c-001 created`.
#[derive(Debug, Clone, Copy)]
pub struct Done<'a> {
    /// Kind of the record.
    pub noun: &'a str,
    /// Its identifier.
    pub id: &'a str,
    /// What happened to it.
    pub what: &'a str,
}

impl Cx {
    /// Reads one record, or a plain array, and prints it.
    pub async fn show<E: Endpoint<Body = Nothing>>(&self, endpoint: E, view: &View) -> Outcome {
        let reply = self.client.send(&endpoint, &Nothing).await?;
        self.out.show(view, &reply.value)
    }

    /// Lists what a paged endpoint has, as far as it was asked for.
    pub async fn list<E, T>(&self, endpoint: E, view: &View, body: impl Fn(Paging<T>) -> E::Body) -> Outcome
    where
        E: Endpoint<Answer = Page<T>>,
        T: Listed,
    {
        let mut paging = Paging::default();
        paging.term.clone_from(&self.list.term);
        let mut sort = sort_columns::<T>(&self.list.sort, view)?;
        let default = self.out.screen.stdout_is_terminal.then_some(TERMINAL_LIMIT);
        let limit = if self.list.all { None } else { self.list.limit.or(default) };
        if sort.len() > 1 {
            return self.list_sorted(&endpoint, view, body(paging), &sort, limit).await;
        }
        if let Some((column, descending)) = sort.pop() {
            (paging.sort_column, paging.descending) = (Some(column.to_owned()), descending);
        }
        let mut listing = self.out.listing(view)?;
        match limit {
            Some(limit) if limit <= u64::from(PAGE_SIZE_MAX) => {
                // The daemon answers no page of no records, and the count is wanted all the same.
                paging.size = Some(u32::try_from(limit).unwrap_or(PAGE_SIZE_MAX).max(1));
                let page = self.client.send(&endpoint, &body(paging)).await?.value;
                let records = page[T::PLURAL].as_array().map_or(&[][..], Vec::as_slice);
                let shown = records.iter().take(usize::try_from(limit).unwrap_or(usize::MAX));
                shown.clone().try_for_each(|record| listing.push(&record.to_string()))?;
                listing.finish()?;
                let total = page["totalElements"].as_u64().unwrap_or(0);
                self.tell_rest(u64::try_from(shown.len()).unwrap_or(u64::MAX), total);
            }
            _ => {
                let mut stream = self.client.stream(&endpoint, &body(paging)).await?;
                let mut left = limit.unwrap_or(u64::MAX);
                while left > 0
                    && let Some(record) = stream.next().await?
                {
                    listing.push(&record)?;
                    left -= 1;
                }
                listing.finish()?;
            }
        }
        Ok(())
    }

    /// Sorts here by several columns, because the daemon sorts by one.
    async fn list_sorted<E: Endpoint>(
        &self,
        endpoint: &E,
        view: &View,
        body: E::Body,
        sort: &[(&str, bool)],
        limit: Option<u64>,
    ) -> Outcome {
        let mut records = Vec::new();
        let mut stream = self.client.stream(endpoint, &body).await?;
        while let Some(line) = stream.next().await? {
            let record: Value = serde_json::from_str(&line).unwrap_or_default();
            for (column, _) in sort {
                if record.get(column).is_none() {
                    let what = format!("the records do not show {column}, so it can only be sorted by alone");
                    return Err(Failure::usage(what));
                }
            }
            records.push(record);
        }
        records.sort_by(|a, b| {
            let by = |(column, descending): &(&str, bool)| {
                let order = compare(&a[column], &b[column]);
                if *descending { order.reverse() } else { order }
            };
            sort.iter().map(by).find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
        });
        let total = records.len();
        records.truncate(limit.and_then(|limit| usize::try_from(limit).ok()).unwrap_or(total));
        let shown = records.len();
        self.out.show(view, &Value::Array(records))?;
        self.tell_rest(shown as u64, total as u64);
        Ok(())
    }

    fn tell_rest(&self, shown: u64, total: u64) {
        if shown < total {
            self.out.tip(&format!("{} of {}; --all for the rest", grouped(shown), grouped(total)));
        }
    }

    /// Sends a change, reads the record back and prints it.
    pub async fn change<E, R>(
        &self,
        endpoint: E,
        body: E::Body,
        done: Done<'_>,
        read: R,
        view: &View,
    ) -> Outcome
    where
        E: Endpoint,
        R: Endpoint<Body = Nothing>,
    {
        self.client.send(&endpoint, &body).await?;
        self.changed(done, read, view).await
    }

    /// Reads a record, lays the draft over it, and writes it if nobody else has meanwhile.
    pub async fn update<R, E>(&self, read: R, write: E, draft: Draft, done: Done<'_>, view: &View) -> Outcome
    where
        R: Endpoint<Body = Nothing>,
        E: Endpoint,
    {
        if !draft.given {
            let hint = "give at least one flag with a new value, or --from FILE";
            return Err(Failure::usage("there is nothing to change").hint(hint));
        }
        let Reply { value, tag, .. } = self.client.send(&read, &Nothing).await?;
        let body = Draft::from_record(value).merge(draft).body::<E>()?;
        let sent = self.client.send_if(&write, &body, tag.as_deref()).await;
        match sent {
            Err(failure) if failure.status == Some(412) => Err(self.raced(failure, &read).await),
            Err(failure) => Err(failure),
            Ok(_) => self.changed(done, read, view).await,
        }
    }

    /// Says who was faster, where the record tells.
    async fn raced<R: Endpoint<Body = Nothing>>(&self, failure: Failure, read: &R) -> Failure {
        let Ok(Reply { value, .. }) = self.client.send(read, &Nothing).await else { return failure };
        match (value["lastModifiedBy"].as_str(), value["lastModifiedOn"].as_str()) {
            (Some(who), Some(when)) => failure.adding(&format!("; {who} changed it at {when}")),
            _ => failure,
        }
    }

    /// Tells what a change came to, and prints the record as it is now.
    pub async fn changed<R: Endpoint<Body = Nothing>>(
        &self,
        done: Done<'_>,
        read: R,
        view: &View,
    ) -> Outcome {
        if self.change.no_read {
            return self.done(done);
        }
        match self.client.send(&read, &Nothing).await {
            Ok(reply) => {
                let state = reply.value.pointer(view.state).and_then(Value::as_str);
                let state = state.map_or_else(String::new, |state| format!(" ({state})"));
                self.out.tip(&format!("{} {} {}{state}", done.noun, done.id, done.what));
                self.out.show(view, &reply.value)
            }
            Err(failure) => {
                self.out.warn(&format!("it cannot be read back: {}", failure.message));
                self.done(done)
            }
        }
    }

    /// Tells what a change came to that leaves no record to print.
    pub fn done(&self, done: Done<'_>) -> Outcome {
        use crate::globals::Format::{Table, Wide};
        self.out.tip(&format!("{} {} {}", done.noun, done.id, done.what));
        if matches!(self.out.format, Table | Wide) {
            return Ok(());
        }
        self.out.show(&views::RESULT, &json!({ "identifier": done.id, "result": done.what }))
    }

    /// Identifiers of a list that contain a text, for suggestions and completions.
    pub async fn identifiers<E, T>(
        client: &Client,
        endpoint: E,
        term: &str,
        body: impl Fn(Paging<T>) -> E::Body,
    ) -> Vec<String>
    where
        E: Endpoint<Answer = Page<T>>,
        T: Listed,
    {
        let mut paging = Paging::default();
        (paging.size, paging.term) = (Some(PAGE_SIZE_MAX), Some(term.to_owned()));
        let Ok(reply) = client.send(&endpoint, &body(paging)).await else { return Vec::new() };
        let records = reply.value[T::PLURAL].as_array().cloned().unwrap_or_default();
        records.iter().filter_map(|record| Some(record["identifier"].as_str()?.to_owned())).collect()
    }
}

/// The columns to sort by, each by its name on the wire, and whether the highest comes first.
fn sort_columns<T: Listed>(asked: &[String], view: &View) -> Outcome<Vec<(&'static str, bool)>> {
    let column = |asked: &String| {
        let (name, descending) = asked.strip_prefix('-').map_or((asked.as_str(), false), |name| (name, true));
        let property = view.column(name).map_or(name, |column| column.pointer.trim_start_matches('/'));
        let loose = |name: &str| name.replace(['-', '_'], "").to_lowercase();
        let same = |c: &&&str| [loose(property), loose(property) + "on"].contains(&loose(c));
        match T::COLUMNS.iter().find(same) {
            Some(column) => Ok((*column, descending)),
            None => {
                let what = format!("this list cannot be sorted by \"{name}\"");
                Err(Failure::usage(what).hint(format!("it can by {}", T::COLUMNS.join(", "))))
            }
        }
    };
    asked.iter().map(column).collect()
}

/// The order of the daemon's lists: null first, then by kind, texts by code point.
fn compare(a: &Value, b: &Value) -> Ordering {
    match (a, b) {
        (Value::Null, Value::Null) => Ordering::Equal,
        (Value::Null, _) => Ordering::Less,
        (_, Value::Null) => Ordering::Greater,
        (Value::Bool(a), Value::Bool(b)) => a.cmp(b),
        (Value::String(a), Value::String(b)) => a.cmp(b),
        // Dates in parts, and numbers where a list ever sorts by one.
        (Value::Object(a), Value::Object(b)) => {
            let part = |map: &serde_json::Map<String, Value>, name| map.get(name).and_then(Value::as_i64);
            ["year", "month", "day"].map(|p| part(a, p)).cmp(&["year", "month", "day"].map(|p| part(b, p)))
        }
        (a, b) => a.as_i64().cmp(&b.as_i64()),
    }
}

/// A count with commas: `1,203`.
fn grouped(count: u64) -> String {
    let digits = count.to_string();
    let mut out = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use mfa_shared::api::customers::Customer;

    #[test]
    fn a_sort_column_is_known_by_its_name_in_the_table_and_on_the_wire() {
        let asked = ["state", "-created", "givenName"].map(str::to_owned);
        let columns = sort_columns::<Customer>(&asked, &views::CUSTOMER).unwrap();
        assert_eq!(columns, [("currentState", false), ("createdOn", true), ("givenName", false)]);
        assert!(sort_columns::<Customer>(&["city".to_owned()], &views::CUSTOMER).is_err());
    }

    #[test]
    fn counts_are_grouped_by_thousands() {
        assert_eq!([5, 1203, 1_000_000].map(grouped), ["5", "1,203", "1,000,000"]);
    }
}
