//! The teller of the day: after it was opened or unlocked, commands need not name it until it is closed.

use super::{Place, office};
use crate::client::logins;
use crate::command::cx::Cx;
use crate::failure::{Failure, Outcome};
use crate::settings::{files, state_dir};
use crate::words::quoted;
use clap::Args;
use serde::{Deserialize, Serialize};
use std::fs;
use std::path::PathBuf;

/// The teller of one login on one day.
#[derive(Clone, Serialize, Deserialize)]
struct OfDay {
    profile: String,
    url: String,
    caller: String,
    /// The day, in the time zone of this machine; on the next one the teller is forgotten.
    day: String,
    teller: String,
    /// Its office, if the command that opened it said so.
    office: Option<String>,
}

/// The teller that a command is about.
#[derive(Args, Default, Clone)]
pub(super) struct Working {
    /// Code of the teller; by default that of MFA_TELLER, else the one you opened or unlocked last today
    #[arg(value_name = "CODE")]
    teller: Option<String>,
    /// Whether the code is given by the flag --teller.
    #[arg(skip)]
    by_flag: bool,
}

impl Working {
    /// The teller of the flag --teller, if it was given.
    pub fn of_flag(teller: Option<String>) -> Self {
        Self { teller, by_flag: true }
    }

    /// The code that was typed, that of the setting, or that of the day.
    pub fn code(self, cx: &Cx) -> Outcome<String> {
        Ok(self.found(cx, None)?.teller)
    }

    /// The teller; a hint lists those of the office that was typed.
    fn found(self, cx: &Cx, office: Option<&str>) -> Outcome<OfDay> {
        let set = Some(cx.settings.get("teller").0).filter(|code| !code.is_empty()).map(str::to_owned);
        let known = of_this_login(cx);
        let Some(teller) = self.teller.or(set) else {
            let how =
                if self.by_flag { "name the teller: --teller CODE" } else { "give the code of the teller" };
            let list = format!("mfa teller list --office {}", office.map_or("OFFICE".to_owned(), quoted));
            return known.ok_or_else(|| {
                Failure::usage(
                    "CODE is needed: nothing says which teller, and none was opened or unlocked here today",
                )
                .hint(format!("{how}; list them: {list}; on a machine of one teller set MFA_TELLER"))
            });
        };
        // If its office is not given, it is that of the same teller this morning.
        let office = known.filter(|known| known.teller == teller).and_then(|known| known.office);
        Ok(OfDay { teller, office, ..this_login(cx)? })
    }
}

/// The teller that a command of its office is about.
#[derive(Args)]
pub(super) struct WorkingPlace {
    #[command(flatten)]
    working: Working,
    /// Office of the teller [env: MFA_OFFICE]
    #[arg(long, value_name = "ID")]
    office: Option<String>,
}

impl WorkingPlace {
    pub fn place(self, cx: &Cx) -> Outcome<Place> {
        let found = self.working.found(cx, self.office.as_deref())?;
        let known = match self.office {
            None if cx.settings.get("office").0.is_empty() => found.office,
            typed => typed,
        };
        Ok(Place { office: office(cx, known)?, teller: found.teller })
    }
}

/// Remembers a teller until it is closed, or until the day ends.
pub(super) fn remember(cx: &Cx, teller: &str, office: Option<&str>) {
    // Without a home folder it cannot be kept; the teller is open nevertheless.
    let Ok(now) = this_login(cx) else { return };
    if cx.client.dry_run {
        return;
    }
    let before = of_this_login(cx).filter(|before| before.teller == teller).and_then(|before| before.office);
    let office = office.map(str::to_owned).or(before);
    keep(&now, Some(OfDay { teller: teller.to_owned(), office, ..now.clone() }));
}

/// Remembers a teller that was opened, but whoever works at one and opens another for a colleague goes on at
/// their own.
pub(super) fn remember_opened(cx: &Cx, teller: &str, office: &str, employee: Option<&str>) {
    if !of_this_login(cx).is_some_and(|own| own.stays(teller, employee)) {
        remember(cx, teller, Some(office));
    }
}

impl OfDay {
    /// Whether it stays the teller of a login that has opened another one for an employee. Without a login it
    /// is not known for whom that was.
    fn stays(&self, opened: &str, employee: Option<&str>) -> bool {
        let for_another = employee.is_some_and(|employee| employee != self.caller);
        self.teller != opened && !self.caller.is_empty() && for_another
    }
}

/// Forgets a teller that was closed.
pub(super) fn forget(cx: &Cx, teller: &str) {
    if let Some(known) = of_this_login(cx).filter(|known| known.teller == teller && !cx.client.dry_run) {
        keep(&known, None);
    }
}

/// Who works here today, without a teller.
fn this_login(cx: &Cx) -> Outcome<OfDay> {
    let (profile, url) = (cx.client.profile.clone(), cx.client.url.clone());
    let caller = logins::find(&profile, &url)?.map(|login| login.caller).unwrap_or_default();
    let day = cx.out.today().to_string();
    Ok(OfDay { profile, url, caller, day, teller: String::new(), office: None })
}

fn of_this_login(cx: &Cx) -> Option<OfDay> {
    let now = this_login(cx).ok()?;
    all().into_iter().find(|known| is_same(known, &now) && known.day == now.day)
}

fn is_same(one: &OfDay, other: &OfDay) -> bool {
    (&one.profile, &one.url, &one.caller) == (&other.profile, &other.url, &other.caller)
}

fn path() -> Outcome<PathBuf> {
    Ok(state_dir()?.join("tellers.json"))
}

/// Everything that is remembered. An unreadable file only loses a convenience.
fn all() -> Vec<OfDay> {
    let text = path().ok().and_then(|path| fs::read_to_string(path).ok()).unwrap_or_default();
    serde_json::from_str(&text).unwrap_or_default()
}

/// Puts a teller into the place of that of the same login, and drops those of other days.
fn keep(now: &OfDay, next: Option<OfDay>) {
    let mut known = all();
    known.retain(|other| !is_same(other, now) && other.day == now.day);
    known.extend(next);
    let Ok(path) = path() else { return };
    if known.is_empty() {
        let _ = fs::remove_file(path);
    } else if let Ok(text) = serde_json::to_vec(&known) {
        let _ = files::replace(&path, &text);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_opens_a_teller_for_a_colleague_goes_on_at_their_own() {
        let of = |caller: &str| OfDay {
            profile: String::new(),
            url: String::new(),
            caller: caller.to_owned(),
            day: String::new(),
            teller: "desk-1".to_owned(),
            office: None,
        };
        assert!(of("ama").stays("desk-3", Some("kojo")));
        for (caller, opened, employee) in [
            ("ama", "desk-1", Some("kojo")),
            ("ama", "desk-3", Some("ama")),
            ("ama", "desk-3", None),
            ("", "desk-3", Some("kojo")),
        ] {
            assert!(!of(caller).stays(opened, employee), "{caller} {opened} {employee:?}");
        }
    }
}
