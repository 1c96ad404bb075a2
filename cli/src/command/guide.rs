//! Guided input: without flags on a terminal, a command asks for every field.

mod answers;
mod line;
mod place;

use crate::command::cx::Cx;
use crate::failure::{Failure, Outcome, codes};
use crate::input;
use crate::input::pick::{Left, pick};
use crate::input::prompt::{declined, interrupted};
use crate::output::views::View;
use answers::{Answer, Answers};
use line::{Typed, in_one_line};
use mfa_shared::endpoint::Endpoint;
use mfa_shared::fault::exit;
use mfa_shared::wire::Nothing;
use place::place;
use serde_json::{Map, Value};
use std::marker::PhantomData;

/// Whether a question may be left without an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Need {
    /// Asked again until there is one.
    Required,
    /// Return alone leaves it out.
    Optional,
}

/// What makes a value of the text that was typed.
pub type Reading = fn(&str) -> Result<Value, String>;

/// The text as it is.
pub fn as_text(text: &str) -> Result<Value, String> {
    Ok(Value::from(text))
}

/// The body of an endpoint that grows with every answer. Each answer is checked against the rules of the
/// daemon at once, so that a wrong first answer is not found at the end.
pub struct Guide<'a, E> {
    cx: &'a Cx,
    command: &'static str,
    body: Value,
    /// Each answer; what the one-line command is made of.
    typed: Vec<Typed>,
    answers: Answers,
    endpoint: PhantomData<E>,
}

/// Typed in place of an answer: back to the previous question.
const BACK: &str = "<";

/// The answer as a failure, which ends the questions behind it and which nobody sees.
const STEP_BACK: &codes::Kind =
    &codes::Kind { code: BACK, exit: exit::FAILURE, title: "One question back", hint: "" };

/// Typed in place of an answer that is offered again: there is to be none.
const NOTHING: &str = "-";

/// The choice of a word that is not listed.
const ANOTHER: &str = "(another)";

impl<'a, E: Endpoint> Guide<'a, E> {
    /// Asks for what a command needs, again after each step back.
    pub async fn through(
        cx: &'a Cx,
        (command, needed): (&'static str, &str),
        questions: impl AsyncFn(&mut Self) -> Outcome,
        (last, view): (&str, &View),
    ) -> Outcome<Value> {
        cx.prompt.check(needed)?;
        cx.out.say(
            "Return alone leaves out what is optional; < goes one question back, in a list Esc.\n\
             Return then keeps an answer in brackets, and - leaves it out.\n\
             Ctrl-D and Ctrl-C end without a change.",
        );
        let body = Value::Object(Map::new());
        let (typed, answers) = (Vec::new(), Answers::default());
        let mut guide = Self { cx, command, body, typed, answers, endpoint: PhantomData };
        loop {
            match questions(&mut guide).await {
                Ok(()) => return guide.finish(last, view),
                Err(failure) if failure.code == STEP_BACK.code => guide.step_back(),
                Err(failure) => {
                    if !guide.typed.is_empty() {
                        guide.show_line();
                    }
                    return Err(failure);
                }
            }
        }
    }

    fn step_back(&mut self) {
        if !self.answers.step_back() {
            self.cx.out.say("this is the first question");
        }
        self.begin_again();
    }

    /// Empties the body: the questions are asked again from the first one.
    fn begin_again(&mut self) {
        self.body = Value::Object(Map::new());
        self.typed.clear();
    }

    /// Asks for a text, and offers the one that was answered before a step back.
    fn text_for(&self, label: &str) -> Outcome<String> {
        let Some(offered) = self.answers.offered(label) else { return self.line_for(&format!("{label}: ")) };
        Ok(match self.line_for(&format!("{label} [{offered}]: "))? {
            line if line.is_empty() => offered.to_owned(),
            line if line == NOTHING => String::new(),
            line => line,
        })
    }

    /// Reads a line. A refused answer is not kept.
    fn line_for(&self, label: &str) -> Outcome<String> {
        match self.cx.prompt.line(label)? {
            None => Err(declined()),
            Some(line) if line == BACK => Err(back()),
            Some(line) => Ok(line),
        }
    }

    /// Lets the user choose one of several things, and returns its place.
    pub fn pick(&mut self, label: &str, shown: &[&str]) -> Outcome<usize> {
        if let Some(Answer::Place(place)) = self.answers.again() {
            return Ok(place);
        }
        let first = self.answers.offered_place(label).filter(|place| *place < shown.len()).unwrap_or(0);
        let place = match pick(label, shown, first).map_err(unasked)? {
            Left::Chosen(place) => place,
            Left::Back => return Err(back()),
            Left::Ended => return Err(declined()),
        };
        self.answers.keep(label, Answer::Place(place));
        Ok(place)
    }

    /// Asks for the identifier of a new record, and says at once if it is taken.
    pub async fn ask_identifier<R: Endpoint<Body = Nothing>>(&mut self, read: impl Fn(&str) -> R) -> Outcome {
        let at = ("", "/identifier");
        loop {
            let asked = self.answers.are_used();
            self.ask(at, "Identifier", Need::Required, as_text)?;
            let identifier = self.text(at.1).unwrap_or_default().to_owned();
            // A caller who may not read records finds out at the end.
            if !asked || self.cx.client.send(&read(&identifier), &Nothing).await.is_err() {
                return Ok(());
            }
            self.cx.out.insist(&format!("{identifier} is taken"));
            self.begin_again();
            self.answers.forget_last();
        }
    }

    /// Asks for a value, and returns whether there is one. `flag` is the flag that would have given it, empty
    /// for a word without one; `pointer` is its place in the body.
    pub fn ask(
        &mut self,
        (flag, pointer): (&'static str, &str),
        label: &str,
        need: Need,
        read: Reading,
    ) -> Outcome<bool> {
        loop {
            let (text, is_new) = match self.answers.again() {
                Some(Answer::Text(text)) => (text, false),
                _ => (self.text_for(label)?, true),
            };
            let taken = match (text.as_str(), need) {
                ("", Need::Optional) => Ok(false),
                ("", Need::Required) => Err("this is needed".to_owned()),
                (text, _) => self.put((flag, pointer), text, read).map(|()| true),
            };
            match taken {
                Ok(is_given) => {
                    if is_new {
                        self.answers.keep(label, Answer::Text(text));
                    }
                    return Ok(is_given);
                }
                Err(why) => self.cx.out.insist(&why),
            }
        }
    }

    /// Lets the user choose one of several words; typing narrows them down. An optional one may be left out.
    pub fn choose(
        &mut self,
        (flag, pointer): (&'static str, &str),
        label: &str,
        words: &[impl AsRef<str>],
        need: Need,
    ) -> Outcome {
        let none = (need == Need::Optional).then_some("(none)");
        let shown: Vec<_> = none.into_iter().chain(words.iter().map(AsRef::as_ref)).collect();
        if words.is_empty() {
            return self.ask((flag, pointer), label, need, as_text).map(drop);
        }
        loop {
            let chosen = self.pick(label, &shown)?;
            if none.is_some() && chosen == 0 {
                return Ok(());
            }
            match self.put((flag, pointer), shown[chosen], as_text) {
                Ok(()) => return Ok(()),
                Err(why) => self.cx.out.insist(&why),
            }
        }
    }

    /// Lets the user choose one of several words, or type one that is not among them.
    pub fn choose_or_type(
        &mut self,
        (flag, pointer): (&'static str, &str),
        label: &str,
        words: &[String],
    ) -> Outcome {
        if let Some(word) = self.known(label, words)?.map(|chosen| &words[chosen]) {
            match self.put((flag, pointer), word, as_text) {
                Ok(()) => return Ok(()),
                Err(why) => self.cx.out.insist(&why),
            }
        }
        self.ask((flag, pointer), label, Need::Required, as_text).map(drop)
    }

    /// Lets the user choose one of several things; nothing if a different one is meant.
    pub fn known(&mut self, label: &str, things: &[String]) -> Outcome<Option<usize>> {
        if things.is_empty() {
            return Ok(None);
        }
        let shown: Vec<_> = things.iter().map(String::as_str).chain([ANOTHER]).collect();
        Ok(Some(self.pick(label, &shown)?).filter(|chosen| *chosen < things.len()))
    }

    /// The body from the answers so far.
    pub fn body(&self) -> &Value {
        &self.body
    }

    /// The text of an answer that was given.
    pub fn text(&self, pointer: &str) -> Option<&str> {
        self.body.pointer(pointer)?.as_str()
    }

    /// Asks whether to fill in something at all.
    pub fn wants(&mut self, what: &str) -> Outcome<bool> {
        let answer = match self.answers.again() {
            Some(Answer::Text(text)) => text,
            _ => {
                let offered = self.answers.offered(what).filter(|text| is_yes(text)).map_or("no", |_| "yes");
                let line = self.line_for(&format!("{what} [{offered}]: "))?;
                let text = if line.is_empty() { offered.to_owned() } else { line };
                self.answers.keep(what, Answer::Text(text.clone()));
                text
            }
        };
        Ok(is_yes(&answer))
    }

    /// Puts in a value without a question.
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
        self.typed.push(Typed { flag, pointer: pointer.to_owned(), text: text.to_owned() });
        Ok(())
    }

    /// Shows the result of the answers, asks for a last yes, and shows the one line that does the same. After
    /// a no the line is shown as well, so that one wrong answer does not mean answering everything again.
    fn finish(self, question: &str, view: &View) -> Outcome<Value> {
        let rows =
            view.columns.iter().map(|column| (column.name, crate::output::text(&self.body, column.pointer)));
        for (name, value) in rows.filter(|(_, value)| !value.is_empty()) {
            self.cx.out.say(&format!("  {name}: {value}"));
        }
        match self.cx.prompt.confirm(question) {
            Ok(()) => self
                .cx
                .out
                .tip(&format!("the same in one line:\n  {}", in_one_line(self.command, &self.typed))),
            Err(failure) => {
                self.show_line();
                return Err(failure);
            }
        }
        Ok(self.body)
    }

    fn show_line(&self) {
        self.cx.out.tip(&format!(
            "these answers, to be corrected, in one line:\n  {}",
            in_one_line(self.command, &self.typed)
        ));
    }
}

fn is_yes(answer: &str) -> bool {
    matches!(answer.to_ascii_lowercase().as_str(), "y" | "yes")
}

/// The user wants to answer the previous question again.
fn back() -> Failure {
    Failure::new(STEP_BACK, "one question back")
}

fn unasked(error: std::io::Error) -> Failure {
    if error.kind() == std::io::ErrorKind::Interrupted {
        return interrupted("interrupted, nothing was done");
    }
    Failure::local(format!("cannot read from the terminal: {error}"))
}
