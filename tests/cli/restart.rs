//! `mfa daemon restart`, which settings and which store it takes, and which process is that of the daemon.

use crate::support::run::{Ran, run};
use crate::support::served::free_address;
use crate::support::world::mfa;
use serde_json::Value;
use std::fs;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};

/// Where the daemon of an address is remembered.
fn mark_file(home: &Path, address: &str) -> PathBuf {
    let port = address.rsplit(':').next().unwrap();
    home.join(format!("state/mfa/daemon-{port}.json"))
}

fn mark(home: &Path, address: &str) -> Value {
    serde_json::from_str(&fs::read_to_string(mark_file(home, address)).unwrap()).unwrap()
}

/// Remembers a daemon in place of another one.
fn remember(home: &Path, address: &str, mark: &Value) {
    fs::create_dir_all(home.join("state/mfa")).unwrap();
    fs::write(mark_file(home, address), mark.to_string()).unwrap();
}

/// A verb of `mfa daemon` at an address.
fn daemon(home: &Path, address: &str, words: &[&str]) -> Ran {
    run(mfa(home, &[&["daemon"], words, &["--url", &format!("http://{address}"), "-o", "json"]].concat()))
}

fn configure(home: &Path, text: &str) {
    fs::create_dir_all(home.join("config/mfa")).unwrap();
    fs::write(home.join("config/mfa/config.toml"), text).unwrap();
}

#[test]
fn a_restart_follows_a_setting_that_has_changed() {
    let home = tempfile::tempdir().unwrap();
    let home = home.path();
    let address = free_address();
    configure(home, "auth = 'off'\n");
    assert_eq!(daemon(home, &address, &["start"]).json()["auth"], "off");
    configure(home, "auth = 'on'\n");
    assert_eq!(daemon(home, &address, &["restart"]).json()["auth"], "on");
    let status = run(mfa(home, &["status", "--url", &format!("http://{address}"), "-o", "json"])).json();
    assert_eq!(status["auth"], "on");
    // What was a flag is repeated, whatever the setting is.
    assert_eq!(daemon(home, &address, &["restart", "--auth", "off"]).json()["auth"], "off");
    assert_eq!(daemon(home, &address, &["restart"]).json()["auth"], "off");
    daemon(home, &address, &["stop"]).ok();
}

#[test]
fn a_restart_refuses_another_folder_and_leaves_the_daemon() {
    let home = tempfile::tempdir().unwrap();
    let home = home.path();
    let address = free_address();
    let [first, second] = ["first", "sec ond"].map(|name| home.join(name).display().to_string());
    configure(home, &format!("auth = 'off'\ndata_dir = '{first}'\n"));
    let pid = daemon(home, &address, &["start"]).json()["pid"].clone();
    configure(home, &format!("auth = 'off'\ndata_dir = '{second}'\n"));
    let said = daemon(home, &address, &["restart"]).fails_in_json(6);
    let (message, hint) = (said["message"].as_str().unwrap(), said["hint"].as_str().unwrap());
    assert!(message.contains(&first) && message.contains(&second), "{message}");
    assert!(
        hint.contains(&format!("--data-dir {first}")) && hint.contains("daemon stop, then mfa"),
        "{hint}"
    );
    let named = daemon(home, &address, &["restart", "--data-dir", &second]);
    assert_eq!(named.fails_in_json(6)["code"], "serves_another_store");
    assert_eq!(daemon(home, &address, &["status"]).json()["pid"], pid);
    assert!(!Path::new(&second).exists());
    // As the hint says; from then on it is a flag, which is repeated.
    daemon(home, &address, &["restart", "--data-dir", &first]).ok();
    assert_eq!(daemon(home, &address, &["restart"]).json()["dataDir"], first);
    // A database that has been set meanwhile is another store, too.
    let url = format!("http://{address}");
    let mut restart = mfa(home, &["daemon", "restart", "--url", &url]);
    restart.env("MFA_STORE", "postgres://ann:secret@127.0.0.1:1/bank");
    let said = run(restart).fails(6);
    assert!(said.contains("postgres://ann@127.0.0.1:1/bank") && !said.contains("secret"), "{said}");
    assert!(said.contains(&format!("--store '' --data-dir {first}")), "{said}");
    daemon(home, &address, &["stop"]).ok();
}

#[test]
fn a_restart_without_the_variable_of_the_database_makes_no_new_store() {
    let home = tempfile::tempdir().unwrap();
    let home = home.path();
    let address = free_address();
    daemon(home, &address, &["start", "--auth", "off"]).ok();
    // As it is remembered of one that was started with the variable MFA_STORE.
    let mut known = mark(home, &address);
    known["store"] = "postgres://ann@db1/bank".into();
    known["data_dir_flag"] = Value::Null;
    remember(home, &address, &known);
    let said = daemon(home, &address, &["restart"]).fails_in_json(6);
    let folder = home.join("share/mfa/store").display().to_string();
    let message = said["message"].as_str().unwrap();
    assert!(message.contains("postgres://ann@db1/bank") && message.contains(&folder), "{message}");
    assert!(said["hint"].as_str().unwrap().contains("MFA_STORE"), "{said}");
    assert_eq!(daemon(home, &address, &["status"]).json()["pid"], known["pid"]);
    daemon(home, &address, &["stop"]).ok();
}

/// A program that is no daemon and has the word among its arguments. It ends with the value.
struct Other(Child);

impl Other {
    fn start() -> Self {
        let mut shell = Command::new("/bin/sh");
        Self(shell.args(["-c", "sleep 600; true", "daemon"]).process_group(0).spawn().unwrap())
    }

    fn runs(&mut self) -> bool {
        self.0.try_wait().unwrap().is_none()
    }
}

impl Drop for Other {
    fn drop(&mut self) {
        let group = format!("-{}", self.0.id());
        let _ = Command::new("kill").args(["-KILL", "--", &group]).status();
        let _ = self.0.wait();
    }
}

#[test]
fn a_stop_leaves_a_program_that_has_the_number_of_the_daemon() {
    let home = tempfile::tempdir().unwrap();
    let home = home.path();
    let (address, second) = (free_address(), free_address());
    daemon(home, &address, &["start", "--auth", "off"]).ok();
    let known = mark(home, &address);
    daemon(home, &address, &["stop"]).ok();
    let mut other = Other::start();
    let mut reused = known.clone();
    reused["pid"] = other.0.id().into();
    // An earlier program remembered nothing but the number.
    let mut early = reused.clone();
    early.as_object_mut().unwrap().remove("begun");
    for mark in [&reused, &early] {
        remember(home, &address, mark);
        assert_eq!(daemon(home, &address, &["stop"]).json()["result"], "was not running");
        assert!(other.runs(), "{mark}");
    }
    // Another daemon has the number.
    let folder = home.join("other").display().to_string();
    let other = daemon(home, &second, &["start", "--auth", "off", "--data-dir", &folder]).json();
    reused["pid"] = other["pid"].clone();
    remember(home, &address, &reused);
    assert_eq!(daemon(home, &address, &["stop"]).json()["result"], "was not running");
    assert_eq!(daemon(home, &second, &["status"]).json()["pid"], other["pid"]);
    // A daemon of an earlier program is still found.
    let mut early = mark(home, &second);
    early.as_object_mut().unwrap().remove("begun");
    remember(home, &second, &early);
    assert_eq!(daemon(home, &second, &["stop"]).json()["result"], "stopped");
}

#[test]
fn a_start_that_fails_shows_only_its_own_lines_of_the_log() {
    let home = tempfile::tempdir().unwrap();
    let home = home.path();
    let address = free_address();
    let port = address.rsplit(':').next().unwrap();
    let log = home.join(format!("state/mfa/daemon-{port}.log"));
    fs::create_dir_all(log.parent().unwrap()).unwrap();
    fs::write(&log, "an earlier line\n".repeat(3)).unwrap();
    let file = log.display().to_string();
    let said = daemon(home, &address, &["start", "--auth", "off", "--data-dir", &file]);
    assert!(said.exit != 0 && said.err.contains("the daemon did not start"), "{}", said.err);
    assert!(said.err.contains("error: ") && !said.err.contains("an earlier line"), "{}", said.err);
    assert!(fs::read_to_string(&log).unwrap().starts_with("an earlier line"));
}
