//! Rules of strings.

use super::{Checks, Rule};
use crate::identifier::{is_blank, is_control, is_identifier_char, shown};
use crate::node::Node;
use crate::password::{TOO_COMMON, too_common};
use serde_json::{Value, json};

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
    no_slash: bool,
    no_step: bool,
    secret: bool,
    no_white_space: bool,
    not_common: bool,
    reserved: &'static [&'static str],
}

const fn string(characters: Characters, min: usize, max: usize) -> Text {
    Text {
        characters,
        min,
        max,
        bytes_max: usize::MAX,
        not_blank: false,
        no_slash: false,
        no_step: false,
        secret: false,
        no_white_space: false,
        not_common: false,
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

/// `text(max)`: as [`line()`], and tab, line feed and carriage return are allowed.
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
    pub const fn segment(self) -> Self {
        self.no_slash().no_step()
    }

    /// No `/`.
    pub const fn no_slash(mut self) -> Self {
        self.no_slash = true;
        self
    }

    /// Not `.` or `..`, which a path takes for a step.
    pub const fn no_step(mut self) -> Self {
        self.no_step = true;
        self
    }

    /// No white space anywhere.
    pub const fn no_white_space(mut self) -> Self {
        self.no_white_space = true;
        self
    }

    /// A secret: it is never repeated in an error.
    pub const fn hidden(mut self) -> Self {
        self.secret = true;
        self
    }

    /// None of the passwords that are guessed first.
    pub const fn not_common(mut self) -> Self {
        self.not_common = true;
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
        let no_dots = self.no_step || self.characters == Characters::Identifier;
        let refused = |c: char| {
            !allowed(c) || (self.no_slash && c == '/') || (self.no_white_space && c.is_whitespace())
        };
        if let Some(c) = value.chars().find(|c| refused(*c)) {
            if self.secret {
                return Err(("bad_characters", "must not contain control characters".to_owned()));
            }
            return Err(("bad_characters", format!("must not contain \"{}\"", shown(&c.to_string()))));
        }
        if dots && no_dots {
            return Err(("bad_characters", format!("must not be \"{value}\"")));
        }
        let length = value.chars().count();
        if length < self.min {
            let detail = match self.min {
                1 => "must not be empty".to_owned(),
                min => format!("must have at least {min} characters, not {length}"),
            };
            return Err(("too_short", detail));
        }
        if length > self.max {
            return Err(("too_long", format!("must have at most {} characters, not {length}", self.max)));
        }
        if value.len() > self.bytes_max {
            return Err(("too_long", format!("must have at most {} bytes", self.bytes_max)));
        }
        if self.not_common
            && let Some(why) = too_common(value)
        {
            return Err((TOO_COMMON, why.to_owned()));
        }
        if self.reserved.contains(&value) {
            return Err(("reserved", format!("must not be \"{value}\", which is reserved")));
        }
        Ok(())
    }
}

impl Text {
    /// The characters of a good text as a regular expression; `None` where all are good.
    fn pattern(&self) -> Option<String> {
        let refused = match self.characters {
            Characters::Identifier => return Some("^[A-Za-z0-9.*_-]+$".to_owned()),
            Characters::Alphanumeric => return Some("^[A-Za-z0-9]*$".to_owned()),
            Characters::Any => return None,
            Characters::Line => r"\x00-\x1f\x7f-\x9f",
            Characters::Text => r"\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f",
        };
        let slash = if self.no_slash { "/" } else { "" };
        let space = if self.no_white_space { r"\s" } else { "" };
        let good = format!("[^{refused}{slash}{space}]");
        // A text that is not blank has one character that is no white space.
        let begin = if self.not_blank { format!(r"{good}*[^{refused}{slash}\s]") } else { String::new() };
        Some(format!("^{begin}{good}*$"))
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
        if let Some(pattern) = self.pattern() {
            schema["pattern"] = json!(pattern);
        }
        if self.secret {
            schema["format"] = json!("password");
        }
        schema
    }
}
