//! `mfa doctor`: whether this machine is in order, and if not, how to repair it. Works with the daemon down.

mod database;
mod reach;
mod store;

use super::daemon::look::HeldBack;
use super::daemon::{DaemonFlags, look};
use crate::client::logins;
use crate::command::cx::Cx;
use crate::command::verb::Verb;
use crate::failure::{Failure, Outcome, codes};
use crate::moment;
use crate::output::called::spoken;
use crate::output::views;
use crate::settings::{config_files, missing_config, state_dir};
use crate::words::quoted_path;
use clap::Args;
use mfa_shared::api::audit::{AuditQuery, ListAudit};
use mfa_shared::api::system::{GetReady, GetVersion, INTERFACE_VERSION};
use mfa_shared::api::tokens::GetCurrentToken;
use mfa_shared::fault::exit;
use mfa_shared::wire::{Nothing, Query};
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::time::Duration;

/// Longest wait for each answer of the daemon.
const ANSWER_SECONDS_MAX: u64 = 3;
/// Most seconds between the clocks of client and daemon: signed assertions tolerate little more.
const CLOCK_SECONDS_WARN: i64 = 5;
const CLOCK_SECONDS_FAIL: i64 = 60;

#[derive(Args)]
pub struct Doctor {
    /// Folder of the store [env: MFA_DATA_DIR]
    #[arg(long, value_name = "DIR")]
    data_dir: Option<String>,
}

enum Finding {
    Fine(String),
    /// The finding, and the command that repairs it.
    Warning(String, String),
    Failure(String, String),
}

use Finding::{Fine, Warning};

/// What the checks look at: this machine, and the answers of the daemon.
struct Seen<'a> {
    cx: &'a Cx,
    flags: DaemonFlags,
    folder: PathBuf,
    /// Whether the store is that folder, and no database.
    on_machine: bool,
    /// What holds a store in PostgreSQL back; nothing where it is a folder.
    database: Option<Result<Option<HeldBack>, String>>,
    url: String,
    ready: Result<(), Failure>,
    /// What the daemon says of itself, of its clock and of the caller; nothing where it does not answer.
    answers: Option<Answers>,
}

struct Answers {
    about: Outcome<Value>,
    daemon_seconds: Option<i64>,
    caller: Outcome<Value>,
    /// The oldest record of the audit trail, as a page; nothing where no setting asks for its age.
    oldest: Option<Outcome<Value>>,
}

/// What to do where the daemon's own user sees more.
const AS_DAEMON: &str = "look again as the user of the daemon, such as: sudo -u mfa -H mfa doctor";

/// Whether something could not be read only because it belongs to another user.
fn is_hidden<T>(read: std::io::Result<T>) -> bool {
    read.is_err_and(|error| error.kind() == std::io::ErrorKind::PermissionDenied)
}

/// One check; nothing where it does not apply.
type Check = fn(&Seen<'_>) -> Option<Finding>;

/// Every check, in the order in which they are shown.
const CHECKS: &[(&str, Check)] = &[
    ("config", config),
    ("permissions", permissions),
    ("disk", store::disk),
    ("store", store::store),
    ("database", database::database),
    ("server", database::server),
    ("journal", store::journal),
    ("images", store::images),
    ("key file", store::key_file),
    ("backup", store::backup),
    ("daemon", daemon),
    ("audit", store::audit),
    ("listen", reach::listen),
    ("certificate", reach::certificate),
    ("files", reach::files),
    ("log", reach::log),
    ("version", version),
    ("clock", clock),
    ("login", login),
];

impl Verb for Doctor {
    const ABOUT: &'static str =
        "Find what is wrong with settings, store, daemon and login, and how to fix it";
    const EXAMPLES: &'static [&'static str] = &["mfa doctor", "mfa doctor -o json"];
    const FINDS_FAULTS: bool = true;
    async fn run(self, cx: &Cx) -> Outcome {
        let seen = Seen::look(cx, self.data_dir).await?;
        let findings = CHECKS.iter().filter_map(|(name, check)| Some((*name, check(&seen)?)));
        let findings: Vec<_> = findings.collect();
        let failed = findings.iter().filter(|(_, finding)| matches!(finding, Finding::Failure(..))).count();
        cx.out.show(&views::FINDING, &findings.into_iter().map(record).collect())?;
        match failed {
            0 => Ok(()),
            // The findings are data and go to stdout: for a program the exit code says the rest.
            _ if cx.out.format.is_structured() => Err(Failure::found(exit::FAILURE)),
            1 => Err(Failure::new(codes::UNHEALTHY, "one check failed")),
            _ => Err(Failure::new(codes::UNHEALTHY, format!("{failed} checks failed"))),
        }
    }
}

impl<'a> Seen<'a> {
    async fn look(cx: &'a Cx, data_dir: Option<String>) -> Outcome<Self> {
        let flags = DaemonFlags { data_dir, ..DaemonFlags::default() };
        let mut client = cx.client.hasty(Duration::from_secs(ANSWER_SECONDS_MAX));
        // It waits for each answer, and a login that has ended and can be refreshed is in order.
        client.leaves_login = cx.client.leaves_login;
        let ready = client.send(&GetReady {}, &Nothing).await.map(drop);
        let alive = ready.as_ref().map_or_else(|failure| failure.status.is_some(), |()| true);
        let answers = if alive {
            Some(Answers {
                about: client.send(&GetVersion {}, &Nothing).await.map(|reply| reply.value),
                daemon_seconds: client.clock_seconds().await.ok().flatten(),
                caller: client.send(&GetCurrentToken {}, &Nothing).await.map(|reply| reply.value),
                oldest: match store::retention_days(cx) {
                    Ok(0) | Err(_) => None,
                    Ok(_) => {
                        let mut query = AuditQuery::ascending();
                        query.paging.size = Some(1);
                        let page = client.send(&ListAudit {}, &Query(query)).await;
                        Some(page.map(|reply| reply.value))
                    }
                },
            })
        } else {
            None
        };
        let folder = flags.data_dir(cx)?;
        let on_machine = flags.shown_store(cx).is_empty();
        let database = look::database(cx, &flags).await;
        Ok(Self { cx, flags, folder, on_machine, database, url: client.url.clone(), ready, answers })
    }
}

fn record((check, finding): (&str, Finding)) -> Value {
    let (result, found, mend) = match finding {
        Fine(found) => ("ok", found, None),
        Warning(found, mend) => ("warn", found, Some(spoken(&mend))),
        Finding::Failure(found, mend) => ("fail", found, Some(spoken(&mend))),
    };
    json!({ "check": check, "result": result, "found": found, "mend": mend })
}

fn config(seen: &Seen<'_>) -> Option<Finding> {
    let files: Vec<_> = config_files().into_iter().filter(|path| path.exists()).collect();
    let settings = &seen.cx.settings;
    let unread = settings.faults.first().or(settings.bad_profile.as_ref()).cloned();
    if let Some(failure) = unread.or_else(|| look::settings(seen.cx, &seen.flags).err()) {
        let mend = match failure.hint.as_str() {
            "" => "edit it, then look again: mfa doctor; every setting: mfa help environment",
            hint => hint,
        };
        return Some(Finding::Failure(failure.message.clone(), mend.to_owned()));
    }
    if let Some(warning) = seen.cx.settings.warnings.first() {
        return Some(Warning(warning.clone(), "mfa help environment lists every setting".to_owned()));
    }
    if let Some(path) = missing_config() {
        let what = format!("there is no file {}, which MFA_CONFIG names", path.display());
        return Some(Warning(what, "correct the variable, or make the file: mfa config example".to_owned()));
    }
    Some(match files.as_slice() {
        [] => Fine("no config file; every setting has its default or its variable".to_owned()),
        files => {
            let names: Vec<_> = files.iter().map(|path| path.display().to_string()).collect();
            Fine(format!("{} can be read", names.join(" and ")))
        }
    })
}

/// Secrets and identity papers are for their owner only.
fn permissions(seen: &Seen<'_>) -> Option<Finding> {
    let folder = seen.folder.as_path();
    let logins = logins::path().ok();
    for path in [logins.as_deref(), state_dir().ok().as_deref(), Some(folder)].into_iter().flatten() {
        let Ok(metadata) = fs::metadata(path) else { continue };
        let open = metadata.permissions().mode() & 0o077;
        // The folder of states may be shown, as long as the logins in it are not.
        let shown = metadata.is_dir() && path != folder;
        if open != 0 && !shown {
            let mode = if metadata.is_dir() { "700" } else { "600" };
            let found = format!("{} is open to other users of this machine", path.display());
            return Some(Finding::Failure(found, format!("chmod {mode} {}", quoted_path(path))));
        }
    }
    Some(Fine("store and logins are open to their owner only".to_owned()))
}

/// A failed request as a finding.
fn failed(failure: &Failure) -> Finding {
    Finding::Failure(failure.message.clone(), failure.hint.clone())
}

fn daemon(seen: &Seen<'_>) -> Option<Finding> {
    Some(match &seen.ready {
        Ok(()) => Fine(format!("it serves at {}", seen.url)),
        Err(failure) => failed(failure),
    })
}

fn version(seen: &Seen<'_>) -> Option<Finding> {
    let version = match &seen.answers.as_ref()?.about {
        Ok(version) => version,
        Err(failure) => return Some(failed(failure)),
    };
    let client = env!("CARGO_PKG_VERSION");
    let daemon = version["version"].as_str().unwrap_or("?");
    let interface = &version["interface"];
    if *interface != INTERFACE_VERSION {
        let found = format!("this client speaks interface {INTERFACE_VERSION}, the daemon {interface}");
        return Some(Finding::Failure(found, "install a client of the daemon's version".to_owned()));
    }
    Some(if daemon == client {
        Fine(format!("client and daemon are of version {client}"))
    } else {
        let found = format!("the client is of version {client}, the daemon of {daemon}");
        Warning(found, "install the same version of both".to_owned())
    })
}

fn clock(seen: &Seen<'_>) -> Option<Finding> {
    let Some(daemon_seconds) = seen.answers.as_ref()?.daemon_seconds else {
        return Some(Warning("the daemon does not say what time it has".to_owned(), String::new()));
    };
    let apart = (daemon_seconds - moment::now_seconds()).abs();
    let found = format!("the clocks of this machine and of the daemon are {apart} s apart");
    let mend = || "set the clocks: timedatectl set-ntp true".to_owned();
    Some(match apart {
        0..=CLOCK_SECONDS_WARN => Fine(found),
        ..=CLOCK_SECONDS_FAIL => Warning(found, mend()),
        _ => Finding::Failure(found, mend()),
    })
}

fn login(seen: &Seen<'_>) -> Option<Finding> {
    let Answers { about, caller, .. } = seen.answers.as_ref()?;
    let open = about.as_ref().is_ok_and(|about| about["auth"] == "off");
    Some(match caller {
        _ if open => {
            let found = "this daemon does not ask for tokens; it is for trying things out only";
            Warning(found.to_owned(), "mfa daemon restart --auth on".to_owned())
        }
        Ok(token) => {
            let caller = token["user"].as_str().or(token["application"].as_str()).unwrap_or("guest");
            Fine(format!("logged in as {caller}"))
        }
        // The token of the environment is none, which no login mends.
        Err(failure) if failure.exit == exit::USAGE => Warning(failure.message.clone(), failure.hint.clone()),
        Err(failure) => Warning(failure.message.clone(), "mfa login".to_owned()),
    })
}
