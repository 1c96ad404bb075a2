//! Query parameters and form fields, paging included (`organisation.md` section 1.4).

use crate::fault::{Fault, INVALID_PARAMETER};
use crate::identifier::shown;
use crate::object::Object;
use crate::path::{percent_decode, percent_encode};
use crate::rule::Word;
use crate::time::{Date, DateRange};
use serde_json::{Value, json};
use std::marker::PhantomData;

/// Most characters of a `term`.
pub const TERM_LENGTH_MAX: usize = 256;
/// Most elements of a page.
pub const PAGE_SIZE_MAX: u32 = 1000;
/// Elements of a page that asks for no number.
pub const PAGE_SIZE_DEFAULT: u32 = 20;

/// The decoded parameters of a query string or form, in their order.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Params {
    pairs: Vec<(String, String)>,
    /// Names of those whose value is no percent-encoded UTF-8. One whose name is none is no parameter that
    /// anything asks for.
    malformed: Vec<String>,
    /// A form is read as a whole, or not at all.
    malformed_form: bool,
}

impl Params {
    /// Splits `a=1&b=2`; `+` is a space.
    pub fn parse(text: &str) -> Self {
        let mut params = Self::default();
        for pair in text.split('&').filter(|pair| !pair.is_empty()) {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            let decode = |text: &str| percent_decode(&text.replace('+', " "));
            match (decode(name), decode(value)) {
                (Some(name), Some(value)) => params.pairs.push((name, value)),
                (name, _) => params.malformed.push(name.unwrap_or_default()),
            }
        }
        params
    }

    /// Writes `a=1&b=2`.
    pub fn render(pairs: &[(&str, &str)]) -> String {
        let encoded = pairs.iter().map(|(name, value)| format!("{name}={}", percent_encode(value)));
        encoded.collect::<Vec<_>>().join("&")
    }

    /// These parameters and those of a form in the body. A form of plain text may have a pair in each line.
    pub fn with_form(&self, form: &str) -> Self {
        let form = Self::parse(&form.replace(['\r', '\n'], "&"));
        let pairs = self.pairs.iter().cloned().chain(form.pairs).collect();
        Self { pairs, malformed: self.malformed.clone(), malformed_form: !form.malformed.is_empty() }
    }

    /// The parameters in their order.
    pub fn pairs(&self) -> &[(String, String)] {
        &self.pairs
    }

    /// Whether a parameter is given, with a value that can be read or with another one.
    pub fn gives(&self, name: &str) -> bool {
        self.pairs.iter().any(|(given, _)| given == name) || self.malformed.iter().any(|given| given == name)
    }

    /// Adds a parameter at the end.
    pub fn push(&mut self, name: &str, value: &str) {
        self.pairs.push((name.to_owned(), value.to_owned()));
    }

    /// Whether a part of the text was no percent-encoded UTF-8.
    pub fn malformed(&self) -> bool {
        self.malformed_form || !self.malformed.is_empty()
    }

    fn check_encoding(&self, name: &str) -> Result<(), Fault> {
        if self.malformed_form {
            return Err(Fault::new(INVALID_PARAMETER, bad_encoding("the form")));
        }
        if self.malformed.iter().any(|malformed| malformed == name) {
            return Err(Fault::new(INVALID_PARAMETER, bad_encoding(&format!("the parameter {name}"))));
        }
        Ok(())
    }

    /// The value of a parameter that may be given once.
    pub fn one(&self, name: &str) -> Result<Option<&str>, Fault> {
        self.check_encoding(name)?;
        let mut given = self.pairs.iter().filter(|(n, _)| n == name).map(|(_, value)| value.as_str());
        let value = given.next();
        if given.next().is_some() {
            return Err(Fault::new(INVALID_PARAMETER, format!("the parameter {name} is given twice")));
        }
        Ok(value)
    }

    /// The word of a form parameter, in any letter case. A form may repeat it, but not with another word.
    pub fn command<W: Word + PartialEq>(&self, name: &str) -> Result<Option<W>, Fault> {
        self.check_encoding(name)?;
        let mut found = None;
        for (_, value) in self.pairs.iter().filter(|(n, _)| n == name) {
            let word = W::find(value).ok_or_else(|| bad(name, value, &format!("one of {}", W::listed())))?;
            if found.is_some_and(|before| before != word) {
                let detail = format!("the parameter {name} is given twice, with different words");
                return Err(Fault::new(INVALID_PARAMETER, detail));
            }
            found = Some(word);
        }
        Ok(found)
    }

    /// One of the words of an enum, in any letter case.
    pub fn word<W: Word>(&self, name: &str) -> Result<Option<W>, Fault> {
        let Some(text) = self.one(name)? else { return Ok(None) };
        W::find(text).map(Some).ok_or_else(|| bad(name, text, &format!("one of {}", W::listed())))
    }

    /// Several words of an enum, in any letter case: the parameter repeated, or words with commas between.
    pub fn words<W: Word + PartialEq>(&self, name: &str) -> Result<Vec<W>, Fault> {
        self.check_encoding(name)?;
        let mut found = Vec::new();
        let given = self.pairs.iter().filter(|(n, _)| n == name);
        for text in given.flat_map(|(_, value)| value.split(',')) {
            let word = W::find(text).ok_or_else(|| bad(name, text, &format!("one of {}", W::listed())))?;
            if !found.contains(&word) {
                found.push(word);
            }
        }
        Ok(found)
    }

    /// A parameter that must be given, and not empty.
    pub fn text(&self, name: &str) -> Result<&str, Fault> {
        let given = self.one(name)?.filter(|value| !value.is_empty());
        given.ok_or_else(|| missing(name))
    }

    /// A day.
    pub fn date(&self, name: &str) -> Result<Option<Date>, Fault> {
        let Some(text) = self.one(name)? else { return Ok(None) };
        Date::parse(text).map(Some).ok_or_else(|| bad(name, text, "a date of the calendar as YYYY-MM-DD"))
    }

    /// Days from the first to the last, both included: `2024-03-01..2024-03-31`.
    pub fn date_range(&self, name: &str) -> Result<Option<DateRange>, Fault> {
        let Some(text) = self.one(name)? else { return Ok(None) };
        let range = text.split_once("..").and_then(|(first, last)| {
            let first = Date::parse(first)?;
            let last = Date::parse(last)?;
            (first <= last).then_some(DateRange { first, last })
        });
        let expected = "two dates of the calendar as YYYY-MM-DD..YYYY-MM-DD, the earlier one first";
        range.map(Some).ok_or_else(|| bad(name, text, expected))
    }

    /// An integer within bounds.
    pub fn integer(&self, name: &str, min: u32, max: u32) -> Result<Option<u32>, Fault> {
        let Some(text) = self.one(name)? else { return Ok(None) };
        let plain = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
        match text.parse() {
            Ok(value) if plain && (min..=max).contains(&value) => Ok(Some(value)),
            _ => Err(bad(name, text, &format!("an integer from {min} to {max}"))),
        }
    }

    /// One of several words in any letter case; its place in the list.
    pub fn choice(&self, name: &str, words: &[&str]) -> Result<Option<usize>, Fault> {
        let Some(text) = self.one(name)? else { return Ok(None) };
        match words.iter().position(|word| word.eq_ignore_ascii_case(text)) {
            Some(place) => Ok(Some(place)),
            None => Err(bad(name, text, &format!("one of {}", words.join(", ")))),
        }
    }

    /// A text to look for; an empty one does not count.
    pub fn term(&self) -> Result<Option<&str>, Fault> {
        let term = self.one("term")?.filter(|term| !term.is_empty());
        if term.is_some_and(|term| term.chars().count() > TERM_LENGTH_MAX) {
            let detail = format!("the parameter term must have at most {TERM_LENGTH_MAX} characters");
            return Err(Fault::new(INVALID_PARAMETER, detail));
        }
        Ok(term)
    }

    /// `true` or `false` in any letter case.
    pub fn flag(&self, name: &str) -> Result<Option<bool>, Fault> {
        Ok(self.choice(name, &["false", "true"])?.map(|place| place == 1))
    }
}

/// The sentence for text that cannot be decoded.
pub fn bad_encoding(what: &str) -> String {
    format!("{what} is not percent-encoded UTF-8")
}

/// The fault of a parameter that must be given.
pub fn missing(name: &str) -> Fault {
    Fault::new(INVALID_PARAMETER, format!("the parameter {name} is missing"))
}

/// The fault of a parameter whose value is not one of those expected.
pub fn bad(name: &str, value: &str, expected: &str) -> Fault {
    let detail = format!("the parameter {name} must be {expected}, not \"{}\"", shown(value));
    Fault::new(INVALID_PARAMETER, detail)
}

/// One parameter, described.
#[derive(Debug, Clone)]
pub struct ParamDoc {
    /// Name on the wire.
    pub name: &'static str,
    /// What it does.
    pub doc: &'static str,
    /// Whether it must be given.
    pub required: bool,
    /// Its rule as JSON schema.
    pub schema: Value,
}

/// A parameter that need not be given.
pub fn optional_param(name: &'static str, doc: &'static str, schema: Value) -> ParamDoc {
    ParamDoc { name, doc, required: false, schema }
}

/// The query parameters of an endpoint, read from a request and written by a client.
pub trait Parameters: Sized + Send + Sync + 'static {
    /// Reads them; unknown ones are ignored.
    fn read(params: &Params) -> Result<Self, Fault>;
    /// Writes those that were given.
    fn write(&self) -> Vec<(&'static str, String)>;
    /// Describes them.
    fn docs() -> Vec<ParamDoc>;
}

/// A record of a paged list.
pub trait Listed: Object {
    /// The property of the page envelope that holds the records.
    const PLURAL: &'static str;
    /// The columns by which the list can be sorted; the first is the default.
    const COLUMNS: &'static [&'static str];
}

/// Which part of a list, in which order.
#[derive(Debug, Clone, PartialEq)]
pub struct Paging<T> {
    /// Pages to pass over; null is 0.
    pub page_index: Option<u32>,
    /// Elements of a page, 1 to 1,000; null is 20.
    pub size: Option<u32>,
    /// One of the columns of the list; null is its first, the identifier.
    pub sort_column: Option<String>,
    /// Highest first.
    pub descending: bool,
    /// A substring to look for, in any letter case.
    pub term: Option<String>,
    listed: PhantomData<fn() -> T>,
}

impl<T> Default for Paging<T> {
    fn default() -> Self {
        let listed = PhantomData;
        Self { page_index: None, size: None, sort_column: None, descending: false, term: None, listed }
    }
}

impl<T> Paging<T> {
    /// Reads all but the column and the term, for a list that has one order.
    pub fn read_part(params: &Params) -> Result<Self, Fault> {
        let page_index = params.integer("pageIndex", 0, i32::MAX.unsigned_abs())?;
        let size = params.integer("size", 1, PAGE_SIZE_MAX)?;
        let descending = params.choice("sortDirection", &["ASC", "DESC"])? == Some(1);
        Ok(Self { page_index, size, descending, ..Self::default() })
    }
}

impl<T: Listed> Parameters for Paging<T> {
    fn read(params: &Params) -> Result<Self, Fault> {
        let page_index = params.integer("pageIndex", 0, i32::MAX.unsigned_abs())?;
        let size = params.integer("size", 1, PAGE_SIZE_MAX)?;
        let sort_column = match params.one("sortColumn")? {
            None => None,
            Some(column) if T::COLUMNS.contains(&column) => Some(column.to_owned()),
            Some(column) => {
                return Err(bad("sortColumn", column, &format!("one of {}", T::COLUMNS.join(", "))));
            }
        };
        let descending = params.choice("sortDirection", &["ASC", "DESC"])? == Some(1);
        let term = params.term()?.map(str::to_owned);
        Ok(Self { page_index, size, sort_column, descending, term, listed: PhantomData })
    }

    fn write(&self) -> Vec<(&'static str, String)> {
        let mut pairs = Vec::new();
        let mut put = |name, value: Option<String>| pairs.extend(value.map(|value| (name, value)));
        put("pageIndex", self.page_index.map(|n| n.to_string()));
        put("size", self.size.map(|n| n.to_string()));
        put("sortColumn", self.sort_column.clone());
        put("sortDirection", self.descending.then(|| "DESC".to_owned()));
        put("term", self.term.clone());
        pairs
    }

    fn docs() -> Vec<ParamDoc> {
        let doc = |name, doc, schema| ParamDoc { name, doc, required: false, schema };
        vec![
            doc(
                "pageIndex",
                "Pages to pass over.",
                json!({ "type": "integer", "minimum": 0, "maximum": i32::MAX, "default": 0 }),
            ),
            doc(
                "size",
                "Elements of a page.",
                json!({
                    "type": "integer", "minimum": 1, "maximum": PAGE_SIZE_MAX, "default": PAGE_SIZE_DEFAULT
                }),
            ),
            doc("sortColumn", "Column to sort by.", json!({ "type": "string", "enum": T::COLUMNS })),
            doc(
                "sortDirection",
                "Lowest or highest first.",
                json!({ "type": "string", "enum": ["ASC", "DESC"] }),
            ),
            doc(
                "term",
                "A substring, in any letter case.",
                json!({ "type": "string", "maxLength": TERM_LENGTH_MAX }),
            ),
        ]
    }
}

/// No parameters.
impl Parameters for () {
    fn read(_: &Params) -> Result<Self, Fault> {
        Ok(())
    }
    fn write(&self) -> Vec<(&'static str, String)> {
        Vec::new()
    }
    fn docs() -> Vec<ParamDoc> {
        Vec::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::instances::InstanceState::{self, Active, Closed};
    use crate::time::Timestamp;

    #[test]
    fn a_form_is_read_from_the_query_string_and_from_any_body() {
        let command = |query: &str, form: &str| {
            Params::parse(query).with_form(form).command::<InstanceState>("command").map_err(|f| f.kind.code)
        };
        for (query, form) in [
            ("command=ACTIVE", ""),
            ("", "command=active"),
            ("", "x=1&command=Active\r\n"),
            ("", "x=1\ncommand=Active\n"),
            ("command=active", "command=ACTIVE"),
            ("command=active", "{}"),
        ] {
            assert_eq!(command(query, form), Ok(Some(Active)), "{query} {form}");
        }
        assert_eq!(command("", "{\"command\":\"ACTIVE\"}"), Ok(None));
        assert_eq!(command("", "command=c%6Cosed"), Ok(Some(Closed)));
        for (query, form) in [
            ("command=ACTIVE", "command=CLOSED"),
            ("command=", ""),
            ("", "command=FREEZE"),
            ("", "command=ACTIVE&x=%zz"),
        ] {
            assert_eq!(command(query, form), Err("invalid_parameter"), "{query} {form}");
        }
    }

    #[test]
    fn a_range_of_dates_has_two_days_in_their_order() {
        let range = |text: &str| Params::parse(&format!("dateRange={text}")).date_range("dateRange");
        let shown = |text: &str| range(text).map(|r| r.map(|r| r.to_string())).map_err(|f| f.kind.code);
        for good in ["2017-07-13..2017-07-16", "2017-07-13Z..2017-07-16Z", "2017-07-13..2017-07-16Z"] {
            assert_eq!(shown(good), Ok(Some("2017-07-13..2017-07-16".to_owned())), "{good}");
        }
        assert!(shown("2017-07-13..2017-07-13").is_ok());
        for bad in
            ["", "2017-07-13", "2017-07-16..2017-07-13", "2017-02-29..2017-03-01", "..2017-07-13", "a..b"]
        {
            assert_eq!(shown(bad), Err("invalid_parameter"), "{bad}");
        }
        let days = range("2017-07-13..2017-07-14").unwrap().unwrap();
        let at = |text: &str| Timestamp::parse(text).unwrap();
        assert!(days.contains(at("2017-07-13T00:00:00Z")) && days.contains(at("2017-07-14T23:59:59.999Z")));
        assert!(!days.contains(at("2017-07-12T23:59:59.999Z")) && !days.contains(at("2017-07-15T00:00:00Z")));
    }
}
