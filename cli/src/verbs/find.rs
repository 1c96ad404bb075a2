//! `mfa find`: customers, employees, offices and accounts by words, best first.

use crate::command::cx::Cx;
use crate::command::verb::Verb;
use crate::failure::{Failure, Outcome};
use crate::nouns;
use crate::output::views;
use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use mfa_shared::api::search::{HITS_MAX, HitKind, Search, SearchQuery};
use mfa_shared::endpoint::{Endpoint, Meta};
use mfa_shared::fault::{self};
use mfa_shared::wire::Query;
use serde_json::{Value, json};

#[derive(Args)]
pub struct Find {
    /// Words, each of which is a part of a name, identifier, phone, e-mail, card or account number
    #[arg(value_name = "TEXT", required = true)]
    text: Vec<String>,
    /// Records of this kind only; can be repeated
    #[arg(long, value_name = "KIND", value_parser = kind())]
    kind: Vec<HitKind>,
    /// Most records, 1 to 50
    #[arg(long, value_name = "NUMBER", default_value_t = 20)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=i64::from(HITS_MAX)))]
    limit: u32,
}

/// The kinds of records that can be found.
fn kinds() -> impl Iterator<Item = HitKind> {
    nouns::all().iter().filter_map(|noun| noun.searched)
}

/// A kind of record, by its word.
fn kind() -> impl TypedValueParser<Value = HitKind> {
    PossibleValuesParser::new(kinds().map(|kind| kind.as_str())).map(|word| {
        // Only their words are possible.
        kinds().find(|kind| kind.as_str() == word).unwrap_or(HitKind::Customer)
    })
}

impl Verb for Find {
    const ABOUT: &'static str = "Find customers, employees, offices and accounts by words";
    const EXAMPLES: &'static [&'static str] = &[
        "mfa find akosua frimpong",
        "mfa find 024 123 4567",
        "mfa find c-003 -o json",
        "mfa find market --kind office --kind customer",
    ];
    const ENDPOINT: Option<&'static Meta> = Some(&Search::META);
    async fn run(self, cx: &Cx) -> Outcome {
        let text = self.text.join(" ");
        if text.trim().is_empty() {
            let hint = "give a part of a name or an identifier";
            return Err(Failure::usage("there is nothing to look for").hint(hint));
        }
        let asked = if self.kind.is_empty() { kinds().count() } else { self.kind.len() };
        let query = SearchQuery { text: text.trim().to_owned(), kinds: self.kind, size: Some(self.limit) };
        let answer = cx.client.send(&Search {}, &Query(query)).await?;
        if let Some(left_out) = answer.left_out {
            let why = format!("left out, because you may not read them: {left_out}");
            if left_out.split(", ").count() == asked {
                return Err(Failure::of(fault::FORBIDDEN, why));
            }
            cx.out.warn(&why);
        }
        let hits = answer.value["hits"].as_array().cloned().unwrap_or_default();
        if hits.iter().any(|hit| hit["near"] == true) {
            cx.out.say("nothing has exactly these words; these differ in a letter");
        } else if hits.len() == self.limit as usize {
            cx.out
                .say(&format!("the first {}; more words, or --limit, may show the one you mean", hits.len()));
        }
        cx.out.show(&views::FOUND, &Value::Array(hits.iter().map(shown).collect()))
    }
}

/// A hit as the list shows it.
fn shown(hit: &Value) -> Value {
    json!({
        "kind": hit["kind"], "identifier": hit["identifier"], "name": hit["label"], "state": hit["state"],
        "foundIn": hit["matched"], "office": hit["office"], "near": hit["near"],
    })
}
