//! The daemon in the background: what a restart repeats, and what is known of one that does not serve yet.

use crate::support::run::run;
use crate::support::served::{free_address, free_port};
use crate::support::world::mfa;
use rustix::process::{Pid, Signal, kill_process};
use std::fs;
use std::io::{ErrorKind, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

/// The number of the daemon in the background of a port, as this program remembers it.
fn remembered(home: &Path, address: &str) -> Option<u32> {
    let port = address.rsplit(':').next().unwrap();
    let text = fs::read_to_string(home.join(format!("state/mfa/daemon-{port}.json"))).ok()?;
    let mark: serde_json::Value = serde_json::from_str(&text).unwrap();
    Some(u32::try_from(mark["pid"].as_u64().unwrap()).unwrap())
}

fn signal(pid: u32, signal: Signal) {
    kill_process(Pid::from_raw(i32::try_from(pid).unwrap()).unwrap(), signal).unwrap();
}

#[test]
fn a_restart_repeats_every_flag_of_the_start() {
    let home = tempfile::tempdir().unwrap();
    let home = home.path();
    let port = free_port();
    let everywhere = format!("0.0.0.0:{port}");
    let line = || {
        let pid = remembered(home, &everywhere).unwrap();
        fs::read_to_string(format!("/proc/{pid}/cmdline")).unwrap()
    };
    let flags = ["--plaintext", "--strict-references", "--auth", "on"];
    run(mfa(home, &[&["daemon", "start", "--listen", &everywhere][..], &flags].concat())).ok();
    let started = line();
    assert!(started.contains("--strict-references\0true") && started.contains(&everywhere), "{started}");
    // The address that commands speak to is enough.
    let url = format!("http://127.0.0.1:{port}");
    run(mfa(home, &["daemon", "restart", "--url", &url])).ok();
    assert_eq!(line(), started);
    // A flag of the restart goes before that of the start.
    run(mfa(home, &["daemon", "restart", "--strict-references", "false", "--url", &url])).ok();
    assert_eq!(line(), started.replace("--strict-references\0true", "--strict-references\0false"));
    run(mfa(home, &["daemon", "stop", "--url", &url])).ok();
}

#[test]
fn a_daemon_whose_start_was_interrupted_can_be_stopped() {
    let home = tempfile::tempdir().unwrap();
    let home = home.path();
    let address = free_address();
    // A database that takes a connection and says nothing: the daemon waits for it.
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let store = format!("postgres://ann@{}/bank?sslmode=disable", silent.local_addr().unwrap());
    let mut start = mfa(home, &["daemon", "start", "--auth", "off", "--listen", &address]);
    start.env("MFA_STORE", &store);
    let mut start = start.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let _connection = silent.accept().unwrap();
    let pid = remembered(home, &address).expect("it is remembered before it serves");
    signal(start.id(), Signal::INT);
    assert_eq!(start.wait().unwrap().code(), Some(130));
    // It is held, so that it is still there when the signal to stop comes.
    signal(pid, Signal::STOP);
    let mut stop = mfa(home, &["daemon", "stop", "--listen", &address, "-o", "json"]);
    let mut stop = stop.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let terminated = 1_u64 << (15 - 1);
    loop {
        let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
        let waiting = status.lines().find_map(|line| line.strip_prefix("ShdPnd:")).unwrap().trim();
        if u64::from_str_radix(waiting, 16).unwrap() & terminated != 0 {
            break;
        }
        assert!(stop.try_wait().unwrap().is_none(), "it was not told to stop");
        std::thread::sleep(Duration::from_millis(5));
    }
    signal(pid, Signal::KILL);
    let stopped = stop.wait_with_output().unwrap();
    assert!(String::from_utf8_lossy(&stopped.stdout).contains("\"stopped\""), "{stopped:?}");
    assert_eq!(remembered(home, &address), None);
}

#[test]
fn the_status_of_a_daemon_that_is_held_says_so_soon_and_what_to_do() {
    let home = tempfile::tempdir().unwrap();
    let home = home.path();
    let address = free_address();
    let daemon = |line: &[&str]| mfa(home, &[line, &["--listen", &address, "-q"]].concat());
    assert!(daemon(&["daemon", "start", "--auth", "off"]).status().unwrap().success());
    let pid = remembered(home, &address).unwrap();
    signal(pid, Signal::STOP);
    let url = format!("http://{address}");
    let begun = Instant::now();
    let said = mfa(home, &["daemon", "status", "--url", &url]).output().unwrap();
    let took = begun.elapsed();
    signal(pid, Signal::CONT);
    let text = String::from_utf8_lossy(&said.stderr).into_owned();
    assert!(said.status.code() == Some(10) && text.contains(&format!("kill -CONT {pid}")), "{text}");
    assert!(took < Duration::from_secs(20), "{took:?}");
    assert!(mfa(home, &["daemon", "status", "--url", &url]).output().unwrap().status.success());
    assert!(daemon(&["daemon", "stop"]).status().unwrap().success());
}

#[test]
fn of_several_starts_at_once_one_starts_and_the_daemon_can_be_stopped() {
    let home = tempfile::tempdir().unwrap();
    let home = home.path();
    let address = free_address();
    let daemon = |verb| mfa(home, &["daemon", verb, "--listen", &address, "-o", "json"]);
    let start = || {
        let mut command = mfa(home, &["daemon", "start", "--auth", "off", "--listen", &address]);
        command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap()
    };
    let both = [start(), start(), start()].map(|start| start.wait_with_output().unwrap());
    let pid = remembered(home, &address);
    let stopped = run(daemon("stop"));
    for start in both {
        assert!(start.status.success(), "{}", String::from_utf8_lossy(&start.stderr));
    }
    assert!(pid.is_some());
    assert!(stopped.ok().contains("\"stopped\""));
}

#[test]
fn a_start_waits_for_another_one_and_then_begins_its_own() {
    let home = tempfile::tempdir().unwrap();
    let home = home.path();
    let address = free_address();
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let store = format!("postgres://ann@{}/bank?sslmode=disable", silent.local_addr().unwrap());
    let start = || {
        let mut command = mfa(home, &["daemon", "start", "--auth", "off", "--listen", &address]);
        command.env("MFA_STORE", &store).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
    };
    let mut first = start();
    let _connection = silent.accept().unwrap();
    let pid = remembered(home, &address).unwrap();
    let mut second = start();
    silent.set_nonblocking(true).unwrap();
    std::thread::sleep(Duration::from_millis(500));
    let come = silent.accept().map(drop).map_err(|error| error.kind());
    assert_eq!(come, Err(ErrorKind::WouldBlock), "the second one does not come as far as the database");
    silent.set_nonblocking(false).unwrap();
    assert_eq!(remembered(home, &address), Some(pid));
    signal(pid, Signal::KILL);
    assert!(!first.wait().unwrap().success());
    let _connection = silent.accept().unwrap();
    let own = remembered(home, &address).expect("the second one is remembered");
    assert_ne!(own, pid);
    signal(own, Signal::KILL);
    assert!(!second.wait().unwrap().success());
    assert_eq!(remembered(home, &address), None);
}

#[test]
fn a_daemon_that_does_not_start_is_not_remembered() {
    let home = tempfile::tempdir().unwrap();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let start = ["daemon", "start", "--auth", "off", "--timeout-seconds", "1", "--listen", &address];
    run(mfa(home.path(), &start)).fails(1);
    assert_eq!(remembered(home.path(), &address), None);
}

/// Asks for something that is not there, which leaves a line with this identifier in the log.
fn ask(address: &str, id: usize) {
    let mut stream = TcpStream::connect(address).unwrap();
    let head = format!("GET /nothing HTTP/1.1\r\nHost: localhost\r\nX-Request-Id: asked-{id}.\r\n");
    stream.write_all(format!("{head}Connection: close\r\n\r\n").as_bytes()).unwrap();
    stream.read_to_end(&mut Vec::new()).unwrap();
}

/// Waits until something is so.
#[track_caller]
fn until(what: &str, is_so: impl Fn() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < Duration::from_secs(20), "{what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_long_log_is_put_aside_and_no_line_is_lost() {
    const LONG: u64 = 64 * 1024 * 1024;
    let home = tempfile::tempdir().unwrap();
    let home = home.path();
    let address = free_address();
    let daemon = |line: &[&str]| run(mfa(home, &[line, &["--listen", &address]].concat())).ok();
    daemon(&["daemon", "start", "--auth", "off"]);
    let port = address.rsplit(':').next().unwrap();
    let log = home.join(format!("state/mfa/daemon-{port}.log"));
    let former = home.join(format!("state/mfa/daemon-{port}.log.1"));
    (0..20).for_each(|id| ask(&address, id));
    until("the first lines are not there", || fs::read_to_string(&log).unwrap().contains("asked-19."));
    // It becomes long at once, by a hole.
    let file = fs::File::options().append(true).open(&log).unwrap();
    let before = file.metadata().unwrap().len() as usize;
    file.set_len(LONG).unwrap();
    (20..60).for_each(|id| ask(&address, id));
    until("the last line is not in the new log", || {
        fs::read_to_string(&log).is_ok_and(|text| text.len() < before * 10 && text.contains("asked-59."))
    });
    let aside = fs::read(&former).unwrap();
    let parts = [&aside[..before], &aside[LONG as usize..], &fs::read(&log).unwrap()].concat();
    let text = String::from_utf8(parts).unwrap();
    for id in 0..60 {
        assert_eq!(text.matches(&format!("asked-{id}.")).count(), 1, "{id}: {text}");
    }
    assert!(!daemon(&["daemon", "logs", "--lines", "1"]).contains("asked-58."));
    // What is not in the new file is looked for in the former.
    fs::write(&former, "of before\n").unwrap();
    let shown = daemon(&["daemon", "logs", "--lines", "1000"]);
    assert!(shown.starts_with("of before\n") && shown.contains("asked-59."), "{shown}");
    daemon(&["daemon", "stop"]);
}

#[test]
fn who_follows_a_log_goes_on_in_the_file_that_takes_its_place() {
    let home = tempfile::tempdir().unwrap();
    let home = home.path();
    let address = free_address();
    let folder = home.join("state/mfa");
    fs::create_dir_all(&folder).unwrap();
    let port = address.rsplit(':').next().unwrap();
    let log = folder.join(format!("daemon-{port}.log"));
    fs::write(&log, "first\nsecond\n").unwrap();
    let heard = home.join("heard");
    let mut follow = mfa(home, &["daemon", "logs", "--follow", "--lines", "1", "--listen", &address]);
    let mut follow = follow.stdout(fs::File::create(&heard).unwrap()).spawn().unwrap();
    let hears = |text: &str| {
        until(text, || fs::read_to_string(&heard).unwrap() == text);
    };
    hears("second\n");
    let mut file = fs::File::options().append(true).open(&log).unwrap();
    writeln!(file, "third").unwrap();
    fs::rename(&log, folder.join("aside")).unwrap();
    fs::write(&log, "fourth\n").unwrap();
    hears("second\nthird\nfourth\n");
    fs::write(&log, "5\n").unwrap();
    hears("second\nthird\nfourth\n5\n");
    follow.kill().unwrap();
    follow.wait().unwrap();
}
