//! A record in the editor of the user: `mfa NOUN edit ID`.

use crate::client::{At, Reply};
use crate::command::cx::{Cx, Done};
use crate::command::noun::Noun;
use crate::failure::{Failure, Outcome};
use crate::input::Row;
use crate::input::names::pointer;
use crate::input::prompt::interrupted;
use crate::input::shape::Shape;
use crate::output::{Lent, same, yaml};
use diffy::{DiffOptions, Line};
use mfa_shared::fault::exit;
use mfa_shared::wire::Outgoing;
use rustix::process::Signal;
use serde_json::Value;
use std::io::Write;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::Command;

/// Lines around a change that are shown with it.
const CONTEXT_LINES: usize = 2;

impl Cx {
    /// Opens a record as YAML in the editor, shows what was changed there, asks, and writes it unless someone
    /// else has changed the record meanwhile.
    pub async fn edit(&self, noun: &Noun, params: &[&str]) -> Outcome {
        self.check_columns(noun.view)?;
        if !self.prompt.yes {
            self.prompt.check("--yes")?;
        }
        let (read, change) = noun.changing()?;
        let rows = Rows { read: (read, params), change };
        let done = noun.done(params, "updated");
        let Reply { value, tag, .. } = self.client.send_row(rows.read, Outgoing::default()).await?;
        let yaml = yaml::to_text(&value);
        let draft = tempfile::Builder::new().prefix("mfa-").suffix(".yaml").tempfile();
        let mut draft = draft.map_err(|error| Failure::local(format!("cannot make a draft: {error}")))?;
        let head =
            format!("# {} {} at {}: save it and leave to go on.\n", done.noun, done.id, self.client.url);
        let text = head + &yaml;
        draft.write_all(text.as_bytes())?;
        let before = Before { value, tag, yaml, text, done };
        match self.edited(rows, &before, draft.path()).await {
            Ok(true) => self.changed_row(noun, params, "updated").await,
            Ok(false) => {
                self.out.say(&format!("{} {} is unchanged", done.noun, done.id));
                self.out.show(noun.view, &before.value)
            }
            Err(failure) if failure.dry_run.is_some() => Err(failure),
            // Keep what the user typed.
            Err(failure) if std::fs::read_to_string(draft.path()).is_ok_and(|typed| typed != before.text) => {
                let kept = draft.into_temp_path().keep();
                let kept = kept.map(|path| format!("; the draft is kept in {}", path.display()));
                Err(failure.adding(&kept.unwrap_or_default()))
            }
            Err(failure) => Err(failure),
        }
    }

    /// Lets the user edit until it can be written, and writes it; returns whether there was anything to
    /// write.
    async fn edited(&self, rows: Rows<'_>, before: &Before<'_>, draft: &Path) -> Outcome<bool> {
        let Done { noun, id, .. } = before.done;
        let (body, after) = loop {
            open(&editor(), draft)?;
            // A refusal is reported at once, and the draft can be corrected.
            match self.judged(rows, before, draft).await {
                Ok(Some(judged)) => break judged,
                Ok(None) => return Ok(false),
                Err(failure) if failure.status == Some(412) => {
                    return Err(self.raced(failure, rows.read).await);
                }
                Err(failure) if self.prompt.can_ask() && !self.prompt.yes => {
                    self.out.insist(&failure.message);
                    self.out.say(&failure.hint);
                    if self.prompt.confirm_or_interrupted("edit it again?").await.is_err() {
                        return Err(failure);
                    }
                }
                Err(failure) => return Err(failure),
            }
        };
        let text = yaml::to_text(&after);
        self.out.show_changes(&differences(&before.yaml, &text));
        let question = format!("change {noun} {id} at {}?", self.client.url);
        self.prompt.confirm_or_interrupted(&question).await?;
        match self.client.send_if(rows.write(), body, before.tag.as_deref()).await {
            Ok(_) => Ok(true),
            Err(failure) if failure.status == Some(412) => Err(self.raced(failure, rows.read).await),
            Err(failure) => Err(failure),
        }
    }

    /// What was typed, as a body and as a record; nothing where nothing was changed. It is refused where any
    /// of it would be dropped: a dry run shows what the record would be.
    async fn judged(
        &self,
        rows: Rows<'_>,
        before: &Before<'_>,
        draft: &Path,
    ) -> Outcome<Option<(Outgoing, Value)>> {
        let unread = |error| Failure::local(format!("cannot read the draft {}: {error}", draft.display()));
        let text = std::fs::read_to_string(draft).map_err(unread)?;
        let mut after = parsed(&text)?;
        if let Some(comment) = added_comment(&before.text, &text, &after) {
            let what = format!("a record keeps no comments, and this one would be lost: {comment}");
            return Err(Failure::usage(what).hint("take it out, or write it into a field"));
        }
        let shape = Shape::of(rows.change.meta);
        empty_removed(&before.value, &mut after);
        check_names(&shape, &before.value, &after, before.done.noun)?;
        if after == before.value {
            return Ok(None);
        }
        let body = (rows.change.body)(&after)?;
        let tag = before.tag.as_deref();
        let would_be = self.client.try_then_read(rows.write(), &body, tag, rows.read).await?;
        match dropped("", &before.value, &after, &would_be) {
            Some((field, emptied)) => {
                let how = if emptied { "emptied" } else { "changed" };
                let what = format!("{field} of {} cannot be {how} here", before.done.noun);
                Err(Failure::usage(what).hint("leave it unchanged; other commands may change it"))
            }
            None => Ok(Some((body, after))),
        }
    }
}

/// The row that reads a record, and the one that changes it.
#[derive(Clone, Copy)]
struct Rows<'a> {
    read: At<'a>,
    change: Row,
}

impl<'a> Rows<'a> {
    fn write(&self) -> At<'a> {
        (self.change.meta, self.read.1)
    }
}

/// A record before it was edited.
struct Before<'a> {
    value: Value,
    tag: Option<String>,
    yaml: String,
    /// The draft as the editor was given it.
    text: String,
    done: Done<'a>,
}

/// A property that was taken out is one that is to be empty.
fn empty_removed(before: &Value, after: &mut Value) {
    if let (Value::Object(before), Value::Object(after)) = (before, after) {
        for name in before.keys() {
            after.entry(name.clone()).or_insert(Value::Null);
        }
    }
}

/// The first changed field that the daemon would leave unchanged, and whether it was to be emptied.
fn dropped(field: &str, before: &Value, typed: &Value, would_be: &Value) -> Option<(String, bool)> {
    if same(before, typed) {
        return None;
    }
    match (before, typed) {
        (Value::Object(old), Value::Object(new)) => {
            let names = old.keys().chain(new.keys().filter(|name| !old.contains_key(*name)));
            names.into_iter().find_map(|name| {
                let field = format!("{field}/{name}");
                let typed = new.get(name).unwrap_or(&Value::Null);
                dropped(&field, &before[name], typed, &would_be[name])
            })
        }
        (Value::Array(old), Value::Array(new)) if old.len() == new.len() => {
            let at = |n: usize| dropped(&format!("{field}/{n}"), &old[n], &new[n], &would_be[n]);
            (0..old.len()).find_map(at)
        }
        _ => same(before, would_be).then(|| (field.to_owned(), typed.is_null())),
    }
}

/// A comment that was added to a draft.
fn added_comment<'t>(before: &str, text: &'t str, value: &Value) -> Option<&'t str> {
    let had = |line: &str| before.lines().any(|old| old == line);
    let begins = |line: &str, at: usize| at == 0 || line[..at].ends_with(char::is_whitespace);
    text.lines().filter(|line| !had(line)).find_map(|line| {
        let mut signs = line.match_indices('#').map(|(at, _)| at).filter(|at| begins(line, *at));
        signs.find_map(|at| {
            // It is a comment if nothing changes without it; a # within a text is not.
            let start = line.as_ptr() as usize - text.as_ptr() as usize + at;
            let without = format!("{}{}", &text[..start], &text[start + line.len() - at..]);
            (crate::input::yaml::parse(&without).as_ref() == Ok(value)).then(|| line[at..].trim())
        })
    })
}

/// Refuses a name that would be ignored: a mistyped one, or one whose value only the daemon sets.
fn check_names(shape: &Shape, before: &Value, after: &Value, noun: &str) -> Outcome {
    let changed =
        after.as_object().into_iter().flatten().filter(|(name, value)| before.get(name) != Some(value));
    let Some((path, why)) = changed.flat_map(|(name, value)| shape.unknown(name, value)).next() else {
        return Ok(());
    };
    let field = pointer(&path);
    Err(match before.pointer(&field) {
        Some(_) => Failure::usage(format!("{field} of {noun} cannot be changed")).hint("leave it unchanged"),
        None => Failure::usage(format!("{noun} has no field {field}")).hint(why),
    })
}

/// The lines that differ and those around them, each with its mark.
fn differences(before: &str, after: &str) -> Vec<(char, String)> {
    let patch = DiffOptions::new().set_context_len(CONTEXT_LINES).create_patch(before, after);
    let lines = patch.hunks().iter().flat_map(|hunk| hunk.lines());
    let marked = lines.map(|line| match line {
        Line::Context(text) => (' ', text),
        Line::Delete(text) => ('-', text),
        Line::Insert(text) => ('+', text),
    });
    marked.map(|(mark, text)| (mark, text.trim_end_matches('\n').to_owned())).collect()
}

/// The editor that the user has chosen.
fn editor() -> String {
    let chosen = |name| std::env::var(name).ok().filter(|command: &String| !command.trim().is_empty());
    chosen("VISUAL").or_else(|| chosen("EDITOR")).unwrap_or_else(|| "vi".to_owned())
}

/// Waits until the editor is left. It is a line of the shell, such as `code --wait`.
fn open(editor: &str, path: &Path) -> Outcome {
    let line = format!("{editor} \"$1\"");
    let lent = Lent::begin();
    let status = Command::new("sh").args(["-c", &line, "mfa"]).arg(path).status();
    match status {
        Ok(status) if status.success() => Ok(()),
        // Ctrl-C has ended the shell, or the editor, of which a shell says so in this way.
        Ok(status)
            if status.signal() == Some(Signal::INT.as_raw()) || status.code() == Some(exit::INTERRUPTED) =>
        {
            lent.for_good();
            Err(interrupted("interrupted, nothing was changed"))
        }
        Ok(_) => Err(Failure::usage(format!("the editor {editor} failed, nothing was changed"))
            .hint("VISUAL or EDITOR names the editor")),
        Err(error) => Err(Failure::local(format!("cannot start the editor {editor}: {error}"))),
    }
}

fn parsed(text: &str) -> Outcome<Value> {
    match crate::input::yaml::parse(text) {
        Ok(value @ Value::Object(_)) => Ok(value),
        Ok(_) => Err(Failure::usage("the draft holds no fields")),
        Err(why) => Err(Failure::usage(format!("the draft is not YAML: {why}"))),
    }
}
