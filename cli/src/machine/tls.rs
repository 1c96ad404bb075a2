//! Certificates for `https:`: made for trials and for small offices, inspected, and trusted.

mod generate;

use crate::client::host_and_port;
use crate::command::cx::Cx;
use crate::command::verb::{Node, Verb, verb};
use crate::failure::{Failure, Outcome, codes};
use crate::output::views;
use crate::settings::{config_files, files};
use crate::words::quoted;
use clap::Args;
use mfa_daemon::{CertificateFacts, certificate_facts, read_certificates};
use mfa_shared::fault::exit;
use rustls::pki_types::CertificateDer;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// Where the right fingerprint is shown.
const OWN_MACHINE: &str = "on the daemon's own machine";

pub const VERBS: &[Node] =
    &[verb::<generate::Generate>("generate"), verb::<Show>("show"), verb::<TrustIt>("trust")];

/// The certificates of a chain as they are shown, the one of the host first.
fn shown(place: &str, chain: &[CertificateDer<'_>]) -> Outcome<Vec<Value>> {
    let row = |certificate: &CertificateDer<'_>| {
        let unreadable = |why: String| Failure::new(codes::CERTIFICATE, format!("{place}: {why}"));
        Ok(record(place, &certificate_facts(certificate).map_err(unreadable)?))
    };
    chain.iter().map(row).collect()
}

fn record(place: &str, facts: &CertificateFacts) -> Value {
    let CertificateFacts { fingerprint, not_before, not_after, names } = facts;
    json!({
        "file": place, "names": names, "notBefore": not_before, "notAfter": not_after,
        "fingerprint": fingerprint,
    })
}

#[derive(Args)]
pub struct Show {
    /// A file of certificates, or the https: address of a daemon; by default the address that is spoken to
    #[arg(value_name = "FILE|URL")]
    place: Option<String>,
}

impl Verb for Show {
    const ABOUT: &'static str = "Show the certificates of a file or of a daemon, trusted or not";
    const EXAMPLES: &'static [&'static str] =
        &["mfa tls show tls/certificate.pem", "mfa tls show https://bank.example:6320 -o json"];
    const EXITS: &'static [i32] = &[exit::NOT_FOUND, exit::UNREACHABLE];
    async fn run(self, cx: &Cx) -> Outcome {
        let place = self.place.unwrap_or_else(|| cx.client.url.clone());
        let chain = if place.contains("://") { cx.client.certificates(&place)? } else { of_file(&place)? };
        cx.out.show(&views::CERTIFICATE, &Value::Array(shown(&place, &chain)?))
    }
}

fn of_file(file: &str) -> Outcome<Vec<CertificateDer<'static>>> {
    if !Path::new(file).exists() {
        return Err(Failure::new(codes::NO_FILE, format!("there is no file {file}")));
    }
    read_certificates(Path::new(file)).map_err(|why| Failure::new(codes::CERTIFICATE, why))
}

#[derive(Args)]
pub struct TrustIt {
    /// SHA-256 that the certificate must have, in place of being asked
    #[arg(long, value_name = "HEX")]
    fingerprint: Option<String>,
    /// File to write; by default one beside the config file, named after the host
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

impl Verb for TrustIt {
    const ABOUT: &'static str =
        "Save the authority of a daemon's certificate, after its fingerprint was compared";
    const EXAMPLES: &'static [&'static str] = &[
        "mfa tls trust --url https://bank.example:6320",
        "mfa tls trust --url https://bank.example:6320 --out authority.pem --fingerprint 3f29...",
    ];
    const EXITS: &'static [i32] = &[exit::UNREACHABLE, exit::CONFLICT];
    async fn run(self, cx: &Cx) -> Outcome {
        let url = cx.client.url.clone();
        let chain = cx.client.certificates(&url)?;
        // The last one has signed the others, or is the only one.
        let authority = chain.last().ok_or_else(|| Failure::local(format!("{url} shows no certificate")))?;
        let row = shown(&url, std::slice::from_ref(authority))?.remove(0);
        let found = row["fingerprint"].as_str().unwrap_or_default();
        match &self.fingerprint {
            Some(given) if plain(given) != found => {
                let what = format!("the authority at {url} has the fingerprint {found}, and not {given}");
                let hint = "do not send passwords there; ask the people who run the daemon";
                return Err(Failure::new(codes::ANOTHER_CERTIFICATE, what).hint(hint));
            }
            Some(_) => {}
            None if cx.prompt.yes => {
                let what = "the fingerprint of the certificate was not compared, and a yes compares nothing";
                let hint = format!("compare it with mfa tls show authority.pem {OWN_MACHINE}, then give");
                return Err(Failure::usage(what).hint(format!("{hint}: --fingerprint {found}")));
            }
            None => {
                cx.prompt.check("--fingerprint")?;
                let asks = format!(
                    "{url} shows an authority with the SHA-256 {found}; mfa tls show authority.pem \
                     {OWN_MACHINE} shows the right one. Trust it?"
                );
                cx.prompt.confirm(&asks)?;
            }
        }
        let file = match self.out {
            Some(file) => file,
            None => beside_config(&url)?,
        };
        files::replace(&file, pem(authority).as_bytes())?;
        let shown = file.display().to_string();
        cx.out.tip(&format!("use it: --ca-file {}, or ca_file = \"{shown}\" in a profile", quoted(&shown)));
        let mut row = row;
        row["file"] = json!(file);
        cx.out.show(&views::CERTIFICATE, &row)
    }
}

/// A fingerprint as other programs write it, as this one does.
fn plain(fingerprint: &str) -> String {
    fingerprint.chars().filter(|c| *c != ':').collect::<String>().to_ascii_lowercase()
}

fn beside_config(url: &str) -> Outcome<PathBuf> {
    let files = config_files();
    let folder = files.last().and_then(|file| file.parent());
    let folder =
        folder.ok_or_else(|| Failure::local("there is no folder for settings").hint("give --out"))?;
    Ok(folder.join(format!("{}.pem", host_and_port(url)?.0)))
}

fn pem(certificate: &CertificateDer<'_>) -> String {
    use base64::Engine;
    let text = base64::engine::general_purpose::STANDARD.encode(certificate);
    let lines: Vec<_> = text.as_bytes().chunks(64).map(String::from_utf8_lossy).collect();
    format!("-----BEGIN CERTIFICATE-----\n{}\n-----END CERTIFICATE-----\n", lines.join("\n"))
}
