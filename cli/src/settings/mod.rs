//! Where values come from: flag, then the profile of `--profile`, then `MFA_` variable, then any other
//! profile, then the user's config file, then the system's, then the default. Every setting is one row of
//! [`TABLE`].

pub mod bounded;
pub mod files;
mod layers;
mod places;
pub mod profiles;
mod table;

use crate::failure::{Failure, Outcome};
use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

pub use places::{config_files, data_dir, missing_config, report_dir, state_dir, user_config_file};
pub use table::{Setting, TABLE, example};

/// Where a value came from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// The command line.
    Flag,
    /// A variable of the environment.
    Variable(String),
    Profile(String),
    File(PathBuf),
    /// It is not set.
    Default,
}

impl Origin {
    /// The variable that it is.
    pub fn variable(&self) -> Option<&str> {
        match self {
            Origin::Variable(name) => Some(name),
            _ => None,
        }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Origin::Flag => f.write_str("flag"),
            Origin::Variable(name) => write!(f, "environment {name}"),
            Origin::Profile(name) => write!(f, "profile {name}"),
            Origin::File(path) => write!(f, "file {}", path.display()),
            Origin::Default => f.write_str("default"),
        }
    }
}

#[derive(Debug, Default)]
pub struct Settings {
    values: BTreeMap<&'static str, (String, Origin)>,
    /// Warnings about a config file that are not errors.
    pub warnings: Vec<String>,
    /// Whether the profile asks for an identifier to be typed before anything is destroyed.
    pub protected: bool,
    /// Why the profile that was named cannot be used.
    pub bad_profile: Option<Failure>,
    /// Why a file or a value cannot be read; such a value counts as not set.
    pub faults: Vec<Failure>,
}

impl Settings {
    /// Replaces an unreadable value with the default, and remembers why.
    pub fn put_right(&mut self, name: &'static str, read: Outcome) {
        let Err(failure) = read else { return };
        // Two settings may have one fault in common.
        if self.faults.iter().all(|known| known.message != failure.message) {
            self.faults.push(failure);
        }
        let default = TABLE.iter().find(|setting| setting.name == name).map_or("", |setting| setting.default);
        self.values.insert(name, (default.to_owned(), Origin::Default));
    }

    /// The profile in use.
    pub fn profile(&self) -> Option<&str> {
        Some(self.get("profile").0).filter(|name| !name.is_empty())
    }

    /// The text of a setting and where it came from.
    #[expect(
        clippy::expect_used,
        reason = "names are literals of this program; every row of TABLE has a value"
    )]
    pub fn get(&self, name: &str) -> (&str, &Origin) {
        let (value, origin) = self.values.get(name).expect("a setting of the table");
        (value, origin)
    }

    /// A setting that a flag of one command may set, as the type that it has.
    pub fn parse<T: std::str::FromStr>(&self, name: &str, flag: Option<&str>) -> Outcome<T> {
        let (value, origin) = flag.map_or_else(|| self.get(name), |value| (value, &Origin::Flag));
        let default = TABLE.iter().find(|setting| setting.name == name).map_or("", |setting| setting.default);
        value.trim().parse().map_err(|_| match default {
            "" => bad(name, value, origin, "it has another form"),
            default => bad(name, value, origin, &format!("it has another form, such as {default}")),
        })
    }

    /// A setting that is one of several words.
    pub fn choice<T>(&self, name: &str, flag: Option<&str>, words: &[(&str, T)]) -> Outcome<T>
    where
        T: Copy,
    {
        let (value, origin) = flag.map_or_else(|| self.get(name), |value| (value, &Origin::Flag));
        let found = words.iter().find(|(word, _)| word.eq_ignore_ascii_case(value.trim()));
        found.map(|(_, choice)| *choice).ok_or_else(|| {
            let words: Vec<_> = words.iter().map(|(word, _)| *word).filter(|word| !word.is_empty()).collect();
            bad(name, value, origin, &format!("it is one of {}", words.join(", ")))
        })
    }

    /// A setting that is on or off.
    pub fn flag(&self, name: &str, flag: Option<&str>) -> Outcome<bool> {
        let words = [("true", true), ("1", true), ("yes", true), ("on", true)];
        let others = [("false", false), ("0", false), ("no", false), ("off", false), ("", false)];
        self.choice(name, flag, &[words.as_slice(), others.as_slice()].concat())
    }
}

fn bad(name: &str, value: &str, origin: &Origin, rule: &str) -> Failure {
    let from = if *origin == Origin::Flag { String::new() } else { format!(", from {origin}") };
    Failure::usage(format!("\"{value}\" is not a value of {name}: {rule}{from}"))
        .hint("see: mfa help environment")
}
