//! What an import reports about failed rows.

use crate::support::counter::Counter;
use crate::support::run::{Ran, run};
use crate::support::scripted::{answer, server};
use crate::support::terminal::Terminal;
use crate::support::world::World;
use serde_json::Value;
use std::io::Write;
use std::process::Stdio;
use std::time::{Duration, Instant};

#[test]
fn failed_rows_take_the_place_of_no_device_and_of_no_other_file_of_the_import() {
    let world = World::start();
    let rows = world.dir.path().join("rows.csv");
    std::fs::write(&rows, "identifier,surname\n,Addo\n").unwrap();
    let before = std::fs::read(&rows).unwrap();
    let pipe = world.dir.path().join("pipe");
    rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, rustix::fs::Mode::RWXU).unwrap();
    let line = |flags: &[&str]| {
        let mut command = world.mfa(&[&["customers", "import", "rows.csv"], flags].concat());
        command.current_dir(world.dir.path());
        run(command)
    };
    let said = line(&["--failed", "pipe"]).fails(2);
    assert!(said.contains("pipe is no file") && pipe.exists(), "{said}");
    std::os::unix::fs::symlink("rows.csv", world.dir.path().join("other.csv")).unwrap();
    for (flag, path) in [("--failed", "rows.csv"), ("--report", "rows.csv"), ("--failed", "other.csv")] {
        let said = line(&[flag, path]).fails(2);
        assert!(said.contains("would be written over rows.csv"), "{said}");
    }
    let said = line(&["--failed", "both.csv", "--report", "both.csv"]).fails(2);
    assert!(said.contains("would be written over both.csv"), "{said}");
    assert_eq!(std::fs::read(&rows).unwrap(), before);
    assert_eq!(line(&[]).exit, 9);
}

#[test]
fn the_first_failed_rows_are_shown_with_the_line_to_import_them() {
    let world = World::start();
    let mut rows = "Nr,Name\nc-1,Mensah\n,Addo\n".to_owned();
    (0..6).for_each(|_| rows.push_str("c-1,Twice\n"));
    std::fs::write(world.dir.path().join("old.csv"), rows).unwrap();
    let terminal = Terminal::start(&world, 200, &[]);
    let screen = terminal.run("mfa customers import old.csv --map Nr=identifier --map Name=surname");
    for found in [
        "row 2: /identifier is required\n",
        "row 3 c-1: there is a customer \"c-1\" already\n",
        "and 2 more\n",
        "error: 7 of 8 rows failed: see old.csv.report.csv\n",
        "mfa customers import old.csv.failed.csv --map Nr=identifier --map Name=surname; or correct old.csv ",
        "exit 9\n",
    ] {
        assert!(screen.contains(found), "{found}: {screen}");
    }
    assert!(!screen.contains("row 7 "), "{screen}");
}

#[test]
fn an_atomic_import_shows_only_the_wrong_row() {
    let world = World::start();
    let rows = |last: &str| (1..=8).map(|i| format!("c-{i},PERSON,\n")).collect::<String>() + last;
    let terminal = Terminal::start(&world, 200, &[]);
    let import = |last: &str| {
        std::fs::write(
            world.dir.path().join("all.csv"),
            "identifier,type,applicationDate\n".to_owned() + &rows(last),
        )
        .unwrap();
        terminal.run("mfa customers import all.csv --atomic")
    };
    let screen = import("c-3,PERSON,\n");
    assert!(screen.contains("\nrow 9 c-3: there is a customer \"c-3\" already\n"), "{screen}");
    assert!(screen.contains("\nand 8 more\n") && !screen.contains("row 1 "), "{screen}");
    // All that is wrong with it, as without --atomic.
    let screen = import("c-9,ROBOT,soon\n");
    let found = screen.lines().find(|line| line.starts_with("row 9 c-9: /")).unwrap_or_default();
    assert!(found.contains("/type must be one of ") && found.contains("; /applicationDate "), "{screen}");
    assert!(!screen.contains("of the batch") && screen.contains("exit 9\n"), "{screen}");
    assert_eq!(world.get("/customers").json()["totalElements"], 0);
}

fn import(world: &World, arguments: &[&str]) -> Ran {
    let mut command = world.mfa(arguments);
    command.current_dir(world.dir.path());
    run(command)
}

/// The summary of an import with failed rows, and what it says on stderr.
fn failing(world: &World, arguments: &[&str]) -> (Value, String) {
    let ran = import(world, &[arguments, &["-o", "json"]].concat());
    assert_eq!(ran.exit, 9, "{}", ran.err);
    (serde_json::from_str(&ran.out).unwrap(), ran.err)
}

#[test]
fn failed_rows_of_json_are_imported_after_correction_with_their_mapping() {
    let world = World::start();
    let path = |name: &str| world.dir.path().join(name);
    let rows = r#"{"Nr":"c-1","Name":"=A","Old":1,"member":"x","dateOfBirth":{"year":1990,"month":2,"day":3}}
        {"identifier":"c-2","surname":"B","member":"x","dateOfBirth":{"year":1990}}
        {"Nr":"c-3","Name":"C","member":"x","address":{"street":"1","city":"T","countryCode":"GH","country":"G"}}
    "#;
    std::fs::write(path("old.jsonl"), rows).unwrap();
    let maps = ["--map", "Nr=identifier", "--map", "Name=surname", "--map", "Old="];
    let (_, said) = failing(&world, &[&["customers", "import", "old.jsonl"][..], &maps].concat());
    assert!(
        said.contains("old.jsonl.failed.csv --map Nr=identifier --map Name=surname --map Old="),
        "{said}"
    );
    let failed = std::fs::read_to_string(path("old.jsonl.failed.csv")).unwrap();
    std::fs::write(path("good.csv"), failed.replace(",x,", ",true,")).unwrap();
    import(&world, &[&["customers", "import", "good.csv"][..], &maps].concat()).ok();
    let has = |id: &str, pointer: &str| {
        let customer = world.get(&format!("/customers/{id}")).is(200).json();
        customer.pointer(pointer).unwrap().to_string()
    };
    assert_eq!(has("c-1", "/dateOfBirth"), r#"{"year":1990,"month":2,"day":3}"#);
    assert_eq!(has("c-2", "/dateOfBirth"), r#"{"year":1990,"month":1,"day":1}"#);
    let texts = [has("c-1", "/surname"), has("c-2", "/surname"), has("c-3", "/address/city")];
    assert_eq!(texts, ["\"=A\"", "\"B\"", "\"T\""]);
    // Of a card the day has to be whole, and it is not made up.
    let card = r#"{"customer":"c-1","type":" ","number":"G1","expirationDate":{"year":2035,"month":1,"day":31}}
        {"customer":"c-1","type":" ","number":"G2","expirationDate":{"year":2035}}"#;
    std::fs::write(path("cards.jsonl"), card).unwrap();
    failing(&world, &["cards", "import", "cards.jsonl"]);
    let failed = std::fs::read_to_string(path("cards.jsonl.failed.csv")).unwrap();
    std::fs::write(path("cards.csv"), failed.replace(", ,", ",Passport,")).unwrap();
    failing(&world, &["cards", "import", "cards.csv"]);
    let cards = world.get("/customers/c-1/identifications").json();
    assert_eq!((cards.as_array().unwrap().len(), &cards[0]["expirationDate"]["day"]), (1, &31.into()));
}

#[test]
fn a_file_of_failed_rows_is_named_only_where_it_has_all_of_them() {
    let world = World::start();
    std::fs::write(world.dir.path().join("cut.jsonl"), "{\"identifier\":\n").unwrap();
    let (summary, said) = failing(&world, &["customers", "import", "cut.jsonl"]);
    assert_eq!(summary["failedRows"], Value::Null);
    assert!(!world.dir.path().join("cut.jsonl.failed.csv").exists());
    assert!(said.contains("mfa customers import cut.jsonl --resume"), "{said}");
    // One that can be written down, and one that cannot.
    let rows = "{\"identifier\":\n{\"identifier\":\"c-1\",\"member\":5}\n[]\n";
    std::fs::write(world.dir.path().join("cut.jsonl"), rows).unwrap();
    let (summary, said) = failing(&world, &["customers", "import", "cut.jsonl"]);
    assert_eq!(summary["failedRows"], "cut.jsonl.failed.csv");
    let failed = std::fs::read_to_string(world.dir.path().join("cut.jsonl.failed.csv")).unwrap();
    assert_eq!(failed.lines().count(), 2, "{failed}");
    assert!(!said.contains("failed.csv"), "{said}");
}

#[test]
fn the_line_to_go_on_names_the_files_and_the_format_that_were_given() {
    let world = World::start();
    std::fs::write(world.dir.path().join("rows"), "{\"identifier\":\"c-1\"}\n{\"identifier\":\n").unwrap();
    let given = "customers import rows --format jsonl --report 'my report.csv' --failed f.csv";
    let words: Vec<_> = given.split(' ').map(|word| word.trim_matches('\'')).collect();
    let words = [&words[..6], &["my report.csv"], &words[8..]].concat();
    let (summary, said) = failing(&world, &words);
    assert_eq!(summary["created"], 1);
    assert!(said.contains(&format!("mfa {given} --resume")), "{said}");
    let (summary, _) = failing(&world, &[&words[..], &["--resume"]].concat());
    assert_eq!((&summary["doneBefore"], &summary["created"]), (&1.into(), &0.into()));
    // A daemon that is away, too.
    std::fs::write(world.dir.path().join("rows"), "{\"identifier\":\"c-2\"}\n").unwrap();
    let away = ["--url", "http://127.0.0.1:1", "--retries", "0", "--resume"];
    let said = import(&world, &[&words[..], &away].concat()).fails(10);
    assert!(said.contains("--report 'my report.csv' --failed f.csv"), "{said}");
}

#[test]
fn of_a_report_that_cannot_be_written_the_flags_are_named() {
    let world = World::start();
    std::fs::write(world.dir.path().join("rows.csv"), "identifier,member\nc-1,x\nc-2,true\n").unwrap();
    let none = "none/file.csv";
    for (flags, hint) in [
        (&["--report", none][..], "name others: --report FILE --failed FILE"),
        (&["--failed", none], "name another file: --failed FILE"),
    ] {
        let said = import(&world, &[&["customers", "import", "rows.csv"], flags].concat()).fails(1);
        assert!(said.contains("cannot write none/file.csv") && said.contains(hint), "{said}");
        world.get("/customers/c-2").is(404);
        let _ = std::fs::remove_file(world.dir.path().join("rows.csv.report.csv"));
    }
}

#[test]
fn files_that_cannot_be_written_at_the_end_are_named_beside_what_was_done() {
    let world = World::start();
    let gone = |name: &str, flags: &[&str], rows: &str, exit: i32| {
        let (folder, at) = (world.dir.path().join(name), Instant::now());
        std::fs::create_dir(&folder).unwrap();
        let mut command = world.mfa(&[&["customers", "import", "-", "-o", "json"], flags].concat());
        command.current_dir(world.dir.path()).stdin(Stdio::piped());
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut input = child.stdin.take().unwrap();
        input.write_all(b"identifier,member\n").unwrap();
        // Both files are chosen before the first row is read.
        while !world.dir.path().join("stdin.report.csv").exists() && !folder.join("r.csv").exists() {
            assert!(at.elapsed().as_secs() < 30, "no report begins");
            std::thread::sleep(Duration::from_millis(20));
        }
        std::fs::remove_dir_all(&folder).unwrap();
        input.write_all(rows.as_bytes()).unwrap();
        drop(input);
        let ended = child.wait_with_output().unwrap();
        let said = String::from_utf8(ended.stderr).unwrap();
        assert_eq!(ended.status.code(), Some(exit), "{said}");
        (serde_json::from_slice::<Value>(&ended.stdout).unwrap(), said)
    };
    let (summary, said) = gone("a", &["--report", "a/r.csv"], "c-1,true\nc-2,true\n", 1);
    assert_eq!((&summary["created"], &summary["failed"]), (&2.into(), &0.into()));
    assert!(
        said.contains("cannot write a/r.csv: ") && said.contains("; none of the 2 rows failed"),
        "{said}"
    );
    let (summary, said) = gone("b", &["--failed", "b/f.csv"], "c-3,true\nc-4,x\n", 9);
    assert_eq!((&summary["created"], &summary["failedRows"]), (&1.into(), &Value::Null));
    let what = "1 of 2 rows failed: see stdin.report.csv; cannot write b/f.csv: ";
    assert!(said.contains(what), "{said}");
}

#[test]
fn a_second_import_that_is_refused_leaves_the_failed_rows_of_the_first() {
    let world = World::start();
    let path = |name: &str| world.dir.path().join(name);
    std::fs::write(path("rows.csv"), "identifier,member\nc-1,x\n").unwrap();
    failing(&world, &["customers", "import", "rows.csv"]);
    // The first is running as long as it has the lock of its report.
    let report = std::fs::File::open(path("rows.csv.report.csv")).unwrap();
    report.lock().unwrap();
    for flags in [&[][..], &["--resume"]] {
        let said = import(&world, &[&["customers", "import", "rows.csv"][..], flags].concat()).fails(6);
        assert!(said.contains("another import is writing rows.csv.report.csv"), "{said}");
        assert!(
            said.contains("wait until it has ended, or name others: --report FILE --failed FILE"),
            "{said}"
        );
    }
    assert_eq!(std::fs::read_to_string(path("rows.csv.failed.csv")).unwrap(), "identifier,member\nc-1,x\n");
    report.unlock().unwrap();
    // Neither does one that a report of other things stops.
    std::fs::write(path("other.csv"), "letters\n").unwrap();
    let words =
        ["customers", "import", "rows.csv", "--report", "other.csv", "--failed", "rows.csv.failed.csv"];
    let said = import(&world, &words).fails(2);
    assert!(said.contains("is not the report of an import"), "{said}");
    assert!(path("rows.csv.failed.csv").exists());
}

#[test]
fn a_row_that_is_too_large_for_a_request_fails_and_hinders_no_other() {
    let world = World::start();
    let large = "x".repeat(1_100_000);
    let rows = format!("identifier,surname\nc-1,Addo\nc-2,{large}\nc-3,Owusu\n");
    std::fs::write(world.dir.path().join("rows.csv"), &rows).unwrap();
    std::fs::write(world.dir.path().join("all.csv"), rows.replace("c-3,Owusu\n", "")).unwrap();
    let (summary, _) = failing(&world, &["customers", "import", "all.csv", "--atomic"]);
    assert_eq!((&summary["created"], &summary["failed"]), (&0.into(), &2.into()));
    let report = std::fs::read_to_string(world.dir.path().join("all.csv.report.csv")).unwrap();
    assert!(report.contains("\n1,c-1,failed,taken_back,"), "{report}");
    assert!(report.contains("\n2,c-2,failed,body_too_large,"), "{report}");
    let (summary, _) = failing(&world, &["customers", "import", "rows.csv"]);
    assert_eq!((&summary["created"], &summary["failed"]), (&2.into(), &1.into()));
    let report = std::fs::read_to_string(world.dir.path().join("rows.csv.report.csv")).unwrap();
    assert!(report.contains("\n2,c-2,failed,body_too_large,"), "{report}");
    let failed = std::fs::read_to_string(world.dir.path().join("rows.csv.failed.csv")).unwrap();
    assert_eq!(failed.len(), format!("identifier,surname\nc-2,{large}\n").len());
}

/// Numbers of all accounts of a product.
fn account_numbers(world: &World) -> Vec<String> {
    let made = world.get("/definitions/saver/instances").is(200).json();
    let number =
        |account: &Value| account["alternativeAccountNumber"].as_str().unwrap_or_default().to_owned();
    let mut numbers: Vec<_> = made.as_array().unwrap().iter().map(number).collect();
    numbers.sort();
    numbers
}

#[test]
fn a_resumed_import_knows_accounts_of_one_customer_and_product_apart() {
    let counter = Counter::start();
    let world = &counter.world;
    let path = |name: &str| world.dir.path().join(name);
    let write = |numbers: &[&str]| {
        let rows: String = numbers.iter().map(|number| format!("c-1,saver,{number}\n")).collect();
        let header = "customerIdentifier,productIdentifier,alternativeAccountNumber\n";
        std::fs::write(path("rows.csv"), format!("{header}{rows}")).unwrap();
    };
    let long = "9".repeat(500);
    write(&["n-1", &long, "n-3"]);
    let (summary, _) = failing(world, &["accounts", "import", "rows.csv"]);
    assert_eq!((&summary["created"], &summary["failed"]), (&2.into(), &1.into()));
    // One that was done is taken out, the one that failed is corrected.
    let report = std::fs::read_to_string(path("rows.csv.report.csv")).unwrap();
    write(&["n-2", "n-3"]);
    let resume = ["accounts", "import", "rows.csv", "--resume", "-o", "json"];
    let summary = import(world, &resume).json();
    assert_eq!((&summary["created"], &summary["doneBefore"]), (&1.into(), &1.into()));
    assert_eq!(account_numbers(world), ["n-1", "n-2", "n-3"]);
    // Now it is the other way round, and nothing is left to do.
    write(&["n-3", "n-2"]);
    assert_eq!(import(world, &resume).json()["doneBefore"], 2);
    // A report of before has no contents, and goes by the names.
    let old: String = report.lines().map(|line| format!("{}\n", line.rsplit_once(',').unwrap().0)).collect();
    assert!(old.starts_with("row,id,status,code,message\n"), "{old}");
    std::fs::write(path("rows.csv.report.csv"), old).unwrap();
    assert_eq!(import(world, &resume).json()["doneBefore"], 2);
    assert_eq!(account_numbers(world), ["n-1", "n-2", "n-3"]);
}

#[test]
fn an_import_of_accounts_is_resumed_only_by_who_began_it() {
    let counter = Counter::start();
    let world = &counter.world;
    let report = world.dir.path().join("rows.csv.report.csv");
    let rows = "customerIdentifier,productIdentifier\nc-1,saver\n";
    std::fs::write(world.dir.path().join("rows.csv"), rows).unwrap();
    let body = r#"{"user":"esi","passwordChangeRequired":false}"#;
    let (url, _requests) = server(vec![answer("200 OK", &[], body), String::new()]);
    let lost = ["accounts", "import", "rows.csv", "--retries", "0", "--url", &url];
    import(world, &lost).fails(10);
    let begun = std::fs::read_to_string(&report).unwrap();
    let resume = ["accounts", "import", "rows.csv", "--resume", "-o", "json"];
    let said = import(world, &resume).fails_in_json(2)["message"].as_str().unwrap().to_owned();
    assert!(said.contains("was begun by esi, and you are guest: "), "{said}");
    assert_eq!(std::fs::read_to_string(&report).unwrap(), begun, "it can still be resumed");
    // The program of before noted nobody.
    std::fs::write(&report, begun.replace(",esi,", ",,")).unwrap();
    assert_eq!(import(world, &resume).json()["created"], 1);
}

#[test]
fn of_two_equal_rows_the_second_is_made_where_the_first_was_done() {
    let counter = Counter::start();
    let world = &counter.world;
    let path = |name: &str| world.dir.path().join(name);
    let begun = "row,id,status,code,message,content\n0,the-run,begun,,accounts,\n";
    let row = "c-1,saver\n";
    let write = |report: &str, rows: &str| {
        std::fs::write(path("rows.csv.report.csv"), report).unwrap();
        let header = "customerIdentifier,productIdentifier\n";
        std::fs::write(path("rows.csv"), format!("{header}{rows}")).unwrap();
    };
    let resume = ["accounts", "import", "rows.csv", "--resume", "-o", "json"];
    write(begun, row);
    assert_eq!(import(world, &resume).json()["created"], 1);
    // The same run, as if it had been killed after the first of two rows.
    let report = std::fs::read_to_string(path("rows.csv.report.csv")).unwrap();
    write(&format!("{begun}{}\n", report.lines().last().unwrap()), &row.repeat(2));
    let summary = import(world, &resume).json();
    assert_eq!((&summary["created"], &summary["doneBefore"]), (&1.into(), &1.into()));
    assert_eq!(account_numbers(world).len(), 2);
}

#[test]
fn a_table_that_is_cut_off_within_a_cell_makes_no_record_of_it() {
    let world = World::start();
    let file = world.dir.path().join("cut.csv");
    std::fs::write(&file, "identifier,surname\nc-1,Addo\nc-2,\"Mens").unwrap();
    let (summary, _) = failing(&world, &["customers", "import", "cut.csv"]);
    assert_eq!((&summary["created"], &summary["failed"]), (&1.into(), &1.into()), "{summary}");
    world.get("/customers/c-2").refused(404, "customer_not_found");
    let report = std::fs::read_to_string(world.dir.path().join("cut.csv.report.csv")).unwrap();
    assert!(report.contains("still open at the end of the file"), "{report}");
    let failed = std::fs::read_to_string(world.dir.path().join("cut.csv.failed.csv")).unwrap();
    assert_eq!(failed, "identifier,surname\nc-2,Mens\n");
    // With or without a last line end, whole tables are read as before.
    for (name, text) in
        [("a", "identifier\nw-1"), ("b", "identifier\nw-2\n"), ("c", "identifier\r\n\"w-3\"\r\n\r\n")]
    {
        std::fs::write(world.dir.path().join(format!("{name}.csv")), text).unwrap();
        import(&world, &["customers", "import", &format!("{name}.csv")]).ok();
    }
    assert_eq!(world.get("/customers?term=w-").json()["totalElements"], 3);
    let empty = world.dir.path().join("empty.csv");
    std::fs::write(&empty, "identifier,surname").unwrap();
    let none = import(&world, &["customers", "import", "empty.csv", "-o", "json"]).json();
    assert_eq!(none["rows"], 0);
}
