//! mfa: administers a microfinance institution from the command line, and runs its daemon.
//!
//! Rooms, each of which names only those below it:
//!
//! | room | holds |
//! |---|---|
//! | `lib` | from the words of a call to its exit code; `main` is the program itself |
//! | `tree` | the tree of all commands, and what reads it: clap, help, completions, man pages |
//! | `verbs` | what is the same for all nouns: verbs made from their records, commands that go through them |
//! | `nouns` | one file for each noun: its record, and under it its flags and special verbs; `NOUNS` |
//! | `machine` | the daemon and its machine: settings, logins, backups, the store itself |
//! | `paper` | statements, reports and receipts as text, HTML and PDF |
//! | `command` | what a command is: what it is given, what a verb and a noun are, shapes that verbs share |
//! | `client` | requests, logins, keys, the clock of the daemon; the only room that speaks HTTP |
//! | `input` | files, flags and questions: what comes in |
//! | `output` | formats, tables, columns of each kind of record, pictures; `chart` draws plots |
//! | `settings` | where values come from: flags, variables, files, profiles |
//! | `failure` | why a command failed, and how the process ends; `words`, `moment`, `random` |

mod chart;
mod client;
mod command;
mod failure;
mod input;
mod machine;
mod moment;
mod nouns;
mod output;
mod paper;
mod random;
mod settings;
mod tree;
mod verbs;
mod words;

use crate::command::cx::Cx;
use crate::command::flags::read;
use crate::command::globals::{self, ChangeFlags, Globals, ListFlags};
use crate::command::verb::Leaf;
use crate::failure::{Failure, Outcome, next_step};
use crate::input::prompt::{self, Interrupts, Prompt};
use crate::machine::signals::Endings;
use crate::machine::{log, privacy};
use crate::output::{
    ByKey, Carried, Clock, Colour, Expression, Format, Lent, Output, Screen, called, talk, views,
};
use crate::settings::Settings;
use crate::tree::usage;
use crate::verbs::{asks, suggest};
use crate::words::quoted;
use clap::{ArgMatches, ValueEnum};
use mfa_shared::fault::exit;
use std::collections::HashMap;
use std::io;
use std::num::NonZero;
use std::process::ExitCode;
use std::rc::Rc;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;
use tokio::runtime::{Builder, Runtime};

/// Most dangling references that are named one by one.
const DANGLING_MAX: usize = 20;
/// Most new customers who may exist already that are named one by one.
const DUPLICATES_MAX: usize = 20;
/// Most dangling references for which a near identifier is looked for.
const SUGGESTED_MAX: usize = 3;

/// Runs the program with the words of its call.
pub fn main() -> ExitCode {
    privacy::close();
    let words: Vec<_> = std::env::args_os().collect();
    called::know(tree::called_by());
    let early = usage::early(&words);
    let screen = Screen::look(early.colour);
    let parsed = tree::command().color(early.clap_colour()).try_get_matches_from(words);
    let outcome = match &parsed {
        Ok(matches) => run(matches, screen, early.carried.clone()),
        Err(error) => usage::outcome(error, &early.path, &screen),
    };
    // Requests that were cut off have their lines, too.
    log::end();
    let code = match outcome {
        Ok(()) => exit::OK,
        Err(failure) if failure.exit == exit::OK => exit::OK,
        Err(failure) => {
            let (exit, found) = (failure.exit, failure.found);
            if !found {
                let failure = usage::naming_flags(failure, &early.path);
                let hint = early.carried.put_in(&failure.hint);
                let format = parsed.ok().and_then(|matches| format(&matches, screen));
                let structured = format.map_or(early.structured, Format::is_structured);
                output::show_failure(&failure.hint(hint), structured, &screen);
            }
            exit
        }
    };
    talk::release();
    // Exit codes are all below 256.
    ExitCode::from(u8::try_from(code).unwrap_or(1))
}

/// The format that a call asks for.
fn format(matches: &ArgMatches, screen: Screen) -> Option<Format> {
    let (_, flags) = tree::find(tree::nodes(), matches);
    let globals = read::<Globals>(flags).ok()?;
    Format::of(&Settings::load(given(&globals)), screen.stdout_is_terminal).ok()
}

fn run(matches: &ArgMatches, screen: Screen, carried: Carried) -> Outcome {
    let (leaf, flags) = tree::find(tree::nodes(), matches);
    let globals = read::<Globals>(flags)?;
    let cx = context(globals, flags, leaf, screen, carried)?;
    // At a terminal what is said may belong to a question.
    if cx.out.format.is_structured() && !screen.stderr_is_terminal {
        talk::hold();
    }
    for warning in &cx.settings.warnings {
        cx.out.warn(warning);
    }
    let runtime = runtime(leaf.serves || leaf.bulk)?;
    if !leaf.serves && !leaf.bulk {
        leave_when_interrupted(&cx);
    }
    let outcome = runtime.block_on(leaf.run(flags, &cx));
    runtime.block_on(warn_of_dangling(&cx));
    warn_of_duplicates(&cx);
    match outcome {
        Err(failure) => match &failure.dry_run {
            Some(would) => cx.out.show(&views::DRY_RUN, would),
            None => {
                let office = cx.settings.get("office").0;
                let hint = next_step::at_office(&failure.hint, office);
                let failure = cx.client.done_unseen(failure.hint(hint));
                Err(runtime.block_on(suggest::with_suggestion(&cx.client, office, failure)))
            }
        },
        Ok(()) => Ok(()),
    }
}

/// What runs a command, with threads of its own where it does many things at once.
fn runtime(with_threads: bool) -> Outcome<Runtime> {
    let built = if with_threads {
        threads_start().and_then(|()| Builder::new_multi_thread().enable_all().build())
    } else {
        Builder::new_current_thread().enable_all().build()
    };
    built.map_err(|error| {
        Failure::local(format!("the system starts no more threads for this user: {error}"))
            .hint("raise the limit of processes (ulimit -u; TasksMax of the service), then start again")
    })
}

/// Checks that as many threads start as a runtime has, because it panics if they do not.
fn threads_start() -> io::Result<()> {
    let count = thread::available_parallelism().map_or(1, NonZero::get);
    let started: Vec<_> = (0..count)
        .map(|_| {
            let (end, ended) = mpsc::channel::<()>();
            let wait = move || {
                let _ = ended.recv();
            };
            thread::Builder::new().spawn(wait).map(|thread| (end, thread))
        })
        .collect();
    for thread in started {
        let (end, thread) = thread?;
        drop(end);
        let _ = thread.join();
    }
    Ok(())
}

/// Warns of new customers who may exist already.
fn warn_of_duplicates(cx: &Cx) {
    let duplicates = cx.client.take_duplicates();
    for new in duplicates.iter().take(DUPLICATES_MAX) {
        let customer = &new.customer;
        let others = new.others.join(", ");
        cx.out.warn(&format!(
            "customer {customer} may be the same person as {others}; compare them: mfa customers get {}",
            quoted(&new.others[0])
        ));
    }
    if duplicates.len() > DUPLICATES_MAX {
        cx.out.warn(&format!(
            "{} more customers may have been there already",
            duplicates.len() - DUPLICATES_MAX
        ));
    }
}

/// Warns of the dangling references that the changes of a command have left; what many records have in common
/// is reported once.
async fn warn_of_dangling(cx: &Cx) {
    let mut dangling_fields = Vec::new();
    let mut times = HashMap::new();
    for dangling in cx.client.take_dangling() {
        let times = times.entry(dangling.clone()).or_insert(0_u64);
        *times += 1;
        if *times == 1 {
            dangling_fields.push(dangling);
        }
    }
    // Lists are looked into only for a person.
    let suggests =
        cx.out.screen.stderr_is_terminal && !cx.out.quiet && dangling_fields.len() <= SUGGESTED_MAX;
    for dangling in dangling_fields.iter().take(DANGLING_MAX) {
        let mut line = dangling.to_string();
        if let Some(several) = times.get(dangling).filter(|times| **times > 1) {
            line += &format!(", {several} times");
        }
        if suggests && let Some(near) = suggest::instead_of(&cx.client, dangling).await {
            line += &format!("; did you mean {near}?");
        }
        cx.out.warn(&line);
    }
    if dangling_fields.len() > DANGLING_MAX {
        cx.out
            .warn(&format!("{} more fields name what does not exist", dangling_fields.len() - DANGLING_MAX));
    }
    if !dangling_fields.is_empty() {
        cx.out
            .tip("make what they name, or see all of them on the machine of the store: mfa check references");
    }
}

fn context(
    globals: Globals,
    flags: &ArgMatches,
    leaf: &Leaf,
    screen: Screen,
    carried: Carried,
) -> Outcome<Cx> {
    let mut settings = Settings::load(given(&globals));
    // Commands that mend the settings still run.
    if !leaf.needs_settings {
        put_right(&mut settings);
    } else if let Some(failure) = settings.faults.first().or(settings.bad_profile.as_ref()) {
        return Err(failure.clone());
    }
    if !leaf.finds_faults {
        let faults = settings.faults.iter().chain(&settings.bad_profile);
        settings.warnings.extend(faults.map(|fault| fault.message.clone()));
    }
    // Only some verbs have these flags.
    let list = if leaf.lists() { read(flags)? } else { ListFlags::default() };
    let change = if leaf.changes() { read(flags)? } else { ChangeFlags::default() };
    let timeout = Duration::from_secs(settings.parse::<u64>("timeout_seconds", None)?.max(1));
    let retries = settings.parse("retries", None)?;
    let traced = settings.get("debug").0 == "http";
    let mut client = client::Client::new(settings.get("url").0, retries, timeout, traced);
    client.verbose = globals.verbose;
    client.curl = globals.print_curl.then(|| carried.put_in("mfa auth token"));
    if leaf.changes() {
        client.keys = client::idempotency::Keys::of(change.idempotency_key.as_deref());
    }
    client.token = given_token(&settings)?;
    client.empty_token = empty_token(&settings);
    client.profile = settings.profile().unwrap_or_default().to_owned();
    client.insecure = settings.flag("insecure", None)?;
    client.trust = client::Trust::of(&settings)?;
    client.dry_run = change.dry_run;
    let prompt = Prompt {
        // A dry run needs no confirmation.
        yes: change.dry_run || settings.flag("yes", None)?,
        no_input: settings.flag("no_input", None)?,
        place: match settings.profile() {
            Some(profile) => format!("at {} (profile {profile})", client.url),
            None => format!("at {}", client.url),
        },
        protected: settings.protected && !change.dry_run,
        confirmed: globals.confirm,
        interrupts: Interrupts::default(),
    };
    if leaf.changes() {
        client.references = asks::about(change.existing_only, &prompt);
    }
    let out = Output {
        format: Format::of(&settings, screen.stdout_is_terminal)?,
        format_asked: settings.get("output").0 != "auto",
        screen: if globals.color.is_some() { screen } else { Screen::look(Colour::of(&settings)?) },
        columns: globals.columns,
        jq: globals.jq.as_deref().map(Expression::parse).transpose()?.map(Rc::new),
        no_header: globals.no_header,
        quiet: settings.flag("quiet", None)?,
        pager: usage::pager(&settings),
        clock: Clock::of(&settings)?,
        carried,
    };
    Ok(Cx { settings, client, out, prompt, list, change })
}

/// The settings that the flags give.
fn given(globals: &Globals) -> Vec<(&'static str, String)> {
    let on = |set: bool| set.then(|| "true".to_owned());
    let given = [
        ("output", globals.output.and_then(word)),
        ("url", globals.url.clone()),
        ("insecure", on(globals.insecure)),
        ("ca_file", globals.ca_file.clone()),
        ("profile", globals.profile.clone()),
        ("yes", on(globals.yes)),
        ("no_input", on(globals.no_input)),
        ("quiet", on(globals.quiet)),
        ("color", globals.color.and_then(word)),
        ("pager", globals.no_pager.then(String::new)),
        ("time_zone", globals.utc.then(|| "UTC".to_owned())),
        ("retries", globals.retries.map(|n| n.to_string())),
        ("timeout_seconds", globals.timeout_seconds.map(|n| n.to_string())),
    ];
    given.into_iter().filter_map(|(name, value)| Some((name, value?))).collect()
}

/// Ignores global settings that cannot be read.
fn put_right(settings: &mut Settings) {
    for (name, read) in globals::checked(settings) {
        settings.put_right(name, read);
    }
    settings.put_right("token_file", given_token(settings).map(drop));
}

/// The word by which a value is chosen on the command line.
fn word(value: impl ValueEnum) -> Option<String> {
    Some(value.to_possible_value()?.get_name().to_owned())
}

/// An access token of the environment.
fn given_token(settings: &Settings) -> Outcome<Option<String>> {
    match settings.get("token").0 {
        "" => input::token_file(settings.get("token_file").0),
        token => Ok(Some(token.to_owned())),
    }
}

/// The variable of a token that is set and empty. Who sets one means a token, and not who has logged in last.
fn empty_token(settings: &Settings) -> Option<String> {
    let given = ["token", "token_file"].map(|name| settings.get(name));
    let is_given = given.iter().any(|(value, _)| !value.is_empty());
    let variable = given.into_iter().find_map(|(_, origin)| origin.variable());
    variable.filter(|_| !is_given).map(str::to_owned)
}

/// Ends the process on Ctrl-C, SIGTERM or SIGHUP, even while it waits for an answer from the user or writes
/// to a full pipe; what has something to take back receives the signal instead, and so does a pager or an
/// editor.
fn leave_when_interrupted(cx: &Cx) {
    let (structured, screen) = (cx.out.format.is_structured(), cx.out.screen);
    let (interrupts, client) = (cx.prompt.interrupts.clone(), cx.client.clone());
    let (listens, listening) = mpsc::channel::<()>();
    thread::spawn(move || {
        let Ok(runtime) = Builder::new_current_thread().enable_io().build() else { return };
        let ended = runtime.block_on(async {
            let mut endings = Endings::listen().ok()?;
            // From here on signals are handled, and the work may begin.
            let _ = listens.send(());
            loop {
                let exit = endings.next().await;
                if exit == exit::INTERRUPTED && Lent::is_there() {
                    continue;
                }
                if exit == exit::INTERRUPTED && screen.stderr_is_terminal {
                    // The terminal has just shown ^C in the present line.
                    eprintln!();
                }
                if !interrupts.are_taken(exit) {
                    return Some(exit);
                }
            }
        });
        let Some(exit) = ended else { return };
        ByKey::put_back();
        // Who ends a command from outside knows it, but the reader of its JSON need not.
        if exit == exit::INTERRUPTED || structured || client.may_have_changed() {
            let failure = client.ended(prompt::interrupted("interrupted").exit(exit));
            output::show_failure(&failure, structured, &screen);
        }
        talk::release();
        std::process::exit(exit);
    });
    // A thread that ended early drops its end, which also ends the wait.
    let _ = listening.recv();
}
