//! Profiles: which daemon to use, and how.

use crate::client::{check_address, logins};
use crate::command::cx::{Cx, Done};
use crate::command::globals;
use crate::command::verb::{Node, Verb, verb};
use crate::failure::{Failure, Outcome, codes};
use crate::output::views;
use crate::settings::profiles::{self, Profile};
use crate::settings::{Origin, Settings, TABLE};
use crate::words::{hint_beside, quoted};
use clap::Args;
use mfa_shared::fault::exit;
use serde_json::{Value, json};

pub const VERBS: &[Node] = &[
    verb::<List>("list"),
    verb::<Show>("show"),
    verb::<Add>("add"),
    verb::<Use>("use"),
    verb::<Remove>("remove"),
];

/// The names of all profiles.
pub fn identifiers() -> Vec<String> {
    profiles::read().map_or(Vec::new(), |known| known.profiles.into_keys().collect())
}

/// Settings that no profile holds: secrets, which have files of their own, and what chooses or disarms a
/// profile.
const NOT_IN_PROFILES: &[&str] = &["token", "store", "profile", "yes"];

fn done<'a>(id: &'a str, what: &'a str) -> Done<'a> {
    Done { noun: "profile", id, what }
}

/// A profile as it is shown.
fn record(cx: &Cx, name: &str, profile: &Profile) -> Outcome<Value> {
    let url = profile.settings.get("url").and_then(|url| url.as_str());
    let login = logins::find(name, url.unwrap_or_default())?;
    Ok(json!({
        "name": name,
        "url": url,
        "protected": profile.protected,
        "current": cx.settings.profile() == Some(name),
        "caller": login.map(|login| login.caller),
        "settings": profile.settings,
    }))
}

#[derive(Args)]
pub struct List {}

impl Verb for List {
    const MENDS_SETTINGS: bool = true;
    const ABOUT: &'static str = "List the profiles; the current one is used where --profile names no other";
    const EXAMPLES: &'static [&'static str] = &["mfa profile list", "mfa profile list -o json"];
    async fn run(self, cx: &Cx) -> Outcome {
        let known = profiles::read()?;
        let records: Outcome<Vec<_>> =
            known.profiles.iter().map(|(name, profile)| record(cx, name, profile)).collect();
        cx.out.show(&views::PROFILE, &Value::Array(records?))
    }
}

#[derive(Args)]
pub struct Show {
    /// Name of the profile; the current one by default
    #[arg(value_name = "NAME")]
    name: Option<String>,
}

impl Verb for Show {
    const MENDS_SETTINGS: bool = true;
    const ABOUT: &'static str = "Show a profile with its settings";
    const EXAMPLES: &'static [&'static str] = &[
        "mfa profile add bank --url https://mfa.example.org && mfa profile show bank",
        "mfa profile add main --url https://mfa.example.org && mfa profile show main -o json",
    ];
    const EXITS: &'static [i32] = &[exit::NOT_FOUND];
    async fn run(self, cx: &Cx) -> Outcome {
        let name = self.name.as_deref().or(cx.settings.profile()).ok_or_else(|| {
            Failure::usage("no profile is in use")
                .hint("list them: mfa profile list; use one: mfa profile use NAME")
        })?;
        let known = profiles::read()?;
        cx.out.show(&views::PROFILE, &record(cx, name, known.find(name)?)?)
    }
}

#[derive(Args)]
pub struct Add {
    /// Name of the profile
    #[arg(value_name = "NAME")]
    name: String,
    /// Ask for an identifier to be typed before anything is destroyed there, whatever --yes says
    #[arg(long)]
    protected: bool,
    /// A further setting, such as output=json; can be repeated
    #[arg(long, value_name = "SETTING=VALUE")]
    set: Vec<String>,
    /// Use it from now on
    #[arg(long)]
    r#use: bool,
    /// Replace the profile of that name
    #[arg(long)]
    replace: bool,
}

impl Verb for Add {
    const MENDS_SETTINGS: bool = true;
    const ABOUT: &'static str =
        "Add a profile: the address of a daemon, which --url gives, and other settings";
    const EXAMPLES: &'static [&'static str] = &[
        "mfa profile add bank --url https://mfa.example.org --protected",
        "mfa profile add trial --url https://127.0.0.1:6321 --set output=json --use",
    ];
    const EXITS: &'static [i32] = &[exit::CONFLICT];
    async fn run(self, cx: &Cx) -> Outcome {
        cx.out.check_columns(&views::RESULT)?;
        let name = self.name;
        if name.is_empty() || !name.chars().all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c)) {
            return Err(Failure::usage("the name of a profile has letters, digits and - _ . only"));
        }
        let mut profile = Profile { protected: self.protected, ..Profile::default() };
        match cx.settings.get("url") {
            (url, Origin::Flag) => {
                check_address(url)?;
                let url = url.trim_end_matches('/').to_owned();
                profile.settings.insert("url".to_owned(), toml::Value::String(url))
            }
            _ => return Err(Failure::usage("a profile needs the address of a daemon").hint("give it: --url")),
        };
        for pair in &self.set {
            let Some((setting, value)) = pair.split_once('=') else {
                let what = format!("--set {pair} has no value");
                return Err(Failure::usage(what).hint("give one: --set SETTING=VALUE, as in output=json"));
            };
            check_setting(setting)?;
            profile.settings.insert(setting.to_owned(), toml::Value::String(value.to_owned()));
        }
        check_values(&profile)?;
        let url = profile.settings["url"].clone();
        profiles::change(|known| {
            if known.profiles.contains_key(&name) && !self.replace {
                let what = format!("there is a profile \"{name}\" already");
                let failure = Failure::new(codes::PROFILE_EXISTS, what);
                return Err(failure.hint("replace it: --replace"));
            }
            known.profiles.insert(name.clone(), profile);
            if self.r#use {
                known.default = Some(name.clone());
            }
            Ok(())
        })
        .await?;
        // Removes the token of the daemon that had this name before.
        logins::forget_profile(&cx.client, &name, url.as_str()).await?;
        if !self.r#use {
            let name = quoted(&name);
            cx.out.tip(&format!("use it once: --profile {name}; always: mfa profile use {name}"));
        }
        cx.done(done(&name, "added"))
    }
}

fn check_setting(name: &str) -> Outcome {
    if NOT_IN_PROFILES.contains(&name) {
        return Err(Failure::usage(format!("{name} is not a setting of profiles")));
    }
    if TABLE.iter().any(|setting| setting.name == name) {
        return Ok(());
    }
    let hint = hint_beside(name, TABLE.iter().map(|setting| setting.name), "see: mfa config view");
    Err(Failure::usage(format!("there is no setting \"{name}\"")).hint(hint))
}

/// Refuses values with which no command could run.
fn check_values(profile: &Profile) -> Outcome {
    let of_profile = |(name, _): &(&str, Outcome)| profile.settings.contains_key(*name);
    let checked = globals::checked(&Settings::of_profile(profile));
    checked.into_iter().filter(of_profile).try_for_each(|(_, read)| read)
}

#[derive(Args)]
pub struct Use {
    /// Name of the profile
    #[arg(value_name = "NAME", required_unless_present = "none")]
    name: Option<String>,
    /// None from now on
    #[arg(long, conflicts_with = "name")]
    none: bool,
}

impl Verb for Use {
    const MENDS_SETTINGS: bool = true;
    const ABOUT: &'static str = "Say which profile is used where --profile and MFA_PROFILE name no other";
    const EXAMPLES: &'static [&'static str] = &[
        "mfa profile add bank --url https://mfa.example.org && mfa profile use bank",
        "mfa profile use --none",
    ];
    const EXITS: &'static [i32] = &[exit::NOT_FOUND];
    async fn run(self, cx: &Cx) -> Outcome {
        cx.out.check_columns(&views::RESULT)?;
        profiles::change(|known| {
            if let Some(name) = &self.name {
                known.find(name)?;
            }
            known.default.clone_from(&self.name);
            Ok(())
        })
        .await?;
        match &self.name {
            Some(name) => cx.done(done(name, "used from now on")),
            None => cx.done(done("", "used no more")),
        }
    }
}

#[derive(Args)]
pub struct Remove {
    /// Name of the profile
    #[arg(value_name = "NAME")]
    name: String,
}

impl Verb for Remove {
    const MENDS_SETTINGS: bool = true;
    const ABOUT: &'static str = "Remove a profile, and forget its logins on this machine";
    const EXAMPLES: &'static [&'static str] = &[
        "mfa profile add bank --url https://mfa.example.org && mfa profile remove bank",
        "mfa profile add main --url https://mfa.example.org && mfa profile remove main -o json",
    ];
    const EXITS: &'static [i32] = &[exit::NOT_FOUND];
    async fn run(self, cx: &Cx) -> Outcome {
        cx.out.check_columns(&views::RESULT)?;
        profiles::change(|known| {
            known.find(&self.name)?;
            known.profiles.remove(&self.name);
            known.default.take_if(|default| *default == self.name);
            Ok(())
        })
        .await?;
        logins::forget_profile(&cx.client, &self.name, None).await?;
        cx.done(done(&self.name, "removed"))
    }
}
