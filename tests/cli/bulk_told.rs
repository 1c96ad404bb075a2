//! What a user at a terminal sees of an import.

use crate::terminal::Terminal;
use crate::world::World;

#[test]
fn the_first_rows_that_failed_are_told_with_the_line_that_imports_them_once_they_are_corrected() {
    let world = World::start();
    let mut rows = "Nr,Name\nc-1,Mensah\n,Addo\n".to_owned();
    (0..6).for_each(|_| rows.push_str("c-1,Twice\n"));
    std::fs::write(world.dir.path().join("old.csv"), rows).unwrap();
    let terminal = Terminal::start(&world, 200, &[]);
    let screen = terminal.run("mfa customers import old.csv --map Nr=identifier --map Name=surname");
    for told in [
        "row 2: /identifier is required\n",
        "row 3 c-1: there is a customer \"c-1\" already\n",
        "and 2 more\n",
        "error: 7 of 8 rows failed: see old.csv.report.csv\n",
        "mfa customers import old.csv.failed.csv --map Nr=identifier --map Name=surname; or correct old.csv ",
        "exit 9\n",
    ] {
        assert!(screen.contains(told), "{told}: {screen}");
    }
    assert!(!screen.contains("row 7 "), "{screen}");
}

#[test]
fn of_an_atomic_import_the_row_that_is_wrong_is_told_and_not_those_that_were_taken_back_for_it() {
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
    let told = screen.lines().find(|line| line.starts_with("row 9 c-9: /")).unwrap_or_default();
    assert!(told.contains("/type must be one of ") && told.contains("; /applicationDate "), "{screen}");
    assert!(!screen.contains("of the batch") && screen.contains("exit 9\n"), "{screen}");
    assert_eq!(world.get("/customers").json()["totalElements"], 0);
}
