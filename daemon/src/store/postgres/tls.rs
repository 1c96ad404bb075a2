//! TLS towards the database, as `sslmode` and `sslrootcert` ask for it.

use super::OpenError;
use super::address::{Address, Verify};
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{WebPkiServerVerifier, verify_server_cert_signed_by_trust_anchor};
use rustls::crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{ClientConfig, DigitallySignedStruct, Error, RootCertStore, SignatureScheme};
use std::path::Path;
use std::sync::Arc;
use tokio_postgres_rustls::MakeRustlsConnect;

/// Checks the certificate as far as `sslmode` demands. That it belongs to the party that signs the handshake
/// is always checked.
#[derive(Debug)]
struct AsFarAsAsked {
    roots: Option<Arc<RootCertStore>>,
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for AsFarAsAsked {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        if let Some(roots) = &self.roots {
            let algorithms = self.provider.signature_verification_algorithms.all;
            let parsed = ParsedCertificate::try_from(certificate)?;
            verify_server_cert_signed_by_trust_anchor(&parsed, roots, intermediates, now, algorithms)?;
        }
        Ok(ServerCertVerified::assertion())
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

/// What makes TLS connections for an address.
pub(super) fn connector(address: &Address) -> Result<MakeRustlsConnect, OpenError> {
    let provider = Arc::new(ring::default_provider());
    let refuse = |why: String| OpenError::Address(why);
    let roots = match &address.root_file {
        Some(file) => Some(Arc::new(read_roots(file)?)),
        None if address.verify == Verify::Nothing => None,
        None => {
            let why = "sslmode verify-ca and verify-full need sslrootcert=FILE, the certificates to trust";
            return Err(refuse(why.to_owned()));
        }
    };
    let verifier: Arc<dyn ServerCertVerifier> = match (address.verify, roots) {
        (Verify::Host, Some(roots)) => {
            let built = WebPkiServerVerifier::builder_with_provider(roots, provider.clone()).build();
            built.map_err(|e| refuse(format!("sslrootcert cannot be used: {e}")))?
        }
        (_, roots) => Arc::new(AsFarAsAsked { roots, provider: provider.clone() }),
    };
    let config = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    let config = config.map_err(|e| refuse(format!("TLS cannot be used: {e}")))?;
    let config = config.dangerous().with_custom_certificate_verifier(verifier).with_no_client_auth();
    Ok(MakeRustlsConnect::new(config))
}

fn read_roots(file: &Path) -> Result<RootCertStore, OpenError> {
    let refuse = |why: String| OpenError::Address(format!("sslrootcert {} {why}", file.display()));
    let certificates =
        CertificateDer::pem_file_iter(file).map_err(|e| refuse(format!("cannot be read: {e}")))?;
    let mut roots = RootCertStore::empty();
    for certificate in certificates {
        let certificate = certificate.map_err(|e| refuse(format!("cannot be read: {e}")))?;
        roots.add(certificate).map_err(|e| refuse(format!("holds no usable certificate: {e}")))?;
    }
    if roots.is_empty() { Err(refuse("holds no certificate".to_owned())) } else { Ok(roots) }
}
