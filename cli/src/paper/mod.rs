//! Papers that are printed for people: statements, reports, lists, receipts. A command fills a paper
//! ([`Paper`]); the forms in which it is printed know nothing of commands.
//!
//! | module | holds |
//! |---|---|
//! | `print` | the flags that ask for a paper, and where it goes |
//! | `size` | the sizes of paper |
//! | `letterhead` | what every paper of an institution shows |
//! | `layout`, `table` | where each text goes, on a paper of any width |
//! | `text`, `html`, `pdf` | the forms |
//! | `pdf::font`, `pdf::breaks` | letters of a PDF; where its pages end |

mod html;
mod layout;
mod letterhead;
mod lines;
mod pdf;
mod print;
mod size;
mod table;
mod text;

pub use print::PaperFlags;
pub use size::Size;

use crate::command::cx::Cx;
use crate::failure::Outcome;
use crate::output::escaped;
use letterhead::Letterhead;

/// What is printed.
#[derive(Debug, Clone, Default)]
pub struct Paper {
    /// What it is called where a program reads it.
    pub name: &'static str,
    /// What it is called for people.
    pub title: String,
    pub number: Option<String>,
    /// A mark beside the title, such as COPY.
    pub mark: Option<&'static str>,
    /// Office that issues it; empty if unknown.
    pub office: String,
    /// Its content, from top to bottom.
    pub parts: Vec<Part>,
    letterhead: Letterhead,
}

#[derive(Debug, Clone)]
pub enum Part {
    /// Names and values.
    Facts(Vec<(&'static str, String)>),
    /// Rows under the names of their columns.
    Table(Table),
    /// Names and amounts, aligned right.
    Totals(Vec<(String, String)>),
    /// Lines for signatures.
    Signatures(Vec<&'static str>),
}

/// Rows under the names of their columns.
#[derive(Debug, Clone, Default)]
pub struct Table {
    pub columns: Vec<Column>,
    /// The rows, with a cell for each column.
    pub rows: Vec<Vec<String>>,
    /// The last row, which sums the others up.
    pub total: Option<Vec<String>>,
    /// The text for a table without rows.
    pub empty: &'static str,
}

#[derive(Debug, Clone)]
pub struct Column {
    pub name: String,
    /// Whether its cells are aligned right: amounts and counts, which are never wrapped.
    pub right: bool,
}

/// A name, and the identifier that it belongs to.
pub fn named_for_people(name: &str, identifier: &str) -> String {
    match name {
        "" => identifier.to_owned(),
        name if name == identifier => name.to_owned(),
        name => format!("{name} ({identifier})"),
    }
}

impl Column {
    pub fn words(name: &str) -> Self {
        Self { name: name.to_owned(), right: false }
    }

    pub fn amounts(name: &str) -> Self {
        Self { name: name.to_owned(), right: true }
    }
}

impl Paper {
    /// A paper with the letterhead of the institution.
    pub fn new(cx: &Cx, name: &'static str, title: &str) -> Outcome<Self> {
        Ok(Self { letterhead: Letterhead::of(&cx.settings)?, ..Self::plain(name, title) })
    }

    /// A paper without a letterhead.
    pub fn plain(name: &'static str, title: &str) -> Self {
        Self { name, title: title.to_owned(), ..Self::default() }
    }

    /// The same with a part more below.
    pub fn with(mut self, part: Part) -> Self {
        self.parts.push(part);
        self
    }

    /// The same for an office.
    pub fn at_office(mut self, office: String) -> Self {
        self.office = office;
        self
    }

    /// Lines of text of so many columns.
    pub fn text(&self, columns: u32) -> String {
        text::lines(&self.guarded(), columns)
    }

    /// Its title with its number.
    fn headline(&self) -> String {
        match &self.number {
            Some(number) => format!("{} {number}", self.title),
            None => self.title.clone(),
        }
    }

    /// The same with every character written out that could steer a terminal or turn the order of reading.
    fn guarded(&self) -> Self {
        let mut paper = self.clone();
        let guard = |text: &mut String| *text = escaped(text);
        [&mut paper.title, &mut paper.office].into_iter().for_each(guard);
        paper.number.iter_mut().for_each(guard);
        paper.letterhead.lines_mut().for_each(guard);
        for part in &mut paper.parts {
            match part {
                Part::Facts(facts) => facts.iter_mut().for_each(|(_, value)| guard(value)),
                Part::Totals(totals) => totals.iter_mut().for_each(|(name, value)| {
                    guard(name);
                    guard(value);
                }),
                Part::Table(table) => {
                    let rows = table.rows.iter_mut().chain(&mut table.total);
                    rows.flatten().for_each(guard);
                    table.columns.iter_mut().for_each(|column| guard(&mut column.name));
                }
                Part::Signatures(_) => {}
            }
        }
        paper
    }
}
