//! Rules of fields: what a value must be, and the words with which it is refused.
//!
//! A rule is a value that reads like the contract page: `required(line(256).not_blank())`. It checks a
//! [`Node`], and it describes itself as JSON schema for `/openapi.json` and `mfa explain`. Every bad field
//! of a body is reported, not only the first. Contract: `organisation.md` section 1.3.

mod field;
mod list;
mod text;
mod value;

pub use field::{Optional, Or, Reference, Required, optional, or, reference, required};
pub use list::{Distinct, List, list};
pub use text::{Text, alphanumeric, free, id, line, secret, text};
pub use value::{
    Anything, BigIntegerRule, DateRule, DecimalRule, Flag, Integer, TimestampRule, Word, WordRule, any,
    big_integer, date, decimal, flag, integer, timestamp, word,
};

use crate::node::Node;
use crate::time::Date;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::HashSet;

/// Most field errors that one answer reports.
pub const FIELD_ERRORS_MAX: usize = 100;

/// One refused field of a body.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FieldError {
    /// JSON pointer into the body, such as `/address/street`.
    pub field: String,
    /// Stable word, such as `required` or `too_long`.
    pub code: String,
    /// One sentence for people.
    pub detail: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Step {
    Name(String),
    Index(usize),
}

/// The errors found so far, and the place that is being looked at.
#[derive(Debug)]
pub struct Checks {
    /// The present day in UTC: a date of birth may not lie after tomorrow.
    pub today: Date,
    path: Vec<Step>,
    errors: Vec<FieldError>,
    repeated: Option<String>,
}

impl Checks {
    /// Starts with no errors at the top of a body.
    pub fn new(today: Date) -> Self {
        Self { today, path: Vec::new(), errors: Vec::new(), repeated: None }
    }

    /// Refuses the present place; always `None`, so that a rule can end with it.
    pub fn refuse<T>(&mut self, code: &'static str, what: impl AsRef<str>) -> Option<T> {
        self.note(code, what.as_ref());
        None
    }

    fn note(&mut self, code: &'static str, what: &str) {
        let field = pointer(&self.path);
        let place = if field.is_empty() { "the body" } else { &field };
        let detail = format!("{place} {what}");
        self.errors.push(FieldError { field, code: code.to_owned(), detail });
    }

    /// The places that were refused.
    fn refused(&self) -> HashSet<String> {
        self.errors.iter().map(|error| error.field.clone()).collect()
    }

    /// Whether the present place is one of these.
    fn is_in(&self, refused: &HashSet<String>) -> bool {
        !refused.is_empty() && refused.contains(&pointer(&self.path))
    }

    /// Refuses a value of another JSON kind.
    pub fn wrong_type<T>(&mut self, expected: &str, node: &Node) -> Option<T> {
        self.refuse("wrong_type", format!("must be {expected}, not {}", node.kind()))
    }

    /// Looks at a property.
    pub fn property<T>(&mut self, name: &str, look: impl FnOnce(&mut Self) -> T) -> T {
        self.step(Step::Name(name.to_owned()), look)
    }

    /// Looks at an element of an array.
    pub fn element<T>(&mut self, index: usize, look: impl FnOnce(&mut Self) -> T) -> T {
        self.step(Step::Index(index), look)
    }

    fn step<T>(&mut self, step: Step, look: impl FnOnce(&mut Self) -> T) -> T {
        self.path.push(step);
        let out = look(self);
        self.path.pop();
        out
    }

    /// Notes that a known property is twice in an object, which makes the whole body malformed.
    pub fn repeat(&mut self, name: &str) {
        let place = format!("{}/{name}", pointer(&self.path));
        self.repeated.get_or_insert(place);
    }

    /// The place of a known property that was given twice, if there is one.
    pub fn repeated(&self) -> Option<&str> {
        self.repeated.as_deref()
    }

    /// The errors in the order of the body; missing properties come after the present ones.
    pub fn finish(self, body: &Node) -> Vec<FieldError> {
        let mut errors = self.errors;
        sort(&mut errors, body);
        errors.truncate(FIELD_ERRORS_MAX);
        errors
    }
}

fn pointer(path: &[Step]) -> String {
    let mut out = String::new();
    for step in path {
        out.push('/');
        match step {
            Step::Name(name) => out.push_str(&name.replace('~', "~0").replace('/', "~1")),
            Step::Index(i) => out.push_str(&i.to_string()),
        }
    }
    out
}

/// Puts errors into the order of the body; missing properties come after the present ones.
pub fn sort(errors: &mut [FieldError], body: &Node) {
    errors.sort_by_cached_key(|error| position(body, &error.field));
}

/// Where a pointer leads in the order of a body, step by step.
fn position(body: &Node, pointer: &str) -> Vec<usize> {
    let mut here = Some(body);
    let look = |step: &str| {
        let (at, next) = match here {
            Some(Node::List(list)) => {
                let index = step.parse().unwrap_or(usize::MAX);
                (index, list.get(index))
            }
            Some(Node::Object(properties)) => {
                let name = step.replace("~1", "/").replace("~0", "~");
                let at = properties.iter().position(|(other, _)| *other == name);
                (at.unwrap_or(usize::MAX), at.map(|i| &properties[i].1))
            }
            _ => (usize::MAX, None),
        };
        here = next;
        at
    };
    pointer.split('/').skip(1).map(look).collect()
}

/// A rule for one value that is present.
pub trait Rule {
    /// What a good value becomes.
    type Out;
    /// Checks the value; `None` after an error was noted.
    fn check(&self, node: &Node, at: &mut Checks) -> Option<Self::Out>;
    /// The rule as JSON schema.
    fn schema(&self) -> Value;
    /// The code with which `null` is refused as an element of a list.
    fn null_element(&self) -> &'static str {
        "required"
    }
}

/// A rule for a property that may be absent.
pub trait Field {
    /// What a good property becomes.
    type Out;
    /// Whether the property must be there.
    const REQUIRED: bool;
    /// Checks the property; `None` after an error was noted.
    fn read(&self, node: Option<&Node>, at: &mut Checks) -> Option<Self::Out>;
    /// The rule as JSON schema.
    fn schema(&self) -> Value;
}

/// Checks a whole body against a rule: `Err(Ok(..))` lists the bad fields, `Err(Err(..))` says why the body
/// is malformed.
pub fn check_body<R: Rule>(
    rule: &R,
    body: &Node,
    today: Date,
) -> Result<R::Out, Result<Vec<FieldError>, String>> {
    let mut at = Checks::new(today);
    let out = rule.check(body, &mut at);
    let errors = found(at, body).map_err(Err)?;
    match out {
        Some(out) if errors.is_empty() => Ok(out),
        _ => Err(Ok(errors)),
    }
}

/// The bad fields, or why the body is malformed.
fn found(at: Checks, body: &Node) -> Result<Vec<FieldError>, String> {
    if let Some(place) = at.repeated() {
        return Err(format!("the property {place} is given twice"));
    }
    let errors = at.finish(body);
    match errors.iter().find(|e| e.field.is_empty() && e.code == "wrong_type") {
        Some(top) => Err(top.detail.clone()),
        None => Ok(errors),
    }
}
