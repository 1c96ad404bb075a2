//! An empty table to begin with: what each column means, their names, and a row that works.

use super::Bulk;
use crate::input::shape::{Described, Kind, Shape};
use crate::output::guarded;

pub fn text(noun: Bulk) -> String {
    let mut text = format!(
        "# {}, a row each. Lines like this one may come before the column names.\n\
         # Leave out columns that you do not need; their order does not matter. Help: mfa help import\n\
         #\n",
        noun.plural
    );
    let columns = columns(noun);
    let width = columns.iter().map(|column| column.name.len()).max().unwrap_or_default();
    for column in &columns {
        let needed = if column.required { "required; " } else { "" };
        let name = &column.name;
        let doc = column.doc.trim_end_matches('.');
        text += &format!("# {name:width$}  {needed}{doc}{}\n", form(column));
    }
    let names: Vec<_> = columns.iter().map(|column| column.name.as_str()).collect();
    let cell = |name: &&str| {
        noun.example
            .iter()
            .find(|(column, _)| column == name)
            .map_or_else(String::new, |(_, cell)| guarded(cell))
    };
    let mut writer = csv::Writer::from_writer(Vec::new());
    // Writing to memory does not fail.
    let _ = writer.write_record(&names);
    let _ = writer.write_record(names.iter().map(cell));
    text + &String::from_utf8_lossy(&writer.into_inner().unwrap_or_default())
}

/// The columns of a noun, without those that an import passes over.
pub fn columns(noun: Bulk) -> Vec<Described> {
    let within = noun.within().iter().map(|name| Described {
        name: (*name).to_owned(),
        doc: format!("The {name} to whom it belongs"),
        required: true,
        kind: Kind::Text,
        words: Vec::new(),
    });
    let own = Shape::of(noun.create.meta).columns().into_iter();
    within.chain(own.filter(|column| !noun.computed.contains(&column.name.as_str()))).collect()
}

/// What a cell looks like, where it is not any text.
fn form(column: &Described) -> String {
    match column.kind {
        _ if !column.words.is_empty() => format!(" ({})", column.words.join(", ")),
        Kind::Text => String::new(),
        Kind::Flag => " (true or false)".to_owned(),
        Kind::Number => " (a number)".to_owned(),
        Kind::Day => " (YYYY-MM-DD)".to_owned(),
        Kind::Json => format!(" (a JSON list; or columns {0}.1, {0}.2 and so on)", column.name),
    }
}
