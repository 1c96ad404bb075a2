//! What is remembered about a daemon in the background, and whether its process is there.

use crate::failure::{Failure, Outcome};
use crate::machine::log::{former, log_file};
use crate::settings::files::unwritable;
use crate::settings::state_dir;
use rustix::process::{Pid, test_kill_process};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::fs;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

/// What is remembered about a daemon in the background. Whether it is running, the daemon itself is asked.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Mark {
    pub pid: i32,
    /// When its process began: the number may be used again, by another program.
    #[serde(default)]
    pub begun: Option<String>,
    pub url: String,
    /// Folder of its store.
    pub data_dir: PathBuf,
    /// The same where the command line gave it.
    #[serde(default)]
    pub data_dir_flag: Option<String>,
    /// The PostgreSQL store instead, without a password; empty for none.
    #[serde(default)]
    pub store: String,
    /// The same as it was given on the command line, which may hold no password.
    #[serde(default)]
    pub store_flag: Option<String>,
    /// Files of its certificate and key, where the command line named them.
    #[serde(default)]
    pub tls_flags: Option<(String, String)>,
    /// The other flags that a restart repeats, where the command line gave them.
    #[serde(default)]
    pub listen_flag: Option<String>,
    #[serde(default)]
    pub plaintext_flag: Option<String>,
    #[serde(default)]
    pub strict_flag: Option<String>,
    /// Whether it asks for tokens.
    pub auth: String,
    #[serde(default)]
    pub auth_flag: Option<String>,
}

impl Mark {
    /// Whether its process is there.
    pub(super) fn runs(&self) -> bool {
        match &self.begun {
            Some(begun) => self::begun(self.pid).as_ref() == Some(begun),
            None => is_daemon(self.pid),
        }
    }

    /// What its store is, for people.
    pub(super) fn shown_store(&self) -> String {
        if self.store.is_empty() { self.data_dir.display().to_string() } else { self.store.clone() }
    }

    /// Whether its store is this database, or without one this folder.
    pub(super) fn serves(&self, database: &str, folder: &Path) -> bool {
        let real = |folder: &Path| folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
        self.store == database && (!database.is_empty() || real(&self.data_dir) == real(folder))
    }
}

/// When a process began, as no other of its number did; nothing if it has ended or the system does not say.
pub(super) fn begun(pid: i32) -> Option<String> {
    let text = fs::read(format!("/proc/{pid}/stat")).ok()?;
    // The second word is the name of the program in parentheses, which may hold anything.
    let after = text.iter().rposition(|byte| *byte == b')')? + 1;
    let text = String::from_utf8_lossy(text.get(after..)?);
    let mut words = text.split_ascii_whitespace();
    // The third word is the state; the 22nd counts from the start of the system.
    let has_ended = matches!(words.next()?, "Z" | "X" | "x");
    let ticks = words.nth(18).filter(|_| !has_ended)?;
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    Some(format!("{ticks} {}", boot.trim()).trim_end().to_owned())
}

/// Whether a process is a daemon of ours, as far as its command line says.
fn is_daemon(pid: i32) -> bool {
    let Some(process) = Pid::from_raw(pid) else { return false };
    let Ok(line) = fs::read(format!("/proc/{pid}/cmdline")) else {
        return !cfg!(target_os = "linux") && test_kill_process(process).is_ok();
    };
    let words: Vec<_> = line.split(|byte| *byte == 0).map(String::from_utf8_lossy).collect();
    let program = fs::read_link(format!("/proc/{pid}/exe")).unwrap_or_default();
    // The system marks the file of a program that has been replaced since.
    let program = program.to_string_lossy().trim_end_matches(" (deleted)").to_owned();
    let is_ours = |file: &str| Path::new(file).file_name().is_some_and(|name| name == "mfa");
    let ours = is_ours(&program) || words.first().is_some_and(|first| is_ours(first));
    ours && words.iter().any(|word| word == "daemon")
}

/// Where a daemon of a port is remembered, and where it logs.
pub(super) struct Place {
    pub mark: PathBuf,
    pub log: PathBuf,
}

impl Place {
    pub(super) fn of_port(port: u16) -> Outcome<Self> {
        let folder = state_dir()?;
        fs::create_dir_all(&folder)
            .map_err(|error| Failure::local(format!("cannot make {}: {error}", folder.display())))?;
        Ok(Self { mark: folder.join(format!("daemon-{port}.json")), log: log_file(port)? })
    }

    pub(super) fn mark(&self) -> Option<Mark> {
        let mut kept: Value = serde_json::from_str(&fs::read_to_string(&self.mark).ok()?).ok()?;
        // An earlier program did not remember whether they were flags, and repeated both.
        let fields = kept.as_object_mut()?;
        for (flag, field) in [("data_dir_flag", "data_dir"), ("auth_flag", "auth")] {
            if let Some(value) = fields.get(field).cloned() {
                fields.entry(flag).or_insert(value);
            }
        }
        serde_json::from_value(kept).ok()
    }

    /// The mark of a daemon whose process is there.
    pub(super) fn running(&self) -> Option<Mark> {
        self.mark().filter(Mark::runs)
    }

    pub(super) fn remember(&self, mark: &Mark) -> Outcome {
        fs::write(&self.mark, json!(mark).to_string()).map_err(unwritable(&self.mark))
    }

    /// The length of the log.
    pub(super) fn log_length(&self) -> u64 {
        fs::metadata(&self.log).map_or(0, |file| file.len())
    }

    /// The last lines of the log, of those that were written after it had a length.
    pub(super) fn log_tail(&self, lines: usize, since: u64) -> String {
        last_lines(&read_from(&self.log, since).unwrap_or_default(), lines)
    }

    /// The last lines of the log, also of what was put aside before the present file.
    pub(super) fn last_lines(&self, lines: usize) -> String {
        let present = read_from(&self.log, 0).unwrap_or_default();
        let lacking = lines.saturating_sub(present.split_inclusive(|byte| *byte == b'\n').count());
        let before =
            if lacking > 0 { read_from(&former(&self.log), 0).unwrap_or_default() } else { Vec::new() };
        last_lines(&[before, present].concat(), lines)
    }
}

fn last_lines(text: &[u8], count: usize) -> String {
    let lines: Vec<_> = text.split_inclusive(|byte| *byte == b'\n').collect();
    let last = lines[lines.len().saturating_sub(count)..].concat();
    String::from_utf8_lossy(last.strip_suffix(b"\n").unwrap_or(&last)).into_owned()
}

/// What a file holds from an offset on; all of it where it has become shorter.
fn read_from(path: &Path, offset: u64) -> std::io::Result<Vec<u8>> {
    let mut file = fs::File::open(path)?;
    let offset = if file.metadata()?.len() < offset { 0 } else { offset };
    file.seek(SeekFrom::Start(offset))?;
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    Ok(bytes)
}
