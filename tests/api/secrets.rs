//! `gateways.md` section 4: secrets at rest, and the file of their keys.

use crate::support::servers::{MailServer, closed_port};
use crate::support::stored::{at_rest, forms, holds, open, postgres};
use crate::support::world::World;
use mfa_daemon::store::records::{StoredEmail, StoredSms};
use mfa_daemon::{Auth, Clock, Config, Daemon, StartError, rotate_key};
use serde_json::json;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;
use tokio::runtime::Runtime;

const PASSWORD: &str = "tulip-49 over the hill";
const TOKEN: &str = "rose-17 under the bridge";

fn configure(world: &World, port: u16) {
    let email = json!({ "identifier": "main", "host": "127.0.0.1", "port": port, "username": "bank@example.org",
        "app_password": PASSWORD, "smtp_auth": true });
    world.post("/configuration/email", email.to_string()).is(201);
    let sms =
        json!({ "identifier": "main", "auth_token": TOKEN, "account_sid": "AC1", "sender_number": "Bank" });
    let create = world.request("POST", "/configuration/sms").header("idempotency-key", "k1");
    world.send(create.body(sms.to_string())).is(201);
}

#[test]
fn no_byte_of_the_store_shows_a_secret() {
    let server = MailServer::start("plain", "another word", None, &[]);
    let mut world = World::start();
    configure(&world, server.port);
    world.get("/configuration/email/main").is(200);
    world.get("/configuration/sms/main").is(200);
    let send = world.request("POST", "/configuration/email/main/test").header("idempotency-key", "k2");
    world.send(send.body(r#"{"to":"a@b"}"#)).refused(502, "gateway_failed");
    let change = world.request("PUT", "/configuration/email").header("idempotency-key", "k3");
    let body = json!({ "identifier": "main", "app_password": PASSWORD, "port": server.port });
    world.send(change.body(body.to_string())).is(202);
    world.restart();
    assert_eq!(world.get("/configuration/email/main").json()["app_password"], PASSWORD);
    let files = world.block_on(at_rest(world.config()));
    assert!(files.iter().any(|(_, bytes)| holds(bytes, b"bank@example.org")), "the scan finds what is there");
    for (name, bytes) in &files {
        for form in [forms(PASSWORD), forms(TOKEN)].concat() {
            assert!(!holds(bytes, &form), "{name} shows {}", String::from_utf8_lossy(&form));
        }
    }
    let key = fs::read_to_string(world.dir.path().join("data.key")).unwrap();
    let digits = key.lines().last().unwrap().split(' ').next_back().unwrap().to_owned();
    assert_eq!(digits.len(), 64);
    assert!(files.iter().all(|(_, bytes)| !holds(bytes, digits.as_bytes())), "the key is outside the store");
}

#[test]
fn lists_failures_and_refusals_never_show_a_secret() {
    let world = World::start();
    configure(&world, closed_port());
    let with_bad_field =
        json!({ "identifier": "x", "app_password": PASSWORD, "auth_token": TOKEN, "port": "x" });
    let too_long = json!({ "identifier": "main", "auth_token": format!("{TOKEN}\n") });
    for seen in [
        world.get("/configuration/email"),
        world.get("/configuration/sms"),
        world.post("/configuration/email", with_bad_field.to_string()),
        world.put("/configuration/sms", with_bad_field.to_string()),
        world.put("/configuration/sms", too_long.to_string()),
        world.post("/configuration/email/main/test", r#"{"to":"a@b"}"#),
        world.post("/configuration/email", format!(r#"{{"app_password":"{PASSWORD}""#)),
    ] {
        let shown = format!("{} {:?}", seen.text(), seen.headers);
        assert!(!shown.contains(PASSWORD) && !shown.contains(TOKEN), "{shown}");
    }
}

/// A store with one secret, stopped; its settings.
struct Stopped {
    runtime: Runtime,
    config: Config,
    _dir: tempfile::TempDir,
}

impl Stopped {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let mut config = Config::new(dir.path().join("data"));
        config.listen = "127.0.0.1:0".parse().unwrap();
        config.auth = Auth::Off;
        config.store = postgres().into();
        let stopped = Self { runtime: Runtime::new().unwrap(), config, _dir: dir };
        let email = json!({ "identifier": "main", "host": "h", "port": "25", "app_password": PASSWORD });
        assert_eq!(stopped.ask("POST", "/configuration/email", &email.to_string()).0, 201);
        stopped
    }

    /// Starts the daemon, sends one request, and stops it.
    fn ask(&self, method: &str, path: &str, body: &str) -> (u16, String) {
        let _ = rustls::crypto::ring::default_provider().install_default();
        self.runtime.block_on(async {
            let daemon = Daemon::start(self.config.clone(), Clock::system()).await.unwrap();
            let http = reqwest::Client::builder().no_proxy().build().unwrap();
            let url = format!("http://{}{path}", daemon.address());
            let request = http.request(method.parse().unwrap(), url).body(body.to_owned());
            let answer = request.send().await.unwrap();
            let seen = (answer.status().as_u16(), answer.text().await.unwrap());
            daemon.stop().await;
            seen
        })
    }

    fn password(&self) -> String {
        let (status, body) = self.ask("GET", "/configuration/email/main", "");
        assert_eq!(status, 200, "{body}");
        let read: serde_json::Value = serde_json::from_str(&body).unwrap();
        read["app_password"].as_str().unwrap().to_owned()
    }

    /// Why the daemon does not start.
    fn refused(&self) -> String {
        let started = self.runtime.block_on(Daemon::start(self.config.clone(), Clock::system()));
        match started {
            Ok(_) => panic!("the daemon started"),
            Err(StartError::Settings(why)) => why,
            Err(error) => panic!("another failure: {error}"),
        }
    }

    fn key(&self) -> &Path {
        &self.config.secret_key_file
    }
}

#[test]
fn the_first_start_makes_a_key_file_that_only_its_owner_can_read() {
    let stopped = Stopped::new();
    assert_eq!(fs::metadata(stopped.key()).unwrap().mode() & 0o7777, 0o600);
    assert!(!stopped.key().starts_with(&stopped.config.data_dir));
    assert_eq!(stopped.password(), PASSWORD);
}

#[test]
fn a_key_file_that_is_missing_open_to_others_or_no_key_file_is_refused() {
    let stopped = Stopped::new();
    let good = fs::read(stopped.key()).unwrap();
    let name = stopped.key().display().to_string();
    fs::set_permissions(stopped.key(), fs::Permissions::from_mode(0o644)).unwrap();
    let why = stopped.refused();
    assert!(why.contains(&format!("chmod 600 {name}")) && why.contains("0644"), "{why}");
    fs::remove_file(stopped.key()).unwrap();
    let why = stopped.refused();
    assert!(why.contains(&format!("key file {name} is missing")), "{why}");
    assert!(!stopped.key().exists(), "no other key takes the place of the one that is gone");
    fs::write(stopped.key(), "not a key\n").unwrap();
    fs::set_permissions(stopped.key(), fs::Permissions::from_mode(0o600)).unwrap();
    let why = stopped.refused();
    assert!(why.contains(&format!("{name} is not a key file: see line 1")), "{why}");
    fs::write(stopped.key(), good).unwrap();
    assert_eq!(stopped.password(), PASSWORD);
}

#[test]
fn the_key_of_another_store_is_refused() {
    let (stopped, other) = (Stopped::new(), Stopped::new());
    fs::copy(other.key(), stopped.key()).unwrap();
    let why = stopped.refused();
    assert!(why.contains("are encrypted with key ") && why.contains("holds other keys"), "{why}");
    let mut inside = Stopped::new();
    inside.config.secret_key_file = inside.config.data_dir.join("keys");
    assert!(inside.refused().contains("would be inside the store"));
}

#[test]
fn a_new_key_encrypts_every_secret_and_an_interrupted_change_finishes() {
    let stopped = Stopped::new();
    let names = || {
        let text = fs::read_to_string(stopped.key()).unwrap();
        let keys = text.lines().filter(|line| line.starts_with("mfa-key-1 "));
        keys.map(|line| line.split(' ').nth(1).unwrap().to_owned()).collect::<Vec<_>>()
    };
    let [first] = names().try_into().unwrap();
    let rotated = stopped.runtime.block_on(rotate_key(&stopped.config)).unwrap();
    assert_eq!(names(), [rotated.key_name.clone(), first]);
    assert_eq!(stopped.password(), PASSWORD);
    // Without the older key everything still opens, so nothing is encrypted with it any more.
    let text = fs::read_to_string(stopped.key()).unwrap();
    let only_new: Vec<_> = text.lines().take(text.lines().count() - 1).collect();
    fs::write(stopped.key(), only_new.join("\n")).unwrap();
    assert_eq!(stopped.password(), PASSWORD);
    // What an interruption leaves behind: the new key is in the file, and nothing is encrypted with it.
    mfa_daemon::store::key_file::add(stopped.key()).unwrap();
    assert_eq!(stopped.password(), PASSWORD);
    let newest = names()[0].clone();
    let text = fs::read_to_string(stopped.key()).unwrap();
    let lines: Vec<_> = text.lines().filter(|line| line.starts_with('#') || line.contains(&newest)).collect();
    fs::write(stopped.key(), lines.join("\n")).unwrap();
    assert_eq!(stopped.password(), PASSWORD);
}

#[test]
fn a_key_is_not_changed_while_the_daemon_runs() {
    let stopped = Stopped::new();
    let before = fs::read(stopped.key()).unwrap();
    let refused = stopped.runtime.block_on(async {
        let daemon = Daemon::start(stopped.config.clone(), Clock::system()).await.unwrap();
        let refused = rotate_key(&stopped.config).await;
        daemon.stop().await;
        refused
    });
    assert!(matches!(refused, Err(StartError::Locked(_))), "{refused:?}");
    assert_eq!(fs::read(stopped.key()).unwrap(), before);
}

#[test]
fn a_ciphertext_that_was_moved_is_refused_and_not_used() {
    let stopped = Stopped::new();
    let other = json!({ "identifier": "other", "host": "127.0.0.1", "port": "25", "app_password": "x",
        "username": "bank@example.org" });
    stopped.ask("POST", "/configuration/email", &other.to_string());
    stopped.runtime.block_on(async {
        let store = open(&stopped.config, Clock::system());
        let work = |tx: &mut mfa_daemon::store::Tx<'_>| {
            assert!(tx.get::<StoredSms>(&["main"])?.is_none());
            let main: StoredEmail = tx.get(&["main"])?.unwrap();
            let mut other: StoredEmail = tx.get(&["other"])?.unwrap();
            other.app_password = main.app_password;
            tx.put(&other)
        };
        store.write("tamper", work).await.unwrap();
        store.close().await;
    });
    let (status, body) = stopped.ask("GET", "/configuration/email/other", "");
    assert_eq!(status, 500, "{body}");
    assert!(body.contains("was changed or is of another key") && !body.contains(PASSWORD), "{body}");
    let test = || stopped.ask("POST", "/configuration/email/other/test", r#"{"to":"a@b"}"#).0;
    assert_eq!(test(), 500);
    // One that sends nothing needs no secret.
    let state = |state: &str| {
        let change = json!({ "identifier": "other", "state": state });
        assert_eq!(stopped.ask("PUT", "/configuration/email", &change.to_string()).0, 202);
    };
    state("DEACTIVATED");
    assert_eq!(test(), 409);
    state("ACTIVE");
    assert_eq!(stopped.ask("GET", "/configuration/email", "").0, 200);
    assert_eq!(stopped.password(), PASSWORD);
    let again = json!({ "identifier": "other", "app_password": "new" });
    assert_eq!(stopped.ask("PUT", "/configuration/email", &again.to_string()).0, 202);
    assert_eq!(stopped.ask("GET", "/configuration/email/other", "").0, 200);
}
