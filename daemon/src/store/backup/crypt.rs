//! Encryption of backups, in the format of `age` (<https://age-encryption.org/v1>), so that the ordinary
//! program of that name opens them. What is encrypted is a backup as it is otherwise; the key file of the
//! store may lie before it (see [`super::frames`]).

use super::{BackupError, damaged};
use age::secrecy::SecretString;
use age::stream::{StreamReader, StreamWriter};
use age::{DecryptError, Decryptor, EncryptError, Encryptor, Identity, Recipient, scrypt, x25519};
use std::fmt;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, Write};
use std::path::Path;
use std::str::FromStr;
use zeroize::Zeroizing;

/// What the names of encrypted backups end with, behind that of backups.
pub const AGE_SUFFIX: &str = "age";

/// The first bytes of an encrypted file.
const MAGIC: &[u8] = b"age-encryption.org/v1\n";

/// How much work a guess at a passphrase takes, as a power of two: that of the program `age`. Measured on
/// each machine, it would be little where much else runs, and more than a slower machine allows.
const WORK_FACTOR: u8 = 18;
/// The largest that is accepted, as in `age`, so that a doctored file cannot keep a machine busy for hours.
const WORK_FACTOR_MAX: u8 = 22;

/// The public key of somebody who may read a backup: `age1...`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PublicKey(String);

impl FromStr for PublicKey {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match x25519::Recipient::from_str(text) {
            Ok(_) => Ok(Self(text.to_owned())),
            // A private key in a wrong place must not be repeated.
            Err(_) => Err("it must be the public key that age-keygen shows, age1...".to_owned()),
        }
    }
}

/// Who can open a backup that is made.
#[derive(Clone)]
pub enum EncryptTo {
    /// The holders of the private keys of these.
    Keys(Vec<PublicKey>),
    /// Anyone who knows the passphrase.
    Passphrase(SecretString),
}

impl EncryptTo {
    /// Encrypts to anyone who knows the passphrase.
    pub fn passphrase(text: String) -> Self {
        Self::Passphrase(text.into())
    }
}

impl fmt::Debug for EncryptTo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Keys(keys) => keys.fmt(f),
            Self::Passphrase(_) => f.write_str("a passphrase"),
        }
    }
}

/// How a backup is closed.
#[derive(Debug)]
pub struct Seal {
    /// For whom.
    pub to: EncryptTo,
    /// The key file of the store, if it is to be in it.
    pub key_file: Option<Zeroizing<Vec<u8>>>,
}

/// What opens an encrypted backup.
#[derive(Clone, Default)]
pub struct BackupKeys {
    identities: Vec<x25519::Identity>,
    passphrase: Option<SecretString>,
}

impl fmt::Debug for BackupKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let passphrase = if self.passphrase.is_some() { " and a passphrase" } else { "" };
        write!(f, "{} identities{passphrase}", self.identities.len())
    }
}

impl BackupKeys {
    /// What a passphrase opens.
    pub fn passphrase(text: String) -> Self {
        Self { identities: Vec::new(), passphrase: Some(text.into()) }
    }

    /// What the private keys in an identity file open, as `age-keygen` writes it; else what is wrong with it.
    pub fn identities(text: &str) -> Result<Self, String> {
        let mut identities = Vec::new();
        for (i, line) in text.lines().map(str::trim).enumerate() {
            if !line.is_empty() && !line.starts_with('#') {
                let wrong = |_| format!("line {} is no identity of age (AGE-SECRET-KEY-1...)", i + 1);
                identities.push(x25519::Identity::from_str(line).map_err(wrong)?);
            }
        }
        if identities.is_empty() {
            Err("there is no identity of age (AGE-SECRET-KEY-1...) in it".to_owned())
        } else {
            Ok(Self { identities, passphrase: None })
        }
    }
}

enum Out<W: Write> {
    Plain(W),
    Sealed(Box<StreamWriter<W>>),
}

/// Writes a backup, encrypted or not.
pub struct SealWriter<W: Write> {
    out: Out<W>,
    keys: BackupKeys,
}

impl<W: Write> fmt::Debug for SealWriter<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SealWriter")
    }
}

impl<W: Write> SealWriter<W> {
    /// Begins. A writer that encrypts for others could not read back what it wrote, so each backup also gets
    /// a key that no one ever sees; it is dropped with this value.
    pub fn begin(out: W, seal: Option<&Seal>) -> io::Result<Self> {
        let Some(seal) = seal else { return Ok(Self { out: Out::Plain(out), keys: BackupKeys::default() }) };
        let (to, keys): (Vec<Box<dyn Recipient>>, _) = match &seal.to {
            EncryptTo::Passphrase(text) => {
                let mut to = scrypt::Recipient::new(text.clone());
                to.set_work_factor(WORK_FACTOR);
                (vec![Box::new(to)], BackupKeys { identities: Vec::new(), passphrase: Some(text.clone()) })
            }
            EncryptTo::Keys(keys) => {
                let own = x25519::Identity::generate();
                let mut to: Vec<Box<dyn Recipient>> = vec![Box::new(own.to_public())];
                for PublicKey(key) in keys {
                    to.push(Box::new(x25519::Recipient::from_str(key).map_err(io::Error::other)?));
                }
                (to, BackupKeys { identities: vec![own], passphrase: None })
            }
        };
        let encryptor = Encryptor::with_recipients(to.iter().map(|to| &**to));
        let encryptor = encryptor.map_err(|error: EncryptError| io::Error::other(error.to_string()))?;
        let mut sealed = encryptor.wrap_output(out)?;
        if let Some(bytes) = &seal.key_file {
            sealed.write_all(&super::frames::key_file_prefix(bytes))?;
        }
        Ok(Self { out: Out::Sealed(Box::new(sealed)), keys })
    }

    /// Writes the next bytes.
    pub fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        match &mut self.out {
            Out::Plain(out) => out.write_all(bytes),
            Out::Sealed(out) => out.write_all(bytes),
        }
    }

    /// Writes what belongs behind the last bytes; what opens it again.
    pub fn finish(self) -> io::Result<BackupKeys> {
        let mut out = match self.out {
            Out::Plain(out) => out,
            Out::Sealed(out) => out.finish()?,
        };
        out.flush()?;
        Ok(self.keys)
    }
}

/// Bytes of a backup.
pub trait Source: Read + Seek + Send {}
impl<T: Read + Seek + Send> Source for T {}

fn buffered(file: &Path) -> io::Result<BufReader<File>> {
    // A pipe in the folder would be waited for until somebody writes into it.
    if !std::fs::metadata(file)?.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is no regular file"));
    }
    Ok(BufReader::with_capacity(256 * 1024, File::open(file)?))
}

/// Whether a file is encrypted.
pub fn is_encrypted(file: &Path) -> io::Result<bool> {
    Ok(buffered(file)?.fill_buf()?.starts_with(MAGIC))
}

/// Whether a passphrase opens a file.
pub fn needs_passphrase(file: &Path) -> bool {
    let is_scrypt = |file| Decryptor::new_buffered(file).is_ok_and(|file| file.is_scrypt());
    is_encrypted(file).is_ok_and(|is| is) && buffered(file).is_ok_and(is_scrypt)
}

/// Opens a file to be read as a backup.
pub fn open(file: &Path, keys: &BackupKeys) -> Result<Box<dyn Source>, BackupError> {
    let mut bytes = buffered(file)?;
    if bytes.fill_buf()?.starts_with(MAGIC) {
        Ok(Box::new(decrypt(bytes, keys)?))
    } else {
        Ok(Box::new(bytes))
    }
}

/// Opens encrypted bytes.
pub fn decrypt<R: BufRead>(bytes: R, keys: &BackupKeys) -> Result<StreamReader<R>, BackupError> {
    let locked = |why: &str| BackupError::Locked(why.to_owned());
    let file = Decryptor::new_buffered(bytes).map_err(|error| unopened(&error))?;
    if !file.is_scrypt() {
        if keys.identities.is_empty() {
            return Err(locked("it is encrypted for the holder of a key: give --identity FILE"));
        }
        let opened = file.decrypt(keys.identities.iter().map(|key| key as &dyn Identity));
        return opened.map_err(|error| match error {
            DecryptError::NoMatchingKeys => locked("it is encrypted for other keys than those in the file"),
            error => unopened(&error),
        });
    }
    let Some(passphrase) = &keys.passphrase else {
        return Err(locked("it is encrypted with a passphrase: give --passphrase-file FILE"));
    };
    let mut identity = scrypt::Identity::new(passphrase.clone());
    identity.set_max_work_factor(WORK_FACTOR_MAX);
    let opened = file.decrypt(std::iter::once(&identity as &dyn Identity));
    opened.map_err(|error| match error {
        DecryptError::DecryptionFailed | DecryptError::KeyDecryptionFailed | DecryptError::NoMatchingKeys => {
            locked("the passphrase does not open it")
        }
        error => unopened(&error),
    })
}

fn unopened(error: &DecryptError) -> BackupError {
    match error {
        DecryptError::Io(error) if error.kind() != io::ErrorKind::UnexpectedEof => {
            io::Error::new(error.kind(), error.to_string()).into()
        }
        DecryptError::ExcessiveWork { .. } => BackupError::Refused(
            "its passphrase would take far too long to try: open it with age, then give the result"
                .to_owned(),
        ),
        _ => damaged("the backup is damaged: the head of its encryption is not whole"),
    }
}
