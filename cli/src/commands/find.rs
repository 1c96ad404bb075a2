//! `mfa find`: customers, employees, offices and accounts by words, best first.

use crate::cx::Cx;
use crate::failure::{Failure, Outcome};
use crate::tree::Verb;
use crate::views;
use clap::{Args, ValueEnum};
use mfa_shared::api::search::{HITS_MAX, HitKind, Search, SearchQuery};
use mfa_shared::endpoint::{Endpoint, Meta};
use mfa_shared::fault::exit;
use mfa_shared::wire::Query;
use serde_json::{Value, json};

#[derive(Args)]
pub struct Find {
    /// Words, each of which is a part of a name, identifier, phone, e-mail, card or account number
    #[arg(value_name = "TEXT", required = true)]
    text: Vec<String>,
    /// Records of this kind only; can be repeated
    #[arg(long, value_name = "KIND")]
    kind: Vec<Kind>,
    /// Most records, 1 to 50
    #[arg(long, value_name = "NUMBER", default_value_t = 20)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=i64::from(HITS_MAX)))]
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
        let kinds: Vec<_> = self.kind.iter().map(|kind| kind.word()).collect();
        let asked = if kinds.is_empty() { Kind::value_variants().len() } else { kinds.len() };
        let query = SearchQuery { text: text.trim().to_owned(), kinds, size: Some(self.limit) };
        let answer = cx.client.send(&Search {}, &Query(query)).await?;
        if let Some(left_out) = answer.left_out {
            let told = format!("left out, because you may not read them: {left_out}");
            if left_out.split(", ").count() == asked {
                return Err(Failure::new("forbidden", exit::FORBIDDEN, told));
            }
            cx.out.warn(&told);
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

impl Kind {
    fn word(self) -> HitKind {
        match self {
            Self::Customer => HitKind::Customer,
            Self::Employee => HitKind::Employee,
            Self::Office => HitKind::Office,
            Self::Account => HitKind::Account,
        }
    }
}

/// A hit as the list shows it.
fn shown(hit: &Value) -> Value {
    json!({
        "kind": hit["kind"], "identifier": hit["identifier"], "name": hit["label"], "state": hit["state"],
        "foundIn": hit["matched"], "office": hit["office"], "near": hit["near"],
    })
}
