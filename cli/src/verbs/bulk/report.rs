//! The report of an import: one line for each row, from which a broken run is resumed.
//!
//! While an import runs, its lines are added at the end, behind a line that says which run it is. A run that
//! ends leaves its own lines only. So a report with such a line is that of a run which did not end, and the
//! rows whose lines are missing may or may not have been done: they are sent again under the same keys.

use super::Bulk;
use super::send::{Done, Status};
use crate::client::idempotency::new_key;
use crate::failure::{Failure, Outcome, codes};
use crate::output::{guarded, unguarded};
use crate::settings::files::{folder_of, unwritable};
use rustix::fs::{FlockOperation, flock};
use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

const HEADER: &str = "row,id,status,code,message\n";
/// The same where an identifier may be that of several rows.
const HEADER_WITH_CONTENT: &str = "row,id,status,code,message,content\n";
/// The status of the line that begins a run.
const BEGUN: &str = "begun";

/// A report that is being written.
pub struct Report {
    path: PathBuf,
    file: File,
    /// What the file held before, if it was there.
    former: Option<String>,
    /// How many bytes of that stay, until the run begins in it.
    kept: Option<u64>,
    waiting: Vec<u8>,
    header: &'static str,
    /// Where the lines of this run begin.
    own: u64,
}

/// The results of earlier runs.
#[derive(Debug, Default)]
pub struct Before {
    /// The run to be resumed, or a new one.
    pub run: String,
    done: Results,
}

/// Results of rows that were done.
#[derive(Debug, Default)]
struct Results {
    /// By the identifier of the row.
    named: HashMap<String, Vec<Status>>,
    /// By identifier and then by content, as far as the report has it: that of before 0.2.0 does not.
    equal: HashMap<String, HashMap<String, Vec<Status>>>,
}

impl Before {
    /// The results of earlier runs for a dry run, which only reads their report.
    pub fn look(path: &Path, noun: Bulk, resume: bool) -> Outcome<Self> {
        if !resume {
            return Ok(Self { run: new_key(), ..Self::default() });
        }
        let text = match std::fs::read_to_string(path) {
            // As an import then begins anew, so does its trial.
            Err(error) if error.kind() == ErrorKind::NotFound => String::new(),
            text => {
                text.map_err(|error| Failure::local(format!("cannot read {}: {error}", path.display())))?
            }
        };
        let past = Past::of(path, noun.name, &text)?;
        Ok(Self { run: past.begun.map_or_else(new_key, |begun| begun.run), done: past.done })
    }

    /// The result of the next row of this name, if it was done before. Where names are shared, a row has the
    /// result of an equal one; only what is not known of any content goes by the name.
    pub fn take(&mut self, id: &str, content: &str) -> Option<Status> {
        let named = self.done.named.get_mut(id)?;
        let Some(equal) = self.done.equal.get_mut(id).filter(|_| !content.is_empty()) else {
            return first(named);
        };
        if let Some(status) = equal.get_mut(content).and_then(first) {
            let _ = first(named);
            return Some(status);
        }
        let of_others: usize = equal.values().map(Vec::len).sum();
        if named.len() > of_others { first(named) } else { None }
    }
}

impl Report {
    /// Prepares a run, which begins in the file with [`Report::flush`]. Without `resume` it begins anew,
    /// unless a run before it did not end. The caller is noted where keys alone tell which rows were done.
    pub fn begin(path: &Path, noun: Bulk, caller: &str, resume: bool) -> Outcome<(Self, Before)> {
        let (file, former) = open(path)?;
        let text = former.as_deref().unwrap_or_default();
        check(path, text)?;
        if let (Some(begun), false) = (Past::read(text).begun, resume) {
            let what = format!("an import of {} with the report {} did not end", begun.noun, path.display());
            return Err(Failure::usage(what).hint("continue it: --resume; or remove the report first"));
        }
        let past = Past::of(path, noun.name, text)?;
        if let Some(begun) = &past.begun {
            begun.check_caller(path, caller)?;
        }
        let run = past.begun.map_or_else(new_key, |begun| begun.run);
        let (kept, done) = if resume { (past.whole, past.done) } else { (0, Results::default()) };
        let mut report = Self::behind(path, noun, (file, former), kept);
        report.line(&["0", &run, BEGUN, &guarded(caller), noun.name]);
        report.own = kept + report.waiting.len() as u64;
        Ok((report, Before { run, done }))
    }

    /// The report of a dry run, which is never resumed.
    pub fn of_dry_run(path: &Path, noun: Bulk) -> Outcome<Self> {
        let (file, former) = open(path)?;
        check(path, former.as_deref().unwrap_or_default())?;
        let mut report = Self::behind(path, noun, (file, former), 0);
        report.own = report.waiting.len() as u64;
        Ok(report)
    }

    /// A report of which so many bytes are kept.
    fn behind(path: &Path, noun: Bulk, (file, former): (File, Option<String>), kept: u64) -> Self {
        let header = if noun.names_records() { HEADER } else { HEADER_WITH_CONTENT };
        let waiting = if kept == 0 { header.as_bytes().to_vec() } else { Vec::new() };
        Self { path: path.to_owned(), file, former, kept: Some(kept), waiting, header, own: 0 }
    }

    fn line(&mut self, cells: &[&str]) {
        let mut writer = csv::Writer::from_writer(&mut self.waiting);
        // Writing to memory does not fail.
        let _ = writer.write_record(cells);
        let _ = writer.flush();
    }

    /// Adds the result of a row.
    pub fn push(&mut self, done: &Done) {
        let flat = |text: &str| match text.replace(['\r', '\n'], " ") {
            empty if empty.is_empty() => empty,
            flat => guarded(&flat),
        };
        let number = done.number.to_string();
        let id = flat(&done.id);
        let message = flat(&done.message);
        let cells = [&number, &id, done.status.as_str(), &done.code, &message, &done.content];
        self.line(if self.header == HEADER { &cells[..5] } else { &cells });
    }

    /// Writes what waits. From the first time on the run is one that begins and has to end.
    pub fn flush(&mut self) -> Outcome {
        if let Some(kept) = self.kept {
            let failed = unwritable(&self.path);
            self.file.set_len(kept).map_err(failed)?;
            self.kept = None;
            self.file.seek(SeekFrom::End(0)).map_err(failed)?;
        }
        let written = self.file.write_all(&self.waiting);
        self.waiting.clear();
        written.map_err(unwritable(&self.path))
    }

    /// Takes the run back of which nothing was done: the file is again what it was.
    pub fn take_back(self) -> Outcome {
        let failed = unwritable(&self.path);
        let Some(former) = self.former else { return std::fs::remove_file(&self.path).map_err(failed) };
        if self.kept.is_none() {
            let mut whole = tempfile::NamedTempFile::new_in(folder_of(&self.path)).map_err(failed)?;
            whole.write_all(former.as_bytes()).map_err(failed)?;
            whole.persist(&self.path).map_err(|error| failed(error.error))?;
        }
        Ok(())
    }

    /// Ends the run: only its own lines stay, in the order of the rows.
    pub fn finish(mut self) -> Outcome {
        self.flush()?;
        let failed = unwritable(&self.path);
        let mut whole = tempfile::NamedTempFile::new_in(folder_of(&self.path)).map_err(failed)?;
        whole.write_all(self.header.as_bytes()).map_err(failed)?;
        self.file.seek(SeekFrom::Start(self.own)).map_err(failed)?;
        std::io::copy(&mut self.file, &mut whole).map_err(failed)?;
        whole.persist(&self.path).map_err(|error| failed(error.error))?;
        Ok(())
    }
}

/// Opens a report for this run alone, and reads it, if it was there.
fn open(path: &Path) -> Outcome<(File, Option<String>)> {
    let other = "name others: --report FILE --failed FILE";
    let failed = |error| unwritable(path)(error).hint(other);
    let was_there = path.exists();
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false).mode(0o600);
    let mut file = options.open(path).map_err(failed)?;
    if !file.metadata().is_ok_and(|metadata| metadata.is_file()) {
        // It is read again when the import is resumed, and another file takes its place at the end.
        return Err(Failure::usage(format!("{} is no file", path.display())).hint(other));
    }
    if flock(&file, FlockOperation::NonBlockingLockExclusive).is_err() {
        let busy = format!("another import is writing {}", path.display());
        let failure = Failure::new(codes::IMPORT_UNDER_WAY, busy);
        return Err(failure.hint(format!("wait until it has ended, or {other}")));
    }
    let mut text = String::new();
    file.read_to_string(&mut text).map_err(failed)?;
    Ok((file, was_there.then_some(text)))
}

/// Refuses a file that is something else.
fn check(path: &Path, text: &str) -> Outcome {
    if text.is_empty() || [HEADER, HEADER_WITH_CONTENT].iter().any(|header| text.starts_with(header)) {
        return Ok(());
    }
    let what = format!("{} is not the report of an import", path.display());
    Err(Failure::usage(what).hint("name another file: --report FILE"))
}

/// A run that began.
#[derive(Debug)]
struct Begun {
    run: String,
    /// Who began it; empty where it does not matter, or was not noted yet.
    caller: String,
    noun: String,
}

impl Begun {
    /// Refuses another caller, for whom the daemon does not know the keys of the rows.
    fn check_caller(&self, path: &Path, caller: &str) -> Outcome {
        if self.caller.is_empty() || caller == self.caller {
            return Ok(());
        }
        let (file, begun) = (path.display(), &self.caller);
        let what = format!(
            "the import with the report {file} was begun by {begun}, and you are {caller}: rows whose \
             answers were lost would be made twice"
        );
        Err(Failure::usage(what).hint(format!("go on with it as {begun}")))
    }
}

/// What a report says.
#[derive(Debug, Default)]
struct Past {
    /// The last run that began, where none has ended since.
    begun: Option<Begun>,
    /// The rows that were done.
    done: Results,
    /// Bytes up to the end of the last whole line.
    whole: u64,
}

impl Past {
    /// What the report of an import of a noun says.
    fn of(path: &Path, noun: &str, text: &str) -> Outcome<Self> {
        check(path, text)?;
        let past = Self::read(text);
        if let Some(begun) = past.begun.as_ref().filter(|begun| begun.noun != noun) {
            let what = format!("{} is the report of an import of {}", path.display(), begun.noun);
            return Err(Failure::usage(what));
        }
        Ok(past)
    }

    fn read(text: &str) -> Self {
        let end = text.rfind('\n').map_or(0, |at| at + 1);
        let mut past = Self { whole: end as u64, ..Self::default() };
        let mut run = Results::default();
        let mut reader = csv::ReaderBuilder::new().flexible(true).from_reader(&text.as_bytes()[..end]);
        for line in reader.records().map_while(Result::ok) {
            let cell = |i: usize| line.get(i).unwrap_or_default();
            if cell(2) == BEGUN {
                past.done.add(std::mem::take(&mut run));
                let caller = unguarded(cell(3)).unwrap_or_default().to_owned();
                past.begun = Some(Begun { run: cell(1).to_owned(), caller, noun: cell(4).to_owned() });
            } else if let Some(status) = Status::done(cell(2)) {
                let id = unguarded(cell(1)).unwrap_or_default().to_owned();
                if !cell(5).is_empty() {
                    let equal = run.equal.entry(id.clone()).or_default();
                    equal.entry(cell(5).to_owned()).or_default().push(status);
                }
                run.named.entry(id).or_default().push(status);
            }
        }
        past.done.add(run);
        past
    }
}

impl Results {
    /// A run also reports what was done before it, as far as it got: of two runs, the one with more results
    /// for a name counts.
    fn add(&mut self, run: Self) {
        keep_longer(&mut self.named, run.named);
        for (id, results) in run.equal {
            keep_longer(self.equal.entry(id).or_default(), results);
        }
    }
}

fn keep_longer(known: &mut HashMap<String, Vec<Status>>, run: HashMap<String, Vec<Status>>) {
    for (key, done) in run {
        let known = known.entry(key).or_default();
        if done.len() > known.len() {
            *known = done;
        }
    }
}

/// Takes the first of several results.
fn first(results: &mut Vec<Status>) -> Option<Status> {
    if results.is_empty() { None } else { Some(results.remove(0)) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nouns::{customers, offices};

    fn done(number: u64, id: &str, status: Status) -> Done {
        let id = id.to_owned();
        let (code, content) = (String::new(), String::new());
        let message = "a\nb".to_owned();
        Done { number, id, content, status, code, message, raw: None, before: false }
    }

    #[test]
    fn a_run_that_did_not_end_is_gone_on_with_and_one_that_ended_is_not() {
        let [customers, offices] = [&customers::NOUN, &offices::NOUN].map(|noun| Bulk::of(noun).unwrap());
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x.report.csv");
        let (mut report, mut before) = Report::begin(&path, customers, "", true).unwrap();
        assert_eq!(before.take("c-1", ""), None);
        let run = before.run;
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "", "it begins with its first line");
        report.push(&done(1, "c-1", Status::Created));
        report.push(&done(2, "=c", Status::Failed));
        report.flush().unwrap();
        assert!(Report::begin(&path, customers, "", true).is_err(), "two imports at once");
        drop(report);
        // A line that was cut off in the middle.
        OpenOptions::new().append(true).open(&path).unwrap().write_all(b"3,c-3,cre").unwrap();
        assert!(Report::begin(&path, customers, "", false).is_err());
        assert!(Report::begin(&path, offices, "", true).is_err());
        let (mut report, mut before) = Report::begin(&path, customers, "", true).unwrap();
        assert_eq!((before.take("=c", ""), before.take("c-3", "")), (None, None));
        assert_eq!(before.run, run);
        assert_eq!((before.take("c-1", ""), before.take("c-1", "")), (Some(Status::Created), None));
        report.push(&done(1, "c-1", Status::Created));
        report.push(&done(2, "=c", Status::Created));
        report.finish().unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        assert_eq!(text, format!("{HEADER}1,c-1,created,,a b\n2,'=c,created,,a b\n"));
        let (_, mut before) = Report::begin(&path, customers, "", true).unwrap();
        assert!(before.run != run && before.take("=c", "").is_some());
    }
}
