//! TLS towards clients: the certificate of the daemon, which is read again when its files change.

use crate::hex::hexadecimal;
use mfa_shared::time::Timestamp;
use rustls::crypto::{CryptoProvider, ring};
use rustls::pki_types::pem::{self, PemObject};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, UnixTime};
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig};
use sha2::{Digest, Sha256};
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::{Duration, SystemTime};
use tokio_rustls::TlsAcceptor;
use webpki::{EndEntityCert, Error, KeyUsage};

/// The protocol of a connection on which several requests run at once.
pub const HTTP_2: &[u8] = b"h2";
/// The protocols for clients, the better one first.
const PROTOCOLS: [&[u8]; 2] = [HTTP_2, b"http/1.1"];
/// Time between two looks at the files.
const LOOK: Duration = Duration::from_secs(2);
/// A moment after the end of every certificate, in seconds.
const LATEST: u64 = 300_000_000_000;

/// The files of a daemon that speaks TLS.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TlsFiles {
    /// The certificate, followed by those of the authorities between it and the one that clients know.
    pub certificate: PathBuf,
    /// Its private key.
    pub key: PathBuf,
    /// The authorities of clients, where these must have a certificate, too.
    pub client_authorities: Option<PathBuf>,
}

/// What people are shown about a certificate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CertificateFacts {
    /// SHA-256 of its bytes, in hexadecimal digits.
    pub fingerprint: String,
    /// The first moment at which it is valid.
    pub not_before: Timestamp,
    /// The last one.
    pub not_after: Timestamp,
    /// The names of hosts that it is for; addresses are not among them.
    pub names: Vec<String>,
}

/// Reads the certificates of a PEM file, the one of the host first.
pub fn read_certificates(file: &Path) -> Result<Vec<CertificateDer<'static>>, String> {
    let unreadable = |why: String| format!("{} cannot be read: {why}", file.display());
    let read = CertificateDer::pem_file_iter(file).map_err(|error| unreadable(why(&error)))?;
    let found: Vec<_> = read.collect::<Result<_, _>>().map_err(|error| unreadable(why(&error)))?;
    if found.is_empty() {
        return Err(unreadable("it holds no certificate in PEM form".to_owned()));
    }
    Ok(found)
}

/// What people are shown about a certificate.
pub fn certificate_facts(certificate: &CertificateDer<'_>) -> Result<CertificateFacts, String> {
    let read =
        EndEntityCert::try_from(certificate).map_err(|error| format!("it is not a certificate: {error}"))?;
    let moment = |time: UnixTime| Timestamp::from_millis(i64::try_from(time.as_secs()).unwrap_or(0) * 1000);
    // The library reports the limits of the validity only when asked for a time outside of it.
    let asked = |seconds: u64| {
        let time = UnixTime::since_unix_epoch(Duration::from_secs(seconds));
        let algorithms = ring::default_provider().signature_verification_algorithms.all;
        read.verify_for_usage(algorithms, &[], &[], time, KeyUsage::server_auth(), None, None).map(drop)
    };
    let (Err(Error::CertNotValidYet { not_before, .. }), Err(Error::CertExpired { not_after, .. })) =
        (asked(0), asked(LATEST))
    else {
        return Err("the time of its validity cannot be read".to_owned());
    };
    Ok(CertificateFacts {
        fingerprint: hexadecimal(&Sha256::digest(certificate)),
        not_before: moment(not_before),
        not_after: moment(not_after),
        names: read.valid_dns_names().map(str::to_owned).collect(),
    })
}

/// What these files would show to clients, or why a daemon cannot use them.
pub fn look_at_certificate(files: &TlsFiles) -> Result<CertificateFacts, String> {
    files.read().map(|(_, facts)| facts)
}

fn why(error: &pem::Error) -> String {
    match error {
        pem::Error::Io(error) => error.to_string(),
        other => other.to_string(),
    }
}

impl TlsFiles {
    /// Reads the files, and what they show to clients.
    fn read(&self) -> Result<(ServerConfig, CertificateFacts), String> {
        let chain = read_certificates(&self.certificate).map_err(|why| format!("tls_cert {why}"))?;
        let unusable = |why: String| format!("tls_cert {} cannot be used: {why}", self.certificate.display());
        let facts = certificate_facts(&chain[0]).map_err(unusable)?;
        let key = PrivateKeyDer::from_pem_file(&self.key).map_err(|error| {
            let why = match &error {
                pem::Error::NoItemsFound => {
                    "it holds no private key in PEM form without a passphrase".to_owned()
                }
                error => why(error),
            };
            format!("tls_key {} cannot be read: {why}", self.key.display())
        })?;
        let provider = Arc::new(ring::default_provider());
        let config =
            ServerConfig::builder_with_provider(provider.clone()).with_safe_default_protocol_versions();
        let config = config.map_err(|error| format!("TLS cannot be used: {error}"))?;
        let config = match &self.client_authorities {
            None => config.with_no_client_auth(),
            Some(file) => config.with_client_cert_verifier(of_clients(file, provider)?),
        };
        let mut config = config.with_single_cert(chain, key).map_err(|error| match error {
            rustls::Error::InconsistentKeys(_) => {
                format!(
                    "tls_key {} is not the key of tls_cert {}",
                    self.key.display(),
                    self.certificate.display()
                )
            }
            error => unusable(error.to_string()),
        })?;
        config.alpn_protocols = PROTOCOLS.map(<[u8]>::to_vec).into();
        Ok((config, facts))
    }

    /// What changes when one of the files does.
    fn stamps(&self) -> Vec<Option<Stamp>> {
        let files = [Some(&self.certificate), Some(&self.key), self.client_authorities.as_ref()];
        files.into_iter().flatten().map(|file| Stamp::of(file)).collect()
    }
}

fn of_clients(
    file: &Path,
    provider: Arc<CryptoProvider>,
) -> Result<Arc<dyn rustls::server::danger::ClientCertVerifier>, String> {
    let unusable = |why: String| format!("tls_client_ca {} cannot be used: {why}", file.display());
    let mut roots = RootCertStore::empty();
    for certificate in read_certificates(file).map_err(|why| format!("tls_client_ca {why}"))? {
        roots.add(certificate).map_err(|error| unusable(error.to_string()))?;
    }
    let built = WebPkiClientVerifier::builder_with_provider(roots.into(), provider).build();
    built.map_err(|error| unusable(error.to_string()))
}

/// A file as it was last read.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Stamp(Option<SystemTime>, u64, u64);

impl Stamp {
    fn of(file: &Path) -> Option<Self> {
        let facts = fs::metadata(file).ok()?;
        Some(Self(facts.modified().ok(), facts.len(), facts.ino()))
    }
}

/// The present TLS settings of a daemon.
#[derive(Debug)]
pub struct Tls {
    files: TlsFiles,
    config: RwLock<Arc<ServerConfig>>,
    seen: Mutex<Vec<Option<Stamp>>>,
}

impl Tls {
    /// Reads the files.
    pub fn open(files: TlsFiles) -> Result<Self, String> {
        let seen = Mutex::new(files.stamps());
        let (config, facts) = files.read()?;
        log(&facts);
        Ok(Self { files, config: RwLock::new(Arc::new(config)), seen })
    }

    /// What takes the next connection.
    pub fn acceptor(&self) -> TlsAcceptor {
        self.config.read().unwrap_or_else(PoisonError::into_inner).clone().into()
    }

    /// Reads the files again. Files that cannot be used change nothing.
    pub fn reload(&self) {
        *self.seen.lock().unwrap_or_else(PoisonError::into_inner) = self.files.stamps();
        match self.files.read() {
            Ok((config, facts)) => {
                *self.config.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(config);
                log(&facts);
            }
            Err(why) => tracing::warn!("the certificate in use is kept: {why}"),
        }
    }

    /// Reads the files again whenever they have changed. While a certificate and its key are replaced one
    /// after the other they do not belong together; the second change puts that right.
    pub async fn keep(self: Arc<Self>) {
        loop {
            tokio::time::sleep(LOOK).await;
            let tls = self.clone();
            let looked = tokio::task::spawn_blocking(move || {
                if tls.files.stamps() != *tls.seen.lock().unwrap_or_else(PoisonError::into_inner) {
                    tls.reload();
                }
            });
            let _ = looked.await;
        }
    }
}

fn log(facts: &CertificateFacts) {
    let names = facts.names.join(" ");
    let until = facts.not_after.to_string();
    tracing::info!(fingerprint = facts.fingerprint, names, until, "serves TLS with this certificate");
}
