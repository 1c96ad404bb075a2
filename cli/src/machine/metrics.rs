//! `mfa metrics`: what the daemon counts and measures.

use crate::command::cx::Cx;
use crate::command::verb::Verb;
use crate::failure::Outcome;
use crate::output::views;
use clap::Args;
use mfa_shared::api::system::GetMetrics;
use mfa_shared::endpoint::{Endpoint, Meta};
use mfa_shared::wire::Nothing;
use serde_json::{Map, Number, Value, json};

#[derive(Args)]
pub struct Metrics {
    /// Metrics whose name begins so
    #[arg(value_name = "NAME", conflicts_with = "text")]
    name: Option<String>,
    /// All of them as Prometheus takes them, with help and buckets
    #[arg(long)]
    text: bool,
}

impl Verb for Metrics {
    const ENDPOINT: Option<&'static Meta> = Some(&GetMetrics::META);
    const ABOUT: &'static str = "Show what the daemon counts and measures";
    const EXAMPLES: &'static [&'static str] =
        &["mfa metrics", "mfa metrics mfa_store -o json", "mfa metrics --text > mfa.prom"];
    async fn run(self, cx: &Cx) -> Outcome {
        let text = cx.client.plain_text(&GetMetrics {}, &Nothing).await?;
        if self.text {
            return cx.out.document("metrics", &text);
        }
        let begins = self.name.as_deref().unwrap_or_default();
        let samples = text.lines().filter_map(sample);
        let chosen = samples.filter(|sample| sample["name"].as_str().is_some_and(|n| n.starts_with(begins)));
        let chosen: Vec<_> = chosen.collect();
        if chosen.is_empty() {
            cx.out.warn(&format!("no metric has a name that begins with {begins}; list all: mfa metrics"));
        }
        cx.out.show(&views::METRIC, &Value::Array(chosen))
    }
}

/// A value of a metric; none for a comment, and for a bucket, which says little without the others.
fn sample(line: &str) -> Option<Value> {
    let (series, value) = line.rsplit_once(' ').filter(|_| !line.starts_with('#'))?;
    let (name, labels) = series.split_once('{').unwrap_or((series, "}"));
    if name.ends_with("_bucket") {
        return None;
    }
    let pairs = labels.strip_suffix('}')?.split_terminator(',');
    let pairs = pairs.filter_map(|pair| pair.split_once('='));
    let labels: Map<_, _> = pairs.map(|(k, v)| (k.to_owned(), v.trim_matches('"').into())).collect();
    Some(json!({ "name": name, "labels": labels, "value": value.parse::<Number>().ok()? }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_a_value_with_its_labels() {
        let read = sample("mfa_logins_total{grant=\"password\",outcome=\"done\"} 3").unwrap();
        let labels = json!({ "grant": "password", "outcome": "done" });
        assert_eq!(read, json!({ "name": "mfa_logins_total", "labels": labels, "value": 3 }));
        assert_eq!(sample("mfa_sessions 2").unwrap()["labels"], json!({}));
        assert_eq!(sample("# TYPE mfa_sessions gauge"), None);
        assert_eq!(sample("took_seconds_bucket{le=\"+Inf\"} 3"), None);
    }
}
