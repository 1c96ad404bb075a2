//! `--map`: which column of a file is which field.

use crate::settings::bounded;
use std::path::Path;

/// One value of the flag.
#[derive(Debug, Clone)]
pub enum Mapping {
    /// A column and its field; where that is empty, the column is ignored.
    Column(String, String),
    /// A file of such lines, and what it says.
    File(String, Vec<(String, String)>),
}

impl Mapping {
    /// The columns, with their fields.
    pub fn columns(&self) -> Vec<(String, String)> {
        match self {
            Self::Column(column, field) => vec![(column.clone(), field.clone())],
            Self::File(_, columns) => columns.clone(),
        }
    }

    /// The value as it was given.
    pub fn given(&self) -> String {
        match self {
            Self::Column(column, field) => format!("{column}={field}"),
            Self::File(file, _) => format!("@{file}"),
        }
    }
}

/// Reads `COLUMN=FIELD`, or `@FILE` with one of these in each line. The name of a column may begin with that
/// sign, too.
pub fn mapping(text: &str) -> Result<Mapping, String> {
    let file = text.strip_prefix('@').filter(|file| !file.contains('=') || Path::new(file).exists());
    let Some(file) = file else {
        return column(text).map(|(column, field)| Mapping::Column(column, field));
    };
    let read = bounded::text(file, bounded::DOCUMENT_BYTES_MAX)
        .map_err(|error| format!("cannot read {file}: {error}"))?;
    let lines = read.trim_start_matches('\u{feff}').lines().enumerate();
    let lines = lines.filter(|(_, line)| !line.trim().is_empty() && !line.starts_with('#'));
    let columns =
        lines.map(|(at, line)| column(line).map_err(|why| format!("line {} of {file}: {why}", at + 1)));
    Ok(Mapping::File(file.to_owned(), columns.collect::<Result<_, _>>()?))
}

/// Nothing after the sign means that the column is ignored.
fn column(text: &str) -> Result<(String, String), String> {
    let (column, field) = text.split_once('=').ok_or("it must be COLUMN=FIELD, such as Surname=surname")?;
    Ok((column.trim().to_owned(), field.trim().to_owned()))
}
