//! The day at a teller from the command line: open, unlock, pause, count, close, report.

use crate::support::run::{Ran, run};
use crate::support::sample::sample;
use crate::support::terminal::Terminal;
use crate::support::world::World;
use serde_json::json;
use std::path::PathBuf;
use std::process::Command;

fn office() -> World {
    let world = World::start();
    sample(&world);
    world
}

/// `mfa teller ...` on a machine of the head office.
fn teller(world: &World, line: &[&str]) -> Ran {
    let mut command = world.mfa(&[&["teller"], line].concat());
    command.env("MFA_OFFICE", "head-office");
    run(command)
}

fn state(world: &World, code: &str) -> String {
    let shown = world.get(&format!("/offices/head-office/teller/{code}")).is(200).json();
    shown["state"].as_str().unwrap().to_owned()
}

fn pin(world: &World) -> String {
    let file = world.dir.path().join("pin");
    std::fs::write(&file, "4711\n").unwrap();
    file.to_str().unwrap().to_owned()
}

/// The files in a folder of reports, by name.
fn files(folder: &std::path::Path) -> Vec<PathBuf> {
    let mut found: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    found.sort();
    found
}

#[test]
fn a_count_shows_its_difference_and_takes_no_point_between_thousands() {
    let world = office();
    for line in [
        &["close", "desk-2", "--counted", "1.406", "-y"][..],
        &["close", "desk-2", "--to-vault", "1.000", "-y"],
        &["open", "desk-1", "--employee", "kojo", "--from-vault", "2.000"],
    ] {
        let said = teller(&world, line).fails(7);
        assert!(said.contains("must have at most 2 fraction digits"), "{line:?}: {said}");
    }
    teller(&world, &["pause", "desk-2"]).ok();
    let count = |counted: &str| teller(&world, &["denominations", "add", "desk-2", "--counted", counted]);
    assert!(count("1.406").fails(7).contains("hint: there is no mark between thousands: 1250.00"));
    let short = count("604.00").err;
    let said = "expected    605.00\ncounted     604.00\n\
        difference  -1.00: cash is short, which will be booked\n";
    assert!(short.contains(said), "{short}");
    let right = count("604").err;
    assert!(right.contains("difference  0.00: the cash is right\n"), "{right}");
    let counts = world.get("/offices/head-office/teller/desk-2/denominations").json();
    assert_eq!(counts.as_array().unwrap().len(), 2);
}

#[test]
fn a_closing_with_a_count_books_the_difference_and_reports_the_day() {
    let world = office();
    let line = ["close", "desk-2", "--denominations", "100x6,2x2", "--to-vault", "600", "-y", "-o", "json"];
    let ran = teller(&world, &line);
    let said = "1 transaction waits for confirmation and will be cancelled: \
        mfa teller transactions list desk-2 --status pending\n\
        expected    605.00\ncounted     604.00\n\
        difference  -1.00: cash is short, which will be booked\n\
        to vault    600.00\nstays       4.00\n";
    assert!(ran.err.contains(said), "{}", ran.err);
    let report = ran.json();
    let whole = world.get("/offices/head-office/teller/desk-2/reports/1").is(200).json();
    assert_eq!(report, whole);
    for (property, expected) in [
        ("number", json!(1)),
        ("employeeIdentifier", json!("kwame")),
        ("cashReceivedTotal", json!(605)),
        ("cashDisbursedTotal", json!(601)),
        ("expectedTotal", json!(605)),
        ("countedTotal", json!(604)),
        ("difference", json!(-1)),
        ("cashOnHand", json!(4)),
    ] {
        assert_eq!(report[property], expected, "{property}");
    }
    assert_eq!(state(&world, "desk-2"), "CLOSED");
    let counts = world.get("/offices/head-office/teller/desk-2/denominations").json();
    assert_eq!((&counts[0]["countedTotal"], &counts[0]["note"]), (&json!(604), &json!("100x6,2x2")));
}

#[test]
fn reports_are_numbered_files_that_are_never_written_over() {
    let world = office();
    let folder = world.dir.path().join("reports");
    let dir = folder.to_str().unwrap();
    teller(&world, &["close", "desk-2", "--report-dir", dir]).ok();
    teller(&world, &["open", "desk-2", "--employee", "kwame", "--from-vault", "5"]).ok();
    teller(&world, &["close", "desk-2", "--report-dir", dir, "--report-format", "csv"]).ok();
    let names: Vec<_> =
        files(&folder).iter().map(|file| file.file_name().unwrap().to_str().unwrap().to_owned()).collect();
    let day = world.clock.now().day();
    assert_eq!(names, [format!("desk-2-0001-{day}.txt"), format!("desk-2-0002-{day}.csv")]);
    let sheet = std::fs::read_to_string(&files(&folder)[0]).unwrap();
    assert!(sheet.starts_with("Day report 1\n\nTeller    desk-2\n"), "{sheet}");
    assert!(sheet.contains("Employee  kwame\n") && sheet.contains("not counted"), "{sheet}");
    assert!(sheet.contains(" 500.00 ") && sheet.contains(" 605.00\n"), "{sheet}");
    // On paper it has a head, here the name of the office alone.
    let printed = teller(&world, &["reports", "print", "desk-2", "1"]).ok();
    assert_eq!(printed, format!("Head Office (head-office)\n\n{sheet}"));
    let row = std::fs::read_to_string(&files(&folder)[1]).unwrap();
    assert_eq!(row, teller(&world, &["reports", "get", "desk-2", "2", "-o", "csv"]).ok());
    // Saving the same report again does no harm; a file with other content is kept.
    teller(&world, &["reports", "save", "desk-2", "1", "--report-dir", dir]).ok();
    std::fs::write(&files(&folder)[0], "mine").unwrap();
    let said = teller(&world, &["reports", "save", "desk-2", "1", "--report-dir", dir]).fails(1);
    assert!(said.contains("is there already and holds something else"), "{said}");
    assert_eq!(std::fs::read_to_string(&files(&folder)[0]).unwrap(), "mine");
    let json = ["reports", "save", "desk-2", "1", "--report-dir", dir, "--report-format", "json"];
    teller(&world, &json).ok();
    let written = std::fs::read_to_string(folder.join(format!("desk-2-0001-{day}.json"))).unwrap();
    let read: serde_json::Value = serde_json::from_str(&written).unwrap();
    assert_eq!(read, world.get("/offices/head-office/teller/desk-2/reports/1").json());
}

#[test]
fn a_report_that_could_not_be_written_whole_can_be_saved_again() {
    let world = office();
    let folder = world.dir.path().join("reports");
    let line = ["reports", "save", "desk-2", "--office", "head-office", "--report-dir"];
    let save = world.mfa(&[&["teller"], &line[..], &[folder.to_str().unwrap()]].concat());
    teller(&world, &["close", "desk-2"]).ok();
    // No file may grow: the first run is killed at it, the second one gets an error, as on a full disk.
    for prepared in ["", "trap '' XFSZ; "] {
        let mut command = Command::new("/bin/sh");
        command.args(["-c", &format!("{prepared}ulimit -f 0; exec \"$0\" \"$@\"")]).env_clear();
        command.arg(save.get_program()).args(save.get_args());
        command.envs(save.get_envs().filter_map(|(name, value)| Some((name, value?))));
        let ran = run(command);
        assert!(ran.exit != 0, "{prepared}: {}", ran.out);
        let written = files(&folder).iter().filter(|file| file.extension().is_some()).count();
        assert_eq!(written, 0, "{prepared}: {:?}", files(&folder));
    }
    teller(&world, &[&line[..], &[folder.to_str().unwrap()]].concat()).ok();
    teller(&world, &[&line[..], &[folder.to_str().unwrap()]].concat()).ok();
    let written = files(&folder).into_iter().find(|file| file.extension().is_some()).unwrap();
    assert!(std::fs::read_to_string(written).unwrap().starts_with("Day report 1\n"));
}

#[test]
fn reports_go_to_the_data_folder_of_the_user_unless_a_folder_is_named() {
    let world = office();
    teller(&world, &["close", "desk-2"]).ok();
    let host = world.url().replace("http://", "").replace(':', "_");
    let own = world.dir.path().join("share").join("mfa").join("reports").join(host);
    assert_eq!(files(&own).len(), 1);
    let named = world.dir.path().join("named");
    let mut save = world.mfa(&["teller", "reports", "save", "desk-2", "--office", "head-office"]);
    save.env("MFA_REPORT_DIR", &named);
    run(save).ok();
    assert_eq!(files(&named).len(), 1);
}

#[test]
fn a_folder_that_takes_no_report_leaves_the_teller_open() {
    let world = office();
    let file = pin(&world);
    let said = teller(&world, &["close", "desk-2", "--counted", "605", "-y", "--report-dir", &file]).fails(1);
    assert!(said.contains("reports cannot be written to"), "{said}");
    assert_eq!(state(&world, "desk-2"), "ACTIVE");
    assert_eq!(world.get("/offices/head-office/teller/desk-2/denominations").text(), "[]");
}

#[test]
fn a_count_that_cannot_be_saved_changes_nothing() {
    let world = office();
    let close = |more: &[&str]| teller(&world, &[&["close", "desk-2"], more].concat());
    assert!(close(&["--counted", "605"]).fails(2).contains("--yes is needed"));
    let said = close(&["--counted", "600", "--to-vault", "600.01", "-y"]).fails(6);
    assert!(said.contains("600.00 was counted, so 600.01 cannot be brought into the vault"), "{said}");
    close(&["--counted", "1", "--denominations", "1x1", "-y"]).fails(2);
    close(&["--denominations", "100y6", "-y"]).fails(2);
    // The teller is paused for a count; not for one that is refused anyway.
    close(&["--counted", "-5", "-y"]).fails(7);
    close(&["--counted", "600", "--to-vault", "-5", "-y"]).fails(7);
    close(&["--counted", "600", "--from-vault", "-5", "-y"]).fails(7);
    close(&["--counted", "600", "--note", &"n".repeat(5_000), "-y"]).fails(7);
    assert_eq!(state(&world, "desk-2"), "ACTIVE");
    close(&["-q"]).ok();
    let said = close(&["--counted", "1", "-y"]).fails(6);
    assert!(said.contains("desk-2 is CLOSED, so its cash cannot be counted"), "{said}");
    close(&[]).fails(6);
    assert_eq!(world.get("/offices/head-office/teller/desk-2/reports").json().as_array().unwrap().len(), 1);
}

#[test]
fn a_pin_is_never_part_of_a_command_line() {
    let world = office();
    let line = ["unlock", "desk-2", "--employee", "kwame"];
    let said = teller(&world, &line).fails(2);
    assert!(said.contains("--password-stdin is needed"), "{said}");
    teller(&world, &[&line[..], &["--password", "4711"]].concat()).fails(2);
    let pin = pin(&world);
    let given = [&line[..], &["--password-file", &pin, "-o", "tsv"]].concat();
    let out = teller(&world, &given).ok();
    assert!(out.contains("ACTIVE") && !out.contains("4711"), "{out}");
    let file = world.dir.path().join("wrong");
    std::fs::write(&file, "0000").unwrap();
    let wrong = [&line[..], &["--password-file", file.to_str().unwrap(), "-o", "json"]].concat();
    let error = teller(&world, &wrong).fails_in_json(5);
    assert_eq!(error["code"], "wrong_drawer_password");
    let hint = error["hint"].as_str().unwrap();
    assert!(hint.ends_with("or set another: mfa teller update desk-2"), "{hint}");
}

#[test]
fn a_drawer_is_unlocked_by_the_one_who_is_logged_in() {
    let world = office();
    // No one is logged in here, because the daemon does not require it.
    let said = teller(&world, &["unlock", "desk-2", "--password-file", &pin(&world)]).fails(2);
    assert!(said.contains("--employee is needed"), "{said}");
}

#[test]
fn the_verbs_of_a_day_follow_the_states() {
    let world = office();
    let pin = pin(&world);
    let went = |line: &[&str], expected: &str| {
        teller(&world, line).ok();
        assert_eq!(state(&world, "desk-1"), expected, "{line:?}");
    };
    let unlock = ["unlock", "desk-1", "--employee", "kojo", "--password-file", &pin];
    let said = teller(&world, &["open", "desk-1", "--employee", "kwame"]).fails(6);
    assert!(said.contains("kwame works at teller desk-2 of office head-office, so not at desk-1"), "{said}");
    assert!(said.ends_with(": mfa teller close desk-2 --office head-office\n"), "{said}");
    teller(&world, &["open", "desk-1"]).fails(7);
    went(&["open", "desk-1", "--employee", "kojo", "--from-vault", "20.00"], "OPEN");
    assert!(teller(&world, &["pause", "desk-1"]).fails(6).contains("is OPEN"));
    let said = teller(&world, &["close", "desk-1", "--counted", "20", "-y"]).fails(6);
    assert!(said.contains("is OPEN, so its cash cannot be counted"), "{said}");
    assert!(said.ends_with(": mfa teller unlock desk-1\n"), "{said}");
    went(&unlock, "ACTIVE");
    teller(&world, &["denominations", "add", "desk-1", "--counted", "20"]).fails(7);
    went(&["pause", "desk-1"], "PAUSED");
    went(&["denominations", "add", "desk-1", "--counted", "20", "--note", "noon"], "PAUSED");
    went(&unlock, "ACTIVE");
    went(&["close", "desk-1", "--counted", "20", "-y"], "CLOSED");
    let counts =
        teller(&world, &["denominations", "list", "desk-1", "-o", "csv", "--columns", "counted,note"]);
    assert_eq!(counts.ok(), "counted,note\n20,\n20,noon\n");
}

#[test]
fn a_balance_is_shown_with_its_movements() {
    let world = office();
    let shown = teller(&world, &["balance", "desk-2", "-o", "csv"]).ok();
    let day = world.clock.now().day();
    assert_eq!(shown, format!("day,on-hand,received,disbursed\n{day},605,605,0\n"));
    let entries = teller(&world, &["balance", "desk-2", "--entries", "--columns", "side,message,amount"]);
    let expected = "side\tmessage\tamount\n\
        DEBIT\tTeller adjustment.\t500\nDEBIT\tACCO\t100\nDEBIT\tACCO\t5\n";
    assert_eq!(entries.ok(), expected);
    assert_eq!(teller(&world, &["balance", "desk-3", "--entries", "-o", "json"]).ok(), "[]\n");
}

#[test]
fn a_watched_balance_is_shown_whenever_it_changes() {
    use std::io::{BufRead, BufReader};
    let world = office();
    let mut watch =
        world.mfa(&["teller", "balance", "desk-2", "--office", "head-office", "--watch", "-o", "csv"]);
    let mut watching = watch.stdout(std::process::Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(watching.stdout.take().unwrap()).lines().map(Result::unwrap);
    assert_eq!(lines.next().unwrap(), "day,on-hand,received,disbursed");
    assert!(lines.next().unwrap().ends_with(",605,605,0"));
    let deposit = ["deposit", "desk-2", "--account", "c-003.9100.00002", "--amount", "10", "-y"];
    teller(&world, &deposit).ok();
    assert!(lines.next().unwrap().ends_with(",615,615,0"));
    watching.kill().unwrap();
    watching.wait().unwrap();
}

#[test]
fn tellers_are_created_changed_and_deleted() {
    let world = office();
    let pin = pin(&world);
    let accounts = [
        "--drawer-account",
        "drawer-5",
        "--vault-account",
        "vault",
        "--cheques-account",
        "cheques",
        "--over-short-account",
        "over-short",
    ];
    // What is missing is reported before a password is asked for.
    let said = teller(&world, &["create", "desk-5", "--limit", "10"]).fails(7);
    assert!(said.contains("/tellerAccountIdentifier"), "{said}");
    let create =
        [&["create", "desk-5", "--limit", "10.50"], &accounts[..], &["--password-file", &pin]].concat();
    teller(&world, &create).ok();
    teller(&world, &create).fails(6);
    let update =
        ["update", "desk-5", "--limit", "20", "--count-required", "--password-file", &pin, "-o", "json"];
    let changed = teller(&world, &update).json();
    assert_eq!((&changed["cashdrawLimit"], &changed["denominationRequired"]), (&json!(20), &json!(true)));
    assert_eq!(teller(&world, &["list", "-o", "id"]).ok(), "desk-1\ndesk-2\ndesk-3\ndesk-5\n");
    assert_eq!(teller(&world, &["get", "desk-5", "-o", "json"]).json(), changed);
    assert!(teller(&world, &["delete", "desk-2", "-y"]).fails(6).contains("was opened on"));
    teller(&world, &["delete", "desk-5"]).fails(2);
    teller(&world, &["delete", "desk-5", "-y"]).ok();
    assert!(teller(&world, &["get", "desk-5"]).fails(3).contains("no teller \"desk-5\""));
    let said = run(world.mfa(&["teller", "list"])).fails(2);
    assert!(said.contains("--office is needed"), "{said}");
}

#[test]
fn on_a_terminal_a_closing_shows_the_difference_and_asks() {
    let world = office();
    let terminal = Terminal::start(&world, 80, &[("MFA_OFFICE", "head-office")]);
    let line = "clear; mfa teller close desk-2 --counted 604.50";
    terminal.type_line(line);
    let asked = terminal.wait_for("save the count and close teller desk-2? [y/N]");
    assert!(asked.contains("difference  -0.50: cash is short, which will be booked"), "{asked}");
    terminal.type_line("n");
    terminal.wait_for("$");
    assert_eq!(state(&world, "desk-2"), "ACTIVE");
    terminal.type_line(line);
    terminal.wait_for("[y/N]");
    // Cash that moves between the question and the answer is not counted away.
    let deposit = ["deposit", "desk-2", "--account", "c-003.9100.00002", "--amount", "10", "-y"];
    teller(&world, &deposit).ok();
    terminal.type_line("y");
    let refused = terminal.wait_for("$");
    assert!(refused.contains("cash moved meanwhile: the drawer should hold 615.00, not 605.00"), "{refused}");
    assert_eq!(state(&world, "desk-2"), "PAUSED");
    assert_eq!(world.get("/offices/head-office/teller/desk-2/denominations").text(), "[]");
    terminal.type_line("clear; mfa teller unlock desk-2 --employee kwame");
    terminal.wait_for("password of the drawer desk-2:");
    terminal.type_line("4711");
    let shown = terminal.wait_for("$");
    assert!(shown.contains("ACTIVE") && !shown.contains("4711"), "{shown}");
}

#[test]
fn a_teller_that_must_be_counted_is_closed_with_a_count_only() {
    let world = office();
    let pin = pin(&world);
    teller(&world, &["update", "desk-1", "--count-required", "--password-file", &pin]).ok();
    teller(&world, &["open", "desk-1", "--employee", "kojo", "--from-vault", "605"]).ok();
    // If a count cannot be saved yet, it is not asked for.
    assert!(teller(&world, &["close", "desk-1"]).fails(6).contains("is OPEN, so its cash cannot be counted"));
    let unlock = ["unlock", "desk-1", "--employee", "kojo", "--password-file", &pin];
    teller(&world, &unlock).ok();
    let said = teller(&world, &["close", "desk-1", "-y"]).fails(2);
    let expected = "error: the cash of teller desk-1 must be counted before it is closed\n\
        hint: give what was counted: --counted 1250.00, or --denominations 100x12,50x1\n";
    assert_eq!(said, expected);
    let error = teller(&world, &["close", "desk-1", "-o", "json"]).fails_in_json(2);
    assert_eq!(error["code"], "input_needed");
    assert_eq!(state(&world, "desk-1"), "ACTIVE");
    // On a terminal it asks until it gets a count, and goes on as with --counted.
    let terminal = Terminal::start(&world, 80, &[("MFA_OFFICE", "head-office")]);
    let asks = "counted, such as 1250.00 or 100x12,50x1:";
    terminal.type_line("clear; mfa teller close desk-1");
    let asked = terminal.wait_for(asks);
    assert!(asked.contains("the cash of teller desk-1 must be counted before it is closed"), "{asked}");
    assert!(!asked.contains("expected"), "the expected cash is not shown before the count: {asked}");
    terminal.type_line("");
    assert!(terminal.wait_for("$").contains("error: nothing was done"));
    terminal.type_line("clear; mfa teller close desk-1 --to-vault 600");
    terminal.wait_for(asks);
    terminal.type_line("six hundred");
    terminal.type_line("100x6,2x2");
    let asked = terminal.wait_for("save the count and close teller desk-1? [y/N]");
    assert!(asked.contains("it must be an amount, such as 1250.00"), "{asked}");
    assert!(asked.contains("difference  -1.00: cash is short, which will be booked"), "{asked}");
    terminal.type_line("y");
    terminal.wait_for("$");
    assert_eq!(state(&world, "desk-1"), "CLOSED");
    let counts = world.get("/offices/head-office/teller/desk-1/denominations").json();
    assert_eq!((&counts[0]["countedTotal"], &counts[0]["note"]), (&json!(604), &json!("100x6,2x2")));
    // A count that was saved before is one.
    teller(&world, &["open", "desk-1", "--employee", "kojo"]).ok();
    teller(&world, &unlock).ok();
    teller(&world, &["pause", "desk-1"]).ok();
    teller(&world, &["denominations", "add", "desk-1", "--counted", "4"]).ok();
    teller(&world, &["close", "desk-1"]).ok();
    assert_eq!(state(&world, "desk-1"), "CLOSED");
}

#[test]
fn a_count_that_cannot_be_saved_is_refused_before_it_is_made() {
    let world = World::guarded();
    sample(&world);
    world.user("mara", "branch-manager");
    let password = world.dir.path().join("password.txt");
    run(world.mfa(&["login", "mara", "--password-file", password.to_str().unwrap()])).ok();
    // A manager closes a teller, and who works there pauses it.
    let close = ["close", "desk-2", "--counted", "605", "-y"];
    let said = teller(&world, &close).fails(5);
    let hint = "let olga pause it: mfa teller pause desk-2; then repeat the command";
    assert!(said.contains("you may not pause it") && said.contains(hint), "{said}");
    assert!(!said.contains("difference"), "{said}");
    world.login("olga").post("/teller/desk-2?command=PAUSE", json!({})).is(202);
    teller(&world, &close).ok();
}
