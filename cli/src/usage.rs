//! What must be known before, or instead of, a command line that parses: how to tell that it does not.

use crate::commands::NODES;
use crate::failure::{Failure, Outcome};
use crate::globals::{Colour, Format};
use crate::input::nearest;
use crate::output::Screen;
use crate::settings::{Origin, Settings};
use crate::tree;
use clap::ValueEnum;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use std::ffi::OsString;

/// What a look at the words shows before they are parsed.
pub struct Early {
    /// Whether errors are wanted as JSON.
    pub structured: bool,
    /// When colour is used.
    pub colour: Colour,
    /// The command that was meant, as far as it is one.
    pub path: Vec<&'static str>,
}

impl Early {
    /// The same for clap.
    pub fn clap_colour(&self) -> clap::ColorChoice {
        match self.colour {
            Colour::Auto => clap::ColorChoice::Auto,
            Colour::Always => clap::ColorChoice::Always,
            Colour::Never => clap::ColorChoice::Never,
        }
    }
}

/// Looks for the flags on which even a usage error depends.
pub fn early(words: &[OsString]) -> Early {
    let words: Vec<_> = words.iter().skip(1).filter_map(|word| word.to_str()).collect();
    let word = |short: Option<&str>, long: &str, setting: &str| {
        let flagged = value_of(&words, short, long).map(str::to_owned);
        flagged.or_else(|| Some(Settings::load(Vec::new()).ok()?.get(setting).0.to_owned()))
    };
    let format = word(Some("-o"), "--output", "output");
    let format = format.and_then(|text| Format::from_str(&text, true).ok());
    let colour = word(None, "--color", "color").and_then(|text| Colour::from_str(&text, true).ok());
    Early {
        structured: format.is_some_and(Format::is_structured),
        colour: colour.unwrap_or(Colour::Auto),
        path: tree::path(NODES, &words),
    }
}

/// The value of a flag, in each of the forms in which it can be written.
fn value_of<'a>(words: &[&'a str], short: Option<&str>, long: &str) -> Option<&'a str> {
    let end = words.iter().position(|word| *word == "--").unwrap_or(words.len());
    words[..end].iter().enumerate().find_map(|(i, word)| {
        if *word == long || Some(*word) == short {
            return words.get(i + 1).copied();
        }
        let joined = word.strip_prefix(long).and_then(|rest| rest.strip_prefix('='));
        let glued = short.and_then(|short| word.strip_prefix(short));
        joined.or(glued.map(|rest| rest.strip_prefix('=').unwrap_or(rest)))
    })
}

/// A line that clap did not accept; help and version are such a line for clap, and fine for everybody.
pub fn outcome(error: &clap::Error, path: &[&'static str]) -> Outcome {
    if matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion) {
        return Ok(error.print()?);
    }
    let text = error.render().to_string();
    let message: Vec<_> = text.lines().take_while(|line| !line.is_empty()).map(str::trim).collect();
    let message = message.join(" ");
    let message = message.strip_prefix("error: ").unwrap_or(&message);
    let own = std::iter::once("mfa").chain(path.iter().copied()).collect::<Vec<_>>().join(" ");
    let help = format!("see: {own} --help");
    let names = tree::names(NODES, path);
    if error.kind() == ErrorKind::MissingSubcommand {
        let message = format!("after {own} one of these is expected: {}", names.join(", "));
        return Err(Failure::usage(message).hint(help));
    }
    let typed = match error.get(ContextKind::InvalidSubcommand) {
        Some(ContextValue::String(typed)) => Some(typed.as_str()),
        _ => None,
    };
    let near =
        typed.and_then(|typed| nearest(typed, names.into_iter()).first().map(|near| (*near).to_owned()));
    let hint = match near.or_else(|| suggestion(error)) {
        Some(near) => format!("did you mean {near}? {help}"),
        None => help,
    };
    Err(Failure::usage(message).hint(hint))
}

fn suggestion(error: &clap::Error) -> Option<String> {
    let kinds = [ContextKind::SuggestedSubcommand, ContextKind::SuggestedArg, ContextKind::SuggestedValue];
    kinds.into_iter().find_map(|kind| match error.get(kind)? {
        ContextValue::String(near) => Some(near.clone()),
        ContextValue::Strings(near) => near.first().cloned(),
        _ => None,
    })
}

/// The format of the output.
pub fn format(settings: &Settings, screen: Screen) -> Outcome<Format> {
    let default = if screen.stdout_is_terminal { Format::Table } else { Format::Tsv };
    let mut words = vec![("auto", default)];
    let formats = [
        ("table", Format::Table),
        ("wide", Format::Wide),
        ("json", Format::Json),
        ("jsonl", Format::Jsonl),
        ("yaml", Format::Yaml),
        ("csv", Format::Csv),
        ("tsv", Format::Tsv),
        ("id", Format::Id),
    ];
    words.extend(formats);
    settings.choice("output", None, &words)
}

/// When colour is used.
pub fn colour(settings: &Settings) -> Outcome<Colour> {
    let words = [("auto", Colour::Auto), ("always", Colour::Always), ("never", Colour::Never)];
    settings.choice("color", None, &words)
}

/// The pager: ours before the system's before the default.
pub fn pager(settings: &Settings) -> String {
    let (ours, origin) = settings.get("pager");
    let theirs = std::env::var("PAGER").ok().filter(|_| *origin == Origin::Default);
    theirs.unwrap_or_else(|| ours.to_owned())
}
