//! `mfa day`: the end of a day from the command line, its steps and its report.

use crate::api::interest::bank::interest_product;
use crate::support::run::{Ran, run};
use crate::support::sample::sample;
use crate::support::stored;
use crate::support::terminal::Terminal;
use crate::support::world::World;
use mfa_daemon::ops::OrderName;
use mfa_daemon::ops::interest::{Job, Next, Order, Part, claim, release, step};
use mfa_daemon::store::Tx;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

const DAYS: &str = "/offices/head-office/days";

fn office() -> World {
    let world = World::start();
    sample(&world);
    world
}

fn day(world: &World, line: &[&str]) -> Ran {
    run(world.mfa(&[&["day"], line].concat()))
}

fn close(world: &World) {
    run(world.mfa(&["teller", "close", "desk-2", "--office", "head-office"])).ok();
}

/// `interest done` for each step.
fn steps(ended: &Value) -> Vec<String> {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let shown = |step: &Value| format!("{} {}", text(&step["step"]), text(&step["result"]));
    ended["steps"].as_array().unwrap().iter().map(shown).collect()
}

/// How many days the sample has ended.
fn count(world: &World) -> usize {
    world.get(DAYS).is(200).json().as_array().unwrap().len()
}

#[test]
fn without_a_terminal_open_tellers_are_listed_and_nothing_is_done() {
    let world = office();
    let ran = day(&world, &["end", "head-office"]);
    assert_eq!(ran.exit, 9, "{}", ran.err);
    assert!(ran.out.contains("teller desk-2\tfailed\tdesk-2 is ACTIVE for kwame"), "{}", ran.out);
    assert!(ran.out.contains("mfa teller close desk-2 --office head-office"), "{}", ran.out);
    let ran = day(&world, &["end", "head-office", "-o", "json", "--yes"]);
    let error: Value = serde_json::from_str(&ran.err).unwrap();
    assert_eq!((ran.exit, &error["error"]["code"]), (9, &json!("day_not_ended")));
    let ended: Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!((steps(&ended), &ended["report"]), (vec!["teller desk-2 failed".to_owned()], &Value::Null));
    assert_eq!(count(&world), 1, "the sample has ended yesterday");
    assert_eq!(world.get("/interest/runs").json()["totalElements"], 0);
    let teller = world.get("/offices/head-office/teller/desk-2").json();
    assert_eq!(teller["state"], "ACTIVE");
    day(&world, &["end", "nowhere"]).fails(3);
    let said = day(&world, &["end", "head-office", "2999-01-01"]).fails(6);
    assert!(said.contains("2999-01-01 has not begun"), "{said}");
}

#[test]
fn a_day_ends_with_a_line_per_step_and_again_shows_the_same_report() {
    let world = office();
    close(&world);
    // A product of which days are over.
    world.clock.advance(-3 * 86_400);
    world.post("/definitions", interest_product("gain", "2.50", "MONTHLY").to_string()).is(202);
    world.post("/definitions/gain/commands", r#"{"action":"ACTIVATE"}"#).is(202);
    world.clock.advance(3 * 86_400);
    let ended = day(&world, &["end", "head-office", "-o", "json"]).json();
    let all =
        ["tellers done", "interest done", "report done", "ledger done", "messages done", "backup skipped"];
    assert_eq!(steps(&ended), all, "{ended}");
    let date = world.clock.now().day().to_string();
    assert_eq!((&ended["office"], &ended["date"]), (&json!("head-office"), &json!(date)));
    let shown = day(&world, &["show", "head-office", &date, "-o", "json"]).ok();
    assert_eq!(serde_json::from_str::<Value>(&shown).unwrap(), ended["report"]);
    // The office goes on; the report does not.
    run(world.mfa(&["teller", "open", "desk-1", "--office", "head-office", "--employee", "kojo"])).ok();
    let again = day(&world, &["end", "head-office", "-o", "json"]).json();
    let all = [
        "tellers skipped",
        "interest skipped",
        "report skipped",
        "ledger done",
        "messages done",
        "backup skipped",
    ];
    assert_eq!(steps(&again), all, "{again}");
    assert_eq!(again["report"], ended["report"]);
    assert_eq!(day(&world, &["show", "head-office", &date, "-o", "json"]).ok(), shown);
    let listed = day(&world, &["list", "head-office", "-o", "csv", "--columns", "number,date"]).ok();
    let yesterday = world.clock.now().day().previous();
    assert_eq!(listed, format!("number,date\n1,{yesterday}\n2,{date}\n"));
    let sheet = day(&world, &["show", "head-office", &date, "-o", "table"]).ok();
    assert!(sheet.starts_with(&format!("Day {date} of office head-office")), "{sheet}");
    assert!(sheet.contains("Trial balance") && sheet.contains("never opened"), "{sheet}");
    let again = day(&world, &["end", "head-office", "-o", "table"]).ok();
    let line = again.lines().find(|line| line.starts_with("report ")).unwrap();
    let moment = format!("number 2, ended before: on {date} ");
    assert!(line.contains(&moment), "a moment as people read it: {line}");
    let said = day(&world, &["show", "head-office", "2020-01-01"]).fails(3);
    assert!(said.contains("see which were ended: mfa day list head-office\n"), "{said}");
    day(&world, &["show", "head-office", "soon"]).fails(2);
}

/// What a run leaves that was killed when it had done yesterday for the product `gain`.
fn killed_run(world: &mut World) {
    let (config, clock) = (world.config().clone(), world.clock.clone());
    let day = clock.now().day().previous();
    let work = move |tx: &mut Tx<'_>| {
        let by = "guest";
        claim(
            tx,
            &Order { until: day, from: None, name: OrderName::default(), by: by.to_owned() },
            by,
            None,
        )?;
        let job = Job { day, product: "gain".to_owned(), again: false };
        while step(tx, &job, Part::Any, 50, by, by)?.next != Next::End {}
        release(tx, by)
    };
    world.restart_after(|| {
        tokio::runtime::Runtime::new().unwrap().block_on(async {
            let store = stored::open(&config, clock);
            store.write("test", work).await.unwrap();
            stored::close(store).await;
        });
    });
}

#[test]
fn a_day_ends_with_the_interest_that_a_killed_run_left() {
    let mut world = office();
    close(&world);
    world.clock.advance(-3 * 86_400);
    for product in ["gain", "more"] {
        world.post("/definitions", interest_product(product, "2.50", "MONTHLY").to_string()).is(202);
        world.post(&format!("/definitions/{product}/commands"), r#"{"action":"ACTIVATE"}"#).is(202);
    }
    world.clock.advance(3 * 86_400);
    killed_run(&mut world);
    let run_of_day = || world.get("/interest/runs").is(200).json()["totalElements"].clone();
    assert_eq!(run_of_day(), 1);
    let ended = day(&world, &["end", "head-office", "-o", "json"]).json();
    assert_eq!((steps(&ended)[1].as_str(), run_of_day()), ("interest done", json!(2)), "{ended}");
    let again = day(&world, &["end", "head-office", "-o", "json"]).json();
    let yesterday = world.clock.now().day().previous();
    assert_eq!(steps(&again)[1], "interest skipped");
    assert_eq!(again["steps"][1]["detail"], format!("{yesterday} was run before"));
}

#[test]
fn a_step_that_fails_hides_no_other_one() {
    let world = office();
    close(&world);
    let mut command = world.mfa(&["day", "end", "head-office", "-o", "json"]);
    command.env("MFA_BACKUP_DIR", "not/absolute");
    let ran = run(command);
    assert_eq!(ran.exit, 9, "{}", ran.err);
    let ended: Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(steps(&ended).last().unwrap(), "backup failed");
    assert_eq!(ended["report"]["number"], 2);
    // Repeated with the fault mended, what is left is done, once.
    world.clock.advance(5);
    let folder = world.dir.path().join("backups");
    std::fs::create_dir(&folder).unwrap();
    for expected in ["backup done", "backup skipped"] {
        let mut command = world.mfa(&["day", "end", "head-office", "-o", "json"]);
        command.env("MFA_BACKUP_DIR", &folder);
        let ended = run(command).json();
        assert_eq!(steps(&ended).last().unwrap(), expected, "{ended}");
        assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 1);
    }
}

#[test]
fn a_branch_ends_its_day_and_what_is_for_others_is_skipped() {
    let world = World::guarded();
    sample(&world);
    world.user("mara", "branch-manager");
    let password = world.dir.path().join("password.txt");
    let login = ["login", "mara", "--password-file", password.to_str().unwrap()];
    run(world.mfa(&login)).ok();
    let ended = day(&world, &["end", "head-office", "--leave-open", "-o", "json"]).json();
    let all = [
        "tellers skipped",
        "interest skipped",
        "report done",
        "ledger done",
        "messages skipped",
        "backup skipped",
    ];
    assert_eq!(steps(&ended), all, "{ended}");
    assert_eq!(ended["report"]["endedBy"], "mara");
    run(world.mfa(&["login", "esi", "--password-file", password.to_str().unwrap()])).ok();
    let ran = day(&world, &["end", "head-office"]);
    assert_eq!(ran.exit, 5, "a clerk does not manage tellers: {}", ran.err);
    day(&world, &["list", "head-office"]).ok();
}

#[test]
fn a_dry_run_ends_no_day() {
    let world = office();
    close(&world);
    day(&world, &["end", "head-office", "--dry-run"]).ok();
    assert_eq!(count(&world), 1);
    assert_eq!(world.get("/interest/runs").json()["totalElements"], 0);
}

#[test]
fn on_a_terminal_it_asks_for_each_open_teller_and_required_counts() {
    let world = office();
    std::fs::write(world.dir.path().join("pin"), "4711\n").unwrap();
    let pin = world.dir.path().join("pin");
    let update =
        ["teller", "update", "desk-2", "--office", "head-office", "--count-required", "--password-file"];
    run(world.mfa(&[&update[..], &[pin.to_str().unwrap()]].concat())).ok();
    let terminal = Terminal::start(&world, 140, &[("MFA_PAGER", "")]);
    let question = format!("of office head-office at {}? [y/N]", world.url());
    terminal.type_line("clear; mfa day end head-office; echo exit $?");
    terminal.wait_for(&question);
    terminal.type_line("n");
    terminal.wait_for("error: nothing was done\nexit 1\n$");
    terminal.type_line("clear; mfa day end head-office; echo exit $?");
    terminal.wait_for(&question);
    terminal.type_line("y");
    // The sample has one; it is asked about once, with the teller.
    let both = format!(
        "desk-2 is ACTIVE for kwame: close it and cancel 1 pending transaction at {}? [y/N]",
        world.url()
    );
    terminal.wait_for(&both);
    terminal.type_line("n");
    let screen = terminal.wait_for("exit 9\n$");
    assert!(screen.contains("desk-2 is ACTIVE for kwame and was left so"), "{screen}");
    assert_eq!(count(&world), 1);
    terminal.type_line("clear; mfa day end head-office; echo exit $?");
    terminal.wait_for(&question);
    terminal.type_line("y");
    terminal.wait_for(&both);
    terminal.type_line("y");
    terminal.wait_for("counted, such as 1250.00 or 100x12,50x1:");
    terminal.type_line("604.00");
    terminal.wait_for("save the count and close teller desk-2? [y/N]");
    terminal.type_line("y");
    let screen = terminal.wait_for("exit 0\n$");
    for expected in ["Trial balance", "day report 1: 1.00 short", "teller desk-2 done", "report", "number 2"]
    {
        let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(words(&screen).contains(expected), "{expected}: {screen}");
    }
    assert_eq!(count(&world), 2);
}

#[test]
fn the_end_of_a_day_is_repeated_under_its_key_when_one_of_its_tellers_was_left_open() {
    let world = office();
    run(world.mfa(&["teller", "open", "desk-1", "--office", "head-office", "--employee", "kojo"])).ok();
    let terminal = Terminal::start(&world, 140, &[("MFA_PAGER", ""), ("MFA_OFFICE", "head-office")]);
    let end = |questions: &[(&str, &str)], exit: &str| {
        terminal.type_line("clear; mfa day end --idempotency-key day-1; echo exit $?");
        for (question, answer) in questions {
            terminal.answer(question, answer);
        }
        terminal.wait_for(exit);
    };
    let day = format!("of office head-office at {}? [y/N]", world.url());
    let cancels = format!("cancel 1 pending transaction at {}? [y/N]", world.url());
    end(&[(&day, "y"), ("desk-1 is OPEN for kojo: close it? [y/N]", "y"), (&cancels, "n")], "exit 9\n$");
    end(&[(&day, "y"), (&cancels, "y")], "exit 0\n$");
    assert_eq!(count(&world), 2);
}

#[test]
fn one_question_closes_a_teller_and_cancels_what_waits() {
    let world = office();
    let terminal = Terminal::start(&world, 140, &[("MFA_PAGER", ""), ("MFA_OFFICE", "head-office")]);
    terminal.type_line("clear; mfa day end; echo exit $?");
    terminal.wait_for(&format!("of office head-office at {}? [y/N]", world.url()));
    terminal.type_line("y");
    terminal.wait_for(&format!("close it and cancel 1 pending transaction at {}? [y/N]", world.url()));
    terminal.type_line("y");
    let screen = terminal.wait_for("exit 0\n$");
    assert_eq!(screen.matches("[y/N]").count(), 2, "one about the day, one about the teller: {screen}");
    assert!(screen.contains("1 transaction waits for confirmation and will be cancelled"), "{screen}");
    assert_eq!(count(&world), 2);
    let pending = world.get("/teller/desk-2/transactions?status=PENDING").is(200).json();
    assert_eq!(pending, json!([]));
}

#[test]
fn on_a_machine_of_one_office_its_days_need_no_office() {
    let world = office();
    let at_an_office = |line: &[&str]| {
        let mut command = world.mfa(&[&["day"], line].concat());
        command.env("MFA_OFFICE", "head-office");
        run(command)
    };
    for verb in ["end", "list", "show"] {
        let said = day(&world, &[verb]).fails(2);
        assert!(said.contains("OFFICE is needed") && said.contains("set MFA_OFFICE"), "{said}");
    }
    let said = at_an_office(&["show"]).fails(3);
    assert!(said.contains("end it: mfa day end head-office; see which were ended"), "{said}");
    let date = world.clock.now().day().to_string();
    let ended = at_an_office(&["end", "--leave-open", "-o", "json"]).json();
    assert_eq!((&ended["office"], &ended["date"]), (&json!("head-office"), &json!(date)));
    // A date alone is the day; anything else, and a word before a date, is the office.
    let yesterday = world.clock.now().day().previous().to_string();
    let again = at_an_office(&["end", &yesterday, "--leave-open", "-o", "json"]).json();
    assert_eq!((&again["office"], &again["date"]), (&json!("head-office"), &json!(yesterday)));
    at_an_office(&["end", "nowhere", "--leave-open"]).fails(3);
    at_an_office(&["end", "nowhere", &yesterday, "--leave-open"]).fails(3);
    let listed = at_an_office(&["list", "-o", "csv", "--columns", "number,date"]).ok();
    assert_eq!(listed, format!("number,date\n1,{yesterday}\n2,{date}\n"));
    at_an_office(&["list", "nowhere"]).fails(3);
    let shown = at_an_office(&["show", "-o", "json"]).json();
    assert_eq!((&shown, &shown["date"]), (&ended["report"], &json!(date)));
    let shown = at_an_office(&["show", &yesterday, "-o", "json"]).json();
    assert_eq!((&shown, &shown["date"]), (&again["report"], &json!(yesterday)));
    assert_eq!(at_an_office(&["show", "head-office", &yesterday, "-o", "json"]).json(), shown);
    at_an_office(&["show", "nowhere", &yesterday]).fails(3);
    at_an_office(&["show", "2020-01-01"]).fails(3);
}

/// The address of a relay before a daemon that sends the beginning of a backup and no more.
fn endless_backup(world: &World) -> String {
    let daemon = world.url().trim_start_matches("http://").to_owned();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for mut client in listener.incoming().flatten() {
            let mut server = TcpStream::connect(&daemon).unwrap();
            let (mut back, mut to) = (server.try_clone().unwrap(), client.try_clone().unwrap());
            std::thread::spawn(move || std::io::copy(&mut back, &mut to));
            std::thread::spawn(move || {
                let mut bytes = [0; 65_536];
                while let Ok(count @ 1..) = client.read(&mut bytes) {
                    if bytes.starts_with(b"GET /admin/backup ") {
                        client.write_all(
                            b"HTTP/1.1 200 OK\r\nx-request-id: 1\r\ncontent-length: 99999\r\n\r\nbegun",
                        )
                    } else {
                        server.write_all(&bytes[..count])
                    }
                    .unwrap();
                }
            });
        }
    });
    url
}

/// Ends the day through a relay, and sends a signal when `begun` says so; the error.
fn cut(world: &World, folder: &Path, signal: Signal, begun: impl Fn() -> bool) -> Value {
    let mut command = world.mfa(&["day", "end", "head-office", "-o", "json"]);
    command.env("MFA_BACKUP_DIR", folder).env("MFA_URL", endless_backup(world));
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let since = Instant::now();
    while !begun() {
        assert!(since.elapsed() < Duration::from_secs(60), "no draft was begun");
        std::thread::sleep(Duration::from_millis(10));
    }
    let pid = Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
    kill_process(pid, signal).unwrap();
    let ended = child.wait_with_output().unwrap();
    let said = String::from_utf8(ended.stderr).unwrap();
    assert_eq!(ended.status.code(), Some(if signal == Signal::INT { 130 } else { 143 }), "{said}");
    serde_json::from_str::<Value>(&said).unwrap()["error"].clone()
}

#[test]
fn a_signal_during_the_backup_leaves_no_draft_and_the_next_call_makes_it() {
    for signal in [Signal::INT, Signal::TERM] {
        let world = office();
        close(&world);
        let folder = world.dir.path().join("backups");
        std::fs::create_dir(&folder).unwrap();
        let names = || {
            let entries = std::fs::read_dir(&folder).unwrap();
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect::<Vec<_>>()
        };
        let error = cut(&world, &folder, signal, || !names().is_empty());
        let date = world.clock.now().day();
        let said = format!("the day {date} of office head-office has no backup yet");
        assert_eq!(error["message"], format!("interrupted; report number 2 is written, and {said}"));
        let hint = format!("repeat it: mfa day end head-office {date}; what is done is not repeated");
        assert_eq!(error["hint"], hint);
        assert_eq!(names(), Vec::<String>::new());
        let report = world.get(&format!("{DAYS}/{date}")).is(200).json();
        let mut command = world.mfa(&["day", "end", "head-office", &date.to_string(), "-o", "json"]);
        command.env("MFA_BACKUP_DIR", &folder);
        let ended = run(command).json();
        assert_eq!(steps(&ended).last().unwrap(), "backup done");
        assert_eq!((&ended["report"], count(&world)), (&report, 2), "the same report");
        let whole = names();
        assert_eq!(whole.len(), 1);
        run(world.mfa(&["backup", "verify", folder.join(&whole[0]).to_str().unwrap()])).ok();
    }
}
