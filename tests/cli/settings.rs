//! Where values come from, and which of them wins.

use crate::support::run::run;
use crate::support::world::mfa;
use serde_json::Value;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

fn origin(home: &Path, environment: &[(&str, &str)], flags: &[&str]) -> (String, String) {
    let mut command = mfa(home, &[&["config", "view", "--origin", "-o", "json"], flags].concat());
    command.env("MFA_SYSTEM_CONFIG", home.join("system.toml"));
    for (name, value) in environment {
        command.env(name, value);
    }
    let settings = run(command).json();
    let url = settings.as_array().unwrap().iter().find(|setting| setting["name"] == "url").unwrap().clone();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    (text(&url["value"]), text(&url["origin"]))
}

#[test]
fn flag_beats_variable_beats_user_file_beats_system_file_beats_default() {
    let home = tempfile::tempdir().unwrap();
    let home = home.path();
    let user = home.join("config/mfa/config.toml");
    assert_eq!(origin(home, &[], &[]), ("http://127.0.0.1:6320".into(), "default".into()));
    fs::write(home.join("system.toml"), "url = 'http://system'\n").unwrap();
    let system = format!("file {}", home.join("system.toml").display());
    assert_eq!(origin(home, &[], &[]), ("http://system".into(), system));
    fs::create_dir_all(user.parent().unwrap()).unwrap();
    fs::write(&user, "url = 'http://user'\n").unwrap();
    assert_eq!(origin(home, &[], &[]), ("http://user".into(), format!("file {}", user.display())));
    let variable = [("MFA_URL", "http://variable")];
    assert_eq!(origin(home, &variable, &[]), ("http://variable".into(), "environment MFA_URL".into()));
    let flag = ["--url", "http://flag"];
    assert_eq!(origin(home, &variable, &flag), ("http://flag".into(), "flag".into()));
}

#[test]
fn a_mistake_in_a_file_is_reported_with_its_place() {
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join("c.toml");
    let ran = |text: &str, line: &[&str]| {
        fs::write(&file, text).unwrap();
        let mut command = mfa(home.path(), line);
        command.env("MFA_CONFIG", &file);
        run(command)
    };
    let (list, view) = (["offices", "list"], ["config", "view", "--origin"]);
    let said = ran("\nurl = \n", &list).fails(2);
    assert!(said.contains("c.toml line 2"), "{said}");
    assert_eq!(ran("retries = 'many'\n", &list).exit, 2);
    // What shows the settings works nevertheless.
    for (text, warning) in [
        ("\nurl = \n", "c.toml line 2"),
        ("outptu = 'json'\n", "unknown setting outptu; did you mean output?"),
        ("retries = 'many'\n", "\"many\" is not a value of retries"),
    ] {
        let warned = ran(text, &view);
        assert!(warned.err.contains(warning), "{}", warned.err);
        assert!(warned.ok().contains("MFA_RETRIES"));
    }
}

#[test]
fn a_variable_that_is_not_utf_8_is_refused_and_named() {
    let home = tempfile::tempdir().unwrap();
    let with = |variable: &str, words: &[&str]| {
        let mut command = mfa(home.path(), words);
        command.env(variable, OsStr::from_bytes(b"/x/caf\xe9"));
        run(command)
    };
    for variable in ["MFA_DATA_DIR", "MFA_PROFILE", "MFA_TOKEN", "MFA_OUTPUT"] {
        for words in [["daemon", "run", "--listen", "nowhere"], ["offices", "list", "--retries", "0"]] {
            let said = with(variable, &words).fails(2);
            assert!(said.contains(&format!("the variable {variable} is not UTF-8")), "{said}");
        }
        // What shows the settings works nevertheless.
        let warned = with(variable, &["config", "view", "--origin"]);
        assert!(warned.exit == 0 && warned.err.contains(variable), "{}", warned.err);
    }
    assert!(!home.path().join("share/mfa/store").exists());
    let doctor = with("MFA_DATA_DIR", &["doctor", "-o", "json"]);
    let findings: Value = serde_json::from_str(&doctor.out).unwrap();
    let config = findings.as_array().unwrap().iter().find(|finding| finding["check"] == "config").unwrap();
    assert_eq!(config["result"], "fail", "{config}");
}

#[test]
fn an_address_with_a_query_is_refused_before_a_request_goes_elsewhere() {
    let home = tempfile::tempdir().unwrap();
    for url in ["http://127.0.0.1:1/?tenant=1", "http://127.0.0.1:1/#top"] {
        let said = run(mfa(home.path(), &["offices", "list", "--url", url])).fails(2);
        assert!(said.contains(&format!("\"{url}\" is not the address of a daemon")), "{said}");
    }
}

#[test]
fn the_example_names_every_setting_and_uncommented_changes_nothing() {
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join("c.toml");
    let view = |text: &str| {
        fs::write(&file, text).unwrap();
        let mut command = mfa(home.path(), &["config", "view", "--origin", "-o", "json"]);
        command.env("MFA_CONFIG", &file);
        run(command)
    };
    let example = run(mfa(home.path(), &["config", "example"])).ok();
    let untouched = view(&example).json();
    let is_setting = |line: &&str| line.split_once(" = ").is_some_and(|(name, _)| !name.contains([' ', '#']));
    let lines: Vec<_> = example.lines().filter_map(|l| l.strip_prefix("# ")).filter(is_setting).collect();
    let all = view(&(lines.join("\n") + "\n"));
    assert_eq!(all.err, "");
    let all = all.json();
    for (setting, default) in all.as_array().unwrap().iter().zip(untouched.as_array().unwrap()) {
        assert_eq!(setting["value"], default["value"], "{setting}");
        // A flag of this test sets the format.
        let expected = match setting["name"].as_str().unwrap() {
            "profile" => "default".to_owned(),
            "output" => "flag".to_owned(),
            _ => format!("file {}", file.display()),
        };
        assert_eq!(setting["origin"], expected, "{setting}");
    }
}

#[test]
fn the_doctor_finds_a_variable_that_names_no_config_file() {
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join("typo.toml");
    let with = |words: &[&str]| {
        let mut command = mfa(home.path(), words);
        command.env("MFA_CONFIG", &file);
        run(command)
    };
    let what = format!("there is no file {}, which MFA_CONFIG names", file.display());
    let findings: Value = serde_json::from_str(&with(&["doctor", "-o", "json"]).out).unwrap();
    let config = findings.as_array().unwrap().iter().find(|finding| finding["check"] == "config").unwrap();
    assert_eq!((&config["result"], &config["found"]), (&"warn".into(), &what.into()));
}
