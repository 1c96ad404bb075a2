//! Any request, and waiting for a record: `mfa api`, `mfa wait`, `--print-curl`.

use super::run::run;
use super::tree::sample;
use crate::terminal::Terminal;
use crate::world::World;
use serde_json::{Value, json};
use std::process::Command;
use std::time::Duration;

#[test]
fn any_request_of_the_daemon_can_be_sent() {
    let world = World::start();
    let api = |words: &[&str]| run(world.mfa(&[&["api"], words].concat()));
    for number in 1..=25 {
        let identifier = format!("identifier=o-{number:02}");
        assert_eq!(api(&["POST", "/offices", "-F", &identifier, "-F", "name=One of many"]).ok(), "");
    }
    assert_eq!(api(&["get", "/offices/o-07"]).json(), world.get("/offices/o-07").json());
    let page = api(&["GET", "/offices?size=5", "-F", "term=o-1"]).json();
    assert_eq!(page, world.get("/offices?size=5&term=o-1").json());
    // Pages are as large as they may be, unless they are asked for otherwise.
    for (sizes, pages) in [(&["-F", "size=10"][..], 3), (&[], 1)] {
        let line = ["GET", "/offices", "--paginate", "--print-curl", "--jq", "length"];
        let ran = api(&[&line, sizes].concat());
        assert_eq!((ran.out.as_str(), ran.err.matches("curl ").count()), ("25\n", pages), "{}", ran.err);
    }
    // Words of JSON keep their kind, everything else is text.
    let body = ["-F", "identifier=c-1", "-F", "member=true", "-F", "surname=12 Apostles"];
    api(&[&["POST", "/customers"][..], &body].concat()).ok();
    let customer = world.get("/customers/c-1").json();
    assert_eq!((&customer["member"], &customer["surname"]), (&json!(true), &json!("12 Apostles")));
    let tag = world.get("/offices/o-01").header("etag");
    api(&["DELETE", "/offices/o-01", "-H", "if-match: \"other\""]).fails(6);
    api(&["DELETE", "/offices/o-01", "-H", &format!("if-match: {tag}")]).ok();
    assert_eq!(api(&["GET", "/offices/o-01", "-o", "json"]).fails_in_json(3)["code"], "office_not_found");
    api(&["BREW", "/offices"]).fails(2);
    api(&["GET", "offices"]).fails(2);
    api(&["GET", "/offices/o-02", "--paginate"]).fails(2);
}

#[test]
fn the_printed_line_of_curl_sends_the_same_and_holds_no_secret() {
    let world = World::start();
    let create = ["offices", "create", "tema", "--name", "Tema's \"Harbour\"", "--print-curl", "--no-read"];
    let ran = run(world.mfa(&create));
    let line = ran.err.lines().find(|line| line.starts_with("curl -X POST")).unwrap().to_owned();
    assert_eq!(world.get("/offices/tema").json()["name"], "Tema's \"Harbour\"");
    world.delete("/offices/tema").is(202);
    // With the same key the daemon would answer as the first time and do nothing.
    let line = line.replace("idempotency-key: ", "idempotency-key: other-");
    let done = Command::new("sh").args(["-ec", &format!("{line} -sS --fail")]).output().unwrap();
    assert!(done.status.success(), "{line}\n{}", String::from_utf8_lossy(&done.stderr));
    assert_eq!(world.get("/offices/tema").json()["name"], "Tema's \"Harbour\"");
    let file = world.dir.path().join("secret");
    std::fs::write(&file, "a very secret kettle").unwrap();
    let words = ["users", "create", "ama", "--role", "clerk", "--print-curl", "--password-file"];
    let mut command = world.mfa(&[&words[..], &[file.to_str().unwrap()]].concat());
    command.env("MFA_TOKEN", "token-of-mine");
    let ran = run(command);
    assert!(ran.err.contains("authorization: Bearer $MFA_TOKEN"), "{}", ran.err);
    assert!(!ran.err.contains("kettle") && !ran.err.contains("token-of-mine"), "{}", ran.err);
}

#[test]
fn a_script_waits_until_a_record_is_as_it_needs_it() {
    let world = World::start();
    sample(&world);
    let wait = |words: &[&str]| run(world.mfa(&[&["wait"], words].concat()));
    let active = ["customer/c-001", "--for", "state=ACTIVE"];
    // It answers as the command does that reads the record.
    for format in ["json", "yaml", "csv", "id", "table"] {
        let read = run(world.mfa(&["customers", "get", "c-001", "-o", format])).ok();
        assert_eq!(wait(&[&active[..], &["-o", format]].concat()).ok(), read, "{format}");
    }
    assert_eq!(wait(&active).ok(), run(world.mfa(&["customers", "get", "c-001"])).ok());
    let seen = wait(&["customer/c-001", "--for", "state=LOCKED", "--timeout", "1s", "-o", "json"]);
    let failure = seen.fails_in_json(8);
    assert!(failure["message"].as_str().unwrap().contains("it is ACTIVE"), "{failure}");
    for record in ["customers/c-001", "products/savings", "product/savings", "account/c-003.9100.00002"] {
        wait(&[record, "--for", "exists", "-o", "json"]).json();
    }
    assert_eq!(wait(&["office/nowhere", "--for", "gone"]).ok(), "");
    // The secret of a gateway is neither shown nor told.
    let seen = wait(&["configuration/main", "--for", "exists", "-o", "json"]).json();
    assert_eq!((&seen["host"], &seen["app_password"]), (&"mail.example.org".into(), &"***".into()));
    let seen = wait(&["configuration/main", "--for", "app_password=x", "--timeout", "1s"]);
    assert!(seen.fails(8).contains("it is ***"));
    wait(&["office/nowhere", "--for", "exists", "--timeout", "1"]).fails(8);
    wait(&["customer/c-001", "--for", "stat=ACTIVE"]).fails(2);
    wait(&["customer/nobody", "--for", "state=ACTIVE"]).fails(3);
    assert!(wait(&["custmer/c", "--for", "exists"]).fails(2).contains("did you mean customer?"));
    assert!(wait(&["teller/desk-1", "--for", "exists"]).fails(2).contains("teller/OFFICE-ID/TELLER-ID"));
    wait(&["teller/head-office/desk-1", "--for", "state=CLOSED"]).ok();
    let terminal = Terminal::start(&world, 80, &[]);
    let screen = terminal.run("mfa wait teller/head-office/desk-2 --for state=ACTIVE");
    assert!(screen.contains("\nteller/head-office/desk-2: state is ACTIVE\ncode "), "{screen}");
    assert!(screen.contains(" 5000.00\n"), "{screen}");
    let screen = terminal.run("mfa wait office/market --for exists");
    assert!(screen.contains("\noffice/market exists\nidentifier "), "{screen}");
    let screen = terminal.run("mfa wait office/nowhere --for gone");
    assert!(screen.contains("\noffice/nowhere is gone\nexit 0"), "{screen}");
    // Somebody else makes it so while the command waits.
    let waiting = world
        .mfa(&["wait", "customer/c-002", "--for", "state=ACTIVE", "--timeout", "1m"])
        .stdout(std::process::Stdio::null())
        .spawn();
    std::thread::sleep(Duration::from_millis(300));
    let body: Value = json!({ "action": "ACTIVATE" });
    world.post("/customers/c-002/commands", body.to_string()).is(202);
    assert!(waiting.unwrap().wait().unwrap().success());
}
