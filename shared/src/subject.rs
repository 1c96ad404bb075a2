//! The record that a path is about, and what is made under it.

use crate::api::{kinds, rows};
use crate::kind::Kind;
use crate::path::segments;
use std::collections::HashMap;
use std::sync::LazyLock;

/// What the path of each row is about, and what is made under it: worked out once, since every change asks.
static OF_ROWS: LazyLock<HashMap<&'static str, [Option<&'static Kind>; 2]>> =
    LazyLock::new(|| rows().map(|row| (row.path, [find_kind(row.path), find_made(row.path)])).collect());

/// The kind that a path is about, and the identifiers in it: `path` is a row of the endpoint table, `params`
/// are its parameters.
pub fn of_path(path: &str, params: &[String]) -> Option<(&'static Kind, Vec<String>)> {
    let kind = match OF_ROWS.get(path) {
        Some([kind, _]) => *kind,
        None => find_kind(path),
    }?;
    let count = kind.path.matches("{}").count();
    Some((kind, params.get(..count)?.to_vec()))
}

fn find_kind(path: &str) -> Option<&'static Kind> {
    let fits =
        |kind: &&Kind| {
            let mut asked = segments(path);
            segments(kind.path).all(|segment| {
                asked.next().is_some_and(|asked| {
                    if segment == "{}" { asked.starts_with('{') } else { segment == asked }
                })
            })
        };
    kinds().filter(fits).max_by_key(|kind| segments(kind.path).count())
}

/// The kind of what is made under a path by a body that names it.
pub fn made_under(path: &str) -> Option<&'static Kind> {
    match OF_ROWS.get(path) {
        Some([_, made]) => *made,
        None => find_made(path),
    }
}

fn find_made(path: &str) -> Option<&'static Kind> {
    let fits = |kind: &&Kind| {
        let own: Vec<_> = segments(kind.path).collect();
        let asked: Vec<_> = segments(path).collect();
        let same = |(own, asked): (&&str, &&str)| {
            if *own == "{}" { asked.starts_with('{') } else { own == asked }
        };
        own.len() == asked.len() + 1 && own.last() == Some(&"{}") && own.iter().zip(&asked).all(same)
    };
    kinds().filter(|kind| !kind.named_by.is_empty()).find(fits)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api;
    use crate::kind::{ShownBy, resource};

    fn strings(parts: &[&str]) -> Vec<String> {
        parts.iter().map(|part| (*part).to_owned()).collect()
    }

    #[test]
    fn a_path_is_about_the_record_with_the_longest_path_in_it() {
        let name = |path: &str, params: &[&str]| {
            let (kind, parts) = of_path(path, &strings(params)).unwrap();
            resource(kind.name, &parts)
        };
        let scan = "/customers/{customer}/identifications/{card}/scans/{scan}/image";
        assert_eq!(name(scan, &["c-001", "77", "front"]), "scan/c-001/77/front");
        assert_eq!(name("/customers/{customer}/commands", &["c-001"]), "customer/c-001");
        assert_eq!(name("/offices/{office}/teller/{teller}/commands", &["ho", "d1"]), "teller/ho/d1");
        assert_eq!(of_path("/customers", &[]), None);
        assert_eq!(made_under("/customers").unwrap().name, "customer");
        assert_eq!(made_under("/offices/{office}/teller").unwrap().name, "teller");
        assert_eq!(made_under("/interest/runs"), None);
    }

    #[test]
    fn every_kind_is_shown_by_a_row_that_exists() {
        for kind in kinds() {
            let rows = match kind.shown_by {
                ShownBy::Row(row) | ShownBy::List(row) => vec![row],
                ShownBy::WithImage(row, image) => vec![row, image],
            };
            assert!(rows.iter().all(|name| api::rows().any(|row| row.name == *name)), "{kind:?}");
        }
    }
}
