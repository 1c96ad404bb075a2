//! The first day of a new user, from one command to the table of customers.

use crate::support::world::{World, mfa};
use std::net::TcpListener;
use std::process::Output;

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[track_caller]
fn done(output: Output) -> String {
    assert!(output.status.success(), "{}{}", text(&output.stdout), text(&output.stderr));
    text(&output.stdout)
}

#[test]
fn one_command_sets_everything_up_and_shows_the_customers() {
    let home = tempfile::TempDir::new().unwrap();
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let listen = format!("127.0.0.1:{port}");
    let run = |arguments: &[&str]| {
        let mut command = mfa(home.path(), arguments);
        command.env("MFA_LISTEN", &listen).env("MFA_URL", format!("http://{listen}"));
        command.output().unwrap()
    };
    let first = done(run(&["quickstart", "-o", "table"]));
    assert!(first.contains("Owusu") && first.contains("ACTIVE"), "{first}");
    let again = done(run(&["quickstart", "-o", "table"]));
    assert_eq!(first, again, "a second run changes nothing");
    let offices = done(run(&["offices", "list", "-o", "id"]));
    assert_eq!(offices.lines().count(), 2);
    done(run(&["daemon", "stop"]));
    let gone = run(&["offices", "list"]);
    assert_eq!(gone.status.code(), Some(10), "{}", text(&gone.stderr));
    assert!(text(&gone.stderr).contains("mfa daemon start"), "{}", text(&gone.stderr));
}

#[test]
fn a_clerk_registers_activates_and_finds_a_customer() {
    let world = World::start();
    let run = |arguments: &[&str]| world.mfa(arguments).output().unwrap();
    done(run(&["offices", "create", "accra", "--name", "Accra"]));
    done(run(&["customers", "create", "c-1", "--given-name", "Efua", "--assigned-office", "accra"]));
    done(run(&["customers", "activate", "c-1"]));
    let read: serde_json::Value =
        serde_json::from_str(&done(run(&["customers", "get", "c-1", "-o", "json"]))).unwrap();
    assert_eq!(read["currentState"], "ACTIVE");
    assert_eq!(read, world.get("/customers/c-1").json());
    let again = run(&["customers", "activate", "c-1"]);
    assert_eq!(again.status.code(), Some(6), "{}", text(&again.stderr));
    assert_eq!(done(run(&["customers", "list", "--term", "EFUA", "-o", "id"])).trim(), "c-1");
}
