//! The store and its first users, made without serving.

use super::{DaemonFlags, not_started};
use crate::command::cx::Cx;
use crate::command::flags::{PasswordFlags, show_once};
use crate::command::verb::Verb;
use crate::failure::{Failure, Outcome};
use crate::output::views;
use crate::words::quoted;
use clap::Args;
use mfa_daemon::NewLogin;
use mfa_shared::api::ledger::AccountKind;
use serde_json::json;

#[derive(Args)]
pub struct Init {
    /// Folder of the store [env: MFA_DATA_DIR]
    #[arg(long, value_name = "DIR")]
    data_dir: Option<String>,
    /// PostgreSQL as the store, see mfa help postgres: postgres://USER@HOST,HOST/DATABASE [env: MFA_STORE]
    #[arg(long, value_name = "URL")]
    store: Option<String>,
    /// Identifier of the first user, who may do everything; admin unless asked otherwise
    #[arg(long, value_name = "NAME")]
    admin: Option<String>,
    /// Identifier of a second user, for the daily work of administration
    #[arg(long, value_name = "NAME")]
    operator: Option<String>,
    #[command(flatten)]
    password: PasswordFlags,
}

impl Verb for Init {
    const ABOUT: &'static str = "Make the store and its first user, if they do not exist, without serving";
    const EXAMPLES: &'static [&'static str] = &[
        "mfa init",
        "mfa init --data-dir /var/lib/mfa/store --admin amensah --password-file /run/secrets/mfa --no-input",
    ];
    async fn run(self, cx: &Cx) -> Outcome {
        cx.out.check_columns(&views::STORE)?;
        let name = match self.admin {
            Some(name) => name,
            None if cx.prompt.can_ask() => cx.prompt.ask_or("first user", "admin")?,
            None => "admin".to_owned(),
        };
        let password = match self.password.given(cx)? {
            None if cx.prompt.can_ask() => {
                Some(cx.prompt.new_secret(&format!("password of {name}"), "--password-stdin")?)
            }
            given => given,
        };
        if cx.out.quiet && !cx.out.format.is_structured() && (password.is_none() || self.operator.is_some()) {
            let what = "a password would be generated, and with --quiet it would not be shown";
            return Err(Failure::usage(what)
                .hint("give --password-file and no --operator, or take it from the output with -o json"));
        }
        let first = NewLogin { name, password };
        let who = self.operator.clone().unwrap_or_else(|| first.name.clone());
        let operator = self.operator.map(|name| NewLogin { name, password: None });
        let flags = DaemonFlags { data_dir: self.data_dir, store: self.store, ..DaemonFlags::default() };
        let config = flags.config(cx)?;
        let done = mfa_daemon::init(&config, &first, operator.as_ref()).await.map_err(not_started)?;
        let place = config.shown_store();
        let result = if done.made.before { "already initialised" } else { "initialised" };
        cx.out.tip(&format!("store in {place}: {result}"));
        for (user, password) in &done.passwords {
            let shown = show_once(cx, user, password, ", to be changed at login");
            // A structured record has it, too.
            if !cx.out.format.is_structured() {
                shown?;
            }
        }
        let record = json!({
            "identifier": place, "result": result, "instance": done.instance,
            "added": done.made.added, "kept": done.made.kept,
            "passwords": done.passwords.into_iter().collect::<std::collections::BTreeMap<_, _>>()
        });
        cx.out.show(&views::STORE, &record)?;
        if !done.made.before {
            cx.out.tip(&format!(
                "next: mfa daemon start, or a service (mfa help production); then: mfa login {}",
                quoted(&who)
            ));
        }
        Ok(())
    }
}

/// Adds ledger accounts to a store whose daemon will refuse dangling references. Only strict
/// references need this: without them, creating a teller creates its accounts.
pub async fn add_accounts(cx: &Cx, flags: &DaemonFlags, accounts: &[(&str, AccountKind)]) -> Outcome {
    let config = flags.config(cx)?;
    for (identifier, kind) in accounts.iter().filter(|_| config.strict_references) {
        mfa_daemon::add_account(&config, identifier, *kind).await.map_err(not_started)?;
    }
    Ok(())
}

/// Makes the users of a store for trying things out, unless it has been initialised before: `admin`, who may
/// grant everything, and an operator with this password. Returns whether it did.
pub async fn first_users(cx: &Cx, flags: &DaemonFlags, operator: &str, password: &str) -> Outcome<bool> {
    let admin = NewLogin { name: "admin".to_owned(), password: None };
    let second = NewLogin { name: operator.to_owned(), password: Some(password.to_owned()) };
    let done = mfa_daemon::init(&flags.config(cx)?, &admin, Some(&second)).await.map_err(not_started)?;
    for (user, password) in &done.passwords {
        show_once(cx, user, password, ", to be changed at login")?;
    }
    let made = done.made.added.contains(&format!("user {operator}"));
    if made {
        show_once(cx, operator, password, "")?;
    }
    Ok(made)
}
