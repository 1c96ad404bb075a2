//! Guided input: a command that is typed with nothing after it, on a terminal, asks for everything.

use crate::cx::Cx;
use crate::failure::{Failure, Outcome};
use crate::input::{self, quoted};
use crate::prompt::interrupted;
use crate::views::View;
use dialoguer::{FuzzySelect, Input};
use mfa_shared::endpoint::Endpoint;
use serde_json::{Map, Value};
use std::marker::PhantomData;

/// Whether a question may be left without an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Need {
    /// It is asked again until there is one.
    Required,
    /// Just the return key goes on without one.
    Optional,
}

/// What makes a value of the text that was typed.
pub type Reading = fn(&str) -> Result<Value, String>;

/// The text as it is.
pub fn as_text(text: &str) -> Result<Value, String> {
    Ok(Value::from(text))
}

/// The body of an endpoint that grows with every answer. Each answer is held to the rules of the daemon at
/// once, so that nobody learns at the end that the first one was wrong.
pub struct Guide<'a, E> {
    cx: &'a Cx,
    command: &'static str,
    body: Value,
    /// Flag, name and text of each answer; what the one-line command is made of.
    typed: Vec<(&'static str, String, String)>,
    endpoint: PhantomData<E>,
}

impl<'a, E: Endpoint> Guide<'a, E> {
    /// Begins to ask for what a command needs.
    pub fn begin(cx: &'a Cx, command: &'static str, needed: &str) -> Outcome<Self> {
        cx.prompt.check(needed)?;
        cx.out.say("Return alone leaves out what is optional; Ctrl-C ends without a change.");
        let body = Value::Object(Map::new());
        Ok(Self { cx, command, body, typed: Vec::new(), endpoint: PhantomData })
    }

    /// Asks for a value. `flag` is what would have given it, empty for a word without one; `pointer` is where
    /// it stands in the body.
    pub fn ask(
        &mut self,
        (flag, pointer): (&'static str, &str),
        label: &str,
        need: Need,
        read: Reading,
    ) -> Outcome {
        loop {
            let input = Input::<String>::new().with_prompt(label).allow_empty(true);
            let text = input.interact_text().map_err(unasked)?;
            match (text.trim(), need) {
                ("", Need::Optional) => return Ok(()),
                ("", Need::Required) => self.cx.out.insist("this is needed"),
                (text, _) => match self.put((flag, pointer), text, read) {
                    Ok(()) => return Ok(()),
                    Err(why) => self.cx.out.insist(&why),
                },
            }
        }
    }

    /// Lets somebody choose one of several words; typing narrows them down. An optional one may be left out.
    pub fn choose(
        &mut self,
        (flag, pointer): (&'static str, &str),
        label: &str,
        words: &[String],
        need: Need,
    ) -> Outcome {
        let none = (need == Need::Optional).then(|| "(none)".to_owned());
        let shown: Vec<_> = none.iter().chain(words).collect();
        if words.is_empty() {
            return self.ask((flag, pointer), label, need, as_text);
        }
        loop {
            let list = FuzzySelect::new().with_prompt(label).items(&shown).default(0);
            let chosen = list.interact().map_err(unasked)?;
            if none.is_some() && chosen == 0 {
                return Ok(());
            }
            match self.put((flag, pointer), shown[chosen], as_text) {
                Ok(()) => return Ok(()),
                Err(why) => self.cx.out.insist(&why),
            }
        }
    }

    /// Asks whether a part that has several values is wanted at all.
    pub fn wants(&self, what: &str) -> Outcome<bool> {
        let answer = self.cx.prompt.ask_or(what, "no")?;
        Ok(matches!(answer.to_ascii_lowercase().as_str(), "y" | "yes"))
    }

    /// Puts in what nobody needs to be asked for.
    pub fn put(
        &mut self,
        (flag, pointer): (&'static str, &str),
        text: &str,
        read: Reading,
    ) -> Result<(), String> {
        let mut body = self.body.clone();
        place(&mut body, pointer, read(text)?);
        if let Err(failure) = input::body::<E>(&body)
            && let Some(error) = failure.errors.iter().find(|error| error.field.starts_with(pointer))
        {
            return Err(error.detail.replacen(&error.field, "it", 1));
        }
        self.body = body;
        let name = pointer.split('/').skip(2).last().map(kebab).unwrap_or_default();
        self.typed.push((flag, name, text.to_owned()));
        Ok(())
    }

    /// Shows what the answers come to, asks for a last yes, and tells the one line that does the same.
    pub fn finish(self, question: &str, view: &View) -> Outcome<Value> {
        let rows =
            view.columns.iter().map(|column| (column.name, crate::output::text(&self.body, column.pointer)));
        for (name, value) in rows.filter(|(_, value)| !value.is_empty()) {
            self.cx.out.say(&format!("  {name}: {value}"));
        }
        self.cx.prompt.confirm(question)?;
        self.cx.out.tip(&format!("the same in one line:\n  {}", self.line()));
        Ok(self.body)
    }

    fn line(&self) -> String {
        let mut words: Vec<(&str, String)> = Vec::new();
        for (flag, name, text) in &self.typed {
            if name.is_empty() {
                words.push((flag, text.clone()));
                continue;
            }
            let pair = format!("{name}={}", text.replace('\\', "\\\\").replace(',', "\\,"));
            match words.last_mut() {
                Some((last, pairs)) if last == flag => *pairs = format!("{pairs},{pair}"),
                _ => words.push((flag, pair)),
            }
        }
        let word = |(flag, text): &(&str, String)| match *flag {
            "" => quoted(text),
            flag => format!("{flag} {}", quoted(text)),
        };
        let words: Vec<_> = words.iter().map(word).collect();
        format!("{} {}", self.command, words.join(" "))
    }
}

/// Puts a value at a pointer and makes the objects and lists on the way.
fn place(body: &mut Value, pointer: &str, value: Value) {
    let mut at = body;
    for step in pointer.split('/').skip(1) {
        if step.bytes().all(|byte| byte.is_ascii_digit()) {
            if !at.is_array() {
                *at = Value::Array(Vec::new());
            }
            let Value::Array(elements) = at else { return };
            let index = step.parse().unwrap_or(0);
            if elements.len() <= index {
                elements.resize(index + 1, Value::Object(Map::new()));
            }
            at = &mut elements[index];
        } else {
            if !at.is_object() {
                *at = Value::Object(Map::new());
            }
            at = &mut at[step];
        }
    }
    *at = value;
}

/// `countryCode` as `country-code`.
fn kebab(name: &str) -> String {
    let lower =
        |c: char| if c.is_ascii_uppercase() { format!("-{}", c.to_ascii_lowercase()) } else { c.into() };
    name.chars().map(lower).collect()
}

fn unasked(dialoguer::Error::IO(error): dialoguer::Error) -> Failure {
    if error.kind() == std::io::ErrorKind::Interrupted {
        return interrupted("interrupted, nothing was done");
    }
    Failure::local(format!("cannot read from the terminal: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_value_is_placed_at_its_pointer() {
        let mut body = json!({});
        place(&mut body, "/address/city", json!("Accra"));
        place(&mut body, "/contacts/0/type", json!("MOBILE"));
        place(&mut body, "/contacts/0/value", json!("+233"));
        let expected =
            json!({ "address": { "city": "Accra" }, "contacts": [{ "type": "MOBILE", "value": "+233" }] });
        assert_eq!(body, expected);
    }
}
