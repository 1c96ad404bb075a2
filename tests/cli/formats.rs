//! Every leaf of the tree supports every format, and reports its errors correctly.

use super::tree::{commands, runs_here, shell, words};
use crate::support::run::run;
use crate::support::sample::sample;
use crate::support::stored::in_folder;
use crate::support::template::Template;
use crate::support::world::{World, mfa};
use serde_json::Value;

const FORMATS: &[&str] = &["table", "wide", "json", "jsonl", "yaml", "csv", "tsv", "id"];

/// Commands whose output is no record: what they print is meant for another program, or is an image.
const NO_RECORDS: &[&str] = &["portrait get", "scans get", "mfa complete", "mfa service", "config example"];

/// Holds an output to its format: a parser of that format reads it back.
#[track_caller]
fn parses(format: &str, out: &str, line: &str) {
    let table = |delimiter: u8| {
        let mut reader = csv::ReaderBuilder::new()
            .delimiter(delimiter)
            .quoting(delimiter == b',')
            .from_reader(out.as_bytes());
        for row in reader.records() {
            row.unwrap_or_else(|error| panic!("{line}: {error}\n{out}"));
        }
    };
    match format {
        "json" => drop(serde_json::from_str::<Value>(out).unwrap_or_else(|e| panic!("{line}: {e}\n{out}"))),
        "jsonl" => out.lines().for_each(|text| {
            serde_json::from_str::<Value>(text).unwrap_or_else(|e| panic!("{line}: {e}\n{text}"));
        }),
        "yaml" => drop(serde_saphyr::from_str::<Value>(out).unwrap_or_else(|e| panic!("{line}: {e}\n{out}"))),
        "csv" => table(b','),
        "tsv" => table(b'\t'),
        _ => assert!(!out.contains('\u{1b}'), "{line}: {out}"),
    }
}

#[test]
fn every_command_honours_every_format() {
    // A template is a folder, so its store is the embedded one, whichever the others have.
    let world = World::guarded_with(in_folder);
    sample(&world);
    let template = Template::new(world);
    let shared = template.copy();
    let commands = commands();
    let try_one = |command: &Value| {
        if !runs_here(command) || NO_RECORDS.iter().any(|words| own(command).contains(words)) {
            return None;
        }
        let Some(example) = printing(command) else { return Some(own(command)) };
        let reads = command["method"] == "GET" && !example.contains("--out");
        // A change needs an institution of its own each time, and prints as the reads do.
        for format in if reads { FORMATS } else { &["json", "yaml", "csv"] } {
            // A number of hundreds of digits is YAML, and more than the parser of this test takes.
            if *format == "yaml" && example.contains("keygen") {
                continue;
            }
            let own = (!reads).then(|| template.copy());
            let mut line = format!("{} -o {format}", example.replace("\\\n", " "));
            if !line.contains('>') {
                // Only the last of several commands is checked.
                line = line.replace(" && ", " >/dev/null && ");
            }
            let ran = run(shell(own.as_ref().unwrap_or(&shared), &line));
            // Who may not do this alone has a test of its own; here only the form of the answer counts.
            if ran.exit == 5 {
                continue;
            }
            assert_eq!(ran.exit, 0, "{line}\n{}", ran.err);
            parses(format, &ran.out, &line);
        }
        None
    };
    let left_out: Vec<_> = std::thread::scope(|scope| {
        let parts = commands.chunks(commands.len().div_ceil(4));
        let threads: Vec<_> =
            parts.map(|part| scope.spawn(|| part.iter().filter_map(try_one).collect::<Vec<_>>())).collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    // The output of a script and a loop is checked elsewhere; nothing else gets around this.
    assert_eq!(left_out, ["mfa ledger journal get", "mfa completions"]);
}

fn own(command: &Value) -> String {
    command["command"].as_str().unwrap().to_owned()
}

/// The example of a command to whose end a format can be added, because what it prints comes from there.
fn printing(command: &Value) -> Option<&str> {
    let examples = command["examples"].as_array().unwrap().iter().filter_map(Value::as_str);
    examples.into_iter().find(|example| {
        let mut line = (*example).to_owned();
        while let Some((before, (_, after))) =
            line.split_once("$(").and_then(|(before, rest)| Some((before, rest.split_once(')')?)))
        {
            line = format!("{before}x{after}");
        }
        let last = line.rsplit(['|', '&', ';']).next().unwrap_or_default();
        last.contains("mfa ") && ![" -o ", "--jq", ">"].iter().any(|word| last.contains(word))
    })
}

#[test]
fn every_command_reports_a_mistyped_flag_as_json_and_changes_nothing() {
    let home = tempfile::tempdir().unwrap();
    for command in commands() {
        let mut line = words(&command);
        line.extend(["--no-such-flag", "-o", "json"]);
        if line[0] == "complete" {
            continue;
        }
        let error = run(mfa(home.path(), &line)).fails_in_json(2);
        assert!(!error["hint"].as_str().unwrap_or_default().is_empty(), "{line:?}: {error}");
    }
}

#[test]
fn every_command_with_an_endpoint_reports_a_missing_daemon() {
    let home = tempfile::tempdir().unwrap();
    let mut tried = 0;
    for command in commands().iter().filter(|command| command["endpoint"].is_string()) {
        let example = command["examples"][0].as_str().unwrap();
        let own = format!("mfa {}", words(command).join(" "));
        if !example.starts_with(&own) || example.contains(['|', '\'', '"', '\\', '/']) {
            continue;
        }
        let mut line: Vec<_> = example.split_whitespace().skip(1).collect();
        line.extend(["--no-input", "--yes", "--retries", "0", "-o", "json", "--url", "http://127.0.0.1:9"]);
        let ran = run(mfa(home.path(), &line));
        // A password that is asked for comes before the daemon.
        if ran.exit == 2 {
            continue;
        }
        tried += 1;
        assert_eq!(ran.fails_in_json(10)["code"], "daemon_unreachable", "{line:?}");
    }
    assert!(tried > 60, "{tried}");
}
