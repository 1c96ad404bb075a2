//! A real mail server: aiosmtpd, which Debian has as python3-aiosmtpd.

use super::certificates::Files;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};

/// A mail server that runs as long as this.
pub struct MailServer {
    process: Child,
    said: BufReader<ChildStdout>,
    pub port: u16,
}

impl MailServer {
    /// A server that offers AUTH with the name `bank@example.org` and a password. `mode` is `plain`,
    /// `starttls`, `smtps`, or `injected`, where somebody puts answers in before the encryption begins;
    /// `without` lists mechanisms that it does not offer.
    pub fn start(mode: &str, password: &str, files: Option<&Files>, without: &[&str]) -> Self {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/support/servers/mail.py");
        let mut process =
            Command::new(python()).arg(script).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let wanted = json!({ "mode": mode, "username": "bank@example.org", "password": password,
            "certificate": files.map(|f| &f.certificate), "key": files.map(|f| &f.key), "without": without });
        writeln!(process.stdin.as_mut().unwrap(), "{wanted}").unwrap();
        let mut said = BufReader::new(process.stdout.take().unwrap());
        let mut port = String::new();
        said.read_line(&mut port).unwrap();
        Self { process, said, port: port.trim().parse().expect("the port of the mail server") }
    }

    /// The next mail that arrived.
    pub fn mail(&mut self) -> Value {
        let mut line = String::new();
        self.said.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap()
    }
}

impl Drop for MailServer {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn python() -> String {
    let named = std::env::var("MFA_TEST_PYTHON").ok();
    let usual = ["python3".to_owned(), "/usr/bin/python3".to_owned()];
    let knows = |python: &String| {
        let mut command = Command::new(python);
        command.args(["-c", "import aiosmtpd"]).stdout(Stdio::null()).stderr(Stdio::null());
        command.status().is_ok_and(|status| status.success())
    };
    let found = named.into_iter().chain(usual).find(knows);
    found.expect("the mail server of the tests is missing: install the Debian package python3-aiosmtpd")
}
