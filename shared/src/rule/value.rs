//! Rules of words, booleans, numbers, days and moments.

use super::{Checks, Rule};
use crate::amount::{Amount, AmountError, BigInteger};
use crate::identifier::shown;
use crate::node::Node;
use crate::time::{Date, Timestamp};
use serde_json::{Value, json};

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

/// Any value, kept as it was sent.
pub const fn any() -> Anything {
    Anything
}

/// See [`any`].
#[derive(Debug, Clone, Copy)]
pub struct Anything;

impl Rule for Anything {
    type Out = Node;
    fn check(&self, node: &Node, _: &mut Checks) -> Option<Node> {
        Some(node.clone())
    }
    fn schema(&self) -> Value {
        json!({})
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

/// The smallest number above 0 with more integer digits than an amount may have.
const TOO_LARGE: i64 = 1_000_000_000_000_000;

/// An exact decimal within bounds in whole units, both included.
pub const fn decimal(min: i64, max: i64) -> DecimalRule {
    DecimalRule { min, max, above: false }
}

/// See [`decimal`].
#[derive(Debug, Clone, Copy)]
pub struct DecimalRule {
    min: i64,
    max: i64,
    above: bool,
}

impl DecimalRule {
    /// The lower bound itself is not allowed.
    pub const fn exclusive(mut self) -> Self {
        self.above = true;
        self
    }
}

impl Rule for DecimalRule {
    type Out = Amount;
    fn check(&self, node: &Node, at: &mut Checks) -> Option<Amount> {
        let Node::Number(digits) = node else { return at.wrong_type("a number", node) };
        match Amount::parse(digits) {
            Ok(value) if self.above && value.0 <= self.min.into() => {
                at.refuse("out_of_range", format!("must be above {}", self.min))
            }
            Ok(value) if value.0 < self.min.into() || value.0 > self.max.into() => {
                at.refuse("out_of_range", format!("must be from {} to {}", self.min, self.max))
            }
            Ok(value) => Some(value),
            Err(AmountError::NotANumber) => at.refuse("wrong_type", "must be a number"),
            Err(AmountError::TooLarge) => at.refuse("out_of_range", "must have at most 15 integer digits"),
            Err(AmountError::TooManyDecimals) => {
                at.refuse("too_many_decimals", "must have at most 5 fraction digits")
            }
        }
    }
    fn schema(&self) -> Value {
        let least = if self.above { "exclusiveMinimum" } else { "minimum" };
        // An amount that is sent has at most 15 integer digits.
        let most = if self.max == TOO_LARGE { "exclusiveMaximum" } else { "maximum" };
        json!({ "type": "number", least: self.min, most: self.max })
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
        // The pattern is for programs that pass over formats.
        let pattern = "^[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])Z?$";
        json!({ "type": "string", "format": "date", "pattern": pattern })
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
        let day = "[0-9]{4}-[0-9]{2}-[0-9]{2}";
        let pattern = format!(
            r"^{day}[Tt ][0-9]{{2}}:[0-9]{{2}}:[0-9]{{2}}(\.[0-9]+)?([Zz]|[+-][0-9]{{2}}:[0-9]{{2}})$"
        );
        json!({ "type": "string", "format": "date-time", "pattern": pattern })
    }
}
