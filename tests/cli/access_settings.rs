//! The settings of access control, through the program: from `config.toml` and from variables alike.

use crate::support::assertion::Key;
use crate::support::guarded::PASSWORD;
use crate::support::run::{Ran, run};
use crate::support::served::{Home, Served};
use crate::support::world::World;
use mfa_shared::api::tokens::JWT_BEARER;
use serde_json::{Value, json};
use std::fs;
use std::time::{SystemTime, UNIX_EPOCH};

const KID: &str = "2031-05-06T10_11_12";

/// Where settings come from.
#[derive(Debug, Clone, Copy)]
enum Source {
    File,
    Variables,
}

/// Runs the daemon of a home with settings and does some work meanwhile.
fn with_daemon(home: &Home, source: Source, settings: &[(&str, &str)], work: impl FnOnce(&Served)) {
    let mut command = home.mfa(&["daemon", "run", "--listen", "127.0.0.1:0"]);
    match source {
        Source::File => {
            let lines: String = settings.iter().map(|(name, value)| format!("{name} = {value}\n")).collect();
            home.file("config/mfa/config.toml", &lines);
        }
        Source::Variables => {
            for (name, value) in settings {
                command.env(format!("MFA_{}", name.to_uppercase()), value.trim_matches('\''));
            }
        }
    }
    let daemon = Served::start(command);
    work(&daemon);
    assert_eq!(daemon.end(), Some(0));
}

fn ask(home: &Home, daemon: &Served, arguments: &[&str]) -> Ran {
    run(home.mfa(&[arguments, &["--url", &daemon.url, "-o", "json"]].concat()))
}

fn token(home: &Home, daemon: &Served, body: &Value) -> Ran {
    let body = home.file("body.json", &body.to_string());
    ask(home, daemon, &["api", "POST", "/token", "--input", &body])
}

fn by_password(home: &Home, daemon: &Served) -> Value {
    let body = json!({ "grant_type": "password", "username": "admin", "password": PASSWORD });
    token(home, daemon, &body).json()
}

/// What an assertion for this audience gets.
fn by_assertion(home: &Home, daemon: &Served, key: &Key, audience: &str) -> Ran {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    let claims = json!({ "iss": "crm-v1", "aud": audience, "exp": now.as_secs() + 120,
        "jti": now.as_nanos().to_string() });
    let body = json!({ "grant_type": JWT_BEARER, "assertion": key.sign(KID, &claims) });
    token(home, daemon, &body)
}

#[test]
fn access_control_settings_count_from_the_file_and_from_variables() {
    for source in [Source::File, Source::Variables] {
        let home = Home::new();
        let password = home.file("password", PASSWORD);
        run(home.mfa(&["init", "--admin", "admin", "--password-file", &password])).ok();
        let key = Key::new(&[1279, 2203]);
        let public = home.file("key.json", &key.public());
        let path = format!("/applications/crm-v1/signatures/{KID}");
        with_daemon(&home, source, &[("auth", "'off'")], |daemon| {
            assert_eq!(ask(&home, daemon, &["status"]).json()["auth"], "off", "{source:?}");
            ask(&home, daemon, &["api", "PUT", &path, "--input", &public]).ok();
        });
        let create = ["users", "create", "esi", "--role", "nowhere", "--password-file", &password];
        let settings = [
            ("access_token_seconds", "75"),
            ("token_audiences", "'bank-a,bank-b'"),
            ("strict_references", "true"),
            ("metrics_public", "true"),
            ("auth", "'on'"),
        ];
        with_daemon(&home, source, &settings, |daemon| {
            ask(&home, daemon, &["offices", "list"]).fails(4);
            ask(&home, daemon, &["metrics"]).ok();
            assert_eq!(by_password(&home, daemon)["expires_in"], 75, "{source:?}");
            ask(&home, daemon, &["login", "admin", "--password-file", &password]).ok();
            assert_eq!(by_assertion(&home, daemon, &key, "bank-b").json()["expires_in"], 75, "{source:?}");
            by_assertion(&home, daemon, &key, "bank-c").fails(4);
            let refused = ask(&home, daemon, &create).fails_in_json(7);
            assert_eq!(refused["code"], "unknown_reference", "{source:?}");
        });
        let settings = [("access_token_seconds", "86400"), ("refresh_token_seconds", "300")];
        with_daemon(&home, source, &settings, |daemon| {
            ask(&home, daemon, &["metrics"]).fails(4);
            assert_eq!(
                by_password(&home, daemon)["expires_in"],
                300,
                "{source:?}: a session's end is a token's"
            );
            by_assertion(&home, daemon, &key, "bank-b").fails(4);
            ask(&home, daemon, &["login", "admin", "--password-file", &password]).ok();
            ask(&home, daemon, &create).ok();
        });
    }
}

#[test]
fn a_bad_value_of_an_access_control_setting_is_named_before_a_start() {
    let home = Home::new();
    for (name, value) in [
        ("access_token_seconds", "59"),
        ("access_token_seconds", "86401"),
        ("access_token_seconds", "many"),
        ("refresh_token_seconds", "299"),
        ("refresh_token_seconds", "2592001"),
        ("refresh_token_seconds", "-1"),
        ("auth", "perhaps"),
        ("strict_references", "perhaps"),
        ("metrics_public", "perhaps"),
    ] {
        let file = home.file("config/mfa/config.toml", &format!("{name} = '{value}'\n"));
        let said = run(home.mfa(&["daemon", "run", "--listen", "127.0.0.1:0"])).fails(2);
        assert!(said.contains(name), "{said}");
        fs::remove_file(file).unwrap();
        let mut command = home.mfa(&["daemon", "run", "--listen", "127.0.0.1:0"]);
        command.env(format!("MFA_{}", name.to_uppercase()), value);
        let said = run(command).fails(2);
        assert!(said.contains(name), "{said}");
    }
}

#[test]
fn the_client_takes_token_and_password_from_its_settings() {
    let world = World::guarded();
    let olga = world.login("olga");
    let file = |name: &str, text: &str| {
        let path = world.dir.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let (token, password) = (file("token", &olga.token), file("password", PASSWORD));
    let who = |command| run(command).json()["user"].clone();
    for (name, value) in [("token", &olga.token), ("token_file", &token)] {
        let config = file("config/mfa/config.toml", &format!("{name} = '{value}'\n"));
        assert_eq!(who(world.mfa(&["whoami", "-o", "json"])), "olga", "{name} of the file");
        fs::remove_file(config).unwrap();
        let mut command = world.mfa(&["whoami", "-o", "json"]);
        command.env(format!("MFA_{}", name.to_uppercase()), value);
        assert_eq!(who(command), "olga", "{name} of the environment");
    }
    run(world.mfa(&["whoami"])).fails(4);
    let config = file("config/mfa/config.toml", &format!("password_file = '{password}'\n"));
    assert_eq!(who(world.mfa(&["login", "admin", "-o", "json"])), "admin");
    run(world.mfa(&["logout"])).ok();
    fs::remove_file(config).unwrap();
    let mut command = world.mfa(&["login", "admin", "-o", "json"]);
    command.env("MFA_PASSWORD_FILE", &password);
    assert_eq!(who(command), "admin");
}
