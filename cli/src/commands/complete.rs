//! What may be typed next. The scripts of the shells ask this, so they stay small and know identifiers.

use super::{NODES, identifiers};
use crate::cx::Cx;
use crate::failure::{Failure, Outcome};
use crate::tree::{self, Verb};
use crate::views;
use clap::{Arg, Args, Command};
use serde_json::{Value, json};
use std::time::Duration;

/// Longest wait for identifiers; a person is waiting for the key to do something.
const IDENTIFIERS_TIMEOUT: Duration = Duration::from_millis(300);

/// Arguments whose values are identifiers, and the noun that they name. The identifier of a record that is
/// about to be created has another name, because nothing is known of it.
const IDENTIFIER_ARGUMENTS: &[(&str, &str)] = &[
    ("office", "office"),
    ("parent", "office"),
    ("assigned_office", "office"),
    ("employee", "employee"),
    ("assigned_employee", "employee"),
    ("customer", "customer"),
    ("reference_customer", "customer"),
    ("user", "user"),
    ("role", "role"),
    ("group", "group"),
    ("groups", "group"),
    ("application", "application"),
    ("definition", "definition"),
    ("product", "definition"),
    ("account", "account"),
    ("expense_account", "account"),
    ("profile", "profile"),
    ("topic", "topic"),
    ("teller", "teller"),
];

#[derive(Args)]
pub struct Complete {
    /// The words after mfa; the last one is being typed
    #[arg(value_name = "WORD", trailing_var_arg = true, allow_hyphen_values = true)]
    words: Vec<String>,
}

impl Verb for Complete {
    const ABOUT: &'static str = "Tell what may be typed next";
    const EXAMPLES: &'static [&'static str] =
        &["mfa complete -- customers ''", "mfa complete -o json -- offices list --"];
    const HIDDEN: bool = true;
    async fn run(self, cx: &Cx) -> Outcome {
        let mut root = tree::command(NODES);
        root.build();
        let (typed, before) = match self.words.split_last() {
            Some((typed, before)) => (typed.as_str(), before),
            None => ("", &[][..]),
        };
        let mut found = candidates(cx, &root, before, typed).await;
        found.retain(|(value, _)| value.starts_with(typed));
        let record = |(value, help)| json!({ "value": value, "help": help });
        let records: Vec<Value> = found.into_iter().map(record).collect();
        cx.out.show(&views::CANDIDATE, &json!(records))
    }
}

/// Where a line stands: its command, how many positional words it has, and the flag that waits for a value.
struct Place<'a> {
    command: &'a Command,
    positionals: usize,
    waiting: Option<&'a Arg>,
}

fn follow<'a>(root: &'a Command, words: &[String]) -> Place<'a> {
    let mut place = Place { command: root, positionals: 0, waiting: None };
    for word in words {
        if place.waiting.take().is_some() {
            continue;
        }
        if word.starts_with('-') && word.len() > 1 {
            place.waiting = flag(place.command, word).filter(|flag| flag.get_action().takes_values());
        } else if let Some(deeper) = place.command.find_subcommand(word) {
            place.command = deeper;
        } else {
            place.positionals += 1;
        }
    }
    place
}

/// The flag that a word is; one that brings its value along waits for none.
fn flag<'a>(command: &'a Command, word: &str) -> Option<&'a Arg> {
    command.get_arguments().find(|arg| match word.strip_prefix("--") {
        Some(long) => arg.get_long() == Some(long),
        None => arg.get_short().is_some_and(|short| word == format!("-{short}")),
    })
}

async fn candidates(cx: &Cx, root: &Command, before: &[String], typed: &str) -> Vec<(String, String)> {
    let place = follow(root, before);
    if let Some(flag) = place.waiting {
        return values(cx, flag, typed).await;
    }
    if typed.starts_with('-') {
        let shown = place.command.get_arguments().filter(|arg| !arg.is_hide_set());
        let flag = |arg: &Arg| Some((format!("--{}", arg.get_long()?), first_line(arg.get_help())));
        return shown.filter_map(flag).collect();
    }
    let subcommands = place.command.get_subcommands().filter(|command| !command.is_hide_set());
    let mut found: Vec<_> =
        subcommands.map(|command| (command.get_name().to_owned(), first_line(command.get_about()))).collect();
    if let Some(positional) = place.command.get_positionals().nth(place.positionals) {
        found.extend(values(cx, positional, typed).await);
    }
    found
}

async fn values(cx: &Cx, arg: &Arg, typed: &str) -> Vec<(String, String)> {
    let possible = arg.get_possible_values();
    if !possible.is_empty() {
        let value =
            |value: clap::builder::PossibleValue| (value.get_name().to_owned(), first_line(value.get_help()));
        return possible.into_iter().map(value).collect();
    }
    let Some((_, noun)) = IDENTIFIER_ARGUMENTS.iter().find(|(id, _)| arg.get_id() == id) else {
        return Vec::new();
    };
    let client = cx.client.hasty(IDENTIFIERS_TIMEOUT);
    let office = cx.settings.get("office").0;
    // The office is that of the machine; one that a flag names is not looked for.
    let known = identifiers(&client, noun, office, typed);
    let asked = tokio::time::timeout(IDENTIFIERS_TIMEOUT, known).await;
    asked.unwrap_or_default().into_iter().map(|identifier| (identifier, String::new())).collect()
}

fn first_line(text: Option<&clap::builder::StyledStr>) -> String {
    text.map(|text| text.to_string().lines().next().unwrap_or_default().to_owned()).unwrap_or_default()
}

/// The shells, the file names under which each looks for scripts, and the scripts.
pub const SCRIPTS: &[(&str, &str, &str)] = &[
    ("bash", "mfa.bash", BASH),
    ("zsh", "_mfa", ZSH),
    ("fish", "mfa.fish", FISH),
    ("powershell", "_mfa.ps1", POWERSHELL),
];

const BASH: &str = r#"# Completion of mfa for bash: source this file, or put it into bash-completion's folder.
_mfa() {
    local line words=("${COMP_WORDS[@]:1:COMP_CWORD}")
    COMPREPLY=()
    while IFS= read -r line; do
        COMPREPLY+=("$(printf '%q' "$line")")
    done < <(mfa complete -q -o id -- "${words[@]}" 2>/dev/null)
}
complete -o default -F _mfa mfa
"#;

const ZSH: &str = r#"#compdef mfa
# Completion of mfa for zsh: put this file into a folder of $fpath.
_mfa() {
    local line value help
    local -a described
    while IFS= read -r line; do
        value=${line%%$'\t'*}
        help=${line#*$'\t'}
        described+=("${value//:/\\:}${help:+:$help}")
    done < <(mfa complete -q -o tsv --no-header -- "${(@)words[2,CURRENT]}" 2>/dev/null)
    if (( $#described )); then
        _describe mfa described
    else
        _files
    fi
}
if [ "$funcstack[1]" = _mfa ]; then
    _mfa "$@"
else
    compdef _mfa mfa
fi
"#;

const FISH: &str = r#"# Completion of mfa for fish: put this file into ~/.config/fish/completions.
function __mfa_complete
    set -l words (commandline -opc)[2..] (commandline -ct)
    set -l found (mfa complete -q -o tsv --no-header -- $words 2>/dev/null)
    if test (count $found) -gt 0
        printf '%s\n' $found
    else
        __fish_complete_path (commandline -ct)
    end
end
complete -c mfa -f -a '(__mfa_complete)'
"#;

const POWERSHELL: &str = r#"# Completion of mfa for PowerShell: run this file from $PROFILE.
Register-ArgumentCompleter -Native -CommandName mfa -ScriptBlock {
    param($word, $line, $position)
    $words = @($line.CommandElements | Select-Object -Skip 1 | ForEach-Object { $_.ToString() })
    if ($word -eq '') { $words += '' }
    mfa complete -q -o tsv --no-header -- @words 2>$null | ForEach-Object {
        $value, $help = $_ -split "`t", 2
        if (-not $help) { $help = $value }
        [System.Management.Automation.CompletionResult]::new($value, $value, 'ParameterValue', $help)
    }
}
"#;

/// The script of a shell.
pub fn script(shell: &str) -> Outcome<&'static str> {
    let found = SCRIPTS.iter().find(|(name, ..)| *name == shell);
    found.map(|(.., script)| *script).ok_or_else(|| Failure::usage(format!("{shell} is not known")))
}
