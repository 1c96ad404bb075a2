//! Applications and their keys; what they may do is in `permissions.rs`.

mod permissions;

use crate::client::keys;
use crate::command::cx::{Cx, Done};
use crate::command::noun::{self, Noun, Samples, Section};
use crate::command::verb::{Verb, removes, verb};
use crate::failure::{Failure, Outcome};
use crate::input::Draft;
use crate::moment::now_seconds;
use crate::output::views;
use crate::words::quoted;
use clap::Args;
use mfa_shared::api::applications::*;
use mfa_shared::endpoint::{Endpoint, Meta};
use mfa_shared::fault::exit;
use mfa_shared::time::Timestamp;
use mfa_shared::wire::Nothing;
use serde_json::{Number, Value, json};
use std::str::FromStr;

pub const NOUN: Noun = Noun {
    section: Section::Access,
    typed: "applications",
    alias: "application",
    about: "Applications, their keys and permissions",
    singular: "application",
    history: "application",
    list: Some(&ListApplications::META),
    delete: Some(&DeleteApplication::META),
    view: &views::APPLICATION_NAME,
    samples: Samples { one: "crm-v1", deleted: "crm-v1", edit: "" },
    verbs: &[verb::<List>("list"), verb::<Delete>("delete"), verb::<Keygen>("keygen")],
    parts: &[&SIGNATURES, &permissions::PERMISSIONS, &permissions::SETS, &permissions::CONSENTS],
    ..noun::NOUN
};

/// Their public keys.
const SIGNATURES: Noun = Noun {
    typed: "applications signatures",
    alias: "signature",
    about: "Public keys of an application",
    singular: "key",
    history: "signature",
    read: Some(&GetSignature::META),
    key: "timestamp",
    view: &views::SIGNATURE,
    samples: Samples { one: "crm-v1 2031-05-06T10_11_12", deleted: "", edit: "" },
    verbs: &[
        verb::<KeysList>("list"),
        verb::<KeysSet>("set"),
        removes("delete", &DeleteSignature::META, "application", "left without the key")
            .asking("delete key {timestamp} of application {application}")
            .arguments(&[("ID", "Identifier of the application"), ("TIMESTAMP", "Timestamp of the key")])
            .examples(&[
                "mfa applications signatures delete crm-v1 2031-05-06T10_11_12 --yes",
                "mfa applications signatures delete crm-v1 2031-05-06T10_11_12 --yes -o json",
            ]),
    ],
    ..noun::NOUN
};

#[derive(Args)]
pub struct List {}

impl Verb for List {
    const ENDPOINT: Option<&'static Meta> = Some(&ListApplications::META);
    const EXAMPLES: &'static [&'static str] = &["mfa applications list", "mfa applications list -o json"];
    async fn run(self, cx: &Cx) -> Outcome {
        show_names(cx, ListApplications {}).await
    }
}

/// Prints a plain array of names, which a table shows as records of one column.
async fn show_names<E: Endpoint<Body = Nothing>>(cx: &Cx, endpoint: E) -> Outcome {
    let names = cx.client.send(&endpoint, &Nothing).await?.value;
    if cx.out.format.is_structured() {
        return cx.out.show(&views::APPLICATION_NAME, &names);
    }
    let record = |name: &Value| json!({ "identifier": name });
    let records = names.as_array().map_or(Vec::new(), |names| names.iter().map(record).collect());
    cx.out.show(&views::APPLICATION_NAME, &Value::Array(records))
}

#[derive(Args)]
pub struct Delete {
    /// Identifier of the application
    #[arg(value_name = "ID")]
    application: String,
}

impl Verb for Delete {
    const ENDPOINT: Option<&'static Meta> = Some(&DeleteApplication::META);
    const EXAMPLES: &'static [&'static str] =
        &["mfa applications delete crm-v1 --yes", "mfa applications delete crm-v1 --yes -o json"];
    async fn run(self, cx: &Cx) -> Outcome {
        let id = self.application;
        cx.check_columns(&views::RESULT)?;
        let what = format!("delete application {id} with its keys, permissions, sets and consents");
        cx.prompt.confirm_typed(&what, &id)?;
        cx.client.send(&DeleteApplication { application: id.clone() }, &Nothing).await?;
        cx.done(Done { noun: "application", id: &id, what: "deleted" })
    }
}

#[derive(Args)]
pub struct Keygen {
    /// Identifier of the application, 2 to 64 letters, digits and . - * _
    #[arg(value_name = "ID")]
    application: String,
    /// File to write the private key to; it must not exist
    #[arg(long, value_name = "FILE")]
    out: String,
    /// Bits of the key: 2048, 3072 or 4096
    #[arg(long, value_name = "NUMBER", default_value_t = 3072)]
    bits: u64,
    /// Do not register the public key with the daemon
    #[arg(long)]
    no_register: bool,
    /// Only print what would be written and registered
    #[arg(long)]
    dry_run: bool,
}

impl Verb for Keygen {
    const ABOUT: &'static str = "Make a key for an application and register its public half";
    const EXAMPLES: &'static [&'static str] = &[
        "mfa applications keygen pay-v1 --out pay.pem",
        "mfa applications keygen pay-v1 --out pay-2.pem --bits 2048 --no-register -o json",
    ];
    const EXITS: &'static [i32] = &[
        exit::NOT_FOUND,
        exit::NOT_LOGGED_IN,
        exit::FORBIDDEN,
        exit::CONFLICT,
        exit::INVALID,
        exit::UNREACHABLE,
    ];
    async fn run(self, cx: &Cx) -> Outcome {
        if ![2048, 3072, 4096].contains(&self.bits) {
            return Err(Failure::usage("a key has 2048, 3072 or 4096 bits"));
        }
        cx.out.check_columns(if self.dry_run { &views::RESULT } else { &views::KEY })?;
        let now = Timestamp::from_millis(now_seconds().saturating_mul(1000)).to_string();
        let timestamp = now[..19].replace(':', "_");
        let key = keys::generate(self.bits);
        let application = self.application;
        let exponent = "65537";
        let body = signature(&key.modulus, exponent)?.body::<SetSignature>()?;
        let endpoint = SetSignature { application: application.clone(), timestamp: timestamp.clone() };
        if self.dry_run {
            keys::check_free(&self.out)?;
            let mut result = format!("a key of {application} would be written; nothing was changed");
            if !self.no_register {
                cx.client.try_out(&endpoint, &body).await?;
                result =
                    format!("a key of {application} would be written and registered; nothing was changed");
            }
            return cx.out.show(&views::RESULT, &json!({ "identifier": self.out, "result": result }));
        }
        keys::write(&self.out, &application, &timestamp, &key.pem)?;
        // A repeated command would make another key, so none repeats the change.
        if !self.no_register
            && let Err(failure) = cx.client.aside().send(&endpoint, &body).await
        {
            if failure.in_doubt {
                let kept = failure.adding(&format!("; the private key is in {}", self.out));
                let look = format!("mfa applications signatures list {}", quoted(&application));
                return Err(kept.hint(format!("see whether {timestamp} is there: {look}")));
            }
            // A key that is not registered is useless.
            let _ = std::fs::remove_file(&self.out);
            return Err(failure);
        }
        cx.out.tip(&format!("the private key is in {}; anyone with it can act as {application}", self.out));
        let file = self.out;
        let modulus = number(&key.modulus)?;
        let record = json!({
            "application": application, "timestamp": timestamp, "file": file,
            "publicKeyMod": modulus, "publicKeyExp": number(exponent)?,
        });
        cx.out.show(&views::KEY, &record)
    }
}

fn number(digits: &str) -> Outcome<Number> {
    Number::from_str(digits).map_err(|_| Failure::usage(format!("\"{digits}\" is not an integer")))
}

fn signature(modulus: &str, exponent: &str) -> Outcome<Draft> {
    let draft = Draft::default().set("publicKeyMod", Some(Value::Number(number(modulus)?)));
    Ok(draft.set("publicKeyExp", Some(Value::Number(number(exponent)?))))
}

#[derive(Args)]
pub struct KeysList {
    /// Identifier of the application
    #[arg(value_name = "ID")]
    application: String,
}

impl Verb for KeysList {
    const ENDPOINT: Option<&'static Meta> = Some(&ListSignatures::META);
    const EXAMPLES: &'static [&'static str] =
        &["mfa applications signatures list crm-v1", "mfa applications signatures list crm-v1 -o json"];
    async fn run(self, cx: &Cx) -> Outcome {
        show_names(cx, ListSignatures { application: self.application }).await
    }
}

#[derive(Args)]
pub struct KeysSet {
    /// Identifier of the application
    #[arg(value_name = "ID")]
    application: String,
    /// Timestamp of the key, such as 2031-05-06T10_11_12
    #[arg(value_name = "TIMESTAMP")]
    timestamp: String,
    /// Modulus in decimal digits
    #[arg(long, value_name = "NUMBER", required_unless_present = "key")]
    modulus: Option<String>,
    /// Public exponent in decimal digits
    #[arg(long, value_name = "NUMBER", default_value = "65537")]
    exponent: String,
    /// File of the private key, from which the public half is taken
    #[arg(long, value_name = "FILE", conflicts_with = "modulus")]
    key: Option<String>,
}

impl Verb for KeysSet {
    const ENDPOINT: Option<&'static Meta> = Some(&SetSignature::META);
    const EXAMPLES: &'static [&'static str] = &[
        "mfa applications signatures set pay-v1 2031-05-06T10_11_12 --modulus 123456789",
        "mfa applications keygen pay-v1 --out pay.pem --no-register && \\\n    \
         mfa applications signatures set pay-v1 2031-05-06T10_11_13 --key pay.pem",
    ];
    async fn run(self, cx: &Cx) -> Outcome {
        let (application, timestamp) = (self.application, self.timestamp);
        let (modulus, exponent) = match self.key {
            Some(file) => keys::read(&file)?.public(),
            None => (self.modulus.unwrap_or_default(), self.exponent),
        };
        let body = signature(&modulus, &exponent)?.body::<SetSignature>()?;
        let read = GetSignature { application: application.clone(), timestamp: timestamp.clone() };
        let done = Done { noun: "application", id: &application, what: "given a key" };
        let endpoint = SetSignature { application: application.clone(), timestamp };
        cx.change(endpoint, body, done, read, &views::SIGNATURE).await
    }
}
