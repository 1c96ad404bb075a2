//! The endpoint table is whole: every row has its operation, and no path shadows another.

use mfa_daemon::http::routes::Routes;
use mfa_daemon::http::table::table;
use mfa_shared::api::{rows, rows_at};
use mfa_shared::endpoint::{Meta, Method, render, segments, split};
use mfa_shared::wire::AnswerKind;
use std::collections::BTreeSet;

#[test]
fn every_row_has_one_operation_and_every_operation_its_row() {
    let declared: Vec<_> = rows().map(|row| row.name).collect();
    let served: Vec<_> = table().iter().map(|route| route.meta.name).collect();
    let without = |names: &[&str], others: &[&str]| {
        let missing: Vec<_> = names.iter().filter(|name| !others.contains(name)).copied().collect();
        missing.join(", ")
    };
    let unserved = without(&declared, &served);
    assert_eq!(unserved, "", "rows without an operation: give each its line in daemon/src/http/table.rs");
    let undeclared = without(&served, &declared);
    assert_eq!(
        undeclared, "",
        "operations without a row: list the ROWS of their file in shared/src/api/mod.rs"
    );
    let moved = served.iter().zip(&declared).find(|(served, declared)| served != declared);
    assert_eq!(moved, None, "daemon/src/http/table.rs has the rows in the order of shared/src/api/mod.rs");
    assert_eq!(served.len(), declared.len(), "a row is served twice in daemon/src/http/table.rs");
    assert_eq!(
        declared.iter().collect::<BTreeSet<_>>().len(),
        declared.len(),
        "two rows have one name, or shared/src/api/mod.rs lists the ROWS of a file twice"
    );
}

#[test]
fn no_path_shadows_another() {
    for (i, a) in rows().enumerate() {
        for b in rows().skip(i + 1) {
            let same = a.method == b.method
                && segments(a.path).count() == segments(b.path).count()
                && segments(a.path).zip(segments(b.path)).all(|(x, y)| x == y || both_parameters(x, y));
            assert!(!same, "{} and {} are one path", a.name, b.name);
        }
    }
}

#[test]
fn a_path_names_the_same_rows_for_who_asks_about_it_as_for_who_calls_it() {
    let routes = Routes::new(table());
    for row in rows() {
        let values = vec!["x.1"; row.path.matches('{').count()];
        let prefixes = if row.path.starts_with("/offices") { &["", "/office/v1"][..] } else { &[""] };
        for prefix in prefixes {
            let segments = split(&format!("{prefix}{}", render(row.path, &values))).unwrap();
            let (found, bare) = rows_at(&segments).unwrap();
            assert!(found.iter().any(|other| other.name == row.name), "{}", row.name);
            let served = routes.find(segments.clone()).unwrap();
            assert_eq!(bare, served.segments);
            for other in &found {
                assert_eq!(served.route(other.method).unwrap().meta.name, other.name);
            }
        }
    }
    let words = |path: &str| split(path).unwrap();
    assert_eq!(rows_at(&words("/instances/transactiontypes")).unwrap().0[0].name, "ListTransactionTypes");
    assert!(rows_at(&words("/nothing")).is_none() && rows_at(&words("/other/v1/offices")).is_none());
}

fn both_parameters(a: &str, b: &str) -> bool {
    a.starts_with('{') && b.starts_with('{')
}

#[test]
fn every_change_of_a_readable_record_compares_a_tag_or_says_why_not() {
    // Nothing but what is listed here changes or removes a record without honouring If-Match.
    let without: &[&str] = &[
        // Ends of sessions: they have no representation that could change meanwhile.
        "DeleteCurrentToken",
        "DeleteTokens",
        "EndUserSession",
        "EndUserSessions",
        // An application is a name and what belongs to it; there is no read of one alone.
        "DeleteApplication",
    ];
    for row in rows().filter(|row| matches!(row.method, Method::Put | Method::Delete)) {
        match row.tag {
            Some(tag) => {
                assert!(rows().any(|other| other.name == tag && other.method == Method::Get), "{tag}")
            }
            None => assert!(
                without.contains(&row.name),
                "{} has no tag: name the row that shows the record, as in `=> Accepted, tag GetOffice`, or say \
                 above why it needs none",
                row.name
            ),
        }
    }
}

/// Reads of what is no record: the daemon itself, a search.
const WITHOUT_TAG: [&str; 4] = ["GetLive", "GetReady", "GetVersion", "Search"];

#[test]
fn every_read_of_a_single_record_carries_a_tag() {
    let single = |row: &&Meta| row.method.reads() && row.answer.kind == AnswerKind::Json;
    let mut without: Vec<_> = rows().filter(single).filter(|row| row.tag.is_none()).map(|r| r.name).collect();
    without.retain(|name| !WITHOUT_TAG.contains(name));
    assert!(without.is_empty(), "no ETag (`decisions.md` 8): {without:?}");
}

#[test]
fn every_row_says_what_it_does_in_one_sentence() {
    for row in rows() {
        assert!(
            row.doc.ends_with('.') && row.doc.len() > 10,
            "{}: its comment in shared/src/api is what help shows, and must be a sentence: {:?}",
            row.name,
            row.doc
        );
    }
}

/// Whether a line of a table is about a row: by its name, or by a path such as `/configuration/*`, below which
/// all lists are made by the same operation.
fn names(line: &str, row: &Meta) -> bool {
    line == row.name || line.strip_suffix('*').is_some_and(|path| row.path.starts_with(path))
}

#[test]
fn every_list_says_what_it_costs() {
    let text = include_str!("../ARCHITECTURE.md");
    let section = text.split("## What lists cost\n").nth(1).unwrap().split("\n## ").next().unwrap();
    let reported: Vec<_> = section
        .lines()
        .filter_map(|line| line.strip_prefix("| ")?.strip_suffix(" |"))
        .map(|line| line.split(" | ").collect::<Vec<_>>())
        .filter(|cells| cells[0] != "list")
        .collect();
    for cells in &reported {
        assert_eq!(cells.len(), 3, "{cells:?}");
        assert!(
            ["order", "numbers", "index", "short"].contains(&cells[1]),
            "a list costs order, numbers, index or short, as the text above its table says: {cells:?}"
        );
        assert!(rows().any(|row| names(cells[0], row)), "{} is no row", cells[0]);
    }
    for row in rows().filter(|row| row.lists()) {
        let count = reported.iter().filter(|cells| names(cells[0], row)).count();
        assert_eq!(
            count, 1,
            "{} needs one line in the table of \"What lists cost\" in ARCHITECTURE.md",
            row.name
        );
    }
}
