//! A PostgreSQL server of its own, for what cannot be tried on the one that all tests share.

use super::certificates::Files;
use crate::support::stored::postgres_address;
use mfa_daemon::Address;
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

/// A server; it ends with the test.
pub struct PostgresServer {
    url: String,
    dir: PathBuf,
}

fn script(arguments: &[&str], tls: Option<&Files>) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut command = Command::new(root.join("tests/postgres.sh"));
    if let Some(tls) = tls {
        command.env("MFA_TEST_POSTGRES_TLS", format!("{}:{}", tls.certificate.display(), tls.key.display()));
    }
    let output = command.args(arguments).output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

impl PostgresServer {
    /// Starts one where the tests have PostgreSQL at all; with a certificate it takes nothing but TLS.
    pub fn start(tls: Option<&Files>) -> Option<Self> {
        Self::start_in(|| TempDir::with_prefix("mfa-postgres.").unwrap().keep(), tls)
    }

    /// The same, with its data in a folder that is only made where there is PostgreSQL.
    pub fn start_in(folder: impl FnOnce() -> PathBuf, tls: Option<&Files>) -> Option<Self> {
        postgres_address().or_else(|| {
            eprintln!("skipped: MFA_TEST_POSTGRES names no server");
            None
        })?;
        // The user that runs the server must be able to reach the folder.
        let dir = folder();
        let url = script(&["start", dir.to_str().unwrap()], tls);
        Some(Self { url, dir })
    }

    /// Its URL, for direct queries.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Its address with these settings.
    pub fn address(&self, settings: &str) -> Address {
        Address::parse(&format!("{}?{settings}", self.url)).unwrap()
    }

    /// Kills it as a crash would.
    pub fn halt(&self) {
        script(&["halt", self.dir.to_str().unwrap()], None);
    }

    /// Starts it again.
    pub fn resume(&self) {
        script(&["resume", self.dir.to_str().unwrap()], None);
    }
}

impl Drop for PostgresServer {
    fn drop(&mut self) {
        script(&["stop", self.dir.to_str().unwrap()], None);
    }
}
