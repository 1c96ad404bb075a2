//! `mfa explain`: every object, field and error code has its words.

use crate::support::run::{Ran, run};
use crate::support::world::mfa;
use serde_json::{Value, json};
use std::collections::BTreeSet;

fn explain(words: &[&str]) -> Ran {
    let home = tempfile::tempdir().unwrap();
    run(mfa(home.path(), &[&["explain"], words, &["-o", "json"]].concat()))
}

#[test]
fn every_object_of_the_interface_is_explained_field_by_field() {
    let objects = explain(&["objects"]).json();
    let names: Vec<_> = objects.as_array().unwrap().iter().map(|o| o["name"].as_str().unwrap()).collect();
    for name in ["Office", "Customer", "Teller", "Instance", "Charge", "JournalEntry", "Role"] {
        assert!(names.contains(&name), "{name} is missing: {names:?}");
    }
    for object in objects.as_array().unwrap() {
        assert!(!object["doc"].as_str().unwrap().is_empty(), "{object}");
        for field in explain(&[object["name"].as_str().unwrap()]).json().as_array().unwrap() {
            let reported = |name: &str| field[name].as_str().is_some_and(|text| !text.is_empty());
            assert!(reported("name") && reported("type") && reported("doc"), "{object}: {field}");
        }
    }
}

#[test]
fn a_path_leads_through_objects_and_lists_to_a_field() {
    assert_eq!(explain(&["customers"]).json(), explain(&["Customer"]).json());
    for (noun, object) in [
        ("products", "Definition"),
        ("product", "Definition"),
        ("account", "Instance"),
        ("sms", "SmsConfiguration"),
    ] {
        assert_eq!(explain(&[noun]).json(), explain(&[object]).json(), "{noun}");
    }
    explain(&["s"]).fails_in_json(3);
    let city = explain(&["customer.address.city"]).json();
    assert_eq!((&city[0]["name"], &city[0]["required"]), (&Value::from("city"), &Value::Bool(true)));
    let kind = explain(&["customer.contactDetails.type"]).json();
    assert!(kind[0]["type"].as_str().unwrap().contains("MOBILE"), "{kind}");
    let near = explain(&["customer.adress"]).fails_in_json(3);
    assert!(near["hint"].as_str().unwrap().contains("did you mean address?"), "{near}");
    let near = explain(&["error", "wrong_stat"]).fails_in_json(3);
    assert!(near["hint"].as_str().unwrap().contains("did you mean wrong_state?"), "{near}");
}

/// Every error code with what it means.
fn codes() -> Vec<Value> {
    explain(&["error"]).json().as_array().unwrap().clone()
}

#[test]
fn every_error_code_is_listed_once_and_explained_by_its_name() {
    let codes = codes();
    for kind in mfa_shared::fault::TABLE {
        assert!(
            codes.iter().any(|row| row["code"] == kind.code && row["status"] == kind.status),
            "{}",
            kind.code
        );
    }
    let names: BTreeSet<_> = codes.iter().map(|row| row["code"].as_str().unwrap()).collect();
    assert_eq!(names.len(), codes.len());
    for name in ["wrong_state", "daemon_unreachable", "taken_back"] {
        let row = codes.iter().find(|row| row["code"] == name).unwrap();
        assert_eq!(&explain(&["error", name]).json(), row);
    }
    // A failure of the command line itself has its row, with the exit code that it ends with.
    let home = tempfile::tempdir().unwrap();
    let failed =
        run(mfa(home.path(), &["status", "-o", "json", "--url", "http://127.0.0.1:1"])).fails_in_json(10);
    let row = codes.iter().find(|row| row["code"] == failed["code"]).unwrap();
    assert_eq!((&row["exit"], &row["status"]), (&failed["exit"], &Value::Null));
}

#[test]
fn every_next_step_that_a_fault_names_is_a_command() {
    let home = tempfile::tempdir().unwrap();
    let mut steps = 0;
    for fault in codes() {
        let (code, hint) = (fault["code"].as_str().unwrap(), fault["hint"].as_str().unwrap());
        assert!(!hint.is_empty() && fault["title"] != "", "{code}");
        for step in hint.split("mfa ").skip(1) {
            let step = step.split([',', ':', ';']).next().unwrap_or_default();
            let is_word = |word: &&str| word.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-');
            let words: Vec<_> = step.split(' ').take_while(is_word).collect();
            let flags: Vec<_> = step.split(' ').filter(|word| word.starts_with("--")).collect();
            let words: Vec<_> = words.into_iter().filter(|word| !word.starts_with("--")).collect();
            let help = run(mfa(home.path(), &[&words[..], &["--help"]].concat())).ok();
            assert!(flags.iter().all(|flag| help.contains(flag)), "{code}: {hint}");
            steps += 1;
        }
    }
    assert!(steps > 20, "{steps}");
}

#[test]
fn every_topic_is_listed_by_help_and_fits_the_terminal() {
    let home = tempfile::tempdir().unwrap();
    let help = run(mfa(home.path(), &["--help"])).ok();
    let (_, listed) = help.split_once("Help topics").expect("help lists topics");
    let topics: Vec<_> =
        listed.lines().filter_map(|line| line.strip_prefix("  ")?.split(' ').next()).collect();
    for topic in ["apply", "environment", "exit-codes", "import", "output", "postgres", "teller-day"] {
        assert!(topics.contains(&topic), "{topic}: {listed}");
    }
    for topic in topics {
        let mut narrow = mfa(home.path(), &["help", topic]);
        let narrow = run({
            narrow.env("COLUMNS", "80");
            narrow
        })
        .ok();
        let whole = run(mfa(home.path(), &["help", topic])).ok();
        if whole.contains('\t') {
            continue;
        }
        // Nothing is lost but line feeds and blanks. Only command lines and examples may be longer than 80
        // columns, also where no terminal says how many there are.
        let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(words(&narrow), words(&whole), "{topic}");
        for line in whole.lines().filter(|line| line.chars().count() > 80) {
            assert!(line.starts_with(' '), "{topic}: {line}");
        }
    }
}

#[test]
fn help_of_a_verb_without_its_noun_names_the_command_that_was_meant() {
    let home = tempfile::tempdir().unwrap();
    let said = run(mfa(home.path(), &["help", "deposit"])).fails(2);
    assert!(said.contains("did you mean mfa help teller deposit? see: mfa --help"), "{said}");
    let said = run(mfa(home.path(), &["help", "nonsense"])).fails(2);
    assert!(said.contains("hint: see: mfa --help"), "{said}");
}

#[test]
fn every_command_that_a_topic_shows_exists_with_its_flags() {
    let home = tempfile::tempdir().unwrap();
    let commands = run(mfa(home.path(), &["commands", "-o", "json"])).json();
    let words = |value: &Value| -> Vec<String> {
        value.as_array().unwrap().iter().map(|word| word.as_str().unwrap().to_owned()).collect()
    };
    for command in commands.as_array().unwrap() {
        let exits: Vec<_> =
            command["exitCodes"].as_array().unwrap().iter().map(|code| code.as_i64()).collect();
        assert!(exits.is_sorted_by(|one, next| one < next), "{command}");
        // Of a list that cannot be searched.
        let names: Vec<_> = command["flags"].as_array().unwrap().iter().map(|flag| &flag["name"]).collect();
        assert!(command["path"] != json!(["products", "history"]) || !names.contains(&&json!("--term")));
    }
    let mut shown = 0;
    for topic in ["import", "apply", "output", "paper", "backup", "tls", "postgres"] {
        let text = run(mfa(home.path(), &["help", topic])).ok();
        for line in text.lines().filter_map(|line| line.strip_prefix("  mfa ")) {
            // Two spaces precede the description.
            let typed: Vec<_> = line.split("  ").next().unwrap().split(' ').map(str::to_owned).collect();
            let named = |path: &[String]| typed.windows(path.len()).any(|part| part == path);
            let found = commands.as_array().unwrap().iter().filter(|command| named(&words(&command["path"])));
            let command = found.max_by_key(|command| words(&command["path"]).len());
            let command = command.unwrap_or_else(|| panic!("{topic}: there is no mfa {line}"));
            let flags = command["flags"].as_array().unwrap();
            for flag in typed.iter().filter(|word| word.starts_with('-')) {
                let known = flags
                    .iter()
                    .any(|known| known["name"] == **flag || known["short"] == flag.trim_start_matches('-'));
                assert!(known, "{topic}: {flag} of mfa {line}");
            }
            shown += 1;
        }
    }
    assert!(shown > 25, "{shown}");
}
