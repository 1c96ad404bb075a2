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

/// A record as the audit trail names it.
pub fn resource(kind: &str, parts: &[String]) -> String {
    let mut name = kind.to_owned();
    for part in parts {
        name.push('/');
        name.push_str(part);
    }
    name
}
