//! The log of the daemon: one line for each request. `audit.md` section 5.

use crate::support::run::run;
use crate::support::served::{Home, Served, free_address};
use serde_json::{Value, json};
use std::fs::{self, File};
use std::process::Command;

const PASSWORD: &str = "blue kettle 7";
const TRACE: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
const ID: &str = "x-request-id: ";

/// A daemon of two users with its log.
struct Logged {
    home: Home,
    daemon: Option<Served>,
}

impl Logged {
    fn start(settings: &[(&str, &str)]) -> Self {
        let home = Home::new();
        let password = home.file("password", PASSWORD);
        run(home.mfa(&["init", "--admin", "admin", "--password-file", &password])).ok();
        let mut command: Command = home.mfa(&["daemon", "run", "--listen", "127.0.0.1:0"]);
        command.envs(settings.iter().copied());
        Self::serving(home, command)
    }

    fn serving(home: Home, command: Command) -> Self {
        let log = File::create(home.dir.path().join("log")).unwrap();
        let daemon = Some(Served::start_logged(command, log));
        Self { home, daemon }
    }

    /// Sends a request; its status and body.
    fn send(&self, method: &str, path: &str, headers: &[&str], body: &Value) -> (u16, Value) {
        use std::io::{Read, Write};
        let address = self.daemon.as_ref().unwrap().url.trim_start_matches("http://").to_owned();
        let mut socket = std::net::TcpStream::connect(address).unwrap();
        let body = if body.is_null() { String::new() } else { body.to_string() };
        let headers: String = headers.iter().map(|header| format!("{header}\r\n")).collect();
        let length = body.len();
        let head = format!("{method} {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n{headers}");
        write!(socket, "{head}Content-Type: application/json\r\nContent-Length: {length}\r\n\r\n{body}")
            .unwrap();
        let mut answer = String::new();
        socket.read_to_string(&mut answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        (status, serde_json::from_str(body).unwrap_or_default())
    }

    fn login(&self, name: &str, password: &str, id: &str) -> (u16, Value) {
        let body = json!({ "grant_type": "password", "username": name, "password": password });
        self.send("POST", "/token", &[&format!("{ID}{id}")], &body)
    }

    /// The log of the daemon, which ends.
    fn end(mut self) -> String {
        assert_eq!(self.daemon.take().unwrap().end(), Some(0));
        fs::read_to_string(self.home.dir.path().join("log")).unwrap()
    }
}

/// The only line of a request.
#[track_caller]
fn line<'l>(log: &'l str, id: &str) -> &'l str {
    let lines: Vec<_> = log.lines().filter(|line| line.contains(id)).collect();
    assert_eq!(lines.len(), 1, "{id}: {log}");
    lines[0]
}

#[test]
fn each_request_has_one_line_with_who_did_what_and_nothing_of_the_body() {
    let daemon = Logged::start(&[("MFA_LOG_FORMAT", "json")]);
    let (status, token) = daemon.login("admin", PASSWORD, "id-login");
    assert_eq!(status, 200);
    let bearer = format!("Authorization: Bearer {}", token["access_token"].as_str().unwrap());
    let office = json!({ "identifier": "secret-place", "name": "Secret Place" });
    let headers = [bearer.as_str(), "x-request-id: id-create", &format!("traceparent: {TRACE}")];
    assert_eq!(daemon.send("POST", "/offices", &headers, &office).0, 403);
    let get = |path: &str, headers: &[&str]| daemon.send("GET", path, headers, &Value::Null);
    let (status, token) = get("/token/_current", &[&bearer, "x-request-id: id-list"]);
    assert_eq!((status, token["user"].clone()), (200, json!("admin")));
    assert_eq!(get("/offices/secret-place", &["x-request-id: id-stranger", "traceparent: Secret"]).0, 401);
    assert_eq!(get("/secret-path?q=Secret", &[&bearer, "x-request-id: id-nowhere"]).0, 404);
    let patched =
        daemon.send("PATCH", "/offices/secret-place", &[&bearer, "x-request-id: id-patch"], &office);
    assert_eq!(patched.0, 405);
    assert_eq!(daemon.login("Secret name", "Secret word", "id-unknown").0, 401);
    let log = daemon.end();
    let shown = |id: &str| {
        let line: Value = serde_json::from_str(line(&log, id)).unwrap();
        assert!(line["timestamp"].is_string() && line["durationMicros"].as_u64() > Some(0), "{line}");
        assert_eq!(line["requestId"], id);
        let word = |name: &str| line[name].as_str().unwrap_or("-").to_owned();
        let numbers = format!("{} {}", line["status"], line["bytes"].as_u64().unwrap() > 0);
        [word("operation"), numbers, word("actor"), word("code"), word("traceparent"), word("level")]
            .join(" ")
    };
    assert_eq!(shown("id-login"), "CreateToken 200 true admin - - INFO");
    assert_eq!(shown("id-create"), format!("CreateOffice 403 true admin forbidden {TRACE} WARN"));
    assert_eq!(shown("id-list"), "GetCurrentToken 200 true admin - - INFO");
    assert_eq!(shown("id-stranger"), "GetOffice 401 true guest unauthenticated - WARN");
    assert_eq!(shown("id-nowhere"), "unknown 404 true admin route_not_found - INFO");
    assert_eq!(shown("id-patch"), "/offices/{office} 405 true admin method_not_allowed - INFO");
    assert_eq!(shown("id-unknown"), "CreateToken 401 true unknown login_failed - WARN");
    assert!(!log.to_lowercase().contains("secret") && !log.contains(PASSWORD), "{log}");
}

#[test]
fn refused_logins_and_locks_are_in_the_log_also_where_it_is_short() {
    let daemon = Logged::start(&[("MFA_LOG", "warn")]);
    for number in 1..=5 {
        assert_eq!(daemon.login("admin", "wrong one", &format!("id-{number}")).0, 401);
    }
    assert_eq!(daemon.login("admin", PASSWORD, "id-6").0, 429);
    assert_eq!(daemon.send("GET", "/live", &["x-request-id: id-7"], &Value::Null).0, 200);
    let log = daemon.end();
    for number in 1..=5 {
        let line = line(&log, &format!("id-{number}"));
        for part in ["WARN", "operation=\"CreateToken\"", "status=401", "actor=\"admin\"", "login_failed"] {
            assert!(line.contains(part), "{part}: {line}");
        }
        assert_eq!(line.contains("lockedSeconds=60"), number == 5, "{line}");
    }
    assert!(line(&log, "id-6").contains("code=\"too_many_attempts\""), "{log}");
    assert!(!log.contains("id-7") && !log.contains("wrong one"), "{log}");
}

#[test]
fn a_form_that_does_not_exist_is_refused() {
    let home = Home::new();
    let mut command = home.mfa(&["daemon", "run", "--listen", "127.0.0.1:0"]);
    command.env("MFA_LOG_FORMAT", "xml");
    let ran = run(command);
    assert_eq!(ran.exit, 2);
    assert!(ran.err.contains("log_format") && ran.err.contains("text or json"), "{}", ran.err);
}

/// Holds the only line of a request to its parts.
#[track_caller]
fn has(log: &str, id: &str, parts: &[&str]) {
    let line = line(log, id);
    assert!(parts.iter().all(|part| line.contains(part)), "{parts:?}: {line}");
}

#[test]
fn the_lock_of_a_login_or_an_address_and_the_end_of_one_are_in_the_log() {
    let daemon = Logged::start(&[]);
    let token = daemon.login("admin", PASSWORD, "id-login").1;
    let bearer = format!("Authorization: Bearer {}", token["access_token"].as_str().unwrap());
    let kojo = json!({ "identifier": "kojo", "role": "pharaoh", "password": "first kettle" });
    assert_eq!(daemon.send("POST", "/users", &[&bearer], &kojo).0, 202);
    for number in 1..=30 {
        // Five of one user, and then one of each name, which could be a password.
        let name = if number > 25 { "kojo".to_owned() } else { format!("secret{number}") };
        assert_eq!(daemon.login(&name, "wrong one", &format!("id-{number}.")).0, 401);
    }
    assert_eq!(daemon.login("kojo", PASSWORD, "id-31.").0, 429);
    let put = [&bearer, "x-request-id: id-put"];
    assert_eq!(
        daemon.send("PUT", "/users/kojo/password", &put, &json!({ "password": "new kettle 9" })).0,
        202
    );
    let log = daemon.end();
    for number in 1..30 {
        assert!(!line(&log, &format!("id-{number}.")).contains("lockedSeconds"), "{number}: {log}");
    }
    has(&log, "id-30.", &["WARN", "login_failed", "lockedSeconds=60", "actor=\"kojo\""]);
    has(&log, "id-31.", &["WARN", "status=429", "too_many_attempts"]);
    has(&log, "id-put", &["SetUserPassword", "status=202", "about=\"user kojo\"", "actor=\"admin\""]);
    assert!(!log.contains("secret") && !log.contains("kettle"), "{log}");
}

#[test]
fn an_address_that_is_locked_without_a_lock_of_a_name_is_in_the_log() {
    let daemon = Logged::start(&[]);
    let assertion = json!({
        "grant_type": "urn:ietf:params:oauth:grant-type:jwt-bearer", "assertion": "a.b.c"
    });
    for number in 1..=29 {
        assert_eq!(daemon.login(&format!("name{number}"), "wrong one", &format!("id-{number}.")).0, 401);
    }
    assert_eq!(daemon.send("POST", "/token", &["x-request-id: id-30."], &assertion).0, 401);
    let log = daemon.end();
    assert!(!line(&log, "id-29.").contains("lockedSeconds"), "{log}");
    has(&log, "id-30.", &["WARN", "assertion_invalid", "lockedSeconds=60"]);
}

#[test]
fn drawers_that_are_locked_and_unlocked_are_in_the_log() {
    let (home, address) = (Home { store: None, ..Home::new() }, free_address());
    run(home.mfa(&["quickstart", "--auth", "off", "--listen", &address])).ok();
    run(home.mfa(&["daemon", "stop", "--listen", &address])).ok();
    let command = home.mfa(&["daemon", "run", "--auth", "off", "--listen", &address]);
    let daemon = Logged::serving(home, command);
    let unlock = |password: &str, id: &str| {
        let body = json!({ "employeeIdentifier": "kwame", "password": password });
        daemon.send("POST", "/teller/desk-2/drawer", &[&format!("{ID}{id}")], &body).0
    };
    assert_eq!(unlock("4711", "id-open"), 200);
    for number in 1..=5 {
        assert_eq!(unlock("0815", &format!("id-{number}.")), 403);
    }
    assert_eq!(unlock("4711", "id-6."), 429);
    let log = daemon.end();
    has(&log, "id-open", &["INFO", "UnlockDrawer", "status=200", "about=\"teller desk-2\""]);
    has(&log, "id-1.", &["WARN", "wrong_drawer_password", "about=\"teller desk-2\""]);
    assert!(!line(&log, "id-4.").contains("lockedSeconds"), "{log}");
    has(&log, "id-5.", &["WARN", "wrong_drawer_password", "lockedSeconds=60", "about=\"teller desk-2\""]);
    has(&log, "id-6.", &["WARN", "status=429", "about=\"teller desk-2\""]);
    assert!(!log.contains("0815"), "{log}");
}

#[test]
fn a_proxy_that_is_not_trusted_is_warned_of_once() {
    let forwarded = ["x-forwarded-for: 203.0.113.5"];
    for (settings, warnings) in [(&[][..], 1), (&[("MFA_TRUSTED_PROXIES", "127.0.0.1")], 0)] {
        let daemon = Logged::start(settings);
        assert_eq!(daemon.send("GET", "/live", &[], &Value::Null).0, 200);
        for _ in 0..3 {
            assert_eq!(daemon.send("GET", "/live", &forwarded, &Value::Null).0, 200);
        }
        let log = daemon.end();
        let lines: Vec<_> = log.lines().filter(|line| line.contains("trusted_proxies")).collect();
        assert_eq!(lines.len(), warnings, "{log}");
        assert!(lines.iter().all(|line| line.contains("WARN") && line.contains("127.0.0.1 names")), "{log}");
    }
}
