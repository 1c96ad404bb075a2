//! Formats of the output, and when it has colour.

use crate::failure::Outcome;
use crate::settings::Settings;
use clap::ValueEnum;
use std::iter::once;

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Format {
    /// Columns that fit the terminal
    Table,
    /// Every column, however wide
    Wide,
    /// The representation of the wire
    Json,
    /// One record a line, as it arrives
    Jsonl,
    /// The representation of the wire as YAML
    Yaml,
    /// Every column, separated by commas
    Csv,
    /// Every column, separated by tabs
    Tsv,
    /// Identifiers only
    Id,
}

impl Format {
    /// The format of the setting.
    pub fn of(settings: &Settings, on_terminal: bool) -> Outcome<Self> {
        let default = if on_terminal { Self::Table } else { Self::Tsv };
        let formats = Self::value_variants().iter();
        let named: Vec<_> =
            formats.filter_map(|format| Some((format.to_possible_value()?, *format))).collect();
        let named = named.iter().map(|(word, format)| (word.get_name(), *format));
        settings.choice("output", None, &once(("auto", default)).chain(named).collect::<Vec<_>>())
    }

    /// Whether a program reads it, and wants to read errors, too.
    pub fn is_structured(self) -> bool {
        matches!(self, Format::Json | Format::Jsonl | Format::Yaml)
    }

    pub fn is_table(self) -> bool {
        matches!(self, Format::Table | Format::Wide)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Colour {
    /// On a terminal
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

impl Colour {
    /// When the setting wants it.
    pub fn of(settings: &Settings) -> Outcome<Self> {
        let words = [("auto", Self::Auto), ("always", Self::Always), ("never", Self::Never)];
        settings.choice("color", None, &words)
    }
}
