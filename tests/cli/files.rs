//! A daemon that may open few files: it serves fewer clients, and goes on writing whatever they do.

use crate::support::run::run;
use crate::support::served::{Home, Served};
use serde_json::Value;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::process::Command;

/// `mfa` under a limit of open files, soft and hard.
fn limited(home: &Home, files: u32, line: &str) -> Command {
    let plain = home.mfa(&[]);
    let mut command = Command::new("/bin/sh");
    let script = format!("ulimit -n {files}; exec {} {line}", env!("CARGO_BIN_EXE_mfa"));
    command.args(["-c", &script]).env_clear();
    command.envs(plain.get_envs().filter_map(|(name, value)| Some((name, value?))));
    command
}

/// What `mfa doctor` finds about files.
fn found(home: &Home, files: u32, url: &str) -> Value {
    let mut command = limited(home, files, "doctor -o json");
    command.env("MFA_URL", url);
    let findings: Value = serde_json::from_str(&run(command).out).unwrap();
    let found = findings.as_array().unwrap().iter().find(|finding| finding["check"] == "files");
    found.cloned().unwrap_or_default()
}

#[test]
fn silent_clients_beyond_the_open_files_do_not_end_the_writing() {
    let home = Home::new();
    let log = home.dir.path().join("log");
    let line = "daemon run --listen 127.0.0.1:0 --auth off";
    // PostgreSQL takes 80 of them.
    let (files, connections) = if home.store.is_some() { (168, 40) } else { (64, 16) };
    let command = limited(&home, files, line);
    let served = Served::start_logged(command, std::fs::File::create(&log).unwrap());
    let address = served.url.trim_start_matches("http://").to_owned();
    let create = |number: usize| {
        let id = format!("c-{number}");
        let mut command = home.mfa(&["customers", "create", &id, "--surname", "Addo", "--retries", "5"]);
        command.env("MFA_URL", &served.url);
        run(command).ok();
    };
    create(0);
    for round in 0..3 {
        // More than there are files; those who say nothing give way after a while.
        let silent: Vec<_> =
            (0..connections + 70).filter_map(|_| TcpStream::connect(&address).ok()).collect();
        assert!(silent.len() >= 20, "{} connections", silent.len());
        assert!(served.open_files() <= files as usize);
        drop(silent);
        create(1 + round);
    }
    let mut stream = TcpStream::connect(&address).unwrap();
    let head = "GET /ready HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    stream.write_all(head.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    let said = std::fs::read_to_string(&log).unwrap();
    assert!(said.contains(&format!("{connections} connections are served at once and not 4096")), "{said}");
    if home.store.is_none() {
        let finding = found(&home, 1024, &served.url);
        let what = "the daemon may open 64 files, so it serves 16 connections at once and not 4096";
        assert_eq!((&finding["result"], &finding["found"]), (&"warn".into(), &what.into()), "{finding}");
        assert!(finding["mend"].as_str().unwrap().contains("LimitNOFILE"), "{finding}");
    }
    assert_eq!(served.end(), Some(0));
}

#[test]
fn too_few_files_for_the_connections_to_postgresql_are_reported() {
    let home = Home::new();
    if home.store.is_none() {
        return;
    }
    let ran = run(limited(&home, 64, "daemon run --listen 127.0.0.1:0 --auth off"));
    assert_eq!(ran.exit, 2, "{}", ran.err);
    assert!(ran.err.contains("the system allows 64 open files, and 16 connections"), "{}", ran.err);
}

#[test]
fn doctor_shows_how_many_files_a_daemon_started_here_could_open() {
    let home = Home::new();
    if home.store.is_some() {
        return;
    }
    let nobody = format!("http://{}", crate::support::served::free_address());
    let finding = found(&home, 256, &nobody);
    let here = "a daemon that is started from this shell may open";
    let what = format!("{here} 256 files, so it serves 208 connections at once and not 4096");
    assert_eq!((&finding["result"], &finding["found"]), (&"warn".into(), &what.into()));
    let finding = found(&home, 8192, &nobody);
    let what = format!("{here} 8192 files, enough for 4096 connections at once");
    assert_eq!((&finding["result"], &finding["found"]), (&"ok".into(), &what.into()));
}

#[test]
fn doctor_does_not_take_the_limit_of_its_shell_for_another_daemons() {
    let home = Home { store: None, ..Home::new() };
    let data = home.dir.path().join("elsewhere");
    let line = format!("daemon run --listen 127.0.0.1:0 --auth off --data-dir {}", data.display());
    let served = Served::start(limited(&home, 64, &line));
    // It answers, but the store in the default folder is not its own.
    let finding = found(&home, 8192, &served.url);
    let what = "the limit of the daemon cannot be seen here; one that is started from this shell may open 8192 \
                files, enough for 4096 connections at once";
    assert_eq!((&finding["result"], &finding["found"]), (&"ok".into(), &what.into()));
    let mut command = limited(&home, 8192, &format!("doctor -o json --data-dir {}", data.display()));
    command.env("MFA_URL", &served.url);
    let findings: Value = serde_json::from_str(&run(command).out).unwrap();
    let own = findings.as_array().unwrap().iter().find(|finding| finding["check"] == "files").unwrap();
    assert!(own["found"].as_str().unwrap().starts_with("the daemon may open 64 files"), "{own}");
    assert_eq!(served.end(), Some(0));
}
