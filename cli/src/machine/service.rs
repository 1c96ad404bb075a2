//! The daemon as a service of systemd: its unit, shown or put in its place.

use super::daemon::{self, DaemonFlags};
use crate::command::cx::Cx;
use crate::command::verb::{Node, Verb, verb};
use crate::failure::{Failure, Outcome};
use crate::settings::{Origin, files};
use clap::Args;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The unit; `@NAME@` is filled in.
const UNIT: &str = include_str!("service.unit");
/// Default folder of the store.
const DATA_DIR: &str = "/var/lib/mfa/store";
/// What systemd makes and owns for a service.
const STATE_DIRS: &str = "/var/lib/";
const PLACE: &str = "/etc/systemd/system/mfa.service";
const USER: &str = "mfa";
/// Where packages put the program.
const PACKAGED: &str = "/usr/bin/mfa";

pub const VERBS: &[Node] = &[verb::<Print>("print"), verb::<Install>("install")];

#[derive(Args)]
pub struct Print {
    #[command(flatten)]
    flags: DaemonFlags,
    /// User under which it runs; systemd makes it while it is needed, unless it exists
    #[arg(long, value_name = "NAME", default_value = USER)]
    user: String,
    /// The user is permanent, as a package creates it; systemd creates none
    #[arg(long)]
    fixed_user: bool,
    /// Path of the program in the unit; by default where this one is
    #[arg(long, value_name = "FILE")]
    program: Option<PathBuf>,
}

/// The unit that packages bring: for the program and the user that they install.
pub fn of_package() -> Outcome<String> {
    let program = Some(PathBuf::from(PACKAGED));
    Print { flags: DaemonFlags::default(), user: USER.to_owned(), fixed_user: true, program }
        .unit(DATA_DIR, "--data-dir")
}

impl Verb for Print {
    const ABOUT: &'static str = "Print the systemd unit of the daemon, with as few rights as it needs";
    const EXAMPLES: &'static [&'static str] =
        &["mfa service print", "mfa service print --data-dir /var/lib/mfa/store --listen 127.0.0.1:6320"];
    async fn run(self, cx: &Cx) -> Outcome {
        let unit = self.of_settings(cx)?;
        self.warn(cx)?;
        cx.out.document("unit", &unit)
    }
}

#[derive(Args)]
pub struct Install {
    #[command(flatten)]
    unit: Print,
    /// File of the unit
    #[arg(long, value_name = "FILE", default_value = PLACE)]
    to: PathBuf,
}

impl Verb for Install {
    const ABOUT: &'static str = "Write the systemd unit of the daemon";
    const EXAMPLES: &'static [&'static str] = &[
        "mfa service install --to ./mfa.service",
        "mfa service install --listen 127.0.0.1:6320 --to ./b.service",
    ];
    async fn run(self, cx: &Cx) -> Outcome {
        let unit = self.unit.of_settings(cx)?;
        self.unit.warn(cx)?;
        if is_missing(&self.unit.user) {
            let user = &self.unit.user;
            let what = if self.unit.fixed_user {
                "so the service cannot start"
            } else {
                "so systemd makes one for the service, and no one but it can make a store with users"
            };
            cx.out.warn(&format!("there is no user {user}, {what}; see: mfa help installation"));
        }
        let place = self.to.display().to_string();
        match fs::read_to_string(&self.to) {
            Ok(present) if present == unit => cx.out.tip(&format!("{place} is up to date")),
            present => {
                if present.is_ok() {
                    cx.prompt.confirm(&format!("{place} is different; overwrite it?"))?;
                }
                files::replace_public(&self.to, &unit).map_err(|failure| {
                    failure.hint("write it as root, or elsewhere with --to; look at it: mfa service print")
                })?;
            }
        }
        let name = self.to.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let first = "next, as root, once there is a store with users (mfa help installation)";
        cx.out.tip(&format!("{first}:\n  systemctl daemon-reload\n  systemctl enable --now {name}"));
        cx.out.document("unit", &unit)
    }
}

/// Whether the system knows no such user, as far as it can be asked.
fn is_missing(user: &str) -> bool {
    let mut id = Command::new("id");
    let asked = id.args(["-u", "--", user]).stdout(Stdio::null()).stderr(Stdio::null()).status();
    asked.is_ok_and(|status| !status.success())
}

impl Print {
    fn program(&self) -> Outcome<String> {
        let path = match &self.program {
            Some(path) if path.is_absolute() => path.clone(),
            Some(path) => {
                return Err(Failure::usage(format!("--program {} is not an absolute path", path.display())));
            }
            None => {
                std::env::current_exe().map_err(|error| Failure::local(format!("where mfa is: {error}")))?
            }
        };
        Ok(path.display().to_string())
    }

    /// Refuses what would keep the service from starting.
    fn warn(&self, cx: &Cx) -> Outcome {
        let program = self.program()?;
        for (path, mend) in [
            (program.as_str(), "copy it to /usr/local/bin and start it from there"),
            (self.folder(cx).0, "give it one such as --data-dir /var/lib/mfa/store"),
        ] {
            // The unit hides these folders from the service.
            if ["/home/", "/root/", "/run/user/", "/tmp/"].iter().any(|hidden| path.starts_with(hidden)) {
                cx.out.warn(&format!("a service does not see {path}: {mend}"));
            }
        }
        Ok(())
    }

    /// The folder of the store and where it came from. The default of a user is no place for a service.
    fn folder<'a>(&'a self, cx: &'a Cx) -> (&'a str, String) {
        let flag = || "--data-dir".to_owned();
        match (&self.flags.data_dir, cx.settings.get("data_dir")) {
            (Some(given), _) => (given, flag()),
            (None, ("", _) | (_, Origin::Default)) => (DATA_DIR, flag()),
            (None, (set, origin)) => (set, format!("data_dir ({origin})")),
        }
    }

    /// The unit of a daemon with these flags, and the folder that is set.
    fn of_settings(&self, cx: &Cx) -> Outcome<String> {
        let (data_dir, from) = self.folder(cx);
        self.unit(data_dir, &from)
    }

    /// The unit of a daemon with these flags and this folder, which came from there.
    fn unit(&self, data_dir: &str, from: &str) -> Outcome<String> {
        let mut exec = vec![quoted(&self.program()?)?, "daemon".to_owned(), "run".to_owned()];
        for (flag, value) in [
            ("--data-dir", Some(data_dir)),
            ("--store", self.flags.store.as_deref()),
            ("--listen", self.flags.listen.as_deref()),
            ("--plaintext", self.flags.plaintext.as_deref()),
            ("--auth", self.flags.auth.as_deref()),
            ("--strict-references", self.flags.strict_references.as_deref()),
        ] {
            if let Some(value) = value {
                exec.extend([flag.to_owned(), quoted(value)?]);
            }
        }
        let mut state = state(data_dir, from)?;
        // The service's own user may not read the key, so the service manager hands both over.
        for (name, flag, file) in
            [("tls_cert", "--tls-cert", &self.flags.tls_cert), ("tls_key", "--tls-key", &self.flags.tls_key)]
        {
            let Some(file) = file else { continue };
            if !Path::new(file).is_absolute() {
                return Err(Failure::usage(format!("{flag} {file} is not an absolute path")));
            }
            state = format!("{state}\nLoadCredential={}", quoted(&format!("{name}:{file}"))?);
            // The specifier %d is unknown to systemd 249 and 250.
            exec.extend([flag.to_owned(), format!("${{CREDENTIALS_DIRECTORY}}/{name}")]);
        }
        if let Some(store) = &self.flags.store {
            daemon::address(store, Some("--store"))?;
        }
        // With a fixed user, work on the store without the daemon can be done as this user.
        let lasting = if self.fixed_user { "RemoveIPC=yes" } else { "DynamicUser=yes" };
        let filled = [
            ("@USER@", quoted(&self.user)?),
            ("@LASTING@", lasting.to_owned()),
            ("@STATE@", state),
            ("@EXEC@", exec.join(" ")),
        ];
        Ok(filled.iter().fold(UNIT.to_owned(), |unit, (name, value)| unit.replace(name, value)))
    }
}

/// The directives that give the service the folder around its store.
fn state(data_dir: &str, from: &str) -> Outcome<String> {
    let folder = Path::new(data_dir).parent().filter(|_| Path::new(data_dir).is_absolute());
    // The key file is beside the store, so the folder around both must be the service's own.
    let Some(folder) = folder.filter(|folder| *folder != Path::new("/") && *folder != Path::new("/var/lib"))
    else {
        let what = format!("{from} {data_dir} is not within a folder of its own");
        return Err(Failure::usage(what).hint(format!("give one: --data-dir {DATA_DIR}")));
    };
    let folder = folder.display().to_string();
    Ok(match folder.strip_prefix(STATE_DIRS) {
        Some(below) => format!("StateDirectory={}\nStateDirectoryMode=0700", quoted(below)?),
        None => format!("ReadWritePaths={}", quoted(&folder)?),
    })
}

/// A word as systemd reads it back.
fn quoted(word: &str) -> Outcome<String> {
    if word.is_empty() || word.chars().any(char::is_control) {
        return Err(Failure::usage(format!("{word:?} is not allowed in a systemd unit")));
    }
    let escaped = word.replace('%', "%%").replace('$', "$$").replace('\\', "\\\\").replace('"', "\\\"");
    let plain = escaped.chars().all(|c| c.is_ascii_alphanumeric() || "/._-:,@=?&+%".contains(c));
    Ok(if plain { escaped } else { format!("\"{escaped}\"") })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_come_through_systemd_as_they_are() {
        for (word, expected) in [
            ("/usr/bin/mfa", "/usr/bin/mfa"),
            ("50%", "50%%"),
            ("a b", "\"a b\""),
            ("$HOME", "\"$$HOME\""),
            (r#"a"b\c"#, r#""a\"b\\c""#),
        ] {
            assert_eq!(quoted(word).unwrap(), expected);
        }
        assert!(quoted("a\nExecStartPre=/bin/false").is_err() && quoted("").is_err());
    }
}
