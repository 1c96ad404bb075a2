//! `mfa api`: any request that the daemon knows, for what has no verb of its own.

use crate::client::RawReply;
use crate::client::idempotency::Keys;
use crate::client::trace::is_secret;
use crate::command::cx::Cx;
use crate::command::verb::Verb;
use crate::failure::{Failure, Outcome};
use crate::input;
use crate::nouns;
use crate::output::MASK;
use crate::verbs::asks;
use clap::Args;
use mfa_shared::endpoint::percent_encode;
use mfa_shared::fault::exit;
use mfa_shared::query::PAGE_SIZE_MAX;
use serde_json::{Map, Value};
use std::time::Duration;

#[derive(Args)]
pub struct Api {
    /// GET, HEAD, POST, PUT, DELETE or OPTIONS
    #[arg(value_name = "METHOD")]
    method: String,
    /// Path of the daemon, such as /customers?size=5
    #[arg(value_name = "PATH")]
    path: String,
    /// A parameter of the query, or, where there is a body, a property of it; can be repeated
    #[arg(short = 'F', long = "field", value_name = "NAME=VALUE", value_parser = pair)]
    fields: Vec<(String, String)>,
    /// A header; can be repeated
    #[arg(short = 'H', long = "header", value_name = "NAME:VALUE", value_parser = header)]
    headers: Vec<(String, String)>,
    /// Body of JSON or YAML, - for standard input
    #[arg(long, value_name = "FILE")]
    input: Option<String>,
    /// Read all pages of a list and answer one array of their records
    #[arg(long)]
    paginate: bool,
    /// Only try a change: the daemon makes it, takes it back and reports the result
    #[arg(long)]
    dry_run: bool,
    /// Refuse a change that names a record which does not exist
    #[arg(long)]
    existing_only: bool,
    /// Key by which the daemon knows a repeated request; a new one by default
    #[arg(long, value_name = "KEY")]
    idempotency_key: Option<String>,
    /// Show secrets that a read answers instead of ***
    #[arg(long)]
    show_secrets: bool,
}

impl Verb for Api {
    const ABOUT: &'static str = "Send any request to the daemon";
    const EXAMPLES: &'static [&'static str] = &[
        "mfa api GET /customers -F term=mensah --paginate",
        "mfa api POST /offices -F identifier=tamale -F name=Tamale",
        "mfa api POST /offices -F identifier=wa -F name=Wa --dry-run",
        "mfa offices get market -o json | mfa api PUT /offices/market --input - --print-curl",
    ];
    const EXITS: &'static [i32] = &[
        exit::NOT_FOUND,
        exit::NOT_LOGGED_IN,
        exit::FORBIDDEN,
        exit::CONFLICT,
        exit::INVALID,
        exit::UNREACHABLE,
        exit::TOO_MANY_ATTEMPTS,
    ];
    async fn run(self, cx: &Cx) -> Outcome {
        let mut client = cx.client.clone();
        client.dry_run = self.dry_run;
        client.keys = Keys::of(self.key()?);
        client.references = asks::about(self.existing_only, &cx.prompt);
        let reads =
            matches!(self.method.to_ascii_uppercase().as_str(), "GET" | "HEAD" | "OPTIONS" | "DELETE");
        if reads && self.input.is_some() {
            return Err(Failure::usage(format!("{} has no body", self.method)).hint("leave out --input"));
        }
        if self.method.eq_ignore_ascii_case("DELETE") && !self.dry_run {
            cx.prompt.before_ending(&format!("send DELETE {}", self.path), last_word(&self.path))?;
        }
        if !reads {
            let body = self.body()?;
            let reply = client.raw(&self.method, &self.path, &self.headers, body).await?;
            return answer(cx, reply, self.show_secrets);
        }
        let path =
            with_query(&self.path, self.fields.iter().map(|(name, value)| (name.as_str(), value.as_str())));
        if !self.paginate {
            if let Some(wait) = wait_asked(&path) {
                let retries = client.retries;
                client = client.patient(client.timeout + wait);
                client.retries = retries;
            }
            let reply = client.raw(&self.method, &path, &self.headers, None).await?;
            return answer(cx, reply, self.show_secrets);
        }
        // Each page is found from the beginning of the list, so few large pages are faster.
        let sized = path.split(['?', '&']).skip(1).any(|parameter| parameter.starts_with("size="));
        let size = PAGE_SIZE_MAX.to_string();
        let path = with_query(&path, (!sized).then_some(("size", size.as_str())).into_iter());
        let mut records = Vec::new();
        for index in 0_u64.. {
            let page = with_query(&path, [("pageIndex", index.to_string().as_str())].into_iter());
            let reply = client.raw(&self.method, &page, &self.headers, None).await?;
            let mut page: Value = serde_json::from_slice(&reply.bytes).unwrap_or_default();
            let (Some(pages), Some(found)) = (page["totalPages"].as_u64(), records_of(&mut page)) else {
                return Err(Failure::usage(format!("{} does not answer in pages", self.path))
                    .hint("leave out --paginate"));
            };
            records.extend(found);
            if index + 1 >= pages {
                break;
            }
        }
        cx.out.show_json(&Value::Array(records))
    }
}

/// Whether a header gives the key of a change.
fn names_key(name: &str) -> bool {
    name.eq_ignore_ascii_case("idempotency-key")
}

/// How long the daemon was asked to wait before it answers, such as for events.
fn wait_asked(path: &str) -> Option<Duration> {
    let mut parameters = path.split(['?', '&']).skip(1);
    let seconds = parameters.find_map(|parameter| parameter.strip_prefix("waitSeconds="))?;
    Some(Duration::from_secs(seconds.parse::<u16>().ok()?.into()))
}

impl Api {
    /// The key that was given, as a flag or as a header.
    fn key(&self) -> Outcome<Option<&str>> {
        let header = self.headers.iter().find(|(name, _)| names_key(name)).map(|(_, key)| key.as_str());
        match (header, self.idempotency_key.as_deref()) {
            (Some(_), Some(_)) => {
                let what = "-H and --idempotency-key both give a key";
                Err(Failure::usage(what).hint("leave one of them out"))
            }
            (header, flag) => Ok(header.or(flag)),
        }
    }

    fn body(&self) -> Outcome<Option<(String, Vec<u8>)>> {
        let mut body = match &self.input {
            Some(file) => input::structured(file)?,
            None if self.fields.is_empty() => return Ok(None),
            None => Value::Object(Map::new()),
        };
        for (place, (name, text)) in self.fields.iter().enumerate() {
            if self.fields[..place].iter().any(|(other, _)| other == name) {
                return Err(Failure::usage(format!("-F gives the property \"{name}\" twice")));
            }
            let Value::Object(properties) = &mut body else {
                return Err(Failure::usage("-F sets properties, but the body is no object"));
            };
            // Numbers and words of JSON are what they look like, everything else is text.
            let plain = |value: &Value| !value.is_object() && !value.is_array() && !value.is_string();
            let value = serde_json::from_str(text).ok().filter(plain);
            properties.insert(name.clone(), value.unwrap_or_else(|| Value::from(text.as_str())));
        }
        refuse_masked(&body)?;
        Ok(Some(("application/json".to_owned(), body.to_string().into_bytes())))
    }
}

/// Refuses a body in which a secret is masked.
pub fn refuse_masked(body: &Value) -> Outcome {
    let Some(name) = masked(body) else { return Ok(()) };
    let what = format!("{name} is {MASK}, which stands for a secret that was not shown");
    let hint = format!("leave {name} out, which keeps the stored one, or read it with --show-secrets");
    Err(Failure::usage(what).hint(hint))
}

/// Covers the secrets that a read answers.
pub fn cover(answer: &mut Value) {
    match answer {
        Value::Object(properties) => {
            for (name, value) in properties {
                let secret = nouns::all().iter().any(|noun| !noun.secret.is_empty() && noun.secret == name);
                if secret && value.is_string() { *value = Value::from(MASK) } else { cover(value) }
            }
        }
        Value::Array(elements) => elements.iter_mut().for_each(cover),
        _ => {}
    }
}

/// The property of a body that holds the mask of a secret, as the listings of this program have it. Sent back
/// it would become the secret.
fn masked(body: &Value) -> Option<&str> {
    match body {
        Value::Object(properties) => properties.iter().find_map(|(name, value)| match value {
            Value::String(text) if text == MASK && is_secret(name) => Some(name.as_str()),
            value => masked(value),
        }),
        Value::Array(elements) => elements.iter().find_map(masked),
        _ => None,
    }
}

/// Prints what came, as what it is.
fn answer(cx: &Cx, reply: RawReply, show_secrets: bool) -> Outcome {
    if reply.bytes.is_empty() {
        return Ok(());
    }
    if reply.content_type.contains("ndjson") || reply.content_type.starts_with("text/") {
        return cx.out.text(&String::from_utf8_lossy(&reply.bytes));
    }
    match serde_json::from_slice(&reply.bytes) {
        Ok(mut value) => {
            if !show_secrets {
                cover(&mut value);
            }
            cx.out.show_json(&value)
        }
        Err(_) => cx.out.bytes(&reply.bytes),
    }
}

/// The last word of a path, which names the record that it is about.
pub fn last_word(path: &str) -> &str {
    let path = path.split('?').next().unwrap_or_default().trim_end_matches('/');
    path.rsplit('/').next().unwrap_or_default()
}

/// The records of a page: its one list.
fn records_of(page: &mut Value) -> Option<Vec<Value>> {
    let lists = page.as_object_mut()?.values_mut();
    lists.filter_map(Value::as_array_mut).next().map(std::mem::take)
}

fn with_query<'a>(path: &str, parameters: impl Iterator<Item = (&'a str, &'a str)>) -> String {
    let mut path = path.to_owned();
    for (name, value) in parameters {
        path.push(if path.contains('?') { '&' } else { '?' });
        path.push_str(&format!("{}={}", percent_encode(name), percent_encode(value)));
    }
    path
}

fn pair(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').ok_or("it has no =, as in name=Tamale")?;
    Ok((name.to_owned(), value.to_owned()))
}

fn header(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once(':').ok_or("it has no :, as in if-match:\"1\"")?;
    Ok((name.trim().to_owned(), value.trim().to_owned()))
}
