//! Which certificates are trusted when the daemon is reached by `https:`, and which one the client shows.

use crate::failure::{Failure, Outcome};
use crate::settings::Settings;
use crate::settings::bounded::{self, DOCUMENT_BYTES_MAX};
use reqwest::{Certificate, ClientBuilder, Identity};
use rustls::client::WantsClientCert;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::{CertificateError, ClientConfig, ConfigBuilder, DigitallySignedStruct, Error, SignatureScheme};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Certificates that are trusted in addition to those of the authorities of this machine.
#[derive(Debug, Clone, Default)]
pub struct Trust {
    /// File of authorities.
    pub authorities: Option<PathBuf>,
    /// Certificate of the daemon that this machine runs. At an address of this machine it counts by whatever
    /// name it has, and no other one does.
    pub own: Option<PathBuf>,
    /// Certificate and key that the client shows.
    identity: Option<(PathBuf, PathBuf)>,
}

impl Trust {
    pub fn of(settings: &Settings) -> Outcome<Self> {
        let file = |name: &str| Some(settings.get(name).0).filter(|file| !file.is_empty()).map(PathBuf::from);
        let identity = match (file("client_cert"), file("client_key")) {
            (Some(certificate), Some(key)) => Some((certificate, key)),
            (None, None) => None,
            _ => {
                return Err(Failure::usage(
                    "client_cert and client_key belong together: set both or neither",
                ));
            }
        };
        Ok(Self { authorities: file("ca_file"), own: file("tls_cert"), identity })
    }

    /// The connections of a client that trusts these; `here` says that the address is one of this machine.
    pub(super) fn apply(&self, builder: ClientBuilder, here: bool) -> Outcome<ClientBuilder> {
        if let Some(own) = self.own.as_ref().filter(|own| here && own.exists()) {
            return Ok(builder.tls_backend_preconfigured(self.pinned(own)?));
        }
        let mut builder = builder;
        if let Some(file) = &self.authorities {
            let unusable = |why: String| unusable("ca_file", file, &why);
            let text =
                bounded::bytes(file, DOCUMENT_BYTES_MAX).map_err(|error| unusable(error.to_string()))?;
            let found = Certificate::from_pem_bundle(&text).map_err(|error| unusable(error.to_string()))?;
            if found.is_empty() {
                return Err(unusable("it holds no certificate in PEM form".to_owned()));
            }
            builder = builder.tls_certs_merge(found);
        }
        if let Some((certificate, key)) = &self.identity {
            let read = |name, file: &Path| {
                bounded::bytes(file, DOCUMENT_BYTES_MAX)
                    .map_err(|error| unusable(name, file, &error.to_string()))
            };
            let mut text = read("client_cert", certificate)?;
            text.extend(read("client_key", key)?);
            let identity = Identity::from_pem(&text)
                .map_err(|_| unusable("client_key", key, "it and client_cert hold no key and certificate"))?;
            builder = builder.identity(identity);
        }
        Ok(builder)
    }

    fn pinned(&self, own: &Path) -> Outcome<ClientConfig> {
        let certificates = |name: &str, file: &Path| -> Outcome<Vec<CertificateDer<'static>>> {
            let read = CertificateDer::pem_file_iter(file).and_then(Iterator::collect);
            read.map_err(|error| unusable(name, file, &error.to_string()))
        };
        let known = certificates("tls_cert", own)?;
        let Some(known) = known.into_iter().next() else {
            return Err(unusable("tls_cert", own, "it holds no certificate in PEM form"));
        };
        let config = by_itself(Some(known));
        let Some((certificate, key)) = &self.identity else { return Ok(config.with_no_client_auth()) };
        let unusable_key = |error: String| unusable("client_key", key, &error);
        let read = PrivateKeyDer::from_pem_file(key).map_err(|error| unusable_key(error.to_string()))?;
        let config = config.with_client_auth_cert(certificates("client_cert", certificate)?, read);
        config.map_err(|error| unusable_key(error.to_string()))
    }
}

fn unusable(setting: &str, file: &Path, why: &str) -> Failure {
    Failure::usage(format!("{setting} {} cannot be used: {why}", file.display()))
        .hint("see where it is set: mfa config view --origin")
}

/// The settings of a connection that trusts a certificate by itself: `only` this one, or any.
#[expect(clippy::expect_used, reason = "rustls's own provider speaks its default versions")]
pub(super) fn by_itself(
    only: Option<CertificateDer<'static>>,
) -> ConfigBuilder<ClientConfig, WantsClientCert> {
    let provider = Arc::new(ring::default_provider());
    ClientConfig::builder_with_provider(provider.clone())
        .with_safe_default_protocol_versions()
        .expect("default versions")
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(ByItself { only, provider }))
}

/// Checks the certificate alone. That it belongs to the signer of the handshake is always checked.
#[derive(Debug)]
struct ByItself {
    only: Option<CertificateDer<'static>>,
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for ByItself {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        if self.only.as_ref().is_none_or(|only| only == certificate) {
            return Ok(ServerCertVerified::assertion());
        }
        Err(Error::InvalidCertificate(CertificateError::ApplicationVerificationFailure))
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls12_signature(message, certificate, signature, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls13_signature(message, certificate, signature, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}
