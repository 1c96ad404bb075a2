//! A night of onboarding: ten thousand customers from a file with bad rows, broken off in every way.

use crate::crash::Process;
use crate::support::world::{World, mfa};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const ROWS: usize = 10_000;
const BAD: usize = 137;
/// Longest time until an import has come far enough to be killed.
const BEGUN_MAX: Duration = Duration::from_secs(60);

/// Every 73rd row is bad, in one of several ways, until there are 137 of them.
fn is_bad(i: usize) -> bool {
    i % 73 == 5 && i / 73 < BAD
}

fn row(i: usize, corrected: bool) -> String {
    let id = format!("n-{i:05}");
    let contact = r#""[{""type"":""MOBILE"",""group"":""PRIVATE"",""value"":""+233201234567""}]""#;
    let good = format!("{id},PERSON,Mensah {i},1980-01-01,{contact}");
    if corrected || !is_bad(i) {
        return good;
    }
    match i % 5 {
        0 => format!("{id},ROBOT,Mensah {i},1980-01-01,{contact}"),
        1 => format!("{id},PERSON,Mensah {i},1980-02-30,{contact}"),
        2 => format!("{id},PERSON,{},1980-01-01,{contact}", "x".repeat(257)),
        3 => format!("{id},PERSON,Mensah {i},1980-01-01,[{{}}]"),
        // The identifier of the row before it.
        _ => format!("n-{:05},PERSON,Mensah {i},1980-01-01,{contact}", i - 1),
    }
}

fn file(folder: &Path, corrected: bool) -> PathBuf {
    let path = folder.join("customers.csv");
    let rows: Vec<_> = (0..ROWS).map(|i| row(i, corrected)).collect();
    let header = "identifier,type,surname,dateOfBirth,contactDetails";
    std::fs::write(&path, format!("{header}\n{}\n", rows.join("\n"))).unwrap();
    path
}

fn beside(folder: &Path, end: &str) -> PathBuf {
    folder.join(format!("customers.csv.{end}.csv"))
}

fn lines(path: &Path) -> Vec<String> {
    std::fs::read_to_string(path).unwrap_or_default().lines().map(str::to_owned).collect()
}

/// Holds the report to one line for each row, in order, and the failed rows to those that are bad.
#[track_caller]
fn is_complete(folder: &Path) {
    let report = lines(&beside(folder, "report"));
    assert_eq!(report.len(), ROWS + 1);
    for (i, line) in report[1..].iter().enumerate() {
        let cells: Vec<_> = line.splitn(4, ',').collect();
        assert_eq!(cells[0], (i + 1).to_string(), "{line}");
        assert_eq!(cells[2], if is_bad(i) { "failed" } else { "created" }, "{line}");
    }
    let failed = lines(&beside(folder, "failed"));
    let bad: Vec<_> = (0..ROWS).filter(|i| is_bad(*i)).map(|i| row(i, false)).collect();
    assert_eq!((failed.len(), bad.len()), (BAD + 1, BAD));
    for (failed, bad) in failed[1..].iter().zip(&bad) {
        assert_eq!(failed, bad);
    }
}

fn summary(command: &mut Command, exit: i32) -> Value {
    let output = command.args(["-o", "json"]).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(exit), "{said}");
    serde_json::from_slice(&output.stdout).unwrap_or_else(|e| panic!("{e}: {said}"))
}

/// Waits until so many rows are in the report.
fn wait_for_rows(folder: &Path, rows: usize, child: &mut Child) {
    let begun = Instant::now();
    while lines(&beside(folder, "report")).len() < rows {
        assert!(child.try_wait().unwrap().is_none(), "it ended before it could be killed");
        assert!(begun.elapsed() < BEGUN_MAX, "it does not get on");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Rows that were made by a run and those before it, which it counts apart.
fn made(summary: &Value) -> usize {
    let count = |name: &str| usize::try_from(summary[name].as_u64().unwrap()).unwrap();
    count("created") + count("doneBefore")
}

#[test]
fn ten_thousand_rows_are_onboarded_corrected_and_resumed() {
    let world = World::start();
    let folder = world.dir.path();
    let path = file(folder, false);
    let import = |more: &[&str]| {
        let mut command = world.mfa(&["customers", "import", path.to_str().unwrap()]);
        command.args(more);
        command
    };
    let first = summary(&mut import(&[]), 9);
    assert_eq!((&first["created"], &first["failed"]), (&(ROWS - BAD).into(), &BAD.into()));
    is_complete(folder);
    let before = world.get("/customers/n-00000").is(200).header("etag");
    file(folder, true);
    let second = summary(&mut import(&["--resume"]), 0);
    assert_eq!(
        [&second["rows"], &second["created"], &second["doneBefore"], &second["failed"]],
        [ROWS, BAD, ROWS - BAD, 0]
    );
    assert!(!beside(folder, "failed").exists());
    assert_eq!(world.get("/customers?size=1").json()["totalElements"], ROWS);
    assert_eq!(world.get("/customers/n-00000").header("etag"), before);
}

#[test]
fn an_import_that_is_killed_again_and_again_does_nothing_twice() {
    let world = World::start();
    let folder = world.dir.path();
    let path = file(folder, false);
    let import = |more: &[&str]| {
        let mut command = world.mfa(&["customers", "import", path.to_str().unwrap(), "-q"]);
        command.args(more).stdout(Stdio::null());
        command
    };
    for (kill, rows) in [1, 1500, 4000].into_iter().enumerate() {
        let mut child = import(if kill == 0 { &[] } else { &["--resume"] }).spawn().unwrap();
        wait_for_rows(folder, rows, &mut child);
        child.kill().unwrap();
        child.wait().unwrap();
        let without = import(&[]).stderr(Stdio::piped()).output().unwrap();
        let said = String::from_utf8_lossy(&without.stderr).into_owned();
        assert!(without.status.code() == Some(2) && said.contains("--resume"), "{said}");
    }
    let last = summary(import(&["--resume"]).stdout(Stdio::piped()), 9);
    assert_eq!((made(&last), &last["failed"]), (ROWS - BAD, &BAD.into()));
    is_complete(folder);
    assert_eq!(world.get("/customers?size=1").json()["totalElements"], ROWS - BAD);
}

/// Accounts have no identifier of their own, so only the keys of their rows keep them from being made twice.
#[test]
fn accounts_of_an_import_that_is_killed_are_made_once() {
    let counter = crate::support::counter::Counter::start();
    let world = &counter.world;
    let rows: String = (0..4000).map(|i| format!("c-{i},saver\n")).collect();
    let path = world.dir.path().join("customers.csv");
    std::fs::write(&path, format!("customerIdentifier,productIdentifier\n{rows}")).unwrap();
    let import = || {
        let mut command = world.mfa(&["accounts", "import", path.to_str().unwrap(), "-q", "--resume"]);
        command.stdout(Stdio::null());
        command
    };
    for rows in [1, 1200, 2000] {
        let mut child = import().spawn().unwrap();
        wait_for_rows(world.dir.path(), rows, &mut child);
        child.kill().unwrap();
        child.wait().unwrap();
    }
    let last = summary(import().stdout(Stdio::piped()), 0);
    assert_eq!((made(&last), &last["failed"]), (4000, &0.into()));
    let accounts = world.get("/definitions/saver/instances").is(200).json();
    let accounts = accounts.as_array().unwrap();
    assert_eq!(accounts.len(), 4000);
    assert!(accounts.iter().all(|a| a["accountIdentifier"].as_str().unwrap().ends_with(".00001")));
}

#[test]
fn an_import_whose_daemon_is_killed_goes_on_with_the_next_one() {
    let home = tempfile::tempdir().unwrap();
    let (folder, data) = (home.path(), home.path().join("data"));
    let path = file(folder, false);
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let _ = rustls::crypto::ring::default_provider().install_default();
    let http = reqwest::Client::builder().no_proxy().build().unwrap();
    let start = || runtime.block_on(Process::start(folder, &data, &http));
    let import = |daemon: &Process| {
        let arguments = ["customers", "import", path.to_str().unwrap(), "-q", "--resume", "--retries", "0"];
        let mut command = mfa(folder, &arguments);
        command.env("MFA_URL", &daemon.url).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    };
    for rows in [1, 2500, 5000] {
        let daemon = start();
        let mut child = import(&daemon).spawn().unwrap();
        wait_for_rows(folder, rows, &mut child);
        daemon.kill();
        let left = child.wait_with_output().unwrap();
        let said = String::from_utf8_lossy(&left.stderr).into_owned();
        assert_eq!(left.status.code(), Some(10), "{said}");
        assert!(said.contains("go on: mfa customers import") && said.contains("mfa daemon"), "{said}");
    }
    let daemon = start();
    let last = summary(&mut import(&daemon), 9);
    assert_eq!((made(&last), &last["failed"]), (ROWS - BAD, &BAD.into()));
    is_complete(folder);
    let answer = runtime.block_on(async {
        http.get(format!("{}/customers?size=1", daemon.url)).send().await.unwrap().bytes().await.unwrap()
    });
    let page: Value = serde_json::from_slice(&answer).unwrap();
    assert_eq!(page["totalElements"], ROWS - BAD);
}

#[test]
fn an_interrupted_import_finishes_its_batches_and_says_how_to_resume() {
    let world = World::start();
    let folder = world.dir.path();
    let path = file(folder, false);
    let arguments = ["customers", "import", path.to_str().unwrap(), "-q"];
    let mut child = world.mfa(&arguments).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    wait_for_rows(folder, 100, &mut child);
    let pid = child.id().to_string();
    Command::new("kill").args(["-INT", &pid]).status().unwrap();
    let left = child.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&left.stderr).into_owned();
    assert_eq!(left.status.code(), Some(130), "{said}");
    assert!(said.contains("go on: mfa customers import") && said.contains("--resume"), "{said}");
    // The report knows every row that was done.
    let done = lines(&beside(folder, "report")).iter().filter(|line| line.contains(",created,")).count();
    assert_eq!(world.get("/customers?size=1").json()["totalElements"], done);
}
