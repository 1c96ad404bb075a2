//! The letterhead of an institution.

use crate::failure::{Failure, Outcome};
use crate::settings::{Settings, bounded};

/// Most lines of a letterhead, and of a footer: the rest of a page is for what it says.
const LINES_MAX: usize = 12;

/// What every paper shows.
#[derive(Debug, Clone, Default)]
pub struct Letterhead {
    pub institution: String,
    /// Lines below its name: address, telephone.
    pub lines: Vec<String>,
    pub footer: Vec<String>,
}

impl Letterhead {
    pub fn of(settings: &Settings) -> Outcome<Self> {
        let file = settings.get("letterhead_file").0;
        let (name, text) = match (settings.get("letterhead").0, file) {
            ("", "") => ("letterhead", String::new()),
            ("", file) => ("letterhead_file", read(file)?),
            (text, _) => ("letterhead", text.to_owned()),
        };
        Ok(Self {
            institution: settings.get("institution").0.trim().to_owned(),
            lines: lines(name, &text)?,
            footer: lines("paper_footer", settings.get("paper_footer").0)?,
        })
    }

    /// Every text of it.
    pub fn lines_mut(&mut self) -> impl Iterator<Item = &mut String> {
        std::iter::once(&mut self.institution).chain(&mut self.lines).chain(&mut self.footer)
    }
}

fn read(file: &str) -> Outcome<String> {
    bounded::text(file, bounded::DOCUMENT_BYTES_MAX).map_err(|error| {
        Failure::usage(format!("cannot read {file}: {error}"))
            .hint("it is the letterhead of papers: setting letterhead_file, or MFA_LETTERHEAD_FILE")
    })
}

fn lines(setting: &str, text: &str) -> Outcome<Vec<String>> {
    let lines: Vec<_> = text.trim_end().lines().map(|line| line.trim_end().to_owned()).collect();
    if lines.len() > LINES_MAX {
        let what = format!("{setting} has {} lines, and papers take {LINES_MAX}", lines.len());
        return Err(Failure::usage(what).hint("see: mfa help paper"));
    }
    Ok(lines)
}
