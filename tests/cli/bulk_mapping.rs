//! Columns of a file whose names are not those of fields, from a file that says which is which.

use crate::support::run::{Ran, run};
use crate::support::world::World;
use std::fs;
use std::path::Path;

/// A trial of customers in `rows`, with a file of columns.
fn tried(world: &World, columns: &str, rows: &str) -> Ran {
    let place = |name: &str, text: &str| {
        let path = world.dir.path().join(name);
        fs::write(&path, text).unwrap();
        path.display().to_string()
    };
    let (map, rows) = (format!("@{}", place("columns.map", columns)), place("rows.csv", rows));
    run(world.mfa(&["customers", "import", &rows, "--validate-only", "--map", &map, "--map", "Remark="]))
}

#[test]
fn a_file_says_which_column_is_which_field() {
    let world = World::start();
    let rows = "Nr;Name;Remark\nc-9;Addo;old\n";
    tried(&world, "# of the old system\n\nNr = identifier\nName=surname\n", rows).ok();
    let said = tried(&world, "Nr=identifier\nName\n", rows).fails(2);
    assert!(said.contains("line 2 of ") && said.contains("COLUMN=FIELD"), "{said}");
    let said = run(world.mfa(&["customers", "import", "x.csv", "--map", "@none.map"])).fails(2);
    assert!(said.contains("cannot read none.map"), "{said}");
    // The name of a column may begin with the sign of a file.
    let rows_of_xml = "@id;Name;Remark\nc-9;Addo;\n";
    tried(&world, "@id=identifier\nName=surname\n", rows_of_xml).ok();
    let rows = world.dir.path().join("rows.csv").display().to_string();
    let maps = ["--map", "@id=identifier", "--map", "Name=surname", "--map", "Remark="];
    run(world.mfa(&[["customers", "import", &rows, "--validate-only"].as_slice(), &maps].concat())).ok();
    // What failed is imported with the same file.
    let failed = tried(&world, "Nr=identifier\nName=surname\n", "Nr;Name;Remark\nno/slash;Addo;\n");
    assert_eq!(failed.exit, 9, "{}", failed.err);
}

#[test]
fn the_sample_of_a_file_of_columns_names_fields_of_customers() {
    let world = World::start();
    let sample = Path::new(env!("CARGO_MANIFEST_DIR")).join("../contrib/members.map");
    let sample = fs::read_to_string(sample).unwrap();
    let columns = sample.lines().filter(|line| !line.starts_with('#'));
    let columns: Vec<_> = columns.map(|line| line.split_once('=').unwrap().0).collect();
    assert!(columns.len() > 10, "{sample}");
    let row = columns.iter().map(|name| if *name == "Member no" { "m-1" } else { "" });
    let rows = format!("{},Remark\n{},\n", columns.join(","), row.collect::<Vec<_>>().join(","));
    let ran = tried(&world, &sample, &rows);
    assert_eq!(ran.exit, 0, "{}", ran.err);
}
