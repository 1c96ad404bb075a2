//! `mfa audit` and the history of each noun: `audit.md` section 3.

use crate::support::sample::sample;
use crate::support::scripted::{answer, server};
use crate::support::served::Home;
use crate::support::servers::closed_port;
use crate::support::terminal::Terminal;
use crate::support::world::World;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read};
use std::process::{Command, Stdio};

fn run(mut command: Command) -> (i32, String, String) {
    let done = command.output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (done.status.code().unwrap(), text(&done.stdout), text(&done.stderr))
}

fn changed() -> World {
    let world = World::start();
    world.post("/customers", r#"{"identifier":"c-1","surname":"Mensah"}"#).is(202);
    world.put("/customers/c-1", r#"{"identifier":"c-1","surname":"Owusu"}"#).is(202);
    world.post("/offices", r#"{"identifier":"ho","name":"Head"}"#).is(202);
    world
}

#[test]
fn the_history_of_a_customer_reads_like_a_story() {
    let world = changed();
    let (exit, out, err) = run(world.mfa(&["customers", "history", "c-1", "-o", "table"]));
    assert_eq!(exit, 0, "{err}");
    let lines: Vec<_> = out.lines().collect();
    let at =
        |text: &str| lines.iter().position(|line| line.contains(text)).unwrap_or_else(|| panic!("{out}"));
    assert!(at("created") < at("surname: Mensah -> Owusu"), "{out}");
    assert!(
        lines[at("surname")].contains("guest") && lines[at("surname")].contains("UpdateCustomer"),
        "{out}"
    );
    assert!(!out.contains("CreateOffice") && !out.contains("lastModified"), "{out}");
    let (_, out, _) = run(world.mfa(&["customers", "history", "c-1", "-o", "json"]));
    let records: Vec<Value> = serde_json::from_str(&out).unwrap();
    let operations: Vec<_> = records.iter().map(|record| record["operation"].as_str().unwrap()).collect();
    assert_eq!(operations, ["CreateCustomer", "UpdateCustomer"]);
}

#[test]
fn what_never_existed_has_no_history_and_what_was_removed_has_one() {
    let world = changed();
    world.delete("/offices/ho").is(202);
    for more in [&["--limit", "5"][..], &["--all"], &["-o", "table"]] {
        let (exit, out, err) = run(world.mfa(&[&["offices", "history", "ho"], more].concat()));
        assert!(exit == 0 && out.contains("DeleteOffice"), "{err}");
        let (exit, out, err) = run(world.mfa(&[&["offices", "history", "nowhere"], more].concat()));
        assert!(exit == 3 && out.is_empty() && err.contains("nowhere"), "{out} {err}");
    }
    let (exit, out, err) = run(world.mfa(&["offices", "history", "nowhere", "-o", "json"]));
    assert!(exit == 3 && out.is_empty() && err.contains(r#""code":"office_not_found""#), "{out} {err}");
    let (exit, _, err) = run(world.mfa(&["teller", "history", "nobody", "--office", "nowhere"]));
    assert_eq!(exit, 3, "{err}");
}

/// The operations that the history of a record names, in their order.
fn operations(world: &World, history: &str) -> Vec<String> {
    let line: Vec<_> = history.split(' ').chain(["-o", "json"]).collect();
    let (exit, out, err) = run(world.mfa(&line));
    assert_eq!(exit, 0, "mfa {history}: {err}");
    let records: Vec<Value> = serde_json::from_str(&out).unwrap();
    records.iter().map(|record| record["operation"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn records_inside_others_have_a_history_of_their_own() {
    let world = World::start();
    sample(&world);
    let (_, out, _) = run(world.mfa(&["teller", "transactions", "list", "desk-2", "-o", "json"]));
    let transactions: Vec<Value> = serde_json::from_str(&out).unwrap();
    let confirmed = transactions.iter().find(|transaction| transaction["state"] == "CONFIRMED").unwrap();
    let transaction = confirmed["identifier"].as_str().unwrap();
    let (_, day, _) = run(world.mfa(&["day", "list", "head-office", "-o", "id"]));
    let day = day.lines().next().unwrap();
    for (history, expected) in [
        (format!("teller transactions history desk-2 {transaction}"), "CreateTransaction"),
        ("teller receipts history desk-2 1 --office head-office".to_owned(), "IssueReceipt"),
        (format!("day history head-office {day}"), "EndOfficeDay"),
        ("customers portrait history c-001".to_owned(), "SetPortrait"),
        ("cards scans history c-001 GHA-001122334-5 front".to_owned(), "CreateScan"),
        ("applications signatures history crm-v1 2031-05-06T10_11_12".to_owned(), "SetSignature"),
        ("applications sets history crm-v1 doorway".to_owned(), "CreateCallEndpointSet"),
    ] {
        let operations = operations(&world, &history);
        assert_eq!(operations.first().map(String::as_str), Some(expected), "{history}: {operations:?}");
    }
}

#[test]
fn the_trail_is_listed_shown_and_followed() {
    let world = changed();
    let (_, out, _) = run(world.mfa(&["audit", "list", "-o", "id"]));
    assert_eq!(out.lines().collect::<Vec<_>>(), ["3", "2", "1"], "the newest first");
    let (_, out, _) =
        run(world.mfa(&["audit", "list", "--sort", "sequence", "--resource", "customer/*", "-o", "id"]));
    assert_eq!(out.lines().collect::<Vec<_>>(), ["1", "2"]);
    let (exit, _, err) = run(world.mfa(&["audit", "list", "--from", "2026-02-01", "--to", "2026-01-01"]));
    assert_eq!(exit, 2, "{err}");
    for (end, found) in [(["--from", "2031-05-06"], "1\n"), (["--to", "2031-05-05"], "")] {
        let line = [&["audit", "list", "--sort", "sequence", "--limit", "1", "-o", "id"], &end[..]].concat();
        assert_eq!(run(world.mfa(&line)).1, found, "{end:?} alone");
    }
    let (_, out, _) = run(world.mfa(&["audit", "show", "2", "-o", "json"]));
    assert_eq!(serde_json::from_str::<Value>(&out).unwrap()["operation"], "UpdateCustomer");
    let (exit, _, err) = run(world.mfa(&["audit", "show", "99"]));
    assert_eq!(exit, 3, "{err}");
    let follow = ["audit", "follow", "--after", "1", "--count", "2", "-o", "jsonl"];
    let (_, out, _) = run(world.mfa(&follow));
    let numbers: Vec<Value> =
        out.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()["sequence"].clone()).collect();
    assert_eq!(numbers, [2, 3]);
}

#[test]
fn a_trail_is_verified_at_the_daemon_and_in_a_file_and_damage_is_found() {
    let world = changed();
    let (exit, out, err) = run(world.mfa(&["audit", "verify", "-o", "json"]));
    assert_eq!(exit, 0, "{err}");
    let verified: Value = serde_json::from_str(&out).unwrap();
    assert_eq!((&verified["first"], &verified["last"]), (&1.into(), &3.into()));
    let head = verified["hash"].as_str().unwrap().to_owned();
    let home = Home::new();
    let file = home.file("trail.ndjson", "");
    std::fs::remove_file(&file).unwrap();
    let (exit, _, err) = run(world.mfa(&["audit", "export", &file]));
    assert_eq!(exit, 0, "{err}");
    let (exit, _, err) = run(world.mfa(&["audit", "export", &file]));
    assert!(exit == 6 && err.contains("name another file"), "an export never replaces a file: {exit} {err}");
    assert_eq!(run(world.mfa(&["audit", "verify", "--file", &file, "--head", &head])).0, 0);
    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, text.replacen("Owusu", "Owuso", 1)).unwrap();
    let (exit, _, err) = run(world.mfa(&["audit", "verify", "--file", &file]));
    assert!(exit == 1 && err.contains("record 2 was altered"), "{exit} {err}");
    let without: String =
        text.lines().filter(|line| !line.contains("\"sequence\":2,")).map(|l| format!("{l}\n")).collect();
    std::fs::write(&file, without).unwrap();
    let (exit, _, err) = run(world.mfa(&["audit", "verify", "--file", &file]));
    assert!(exit == 1 && err.contains("record 2 is missing"), "{exit} {err}");
    let other = "0".repeat(64);
    let (exit, _, err) = run(world.mfa(&["audit", "verify", "--head", &other]));
    assert!(exit == 1 && err.contains("no record has the hash"), "{exit} {err}");
    // What was typed wrongly is no forgery.
    assert_eq!(run(world.mfa(&["audit", "verify", "--head", &head.to_uppercase()])).0, 0);
    for none in ["", "abc", &head[1..]] {
        let (exit, _, err) = run(world.mfa(&["audit", "verify", "--head", none]));
        assert!(exit == 2 && err.contains("is not the hash of a record"), "{exit} {err}");
    }
    assert_eq!(run(world.mfa(&["audit", "verify", "--file", "nowhere.ndjson"])).0, 3);
}

#[test]
fn a_narrow_list_says_what_was_refused() {
    let world = World::start();
    let port = closed_port().to_string();
    let email =
        json!({ "identifier": "main", "host": "localhost", "port": port, "username": "bank@example.org" });
    world.post("/configuration/email", email.to_string()).is(201);
    world.post("/configuration/email/main/test", r#"{"to":"efua@example.org"}"#).is(502);
    let screen = Terminal::start(&world, 80, &[]).run("mfa audit list --limit 2");
    let failed = "guest  TestEmailConfiguration    email/main\n";
    assert!(screen.contains(failed) && screen.contains("failed: gateway_failed\n"), "{screen}");
    assert_eq!(screen.matches("failed").count(), 2, "{screen}");
}

#[test]
fn the_script_of_the_guide_finds_what_was_altered() {
    let guide = include_str!("../../docs/guides/audit-trail.md");
    let script = guide.split("```python\n").nth(1).unwrap().split("```").next().unwrap();
    let world = changed();
    let home = Home::new();
    let (script, file) = (home.file("verify.py", script), home.file("trail.ndjson", ""));
    std::fs::remove_file(&file).unwrap();
    assert_eq!(run(world.mfa(&["audit", "export", &file])).0, 0);
    let verify = || {
        let mut python = Command::new("python3");
        python.args([&script, &file]);
        run(python)
    };
    let (exit, out, err) = verify();
    assert!(exit == 0 && out.starts_with("records 1 to 3 are whole"), "{out} {err}");
    let text = std::fs::read_to_string(&file).unwrap();
    let lines: Vec<_> = text.lines().collect();
    // After a prune the trail begins later.
    std::fs::write(&file, format!("{}\n{}\n", lines[1], lines[2])).unwrap();
    let (exit, out, err) = verify();
    assert!(exit == 0 && out.starts_with("records 2 to 3 are whole"), "{out} {err}");
    let altered = lines[0].replacen("Mensah", "Mensa", 1);
    for (record, doctored) in [
        (1, vec![altered.as_str(), lines[1], lines[2]]),
        (2, vec![lines[0], lines[2]]),
        (2, vec![lines[0], lines[2], lines[1]]),
        (3, vec![lines[0], lines[1], lines[1], lines[2]]),
    ] {
        std::fs::write(&file, doctored.join("\n") + "\n").unwrap();
        let (exit, _, err) = verify();
        assert!(exit == 1 && err.starts_with(&format!("record {record} is not what was written")), "{err}");
    }
}

#[test]
fn what_is_done_on_the_machine_itself_is_recorded() {
    let mut world = World::guarded();
    let anna = world.user("anna", "clerk");
    anna.post("/users/anna/second-factor", json!({})).is(200);
    world.stop();
    let (exit, out, err) = run(world.mfa_on_store(&["admin", "recover-user", "anna", "-o", "json"]));
    assert_eq!(exit, 0, "{err}");
    let password = serde_json::from_str::<Value>(&out).unwrap()["password"].as_str().unwrap().to_owned();
    let (exit, _, err) = run(world.mfa_on_store(&["admin", "add-account", "9999", "asset"]));
    assert_eq!(exit, 0, "{err}");
    let (exit, _, err) = run(world.mfa_on_store(&["admin", "rotate-key"]));
    assert_eq!(exit, 0, "{err}");
    world.restart();
    let token = world.as_olga().unwrap();
    let of = |operation: &str| {
        let path = format!("/audit?operation={operation}");
        let page = world.send(world.request("GET", &path).bearer_auth(&token)).is(200).json();
        assert_eq!(page["totalElements"], 1, "{operation}: {page}");
        let record = page["records"][0].clone();
        assert_eq!((&record["actor"], &record["origin"]), (&"system".into(), &"local".into()), "{record}");
        record
    };
    let recovered = of("RecoverUser");
    assert_eq!(recovered["resource"], "user/anna");
    assert_eq!(recovered["affects"], json!(["second-factor/anna"]));
    assert_eq!(recovered["changes"], json!([{ "field": "/password", "before": "***", "after": "***" }]));
    assert!(!recovered.to_string().contains(&password), "{recovered}");
    assert_eq!(of("AddAccount")["resource"], "ledger/9999");
    assert!(of("RotateKey")["resource"].is_null());
    assert!(of("Init")["changes"].to_string().contains("user"));
}

#[test]
fn a_trail_that_finds_a_full_disk_stays_and_leaves_no_file() {
    let mut world = changed();
    world.clock.advance(3 * 86_400);
    let day = world.clock.now().day().to_string();
    world.stop();
    let disk = world.dir.path().join("disk");
    std::fs::create_dir(&disk).unwrap();
    let inside = |line: &str, of: &Command| {
        let full = "mount -t tmpfs -o size=4k tmpfs \"$DISK\" && head -c 4096 /dev/zero > \"$DISK/other\"";
        let mut command = Command::new("unshare");
        command.args([
            "--user",
            "--map-root-user",
            "--mount",
            "sh",
            "-c",
            &format!("{full} && {line}"),
            "sh",
        ]);
        command.arg(of.get_program()).args(of.get_args()).env_clear();
        command.envs(of.get_envs().filter_map(|(name, value)| Some((name, value?)))).env("DISK", &disk);
        command
    };
    let file = disk.join("old.ndjson").display().to_string();
    let prune = world.mfa_on_store(&["audit", "prune", "--before", &day, "--out", &file, "--confirm", &day]);
    if run(inside("true", &prune)).0 != 0 {
        return println!("skipped: no namespaces are to be had here");
    }
    let (exit, left, err) = run(inside("\"$@\"; code=$?; ls -A \"$DISK\"; exit $code", &prune));
    assert!(exit == 1 && err.contains("No space left on device") && err.contains(&file), "{err}");
    assert!(!err.contains("mfa config view"), "{err}");
    assert_eq!(left, "other\n");
    world.restart();
    assert_eq!(world.get("/audit/1").is(200).json()["operation"], "CreateCustomer");
}

#[test]
fn a_trail_that_was_cut_verifies_from_there_and_says_so() {
    let mut world = changed();
    world.clock.advance(3 * 86_400);
    world.post("/customers", r#"{"identifier":"c-2"}"#).is(202);
    let day = &world.get("/audit?size=1").is(200).json()["records"][0]["occurredOn"].as_str().unwrap()[..10]
        .to_owned();
    world.stop();
    let home = Home::new();
    let file = home.file("old.ndjson", "");
    let prune = ["audit", "prune", "--before", day, "--out", &file, "--confirm", day, "-o", "json"];
    let (exit, _, err) = run(world.mfa_on_store(&prune));
    assert_eq!(exit, 6, "a file that is there is not replaced: {err}");
    assert!(err.contains("is there already") && err.contains("--out FILE"), "{err}");
    std::fs::remove_file(&file).unwrap();
    let nowhere = format!("{file}/old");
    let (exit, _, err) = run(world.mfa_on_store(&[&prune[..5], &[&nowhere], &prune[6..]].concat()));
    assert!(exit == 1 && err.contains(&nowhere) && !err.contains("mfa config view"), "{err}");
    let (exit, _, _) = run(world.mfa_on_store(&prune[..6]));
    assert_ne!(exit, 0, "the day was not said");
    let (exit, out, err) = run(world.mfa_on_store(&prune));
    assert_eq!(exit, 0, "{err}");
    let pruned: Value = serde_json::from_str(&out).unwrap();
    assert_eq!((&pruned["records"], &pruned["first"]), (&3.into(), &4.into()));
    assert_eq!(std::fs::read_to_string(&file).unwrap().lines().count(), 3);
    assert_eq!(world.check(&[mfa_daemon::Check::Store]), Vec::<String>::new());
    world.restart();
    let (exit, _, err) = run(world.mfa(&["audit", "verify"]));
    assert_eq!(exit, 0, "{err}");
    let seen = world.get("/audit?sortDirection=ASC").is(200).json();
    let mut reported: Vec<_> =
        seen["records"].as_array().unwrap().iter().map(|record| record["operation"].clone()).collect();
    // The verification has read the trail, which is recorded soon after.
    reported.retain(|operation| operation != "ListAudit");
    assert_eq!(reported, ["CreateCustomer", "AuditPrune"]);
    assert_eq!(world.get("/audit?resource=customer/*").is(200).json()["totalElements"], 1);
    world.get("/audit/3").refused(404, "audit_record_not_found");
    world.get("/events?after=1").refused(400, "position_too_old");
    world.get("/events?after=3").is(200);
    // Who names no position hears what is kept.
    let listed = world.get("/events").is(200).json();
    assert_eq!(listed, world.get("/events?after=3").is(200).json());
    let (exit, out, err) = run(world.mfa(&["events", "list", "-o", "id"]));
    assert_eq!((exit, out.lines().count()), (0, listed.as_array().unwrap().len()), "{err}");
    let mut follow = world.mfa(&["events", "follow", "--count", "1", "-o", "id"]);
    let following = follow.stdout(Stdio::null()).spawn();
    std::thread::sleep(std::time::Duration::from_millis(300));
    world.post("/customers", r#"{"identifier":"c-3"}"#).is(202);
    assert!(following.unwrap().wait().unwrap().success());
}

#[test]
fn following_begins_with_what_is_new_and_never_asks_for_what_was_before() {
    let world = World::start();
    let create = |path: &str, identifier: &str| {
        world.post(path, json!({ "identifier": identifier, "name": "N" }).to_string()).is(202);
    };
    create("/offices", "old");
    create("/customers", "c-1");
    let line = ["events", "follow", "--kind", "office", "--count", "2", "-o", "id", "--verbose"];
    let mut follow = world.mfa(&line);
    let following = follow.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let mut following = following.unwrap();
    let said = BufReader::new(following.stderr.take().unwrap()).lines().map(Result::unwrap);
    let mut asked = said.filter(|line| line.starts_with("GET "));
    let mut requests = vec![asked.next().unwrap()];
    let end = || world.get("/audit/head").is(200).json()["sequence"].as_u64().unwrap();
    let before = end();
    create("/customers", "c-2");
    create("/offices", "new");
    let first = end();
    requests.push(asked.next().unwrap());
    create("/offices", "newer");
    requests.extend(asked);
    let mut shown = String::new();
    following.stdout.take().unwrap().read_to_string(&mut shown).unwrap();
    assert!(following.wait().unwrap().success());
    assert_eq!(shown, format!("{first}\n{}\n", first + 1));
    // The first request only asks where the end is.
    let after = |request: &String| {
        let number = request.split("after=").nth(1).unwrap_or_default().split('&').next().unwrap();
        number.parse::<u64>().unwrap_or_default()
    };
    let asked: Vec<_> = requests.iter().map(after).collect();
    assert_eq!(asked, [i64::MAX.unsigned_abs(), before, first], "{requests:?}");
}

#[test]
fn an_empty_trail_is_not_proven_and_neither_is_the_end_of_a_file() {
    let world = changed();
    let verify = |text: &str, more: &[&str]| {
        let file = world.dir.path().join("trail");
        std::fs::write(&file, text).unwrap();
        let words = ["audit", "verify", "--file", file.to_str().unwrap()];
        run(world.mfa(&[&words[..], more].concat()))
    };
    for empty in ["", "\n \n"] {
        let (exit, out, err) = verify(empty, &[]);
        assert_eq!((exit, out.as_str()), (1, ""));
        assert!(err.contains("there is no record to verify") && err.contains("mfa audit export"), "{err}");
    }
    let (_, trail, _) = run(world.mfa(&["audit", "export", "-"]));
    let last: Value = serde_json::from_str(trail.trim_end().lines().last().unwrap()).unwrap();
    let head = last["hash"].as_str().unwrap();
    let unproven = "the end of the trail is not proven";
    let (exit, _, err) = verify(&trail, &[]);
    assert!(exit == 0 && err.contains(unproven) && err.contains("--head"), "{err}");
    // What was cut off at the end is found with the head alone.
    let (cut, _) = trail.trim_end().rsplit_once('\n').unwrap();
    assert_eq!(verify(cut, &[]).0, 0);
    assert_eq!(verify(cut, &["--head", head]).0, 1);
    let (exit, _, err) = verify(&trail, &["--head", head]);
    assert!(exit == 0 && !err.contains(unproven), "{err}");
}

#[test]
fn an_export_that_is_cut_off_leaves_no_file_that_looks_like_a_trail() {
    let home = Home::new();
    let record = r#"{"sequence":1}"#;
    let head =
        "HTTP/1.1 200 OK\r\nx-request-id: 1\r\ncontent-type: application/x-ndjson\r\nconnection: close";
    let (url, _) = server(vec![format!("{head}\r\ncontent-length: 1000\r\n\r\n{record}\n")]);
    let folder = home.dir.path().join("made");
    std::fs::create_dir(&folder).unwrap();
    let file = folder.join("trail.ndjson").display().to_string();
    let (exit, _, err) = run(home.mfa(&["audit", "export", &file, "--retries", "0", "--url", &url]));
    assert_ne!(exit, 0, "{err}");
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 0, "{err}");
    // A whole one can then have the name.
    let (url, _) =
        server(vec![answer("200 OK", &["content-type: application/x-ndjson"], &format!("{record}\n"))]);
    assert_eq!(run(home.mfa(&["audit", "export", &file, "--url", &url])).0, 0);
    assert_eq!(std::fs::read_to_string(&file).unwrap(), format!("{record}\n"));
}
