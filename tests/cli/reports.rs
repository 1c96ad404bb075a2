//! Reports: tables, plots that fit the terminal, SVG, and what is refused.

use super::screens::same;
use crate::support::counter::{Counter, decimal, plain_product, teller};
use crate::support::run::run;
use crate::support::terminal::Terminal;
use crate::support::world::World;
use serde_json::json;
use std::process::{Command, Stdio};

/// Twelve days of cash in two currencies, one of which has a name like markup, and some customers.
fn branch() -> World {
    let counter = Counter::start();
    counter.define(&plain_product("euro", "<b>&", 2));
    let mut other = teller("T2");
    other["vaultAccountIdentifier"] = json!("vault-2");
    other["cashOverShortAccount"] = json!("over-short-2");
    counter.teller_with(&other).is(202);
    counter.open("T1", "emp1", "2000");
    counter.unlock("T1", "emp1");
    counter.open("T2", "emp2", "310.50");
    counter.unlock("T2", "emp2");
    let (first, second) = (counter.account("anna"), counter.account_of("bela", "euro"));
    counter.transact("ACCO", &first, None, "250", "included").is(202);
    counter.world.post(&format!("/instances/{second}?command=ACTIVATE"), "").is(202);
    for day in 0..12 {
        let (name, amount) = (format!("c-{day}"), format!("{}.25", 30 * (day % 5) + 10));
        counter.world.post("/customers", json!({ "identifier": name }).to_string()).is(202);
        counter.transact("CDPT", &first, None, &amount, "included").is(202);
        let mut request = Counter::request("CDPT", &second, "120.00");
        request["productIdentifier"] = json!("euro");
        request["amount"] = decimal(&format!("{}", 100 + day * 7));
        let quote = counter.create("T2", &request).is(200).json();
        let transaction = quote["tellerTransactionIdentifier"].as_str().unwrap().to_owned();
        counter.finish("T2", &transaction, "command=CONFIRM").is(202);
        if day == 4 {
            counter.pause("T1").is(202);
            counter.count("T1", "2000").is(202);
            counter.unlock("T1", "emp1");
        }
        counter.world.clock.advance(86_400);
    }
    counter.world
}

#[test]
fn plots_fit_80_and_200_columns_and_plain_terminals() {
    let world = branch();
    let grounds = [
        ("80", 80, &[][..]),
        ("200", 200, &[]),
        ("40", 40, &[]),
        ("dumb", 80, &[("TERM", "dumb")]),
        ("latin", 80, &[("LC_ALL", "C")]),
    ];
    for (ground, columns, variables) in grounds {
        let terminal = Terminal::start(&world, columns, variables);
        let kept = |name: &str, line: &str| same(&terminal, &format!("{name}-{ground}"), line, &world);
        kept("report-cash", "mfa report cash accra --days 8 --no-pager");
        kept("report-deposits", "mfa report deposits saver --no-pager");
        kept("report-customers", "mfa report customers --months 3 --no-pager");
    }
}

#[test]
fn a_program_gets_the_figures_and_no_plot() {
    let world = branch();
    let csv = run(world.mfa(&["report", "cash", "accra", "--days", "1", "-o", "csv"])).ok();
    let names = "date,currency,received,disbursed,over,short,cash-on-hand";
    let lines: Vec<_> = csv.lines().collect();
    assert_eq!(lines[0], names);
    assert_eq!(lines[1], "2031-05-18,<b>&,0,0,0,0,1972.50");
    assert!(lines[2].starts_with("2031-05-18,USD,0,0,0,0,"), "{csv}");
    assert_eq!(lines.len(), 3, "{csv}");
    let path = "/ledger/reports/deposits?product=saver&months=2";
    let rows = run(world.mfa(&["report", "deposits", "saver", "--months", "2", "-o", "json"])).json();
    assert_eq!(rows, world.get(path).json());
    let piped = run(world.mfa(&["reports", "customers", "--months", "2"])).ok();
    let expected = "month\tcreated\tclosed\treopened\topen\n2031-04\t0\t0\t0\t0\n2031-05\t12\t0\t0\t12\n";
    assert_eq!(piped, expected);
    let table = run(world.mfa(&["report", "customers", "--months", "2", "-o", "table"])).ok();
    assert_eq!(table.lines().count(), 3, "{table}");
}

/// Reads an XML text with a parser that is not ours: the names of its elements, and its text.
fn parsed(svg: &str) -> (Vec<String>, String) {
    let program = "import sys, xml.etree.ElementTree as tree\n\
                   root = tree.fromstring(sys.stdin.buffer.read())\n\
                   print(' '.join(e.tag.split('}')[1] for e in root.iter()))\n\
                   print('|'.join(e.text for e in root.iter() if e.text and e.text.strip()))";
    let mut child = Command::new("python3")
        .args(["-c", program])
        .env("PYTHONIOENCODING", "utf-8")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), svg.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{svg}");
    let out = String::from_utf8(output.stdout).unwrap();
    let (names, text) = out.split_once('\n').unwrap();
    (names.split(' ').map(str::to_owned).collect(), text.to_owned())
}

#[test]
fn an_svg_is_well_formed_and_holds_no_script() {
    let world = branch();
    let title = "<script>alert(\"1\")</script> & 'more'";
    let file = world.dir.path().join("cash.svg");
    let line = ["report", "cash", "accra", "--out", file.to_str().unwrap(), "--title", title, "-o", "csv"];
    let csv = run(world.mfa(&line)).ok();
    assert_eq!(csv.lines().count(), 61, "the figures are printed beside the file");
    let svg = std::fs::read_to_string(&file).unwrap();
    let (names, text) = parsed(&svg);
    for name in &names {
        assert!(["svg", "title", "rect", "text", "line"].contains(&name.as_str()), "{name}");
    }
    assert_eq!(names[0], "svg");
    assert!(text.contains(title) && text.contains(", <b>&|") && text.contains(", USD|"), "{text}");
    // A bar for each day of both currencies, each with its exact value.
    assert_eq!(names.iter().filter(|name| *name == "rect").count(), 1 + 60);
    assert!(text.contains("|2031-05-18: 1,972.50|"), "{text}");
    let on_stdout = run(world.mfa(&["report", "customers", "--out", "-"])).ok();
    assert!(parsed(&on_stdout).1.contains("Customers"), "{on_stdout}");
    // An office without drawers has nothing to draw, and is drawn all the same.
    world.post("/offices", r#"{"identifier":"empty","name":"Empty"}"#).is(202);
    let empty = run(world.mfa(&["report", "cash", "empty", "--out", "-"])).ok();
    assert_eq!(parsed(&empty).0, ["svg", "title", "rect", "text"]);
}

#[test]
fn a_report_that_cannot_be_given_says_why() {
    let world = World::start();
    for line in [
        &["report", "cash", "accra", "--days", "0"][..],
        &["report", "cash", "accra", "--days", "4000"],
        &["report", "customers", "--months=-1"],
        &["report", "customers", "--title", "x"],
        &["report", "customers", "--out", "x.svg", "--no-plot"],
        &["report", "cash"],
    ] {
        run(world.mfa(line)).fails(2);
    }
    let said = run(world.mfa(&["report", "customers", "--out", "plot.PNG"])).fails(2);
    assert!(
        said.contains("a plot is written as SVG, not as PNG") && said.contains("name it plot.svg"),
        "{said}"
    );
    let said = run(world.mfa(&["report", "cash", "nowhere"])).fails(3);
    assert!(said.contains("there is no office \"nowhere\""), "{said}");
    let said = run(world.mfa(&["report", "deposits", "nothing"])).fails(3);
    assert!(said.contains("there is no product definition \"nothing\""), "{said}");
}
