//! Flags that every command takes, before or after the verb.

use crate::client::Trust;
use crate::failure::Outcome;
use crate::output::{Clock, Colour, Format};
use crate::settings::Settings;
use clap::Args;

/// The global flags. Each has a variable and a setting of the same name; `settings/layers.rs` decides
/// between them.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Global options")]
pub struct Globals {
    /// Format of the output; a table on a terminal, tsv elsewhere [env: MFA_OUTPUT]
    #[arg(short, long, global = true, value_name = "FORMAT", hide_possible_values = true)]
    #[arg(help = "table, wide, json, jsonl, yaml, csv, tsv or id [env: MFA_OUTPUT]")]
    pub output: Option<Format>,
    /// Columns to show, in this order
    #[arg(long, global = true, value_name = "NAME,...", value_delimiter = ',')]
    pub columns: Vec<String>,
    /// jq expression that turns the records into the output, such as '.[].identifier'
    #[arg(long, global = true, value_name = "EXPRESSION", conflicts_with = "columns")]
    pub jq: Option<String>,
    /// Leave out the line of column names
    #[arg(long, global = true)]
    pub no_header: bool,
    /// Address of the daemon [env: MFA_URL]
    #[arg(long, global = true, value_name = "URL")]
    pub url: Option<String>,
    /// Send passwords and tokens over plain HTTP to another machine, too [env: MFA_INSECURE]
    #[arg(long, global = true)]
    pub insecure: bool,
    /// File of certificate authorities that are trusted beside those of this machine [env: MFA_CA_FILE]
    #[arg(long, global = true, value_name = "FILE")]
    pub ca_file: Option<String>,
    /// Profile whose settings and logins are used [env: MFA_PROFILE]
    #[arg(long, global = true, value_name = "NAME")]
    pub profile: Option<String>,
    /// Answer yes to every confirmation [env: MFA_YES]
    #[arg(short, long, global = true)]
    pub yes: bool,
    /// Identifier of what may be destroyed, in place of typing it when asked
    #[arg(long, global = true, value_name = "ID")]
    pub confirm: Option<String>,
    /// Never ask; fail instead [env: MFA_NO_INPUT]
    #[arg(long, global = true)]
    pub no_input: bool,
    /// Say less [env: MFA_QUIET]
    #[arg(short, long, global = true)]
    pub quiet: bool,
    /// Say more
    #[arg(short, long, global = true, conflicts_with = "quiet")]
    pub verbose: bool,
    /// auto, always or never [env: MFA_COLOR]
    #[arg(long, global = true, value_name = "WHEN", hide_possible_values = true)]
    pub color: Option<Colour>,
    /// Show times in UTC, not in the time zone of this machine [env: MFA_TIME_ZONE=UTC]
    #[arg(long, global = true)]
    pub utc: bool,
    /// Never start a pager [env: MFA_PAGER, empty for none]
    #[arg(long, global = true)]
    pub no_pager: bool,
    /// Print on stderr the lines of curl that send the same requests
    #[arg(long, global = true)]
    pub print_curl: bool,
    /// How often a request is repeated that found no daemon or a fault of it [env: MFA_RETRIES]
    #[arg(long, global = true, value_name = "NUMBER")]
    pub retries: Option<u32>,
    /// Longest wait for one answer [env: MFA_TIMEOUT_SECONDS]
    #[arg(long, global = true, value_name = "SECONDS")]
    pub timeout_seconds: Option<u64>,
}

/// Whether each setting that every command needs can be read.
pub fn checked(settings: &Settings) -> Vec<(&'static str, Outcome)> {
    let number = |name| (name, settings.parse::<u32>(name, None).map(drop));
    let flag = |name| (name, settings.flag(name, None).map(drop));
    let identity = Trust::of(settings).map(drop);
    vec![
        number("timeout_seconds"),
        number("retries"),
        flag("yes"),
        flag("no_input"),
        flag("quiet"),
        flag("insecure"),
        ("output", Format::of(settings, true).map(drop)),
        ("color", Colour::of(settings).map(drop)),
        ("time_zone", Clock::of(settings).map(drop)),
        ("client_cert", identity.clone()),
        ("client_key", identity),
    ]
}

/// Flags of commands that change something.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Change options")]
pub struct ChangeFlags {
    /// Only try it: the daemon makes the change, takes it back and reports the result
    #[arg(long)]
    pub dry_run: bool,
    /// Refuse a change that names a record which does not exist; without it you are asked on a terminal,
    /// and elsewhere or with --yes it is made with a warning
    #[arg(long)]
    pub existing_only: bool,
    /// Do not read the record back and print it
    #[arg(long)]
    pub no_read: bool,
    /// Key by which the daemon knows a repeated request; a new one by default
    #[arg(long, value_name = "KEY")]
    pub idempotency_key: Option<String>,
}

/// Flags of paged lists.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "List options")]
pub struct ListFlags {
    /// Only records that contain this text
    #[arg(long, value_name = "TEXT")]
    pub term: Option<String>,
    /// Columns to sort by; a minus sign puts the highest first
    #[arg(long, value_name = "[-]NAME,...", value_delimiter = ',', allow_hyphen_values = true)]
    pub sort: Vec<String>,
    /// Only records whose property has this value; with several flags, those for which all hold
    #[arg(long, value_name = "NAME=VALUE", value_parser = name_and_value)]
    pub filter: Vec<(String, String)>,
    /// Most records to list; 50 on a terminal, else all
    #[arg(short = 'n', long, value_name = "NUMBER", conflicts_with = "all")]
    pub limit: Option<u64>,
    /// List all records
    #[arg(long)]
    pub all: bool,
}

fn name_and_value(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').ok_or("it has no =, as in state=ACTIVE")?;
    Ok((name.trim().to_owned(), value.to_owned()))
}
