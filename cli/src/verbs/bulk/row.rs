//! A row of a file as the record that it describes.

use super::Bulk;
use super::source::{Raw, SAVE_AS_UTF_8};
use crate::failure::{Failure, Outcome};
use crate::input::names::Names;
use crate::input::shape::{Column, Shape, Step, close_gaps, put, value};
use crate::output::unguarded;
use crate::words::{hex, hint_beside, in_quotes};
use csv::ByteRecord;
use ring::digest::{SHA256, digest};
use serde_json::{Value, json};
use std::collections::HashMap;

/// What the cells of a column are for.
enum Target {
    /// A parameter of the path, by its place in [`Noun::within`](crate::command::noun::Noun).
    Within(usize),
    /// A part of the body, with the name of the column for the user who has to correct it.
    Field(Column, String),
    PassedOver,
}

impl Target {
    /// Whether both would be written to the same place, so that one value would be lost.
    fn is_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Within(a), Self::Within(b)) => a == b,
            (Self::Field(a, _), Self::Field(b, _)) => a.path == b.path,
            _ => false,
        }
    }
}

/// How the rows of one file are read.
pub struct Reading {
    noun: Bulk,
    targets: Vec<Target>,
    names: Names,
    renamed: HashMap<String, String>,
}

#[derive(Debug, Clone)]
pub struct Row {
    /// Its place in the file, counted from 1.
    pub number: u64,
    /// The identifier of its record, as far as the row has it.
    pub id: String,
    /// What distinguishes it from others of the same identifier, where records may share one.
    pub content: String,
    /// The record, or why it cannot be made.
    pub record: Result<Record, String>,
    /// The row as in the file.
    pub raw: Raw,
}

/// A record that is to be made.
#[derive(Debug, Clone)]
pub struct Record {
    /// The parameters of the path.
    pub within: Vec<String>,
    pub body: Value,
}

impl Record {
    /// A hash of all that it says, with a salt.
    fn hash(&self, salt: &str, body: &str) -> String {
        let text = format!("{salt}\0{}\0{body}", self.within.join("\0"));
        hex(&digest(&SHA256, text.as_bytes()).as_ref()[..16])
    }
}

impl Reading {
    /// Reads rows under a header, or records that name their own properties. `new` says that every record is
    /// a new one.
    pub fn new(noun: Bulk, header: Option<&[String]>, map: &[(String, String)], new: bool) -> Outcome<Self> {
        let renamed: HashMap<String, String> = map.iter().cloned().collect();
        let shape = Shape::of(noun.create.meta);
        let names = Names::of(noun.create.meta);
        let Some(header) = header else { return Ok(Self { noun, targets: Vec::new(), names, renamed }) };
        if let Some(unused) = renamed.keys().find(|column| !header.contains(column)) {
            let what = format!("--map names a column \"{unused}\" that the file does not have");
            return Err(Failure::usage(what).hint(format!("its columns are {}", header.join(", "))));
        }
        Self::check_known(noun, &shape, header, &renamed)?;
        let mut targets = Vec::new();
        for column in header {
            let field = renamed.get(column).unwrap_or(column);
            let target = target(noun, &shape, column, field)?;
            if targets.iter().any(|other| target.is_same(other)) {
                let what = format!("two columns of the file are for \"{field}\"");
                let hint = "take one of them out, or say that it is for another field, or none: --map";
                return Err(Failure::usage(what).hint(hint));
            }
            targets.push(target);
        }
        let reading = Self { noun, targets, names, renamed };
        reading.check_complete(&shape, new)?;
        Ok(reading)
    }

    /// Refuses a table with several columns that are no fields, and names all of them.
    fn check_known(
        noun: Bulk,
        shape: &Shape,
        header: &[String],
        renamed: &HashMap<String, String>,
    ) -> Outcome {
        let fields = header.iter().map(|column| (column, renamed.get(column).unwrap_or(column)));
        let unknown: Vec<_> =
            fields.filter(|(column, field)| target(noun, shape, column, field).is_err()).collect();
        let [(first, _), _, ..] = unknown[..] else { return Ok(()) };
        let names: Vec<_> = unknown.iter().map(|(_, field)| format!("\"{field}\"")).collect();
        let hint = format!(
            "for each of them give its name, or skip it: {}; every name: mfa {} import --template",
            mapped(first),
            noun.name
        );
        Err(Failure::usage(format!("{} have no fields {}", noun.plural, names.join(", "))).hint(hint))
    }

    /// The names under which records of a noun hold their values, for a table of them.
    pub fn names(noun: Bulk) -> Vec<String> {
        let shape = Shape::of(noun.create.meta);
        noun.within().iter().copied().chain(shape.properties()).map(str::to_owned).collect()
    }

    /// The columns of a table of records that name their own properties, each with the field that it is for:
    /// what is mapped keeps its name, so that the same mapping reads the table.
    pub fn columns(noun: Bulk, map: &[(String, String)]) -> Vec<(String, Column)> {
        let shape = Shape::of(noun.create.meta);
        let field = |name: &str| shape.column(name).unwrap_or_else(|_| Column::text(name));
        let names = Self::names(noun);
        let others = names.iter().filter(|name| !map.iter().any(|(_, field)| field == *name));
        let others = others.map(|name| (name.clone(), field(name)));
        others.chain(map.iter().map(|(column, name)| (column.clone(), field(name)))).collect()
    }

    /// Refuses a table without a column that every row needs.
    fn check_complete(&self, shape: &Shape, new: bool) -> Outcome {
        let has = |name: &str| {
            self.targets.iter().any(|target| match target {
                Target::Field(column, _) => column.path.first() == Some(&Step::Name(name.to_owned())),
                Target::Within(i) => self.noun.within()[*i] == name,
                Target::PassedOver => false,
            })
        };
        // What only a new record needs, such as a password, may be missing where records are changed.
        let needed = if new { shape.required() } else { self.noun.id.to_vec() };
        let missing = self.noun.within().iter().copied().chain(needed).find(|name| !has(name));
        match missing {
            Some(name) => {
                let hint =
                    format!("an empty table with every column: mfa {} import --template", self.noun.name);
                Err(Failure::usage(format!("the file has no column \"{name}\", which every row needs"))
                    .hint(hint))
            }
            None => Ok(()),
        }
    }

    /// The row with this number.
    pub fn row(&self, number: u64, raw: Raw) -> Row {
        let record = match &raw {
            Raw::Cells(cells) => self.of_cells(cells),
            Raw::Record(record) => self.of_record(record),
            Raw::Broken(why) | Raw::Uneven(_, why) => {
                Err((Record { within: Vec::new(), body: json!({}) }, why.clone()))
            }
        };
        match record {
            Ok(record) => {
                let shared = !self.noun.names_records();
                let content = if shared { record.hash("", &record.body.to_string()) } else { String::new() };
                Row { number, id: self.id(&record), content, record: Ok(record), raw }
            }
            Err((begun, why)) => {
                Row { number, id: self.id(&begun), content: String::new(), record: Err(why), raw }
            }
        }
    }

    fn of_cells(&self, cells: &ByteRecord) -> Result<Record, (Record, String)> {
        let mut record = Record { within: vec![String::new(); self.noun.within().len()], body: json!({}) };
        let mut wrong = Vec::new();
        for (target, cell) in self.targets.iter().zip(cells) {
            let Ok(cell) = std::str::from_utf8(cell) else {
                wrong.push(format!("the line is not UTF-8: {SAVE_AS_UTF_8}"));
                continue;
            };
            match target {
                Target::PassedOver => {}
                Target::Within(i) => record.within[*i] = unguarded(cell).unwrap_or_default().to_owned(),
                Target::Field(column, name) => match value(column.kind, cell) {
                    Ok(Some(value)) => put(&mut record.body, &column.path, value),
                    Ok(None) => {}
                    Err(why) => wrong.push(format!("{name} {why}")),
                },
            }
        }
        for target in &self.targets {
            if let Target::Field(column, _) = target {
                close_gaps(&mut record.body, &column.path);
            }
        }
        self.checked(record, wrong)
    }

    fn of_record(&self, given: &Value) -> Result<Record, (Record, String)> {
        let mut record = Record { within: vec![String::new(); self.noun.within().len()], body: json!({}) };
        let Value::Object(properties) = given else {
            return Err((record, "the record is not an object".to_owned()));
        };
        let mut wrong = Vec::new();
        for (name, value) in properties {
            let name = self.renamed.get(name).unwrap_or(name);
            if let Some(i) = self.noun.within().iter().position(|within| within == name) {
                record.within[i] = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            } else if !name.is_empty() && !self.noun.computed.contains(&name.as_str()) {
                if record.body.get(name).is_some() {
                    wrong.push(format!("{name} is given twice"));
                }
                record.body[name.as_str()] = value.clone();
            }
        }
        let unknown = self.names.unknown(&record.body);
        wrong.extend(unknown.map(|(field, why)| format!("there is no field {field}: {why}")));
        self.checked(record, wrong)
    }

    fn checked(&self, record: Record, mut wrong: Vec<String>) -> Result<Record, (Record, String)> {
        for (name, value) in self.noun.within().iter().zip(&record.within) {
            // Such a path would be that of another record.
            if matches!(value.as_str(), "" | "." | "..") {
                wrong.push(format!("{name} is required"));
            }
        }
        wrong.dedup();
        if wrong.is_empty() { Ok(record) } else { Err((record, wrong.join("; "))) }
    }

    fn id(&self, record: &Record) -> String {
        let part = |name: &&str| match self.noun.within().iter().position(|within| within == name) {
            Some(i) => record.within.get(i).cloned().unwrap_or_default(),
            None => record.body[*name].as_str().unwrap_or_default().to_owned(),
        };
        self.noun.id.iter().map(part).collect::<Vec<_>>().join("/")
    }
}

/// The flags that name the field of a column, or skip it.
fn mapped(column: &str) -> String {
    format!("--map {}, --map {}", in_quotes(&format!("{column}=FIELD")), in_quotes(&format!("{column}=")))
}

fn target(noun: Bulk, shape: &Shape, column: &str, field: &str) -> Outcome<Target> {
    if field.is_empty() || noun.computed.contains(&field) {
        return Ok(Target::PassedOver);
    }
    if let Some(i) = noun.within().iter().position(|within| *within == field) {
        return Ok(Target::Within(i));
    }
    shape.column(field).map(|found| Target::Field(found, column.to_owned())).map_err(|why| {
        let names = shape.properties().into_iter().chain(noun.within().iter().copied());
        let hint = format!("give its name, or skip it: {}", mapped(column));
        let hint =
            if why.starts_with("did") { format!("{why} {hint}") } else { hint_beside(field, names, &hint) };
        Failure::usage(format!("{} have no field \"{field}\"", noun.plural)).hint(hint)
    })
}

/// Gives rows their idempotency keys: the same for the same row in the same run of an import, wherever in the
/// file it is by then.
pub struct Keys {
    run: String,
    seen: HashMap<String, u32>,
}

impl Keys {
    /// The keys of a run.
    pub fn new(run: &str) -> Self {
        Self { run: run.to_owned(), seen: HashMap::new() }
    }

    /// The key of the next row. A row that an earlier run did has one, too, which its equals must not get.
    pub fn key(&mut self, record: &Record, body: &str) -> String {
        let hex = record.hash(&self.run, body);
        let count = self.seen.entry(hex.clone()).or_default();
        *count += 1;
        // A row that occurs twice in the file is two rows.
        if *count == 1 { hex } else { format!("{hex}-{count}") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::noun::Noun;
    use crate::nouns::{cards, customers};

    fn reading(noun: &'static Noun, header: &[&str], map: &[(&str, &str)]) -> Outcome<Reading> {
        let header: Vec<_> = header.iter().map(|name| (*name).to_owned()).collect();
        let map: Vec<_> = map.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect();
        Reading::new(Bulk::of(noun).unwrap(), Some(&header), &map, true)
    }

    fn row(reading: &Reading, cells: &[&str]) -> Row {
        reading.row(7, Raw::Cells(ByteRecord::from(cells.to_vec())))
    }

    #[test]
    fn a_row_becomes_a_body_and_empty_cells_say_nothing() {
        let header = ["Nr", "givenName", "dateOfBirth", "member", "address.city", "note", "currentState"];
        let reading = reading(&customers::NOUN, &header, &[("Nr", "identifier"), ("note", "")]).unwrap();
        let row = row(&reading, &["c-1", "'+1", "1990-05-17", "TRUE", "", "x", "ACTIVE"]);
        let day = json!({ "year": 1990, "month": 5, "day": 17 });
        let body = json!({ "identifier": "c-1", "givenName": "+1", "dateOfBirth": day, "member": true });
        assert_eq!((row.id.as_str(), row.record.unwrap().body), ("c-1", body));
    }

    #[test]
    fn every_bad_cell_of_a_row_is_named() {
        let reading = reading(&customers::NOUN, &["identifier", "dateOfBirth", "member"], &[]).unwrap();
        let row = row(&reading, &["c-1", "17.5.1990", "yes"]);
        let expected = "dateOfBirth must be a day of the calendar as YYYY-MM-DD, not \"17.5.1990\"; \
                        member must be true or false, not \"yes\"";
        assert_eq!((row.id.as_str(), row.record.unwrap_err().as_str()), ("c-1", expected));
    }

    #[test]
    fn a_parameter_of_the_path_is_a_column_and_no_property() {
        let reading = reading(&cards::NOUN, &["customer", "type", "number", "expirationDate"], &[]).unwrap();
        let good = row(&reading, &["c-1", "Passport", "G1", "2030-01-31"]);
        let record = good.record.unwrap();
        assert_eq!((good.id.as_str(), record.within.as_slice()), ("c-1/G1", ["c-1".to_owned()].as_slice()));
        assert_eq!(record.body.get("customer"), None);
        assert_eq!(
            row(&reading, &["", "Passport", "G1", "2030-01-31"]).record.unwrap_err(),
            "customer is required"
        );
    }

    #[test]
    fn a_table_with_a_wrong_header_is_refused_before_anything_is_sent() {
        let refused = |header: &[&str]| reading(&customers::NOUN, header, &[]).err().unwrap();
        assert_eq!(refused(&["identifier", "surnam"]).message, "customers have no field \"surnam\"");
        assert!(refused(&["identifier", "surnam"]).hint.starts_with("did you mean surname?"));
        let several = refused(&["Nr", "identifier", "Born"]);
        assert_eq!(several.message, "customers have no fields \"Nr\", \"Born\"");
        assert!(several.hint.ends_with("every name: mfa customers import --template"));
        assert!(refused(&["surname"]).message.contains("no column \"identifier\""));
        let twice = "two columns of the file are for \"surname\"";
        assert_eq!(refused(&["identifier", "surname", "surname"]).message, twice);
        let (header, map) = (["identifier", "surname", "Name"], [("Name", "surname")]);
        assert_eq!(reading(&customers::NOUN, &header, &map).err().unwrap().message, twice);
        reading(&customers::NOUN, &header, &[("Name", "")]).unwrap();
        assert!(reading(&customers::NOUN, &["identifier"], &[("Nr", "identifier")]).is_err());
    }

    #[test]
    fn a_row_keeps_its_key_in_its_run_and_a_second_one_like_it_has_another() {
        let record = Record { within: Vec::new(), body: json!({}) };
        let keys = |run: &str, bodies: &[&str]| {
            let mut keys = Keys::new(run);
            bodies.iter().map(|body| keys.key(&record, body)).collect::<Vec<_>>()
        };
        let first = keys("r1", &["a", "b", "a"]);
        assert_eq!(first, keys("r1", &["a", "b", "a"]));
        assert_eq!(keys("r1", &["b"])[0], first[1]);
        assert!(first[0] != first[2] && first[0] != keys("r2", &["a"])[0]);
    }
}
