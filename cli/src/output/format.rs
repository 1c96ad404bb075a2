//! Formats of the output, and when it has colour.

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
