//! The tokens of the last logins, one for each profile and daemon, in a file that only its owner can read.

use crate::client::Client;
use crate::failure::{Failure, Outcome, codes};
use crate::moment::now_seconds;
use crate::settings::{files, state_dir};
use crate::words::quoted;
use mfa_shared::api::tokens::Token;
use serde::{Deserialize, Serialize};
use std::fs::{self, File};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Time before its end at which a token is refreshed, so that it does not expire in transit.
const SPARE_SECONDS: i64 = 10;

#[derive(Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Login {
    /// The profile under which it was made; empty for none.
    #[serde(default)]
    pub profile: String,
    pub url: String,
    /// Who logged in.
    pub caller: String,
    /// The token that is sent.
    pub access_token: String,
    /// The token that renews the login.
    pub refresh_token: Option<String>,
    /// When the access token ends, in seconds since the start of 1970 by the clock of this machine.
    pub ends_seconds: i64,
}

impl Login {
    /// A login that just happened.
    pub fn new(client: &Client, caller: String, token: &Token) -> Self {
        Self {
            profile: client.profile.clone(),
            url: client.url.clone(),
            caller,
            access_token: token.access_token.clone(),
            refresh_token: token.refresh_token.clone(),
            ends_seconds: now_seconds() + token.expires_in,
        }
    }

    fn is_at(&self, profile: &str, url: &str) -> bool {
        self.profile == profile && self.url == url
    }

    /// Whether the access token is good for some more time.
    pub fn lives(&self) -> bool {
        now_seconds() + SPARE_SECONDS < self.ends_seconds
    }
}

/// The file of the logins.
pub fn path() -> Outcome<PathBuf> {
    Ok(state_dir()?.join("logins.json"))
}

pub fn all() -> Outcome<Vec<Login>> {
    let path = path()?;
    let failed = |why: String| Failure::local(format!("cannot read {}: {why}", path.display()));
    match fs::read_to_string(&path) {
        Ok(text) => serde_json::from_str(&text).map_err(|error| failed(error.to_string())),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(failed(error.to_string())),
    }
}

/// The login at a daemon, under a profile or under none.
pub fn find(profile: &str, url: &str) -> Outcome<Option<Login>> {
    // Without a home folder no login can be kept.
    let known = if state_dir().is_ok() { all()? } else { Vec::new() };
    Ok(known.into_iter().find(|login| login.is_at(profile, url)))
}

/// The lock on the logins, which one command holds at a time.
pub struct Lock {
    _file: File,
}

/// Waits until nothing else changes the logins, as long as for an answer at most; the lock ends with the
/// value.
pub async fn lock(client: &Client) -> Outcome<Lock> {
    let path = path()?.with_extension("lock");
    let taken = files::lock(&path, client.timeout).await?;
    taken.map(|file| Lock { _file: file }).ok_or_else(|| held(&path, client.timeout))
}

/// Something else has the lock for too long.
fn held(path: &Path, waited: Duration) -> Failure {
    let (file, seconds) = (path.display().to_string(), waited.as_secs());
    let what = format!("another command has held {file} for {seconds} s; it may be waiting for its daemon");
    let hint = format!("wait until it has ended, or end it; which one it is: fuser -v {}", quoted(&file));
    Failure::new(codes::LOGINS_LOCKED, what).hint(hint)
}

impl Lock {
    /// Keeps a login in place of the last one at its daemon.
    pub fn save(&self, login: Login) -> Outcome {
        self.retain(|other| !other.is_at(&login.profile, &login.url), Some(&login))
    }

    fn retain(&self, keep: impl Fn(&Login) -> bool, more: Option<&Login>) -> Outcome {
        let mut known = all()?;
        let before = known.len();
        known.retain(keep);
        if known.len() == before && more.is_none() {
            return Ok(());
        }
        known.extend(more.cloned());
        if known.is_empty() {
            // Otherwise every dry run would leave a file without logins.
            return fs::remove_file(path()?)
                .map_err(|error| Failure::local(format!("cannot forget: {error}")));
        }
        let text = serde_json::to_vec(&known).map_err(|error| Failure::local(error.to_string()))?;
        files::replace(&path()?, &text)
    }
}

/// Keeps a login in place of the last one at its daemon.
pub async fn save(client: &Client, login: Login) -> Outcome {
    lock(client).await?.save(login)
}

/// Forgets the login at a daemon, under the profile of a client.
pub async fn forget(client: &Client, url: &str) -> Outcome {
    if find(&client.profile, url)?.is_none() {
        return Ok(());
    }
    lock(client).await?.retain(|login| !login.is_at(&client.profile, url), None)
}

/// Forgets the logins of a profile, but not the one at the address `but`.
pub async fn forget_profile(client: &Client, profile: &str, but: Option<&str>) -> Outcome {
    if all()?.iter().all(|login| login.profile != profile) {
        return Ok(());
    }
    lock(client).await?.retain(|login| login.profile != profile || but == Some(login.url.as_str()), None)
}
