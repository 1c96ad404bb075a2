//! A record in the editor of the user: `mfa NOUN edit ID`.

use crate::bulk::columns::Shape;
use crate::client::Reply;
use crate::cx::{Cx, Done};
use crate::failure::{Failure, Outcome};
use crate::input;
use crate::names::pointer;
use crate::output::yaml;
use crate::views::View;
use mfa_shared::endpoint::Endpoint;
use mfa_shared::wire::Nothing;
use serde_json::Value;
use similar::{ChangeTag, TextDiff};
use std::io::Write;
use std::path::Path;
use std::process::Command;

/// Lines around a change that are shown with it.
const CONTEXT_LINES: usize = 2;

impl Cx {
    /// Opens a record as YAML in the editor, shows what was changed there, asks, and writes it if nobody
    /// else has changed the record meanwhile.
    pub async fn edit<R, E>(&self, read: R, write: E, done: Done<'_>, view: &View) -> Outcome
    where
        R: Endpoint<Body = Nothing>,
        E: Endpoint,
    {
        if !self.prompt.yes {
            self.prompt.check("--yes")?;
        }
        let Reply { value, tag, .. } = self.client.send(&read, &Nothing).await?;
        let before = yaml::to_text(&value);
        let draft = tempfile::Builder::new().prefix("mfa-").suffix(".yaml").tempfile();
        let mut draft = draft.map_err(|error| Failure::local(format!("cannot make a draft: {error}")))?;
        let head =
            format!("# {} {} at {}: save it and leave to go on.\n", done.noun, done.id, self.client.url);
        draft.write_all((head + &before).as_bytes())?;
        let after = loop {
            open(&editor(), draft.path())?;
            // A rule that is broken is told at once, and nothing that was typed is lost.
            let checked = read_draft(draft.path()).and_then(|after| {
                check_names(&Shape::of(&E::META), &value, &after, done.noun)?;
                Ok((input::body::<E>(&after)?, after))
            });
            match checked {
                Ok(checked) => break checked,
                Err(failure) if self.prompt.can_ask() => {
                    self.out.insist(&failure.message);
                    self.prompt.confirm("edit it again?")?;
                }
                Err(failure) => return Err(failure),
            }
        };
        let (body, after) = after;
        if after == value {
            self.out.tip(&format!("{} {} stays as it is", done.noun, done.id));
            return self.out.show(view, &value);
        }
        let text = yaml::to_text(&after);
        self.out.tell_changes(&differences(&TextDiff::from_lines(&before, &text)));
        self.prompt.confirm(&format!("change {} {} at {}?", done.noun, done.id, self.client.url))?;
        match self.client.send_if(&write, &body, tag.as_deref()).await {
            Ok(_) => self.changed(done, read, view).await,
            Err(failure) => {
                let kept = draft.into_temp_path().keep();
                let kept = kept.map_or_else(
                    |_| String::new(),
                    |path| format!("; the draft is kept in {}", path.display()),
                );
                let raced = failure.status == Some(412);
                let failure = if raced { self.raced(failure, &read).await } else { failure };
                Err(failure.adding(&kept))
            }
        }
    }
}

/// Refuses a name that nothing would be done with: a mistyped one, or one whose value only the daemon sets.
fn check_names(shape: &Shape, before: &Value, after: &Value, noun: &str) -> Outcome {
    let changed =
        after.as_object().into_iter().flatten().filter(|(name, value)| before.get(name) != Some(value));
    let Some((path, why)) = changed.flat_map(|(name, value)| shape.unknown(name, value)).next() else {
        return Ok(());
    };
    let field = pointer(&path);
    Err(match before.pointer(&field) {
        Some(_) => Failure::usage(format!("{field} of {noun} cannot be changed")).hint("leave it as it is"),
        None => Failure::usage(format!("{noun} has no field {field}")).hint(why),
    })
}

/// The lines that differ and those around them, each with its mark.
fn differences<'a>(diff: &'a TextDiff<'a, 'a, str>) -> Vec<(char, &'a str)> {
    let groups = diff.grouped_ops(CONTEXT_LINES);
    let changes = groups.iter().flatten().flat_map(|op| diff.iter_changes(op));
    let mark = |tag| match tag {
        ChangeTag::Delete => '-',
        ChangeTag::Insert => '+',
        ChangeTag::Equal => ' ',
    };
    changes.map(|change| (mark(change.tag()), change.value().trim_end_matches('\n'))).collect()
}

/// The editor that the user has chosen.
fn editor() -> String {
    let chosen = |name| std::env::var(name).ok().filter(|command: &String| !command.trim().is_empty());
    chosen("VISUAL").or_else(|| chosen("EDITOR")).unwrap_or_else(|| "vi".to_owned())
}

/// Waits until the editor is left. It is a line of the shell, such as `code --wait`.
fn open(editor: &str, path: &Path) -> Outcome {
    let line = format!("{editor} \"$1\"");
    let status = Command::new("sh").args(["-c", &line, "mfa"]).arg(path).status();
    match status {
        Ok(status) if status.success() => Ok(()),
        Ok(_) => Err(Failure::usage(format!("the editor {editor} failed, nothing was changed"))
            .hint("VISUAL or EDITOR names the editor")),
        Err(error) => Err(Failure::local(format!("cannot start the editor {editor}: {error}"))),
    }
}

fn read_draft(path: &Path) -> Outcome<Value> {
    let text = std::fs::read_to_string(path)
        .map_err(|error| Failure::local(format!("cannot read the draft {}: {error}", path.display())))?;
    crate::yaml::parse(&text).map_err(|why| Failure::usage(format!("the draft is no YAML: {why}")))
}
