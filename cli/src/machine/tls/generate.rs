//! A local authority, and a certificate for the daemon that is signed by it.

use super::{of_file, shown};
use crate::command::cx::Cx;
use crate::command::verb::Verb;
use crate::failure::{Failure, Outcome, codes};
use crate::machine::daemon::DaemonFlags;
use crate::output::views;
use crate::settings::files;
use crate::words::{hex, quoted_path};
use clap::Args;
use mfa_daemon::Clock;
use mfa_shared::fault::exit;
use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    KeyUsagePurpose, date_time_ymd,
};
use serde_json::Value;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// How long the authority is valid.
const AUTHORITY_DAYS: i64 = 3650;
const SECONDS_A_DAY: i64 = 86_400;
/// The names under which the machine reaches its own daemon.
const OWN_NAMES: [&str; 3] = ["localhost", "127.0.0.1", "::1"];

#[derive(Args)]
pub struct Generate {
    /// Name or address under which clients reach the daemon; may be given several times
    #[arg(long, value_name = "HOST", required = true)]
    name: Vec<String>,
    /// Folder of the files; by default the folder tls beside that of the store
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Days for which the certificate is valid
    #[arg(long, value_name = "NUMBER", default_value_t = 397)]
    #[arg(value_parser = clap::value_parser!(u16).range(1..=825))]
    days: u16,
    /// Replace the certificate that is there; the authority stays, and clients go on trusting it
    #[arg(long)]
    renew: bool,
}

impl Verb for Generate {
    const ABOUT: &'static str = "Make an authority and a certificate, for trying and for small offices";
    const EXAMPLES: &'static [&'static str] = &[
        "mfa tls generate --name bank.example --out tls",
        "mfa tls generate --name bank.example --name 10.0.0.5 --out tls --renew",
    ];
    const EXITS: &'static [i32] = &[exit::CONFLICT];
    async fn run(self, cx: &Cx) -> Outcome {
        cx.out.check_columns(&views::CERTIFICATE)?;
        let folder = match self.out {
            Some(folder) => folder,
            None => DaemonFlags::default().data_dir(cx)?.with_file_name("tls"),
        };
        let file = |name: &str| folder.join(name);
        let (certificate, key) = (file("certificate.pem"), file("certificate.key"));
        if certificate.exists() && !self.renew {
            let what = format!("there is a certificate at {} already", certificate.display());
            return Err(Failure::new(codes::CERTIFICATE_EXISTS, what).hint("replace it: --renew"));
        }
        let authority = Authority::of(&file("authority.pem"), &file("authority.key"))?;
        let mut names = self.name;
        names.extend(
            OWN_NAMES.map(str::to_owned).into_iter().filter(|own| !names.contains(own)).collect::<Vec<_>>(),
        );
        let (own_key, text) = authority.sign(&names, self.days.into())?;
        // The key first: the daemon takes the pair once both belong together.
        // A service reads it as a user of its own, and the renewal may be root's.
        files::replace_kept(&key, own_key.as_bytes())?;
        files::replace_public(&certificate, &format!("{text}{}", authority.pem))?;
        let absolute = |path: &Path| {
            let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
            quoted_path(&path)
        };
        cx.out.tip(&format!(
            "use it: mfa daemon restart --tls-cert {} --tls-key {}, or the settings tls_cert and tls_key; \
             clients need {}",
            absolute(&certificate),
            absolute(&key),
            absolute(&file("authority.pem"))
        ));
        let place = certificate.display().to_string();
        cx.out.show(&views::CERTIFICATE, &Value::Array(shown(&place, &of_file(&place)?)?))
    }
}

fn failed(error: rcgen::Error) -> Failure {
    Failure::local(format!("cannot make a certificate: {error}"))
}

struct Authority {
    issuer: Issuer<'static, KeyPair>,
    pem: String,
}

impl Authority {
    /// The authority of these files, which are made if missing.
    fn of(certificate: &Path, key: &Path) -> Outcome<Self> {
        let unreadable = |path: &Path, why: String| {
            Failure::local(format!("cannot read {}: {why}", path.display()))
                .hint("a new authority, which clients have to trust again: choose another folder with --out")
        };
        if certificate.exists() {
            let read = |path: &Path| {
                fs::read_to_string(path).map_err(|error| match error.kind() {
                    ErrorKind::PermissionDenied => unreadable(path, error.to_string())
                        .hint("do it as the owner of the authority, such as root, with sudo"),
                    _ => unreadable(path, error.to_string()),
                })
            };
            let own_key =
                KeyPair::from_pem(&read(key)?).map_err(|error| unreadable(key, error.to_string()))?;
            return Ok(Self { issuer: Issuer::new(params(&own_key)?, own_key), pem: read(certificate)? });
        }
        let own_key = KeyPair::generate().map_err(failed)?;
        let made = params(&own_key)?;
        let pem = made.self_signed(&own_key).map_err(failed)?.pem();
        files::replace(key, own_key.serialize_pem().as_bytes())?;
        files::replace_public(certificate, &pem)?;
        Ok(Self { issuer: Issuer::new(made, own_key), pem })
    }

    /// A key and a certificate for a daemon of these names.
    fn sign(&self, names: &[String], days: i64) -> Outcome<(String, String)> {
        let mut params = CertificateParams::new(names)
            .map_err(|_| Failure::usage(format!("{} cannot all be names of a host", names.join(", "))))?;
        params.distinguished_name.push(DnType::CommonName, names[0].as_str());
        params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
        params.use_authority_key_identifier_extension = true;
        valid_for(&mut params, days);
        let key = KeyPair::generate().map_err(failed)?;
        let signed = params.signed_by(&key, &self.issuer).map_err(failed)?;
        Ok((key.serialize_pem(), signed.pem()))
    }
}

/// The authority of a key. Its name follows from the key, so that a later certificate names the same issuer.
fn params(key: &KeyPair) -> Outcome<CertificateParams> {
    let mut params = CertificateParams::new(Vec::new()).map_err(failed)?;
    let identifier = params.key_identifier(key);
    let name = format!("mfa authority {}", hex(identifier.get(..4).unwrap_or(&identifier)));
    params.distinguished_name.push(DnType::CommonName, name);
    params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
    valid_for(&mut params, AUTHORITY_DAYS);
    Ok(params)
}

/// From yesterday on, since clocks differ.
fn valid_for(params: &mut CertificateParams, days: i64) {
    let day = |days: i64| {
        let (year, month, day) = Clock::system().now().plus_seconds(days * SECONDS_A_DAY).day().parts();
        date_time_ymd(year.into(), month.unsigned_abs(), day.unsigned_abs())
    };
    params.not_before = day(-1);
    params.not_after = day(days);
}
