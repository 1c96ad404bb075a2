//! What every command keeps to, proved by walking the whole tree.

use crate::support::run::run;
use crate::support::sample::{log_in, sample};
use crate::support::stored::in_folder;
use crate::support::template::Template;
use crate::support::world::{World, mfa};
use mfa_shared::api::rows;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

pub fn commands() -> Vec<Value> {
    let home = tempfile::tempdir().unwrap();
    run(mfa(home.path(), &["commands", "-o", "json"])).json().as_array().unwrap().clone()
}

pub fn words(command: &Value) -> Vec<&str> {
    command["path"].as_array().unwrap().iter().map(|word| word.as_str().unwrap()).collect()
}

fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
}

#[test]
fn every_command_has_two_examples_first_in_its_help_and_a_sentence() {
    let home = tempfile::tempdir().unwrap();
    for command in commands() {
        let examples = command["examples"].as_array().unwrap();
        assert!(
            examples.len() >= 2,
            "give it two examples, which tests run on the sample institution: {command}"
        );
        let mut line = words(&command);
        let own = format!("mfa {}", line.join(" "));
        // A noun may be typed in the singular, too.
        let singular = own.replacen("s ", " ", 1);
        for example in examples {
            let example = example.as_str().unwrap();
            assert!(example.contains(&own) || example.contains(&singular), "{example}");
        }
        line.push("--help");
        let help = run(mfa(home.path(), &line)).ok();
        let mut lines = help.lines();
        assert_eq!(lines.next(), command["about"].as_str(), "{help}");
        assert_eq!((lines.next(), lines.next()), (Some(""), Some("Examples:")), "{help}");
        assert!(help.find("Examples:") < help.find("Usage:"), "{help}");
    }
}

#[test]
fn what_a_program_reads_of_a_command_is_true() {
    let commands = commands();
    let named = |name: &str| commands.iter().find(|c| c["command"] == format!("mfa {name}")).unwrap();
    for (name, permission) in [
        ("offices create", json!("CHANGE office-v1/offices")),
        ("teller list", json!("READ teller-v1/offices/{office}/teller")),
        ("users delete", json!("DELETE identity-v1/users/{user}")),
        ("login", json!(null)),
        ("status", json!(null)),
    ] {
        assert_eq!(named(name)["permission"], permission, "{name}");
    }
    let value = |flag: &str| {
        let flags = named("offices create")["flags"].as_array().unwrap();
        flags.iter().find(|own| own["name"] == flag).unwrap()["value"].clone()
    };
    let flags = ["--name", "--output", "--yes", "--dry-run", "--help"].map(value);
    assert_eq!(flags, [json!("TEXT"), json!("FORMAT"), json!(null), json!(null), json!(null)]);
}

#[test]
fn every_endpoint_has_a_verb() {
    let commands = commands();
    let sent: BTreeSet<_> = commands.iter().filter_map(|c| c["endpoint"].as_str()).collect();
    let without: Vec<_> = rows().filter(|row| !sent.contains(row.name)).map(|row| row.name).collect();
    assert!(
        without.is_empty(),
        "no verb sends {without:?}: name each in the record of its noun in cli/src/nouns, or give it a verb \
         there"
    );
}

/// Endpoints with a verb for each word of their commands, one whose image is saved or drawn, the audit trail,
/// which is the history of each noun, and webhooks, which are also paused and resumed.
const SEVERAL_WORDS: &[&str] = &[
    "CommandCustomer",
    "CommandDefinition",
    "CommandInstance",
    "CommandTeller",
    "CreateTransaction",
    "FinishTransaction",
    "GetPortrait",
    "ListAudit",
    "UpdateSubscription",
];

#[test]
fn one_endpoint_has_several_verbs_only_where_the_domain_has_several_words() {
    let mut seen = BTreeSet::new();
    for command in commands() {
        let Some(endpoint) = command["endpoint"].as_str().map(str::to_owned) else { continue };
        let editor = words(&command).last() == Some(&"edit");
        assert!(
            editor || seen.insert(endpoint.clone()) || SEVERAL_WORDS.contains(&endpoint.as_str()),
            "a second verb sends the endpoint of {command}: one endpoint, one verb, unless SEVERAL_WORDS has it"
        );
    }
}

#[test]
fn man_pages_and_completions_are_as_the_commands_are() {
    let home = tempfile::tempdir().unwrap();
    run(mfa(home.path(), &["docs", "--check", "--out", root().to_str().unwrap()])).ok();
    for command in commands().iter().filter(|command| command["hidden"] == false) {
        let page = root().join("man").join(command["man"].as_str().unwrap());
        let text = std::fs::read_to_string(&page).unwrap_or_else(|e| panic!("{}: {e}", page.display()));
        assert!(text.contains(".SH EXAMPLES"), "{}", page.display());
    }
}

#[test]
fn every_command_takes_the_global_flags_before_and_after_the_verb() {
    let home = tempfile::tempdir().unwrap();
    for command in commands() {
        let globals = command["flags"].as_array().unwrap().iter().filter(|flag| flag["global"] == true);
        let names: BTreeSet<_> = globals.map(|flag| flag["name"].as_str().unwrap()).collect();
        for name in ["--output", "--yes", "--no-input", "--quiet", "--color", "--url", "--no-pager"] {
            assert!(names.contains(name), "{command}");
        }
    }
    let before = run(mfa(home.path(), &["-o", "json", "config", "view"])).ok();
    assert_eq!(before, run(mfa(home.path(), &["config", "view", "-o", "json"])).ok());
}

#[test]
fn no_verb_and_no_noun_can_be_cut_short() {
    let home = tempfile::tempdir().unwrap();
    for line in [["custom", "list"], ["customers", "li"], ["customers", "lst"]] {
        run(mfa(home.path(), &line)).fails(2);
    }
    let said = run(mfa(home.path(), &["customers", "lst"])).fails(2);
    assert!(said.contains("did you mean list?"), "{said}");
    let said = run(mfa(home.path(), &["ofices", "list"])).fails(2);
    assert!(said.contains("did you mean offices?"), "{said}");
    let said = run(mfa(home.path(), &["offices", "create", "--nme", "x"])).fails(2);
    assert!(said.contains("did you mean --name?"), "{said}");
}

/// Commands that start or stop something of this machine; their own tests run them.
const NOT_RUN: &[&str] =
    &["daemon", "admin", "backup", "check", "dev", "init", "migrate", "quickstart", "docs", "tls"];

/// Whether an endpoint needs an external server, as test messages do; their own tests bring one.
pub fn needs_gateway(endpoint: &str) -> bool {
    rows().any(|row| row.name == endpoint && row.path.ends_with("/test"))
}

/// Endpoints that need the code of an authenticator.
pub const NEEDS_CODE: &[&str] = &["EnableSecondFactor", "DeleteSecondFactor"];

/// Endpoints that only another than the operator may call: who changes what others hold is a `pharaoh`, and
/// who consents does it alone.
pub const OTHER_CALLERS: &[(&str, &str)] = &[("UpdateGroup", "admin"), ("SetConsent", "esi")];

#[test]
fn every_example_works_on_the_sample_institution() {
    // A template is a folder, so its store is the embedded one, whichever the others have.
    let world = World::guarded_with(in_folder);
    sample(&world);
    let template = Template::new(world);
    let commands = commands();
    // Reads change nothing, so that they can share one institution.
    let shared = template.copy();
    std::thread::scope(|scope| {
        for part in commands.chunks(commands.len().div_ceil(EXAMPLES_AT_ONCE)) {
            scope.spawn(|| part.iter().for_each(|command| try_examples(command, &template, &shared)));
        }
    });
}

/// Examples that run at once.
const EXAMPLES_AT_ONCE: usize = 4;

fn try_examples(command: &Value, template: &Template, shared: &World) {
    if !runs_here(command) {
        return;
    }
    for example in command["examples"].as_array().unwrap() {
        let own = (command["method"] != "GET").then(|| template.copy());
        if let Some(own) = &own {
            let other = OTHER_CALLERS.iter().find(|(name, _)| command["endpoint"] == *name);
            other.iter().for_each(|(_, user)| log_in(own, user));
        }
        let world = own.as_ref().unwrap_or(shared);
        let ran = run(shell(world, example.as_str().unwrap()));
        assert_eq!(
            ran.exit, 0,
            "{example}\n{}\nAn example runs on the sample institution: tests/support/sample.rs makes what it names",
            ran.err
        );
    }
}

/// Whether the examples of a command work on the sample institution alone.
pub fn runs_here(command: &Value) -> bool {
    let words = words(command);
    // The trail is cut while no daemon runs.
    let offline = NOT_RUN.contains(&words[0]) || words.ends_with(&["prune"]);
    let outside = offline && command["endpoint"].is_null();
    let needs = |endpoint: &str| needs_gateway(endpoint) || NEEDS_CODE.contains(&endpoint);
    !outside && !command["endpoint"].as_str().is_some_and(needs)
}

/// A shell that runs a line as it is; the tests need not be run from this folder.
pub fn shell(world: &World, line: &str) -> Command {
    let program = Path::new(env!("CARGO_BIN_EXE_mfa")).parent().unwrap();
    let path = format!("{}:{}", program.display(), std::env::var("PATH").unwrap());
    let mut shell = Command::new("/bin/sh");
    shell.env_clear().args(["-ec", line]).current_dir(world.dir.path());
    for (name, value) in world.mfa(&[]).get_envs() {
        shell.env(name, value.unwrap());
    }
    shell.env("PATH", &path).stdin(std::process::Stdio::null());
    shell
}
