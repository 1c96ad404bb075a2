//! Kinds of records: what the audit trail calls them, where they stand among the paths, and which endpoint
//! shows one. The words are the singular nouns of the command line. Contract: `audit.md` section 1.

use crate::api::rows;
use crate::endpoint::segments;
use std::collections::HashMap;
use std::sync::LazyLock;

/// How one record of a kind is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ShownBy {
    /// By this endpoint, whose path names it.
    Row(&'static str),
    /// Among those that this endpoint lists.
    List(&'static str),
    /// As a row, with the image that another row shows.
    WithImage(&'static str, &'static str),
}

/// A kind of record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Kind {
    /// Its name.
    pub name: &'static str,
    /// The path of one.
    pub path: &'static str,
    /// The field of a body that names a new one, as a JSON pointer.
    pub named_by: &'static str,
    /// How it is read.
    pub shown_by: ShownBy,
}

const fn kind(name: &'static str, path: &'static str, named_by: &'static str, row: &'static str) -> Kind {
    Kind { name, path, named_by, shown_by: ShownBy::Row(row) }
}

/// Every kind. Where the path of one begins with that of another, the longer one is meant.
pub const KINDS: &[Kind] = &[
    kind("user", "/users/{}", "identifier", "GetUser"),
    kind("second-factor", "/users/{}/second-factor", "", "GetSecondFactor"),
    Kind {
        name: "session",
        path: "/users/{}/sessions/{}",
        named_by: "",
        shown_by: ShownBy::List("ListUserSessions"),
    },
    kind("role", "/roles/{}", "identifier", "GetRole"),
    kind("group", "/permittablegroups/{}", "identifier", "GetGroup"),
    Kind {
        name: "application",
        path: "/applications/{}",
        named_by: "",
        shown_by: ShownBy::List("ListApplications"),
    },
    kind("signature", "/applications/{}/signatures/{}", "", "GetSignature"),
    kind(
        "permission",
        "/applications/{}/permissions/{}",
        "permittableEndpointGroupIdentifier",
        "GetApplicationPermission",
    ),
    kind("consent", "/applications/{}/permissions/{}/users/{}/enabled", "", "GetConsent"),
    kind("set", "/applications/{}/callendpointset/{}", "identifier", "GetCallEndpointSet"),
    kind("office", "/offices/{}", "identifier", "GetOffice"),
    kind("teller", "/offices/{}/teller/{}", "code", "GetTeller"),
    kind("employee", "/employees/{}", "identifier", "GetEmployee"),
    kind("customer", "/customers/{}", "identifier", "GetCustomer"),
    kind("portrait", "/customers/{}/portrait", "", "GetPortrait"),
    kind("card", "/customers/{}/identifications/{}", "number", "GetCard"),
    Kind {
        name: "scan",
        path: "/customers/{}/identifications/{}/scans/{}",
        named_by: "scanIdentifier",
        shown_by: ShownBy::WithImage("GetScan", "GetScanImage"),
    },
    Kind {
        name: "action",
        path: "/actions/{}",
        named_by: "identifier",
        shown_by: ShownBy::List("ListActions"),
    },
    kind("product", "/definitions/{}", "identifier", "GetDefinition"),
    kind("account", "/instances/{}", "", "GetInstance"),
    kind("email", "/configuration/email/{}", "identifier", "GetEmailConfiguration"),
    kind("sms", "/configuration/sms/{}", "identifier", "GetSmsConfiguration"),
    kind("transaction", "/teller/{}/transactions/{}", "", "GetTransaction"),
    kind("receipt", "/offices/{}/teller/{}/receipts/{}", "", "GetReceipt"),
    kind("webhook", "/events/subscriptions/{}", "identifier", "GetSubscription"),
];

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
    KINDS.iter().filter(fits).max_by_key(|kind| segments(kind.path).count())
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
    KINDS.iter().filter(|kind| !kind.named_by.is_empty()).find(fits)
}

/// A record as the audit trail names it.
pub fn resource(kind: &str, parts: &[String]) -> String {
    let mut name = kind.to_owned();
    for part in parts {
        name.push('/');
        name.push_str(part);
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api;

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
        for kind in KINDS {
            let rows = match kind.shown_by {
                ShownBy::Row(row) | ShownBy::List(row) => vec![row],
                ShownBy::WithImage(row, image) => vec![row, image],
            };
            assert!(rows.iter().all(|name| api::rows().any(|row| row.name == *name)), "{kind:?}");
        }
    }
}
