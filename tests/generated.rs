//! A client that a generator makes of `/openapi.json`: it is made without a warning, has types that hold, and onboards
//! a customer. `tests/client/check` does it; the generator comes from PyPI.

use std::path::Path;
use std::process::Command;

#[test]
fn a_generated_client_has_types_and_onboards_a_customer() {
    let check = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/client/check");
    let mut python = Command::new("python3");
    let output = python.arg(check).arg(env!("CARGO_BIN_EXE_mfa")).output().unwrap();
    let said = [output.stdout, output.stderr].concat();
    let said = String::from_utf8_lossy(&said);
    assert!(output.status.success(), "{said}");
    assert!(said.ends_with("c-700 has 49.0 on c-700.9100.00001\n"), "{said}");
}
