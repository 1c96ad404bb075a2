//! Rules of fields: what a value must be, and the words with which it is refused.
//!
//! A rule is a value that reads like the contract page: `required(line(256).not_blank())`. It checks a
//! [`Node`], and it describes itself as JSON schema for `/openapi.json` and `mfa explain`. Every bad field
//! of a body is reported, not only the first. Contract: `organisation.md` section 1.3.

use crate::amount::{Amount, AmountError, BigInteger};
use crate::identifier::{is_blank, is_control, is_identifier_char, shown};
use crate::node::Node;
use crate::object::Object;
use crate::time::{Date, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::HashSet;
use std::hash::Hash;

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
    errors: Vec<(Vec<Step>, FieldError)>,
    repeated: Option<String>,
}

impl Checks {
    /// Starts with no errors at the top of a body.
    pub fn new(today: Date) -> Self {
        Self { today, path: Vec::new(), errors: Vec::new(), repeated: None }
    }

    /// Refuses the present place; always `None`, so that a rule can end with it.
    pub fn refuse<T>(&mut self, code: &'static str, what: impl AsRef<str>) -> Option<T> {
        let field = pointer(&self.path);
        let place = if field.is_empty() { "the body" } else { &field };
        let detail = format!("{place} {}", what.as_ref());
        self.errors.push((self.path.clone(), FieldError { field, code: code.to_owned(), detail }));
        None
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

    /// Notes that a known property stands twice in an object, which makes the whole body malformed.
    pub fn repeat(&mut self, name: &str) {
        let place = format!("{}/{name}", pointer(&self.path));
        self.repeated.get_or_insert(place);
    }

    /// The place of a known property that was given twice, if there is one.
    pub fn repeated(&self) -> Option<&str> {
        self.repeated.as_deref()
    }

    /// The errors in the order of the body; missing properties stand behind the present ones.
    pub fn finish(self, body: &Node) -> Vec<FieldError> {
        let mut placed: Vec<_> =
            self.errors.into_iter().map(|(path, error)| (position(body, &path), error)).collect();
        placed.sort_by(|a, b| a.0.cmp(&b.0));
        placed.into_iter().take(FIELD_ERRORS_MAX).map(|(_, error)| error).collect()
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

fn position(body: &Node, path: &[Step]) -> Vec<usize> {
    let mut here = Some(body);
    let mut out = Vec::with_capacity(path.len());
    for step in path {
        let (at, next) = match (step, here) {
            (Step::Index(i), Some(Node::List(list))) => (*i, list.get(*i)),
            (Step::Name(name), Some(Node::Object(properties))) => {
                let at = properties.iter().position(|(n, _)| n == name);
                (at.unwrap_or(usize::MAX), at.map(|i| &properties[i].1))
            }
            _ => (usize::MAX, None),
        };
        out.push(at);
        here = next;
    }
    out
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

/// The property must be there.
pub fn required<R: Rule>(rule: R) -> Required<R> {
    Required(rule)
}

/// The property may be absent or null, which is the same.
pub fn optional<R: Rule>(rule: R) -> Optional<R> {
    Optional(rule)
}

/// The property may be absent or null and then has this value.
pub fn or<R: Rule>(rule: R, default: R::Out) -> Or<R>
where
    R::Out: Clone,
{
    Or(rule, default)
}

/// As [`optional`], and the empty text counts as null: a free reference.
pub fn reference(max: usize) -> Reference {
    Reference(line(max))
}

/// See [`required`].
#[derive(Debug, Clone)]
pub struct Required<R>(R);
/// See [`optional`].
#[derive(Debug, Clone)]
pub struct Optional<R>(R);
/// See [`or`].
#[derive(Debug, Clone)]
pub struct Or<R: Rule>(R, R::Out)
where
    R::Out: Clone;
/// See [`reference`].
#[derive(Debug, Clone)]
pub struct Reference(Text);

impl<R: Rule> Field for Required<R> {
    type Out = R::Out;
    const REQUIRED: bool = true;
    fn read(&self, node: Option<&Node>, at: &mut Checks) -> Option<R::Out> {
        match node {
            None | Some(Node::Null) => at.refuse("required", "is required"),
            Some(node) => self.0.check(node, at),
        }
    }
    fn schema(&self) -> Value {
        self.0.schema()
    }
}

impl<R: Rule> Field for Optional<R> {
    type Out = Option<R::Out>;
    const REQUIRED: bool = false;
    fn read(&self, node: Option<&Node>, at: &mut Checks) -> Option<Option<R::Out>> {
        match node {
            None | Some(Node::Null) => Some(None),
            Some(node) => self.0.check(node, at).map(Some),
        }
    }
    fn schema(&self) -> Value {
        nullable(self.0.schema())
    }
}

impl<R: Rule> Field for Or<R>
where
    R::Out: Clone,
{
    type Out = R::Out;
    const REQUIRED: bool = false;
    fn read(&self, node: Option<&Node>, at: &mut Checks) -> Option<R::Out> {
        match node {
            None | Some(Node::Null) => Some(self.1.clone()),
            Some(node) => self.0.check(node, at),
        }
    }
    fn schema(&self) -> Value {
        nullable(self.0.schema())
    }
}

impl Field for Reference {
    type Out = Option<String>;
    const REQUIRED: bool = false;
    fn read(&self, node: Option<&Node>, at: &mut Checks) -> Option<Option<String>> {
        let text = optional(self.0).read(node, at)?;
        Some(text.filter(|t| !t.is_empty()))
    }
    fn schema(&self) -> Value {
        nullable(self.0.schema())
    }
}

fn nullable(mut schema: Value) -> Value {
    if let Some(Value::String(kind)) = schema.get("type").cloned() {
        schema["type"] = json!([kind, "null"]);
    } else {
        schema = json!({ "anyOf": [schema, { "type": "null" }] });
    }
    schema
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Characters {
    Line,
    Text,
    Identifier,
    Alphanumeric,
    Any,
}

/// A rule for a string.
#[derive(Debug, Clone, Copy)]
pub struct Text {
    characters: Characters,
    min: usize,
    max: usize,
    bytes_max: usize,
    not_blank: bool,
    path_segment: bool,
    secret: bool,
    reserved: &'static [&'static str],
}

const fn string(characters: Characters, min: usize, max: usize) -> Text {
    Text {
        characters,
        min,
        max,
        bytes_max: usize::MAX,
        not_blank: false,
        path_segment: false,
        secret: false,
        reserved: &[],
    }
}

/// `ID(max)`: 2 to `max` characters of `A-Z a-z 0-9 . - * _`, not `.` or `..`.
pub const fn id(max: usize) -> Text {
    string(Characters::Identifier, 2, max)
}

/// `line(max)`: 0 to `max` characters without control characters.
pub const fn line(max: usize) -> Text {
    string(Characters::Line, 0, max)
}

/// `text(max)`: as [`line`], and tab, line feed and carriage return are allowed.
pub const fn text(max: usize) -> Text {
    string(Characters::Text, 0, max)
}

/// 0 to `max` characters, any of them.
pub const fn free(max: usize) -> Text {
    string(Characters::Any, 0, max)
}

/// Exactly `length` ASCII letters or digits.
pub const fn alphanumeric(length: usize) -> Text {
    string(Characters::Alphanumeric, length, length)
}

/// A secret of at least `min` characters and at most `bytes_max` bytes, any characters, used as sent. It is
/// never repeated in an error.
pub const fn secret(min: usize, bytes_max: usize) -> Text {
    let mut rule = string(Characters::Any, min, usize::MAX);
    rule.bytes_max = bytes_max;
    rule.secret = true;
    rule
}

impl Text {
    /// At least one character that is not white space.
    pub const fn not_blank(mut self) -> Self {
        self.not_blank = true;
        self
    }

    /// Usable as one segment of a path: no `/`, not `.` or `..`.
    pub const fn segment(mut self) -> Self {
        self.path_segment = true;
        self
    }

    /// None of these words.
    pub const fn reserved(mut self, words: &'static [&'static str]) -> Self {
        self.reserved = words;
        self
    }

    /// Looks at a string outside a body, such as an identifier of a path or a parameter; the error is a
    /// field code and a predicate (`must not be blank`).
    pub fn judge(&self, value: &str) -> Result<(), (&'static str, String)> {
        if self.not_blank && is_blank(value) {
            return Err(("blank", "must not be blank".to_owned()));
        }
        let allowed = |c: char| match self.characters {
            Characters::Any => true,
            Characters::Line => !is_control(c),
            Characters::Text => !is_control(c) || matches!(c, '\t' | '\n' | '\r'),
            Characters::Identifier => is_identifier_char(c),
            Characters::Alphanumeric => c.is_ascii_alphanumeric(),
        };
        let dots = matches!(value, "." | "..");
        let no_dots = self.path_segment || self.characters == Characters::Identifier;
        if let Some(c) = value.chars().find(|c| !allowed(*c) || (self.path_segment && *c == '/')) {
            return Err(("bad_characters", format!("must not contain \"{}\"", shown(&c.to_string()))));
        }
        if dots && no_dots {
            return Err(("bad_characters", format!("must not be \"{value}\"")));
        }
        let length = value.chars().count();
        if length < self.min {
            return Err(("too_short", format!("must have at least {} characters, not {length}", self.min)));
        }
        if length > self.max {
            return Err(("too_long", format!("must have at most {} characters, not {length}", self.max)));
        }
        if value.len() > self.bytes_max {
            return Err(("too_long", format!("must have at most {} bytes", self.bytes_max)));
        }
        if self.reserved.contains(&value) {
            return Err(("reserved", format!("must not be \"{value}\", which is reserved")));
        }
        Ok(())
    }
}

impl Rule for Text {
    type Out = String;
    fn check(&self, node: &Node, at: &mut Checks) -> Option<String> {
        let Node::Text(value) = node else { return at.wrong_type("a string", node) };
        match self.judge(value) {
            Ok(()) => Some(value.clone()),
            Err((code, what)) => at.refuse(code, what),
        }
    }
    fn schema(&self) -> Value {
        let mut schema = json!({ "type": "string" });
        if self.min > 0 || self.not_blank {
            schema["minLength"] = json!(self.min.max(1));
        }
        if self.max < usize::MAX {
            schema["maxLength"] = json!(self.max);
        }
        if self.characters == Characters::Identifier {
            schema["pattern"] = json!("^[A-Za-z0-9.*_-]+$");
        }
        if self.secret {
            schema["format"] = json!("password");
        }
        schema
    }
}

/// A closed set of words: an enum whose words are accepted in any letter case.
pub trait Word: Copy + 'static {
    /// Every word with its value, in the order of the contract.
    const WORDS: &'static [(&'static str, Self)];

    /// Finds a word in any letter case.
    fn find(text: &str) -> Option<Self> {
        Self::WORDS.iter().find(|(word, _)| word.eq_ignore_ascii_case(text)).map(|(_, value)| *value)
    }

    /// The words as a sentence lists them.
    fn listed() -> String {
        Self::WORDS.iter().map(|(word, _)| *word).collect::<Vec<_>>().join(", ")
    }
}

/// One word of an enum.
pub fn word<W: Word>() -> WordRule<W> {
    WordRule(std::marker::PhantomData)
}

/// See [`word`].
#[derive(Debug, Clone, Copy)]
pub struct WordRule<W>(std::marker::PhantomData<W>);

impl<W: Word> Rule for WordRule<W> {
    type Out = W;
    fn check(&self, node: &Node, at: &mut Checks) -> Option<W> {
        let Node::Text(text) = node else { return at.wrong_type("a string", node) };
        W::find(text).or_else(|| {
            at.refuse("unknown_value", format!("must be one of {}, not \"{}\"", W::listed(), shown(text)))
        })
    }
    fn schema(&self) -> Value {
        json!({ "type": "string", "enum": W::WORDS.iter().map(|(word, _)| *word).collect::<Vec<_>>() })
    }
}

/// `true` or `false`.
pub const fn flag() -> Flag {
    Flag
}

/// See [`flag`].
#[derive(Debug, Clone, Copy)]
pub struct Flag;

impl Rule for Flag {
    type Out = bool;
    fn check(&self, node: &Node, at: &mut Checks) -> Option<bool> {
        match node {
            Node::Bool(value) => Some(*value),
            _ => at.wrong_type("true or false", node),
        }
    }
    fn schema(&self) -> Value {
        json!({ "type": "boolean" })
    }
}

/// An integer within bounds, both included. `1.0` and `1e0` are no integers.
pub const fn integer(min: i64, max: i64) -> Integer {
    Integer { min, max }
}

/// See [`integer`].
#[derive(Debug, Clone, Copy)]
pub struct Integer {
    min: i64,
    max: i64,
}

impl Rule for Integer {
    type Out = i64;
    fn check(&self, node: &Node, at: &mut Checks) -> Option<i64> {
        let Node::Number(digits) = node else { return at.wrong_type("an integer", node) };
        if BigInteger::parse(digits).is_none() {
            return at.refuse("wrong_type", format!("must be an integer, not {}", shown(digits)));
        }
        let value = digits.parse().ok().filter(|v| (self.min..=self.max).contains(v));
        value.or_else(|| at.refuse("out_of_range", format!("must be from {} to {}", self.min, self.max)))
    }
    fn schema(&self) -> Value {
        json!({ "type": "integer", "minimum": self.min, "maximum": self.max })
    }
}

/// An integer above 0 of at most `digits_max` digits, kept digit for digit.
pub const fn big_integer(digits_max: usize) -> BigIntegerRule {
    BigIntegerRule { digits_max }
}

/// See [`big_integer`].
#[derive(Debug, Clone, Copy)]
pub struct BigIntegerRule {
    digits_max: usize,
}

impl Rule for BigIntegerRule {
    type Out = BigInteger;
    fn check(&self, node: &Node, at: &mut Checks) -> Option<BigInteger> {
        let Node::Number(digits) = node else { return at.wrong_type("an integer", node) };
        let Some(value) = BigInteger::parse(digits) else {
            return at.refuse("wrong_type", "must be an integer without fraction or exponent");
        };
        if !value.is_positive() {
            return at.refuse("out_of_range", "must be above 0");
        }
        if digits.len() > self.digits_max {
            return at.refuse("too_long", format!("must have at most {} digits", self.digits_max));
        }
        Some(value)
    }
    fn schema(&self) -> Value {
        json!({ "type": "integer", "minimum": 1 })
    }
}

/// An exact decimal within bounds in whole units, both included.
pub const fn decimal(min: i64, max: i64) -> DecimalRule {
    DecimalRule { min, max }
}

/// See [`decimal`].
#[derive(Debug, Clone, Copy)]
pub struct DecimalRule {
    min: i64,
    max: i64,
}

impl Rule for DecimalRule {
    type Out = Amount;
    fn check(&self, node: &Node, at: &mut Checks) -> Option<Amount> {
        let Node::Number(digits) = node else { return at.wrong_type("a number", node) };
        match Amount::parse(digits) {
            Ok(value) if value.0 < self.min.into() || value.0 > self.max.into() => {
                at.refuse("out_of_range", format!("must be from {} to {}", self.min, self.max))
            }
            Ok(value) => Some(value),
            Err(AmountError::TooLarge) => at.refuse("out_of_range", "must have at most 15 integer digits"),
            Err(AmountError::TooManyDecimals) => {
                at.refuse("too_many_decimals", "must have at most 5 fraction digits")
            }
        }
    }
    fn schema(&self) -> Value {
        json!({ "type": "number", "minimum": self.min, "maximum": self.max })
    }
}

/// A day as `YYYY-MM-DD`, a trailing `Z` tolerated.
pub const fn date() -> DateRule {
    DateRule
}

/// See [`date`].
#[derive(Debug, Clone, Copy)]
pub struct DateRule;

impl Rule for DateRule {
    type Out = Date;
    fn check(&self, node: &Node, at: &mut Checks) -> Option<Date> {
        let Node::Text(text) = node else { return at.wrong_type("a string", node) };
        Date::parse(text).or_else(|| {
            let what = format!("must be a date of the calendar as YYYY-MM-DD, not \"{}\"", shown(text));
            at.refuse("impossible_date", what)
        })
    }
    fn schema(&self) -> Value {
        json!({ "type": "string", "format": "date" })
    }
}

/// A date-time with an offset, as RFC 3339 writes it.
pub const fn timestamp() -> TimestampRule {
    TimestampRule
}

/// See [`timestamp`].
#[derive(Debug, Clone, Copy)]
pub struct TimestampRule;

impl Rule for TimestampRule {
    type Out = Timestamp;
    fn check(&self, node: &Node, at: &mut Checks) -> Option<Timestamp> {
        let Node::Text(text) = node else { return at.wrong_type("a string", node) };
        Timestamp::parse(text).or_else(|| {
            let what = format!("must be a date-time such as 2024-03-05T09:14:27Z, not \"{}\"", shown(text));
            at.refuse("impossible_date", what)
        })
    }
    fn schema(&self) -> Value {
        json!({ "type": "string", "format": "date-time" })
    }
}

/// An object of a declared type.
pub fn nested<T: Object>() -> Nested<T> {
    Nested(std::marker::PhantomData)
}

/// See [`nested`].
#[derive(Debug)]
pub struct Nested<T>(std::marker::PhantomData<T>);

impl<T> Clone for Nested<T> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T> Copy for Nested<T> {}

impl<T: Object> Rule for Nested<T> {
    type Out = T;
    fn check(&self, node: &Node, at: &mut Checks) -> Option<T> {
        T::check(node, at)
    }
    fn schema(&self) -> Value {
        json!({ "$ref": format!("#/components/schemas/{}", T::NAME) })
    }
    fn null_element(&self) -> &'static str {
        T::NULL_ELEMENT
    }
}

/// An array whose elements keep one rule, at most `max` of them.
pub const fn list<R>(element: R, max: usize) -> List<R> {
    List { element, max }
}

/// See [`list`].
#[derive(Debug, Clone, Copy)]
pub struct List<R> {
    element: R,
    max: usize,
}

impl<R: Rule> List<R> {
    /// No two elements have the same key; the second one is refused.
    pub fn distinct<K: Hash + Eq>(self, key: fn(&R::Out) -> K) -> Distinct<R, K> {
        Distinct { list: self, key }
    }

    fn elements(&self, node: &Node, at: &mut Checks) -> Option<Vec<(usize, R::Out)>> {
        let Node::List(nodes) = node else { return at.wrong_type("an array", node) };
        if nodes.len() > self.max {
            let what = format!("must have at most {} elements, not {}", self.max, nodes.len());
            return at.refuse("too_many", what);
        }
        let check = |(i, node): (usize, &Node)| {
            let element = at.element(i, |at| match node {
                Node::Null => at.refuse(self.element.null_element(), "must not be null"),
                node => self.element.check(node, at),
            });
            Some((i, element?))
        };
        Some(nodes.iter().enumerate().filter_map(check).collect())
    }
}

impl<R: Rule> Rule for List<R> {
    type Out = Vec<R::Out>;
    fn check(&self, node: &Node, at: &mut Checks) -> Option<Vec<R::Out>> {
        Some(self.elements(node, at)?.into_iter().map(|(_, element)| element).collect())
    }
    fn schema(&self) -> Value {
        let mut schema = json!({ "type": "array", "items": self.element.schema() });
        if self.max < usize::MAX {
            schema["maxItems"] = json!(self.max);
        }
        schema
    }
}

/// See [`List::distinct`].
#[derive(Debug, Clone, Copy)]
pub struct Distinct<R: Rule, K> {
    list: List<R>,
    key: fn(&R::Out) -> K,
}

impl<R: Rule, K: Hash + Eq> Rule for Distinct<R, K> {
    type Out = Vec<R::Out>;
    fn check(&self, node: &Node, at: &mut Checks) -> Option<Vec<R::Out>> {
        let mut seen = HashSet::new();
        let mut out = Vec::new();
        for (i, element) in self.list.elements(node, at)? {
            if !seen.insert((self.key)(&element)) {
                let what = "repeats an element that stands before it";
                at.element(i, |at| at.refuse::<()>("duplicate", what));
            }
            out.push(element);
        }
        Some(out)
    }
    fn schema(&self) -> Value {
        self.list.schema()
    }
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
    if let Some(place) = at.repeated() {
        return Err(Err(format!("the property {place} is given twice")));
    }
    let errors = at.finish(body);
    if let Some(top) = errors.iter().find(|e| e.field.is_empty() && e.code == "wrong_type") {
        return Err(Err(top.detail.clone()));
    }
    match out {
        Some(out) if errors.is_empty() => Ok(out),
        _ => Err(Ok(errors)),
    }
}
