//! Events: changes as they happen.

use crate::client::Reply;
use crate::command::cx::Cx;
use crate::command::noun::{self, Noun, Section};
use crate::command::verb::{Verb, verb};
use crate::failure::{Failure, Outcome, codes};
use crate::output::views;
use clap::Args;
use mfa_shared::api::events::*;
use mfa_shared::endpoint::{Endpoint, Meta};
use mfa_shared::fault::exit;
use mfa_shared::query::PAGE_SIZE_MAX;
use mfa_shared::wire::Query;
use serde_json::Value;
use std::time::Duration;

/// How long one request waits for news, and its answer a little longer.
const WAIT_SECONDS: u32 = 25;
const ANSWER: Duration = Duration::from_secs(45);

pub const NOUN: Noun = Noun {
    section: Section::Tools,
    typed: "events",
    alias: "event",
    about: "What is changed, as it happens",
    verbs: &[verb::<List>("list"), verb::<Follow>("follow")],
    ..noun::NOUN
};

// Which events.
#[derive(Args)]
struct Filter {
    /// Events of this kind of record only, such as customer; can be repeated
    #[arg(short, long, value_name = "KIND")]
    kind: Vec<String>,
    /// Events after this number
    #[arg(long, value_name = "SEQUENCE")]
    after: Option<u32>,
}

impl Filter {
    fn query(&self, after: Option<u64>, size: u64, wait_seconds: u32) -> Query<EventQuery> {
        let size = u32::try_from(size).unwrap_or(u32::MAX).min(PAGE_SIZE_MAX);
        let kinds = self.kind.clone();
        let wait_seconds = Some(wait_seconds);
        Query(EventQuery { kinds, after, size: Some(size), wait_seconds })
    }
}

#[derive(Args)]
pub struct List {
    #[command(flatten)]
    filter: Filter,
    /// Most events to list
    #[arg(short = 'n', long, value_name = "NUMBER", default_value_t = 50)]
    limit: u32,
}

impl Verb for List {
    const ENDPOINT: Option<&'static Meta> = Some(&ListEvents::META);
    const ABOUT: &'static str = "List what was changed, the oldest change first";
    const EXAMPLES: &'static [&'static str] =
        &["mfa events list --kind customer", "mfa events list --after 10 -n 5 -o jsonl"];
    async fn run(self, cx: &Cx) -> Outcome {
        let mut after = self.filter.after.map(u64::from);
        let mut left = u64::from(self.limit);
        let mut listed = Vec::new();
        // One answer holds no more than a page.
        loop {
            let size = left.min(PAGE_SIZE_MAX.into());
            let query = self.filter.query(after, size, 0);
            let events = cx.client.send(&ListEvents {}, &query).await?.value;
            let events = events.as_array().cloned().unwrap_or_default();
            let count = events.len() as u64;
            after = events.last().and_then(number);
            listed.extend(events);
            left -= count.min(left);
            if left == 0 || count < size || after.is_none() {
                return cx.out.show(&views::EVENT, &Value::Array(listed));
            }
        }
    }
}

#[derive(Args)]
pub struct Follow {
    #[command(flatten)]
    filter: Filter,
    /// End after so many events
    #[arg(long, value_name = "COUNT")]
    count: Option<u64>,
}

impl Verb for Follow {
    const ABOUT: &'static str = "Show what is changed as it happens, until interrupted";
    const EXAMPLES: &'static [&'static str] =
        &["mfa events follow --after 0 --count 3", "mfa events follow --after 0 --count 3 -o jsonl"];
    const EXITS: &'static [i32] =
        &[exit::NOT_LOGGED_IN, exit::FORBIDDEN, exit::INCOMPATIBLE, exit::UNREACHABLE];
    async fn run(self, cx: &Cx) -> Outcome {
        let mut left = self.count.unwrap_or(u64::MAX);
        let mut after = Some(match self.filter.after {
            Some(after) => after.into(),
            None => self.last(cx).await?,
        });
        let mut out = cx.out.clone();
        // A pager would hold the stream back.
        out.pager = String::new();
        let mut client = cx.client.patient(ANSWER);
        // Each is a read, which may be repeated.
        client.retries = cx.client.retries;
        while left > 0 {
            let query = self.filter.query(after, left, WAIT_SECONDS);
            let Reply { value: events, last_event, .. } = client.send(&ListEvents {}, &query).await?;
            // What the daemon has looked at and was not for this listener is not looked at again.
            after = last_event.or(after);
            let Some(listed) = events.as_array().filter(|events| !events.is_empty()) else { continue };
            left -= listed.len() as u64;
            out.show(&views::EVENT, &events)?;
            out.no_header = true;
        }
        Ok(())
    }
}

fn number(event: &Value) -> Option<u64> {
    event["sequence"].as_u64()
}

impl Follow {
    /// The number of the last event: the daemon says it to who asks for what comes behind every number.
    async fn last(&self, cx: &Cx) -> Outcome<u64> {
        let query = self.filter.query(Some(EVENT_NUMBER_MAX), 1, 0);
        let last = cx.client.send(&ListEvents {}, &query).await?.last_event;
        last.ok_or_else(|| {
            let what = format!("the daemon at {} does not say which event is the last", cx.client.url);
            Failure::new(codes::INCOMPATIBLE, what).hint("give a number: --after SEQUENCE")
        })
    }
}
