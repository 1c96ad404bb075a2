//! Certificates for the servers of a test.

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair, date_time_ymd};
use std::fs;
use std::path::{Path, PathBuf};

/// An authority with its files.
pub struct Authority {
    issuer: CertifiedIssuer<'static, KeyPair>,
    dir: PathBuf,
}

/// The files of a server's certificate.
#[derive(Debug, Clone)]
pub struct Files {
    pub certificate: PathBuf,
    pub key: PathBuf,
}

impl Authority {
    /// An authority that keeps its files in a folder.
    pub fn new(dir: &Path) -> Self {
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.distinguished_name.push(DnType::CommonName, dir.display().to_string());
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let issuer = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
        fs::write(dir.join("authority.pem"), issuer.pem()).unwrap();
        Self { issuer, dir: dir.to_owned() }
    }

    /// The file of the authority.
    pub fn file(&self) -> PathBuf {
        self.dir.join("authority.pem")
    }

    /// A certificate for a host, valid until the end of a year.
    pub fn certificate(&self, host: &str, year: i32) -> Files {
        let mut params = CertificateParams::new(vec![host.to_owned()]).unwrap();
        params.distinguished_name.push(DnType::CommonName, host);
        params.not_before = date_time_ymd(2020, 1, 1);
        params.not_after = date_time_ymd(year, 12, 31);
        let key = KeyPair::generate().unwrap();
        let certificate = params.signed_by(&key, &self.issuer).unwrap();
        let file = |kind: &str| self.dir.join(format!("{}-{year}-{kind}.pem", host.replace(':', "-")));
        let files = Files { certificate: file("certificate"), key: file("key") };
        fs::write(&files.certificate, certificate.pem()).unwrap();
        fs::write(&files.key, key.serialize_pem()).unwrap();
        files
    }
}
