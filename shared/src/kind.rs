//! Kinds of records: what the audit trail calls them, their place among the paths, and which endpoint
//! shows one. The words are the singular nouns of the command line. Contract: `audit.md` section 1.

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

/// A kind of record; `api/<noun>.rs` has those of its noun beside the rows.
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

impl Kind {
    /// A kind whose records are each read by a row of their own.
    pub const fn of(
        name: &'static str,
        path: &'static str,
        named_by: &'static str,
        row: &'static str,
    ) -> Self {
        Self { name, path, named_by, shown_by: ShownBy::Row(row) }
    }
}

/// Whether an identifier of a kind of record may have slashes, by its place in the path: only the number of a
/// card may.
pub fn may_have_slashes(kind: &str, place: usize) -> bool {
    matches!((kind, place), ("card" | "scan", 1))
}

/// The identifiers in the name of a record, of which one that may have slashes is one all the same.
pub fn identifiers(resource: &str) -> Vec<&str> {
    let Some((kind, rest)) = resource.split_once('/') else { return Vec::new() };
    match (kind, rest.split_once('/')) {
        ("card", Some((customer, number))) => vec![customer, number],
        ("scan", Some((customer, behind))) => {
            let (number, scan) = behind.rsplit_once('/').unwrap_or((behind, ""));
            vec![customer, number, scan]
        }
        _ => rest.split('/').collect(),
    }
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

    #[test]
    fn the_number_of_a_card_may_have_slashes_in_the_name_of_a_record() {
        for (resource, expected) in [
            ("customer/c-001", &["c-001"][..]),
            ("teller/accra/T1", &["accra", "T1"]),
            ("card/c-001/77", &["c-001", "77"]),
            ("card/c-001/77/1", &["c-001", "77/1"]),
            ("scan/c-001/77/front", &["c-001", "77", "front"]),
            ("scan/c-001/77/1/front", &["c-001", "77/1", "front"]),
            ("card", &[]),
            ("card/c-001", &["c-001"]),
        ] {
            assert_eq!(identifiers(resource), expected, "{resource}");
        }
    }
}
