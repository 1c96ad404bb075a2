//! Hostile requests, a few of the million that `tests/run fuzz` sends.

use std::path::Path;
use std::process::Command;

#[test]
fn hostile_requests_do_no_harm() {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/fuzz/hostile");
    let mut command = Command::new("python3");
    let ran = command.arg(script).arg("3000").env("MFA_BIN", env!("CARGO_BIN_EXE_mfa")).output().unwrap();
    let said = String::from_utf8_lossy(&ran.stdout) + String::from_utf8_lossy(&ran.stderr);
    assert!(ran.status.success(), "{said}");
    // Both daemons have answered, and by far most requests were good HTTP.
    let sent = said.lines().filter(|line| line.starts_with("auth ") && line.contains(": 1,500 requests"));
    assert_eq!(sent.count(), 2, "{said}");
}
