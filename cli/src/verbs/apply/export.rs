//! The way back: every record of the institution as a document, one file for each kind.

use super::files::{Document, Name};
use super::kinds::{KINDS, Kind};
use super::plan::absent;
use super::secrets;
use crate::client::Client;
use crate::failure::{Failure, Outcome, codes};
use crate::input::shape::Shape;
use crate::output::yaml;
use crate::settings::files::unwritable;
use crate::words::quoted;
use mfa_shared::identifier::is_identifier_char;
use serde_json::{Map, Value, json};
use std::collections::HashMap;
use std::fs::{DirBuilder, Permissions, read_dir, rename};
use std::io::{BufWriter, ErrorKind, Write};
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};
use tempfile::{NamedTempFile, TempDir};

pub struct Exported {
    /// The files, each with its kind and the number of its records.
    pub rows: Vec<Value>,
    /// Records that name others which do not exist, in words.
    pub dangling: Vec<String>,
    /// How many records have a secret that was left out.
    pub secrets: u64,
}

/// Writes all records into a folder. With `over`, the files of an earlier export are replaced and the other
/// files of the folder stay; without it the folder must be a new or an empty one.
pub async fn export(client: &Client, folder: &str, over: bool) -> Outcome<Exported> {
    let place = Place::begin(folder, over)?;
    let mut found = Found::default();
    let (mut rows, mut files) = (Vec::new(), Vec::new());
    for kind in KINDS.iter() {
        let mut file = File::begin(&place, kind)?;
        kind.noun.each(client, &mut |record| file.push(&record, &mut found, &client.url)).await?;
        rows.push(json!({ "kind": kind.name, "records": file.records, "file": file.name(folder) }));
        files.push(file);
    }
    let dangling = found.dangling(client).await?;
    // Nothing is moved into place before everything has arrived.
    for file in files {
        file.finish(&place)?;
    }
    place.finish()?;
    Ok(Exported { rows, dangling, secrets: found.secrets })
}

/// What is noted while records are exported.
#[derive(Default)]
struct Found {
    /// Records that are named, each with the first one that names it.
    named: HashMap<Name, String>,
    secrets: u64,
}

impl Found {
    async fn dangling(&self, client: &Client) -> Outcome<Vec<String>> {
        let absent = absent(client, self.named.keys().cloned().collect()).await?;
        let line = |name: &Name| {
            let (kind, id) = name;
            format!("{} names {kind} {id}, which does not exist", self.named[name])
        };
        let mut lines: Vec<_> = absent.iter().map(line).collect();
        lines.sort();
        Ok(lines)
    }
}

enum Place {
    /// A temporary folder, and the folder that it becomes.
    New(TempDir, PathBuf),
    /// An existing folder.
    Over(PathBuf),
}

impl Place {
    fn begin(folder: &str, over: bool) -> Outcome<Self> {
        let failed = unwritable(Path::new(folder));
        let path = std::path::absolute(folder).map_err(failed)?;
        let empty = match read_dir(&path) {
            Ok(mut entries) => entries.next().is_none(),
            Err(error) if error.kind() == ErrorKind::NotFound => true,
            Err(error) => return Err(failed(error)),
        };
        if !empty {
            return if over { Ok(Place::Over(path)) } else { Err(taken(folder)) };
        }
        let parent = path.parent().unwrap_or(Path::new("/"));
        let made = DirBuilder::new().recursive(true).mode(0o700).create(parent);
        let made = made.and_then(|()| tempfile::Builder::new().prefix(".mfa-export-").tempdir_in(parent));
        Ok(Place::New(made.map_err(failed)?, path))
    }

    fn path(&self) -> &Path {
        match self {
            Place::New(folder, _) => folder.path(),
            Place::Over(path) => path,
        }
    }

    /// Moves the folder into place. An empty folder there is replaced; any other is refused.
    fn finish(self) -> Outcome {
        let Place::New(folder, path) = self else { return Ok(()) };
        let failed = |error: std::io::Error| match error.kind() {
            ErrorKind::DirectoryNotEmpty | ErrorKind::AlreadyExists => taken(&path.to_string_lossy()),
            _ => unwritable(&path)(error),
        };
        std::fs::set_permissions(folder.path(), Permissions::from_mode(0o700)).map_err(failed)?;
        rename(folder.path(), &path).map_err(failed)?;
        // It was renamed, so there is nothing to remove.
        let _ = folder.keep();
        Ok(())
    }
}

fn taken(folder: &str) -> Failure {
    let hint = format!("give another folder, or write over what an export left: --force {}", quoted(folder));
    Failure::new(codes::FOLDER_EXISTS, format!("{folder} exists and is not empty")).hint(hint)
}

/// The file of a kind.
struct File {
    kind: &'static Kind,
    out: BufWriter<NamedTempFile>,
    properties: Vec<String>,
    secrets: Vec<String>,
    records: u64,
}

impl File {
    fn begin(place: &Place, kind: &'static Kind) -> Outcome<Self> {
        let shape = Shape::of(kind.create.meta);
        let secret = shape.secrets();
        let own = kind.own.iter().filter(|own| own.always).map(|own| own.property);
        let all = kind.within.into_iter().chain(shape.properties()).chain(own);
        let (secrets, properties) = all.map(str::to_owned).partition(|name| secret.contains(&name.as_str()));
        let made = NamedTempFile::new_in(place.path()).map_err(unwritable(place.path()))?;
        let mut file = Self { kind, out: BufWriter::new(made), properties, secrets, records: 0 };
        file.write(&file.heading())?;
        Ok(file)
    }

    /// What the file holds, and what it does not.
    fn heading(&self) -> String {
        let Self { kind, secrets, .. } = self;
        let mut text = format!("# Every {} of the institution, from mfa export.\n", kind.name);
        if !secrets.is_empty() {
            text.push_str(
                "# Secrets are not exported. A record that is made from this file takes them from\n",
            );
            text.push_str("# files beside it, each of which holds one secret on a line, and nothing else:\n");
            for name in secrets {
                let place = secrets::path(kind.name, "ID", name);
                text.push_str(&format!("# {place} for the {name} of {} ID\n", kind.name));
            }
        }
        text
    }

    fn name(&self, folder: &str) -> String {
        Path::new(folder).join(format!("{}s.yaml", self.kind.name)).to_string_lossy().into_owned()
    }

    fn write(&mut self, text: &str) -> Outcome {
        let written = self.out.write_all(text.as_bytes());
        written.map_err(unwritable(self.out.get_ref().path()))
    }

    fn push(&mut self, record: &Value, found: &mut Found, url: &str) -> Outcome {
        let document = self.document(record);
        // It becomes the path of a file that `mfa apply` reads, and is part of the text as it is.
        if !self.secrets.is_empty() && !document.id.chars().all(is_identifier_char) {
            return Err(Failure::unexpected(url, &format!("with a {} \"{}\"", self.kind.name, document.id))
                .hint("no daemon takes such an identifier; do not use what it answers"));
        }
        for (_, name) in document.references() {
            found.named.entry(name).or_insert_with(|| document.title());
        }
        let mut text = format!("---\nkind: {}\n", self.kind.name);
        let mut given = document.given;
        given.values_mut().for_each(secrets::guard);
        text.push_str(&yaml::to_text(&Value::Object(given)));
        for name in &self.secrets {
            text.push_str(&format!("{name}: {}\n", secrets::place(self.kind.name, &document.id, name)));
        }
        found.secrets += u64::from(!self.secrets.is_empty());
        self.records += 1;
        self.write(&text)
    }

    /// The record with only the properties that a document takes.
    fn document(&self, record: &Value) -> Document {
        let text = |name: &str| record[name].as_str().unwrap_or_default().to_owned();
        let mut given = Map::new();
        for name in &self.properties {
            if let Some(value) = record.get(name).and_then(without_nulls) {
                given.insert(name.clone(), value);
            }
        }
        Document {
            place: String::new(),
            kind: self.kind,
            id: text(self.kind.key),
            within: self.kind.within.map(text),
            given,
            hidden: Vec::new(),
            absent: Vec::new(),
        }
    }

    fn finish(self, place: &Place) -> Outcome {
        let path = place.path().join(self.name(""));
        let failed = unwritable(&path);
        let file = self.out.into_inner().map_err(|error| failed(error.into_error()))?;
        file.persist(&path).map_err(|error| failed(error.error))?;
        Ok(())
    }
}

/// A value without empty properties; nothing if it is empty itself.
fn without_nulls(value: &Value) -> Option<Value> {
    Some(match value {
        Value::Null => return None,
        Value::Object(properties) => {
            let said = |(name, value): (&String, &Value)| Some((name.clone(), without_nulls(value)?));
            Value::Object(properties.iter().filter_map(said).collect())
        }
        Value::Array(elements) => elements.iter().filter_map(without_nulls).collect(),
        value => value.clone(),
    })
}
