//! Sessions of a user at the daemon, and the logins that this machine keeps.

use crate::client::logins;
use crate::command::cx::{Cx, Done};
use crate::command::noun::{self, Noun, Section};
use crate::command::verb::{Verb, verb};
use crate::failure::Outcome;
use crate::machine::login;
use crate::output::views;
use clap::Args;
use mfa_shared::api::sessions::*;
use mfa_shared::api::tokens::DeleteTokens;
use mfa_shared::endpoint::{Endpoint, Meta};
use mfa_shared::time::Timestamp;
use mfa_shared::wire::{Nothing, Query};
use serde_json::{Value, json};

pub const NOUN: Noun = Noun {
    section: Section::Access,
    typed: "sessions",
    alias: "session",
    about: "Sessions of users at the daemon, and the logins of this machine",
    verbs: &[verb::<List>("list"), verb::<End>("end"), verb::<EndAll>("end-all"), verb::<Logout>("logout")],
    ..noun::NOUN
};

#[derive(Args)]
pub struct List {
    /// The user; by default the one who is logged in
    #[arg(value_name = "USER", conflicts_with = "local")]
    user: Option<String>,
    /// The logins that this machine keeps, at every daemon
    #[arg(long)]
    local: bool,
}

impl Verb for List {
    const ENDPOINT: Option<&'static Meta> = Some(&ListUserSessions::META);
    const EXAMPLES: &'static [&'static str] =
        &["mfa sessions list esi", "mfa sessions list esi -o json", "mfa sessions list --local"];
    async fn run(self, cx: &Cx) -> Outcome {
        if self.local {
            let records = logins::all()?.iter().map(kept).collect();
            return cx.out.show(&views::LOGIN, &Value::Array(records));
        }
        cx.show(ListUserSessions { user: login::user(cx, self.user, "USER").await? }, &views::SESSION).await
    }
}

fn kept(login: &logins::Login) -> Value {
    let ends = Timestamp::from_millis(login.ends_seconds.saturating_mul(1000));
    let profile = Some(&login.profile).filter(|name| !name.is_empty());
    let url = &login.url;
    let caller = &login.caller;
    let goes_on = login.refresh_token.is_some();
    json!({ "profile": profile, "url": url, "caller": caller, "tokenEnds": ends, "goesOn": goes_on })
}

#[derive(Args)]
pub struct End {
    /// Identifier of the session
    #[arg(value_name = "SESSION")]
    session: String,
    /// The user; by default the one who is logged in
    #[arg(long, value_name = "ID")]
    user: Option<String>,
}

impl Verb for End {
    const ENDPOINT: Option<&'static Meta> = Some(&EndUserSession::META);
    const EXAMPLES: &'static [&'static str] = &[
        "mfa sessions end $(mfa sessions list esi -o id | head -n 1) --user esi --yes",
        "mfa sessions end $(mfa sessions list esi -o id | head -n 1) --user esi --yes -o json",
    ];
    async fn run(self, cx: &Cx) -> Outcome {
        cx.check_columns(&views::RESULT)?;
        let user = login::user(cx, self.user, "--user").await?;
        let session = self.session;
        cx.prompt.before_ending(&format!("end session {session} of user {user}"), &session)?;
        cx.client.send(&EndUserSession { user, session: session.clone() }, &Nothing).await?;
        cx.done(Done { noun: "session", id: &session, what: "ended" })
    }
}

#[derive(Args)]
pub struct EndAll {
    /// The user; by default the one who is logged in
    #[arg(long, value_name = "ID")]
    user: Option<String>,
    /// All but this one
    #[arg(long)]
    others: bool,
}

impl Verb for EndAll {
    const ENDPOINT: Option<&'static Meta> = Some(&EndUserSessions::META);
    const EXAMPLES: &'static [&'static str] =
        &["mfa sessions end-all --user esi --yes", "mfa sessions end-all --user esi --others --yes"];
    async fn run(self, cx: &Cx) -> Outcome {
        cx.check_columns(&views::RESULT)?;
        let user = login::user(cx, self.user, "--user").await?;
        let which = if self.others { "all other sessions" } else { "all sessions" };
        cx.prompt.before_ending(&format!("end {which} of user {user}"), &user)?;
        let query = Query(ExceptQuery { current: self.others });
        cx.client.send(&EndUserSessions { user: user.clone() }, &query).await?;
        cx.done(Done { noun: "user", id: &user, what: "has ended sessions" })
    }
}

#[derive(Args)]
pub struct Logout {}

impl Verb for Logout {
    const ENDPOINT: Option<&'static Meta> = Some(&DeleteTokens::META);
    const ABOUT: &'static str = "Log out everywhere: end all your sessions, this one too";
    const EXAMPLES: &'static [&'static str] =
        &["mfa sessions logout --yes", "mfa sessions logout --yes -o json"];
    async fn run(self, cx: &Cx) -> Outcome {
        cx.check_columns(&views::RESULT)?;
        cx.prompt.before_destroying("end all your sessions", "sessions")?;
        login::end(cx, DeleteTokens {}, "logged out everywhere").await
    }
}
