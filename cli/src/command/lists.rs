//! Lists: what is read, filtered, sorted and shown.

use crate::client::At;
use crate::command::cx::Cx;
use crate::command::money::Money;
use crate::failure::{Failure, Outcome};
use crate::input::shape::Shape;
use crate::output::views::{HISTORY, View};
use crate::output::{has, worth};
use crate::words::{did_you_mean, grouped, quoted};
use mfa_shared::api::audit::{AuditQuery, AuditRecord, ListAudit};
use mfa_shared::endpoint::{Endpoint, Meta};
use mfa_shared::fault::exit;
use mfa_shared::query::{PAGE_SIZE_MAX, Paging};
use mfa_shared::wire::{Listed, Outgoing, Page, Query};
use serde_json::Value;
use std::cmp::Ordering;

/// Default limit of records that a list shows on a terminal.
const TERMINAL_LIMIT: u64 = 50;

impl Cx {
    /// Lists what a paged endpoint has, as far as it was asked for.
    pub async fn list<E, T>(&self, endpoint: E, view: &View, body: impl Fn(Paging<T>) -> E::Body) -> Outcome
    where
        E: Endpoint<Answer = Page<T>>,
        T: Listed,
    {
        self.list_or(endpoint, view, body, None).await
    }

    /// The same; a list without a record fails, if the record that it is about does not exist.
    async fn list_or<E, T>(
        &self,
        endpoint: E,
        view: &View,
        body: impl Fn(Paging<T>) -> E::Body,
        about: Option<At<'_>>,
    ) -> Outcome
    where
        E: Endpoint<Answer = Page<T>>,
        T: Listed,
    {
        if self.list.term.is_some() && !has_term(&E::META) {
            let what = "this list cannot be searched for a text";
            return Err(Failure::usage(what).hint("give --filter NAME=VALUE"));
        }
        // A name that is pasted often ends with a space.
        let term = self.list.term.as_deref().map(str::trim);
        let mut paging = Paging::default();
        paging.term.clone_from(&term.map(str::to_owned));
        let mut sort = sort_columns::<T>(&self.list.sort, view)?;
        let filter = |(name, value): &(String, String)| Filter::new::<E, T>(name, value, view);
        let filters: Vec<_> = self.list.filter.iter().map(filter).collect::<Outcome<_>>()?;
        let default = self.out.screen.stdout_is_terminal.then_some(TERMINAL_LIMIT);
        let limit = if self.list.all { None } else { self.list.limit.or(default) };
        if sort.len() > 1 {
            return self.list_sorted(&endpoint, view, body(paging), (&sort, &filters), limit).await;
        }
        if let Some((column, descending)) = sort.pop() {
            (paging.sort_column, paging.descending) = (Some(column.to_owned()), descending);
        }
        // Nothing is printed before the daemon has answered, so that a refused list leaves nothing.
        match limit {
            Some(limit) if limit <= u64::from(PAGE_SIZE_MAX) && filters.is_empty() => {
                // The daemon refuses pages of size 0, and the count is still needed.
                paging.size = Some(u32::try_from(limit).unwrap_or(PAGE_SIZE_MAX).max(1));
                self.list_page(&endpoint, view, &body(paging), T::PLURAL, limit, about).await
            }
            _ => self.list_stream(&endpoint, view, &body(paging), &filters, limit, about).await,
        }
    }

    /// Shows one page of records, and how many there are.
    async fn list_page<E: Endpoint>(
        &self,
        endpoint: &E,
        view: &View,
        body: &E::Body,
        plural: &str,
        limit: u64,
        about: Option<At<'_>>,
    ) -> Outcome {
        let page = self.client.send(endpoint, body).await?.value;
        let records = page[plural].as_array().map_or(&[][..], Vec::as_slice);
        if records.is_empty() {
            self.check_there(about).await?;
        }
        let mut listing = self.out.listing(view)?;
        let shown = records.iter().take(usize::try_from(limit).unwrap_or(usize::MAX));
        let mut money = Money::of(&self.client, &self.out, endpoint, view);
        for record in shown.clone() {
            listing.push(&money.line(&record.to_string()).await)?;
        }
        listing.finish()?;
        let total = page["totalElements"].as_u64().unwrap_or(0);
        self.mention_rest(u64::try_from(shown.len()).unwrap_or(u64::MAX), total);
        Ok(())
    }

    /// Shows records as they come.
    async fn list_stream<E: Endpoint>(
        &self,
        endpoint: &E,
        view: &View,
        body: &E::Body,
        filters: &[Filter],
        limit: Option<u64>,
        about: Option<At<'_>>,
    ) -> Outcome {
        let mut stream = self.client.stream(endpoint, body).await?;
        let mut next = stream.next().await?;
        if next.is_none() {
            self.check_there(about).await?;
        }
        let mut listing = self.out.listing(view)?;
        let mut money = Money::of(&self.client, &self.out, endpoint, view);
        let mut left = limit.unwrap_or(u64::MAX);
        let mut more = false;
        while let Some(record) = next {
            if Filter::all_match(filters, &record) {
                more = left == 0;
                if more {
                    break;
                }
                listing.push(&money.line(&record).await)?;
                left -= 1;
            }
            next = stream.next().await?;
        }
        listing.finish()?;
        if more {
            let shown = grouped(&limit.unwrap_or(0).to_string());
            self.out.tip(&format!("the first {shown}; --all for the rest"));
        }
        Ok(())
    }

    /// Refuses with the daemon's words if a record does not exist. Whoever may not read it learns nothing.
    async fn check_there(&self, record: Option<At<'_>>) -> Outcome {
        let Some(record) = record else { return Ok(()) };
        match self.client.send_row(record, Outgoing::default()).await {
            Err(failure) if failure.exit == exit::NOT_FOUND => Err(failure),
            _ => Ok(()),
        }
    }

    /// Lists what the audit trail says of a record of this kind, which `read` shows. One that was removed has
    /// a history as well.
    pub async fn history(&self, kind: &str, at: &[&str], read: Option<&'static Meta>) -> Outcome {
        let resource = [&[kind], at].concat().join("/");
        let query = |paging: Paging<AuditRecord>| {
            Query(AuditQuery { paging, resource: Some(resource.clone()), ..AuditQuery::default() })
        };
        self.list_or(ListAudit {}, &HISTORY, query, read.map(|read| (read, at))).await
    }

    /// Sorts here by several columns, because the daemon sorts by one.
    async fn list_sorted<E: Endpoint>(
        &self,
        endpoint: &E,
        view: &View,
        body: E::Body,
        (sort, filters): (&[(&str, bool)], &[Filter]),
        limit: Option<u64>,
    ) -> Outcome {
        let mut records = Vec::new();
        let mut stream = self.client.stream(endpoint, &body).await?;
        while let Some(line) = stream.next().await? {
            if !Filter::all_match(filters, &line) {
                continue;
            }
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
        self.print(endpoint, view, Value::Array(records)).await?;
        self.mention_rest(shown as u64, total as u64);
        Ok(())
    }

    fn mention_rest(&self, shown: u64, total: u64) {
        if shown < total {
            let [shown, total] = [shown, total].map(|count| grouped(&count.to_string()));
            self.out.tip(&format!("{shown} of {total}; --all for the rest"));
        }
    }
}

/// Whether a list can be searched for a text.
pub fn has_term(list: &Meta) -> bool {
    (list.body.params)().iter().any(|param| param.name == "term")
}

/// One `--filter NAME=VALUE`: only records are listed whose property shows this value.
struct Filter {
    pointer: String,
    value: String,
}

impl Filter {
    /// Refuses a name that the records do not have and a value that the property never has.
    fn new<E, T>(name: &str, value: &str, view: &View) -> Outcome<Self>
    where
        E: Endpoint<Answer = Page<T>>,
        T: Listed,
    {
        let page = Shape::of_answer(&E::META);
        let within = |path: &str| format!("{}.1.{path}", T::PLURAL);
        let column = view.column(name);
        let path = column.map_or(name.to_owned(), |column| column.pointer[1..].replace('/', "."));
        let known = page.column(&within(&path.replace('*', "1")));
        if let (None, Err(why)) = (column, known) {
            let hint = did_you_mean(name, view.columns.iter().map(|column| column.name)).unwrap_or(why);
            return Err(Failure::usage(format!("the records have no \"{name}\"")).hint(hint));
        }
        let words = page.words(&within(&path));
        let same = words.iter().find(|word| word.eq_ignore_ascii_case(value));
        let value = match same {
            Some(word) => word.clone(),
            None => {
                let is_name = |name: &str| view.column(name).is_some() || page.column(&within(name)).is_ok();
                // Two conditions in one flag would be a value that nothing has.
                let second = value
                    .split(',')
                    .skip(1)
                    .find(|part| part.split_once('=').is_some_and(|(name, _)| is_name(name.trim())));
                if let Some(second) = second {
                    let what = format!("--filter takes one condition, and \"{value}\" holds another one");
                    let hint = format!("give it as a flag of its own: --filter {}", quoted(second.trim()));
                    return Err(Failure::usage(what).hint(hint));
                }
                if !words.is_empty() && !value.is_empty() {
                    let meant = did_you_mean(value, words.iter().map(String::as_str));
                    let hint = meant.unwrap_or_else(|| format!("it is one of {}", words.join(", ")));
                    return Err(Failure::usage(format!("{name} is never \"{value}\"")).hint(hint));
                }
                value.to_owned()
            }
        };
        Ok(Self { pointer: format!("/{}", path.replace('.', "/")), value })
    }

    fn all_match(filters: &[Self], record: &str) -> bool {
        if filters.is_empty() {
            return true;
        }
        let record: Value = serde_json::from_str(record).unwrap_or_default();
        filters.iter().all(|filter| has(&record, &filter.pointer, &filter.value))
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
        (Value::Number(_), Value::Number(_)) => worth(a).cmp(&worth(b)),
        // Dates in parts.
        (Value::Object(a), Value::Object(b)) => {
            let part = |map: &serde_json::Map<String, Value>, name| map.get(name).and_then(Value::as_i64);
            ["year", "month", "day"].map(|p| part(a, p)).cmp(&["year", "month", "day"].map(|p| part(b, p)))
        }
        _ => Ordering::Equal,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mfa_shared::api::customers::Customer;

    #[test]
    fn a_sort_column_is_known_by_its_name_in_the_table_and_on_the_wire() {
        let asked = ["state", "-created", "givenName"].map(str::to_owned);
        let columns = sort_columns::<Customer>(&asked, &crate::output::views::CUSTOMER).unwrap();
        assert_eq!(columns, [("currentState", false), ("createdOn", true), ("givenName", false)]);
        assert!(sort_columns::<Customer>(&["city".to_owned()], &crate::output::views::CUSTOMER).is_err());
    }

    #[test]
    fn numbers_are_in_the_order_of_what_they_are_worth() {
        let numbers = |text: &str| serde_json::from_str::<Vec<Value>>(text).unwrap();
        let mut sorted = numbers("[10.5, 9.75, -500, 100, 1999999999999999.5, 10.05, 0, 2.0]");
        sorted.sort_by(compare);
        assert_eq!(sorted, numbers("[-500, 0, 2.0, 9.75, 10.05, 10.5, 100, 1999999999999999.5]"));
        assert_eq!(compare(&numbers("[2.0]")[0], &numbers("[2]")[0]), Ordering::Equal);
    }
}
