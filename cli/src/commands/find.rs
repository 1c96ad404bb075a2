//! `mfa find`: one list of whatever contains a text. Each kind of record is asked for by its own list, so
//! that everybody finds exactly what they may read.

use crate::cx::Cx;
use crate::failure::{Failure, Outcome};
use crate::tree::Verb;
use crate::views;
use clap::{Args, ValueEnum};
use mfa_shared::api::customers::{Customer, CustomerQuery, ListCustomers};
use mfa_shared::api::employees::{Employee, EmployeeQuery, ListEmployees};
use mfa_shared::api::instances::{InstanceQuery, ListInstances};
use mfa_shared::api::offices::{ListOffices, Office};
use mfa_shared::fault::exit;
use mfa_shared::query::Paging;
use mfa_shared::wire::{Listed, Query};
use serde_json::{Value, json};

#[derive(Args)]
pub struct Find {
    /// What the records contain, in any letter case
    #[arg(value_name = "TEXT")]
    text: String,
    /// Records of this kind only; can be repeated
    #[arg(long, value_name = "KIND")]
    kind: Vec<Kind>,
    /// Most records of each kind, 1 to 1000
    #[arg(long, value_name = "NUMBER", default_value_t = 20)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=1000))]
    limit: u32,
}

/// A kind of record that can be found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Kind {
    Customer,
    Employee,
    Office,
    Account,
}

/// What a list answered: the first records, and how many there are if it tells.
struct Found {
    records: Vec<Value>,
    total: Option<u64>,
}

impl Verb for Find {
    const ABOUT: &'static str = "Find customers, employees, offices and accounts that contain a text";
    const EXAMPLES: &'static [&'static str] =
        &["mfa find mensah", "mfa find c-003 -o json", "mfa find market --kind office --kind customer"];
    async fn run(self, cx: &Cx) -> Outcome {
        let text = self.text.trim();
        if text.is_empty() {
            let hint = "give a part of a name or an identifier";
            return Err(Failure::usage("there is nothing to look for").hint(hint));
        }
        let wanted = |kind: &&Kind| self.kind.is_empty() || self.kind.contains(kind);
        let asked: Vec<_> = Kind::value_variants().iter().filter(wanted).collect();
        let (mut found, mut closed, mut refused) = (Vec::new(), Vec::new(), None);
        for &kind in &asked {
            match kind.search(cx, text, self.limit).await {
                Ok(Found { records, total }) => {
                    self.tell_rest(cx, *kind, records.len(), total);
                    found.extend(records.iter().map(|record| kind.shown(record, text)));
                }
                // What somebody may not read is as good as not there for them.
                Err(failure) if failure.exit == exit::FORBIDDEN => {
                    closed.push(kind.plural());
                    refused = Some(failure);
                }
                Err(failure) => return Err(failure),
            }
        }
        if let Some(failure) = refused {
            if closed.len() == asked.len() {
                return Err(failure);
            }
            cx.out.warn(&format!("left out, because you may not read them: {}", closed.join(", ")));
        }
        cx.out.show(&views::FOUND, &Value::Array(found))
    }
}

impl Find {
    fn tell_rest(&self, cx: &Cx, kind: Kind, shown: usize, total: Option<u64>) {
        let (text, plural) = (self.text.trim().replace('\'', r"'\''"), kind.plural());
        match total {
            Some(total) if total > shown as u64 => cx.out.say(&format!(
                "{shown} of {total} {plural}; the rest: mfa {plural} list --term '{text}' --all"
            )),
            None if shown >= self.limit as usize => {
                cx.out.say(&format!("the first {shown} {plural}; there may be more: --limit 1000"));
            }
            _ => {}
        }
    }
}

impl Kind {
    fn plural(self) -> &'static str {
        match self {
            Kind::Customer => "customers",
            Kind::Employee => "employees",
            Kind::Office => "offices",
            Kind::Account => "accounts",
        }
    }

    async fn search(self, cx: &Cx, text: &str, limit: u32) -> Outcome<Found> {
        let client = &cx.client;
        let (term, size) = (Some(text.to_owned()), Some(limit));
        let answer = match self {
            Kind::Customer => {
                let query = CustomerQuery { paging: part::<Customer>(text, limit), include_closed: true };
                client.send(&ListCustomers {}, &Query(query)).await?.value
            }
            Kind::Employee => {
                let query = EmployeeQuery { paging: part::<Employee>(text, limit), office: None };
                client.send(&ListEmployees {}, &Query(query)).await?.value
            }
            Kind::Office => client.send(&ListOffices {}, &Query(part::<Office>(text, limit))).await?.value,
            Kind::Account => {
                let query = InstanceQuery { customer: None, term, size };
                client.send(&ListInstances {}, &Query(query)).await?.value
            }
        };
        let records = answer.as_array().or(answer[self.plural()].as_array());
        Ok(Found { records: records.cloned().unwrap_or_default(), total: answer["totalElements"].as_u64() })
    }

    /// The properties in which the daemon looks.
    fn searched(self) -> &'static [&'static str] {
        match self {
            Kind::Customer | Kind::Employee => &["identifier", "givenName", "middleName", "surname"],
            Kind::Office => &["identifier", "name"],
            Kind::Account => {
                &["accountIdentifier", "alternativeAccountNumber", "customerIdentifier", "productIdentifier"]
            }
        }
    }

    /// A record as the common list shows it.
    fn shown(self, record: &Value, text: &str) -> Value {
        let term = text.to_lowercase();
        let contains =
            |name: &&&str| record[**name].as_str().is_some_and(|v| v.to_lowercase().contains(&term));
        let found_in: Vec<_> = self.searched().iter().filter(contains).collect();
        let joined = |names: &[&str]| {
            let parts: Vec<_> =
                names.iter().filter_map(|name| record[*name].as_str()).filter(|p| !p.is_empty()).collect();
            (!parts.is_empty()).then(|| parts.join(" "))
        };
        let name = match self {
            Kind::Customer | Kind::Employee => joined(&["givenName", "middleName", "surname"]),
            Kind::Office => joined(&["name"]),
            Kind::Account => joined(&["productIdentifier"]),
        };
        let (identifier, state) = match self {
            Kind::Account => ("accountIdentifier", &record["state"]),
            _ => ("identifier", &record["currentState"]),
        };
        let kind = self.to_possible_value().map(|value| value.get_name().to_owned());
        json!({
            "kind": kind, "identifier": record[identifier], "name": name, "state": state, "foundIn": found_in
        })
    }
}

/// The first records that contain a text.
fn part<T: Listed>(text: &str, limit: u32) -> Paging<T> {
    let mut paging = Paging::default();
    (paging.term, paging.size) = (Some(text.to_owned()), Some(limit));
    paging
}
