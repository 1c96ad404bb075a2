//! Every leaf of the tree honours every format, and tells its errors as it should.

use super::run::run;
use super::tree::{commands, runs_here, sample, shell, words};
use crate::template::Template;
use crate::world::{World, mfa};
use serde_json::Value;

const FORMATS: &[&str] = &["table", "wide", "json", "jsonl", "yaml", "csv", "tsv", "id"];

/// Commands whose output is no record: what they print is meant for another program, or is an image.
const NO_RECORDS: &[&str] = &["balance --watch", "portrait get", "scan get", "mfa complete", "mfa service"];

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
    let world = World::guarded_with(|config| config.store = None);
    sample(&world);
    let template = Template::new(world);
    let shared = template.copy();
    let commands = commands();
    let try_one = |command: &Value| {
        let example = command["examples"][0].as_str().unwrap();
        // A pipe or a format of its own makes the example one about something else.
        let plain =
            !example.contains(['|', '&', '>']) && !example.contains(" -o ") && !example.contains("--jq");
        if !plain || !runs_here(command) || NO_RECORDS.iter().any(|words| example.contains(words)) {
            return;
        }
        let reads = command["method"] == "GET" && !example.contains("--out");
        // A change needs an institution of its own each time, and prints as the reads do.
        for format in if reads { FORMATS } else { &["json", "csv"] } {
            let own = (!reads).then(|| template.copy());
            let line = format!("{} -o {format}", example.replace("\\\n", " "));
            let ran = run(shell(own.as_ref().unwrap_or(&shared), &line));
            // Who may not do this alone has a test of its own; here only the form of the answer counts.
            if ran.exit == 5 {
                continue;
            }
            assert_eq!(ran.exit, 0, "{line}\n{}", ran.err);
            parses(format, &ran.out, &line);
        }
    };
    std::thread::scope(|scope| {
        for part in commands.chunks(commands.len().div_ceil(4)) {
            scope.spawn(|| part.iter().for_each(try_one));
        }
    });
}

#[test]
fn every_command_tells_a_mistyped_flag_in_one_line_of_json_and_changes_nothing() {
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
fn every_command_with_an_endpoint_tells_that_no_daemon_is_there() {
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
