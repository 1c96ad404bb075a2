//! mfa: administers a microfinance institution from the command line, and runs its daemon.
//!
//! | module | holds |
//! |---|---|
//! | `commands` | one file for each noun; under each verb's flags the function that carries it out |
//! | `tree` | what a verb is, and the tree of all verbs |
//! | `cx` | what a verb is given: settings, client, output, prompt, and the shapes that verbs share |
//! | `client` | the only one that speaks HTTP |
//! | `output`, `views` | formats, tables, talk on stderr; the columns of each noun |
//! | `input`, `prompt`, `settings` | files and flags; questions; where values come from |
//! | `failure` | why a command failed, and how the process ends |

mod client;
mod commands;
mod cx;
mod failure;
mod globals;
mod input;
mod output;
mod prompt;
mod settings;
mod trace;
mod tree;
mod usage;
mod views;

use crate::cx::Cx;
use crate::failure::{Failure, Outcome};
use crate::globals::{ChangeFlags, Colour, Format, Globals, ListFlags};
use crate::output::{Output, Screen};
use crate::prompt::Prompt;
use crate::settings::Settings;
use clap::{ArgMatches, FromArgMatches, ValueEnum};
use mfa_shared::fault::exit;
use std::process::ExitCode;
use std::time::Duration;

fn main() -> ExitCode {
    let words: Vec<_> = std::env::args_os().collect();
    let early = usage::early(&words);
    let screen = Screen::look(early.colour);
    let outcome = match tree::command(commands::NODES).color(early.clap_colour()).try_get_matches_from(words)
    {
        Ok(matches) => run(&matches, screen),
        Err(error) => usage::outcome(&error),
    };
    let code = match outcome {
        Ok(()) => exit::OK,
        Err(failure) if failure.exit == exit::OK => exit::OK,
        Err(failure) => {
            output::tell(&failure, early.structured, &screen);
            failure.exit
        }
    };
    // Exit codes are all below 256.
    ExitCode::from(u8::try_from(code).unwrap_or(1))
}

fn run(matches: &ArgMatches, screen: Screen) -> Outcome {
    let (leaf, flags) = tree::find(commands::NODES, matches);
    let globals = Globals::from_arg_matches(flags).map_err(|error| Failure::usage(error.to_string()))?;
    let cx = context(globals, flags, leaf, screen)?;
    for warning in &cx.settings.warnings {
        cx.out.warn(warning);
    }
    let mut builder = match leaf.serves {
        true => tokio::runtime::Builder::new_multi_thread(),
        false => tokio::runtime::Builder::new_current_thread(),
    };
    let runtime = builder.enable_all().build();
    let runtime = runtime.map_err(|error| Failure::local(format!("cannot start: {error}")))?;
    if !leaf.serves {
        leave_when_interrupted(cx.out.format.is_structured(), screen);
    }
    match runtime.block_on((leaf.run)(flags, &cx)) {
        Err(failure) if failure.missing.is_some() => {
            Err(runtime.block_on(commands::with_suggestion(&cx.client, failure)))
        }
        outcome => outcome,
    }
}

fn context(globals: Globals, flags: &ArgMatches, leaf: &tree::Leaf, screen: Screen) -> Outcome<Cx> {
    let word = |value: &str| value.to_owned();
    let on = |set: bool| set.then(|| word("true"));
    let name = |format: Option<Format>| format?.to_possible_value().map(|value| value.get_name().to_owned());
    let colour = |when: Option<Colour>| when?.to_possible_value().map(|value| value.get_name().to_owned());
    let given = [
        ("output", name(globals.output)),
        ("url", globals.url),
        ("yes", on(globals.yes)),
        ("no_input", on(globals.no_input)),
        ("quiet", on(globals.quiet)),
        ("color", colour(globals.color)),
        ("pager", globals.no_pager.then(String::new)),
        ("retries", globals.retries.map(|n| n.to_string())),
        ("timeout_seconds", globals.timeout_seconds.map(|n| n.to_string())),
    ];
    let given = given.into_iter().filter_map(|(name, value)| Some((name, value?))).collect();
    let settings = Settings::load(given)?;
    let (list, change) =
        (read::<ListFlags>(flags, leaf.lists())?, read::<ChangeFlags>(flags, leaf.changes())?);
    let timeout = Duration::from_secs(settings.parse::<u64>("timeout_seconds", None)?.max(1));
    let (retries, traced) = (settings.parse("retries", None)?, settings.get("debug").0 == "http");
    let mut client = client::Client::new(settings.get("url").0, retries, timeout, traced);
    client.verbose = globals.verbose;
    client.idempotency_key.clone_from(&change.idempotency_key);
    let prompt = Prompt { yes: settings.flag("yes", None)?, no_input: settings.flag("no_input", None)? };
    let out = Output {
        format: usage::format(&settings, screen)?,
        screen: if globals.color.is_some() { screen } else { Screen::look(usage::colour(&settings)?) },
        columns: globals.columns,
        no_header: globals.no_header,
        quiet: settings.flag("quiet", None)?,
        pager: usage::pager(&settings),
    };
    Ok(Cx { settings, client, out, prompt, list, change })
}

/// Reads flags that only some verbs have.
fn read<F: FromArgMatches + Default>(flags: &ArgMatches, has: bool) -> Outcome<F> {
    if !has {
        return Ok(F::default());
    }
    F::from_arg_matches(flags).map_err(|error| Failure::usage(error.to_string()))
}

/// Ends the process on Ctrl-C, also while it waits for an answer of somebody or writes to a full pipe.
fn leave_when_interrupted(structured: bool, screen: Screen) {
    std::thread::spawn(move || {
        let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_io().build() else { return };
        if runtime.block_on(async { tokio::signal::ctrl_c().await }).is_ok() {
            output::tell(&Failure::new("interrupted", exit::INTERRUPTED, "interrupted"), structured, &screen);
            std::process::exit(exit::INTERRUPTED);
        }
    });
}
