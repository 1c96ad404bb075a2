//! Imports that are refused as a whole: what was there before stays, and nothing is left to be resumed. And
//! those that are ended from outside, which can be resumed.

use crate::support::guarded::PASSWORD;
use crate::support::run::{Ran, left, run, with_hangup};
use crate::support::scripted::server;
use crate::support::world::World;
use rustix::fs::{OFlags, fcntl_setfl};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use std::fs;
use std::io::Write;
use std::process::Stdio;
use std::time::{Duration, Instant};

const ROWS: &str = "identifier,member\nc-1,true\nc-2,x\n";

fn import(world: &World, arguments: &[&str], variables: &[(&str, &str)]) -> Ran {
    let mut command = world.mfa(&[&["customers", "import", "rows.csv"], arguments].concat());
    command.current_dir(world.dir.path()).envs(variables.iter().copied());
    run(command)
}

fn write(world: &World, name: &str, text: &str) {
    fs::write(world.dir.path().join(name), text).unwrap();
}

/// The report and the failed rows, as far as they are there.
fn files(world: &World) -> [Option<String>; 2] {
    ["report", "failed"]
        .map(|end| fs::read_to_string(world.dir.path().join(format!("rows.csv.{end}.csv"))).ok())
}

#[test]
fn an_import_of_which_nothing_was_done_leaves_the_files_of_the_last_one_and_no_run_open() {
    let world = World::guarded();
    write(&world, "word", PASSWORD);
    let mut login = world.mfa(&["login", "olga", "--password-file", "word"]);
    login.current_dir(world.dir.path());
    run(login).ok();
    write(&world, "rows.csv", ROWS);
    let refused = |resume: &[&str]| {
        let bad: &[(&str, &str)] = &[("MFA_TOKEN", "bad")];
        let away = [&["--url", "http://127.0.0.1:1", "--retries", "0"], resume].concat();
        for (exit, arguments, variables) in [(4, resume, bad), (10, &away, &[])] {
            let said = import(&world, arguments, variables).fails(exit);
            assert_eq!(said.contains("--resume"), arguments.contains(&"--resume"), "{said}");
        }
    };
    // Before the first import nothing is made.
    refused(&[]);
    assert_eq!(files(&world), [None, None]);
    assert_eq!(import(&world, &[], &[]).exit, 9);
    let before = files(&world);
    assert!(before.iter().all(Option::is_some), "{before:?}");
    refused(&[]);
    assert_eq!(files(&world), before);
    // One that is to be resumed stays one that is to be resumed.
    let header = before[0].as_ref().unwrap().lines().next().unwrap();
    let open = format!("{header}\n0,the-run,begun,,customers\n");
    write(&world, "rows.csv.report.csv", &open);
    refused(&["--resume"]);
    assert_eq!(files(&world), [Some(open), before[1].clone()]);
    write(&world, "rows.csv.report.csv", before[0].as_deref().unwrap());
    assert_eq!(import(&world, &[], &[]).exit, 9, "no run is open");
}

#[test]
fn an_atomic_import_of_too_many_rows_leaves_no_run_open() {
    let world = World::start();
    write(&world, "rows.csv", ROWS);
    assert_eq!(import(&world, &[], &[]).exit, 9);
    let before = files(&world);
    let many: String = (0..1001).map(|i| format!("x-{i}\n")).collect();
    write(&world, "rows.csv", &format!("identifier\n{many}"));
    let said = import(&world, &["--atomic"], &[]).fails(2);
    assert!(said.contains("nothing was sent") && !said.contains("--atomic --resume"), "{said}");
    assert_eq!(files(&world), before);
    // It says to import them without --atomic.
    import(&world, &[], &[]).ok();
    assert_eq!(world.get("/customers?size=1").json()["totalElements"], 1002);
}

#[test]
fn an_import_whose_answer_is_lost_is_left_to_be_resumed() {
    let world = World::start();
    write(&world, "rows.csv", "identifier\nc-1\n");
    for flags in [&[][..], &["--atomic"]] {
        let (url, requests) = server(vec![String::new()]);
        let lost = [&["--url", &url, "--retries", "0"], flags].concat();
        let said = import(&world, &lost, &[]).fails(10);
        assert!(said.contains("go on: ") && said.contains("--resume"), "{said}");
        assert_eq!(requests.join().unwrap().len(), 1);
        assert!(files(&world)[0].as_ref().unwrap().contains(",begun,"), "it may have been done");
        assert!(import(&world, flags, &[]).fails(2).contains("did not end"));
        fs::remove_file(world.dir.path().join("rows.csv.report.csv")).unwrap();
    }
}

#[test]
fn an_atomic_import_that_was_done_without_an_answer_is_resumed_in_every_mode() {
    let world = World::start();
    for (mode, of_new, of_old) in [
        ("create", "created", "created"),
        ("upsert", "created", "updated"),
        ("skip-existing", "created", "skipped"),
    ] {
        write(&world, "rows.csv", &format!("identifier,surname\n{mode}-1,Addo\n{mode}-2,Owusu\n"));
        // The second time as if no answer had come the first time.
        for counted in [of_new, of_old] {
            write(&world, "rows.csv.report.csv", "row,id,status,code,message\n0,the-run,begun,,customers\n");
            let summary = import(&world, &["--atomic", "--mode", mode, "--resume", "-o", "json"], &[]).json();
            assert_eq!(summary[counted], 2, "{mode}: {summary}");
        }
    }
    assert_eq!(world.get("/customers").json()["totalElements"], 6);
}

#[test]
fn an_import_that_is_ended_from_outside_says_how_it_goes_on() {
    const COUNT: u64 = 4_000;
    for (signal, exit) in [(Signal::TERM, 143), (Signal::HUP, 129)] {
        let world = World::start();
        let rows: String = (0..COUNT).map(|i| format!("c-{i},Ama,Mensah {i}\n")).collect();
        write(&world, "rows.csv", &format!("identifier,givenName,surname\n{rows}"));
        let line = world.mfa(&["customers", "import", "rows.csv", "-o", "json"]);
        let mut command = with_hangup("default", &line);
        command.current_dir(world.dir.path());
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let running = command.spawn().unwrap();
        let since = Instant::now();
        let count = || world.get("/customers?size=1").json()["totalElements"].as_u64().unwrap();
        while count() == 0 {
            assert!(since.elapsed() < Duration::from_secs(60), "no row was done");
            std::thread::sleep(Duration::from_millis(5));
        }
        kill_process(Pid::from_raw(i32::try_from(running.id()).unwrap()).unwrap(), signal).unwrap();
        let ran = left(running.wait_with_output().unwrap());
        assert_eq!(ran.exit, exit, "{ran:?}");
        let last: Value = serde_json::from_str(ran.err.lines().next_back().unwrap()).unwrap();
        let error = &last["error"];
        assert_eq!(error["message"], "interrupted; what was done is in the report");
        assert_eq!(error["hint"], "go on: mfa customers import rows.csv --resume");
        assert!(count() < COUNT);
        import(&world, &["--resume"], &[]).ok();
        assert_eq!(count(), COUNT);
    }
}

#[test]
fn an_import_whose_totals_nobody_reads_can_be_ended() {
    let world = World::start();
    write(&world, "rows.csv", "identifier,surname\nc-1,Mensah\n");
    let (_unread, mut full) = std::io::pipe().unwrap();
    fcntl_setfl(&full, OFlags::NONBLOCK).unwrap();
    while full.write(b".").is_ok() {}
    fcntl_setfl(&full, OFlags::empty()).unwrap();
    let line = world.mfa(&["customers", "import", "rows.csv", "-o", "json"]);
    let mut command = with_hangup("default", &line);
    command.current_dir(world.dir.path()).stdin(Stdio::null()).stdout(full).stderr(Stdio::null());
    let mut running = command.spawn().unwrap();
    // Its report is whole before the totals are shown.
    let since = Instant::now();
    while !files(&world)[0].as_ref().is_some_and(|report| report.contains("c-1,created")) {
        assert!(since.elapsed() < Duration::from_secs(60), "the row was not created");
        std::thread::sleep(Duration::from_millis(5));
    }
    std::thread::sleep(Duration::from_millis(200));
    kill_process(Pid::from_raw(i32::try_from(running.id()).unwrap()).unwrap(), Signal::TERM).unwrap();
    while running.try_wait().unwrap().is_none() {
        assert!(since.elapsed() < Duration::from_secs(60), "it does not end");
        std::thread::sleep(Duration::from_millis(5));
    }
    assert_eq!(running.wait().unwrap().code(), Some(143));
}
