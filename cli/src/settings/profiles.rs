//! Named sets of settings, in a file beside the user's config file: which daemon, and how to use it.

use crate::failure::{Failure, Outcome, codes};
use crate::settings::{bounded, files, user_config_file};
use crate::words::{hint_beside, quoted};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

/// Longest wait for another command that changes the profiles.
const LOCK_PATIENCE: Duration = Duration::from_secs(10);

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Profiles {
    /// The one that is used if none is named.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default: Option<String>,
    /// Each by its name.
    #[serde(default)]
    pub profiles: BTreeMap<String, Profile>,
}

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Profile {
    /// Whether an identifier must be typed before anything is destroyed there.
    #[serde(default)]
    pub protected: bool,
    #[serde(flatten)]
    pub settings: BTreeMap<String, toml::Value>,
}

/// The file of the profiles.
pub fn path() -> Outcome<PathBuf> {
    let config =
        user_config_file().ok_or_else(|| Failure::usage("there is no home folder to keep files in"))?;
    Ok(config.with_file_name("profiles.toml"))
}

/// Reads the profiles; none where there is no file or no home.
pub fn read() -> Outcome<Profiles> {
    let Ok(path) = path() else { return Ok(Profiles::default()) };
    match bounded::text(&path, bounded::DOCUMENT_BYTES_MAX) {
        Ok(text) => toml::from_str(&text).map_err(|error| {
            Failure::usage(format!("{} cannot be read: {}", path.display(), error.message()))
        }),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Profiles::default()),
        Err(error) => Err(Failure::usage(format!("cannot read {}: {error}", path.display()))),
    }
}

/// Changes the profiles, one command after the other.
pub async fn change(how: impl FnOnce(&mut Profiles) -> Outcome) -> Outcome {
    let path = path()?;
    let Some(_lock) = files::lock(&path.with_extension("lock"), LOCK_PATIENCE).await? else {
        let what = format!("another command has been changing {} for some time", path.display());
        return Err(Failure::local(what).hint("wait for it or end it, then repeat this one"));
    };
    let mut known = read()?;
    how(&mut known)?;
    known.write()
}

impl Profiles {
    fn write(&self) -> Outcome {
        let path = path()?;
        let text = toml::to_string(self)
            .map_err(|error| Failure::local(format!("cannot write {}: {error}", path.display())))?;
        files::replace(&path, text.as_bytes())
    }

    pub fn find(&self, name: &str) -> Outcome<&Profile> {
        self.profiles.get(name).ok_or_else(|| {
            let hint = format!("list them: mfa profile list; make it: mfa profile add {}", quoted(name));
            Failure::new(codes::PROFILE_NOT_FOUND, format!("there is no profile \"{name}\""))
                .hint(hint_beside(name, self.profiles.keys().map(String::as_str), &hint))
        })
    }
}
