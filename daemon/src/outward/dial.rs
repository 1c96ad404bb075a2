//! Connections to gateways: to which address, how long, how much is read, and whose certificates count.

use super::span::{Span, failed};
use crate::domain::gateway::{Failed, Limits, Stage, bare};
use crate::tls::read_certificates;
use rustls::client::Resumption;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpStream, lookup_host};
use tokio::sync::Mutex;
use tokio::time::{Instant, timeout_at};
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

/// Most bytes that are read from a gateway.
const BYTES_MAX: usize = 65_536;
/// How long what was read of authorities counts.
const TRUSTED_FOR: Duration = Duration::from_secs(60);

/// A connection from which only so much is read.
#[derive(Debug)]
pub struct Metered {
    stream: TcpStream,
    left: usize,
}

impl Metered {
    /// The address of this side.
    pub fn local_ip(&self) -> Option<IpAddr> {
        self.stream.local_addr().ok().map(|address| address.ip().to_canonical())
    }
}

/// The end of what is read from one gateway.
#[derive(Debug)]
struct TooMuch;

impl fmt::Display for TooMuch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "it sent more than {BYTES_MAX} bytes")
    }
}

impl std::error::Error for TooMuch {}

impl AsyncRead for Metered {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        if this.left == 0 {
            return Poll::Ready(Err(io::Error::other(TooMuch)));
        }
        let mut part = buf.take(this.left);
        ready!(Pin::new(&mut this.stream).poll_read(cx, &mut part))?;
        let count = part.filled().len();
        // What the part filled is in the buffer itself; only its mark has to move.
        let bytes = part.filled().to_vec();
        buf.put_slice(&bytes);
        this.left -= count;
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Metered {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.get_mut().stream).poll_write(cx, bytes)
    }
    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_flush(cx)
    }
    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_shutdown(cx)
    }
}

/// Connects. Where a secret will travel in clear, only addresses of this machine count.
pub async fn connect(
    host: &str,
    port: u16,
    loopback_only: bool,
    limits: &Limits,
    span: Span,
) -> Result<Metered, Failed> {
    let end = (Instant::now() + limits.connect).min(span.end);
    let within =
        |seconds: Duration| format!("{host}:{port} is not reached within {} seconds", seconds.as_secs());
    let reach = async {
        let unknown = |error| format!("the address of {host} is not found: {error}");
        let addresses = lookup_host((bare(host), port)).await.map_err(unknown)?;
        let mut last = format!("{host} has no address");
        for address in addresses {
            // Here and not before, so that no name can lead to another address than the one that was checked.
            if !limits.allow(address.ip()) {
                last = format!(
                    "{host} is at an address of this machine or of a private network, and the setting \
                     {} does not name that network",
                    limits.setting
                );
                continue;
            }
            if loopback_only && !address.ip().to_canonical().is_loopback() {
                last = format!("{host} is not this machine, and the secret would travel unencrypted");
                continue;
            }
            match TcpStream::connect(address).await {
                Ok(stream) => return Ok(Metered { stream, left: BYTES_MAX }),
                Err(error) => last = format!("{host}:{port} is not reached: {error}"),
            }
        }
        Err(last)
    };
    match timeout_at(end, reach).await {
        Ok(reached) => reached.map_err(|why| failed(Stage::Connect, why)),
        Err(_) => Err(failed(Stage::Connect, within(limits.connect.min(limits.whole)))),
    }
}

/// The authorities of the setting's file.
pub fn read_authorities(file: &Path) -> Result<Vec<CertificateDer<'static>>, String> {
    read_certificates(file).map_err(|why| format!("gateway_ca_file {why}"))
}

/// Whose certificates count for connections to gateways.
pub struct Trust {
    /// Trusts the authorities of the system and of the setting.
    client: Arc<ClientConfig>,
    read_at: Instant,
}

/// What is trusted with each file of the setting; a daemon has one.
static TRUSTED: Mutex<BTreeMap<Option<PathBuf>, Arc<Trust>>> = Mutex::const_new(BTreeMap::new());

/// Whose certificates count. A system holds hundreds of them, so they are not read for each message; but soon
/// enough that no restart is needed where one is added.
pub async fn trust(limits: &Limits, span: Span) -> Result<Arc<Trust>, Failed> {
    let trust = trust_at(limits.authorities.clone(), Instant::now());
    span.step(Stage::Tls, trust).await?.map_err(|why| failed(Stage::Tls, why))
}

async fn trust_at(file: Option<PathBuf>, now: Instant) -> Result<Arc<Trust>, String> {
    // Held while they are read, so that deliveries that begin together do not read them each.
    let mut trusted = TRUSTED.lock().await;
    if let Some(trust) = trusted.get(&file).filter(|trust| now < trust.read_at + TRUSTED_FOR) {
        return Ok(trust.clone());
    }
    let asked = file.clone();
    let read = tokio::task::spawn_blocking(move || read_trust(asked.as_deref(), now)).await;
    let trust = read.unwrap_or_else(|error| Err(error.to_string())).map(Arc::new).map_err(|why| {
        tracing::error!(why, "the certificate authorities of gateways are not usable");
        // Names of files are for the log of the daemon, not for its answers.
        "the daemon cannot read its certificate authorities; its log says why".to_owned()
    })?;
    trusted.insert(file, trust.clone());
    Ok(trust)
}

fn read_trust(file: Option<&Path>, read_at: Instant) -> Result<Trust, String> {
    let mut authorities = file.map_or_else(|| Ok(Vec::new()), read_authorities)?;
    authorities.extend(rustls_native_certs::load_native_certs().certs);
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(authorities);
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut client = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| format!("no encrypted connection is possible: {error}"))?
        .with_root_certificates(roots)
        .with_no_client_auth();
    // Each connection shows its certificate; one that was resumed would be trusted for an earlier one.
    client.resumption = Resumption::disabled();
    Ok(Trust { client: Arc::new(client), read_at })
}

/// Encrypts a connection, if the certificate of the other side holds for the host.
pub async fn encrypt(
    stream: Metered,
    host: &str,
    trust: &Trust,
    span: Span,
) -> Result<TlsStream<Metered>, Failed> {
    let name = ServerName::try_from(bare(host).to_owned());
    let name = name.map_err(|_| failed(Stage::Tls, format!("no certificate can be for {host}")))?;
    let connect = TlsConnector::from(trust.client.clone()).connect(name, stream);
    span.step(Stage::Tls, connect)
        .await?
        .map_err(|error| failed(Stage::Tls, format!("there is no encrypted connection to {host}: {error}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn authorities_are_read_once_a_minute_and_a_new_one_needs_no_restart() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("authorities.pem");
        // What is no certificate inside counts for nothing, but it is read.
        let pem = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
        std::fs::write(&file, pem).unwrap();
        let now = Instant::now();
        let at = |seconds| trust_at(Some(file.clone()), now + Duration::from_secs(seconds));
        let first = at(0).await.unwrap();
        std::fs::write(&file, pem.repeat(2)).unwrap();
        assert!(Arc::ptr_eq(&at(59).await.unwrap(), &first));
        let second = at(61).await.unwrap();
        assert!(!Arc::ptr_eq(&second, &first));
        let other = folder.path().join("other.pem");
        std::fs::write(&other, pem).unwrap();
        assert!(!Arc::ptr_eq(&trust_at(Some(other), now).await.unwrap(), &first), "another setting");
        std::fs::remove_file(&file).unwrap();
        assert!(Arc::ptr_eq(&at(119).await.unwrap(), &second));
        let why = at(122).await.err().unwrap();
        assert!(!why.contains("authorities.pem") && why.contains("cannot read its certificate"), "{why}");
    }
}
