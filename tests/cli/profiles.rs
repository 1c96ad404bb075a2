//! Daemons by name, with settings and logins of their own.

use crate::support::guarded::PASSWORD;
use crate::support::run::{Ran, run};
use crate::support::world::World;
use serde_json::json;

/// Runs without the address of the world in the environment.
fn at(world: &World, arguments: &[&str]) -> Ran {
    let mut command = world.mfa(arguments);
    let file = world.dir.path().join("password");
    std::fs::write(&file, PASSWORD).unwrap();
    command.env_remove("MFA_URL").env("MFA_PASSWORD_FILE", file);
    run(command)
}

#[test]
fn each_profile_has_settings_and_logins_of_its_own() {
    let world = World::guarded();
    let url = world.url();
    at(&world, &["profile", "add", "bank", "--url", &url, "--set", "output=json"]).ok();
    at(&world, &["profile", "add", "boss", "--url", &format!("{url}/"), "--use"]).ok();
    at(&world, &["login", "olga", "--profile", "bank"]).ok();
    at(&world, &["login", "admin"]).ok();
    let who = |arguments: &[&str]| at(&world, &[&["whoami", "-o", "id"], arguments].concat()).ok();
    assert_eq!((who(&["--profile", "bank"]), who(&[])), ("olga\n".into(), "admin\n".into()));
    let listed = at(&world, &["profile", "list", "-o", "json"]).json();
    let expected = json!({
        "name": "bank", "url": url, "protected": false, "current": false, "caller": "olga",
        "settings": { "output": "json", "url": url }
    });
    assert_eq!((&listed[0], &listed[1]["current"]), (&expected, &json!(true)));
    assert_eq!(at(&world, &["profile", "show", "-o", "json"]).json()["name"], "boss");
    // The settings of the profile count, here its format of the output.
    let roles = at(&world, &["roles", "list", "--profile", "bank"]).json();
    assert_eq!(roles.as_array().unwrap().len(), 6);
    // A token is not used at any other address, nor without a profile.
    at(&world, &["profile", "use", "--none"]).ok();
    at(&world, &["whoami", "--url", &url]).fails(4);
    let other = World::guarded();
    at(&world, &["whoami", "--profile", "bank", "--url", &other.url()]).fails(4);
    at(&world, &["profile", "remove", "bank"]).ok();
    let sessions = at(&world, &["sessions", "list", "--local", "-o", "json"]).json();
    assert_eq!((sessions.as_array().unwrap().len(), &sessions[0]["profile"]), (1, &json!("boss")));
}

#[test]
fn a_profile_beats_config_files_and_profile_flags_the_environment() {
    let world = World::guarded();
    let home = world.dir.path();
    at(&world, &["profile", "add", "bank", "--url", "http://profile", "--set", "retries=7"]).ok();
    std::fs::write(home.join("config/mfa/config.toml"), "url = 'http://file'\nretries = 5\n").unwrap();
    let view = |environment: &[(&str, &str)], flags: &[&str]| {
        let mut command = world.mfa(&[&["config", "view", "--origin", "-o", "json"], flags].concat());
        command.env_remove("MFA_URL");
        for (name, value) in environment {
            command.env(name, value);
        }
        let settings = run(command).json();
        let of =
            |name: &str| settings.as_array().unwrap().iter().find(|s| s["name"] == name).unwrap().clone();
        let shown = |name: &str| format!("{} {}", of(name)["value"], of(name)["origin"]).replace('"', "");
        (shown("url"), shown("retries"))
    };
    let file = format!("file {}", home.join("config/mfa/config.toml").display());
    assert_eq!(view(&[], &[]), (format!("http://file {file}"), format!("5 {file}")));
    let profile = ("http://profile profile bank".to_owned(), "7 profile bank".to_owned());
    assert_eq!(view(&[("MFA_PROFILE", "bank")], &[]), profile);
    assert_eq!(view(&[("MFA_PROFILE", "other")], &["--profile", "bank"]), profile);
    let variable = view(&[("MFA_URL", "http://variable")], &["--profile", "bank"]);
    assert_eq!(variable, profile, "a profile of the command line beats the environment");
    let both = [("MFA_URL", "http://variable"), ("MFA_RETRIES", "3")];
    assert_eq!(view(&both, &["--profile", "bank"]), profile);
    let flags = view(&both, &["--profile", "bank", "--url", "http://flag"]);
    assert_eq!(flags, ("http://flag flag".to_owned(), "7 profile bank".to_owned()));
    let variables =
        ("http://variable environment MFA_URL".to_owned(), "3 environment MFA_RETRIES".to_owned());
    assert_eq!(view(&[both[0], both[1], ("MFA_PROFILE", "bank")], &[]), variables);
    at(&world, &["profile", "use", "bank"]).ok();
    assert_eq!(view(&[], &[]), profile);
    assert_eq!(view(&[("MFA_PROFILE", "")], &[]).1, format!("5 {file}"));
}

#[test]
fn what_a_protected_profile_destroys_must_be_named() {
    let world = World::guarded();
    let url = world.url();
    at(&world, &["profile", "add", "bank", "--url", &url, "--protected", "--use"]).ok();
    at(&world, &["login", "olga"]).ok();
    for id in ["one", "two"] {
        at(&world, &["users", "create", id, "--role", "clerk", "--generate-password"]).ok();
    }
    let delete = |flags: &[&str]| at(&world, &[&["users", "delete", "one", "-o", "json"], flags].concat());
    let error = delete(&["--yes"]).fails_in_json(2);
    assert!(error["message"].as_str().unwrap().contains("--confirm one is needed"), "{error}");
    delete(&["--yes", "--confirm", "two"]).fails_in_json(2);
    assert_eq!(at(&world, &["users", "list", "-o", "id"]).ok(), "admin\nolga\none\ntwo\n");
    delete(&["--confirm", "one"]).json();
    // Elsewhere a yes is enough, and a wrong name is refused all the same.
    at(&world, &["profile", "add", "bank", "--url", &url, "--replace"]).ok();
    at(&world, &["users", "delete", "two", "--yes", "--confirm", "one"]).fails(2);
    at(&world, &["users", "delete", "two", "--yes"]).ok();
    assert_eq!(at(&world, &["users", "list", "-o", "id"]).ok(), "admin\nolga\n");
}

#[test]
fn a_mistake_with_a_profile_is_reported_and_can_be_fixed() {
    let world = World::guarded();
    at(&world, &["profile", "add", "bank", "--url", "https://bank.example.org", "--use"]).ok();
    let said = at(&world, &["users", "list", "--profile", "bnk"]).fails(3);
    assert!(said.contains("no profile \"bnk\"") && said.contains("did you mean bank?"), "{said}");
    at(&world, &["profile", "list", "--profile", "bnk"]).ok();
    at(&world, &["profile", "show", "bnk"]).fails(3);
    at(&world, &["profile", "use", "bnk"]).fails(3);
    at(&world, &["profile", "remove", "bnk"]).fails(3);
    at(&world, &["profile", "add", "bank", "--url", "https://bank.example.org"]).fails(6);
    for bad in [
        &["a b", "--url", "https://x"][..],
        &["x"],
        &["x", "--url", "nonsense"],
        &["x", "--url", "ftp://x"],
        &["x", "--url", "https://x", "--set", "outptu=json"],
        &["x", "--url", "https://x", "--set", "token=mfaa_x"],
        &["x", "--url", "https://x", "--set", "yes=true"],
        &["x", "--url", "https://x", "--set", "output"],
        &["x", "--url", "https://x", "--set", "output="],
        &["x", "--url", "https://x", "--set", "output=jsn"],
        &["x", "--url", "https://x", "--set", "retries=many"],
        &["x", "--url", "https://x", "--set", "quiet=perhaps"],
        &["x", "--url", "https://x", "--set", "time_zone=Nowhere"],
        &["x", "--url", "https://x", "--set", "client_cert=x.pem"],
    ] {
        at(&world, &[&["profile", "add"], bad].concat()).fails(2);
    }
    assert_eq!(at(&world, &["profile", "list", "-o", "id"]).ok(), "bank\n");
    std::fs::write(world.dir.path().join("config/mfa/profiles.toml"), "default = [").unwrap();
    assert!(at(&world, &["users", "list"]).fails(2).contains("profiles.toml"));
}

#[test]
fn a_bad_value_leaves_the_commands_that_mend_it() {
    let world = World::start();
    let home = world.dir.path();
    std::fs::create_dir_all(home.join("config/mfa")).unwrap();
    let file = home.join("config/mfa/profiles.toml");
    for (value, said) in [
        ("output = 'jsn'", "\"jsn\" is not a value of output: it is one of "),
        ("time_zone = 'Nowhere'", "this machine knows no time zone \"Nowhere\""),
        ("client_key = 'x.pem'", "client_cert and client_key belong together"),
    ] {
        let text = format!("default = 'bank'\n[profiles.bank]\nurl = 'https://bank.example.org'\n{value}\n");
        std::fs::write(&file, text).unwrap();
        assert!(at(&world, &["users", "list"]).fails(2).contains(said));
        for line in [
            "help environment",
            "help customers list",
            "config view --origin",
            "config path",
            "config example",
            "profile list",
            "profile show bank",
            "profile add other --url https://other.example.org",
            "profile use other",
            "profile use bank",
            "profile use --none",
            "profile use bank",
            "profile remove bank",
        ] {
            let ran = at(&world, &line.split(' ').collect::<Vec<_>>());
            assert_eq!(ran.exit, 0, "{line}: {}", ran.err);
            assert!(!line.starts_with("config") || ran.err.contains(said), "{line}: {}", ran.err);
        }
        let listed = at(&world, &["profile", "list", "-o", "id"]);
        assert_eq!((listed.err.as_str(), listed.out.as_str()), ("", "other\n"));
    }
    std::fs::write(&file, "default = [").unwrap();
    assert!(at(&world, &["config", "view"]).err.contains("profiles.toml cannot be read"));
    let mut help = world.mfa(&["help", "environment"]);
    help.env("MFA_OUTPUT", "jsn");
    assert!(run(help).ok().contains("MFA_OUTPUT"));
}

#[test]
fn profiles_that_are_added_at_the_same_time_are_all_kept() {
    let world = World::start();
    let names: Vec<_> = (10..30).map(|number| format!("bank-{number}")).collect();
    let add = |name: &String| {
        let mut command = world.mfa(&["profile", "add", name, "--url", "https://bank.example.org"]);
        command.stdout(std::process::Stdio::null()).spawn().unwrap()
    };
    let adding: Vec<_> = names.iter().map(add).collect();
    for mut adding in adding {
        assert!(adding.wait().unwrap().success());
    }
    assert_eq!(at(&world, &["profile", "list", "-o", "id"]).ok(), names.join("\n") + "\n");
}

#[test]
fn a_hint_that_is_pasted_reaches_the_daemon_of_the_call() {
    let world = World::guarded();
    let url = world.url();
    at(&world, &["profile", "add", "bank", "--url", &url]).ok();
    let said = at(&world, &["users", "list", "--profile", "bank"]).fails(4);
    assert!(said.contains("mfa --profile bank login"), "{said}");
    at(&world, &["login", "olga", "--profile", "bank"]).ok();
    let said = at(&world, &["--profile=bank", "users", "get", "ogla"]).fails(3);
    assert!(said.contains("mfa --profile bank users list"), "{said}");
    let error = at(&world, &["users", "list", "--url", &url, "-o", "json"]).fails_in_json(4);
    assert!(error["hint"].as_str().unwrap().contains(&format!("mfa --url {url} login")), "{error}");
    // A variable is there for the next line, too.
    let mut command = world.mfa(&["users", "list"]);
    command.env("MFA_PROFILE", "bank").env("MFA_URL", "http://127.0.0.1:1").env("MFA_RETRIES", "0");
    let said = run(command).fails(10);
    assert!(said.contains("start it: mfa daemon start"), "{said}");
    // No command of this machine starts a daemon on another one.
    let mut command = world.mfa(&["users", "list", "--insecure"]);
    command.env("MFA_URL", "http://192.0.2.1:1").env("MFA_RETRIES", "0").env("MFA_TIMEOUT_SECONDS", "1");
    let said = run(command).fails(10);
    assert!(!said.contains("start it"), "{said}");
}
