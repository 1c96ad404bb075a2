//! Query parameters and form fields, paging included (`organisation.md` section 1.4).

use crate::endpoint::percent_decode;
use crate::fault::{Fault, INVALID_PARAMETER};
use crate::identifier::shown;
use crate::wire::Listed;
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
    malformed: bool,
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
                _ => params.malformed = true,
            }
        }
        params
    }

    /// The parameters in their order.
    pub fn pairs(&self) -> &[(String, String)] {
        &self.pairs
    }

    /// Adds a parameter at the end.
    pub fn push(&mut self, name: &str, value: &str) {
        self.pairs.push((name.to_owned(), value.to_owned()));
    }

    /// Whether a part of the text was no percent-encoded UTF-8.
    pub fn malformed(&self) -> bool {
        self.malformed
    }

    /// The value of a parameter that may be given once.
    pub fn one(&self, name: &str) -> Result<Option<&str>, Fault> {
        if self.malformed {
            let what = "the query string is not percent-encoded UTF-8";
            return Err(Fault::new(INVALID_PARAMETER, what));
        }
        let mut given = self.pairs.iter().filter(|(n, _)| n == name).map(|(_, value)| value.as_str());
        let value = given.next();
        if given.next().is_some() {
            return Err(Fault::new(INVALID_PARAMETER, format!("the parameter {name} is given twice")));
        }
        Ok(value)
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

    /// `true` or `false` in any letter case.
    pub fn flag(&self, name: &str) -> Result<Option<bool>, Fault> {
        Ok(self.choice(name, &["false", "true"])?.map(|place| place == 1))
    }
}

/// The fault of a parameter whose value is none of what is expected.
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

/// The query parameters of an endpoint, read from a request and written by a client.
pub trait Parameters: Sized + Send + Sync + 'static {
    /// Reads them; unknown ones are ignored.
    fn read(params: &Params) -> Result<Self, Fault>;
    /// Writes those that were given.
    fn write(&self) -> Vec<(&'static str, String)>;
    /// Describes them.
    fn docs() -> Vec<ParamDoc>;
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
        let term = params.one("term")?.filter(|term| !term.is_empty());
        if term.is_some_and(|term| term.chars().count() > TERM_LENGTH_MAX) {
            let detail = format!("the parameter term must have at most {TERM_LENGTH_MAX} characters");
            return Err(Fault::new(INVALID_PARAMETER, detail));
        }
        let term = term.map(str::to_owned);
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
