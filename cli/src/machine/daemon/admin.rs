//! Work on the store itself, on its own machine, while no daemon runs.

use super::{DaemonFlags, not_started};
use crate::command::cx::Cx;
use crate::command::verb::Verb;
use crate::failure::Outcome;
use crate::input::account_kind;
use crate::output::views;
use clap::Args;
use clap::builder::NonEmptyStringValueParser;
use mfa_daemon::{Config, add_account, recover_user, rotate_key};
use mfa_shared::api::ledger::AccountKind;
use mfa_shared::fault::exit;
use serde_json::{Value, json};

// Where the store is.
#[derive(Debug, Clone, Default, Args)]
pub struct StoreFlags {
    /// Folder of the store [env: MFA_DATA_DIR]
    #[arg(long, value_name = "DIR", value_parser = NonEmptyStringValueParser::new())]
    data_dir: Option<String>,
    /// PostgreSQL as the store: postgres://USER@HOST,HOST/DATABASE, without a password [env: MFA_STORE]
    #[arg(long, value_name = "URL")]
    store: Option<String>,
}

impl StoreFlags {
    /// Whether a flag says where the store is.
    pub fn are_given(&self) -> bool {
        self.data_dir.is_some() || self.store.is_some()
    }

    /// The settings of the daemon of the store. A folder that is named is the store, also where the settings
    /// say that the store is a database.
    pub fn config(self, cx: &Cx) -> Outcome<Config> {
        let no_database = || self.data_dir.is_some().then(String::new);
        let store = self.store.or_else(no_database);
        DaemonFlags { data_dir: self.data_dir, store, ..DaemonFlags::default() }.config(cx)
    }
}

#[derive(Args)]
pub struct RecoverUser {
    /// The user whose password was lost
    #[arg(value_name = "USER")]
    user: String,
    #[command(flatten)]
    store: StoreFlags,
}

impl Verb for RecoverUser {
    const ABOUT: &'static str = "Reset a lost password, while the daemon is stopped; it is shown once";
    const EXAMPLES: &'static [&'static str] =
        &["mfa admin recover-user admin", "mfa admin recover-user amensah --data-dir /var/lib/mfa/store"];
    const EXITS: &'static [i32] = &[exit::NOT_FOUND, exit::LOCKED];
    async fn run(self, cx: &Cx) -> Outcome {
        let config = self.store.config(cx)?;
        let user = self.user;
        cx.out.check_columns(&views::PASSWORD)?;
        let what = format!("reset password, second factor and sessions of user {user}");
        cx.prompt.in_store(&config.shown_store()).before_ending(&what, &user)?;
        let password = recover_user(&config, &user).await.map_err(not_started)?;
        cx.out.say("the password must be changed at the first login");
        cx.out.show(&views::PASSWORD, &json!({ "identifier": user, "password": password }))
    }
}

#[derive(Args)]
pub struct RotateKey {
    #[command(flatten)]
    store: StoreFlags,
}

impl Verb for RotateKey {
    const ABOUT: &'static str =
        "Encrypt the secrets in the store with a new key, while the daemon is stopped";
    const EXAMPLES: &'static [&'static str] =
        &["mfa admin rotate-key", "mfa admin rotate-key --data-dir /var/lib/mfa/store -o json"];
    const EXITS: &'static [i32] = &[exit::LOCKED];
    async fn run(self, cx: &Cx) -> Outcome {
        let config = self.store.config(cx)?;
        cx.out.check_columns(&views::SECRET_KEY)?;
        let rotated = rotate_key(&config).await.map_err(not_started)?;
        let file = config.secret_key_file.display().to_string();
        cx.out.tip(&format!(
            "keep a copy of {file} apart from the backups of the store: earlier backups need its older keys"
        ));
        let record = json!({ "identifier": rotated.key_name, "file": file, "result": "in use" });
        cx.out.show(&views::SECRET_KEY, &record)
    }
}

#[derive(Args)]
pub struct AddAccount {
    /// Identifier of the new account, 2 to 34 letters, digits and . - * _
    #[arg(value_name = "IDENTIFIER")]
    identifier: String,
    /// asset, liability, equity, revenue or expense
    #[arg(value_name = "KIND", value_parser = account_kind)]
    kind: AccountKind,
    #[command(flatten)]
    store: StoreFlags,
}

impl Verb for AddAccount {
    const ABOUT: &'static str = "Add a ledger account before anything names it, while the daemon is stopped";
    const EXAMPLES: &'static [&'static str] = &[
        "mfa admin add-account 7352 asset",
        "mfa admin add-account 5600 expense --data-dir /var/lib/mfa/store",
    ];
    const EXITS: &'static [i32] = &[exit::NOT_FOUND, exit::CONFLICT, exit::INVALID, exit::LOCKED];
    async fn run(self, cx: &Cx) -> Outcome {
        cx.out.check_columns(&views::LEDGER_ACCOUNT)?;
        let config = self.store.config(cx)?;
        let account = add_account(&config, &self.identifier, self.kind).await.map_err(not_started)?;
        cx.out.tip(&format!("ledger account {} added ({})", account.identifier, account.kind));
        // A record of the wire has string keys only, so there is nothing that JSON could not hold.
        let shown = serde_json::to_value(&account).unwrap_or(Value::Null);
        cx.out.show(&views::LEDGER_ACCOUNT, &shown)
    }
}
