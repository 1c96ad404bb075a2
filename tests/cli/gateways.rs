//! `mfa gateways`: secrets come in by standard input or a file, and go out only when asked for by name.

use crate::support::guarded::may;
use crate::support::run::{run, run_with as with_input};
use crate::support::servers::Step::Until;
use crate::support::servers::{MailServer, SmsService, closed_port, scripted};
use crate::support::stored::{files, holds};
use crate::support::world::{World, mfa};
use serde_json::Value;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Stdio};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::SeqCst;

const PASSWORD: &str = "tulip-49 over the hill";
const TOKEN: &str = "rose-17 under the bridge";

const CREATE: [&str; 14] = [
    "gateways",
    "email",
    "create",
    "main",
    "--host",
    "127.0.0.1",
    "--port",
    "25",
    "--username",
    "bank@example.org",
    "--smtp-auth",
    "--password-stdin",
    "-o",
    "json",
];

#[test]
fn a_gateway_that_may_not_be_read_back_was_changed_all_the_same() {
    let world = World::guarded();
    let kofi = world.user_with("kofi", &[may("notification__v1__configuration", "C")]);
    for line in [
        ["gateways", "email", "create", "main", "--host", "mail.example.org", "--port", "25"].as_slice(),
        &["gateways", "email", "update", "main", "--state", "deactivated"],
    ] {
        let mut command = world.mfa(line);
        command.env("MFA_TOKEN", &kofi.token);
        let ran = run(command);
        assert_eq!(ran.exit, 0, "{}", ran.err);
        assert!(ran.err.contains("it cannot be read back"), "{}", ran.err);
    }
    let ama = world.user_with("ama", &[may("notification__v1__configuration", "R")]);
    assert_eq!(ama.get("/configuration/email").is(200).json()[0]["state"], "DEACTIVATED");
}

#[test]
fn a_file_of_a_gateway_may_call_the_host_as_requests_do() {
    let world = World::start();
    run(world.mfa(&["gateways", "email", "create", "main", "--host", "a.example", "--port", "25"])).ok();
    let file = world.dir.path().join("gateway.yaml");
    let update = |kind: &str, text: &str| {
        fs::write(&file, text).unwrap();
        run(world.mfa(&["gateways", kind, "update", "main", "--from", file.to_str().unwrap()]))
    };
    for (name, host) in [("the service", "b.example"), ("service", "c.example"), ("host", "d.example")] {
        update("email", &format!("{name}: {host}\n")).ok();
        assert_eq!(world.get("/configuration/email/main").json()["host"], host);
    }
    // It is no name of the other kind, whose update must not change an e-mail gateway.
    for name in ["the service", "service", "host"] {
        let said = update("sms", &format!("{name}: e.example\n")).fails(2);
        assert!(said.contains(&format!("there is no field /{name}")), "{said}");
    }
}

#[test]
fn a_password_comes_by_standard_input_and_is_shown_only_when_asked_for() {
    let world = World::start();
    let created = with_input(world.mfa(&CREATE), &format!("{PASSWORD}\n")).json();
    assert_eq!((&created["state"], &created["app_password"]), (&Value::from("ACTIVE"), &Value::Null));
    let get = |flags: &[&str]| {
        let arguments = [&["gateways", "email", "get", "main", "-o", "json"], flags].concat();
        run(world.mfa(&arguments)).json()["app_password"].clone()
    };
    assert_eq!((get(&[]), get(&["--show-secrets"])), ("***".into(), PASSWORD.into()));
    let file = world.dir.path().join("word");
    fs::write(&file, "another\n").unwrap();
    let file = file.to_str().unwrap();
    run(world.mfa(&["gateway", "email", "update", "main", "--password-file", file, "--port", "26"])).ok();
    assert_eq!(get(&["--show-secrets"]), "another");
    run(world.mfa(&["gateways", "email", "update", "main", "--no-password", "--smtp-auth", "false"])).ok();
    assert_eq!(get(&[]), Value::Null);
    let listed = run(world.mfa(&["gateways", "email", "list", "-o", "json"])).json();
    assert_eq!((&listed[0]["identifier"], &listed[0]["port"]), (&"main".into(), &"26".into()));
    run(world.mfa(&["gateways", "email", "update", "main"])).fails(2);
    run(world.mfa(&["gateways", "email", "delete", "main"])).fails(2);
    run(world.mfa(&["gateways", "email", "delete", "main", "--yes", "-o", "id"])).ok();
    run(world.mfa(&["gateways", "email", "get", "main"])).fails(3);
}

#[test]
fn a_missing_secret_is_asked_for_and_named_where_no_one_can_answer() {
    let world = World::start();
    let mut create = CREATE.to_vec();
    create.retain(|word| *word != "--password-stdin");
    assert!(
        run(world.mfa(&create)).fails_in_json(2)["message"].as_str().unwrap().contains("--password-stdin")
    );
    let sms = ["gateways", "sms", "create", "main", "--account-sid", "AC1", "--sender-number", "Bank"];
    assert!(run(world.mfa(&sms)).fails(2).contains("--password-stdin"));
    // The password of a login is no secret of a gateway.
    let file = world.dir.path().join("login");
    fs::write(&file, "login word\n").unwrap();
    let mut with_login = world.mfa(&sms);
    with_login.env("MFA_PASSWORD_FILE", &file);
    run(with_login).fails(2);
}

#[test]
fn a_test_message_is_sent_once_and_its_outcome_shown() {
    let service = SmsService::start("HTTP/1.1 500 No\nContent-Length: 4\n\nbusy", None);
    let endpoint = format!("http://127.0.0.1:{}/{{account_sid}}", service.port);
    let world = World::with(|config| config.sms_endpoint = Some(endpoint));
    let sms = [
        "gateways",
        "sms",
        "create",
        "main",
        "--account-sid",
        "AC1",
        "--sender-number",
        "Bank",
        "--password-stdin",
    ];
    with_input(world.mfa(&sms), TOKEN).ok();
    let test = ["gateways", "sms", "test", "main", "--to", "+233 20 123 4567", "-o", "json"];
    let error = run(world.mfa(&test)).fails_in_json(1);
    assert_eq!((&error["code"], &error["status"]), (&"gateway_failed".into(), &502.into()));
    assert!(error["message"].as_str().unwrap().contains("\"500 busy\""), "{error}");
    assert_eq!((&error["stage"], &error["gatewayCode"]), (&"send".into(), &500.into()));
    assert_eq!(service.asked().len(), 1, "a failed message is not sent again by itself");
    let mut server = MailServer::start("plain", PASSWORD, None, &[]);
    with_input(world.mfa(&CREATE), PASSWORD).ok();
    let port = server.port.to_string();
    run(world.mfa(&["gateways", "email", "update", "main", "--port", &port])).ok();
    let test = ["gateways", "email", "test", "main", "--to", "efua@example.org", "-o", "json"];
    let outcome = run(world.mfa(&test)).json();
    assert_eq!(outcome["gatewayAnswer"], "250 2.0.0 Ok: queued as 4F2A");
    assert_eq!(server.mail()["to"][0], "efua@example.org");
    let bad = ["gateways", "email", "test", "main", "--to", "nobody"];
    run(world.mfa(&bad)).fails(7);
}

/// A daemon of its own process that logs everything.
struct Logged {
    process: Child,
    url: String,
}

impl Logged {
    fn start(home: &Path, log: &Path) -> Self {
        let mut command = mfa(home, &["daemon", "run", "-o", "id"]);
        command.env("MFA_LISTEN", "127.0.0.1:0").env("MFA_AUTH", "off").env("MFA_LOG", "trace");
        command.env("MFA_SMS_ENDPOINT", format!("http://127.0.0.1:{}/{{account_sid}}", closed_port()));
        let log = fs::File::create(log).unwrap();
        let mut process = command.stdout(Stdio::piped()).stderr(log).spawn().unwrap();
        let mut url = String::new();
        BufReader::new(process.stdout.take().unwrap()).read_line(&mut url).unwrap();
        Self { process, url: url.trim().to_owned() }
    }
}

impl Drop for Logged {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

#[test]
fn no_log_no_process_and_no_file_shows_a_secret_while_it_is_in_use() {
    let home = tempfile::tempdir().unwrap();
    let log = home.path().join("log");
    let daemon = Logged::start(home.path(), &log);
    let mfa = |arguments: &[&str]| {
        let mut command = mfa(home.path(), arguments);
        command.env("MFA_URL", &daemon.url).env("MFA_DEBUG", "http");
        command
    };
    let said = with_input(mfa(&CREATE), PASSWORD);
    assert!(said.exit == 0 && !holds(said.err.as_bytes(), PASSWORD.as_bytes()), "{}", said.err);
    let sms = [
        "gateways",
        "sms",
        "create",
        "main",
        "--account-sid",
        "AC1",
        "--sender-number",
        "Bank",
        "--password-stdin",
    ];
    with_input(mfa(&sms), TOKEN).ok();
    run(mfa(&["gateways", "sms", "test", "main", "--to", "+2332012345"])).fails(1);
    let go_on = Arc::new(AtomicBool::new(false));
    let port = scripted(&[Until(go_on.clone())]).to_string();
    run(mfa(&["gateways", "email", "update", "main", "--port", &port])).ok();
    let mut test = mfa(&["gateways", "email", "test", "main", "--to", "efua@example.org"]);
    let test = test.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let reading = mfa(&["gateways", "email", "get", "main", "--show-secrets", "-o", "json"]);
    assert_eq!(run(reading).json()["app_password"], PASSWORD);
    let mut looked_at = 0;
    for process in fs::read_dir("/proc").unwrap().map(|entry| entry.unwrap().path()) {
        for part in ["cmdline", "environ", "comm"] {
            // Processes come and go, and those of others may be closed.
            let Ok(bytes) = fs::read(process.join(part)) else { continue };
            looked_at += 1;
            for word in [PASSWORD, TOKEN] {
                assert!(!holds(&bytes, word.as_bytes()), "{} {part}", process.display());
            }
        }
    }
    assert!(looked_at > 3, "the processes were looked at");
    go_on.store(true, SeqCst);
    assert_eq!(test.wait_with_output().unwrap().status.code(), Some(1));
    drop(daemon);
    let files = files(home.path());
    assert!(
        files
            .iter()
            .any(|(name, bytes)| *name == log.display().to_string() && holds(bytes, b"gateway_failed"))
    );
    for (name, bytes) in files {
        for word in [PASSWORD, TOKEN] {
            assert!(!holds(&bytes, word.as_bytes()), "{name} shows {word}");
        }
    }
}
