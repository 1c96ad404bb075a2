//! README and guides do what they say: `tests/guides/walk` runs every block of them and compares what they
//! show. Like `mfa help`, they have a maximum length.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::UNIX_EPOCH;

/// Two screens, and what a README must also say.
const README_LINES_MAX: usize = 100;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

fn walked(file: &Path) -> Output {
    let mut walk = Command::new("python3");
    walk.arg(root().join("tests/guides/walk")).arg(env!("CARGO_BIN_EXE_mfa")).arg(file);
    walk.output().unwrap()
}

/// A walk that the end of a day fell into is done again: what was said of today no longer holds.
#[track_caller]
fn walk(file: &str) {
    let day = || UNIX_EPOCH.elapsed().unwrap().as_secs() / (24 * 60 * 60);
    let begun = day();
    let mut output = walked(&root().join(file));
    if !output.status.success() && day() != begun {
        output = walked(&root().join(file));
    }
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

macro_rules! guides {
    ($($name:ident: $file:literal;)*) => {
        const GUIDES: &[&str] = &[$($file),*];
        $(
            #[test]
            fn $name() {
                walk($file);
            }
        )*
    };
}

guides! {
    the_readme_does_what_it_says: "README.md";
    the_installation_is_left_to_machines_of_its_own: "docs/guides/installation.md";
    the_first_day_goes_from_nothing_to_a_deposit: "docs/guides/first-day.md";
    an_institution_of_ones_own_is_set_up: "docs/guides/production.md";
    access_is_granted_and_refused: "docs/guides/access-control.md";
    customers_come_from_a_file: "docs/guides/onboarding.md";
    an_institution_moves_over: "docs/guides/moving-over.md";
    a_teller_works_for_a_day: "docs/guides/teller-day.md";
    a_day_and_a_month_end: "docs/guides/month-end.md";
    the_trail_is_read_and_proved: "docs/guides/audit-trail.md";
    events_are_heard_and_delivered: "docs/guides/webhooks-and-events.md";
    programs_use_the_interface: "docs/guides/http-integration.md";
    a_backup_is_made_and_restored: "docs/guides/backup-and-restore.md";
    other_machines_are_let_in: "docs/guides/proxy-and-tls.md";
    the_daemon_is_watched: "docs/guides/monitoring.md";
    a_store_is_carried_over: "docs/guides/several-machines.md";
    a_refusal_is_understood: "docs/guides/troubleshooting.md";
    figures_have_no_blocks_that_nobody_runs: "docs/figures.md";
    the_way_to_contribute_has_reasons_for_what_is_not_run: "CONTRIBUTING.md";
    the_house_has_reasons_for_its_drawings: "ARCHITECTURE.md";
    the_page_about_security_has_no_blocks_that_are_not_run: "SECURITY.md";
}

#[test]
fn every_guide_is_walked_and_linked_from_the_readme() {
    let readme = std::fs::read_to_string(root().join("README.md")).unwrap();
    let files = std::fs::read_dir(root().join("docs/guides")).unwrap();
    let found: BTreeSet<_> =
        files.map(|file| format!("docs/guides/{}", file.unwrap().file_name().to_str().unwrap())).collect();
    let walked = GUIDES.iter().filter(|file| file.starts_with("docs/guides/"));
    assert_eq!(found, walked.map(|file| (*file).to_owned()).collect());
    for file in found {
        assert!(readme.contains(&format!("({file})")), "the README has no link to {file}");
    }
}

#[test]
fn every_link_of_readme_and_guides_leads_to_a_file() {
    for file in GUIDES {
        let path = root().join(file);
        let text = std::fs::read_to_string(&path).unwrap();
        for target in text.split("](").skip(1).map(|rest| rest.split([')', '#']).next().unwrap()) {
            let there = target.starts_with("https:") || path.parent().unwrap().join(target).exists();
            assert!(there, "{file} names {target}");
        }
    }
}

#[test]
fn every_guide_is_a_topic_of_the_help() {
    for file in GUIDES.iter().filter_map(|file| file.strip_prefix("docs/guides/")?.strip_suffix(".md")) {
        let shown = crate::support::world::mfa(&root(), &["help", file]).output().unwrap();
        let text = std::fs::read_to_string(root().join(format!("docs/guides/{file}.md"))).unwrap();
        let title = text.lines().next().unwrap().trim_start_matches("# ").to_uppercase();
        let shown = String::from_utf8(shown.stdout).unwrap();
        assert!(shown.starts_with(&title), "{file}: {shown}");
        assert!(!shown.contains("```") && !shown.contains("<!--") && !shown.contains("]("), "{file}");
    }
}

#[test]
fn every_error_code_is_in_the_guide_once() {
    let text = std::fs::read_to_string(root().join("docs/guides/troubleshooting.md")).unwrap();
    let codes = crate::support::world::mfa(&root(), &["explain", "error", "-o", "json"]).output().unwrap();
    let codes: Vec<serde_json::Value> = serde_json::from_slice(&codes.stdout).unwrap();
    assert!(codes.len() > mfa_shared::fault::TABLE.len());
    for code in codes.iter().map(|row| row["code"].as_str().unwrap()) {
        assert_eq!(text.matches(&format!("| `{code}` |")).count(), 1, "{code}");
    }
}

#[test]
fn the_readme_fits_two_screens() {
    let lines = std::fs::read_to_string(root().join("README.md")).unwrap().lines().count();
    assert!(lines <= README_LINES_MAX, "{lines} lines");
}

#[test]
fn the_readme_begins_with_what_works_on_any_machine_with_rust() {
    let text = std::fs::read_to_string(root().join("README.md")).unwrap();
    let blocks: Vec<_> =
        text.split("```sh\n").skip(1).filter_map(|block| block.split("\n```").next()).collect();
    assert_eq!(blocks, ["cargo run --release -- quickstart", "tests/run"]);
}

#[test]
fn the_picture_of_a_session_is_as_the_screens_are() {
    let mut picture = Command::new("python3");
    let output = picture.arg(root().join("tests/guides/picture")).arg("--check").output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// A guide with one block; what the walk says of it.
fn said_of(block: &str) -> (bool, String) {
    let file = tempfile::Builder::new().suffix(".md").tempfile().unwrap();
    std::fs::write(&file, format!("# A guide\n\n{block}")).unwrap();
    let output = walked(file.path());
    (output.status.success(), String::from_utf8(output.stderr).unwrap())
}

#[test]
fn a_block_with_other_output_than_shown_is_found() {
    let refused = [
        ("```console\n$ echo one\ntwo\n```\n", "and is"),
        ("```console\n$ mfa customers lst\n```\n", "exit 2"),
        ("```console\n$ true   # exit 1\n```\n", "exit 0"),
        ("```sh\nfalse\ntrue\n```\n", "exit 1"),
        ("```console\n$ sleep 600 & exec sleep 0\n$ true\n```\n", "not reached"),
        ("```ruby\nputs 1\n```\n", "unknown language"),
        ("```\nmfa\n```\n", "unknown language"),
        ("```python\nprint(1)\n```\n", "is missing above"),
        ("<!-- file: a.py -->\n```python\nprint(1)\n```\n", "no command uses a.py"),
        ("<!-- not run: nobody wants to -->\n```sh\nfalse\n```\n", "is no reason"),
        ("```sh\ntrue\n", "does not end"),
    ];
    for (block, complaint) in refused {
        let (good, said) = said_of(block);
        assert!(!good && said.contains(complaint), "{block}{said}");
    }
    let times = "2031-05-06 07:08:09Z 0123456789abcdef01";
    let (good, said) = said_of(&format!(
        "```console\n$ date -u '+%F %TZ' | tr '\\n' ' '; echo 00000000000000000f\n{times}\n```\n"
    ));
    assert!(good, "{said}");
}

#[test]
fn a_walk_ends_with_the_first_step_that_fails() {
    let began = std::time::Instant::now();
    let (good, said) = said_of("```console\n$ mfa offices lst\n$ sleep 250\n$ echo never\n```\n");
    assert!(!good && said.contains("exit 2: mfa offices lst"), "{said}");
    assert!(!said.contains("sleep") && !said.contains("never"), "{said}");
    assert!(began.elapsed().as_secs() < 200, "it waited for what follows");
}

#[test]
fn every_reason_for_not_running_a_block_is_used() {
    let walk = std::fs::read_to_string(root().join("tests/guides/walk")).unwrap();
    let reasons = walk.split("NOT_RUN = {\n").nth(1).unwrap().split("\n}").next().unwrap();
    let texts: String =
        GUIDES.iter().map(|file| std::fs::read_to_string(root().join(file)).unwrap()).collect();
    for reason in reasons.lines().map(|line| line.split('"').nth(1).unwrap()) {
        assert!(texts.contains(&format!("<!-- not run: {reason} -->")), "{reason} is not used");
    }
}
