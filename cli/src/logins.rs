//! The tokens of the last logins, one for each daemon, in a file that only its owner can read.

use crate::failure::{Failure, Outcome};
use crate::settings::state_dir;
use mfa_shared::api::tokens::Token;
use serde::{Deserialize, Serialize};
use std::fs::{self, File, OpenOptions};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::PathBuf;
use std::time::{SystemTime, UNIX_EPOCH};

/// Time before its end at which a token is refreshed, so that it does not end on its way.
const SPARE_SECONDS: i64 = 10;

/// A login.
#[derive(Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Login {
    /// The daemon.
    pub url: String,
    /// Who logged in.
    pub caller: String,
    /// The token that is sent.
    pub access_token: String,
    /// The token with which the login goes on.
    pub refresh_token: Option<String>,
    /// When the access token ends, in seconds since the start of 1970 by the clock of this machine.
    pub ends_seconds: i64,
}

impl Login {
    /// A login that just happened.
    pub fn new(url: &str, caller: String, token: &Token) -> Self {
        Self {
            url: url.to_owned(),
            caller,
            access_token: token.access_token.clone(),
            refresh_token: token.refresh_token.clone(),
            ends_seconds: now_seconds() + token.expires_in,
        }
    }

    /// Whether the access token is good for some more time.
    pub fn lives(&self) -> bool {
        now_seconds() + SPARE_SECONDS < self.ends_seconds
    }
}

/// The present second by the clock of this machine.
pub fn now_seconds() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_secs()).unwrap_or(i64::MAX)
}

/// The file of the logins.
pub fn path() -> Outcome<PathBuf> {
    Ok(state_dir()?.join("logins.json"))
}

/// All logins.
pub fn all() -> Outcome<Vec<Login>> {
    let path = path()?;
    let failed = |why: String| Failure::local(format!("cannot read {}: {why}", path.display()));
    match fs::read_to_string(&path) {
        Ok(text) => serde_json::from_str(&text).map_err(|error| failed(error.to_string())),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(failed(error.to_string())),
    }
}

/// The login at a daemon.
pub fn find(url: &str) -> Outcome<Option<Login>> {
    // Without a home there is nowhere a login could have been kept.
    let known = if state_dir().is_ok() { all()? } else { Vec::new() };
    Ok(known.into_iter().find(|login| login.url == url))
}

/// Keeps a login in place of the last one at its daemon.
pub fn save(login: Login) -> Outcome {
    let mut known = all()?;
    known.retain(|other| other.url != login.url);
    known.push(login);
    write(&known)
}

/// Forgets the login at a daemon.
pub fn forget(url: &str) -> Outcome {
    let mut known = all()?;
    let before = known.len();
    known.retain(|login| login.url != url);
    match known.is_empty() {
        _ if known.len() == before => Ok(()),
        // A file that only says that nobody is logged in would be left of every trial.
        true => fs::remove_file(path()?).map_err(|error| Failure::local(format!("cannot forget: {error}"))),
        false => write(&known),
    }
}

/// Waits until no other command refreshes a login; the lock ends with the value.
pub fn lock() -> Outcome<File> {
    let path = path()?.with_extension("lock");
    let opened = OpenOptions::new().create(true).truncate(false).write(true).mode(0o600).open(&path);
    let locked = opened.and_then(|file| file.lock().map(|()| file));
    locked.map_err(|error| Failure::local(format!("cannot lock {}: {error}", path.display())))
}

/// Writes a new file and puts it into the place of the old one, so that nobody ever reads half of it.
fn write(logins: &[Login]) -> Outcome {
    let path = path()?;
    let failed = |error: std::io::Error| Failure::local(format!("cannot write {}: {error}", path.display()));
    let folder = state_dir()?;
    fs::DirBuilder::new().recursive(true).mode(0o700).create(&folder).map_err(failed)?;
    // The library makes the file readable by its owner only.
    let mut file = tempfile::NamedTempFile::new_in(&folder).map_err(failed)?;
    let text = serde_json::to_vec(logins).map_err(|error| failed(error.into()))?;
    file.write_all(&text).map_err(failed)?;
    file.persist(&path).map_err(|error| failed(error.error))?;
    Ok(())
}
