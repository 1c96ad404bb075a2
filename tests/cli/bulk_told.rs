//! What somebody at a terminal is told of an import.

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
