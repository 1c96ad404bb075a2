//! The layers of settings: which are read, and which overrides which.

use super::{Origin, Setting, Settings, TABLE, bounded, config_files, profiles};
use crate::failure::{Failure, Outcome};
use crate::words::did_you_mean;
use std::env::VarError;
use std::path::Path;

/// What to do where the config file is that of another user, as after `runuser` or `setpriv`.
const OTHER_HOME: &str = "HOME may be that of another user: use sudo -u USER -H, or set MFA_CONFIG";

impl Settings {
    fn defaults() -> Self {
        let default = |setting: &Setting| (setting.name, (setting.default.to_owned(), Origin::Default));
        Self { values: TABLE.iter().map(default).collect(), ..Self::default() }
    }

    /// The settings that flags give to a profile, and nothing else.
    pub fn of_profile(profile: &profiles::Profile) -> Self {
        let mut settings = Self::defaults();
        settings.layer(&profile.settings, "the profile", &Origin::Flag);
        settings
    }

    /// Reads the environment and the config files; `flags` holds those of the command line.
    pub fn load(flags: Vec<(&'static str, String)>) -> Self {
        let mut settings = Self::defaults();
        // The weakest comes first, and each layer overrides the one before.
        for path in config_files() {
            let read = settings.layer_file(&path);
            settings.faults.extend(read.err());
        }
        // A profile that the command line names beats the environment, as every flag does.
        let read = if flags.iter().any(|(name, _)| *name == "profile") {
            settings.layer_environment();
            settings.layer_profile(&flags)
        } else {
            let read = settings.layer_profile(&flags);
            settings.layer_environment();
            read
        };
        settings.faults.extend(read.err());
        for (name, value) in flags {
            settings.values.insert(name, (value, Origin::Flag));
        }
        // The daemon of this machine is the default.
        let speaks_tls = !settings.get("tls_cert").0.is_empty();
        if let Some((url, Origin::Default)) = settings.values.get_mut("url").filter(|_| speaks_tls) {
            *url = url.replacen("http:", "https:", 1);
        }
        settings
    }

    fn layer_environment(&mut self) {
        for setting in TABLE {
            let variable = setting.variable();
            match std::env::var(&variable) {
                Ok(value) => {
                    self.values.insert(setting.name, (value, Origin::Variable(variable)));
                }
                Err(VarError::NotPresent) => {}
                // Its value may be a secret.
                Err(VarError::NotUnicode(_)) => {
                    let what = format!("the variable {variable} is not UTF-8");
                    self.faults.push(Failure::usage(what).hint(format!("set it again, or unset {variable}")));
                }
            }
        }
    }

    /// Applies the settings of a profile over weaker ones: that of the flag, else of the variable, else the
    /// current one.
    fn layer_profile(&mut self, flags: &[(&'static str, String)]) -> Outcome {
        let known = profiles::read()?;
        let flag = flags.iter().find(|(name, _)| *name == "profile").map(|(_, value)| value.clone());
        let (name, origin) = match (flag, std::env::var("MFA_PROFILE"), known.default.clone()) {
            (Some(name), ..) => (name, Origin::Flag),
            (None, Ok(name), _) => (name, Origin::Variable("MFA_PROFILE".to_owned())),
            (None, Err(_), Some(name)) => (name, Origin::File(profiles::path()?)),
            (None, Err(_), None) => return Ok(()),
        };
        if name.is_empty() {
            return Ok(());
        }
        match known.find(&name) {
            Err(failure) => self.bad_profile = Some(failure),
            Ok(profile) => {
                self.protected = profile.protected;
                let source = format!("profile {name}");
                self.layer(&profile.settings, &source, &Origin::Profile(name.clone()));
            }
        }
        self.values.insert("profile", (name, origin));
        Ok(())
    }

    fn layer<'a>(
        &mut self,
        table: impl IntoIterator<Item = (&'a String, &'a toml::Value)>,
        source: &str,
        origin: &Origin,
    ) {
        for (name, value) in table {
            match TABLE.iter().find(|setting| setting.name == name) {
                // A profile is chosen by what is stronger than a file.
                Some(Setting { name: "profile", .. }) => {
                    let how = "choose one: mfa profile use";
                    self.warnings.push(format!("{source} names a profile, which has no effect; {how}"));
                }
                Some(setting) => {
                    self.values.insert(setting.name, (plain(value), origin.clone()));
                }
                None => {
                    let meant = did_you_mean(name, TABLE.iter().map(|setting| setting.name));
                    let meant = meant.map_or_else(String::new, |meant| format!("; {meant}"));
                    self.warnings.push(format!("{source} has an unknown setting {name}{meant}"));
                }
            }
        }
    }

    fn layer_file(&mut self, path: &Path) -> Outcome {
        let text = match bounded::text(path, bounded::DOCUMENT_BYTES_MAX) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
            Err(error) => {
                let failure = Failure::usage(format!("cannot read {}: {error}", path.display()));
                return Err(match error.kind() {
                    std::io::ErrorKind::PermissionDenied => failure.hint(OTHER_HOME),
                    _ => failure,
                });
            }
        };
        let table: toml::Table = text.parse().map_err(|error: toml::de::Error| {
            // Bytes are counted, since the fault may be inside a character.
            let before = text.bytes().take(error.span().map_or(0, |span| span.start));
            let line = before.filter(|byte| *byte == b'\n').count() + 1;
            Failure::usage(format!("{} line {line}: {}", path.display(), error.message()))
        })?;
        self.layer(&table, &path.display().to_string(), &Origin::File(path.to_owned()));
        Ok(())
    }
}

fn plain(value: &toml::Value) -> String {
    match value {
        toml::Value::String(text) => text.clone(),
        toml::Value::Array(values) => values.iter().map(plain).collect::<Vec<_>>().join(","),
        toml::Value::Integer(number) => number.to_string(),
        toml::Value::Float(number) => number.to_string(),
        toml::Value::Boolean(flag) => flag.to_string(),
        // No setting is a date or a table; the code that reads the setting reports it.
        other => other.type_str().to_owned(),
    }
}
