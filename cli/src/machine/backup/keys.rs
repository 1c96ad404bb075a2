//! Keys: what opens an encrypted backup, and for whom one is encrypted.

use crate::command::cx::Cx;
use crate::failure::{Failure, Outcome};
use crate::input;
use crate::settings::bounded::{self, SECRET_BYTES_MAX};
use clap::Args;
use clap::builder::NonEmptyStringValueParser;
use mfa_daemon::{BackupKeys, Config, EncryptTo, PublicKey, Seal, needs_passphrase};
use std::path::Path;
use zeroize::Zeroizing;

// What opens an encrypted backup.
#[derive(Debug, Args)]
pub struct KeyFlags {
    /// File with the private key of an encrypted backup, as age-keygen writes it, - for standard input
    #[arg(long, value_name = "FILE", conflicts_with = "passphrase_file")]
    identity: Option<String>,
    /// File with the passphrase of an encrypted backup, - for standard input
    #[arg(long, value_name = "FILE", value_parser = NonEmptyStringValueParser::new())]
    passphrase_file: Option<String>,
}

impl KeyFlags {
    /// Whether nothing is given.
    pub fn are_none(&self) -> bool {
        self.identity.is_none() && self.passphrase_file.is_none()
    }

    pub fn given(&self) -> Outcome<BackupKeys> {
        if let Some(file) = &self.identity {
            let text = Zeroizing::new(input::text(file, SECRET_BYTES_MAX)?);
            return BackupKeys::identities(&text).map_err(|why| Failure::usage(format!("{file}: {why}")));
        }
        let passphrase = input::passphrase_file(self.passphrase_file.as_deref().unwrap_or_default())?;
        Ok(passphrase.map(BackupKeys::passphrase).unwrap_or_default())
    }

    /// The keys from the flags, or a typed passphrase if one opens the file and the user can be asked.
    pub fn read(&self, cx: &Cx, file: &Path) -> Outcome<BackupKeys> {
        if self.are_none() && cx.prompt.can_ask() && needs_passphrase(file) {
            let what = format!("Passphrase of {}", file.display());
            cx.prompt.secret(&what, "--passphrase-file").map(BackupKeys::passphrase)
        } else {
            self.given()
        }
    }
}

// For whom a backup is encrypted.
#[derive(Debug, Args)]
pub struct SealFlags {
    /// Encrypt for the holder of this public key of age (age1...); can be repeated
    #[arg(long, value_name = "KEY", conflicts_with = "passphrase_file")]
    encrypt_to: Vec<String>,
    /// Encrypt with the passphrase in this file, - for standard input
    #[arg(long, value_name = "FILE", value_parser = NonEmptyStringValueParser::new())]
    passphrase_file: Option<String>,
    /// Include the key file of the secrets; only in an encrypted backup
    #[arg(long)]
    pub with_key: bool,
}

impl SealFlags {
    /// How the backup is encrypted; nothing where it is not. `config` is that of the store.
    pub fn seal(self, config: Option<&Config>) -> Outcome<Option<Seal>> {
        let passphrase = input::passphrase_file(self.passphrase_file.as_deref().unwrap_or_default())?;
        let to = match passphrase {
            Some(text) => EncryptTo::passphrase(text),
            None if !self.encrypt_to.is_empty() => EncryptTo::Keys(public_keys(&self.encrypt_to)?),
            None if self.with_key => {
                let why = "--with-key puts the key of all secrets in, so the backup must be encrypted";
                return Err(Failure::usage(why).hint("add --encrypt-to KEY or --passphrase-file FILE"));
            }
            None => return Ok(None),
        };
        let read = |config: &Config| {
            let file = &config.secret_key_file;
            bounded::bytes(file, SECRET_BYTES_MAX).map(Zeroizing::new).map_err(|error| {
                let message = format!("cannot read the key file {}: {error}", file.display());
                Failure::local(message)
                    .hint("name it in the setting secret_key_file, or leave --with-key out")
            })
        };
        let key_file = config.filter(|_| self.with_key).map(read).transpose()?;
        Ok(Some(Seal { to, key_file }))
    }
}

/// Reads public keys. An invalid one may be a private key, so no message repeats it.
fn public_keys(given: &[String]) -> Outcome<Vec<PublicKey>> {
    let wrong = |why| Failure::usage(format!("a value of --encrypt-to is wrong: {why}"));
    given.iter().map(|key| key.parse().map_err(wrong)).collect()
}
