//! What must be known before a command line is parsed: how to report that it is wrong.

use super::{self as tree, command, nodes};
use crate::failure::{Failure, Outcome};
use crate::output::{Carried, Colour, Format, Screen, called};
use crate::settings::{Origin, Settings};
use crate::words::{nearest, quoted};
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Command, ValueEnum};
use mfa_shared::amount::Amount;
use mfa_shared::identifier::wire_name;
use mfa_shared::rule::FieldError;
use std::ffi::OsString;
use std::io::{Write, stdout};
use std::iter;
use std::sync::LazyLock;

/// Flags that a hint names, so that it stays short.
const FLAGS_SHOWN_MAX: usize = 3;

/// Short flags without a value, which may stand before another in one word.
const SWITCHES: &[char] = &['h', 'q', 'v', 'V', 'y'];

/// Commands that are about no daemon, so that hints give them no flag that chooses one.
const NO_DAEMON: &[&str] =
    &["commands", "completions", "config", "docs", "explain", "help", "init", "profile", "profiles"];

/// Verbs of other programs, with the one that does the same here.
const MEANT: &[(&str, &[&str])] = &[
    ("list", &["ls", "all"]),
    ("get", &["show", "view", "read", "describe"]),
    ("create", &["add", "new", "make", "open"]),
    ("update", &["set", "change", "modify"]),
    ("delete", &["rm", "remove", "del"]),
    // What is only closed is kept.
    ("close", &["delete", "rm", "remove", "del"]),
    ("lock", &["deactivate", "disable", "suspend", "block"]),
    ("commands", &["history"]),
];

/// What the words show before they are parsed.
pub struct Early {
    /// Whether errors are wanted as JSON, as far as the words show it.
    pub structured: bool,
    pub colour: Colour,
    /// The command that was meant, as far as it is one.
    pub path: Vec<&'static str>,
    /// The flags that hints repeat.
    pub carried: Carried,
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
    let profile = value_of(&words, None, "--profile").map(|name| ("profile", name.to_owned()));
    let word = |short: Option<char>, long: &str, setting: &str| {
        let flagged = value_of(&words, short, long).map(str::to_owned);
        let chosen = || profile.iter().cloned().collect();
        flagged.or_else(|| Some(Settings::load(chosen()).get(setting).0.to_owned()))
    };
    let format = word(Some('o'), "--output", "output");
    let format = format.and_then(|text| Format::from_str(text.trim(), true).ok());
    let colour = word(None, "--color", "color").and_then(|text| Colour::from_str(text.trim(), true).ok());
    Early {
        structured: format.is_some_and(Format::is_structured),
        colour: colour.unwrap_or(Colour::Auto),
        path: tree::path(nodes(), &words),
        carried: carried(&words),
    }
}

/// The flags of a call that say which daemon it is about, for every command that speaks to one.
fn carried(words: &[&str]) -> Carried {
    let flag = |flag| Some((flag, quoted(value_of(words, None, flag)?)));
    let flags: Vec<_> = ["--profile", "--url"].into_iter().filter_map(flag).collect();
    let names = tree::called_by().filter(|name| !flags.is_empty() && !NO_DAEMON.contains(name)).collect();
    Carried::new(flags, names)
}

/// The value of a flag, in each of the forms in which it can be written: `-o json`, `-ojson`, `-qo=json`.
fn value_of<'a>(words: &[&'a str], short: Option<char>, long: &str) -> Option<&'a str> {
    let end = words.iter().position(|word| *word == "--").unwrap_or(words.len());
    words[..end].iter().enumerate().find_map(|(i, word)| {
        if *word == long {
            return words.get(i + 1).copied();
        }
        if let Some(value) = word.strip_prefix(long).and_then(|rest| rest.strip_prefix('=')) {
            return Some(value);
        }
        let cluster = word.strip_prefix('-').filter(|rest| !rest.starts_with('-'))?;
        let (before, value) = cluster.split_once(short?)?;
        match value.strip_prefix('=').unwrap_or(value) {
            _ if !before.chars().all(|other| SWITCHES.contains(&other)) => None,
            "" => words.get(i + 1).copied(),
            value => Some(value),
        }
    })
}

/// The flag behind which a number below zero was typed, and that number.
fn behind_flag(word: &str, flags: &[String]) -> Option<(String, String)> {
    Amount::parse(word.strip_prefix('-')?).ok()?;
    let words: Vec<_> = std::env::args_os().map(|word| word.to_string_lossy().into_owned()).collect();
    let is_own =
        |typed: &str| typed.strip_prefix("--").is_some_and(|name| flags.iter().any(|flag| flag == name));
    let at = words.windows(2).find(|pair| is_own(&pair[0]) && pair[1].starts_with(word))?;
    Some((at[0].clone(), at[1].clone()))
}

/// A line that clap did not accept; help and version are such a line for clap, and no failure.
pub fn outcome(error: &clap::Error, path: &[&'static str], screen: &Screen) -> Outcome {
    if matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion) {
        return show(error, screen);
    }
    let typed = match error.get(ContextKind::InvalidSubcommand) {
        Some(ContextValue::String(typed)) => Some(typed.as_str()),
        _ => None,
    };
    let path = typed.map_or(path, |typed| above(typed, path));
    let text = error.render().to_string();
    let message: Vec<_> = text.lines().take_while(|line| !line.is_empty()).map(str::trim).collect();
    let message = message.join(" ");
    let message = for_people(message.strip_prefix("error: ").unwrap_or(&message));
    let own = iter::once(called::name()).chain(path.iter().copied()).collect::<Vec<_>>().join(" ");
    let help = format!("see: {own} --help");
    let names = tree::names(nodes(), path);
    if error.kind() == ErrorKind::MissingSubcommand && path.is_empty() {
        let hint = "begin with mfa quickstart or mfa login; every command: mfa --help";
        return Err(Failure::usage(format!("{} needs a command", called::name())).hint(hint));
    }
    if error.kind() == ErrorKind::MissingSubcommand {
        let message = format!("after {own} one of these is expected: {}", names.join(", "));
        return Err(Failure::usage(message).hint(help));
    }
    let message = typed.map_or(message, |typed| format!("there is no command {own} {typed}"));
    let near = typed.and_then(|typed| verb_meant(typed, &names).or_else(|| deeper(typed, path)));
    let unknown = match error.get(ContextKind::InvalidArg) {
        Some(ContextValue::String(unknown)) if error.kind() == ErrorKind::UnknownArgument => Some(unknown),
        _ => None,
    };
    let flags = own_flags(path);
    if typed.is_some() && near.is_none() && !path.is_empty() {
        return Err(Failure::usage(message).hint(format!("it is one of {}; {help}", names.join(", "))));
    }
    let values = values(path);
    if unknown.is_some_and(|word| !word.starts_with('-')) && !values.is_empty() {
        let hint =
            format!("it takes only {}: repeat it for each, or give a flag; {help}", values.join(" and "));
        return Err(Failure::usage(message).hint(hint));
    }
    if unknown.is_some_and(|word| !word.starts_with('-')) && !flags.is_empty() {
        let some = flags.iter().take(FLAGS_SHOWN_MAX).map(|flag| format!("--{flag}"));
        let hint = format!("give it by a flag, such as {}; {help}", some.collect::<Vec<_>>().join(", "));
        return Err(Failure::usage(message).hint(hint));
    }
    if let Some(other) = unknown.and_then(|word| at_the_top(path, word)) {
        return Err(Failure::usage(message).hint(format!("{other}; {help}")));
    }
    if let Some(value) = unknown.and_then(|word| values.iter().find(|value| is_letter_of(word, value))) {
        let hint = format!("{value} is given without a flag: {own} {value}; {help}");
        return Err(Failure::usage(message).hint(hint));
    }
    if let Some((flag, value)) = unknown.and_then(|word| behind_flag(word, &flags)) {
        let hint = format!("a value that begins with - is given with =: {flag}={value}; {help}");
        return Err(Failure::usage(message).hint(hint));
    }
    let flag = unknown.and_then(|word| flag_meant(word, &flags));
    let one_dash = |word: &String| word.starts_with('-') && !word.starts_with("--");
    let hint = match near.or(flag).or_else(|| suggested_value(error)) {
        Some(near) => format!("did you mean {near}? {help}"),
        // An identifier may begin like a flag.
        None if unknown.is_some_and(one_dash) && !values.is_empty() => {
            format!("a value that begins with - comes last, behind --: {own} -- VALUE; {help}")
        }
        None => help,
    };
    Err(Failure::usage(message).hint(hint))
}

/// The group in which a word is unknown: it may stand before others that look like commands.
fn above<'p>(typed: &str, path: &'p [&'static str]) -> &'p [&'static str] {
    let lacks = |group: &&'p [&'static str]| {
        let names = tree::names(nodes(), group);
        !names.is_empty() && !names.contains(&typed)
    };
    (0..=path.len()).rev().map(|length| &path[..length]).find(lacks).unwrap_or(path)
}

/// Prints help or the version, with the name that was typed.
fn show(error: &clap::Error, screen: &Screen) -> Outcome {
    let text = error.render();
    let text = if screen.stdout_colour { text.ansi().to_string() } else { text.to_string() };
    Ok(stdout().write_all(called::spoken(&text).as_bytes())?)
}

/// A message about a number, in plain words.
fn for_people(message: &str) -> String {
    let said = [
        ("invalid digit found in string", "it must be a whole number"),
        ("cannot parse integer from empty string", "it must be a whole number"),
        ("number too large to fit in target type", "it is too large"),
    ];
    said.iter().fold(message.to_owned(), |message, (theirs, ours)| message.replace(theirs, ours))
}

/// The verb that was probably meant by an unknown one.
fn verb_meant(typed: &str, names: &[&'static str]) -> Option<String> {
    let same = MEANT.iter().find(|(verb, others)| names.contains(verb) && others.contains(&typed));
    let near = || nearest(typed, names.iter().copied()).first().copied();
    same.map(|(verb, _)| *verb).or_else(near).map(str::to_owned)
}

/// The one command further down that has the name: `daemon start` for `start`.
fn deeper(typed: &str, path: &[&'static str]) -> Option<String> {
    let leaves = tree::leaves(nodes()).into_iter();
    let mut found = leaves.filter(|(own, _)| own.starts_with(path) && own.last() == Some(&typed));
    let (own, _) = found.next()?;
    found.next().is_none().then(|| own[path.len()..].join(" "))
}

/// The command of the same name at the top, where it has a flag: `mfa statement` for `mfa accounts
/// statement`.
fn at_the_top(path: &[&'static str], flag: &str) -> Option<String> {
    let verb = *path.last().filter(|_| path.len() > 1)?;
    let long = flag.strip_prefix("--")?;
    let top = tree::descend(built(), &[verb])?;
    let has = top.get_arguments().any(|arg| arg.get_long() == Some(long));
    has.then(|| format!("{flag} is a flag of {} {verb}", called::name()))
}

/// The failure with the flags of its fields, as far as the command has them. Where fields are missing, and
/// each has a flag, the hint is to give them.
pub fn naming_flags(failure: Failure, path: &[&'static str]) -> Failure {
    if failure.errors.is_empty() {
        return failure;
    }
    let own = own_flags(path);
    let named = |error: &FieldError| Some((error.field.clone(), flag_of(&error.field, &own)?));
    let flags: Vec<_> = failure.errors.iter().filter_map(named).collect();
    let is_missing = |error: &FieldError| error.code == "required" && error.field.matches('/').count() == 1;
    if failure.errors.iter().all(is_missing) && flags.len() == failure.errors.len() {
        let given: Vec<_> = flags.iter().map(|(_, flag)| format!("--{flag}")).collect();
        return failure.hint(format!("give {}", given.join(", ")));
    }
    failure.flags(flags)
}

/// Fields whose flags have other words, each with its flag.
const IN_OTHER_WORDS: [(&str, &str); 8] = [
    ("tellerAccountIdentifier", "drawer-account"),
    ("chequesReceivableAccount", "cheques-account"),
    ("assignedEmployeeIdentifier", "employee"),
    ("denominationRequired", "count-required"),
    ("customerAccountIdentifier", "account"),
    ("targetAccountIdentifier", "to"),
    ("expirationDate", "expires"),
    ("url", "receiver"),
];

/// The flag for a field: its name, or the words with which the name begins or ends (`--contact` for
/// `/contactDetails/0/value`, `--office` for `/assignedOffice`).
fn flag_of(field: &str, flags: &[String]) -> Option<String> {
    let name = field.split('/').nth(1)?;
    let other = IN_OTHER_WORDS.iter().find(|(field, _)| *field == name).map(|(_, flag)| *flag);
    let is_same = |flag: &&String| wire_name(&flag.replace('-', "_")) == name || other == Some(flag.as_str());
    let same = flags.iter().find(is_same);
    let part = || {
        let name = name.to_lowercase();
        let mut found = flags.iter().filter(|flag| {
            let flag = flag.replace('-', "");
            name.starts_with(&flag) || name.ends_with(&flag)
        });
        // Two flags that fit say nothing.
        found.next().filter(|_| found.next().is_none())
    };
    same.or_else(part).cloned()
}

/// The whole tree with the global flags in every command. It is made once: nothing else that a usage error
/// needs takes as long.
fn built() -> &'static Command {
    static BUILT: LazyLock<Command> = LazyLock::new(|| {
        let mut root = command();
        root.build();
        root
    });
    &BUILT
}

/// The flags with a value that only this command has.
fn own_flags(path: &[&'static str]) -> Vec<String> {
    let Some(command) = tree::descend(built(), path) else { return Vec::new() };
    let own = command.get_arguments().filter(|arg| !arg.is_global_set() && arg.get_action().takes_values());
    own.filter_map(|arg| arg.get_long().map(str::to_owned)).collect()
}

/// The names of the values that a command has without a flag.
fn values(path: &[&'static str]) -> Vec<String> {
    let Some(command) = tree::descend(built(), path) else { return Vec::new() };
    let names = command.get_positionals().filter_map(|arg| Some(arg.get_value_names()?.first()?.to_string()));
    names.collect()
}

/// Whether a short flag is the first letter of a value: `-u` of `USER`.
fn is_letter_of(flag: &str, value: &str) -> bool {
    flag.strip_prefix('-').is_some_and(|letter| letter.len() == 1 && value.to_lowercase().starts_with(letter))
}

/// The flag that was meant by a mistyped one, or that has it among its words: `--assigned-office` for
/// `--office`.
fn flag_meant(typed: &str, flags: &[String]) -> Option<String> {
    let typed = typed.trim_start_matches('-');
    let root = command();
    let of_all = root.get_arguments().filter_map(|arg| arg.get_long());
    let near =
        nearest(typed, flags.iter().map(String::as_str).chain(of_all)).first().map(|near| (*near).to_owned());
    let longer = || flags.iter().find(|flag| flag.split('-').any(|word| word == typed)).cloned();
    near.or_else(longer).map(|flag| format!("--{flag}"))
}

fn suggested_value(error: &clap::Error) -> Option<String> {
    match error.get(ContextKind::SuggestedValue)? {
        ContextValue::String(near) => Some(near.clone()),
        ContextValue::Strings(near) => near.first().cloned(),
        _ => None,
    }
}

/// The pager: ours before the system's before the default.
pub fn pager(settings: &Settings) -> String {
    let (ours, origin) = settings.get("pager");
    let theirs = std::env::var("PAGER").ok().filter(|_| *origin == Origin::Default);
    theirs.unwrap_or_else(|| ours.to_owned())
}
