//! What describes the commands: completions, man pages, the list of every command.

use super::complete::{SCRIPTS, script};
use super::topics::{self, TOPICS, Topic};
use super::{command, nodes, troubleshooting};
use crate::command::cx::Cx;
use crate::command::verb::{Leaf, Verb};
use crate::failure::{Failure, Outcome, codes};
use crate::machine::service;
use crate::output::called::{self, spoken};
use crate::output::views;
use crate::settings::{self, files::unwritable};
use crate::tree;
use clap::{Args, Command};
use mfa_shared::api::roles::Operation;
use mfa_shared::endpoint::{Meta, Method};
use mfa_shared::fault::exit;
use serde_json::{Value, json};
use std::fs;
use std::path::Path;

#[derive(Args)]
pub struct Completions {
    /// bash, zsh, fish or powershell
    #[arg(value_name = "SHELL", value_parser = ["bash", "zsh", "fish", "powershell"])]
    shell: String,
}

impl Verb for Completions {
    const ABOUT: &'static str = "Print the script that completes commands in a shell";
    const EXAMPLES: &'static [&'static str] =
        &["mfa completions bash > mfa.bash", "mfa completions zsh > _mfa"];
    async fn run(self, cx: &Cx) -> Outcome {
        cx.out.document("script", script(&self.shell)?)
    }
}

#[derive(Args)]
pub struct Commands {}

impl Verb for Commands {
    const ABOUT: &'static str =
        "List every command with its endpoint, permission, flags, examples and exit codes";
    const EXAMPLES: &'static [&'static str] = &["mfa commands", "mfa commands -o json"];
    async fn run(self, cx: &Cx) -> Outcome {
        let mut root = command();
        root.build();
        let records =
            tree::leaves(nodes()).into_iter().map(|(path, leaf)| describe(&root, &path, leaf)).collect();
        cx.out.show(&views::COMMAND, &Value::Array(records))
    }
}

fn describe(root: &Command, path: &[&str], leaf: &Leaf) -> Value {
    let command = tree::descend(root, path).unwrap_or(root);
    let flag = |arg: &clap::Arg| {
        let value = arg.get_value_names().filter(|_| arg.get_action().takes_values());
        let value = value.and_then(|names| names.first()).map(ToString::to_string);
        json!({
            "name": arg.get_long().map_or_else(|| arg.get_id().to_string(), |long| format!("--{long}")),
            "short": arg.get_short(),
            "value": value,
            "required": arg.is_required_set(),
            "global": arg.is_global_set(),
            "help": arg.get_help().map(|help| spoken(&help.to_string())),
        })
    };
    // The flags that every command takes are hidden in its own help.
    let shown = |arg: &&clap::Arg| arg.is_global_set() || !arg.is_hide_set();
    let meta = leaf.endpoint;
    json!({
        "command": format!("{} {}", called::name(), path.join(" ")),
        "path": path,
        "about": command.get_about().map(|about| spoken(&about.to_string())),
        "hidden": leaf.hidden,
        "endpoint": meta.map(|meta| meta.name),
        "method": meta.map(|meta| meta.method.as_str()),
        "route": meta.map(|meta| meta.path),
        "permission": meta.and_then(permission),
        "flags": command.get_arguments().filter(shown).map(flag).collect::<Vec<_>>(),
        "examples": leaf.examples.iter().map(|line| spoken(line)).collect::<Vec<_>>(),
        "exitCodes": exit_codes(leaf),
        "man": format!("mfa-{}.1", path.join("-")),
    })
}

/// What a role must allow for the endpoint: the operation, and the path that a permittable group must hold.
fn permission(meta: &Meta) -> Option<String> {
    let operation = match meta.method {
        Method::Get => Operation::Read,
        Method::Post | Method::Put => Operation::Change,
        Method::Delete => Operation::Delete,
    };
    (!meta.is_public()).then(|| format!("{operation} {}{}", meta.application(), meta.path))
}

/// The exit codes that a command can end with.
fn exit_codes(leaf: &Leaf) -> Vec<i32> {
    let mut codes = vec![exit::OK, exit::FAILURE, exit::USAGE];
    if let Some(meta) = leaf.endpoint {
        if meta.path.contains('{') {
            codes.push(exit::NOT_FOUND);
        }
        codes.extend([exit::NOT_LOGGED_IN, exit::FORBIDDEN]);
        if !meta.method.reads() {
            codes.push(exit::CONFLICT);
        }
        codes.extend([exit::INVALID, exit::UNREACHABLE]);
    }
    if leaf.bulk {
        codes.extend([exit::NOT_LOGGED_IN, exit::FORBIDDEN, exit::CONFLICT]);
        codes.extend([exit::BULK_FAILURES, exit::UNREACHABLE]);
    }
    codes.extend(leaf.exits);
    if leaf.serves {
        codes.push(exit::LOCKED);
    }
    codes.push(exit::INTERRUPTED);
    codes.sort_unstable();
    codes.dedup();
    codes
}

#[derive(Args)]
pub struct Docs {
    /// Folder that holds man/, completions/, docs/ and package/
    #[arg(long, value_name = "DIR", default_value = ".")]
    out: String,
    /// Change nothing; fail if a file would be written differently
    #[arg(long)]
    check: bool,
}

impl Verb for Docs {
    const ABOUT: &'static str = "Write every file of the source tree that is made from the commands";
    const EXAMPLES: &'static [&'static str] = &["mfa docs --out .", "mfa docs --out . --check"];
    const HIDDEN: bool = true;
    async fn run(self, cx: &Cx) -> Outcome {
        let out = Path::new(&self.out);
        let mut stale = Vec::new();
        let files = files()?;
        for (name, text) in &files {
            let path = out.join(name);
            if fs::read_to_string(&path).is_ok_and(|present| present == *text) {
                continue;
            }
            stale.push(json!({ "file": name }));
            if !self.check {
                write(&path, text)?;
            }
        }
        for name in left_over(out, &files) {
            stale.push(json!({ "file": name }));
            if !self.check {
                let _ = fs::remove_file(out.join(&name));
            }
        }
        let count = stale.len();
        cx.out.show(&views::FILE, &Value::Array(stale))?;
        if self.check && count > 0 {
            let what = format!("{count} files are out of date");
            return Err(Failure::new(codes::STALE, what).hint("write them: mfa docs --out ."));
        }
        Ok(())
    }
}

fn write(path: &Path, text: &str) -> Outcome {
    let folder = path.parent().unwrap_or(Path::new("."));
    let written = fs::create_dir_all(folder).and_then(|()| fs::write(path, text));
    written.map_err(unwritable(path))
}

/// Every generated file, by its name below the source tree.
fn files() -> Outcome<Vec<(String, String)>> {
    let mut files = Vec::new();
    for (_, name, script) in SCRIPTS {
        files.push((format!("completions/{name}"), (*script).to_owned()));
    }
    files.push(("package/mfa.service".to_owned(), service::of_package()?));
    files.push(("package/config.toml".to_owned(), settings::example()));
    let mut root = command();
    root.build();
    let whole = root.clone().mut_args(|arg| arg.hide(false));
    let page = man(&whole, "mfa", &[])? + &verbatim("HELP TOPICS", &topics::listed());
    files.push(("man/mfa.1".to_owned(), page));
    files.push((troubleshooting::FILE.to_owned(), troubleshooting::guide()));
    for (path, leaf) in tree::leaves(nodes()) {
        if leaf.hidden {
            continue;
        }
        let name = format!("mfa-{}", path.join("-"));
        let command = tree::descend(&root, &path).unwrap_or(&root);
        let mut page = man(command, &name, leaf.examples)?;
        if let Some(text) = TOPICS.iter().find(|topic| path == [topic.name]).and_then(Topic::text) {
            page.push_str(&verbatim("DESCRIPTION OF THE FILES", &text));
        }
        page.push_str(".SH SEE ALSO\n\\fBmfa\\fR(1), which has the flags of every command\n");
        files.push((format!("man/{name}.1"), page));
    }
    Ok(files)
}

fn man(command: &Command, name: &str, examples: &[&str]) -> Outcome<String> {
    // The section that clap calls EXTRA is what follows the help; here it holds the examples.
    let examples: String = examples.iter().map(|line| format!("{line}\n\n")).collect();
    let command = command.clone().before_help(None::<&str>).after_help(examples);
    let page = clap_mangen::Man::new(command).title(name.to_uppercase()).source("mfa");
    let mut bytes = Vec::new();
    page.render(&mut bytes)?;
    let text = String::from_utf8_lossy(&bytes).replace(".SH EXTRA", ".SH EXAMPLES");
    Ok(text)
}

/// Lines as a section of a man page that keeps them verbatim.
fn verbatim(title: &str, text: &str) -> String {
    // A dot or an apostrophe would begin a request; the backslash would begin an escape.
    let line =
        |line: &str| if line.starts_with(['.', '\'']) { format!("\\&{line}\n") } else { format!("{line}\n") };
    let lines: String = text.replace('\\', "\\e").replace('-', "\\-").lines().map(line).collect();
    format!(".SH {title}\n.nf\n{lines}.fi\n")
}

/// Files of commands that are gone.
fn left_over(out: &Path, files: &[(String, String)]) -> Vec<String> {
    let mut found = Vec::new();
    for folder in ["man", "completions"] {
        let entries = fs::read_dir(out.join(folder)).into_iter().flatten().flatten();
        for entry in entries {
            let name = entry.file_name().to_string_lossy().into_owned();
            let full = format!("{folder}/{name}");
            if !name.starts_with('.') && !files.iter().any(|(file, _)| *file == full) {
                found.push(full);
            }
        }
    }
    found
}
