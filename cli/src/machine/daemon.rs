//! The daemon in this process, and work on its store while it is stopped. Nothing outside of this file and
//! its folder names the daemon's library.

pub mod admin;
pub mod check;
pub mod look;
pub mod migrate;

use crate::command::cx::Cx;
use crate::command::flags::{PasswordFlags, show_once};
use crate::command::verb::Verb;
use crate::failure::{Failure, Outcome};
use crate::machine::log;
use crate::machine::signals::listen;
use crate::output::{Format, talk, views};
use crate::settings::{self, Settings};
use crate::words::quoted;
use clap::Args;
use mfa_daemon::{
    Address, Auth, BackupSchedule, Clock, Config, Daemon, Network, NewLogin, Rates, StartError, StorePlace,
};
use mfa_shared::api::ledger::AccountKind;
use mfa_shared::fault::{UNAVAILABLE, exit};
use sd_notify::NotifyState;
use serde_json::json;
use std::io::{Write, stdout};
use std::path::{Path, PathBuf};
use tokio::signal::unix::SignalKind;

// The settings of a daemon that are given most often; the others come from variables and config files.
#[derive(Debug, Clone, Default, Args)]
pub struct DaemonFlags {
    /// Folder of the store [env: MFA_DATA_DIR]
    #[arg(long, value_name = "DIR")]
    pub data_dir: Option<String>,
    /// PostgreSQL as the store, see mfa help postgres: postgres://USER@HOST,HOST/DATABASE [env: MFA_STORE]
    #[arg(long, value_name = "URL")]
    pub store: Option<String>,
    /// Address to listen on; port 0 takes a free one [env: MFA_LISTEN]
    #[arg(long, value_name = "ADDRESS:PORT")]
    pub listen: Option<String>,
    /// Listen beyond this machine without TLS, behind a proxy that has it [env: MFA_PLAINTEXT]
    #[arg(long, value_name = "true|false", num_args = 0..=1, default_missing_value = "true")]
    pub plaintext: Option<String>,
    /// Certificate with which to speak TLS, see mfa help tls [env: MFA_TLS_CERT]
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    pub tls_cert: Option<String>,
    /// Private key of the certificate [env: MFA_TLS_KEY]
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    pub tls_key: Option<String>,
    /// Ask callers for a token: on, or off on loopback only [env: MFA_AUTH]
    #[arg(long, value_name = "on|off")]
    pub auth: Option<String>,
    /// Every named office, employee and customer must exist [env: MFA_STRICT_REFERENCES]
    #[arg(long, value_name = "true|false", num_args = 0..=1, default_missing_value = "true")]
    pub strict_references: Option<String>,
}

impl DaemonFlags {
    fn config(&self, cx: &Cx) -> Outcome<Config> {
        let settings = &cx.settings;
        let mut config = Config::new(self.data_dir(cx)?);
        config.store = self.store(cx)?;
        config.store_connections_max = settings.parse("store_connections_max", None)?;
        config.listen = settings.parse("listen", self.listen.as_deref())?;
        config.plaintext = settings.flag("plaintext", self.plaintext.as_deref())?;
        let file = |given: &Option<String>, name: &str| {
            let given = given.as_deref().unwrap_or(settings.get(name).0);
            Some(given).filter(|file| !file.is_empty()).map(PathBuf::from)
        };
        config.tls_cert = file(&self.tls_cert, "tls_cert");
        config.tls_key = file(&self.tls_key, "tls_key");
        config.tls_client_ca = file(&None, "tls_client_ca");
        config.auth =
            settings.choice("auth", self.auth.as_deref(), &[("on", Auth::On), ("off", Auth::Off)])?;
        config.strict_references = settings.flag("strict_references", self.strict_references.as_deref())?;
        config.cors_origins = listed(settings.get("cors_origins").0);
        config.second_factor_roles = listed(settings.get("second_factor_roles").0);
        config.token_audiences = listed(settings.get("token_audiences").0);
        config.access_token_seconds = settings.parse("access_token_seconds", None)?;
        config.refresh_token_seconds = settings.parse("refresh_token_seconds", None)?;
        config.session_idle_seconds = settings.parse("session_idle_seconds", None)?;
        config.current_password_required = settings.flag("current_password_required", None)?;
        config.body_bytes_max = settings.parse("body_bytes_max", None)?;
        config.image_max_bytes = settings.parse("image_max_bytes", None)?;
        config.connections_max = settings.parse("connections_max", None)?;
        config.connections_per_address = settings.parse("connections_per_address", None)?;
        config.rates = rates(settings)?;
        config.metrics_public = settings.flag("metrics_public", None)?;
        let proxy = |text: &String| settings.parse("trusted_proxies", Some(text));
        config.trusted_proxies =
            listed(settings.get("trusted_proxies").0).iter().map(proxy).collect::<Outcome<_>>()?;
        config.header_timeout_seconds = settings.parse("header_timeout_seconds", None)?;
        config.request_timeout_seconds = settings.parse("request_timeout_seconds", None)?;
        config.stop_timeout_seconds = settings.parse("stop_timeout_seconds", None)?;
        config.interest_run_at = minute_of_day(settings, "interest_run_at")?;
        config.backups = backups(settings)?;
        config.upgrade_backup = settings.flag("upgrade_backup", None)?;
        config.cache_bytes = settings.parse("cache_bytes", None)?;
        gateways(settings, &mut config)?;
        Ok(config)
    }

    /// Where the store is; a password is taken from where PostgreSQL's own programs look.
    fn store(&self, cx: &Cx) -> Outcome<StorePlace> {
        let given = self.store.as_deref().unwrap_or(cx.settings.get("store").0);
        if given.is_empty() {
            return Ok(StorePlace::Embedded);
        }
        address(given, self.store.as_ref().map(|_| "--store")).map(StorePlace::from)
    }

    /// Where the store is, for people: without a password.
    pub fn shown_store(&self, cx: &Cx) -> String {
        shown_store(self.store.as_deref().unwrap_or(cx.settings.get("store").0))
    }

    /// The folder of the store.
    pub fn data_dir(&self, cx: &Cx) -> Outcome<PathBuf> {
        let given = self.data_dir.as_deref().unwrap_or(cx.settings.get("data_dir").0);
        if given.is_empty() { settings::data_dir() } else { Ok(PathBuf::from(given)) }
    }
}

/// Most requests a second; an empty value is not set.
fn rates(settings: &Settings) -> Outcome<Rates> {
    let rate = |name: &'static str| match settings.get(name).0.trim() {
        "" => Ok(None),
        _ => settings.parse(name, None).map(Some),
    };
    Ok(Rates {
        token: rate("requests_per_second_token")?,
        address: rate("requests_per_second_address")?,
        unauthenticated: rate("requests_per_second_unauthenticated")?,
        burst_seconds: settings.parse("requests_burst_seconds", None)?,
    })
}

/// The scheduled backups of the daemon, if there is a folder for them.
fn backups(settings: &Settings) -> Outcome<Option<BackupSchedule>> {
    let dir = settings.get("backup_dir").0.trim();
    let minute = minute_of_day(settings, "backup_at")?;
    let keep = settings.parse("backup_keep", None)?;
    let (Some(minute), false) = (minute, dir.is_empty()) else { return Ok(None) };
    if !Path::new(dir).is_absolute() {
        return Err(Failure::usage(format!("backup_dir must be an absolute path, not \"{dir}\"")));
    }
    // The user may have mistaken the private key for the public one: no message repeats the value.
    let wrong = |why| Failure::usage(format!("the setting backup_encrypt_to is wrong: {why}"));
    let keys = listed(settings.get("backup_encrypt_to").0);
    let encrypt_to = keys.iter().map(|key| key.parse().map_err(wrong)).collect::<Outcome<_>>()?;
    let journal_keep_days = match settings.get("journal_keep_days").0.trim() {
        "" => None,
        _ => Some(settings.parse("journal_keep_days", None)?),
    };
    Ok(Some(BackupSchedule { dir: PathBuf::from(dir), minute, keep, encrypt_to, journal_keep_days }))
}

/// The settings of secrets, gateways and webhooks; an empty one is not set.
fn gateways(settings: &Settings, config: &mut Config) -> Outcome {
    let given = |name: &str| Some(settings.get(name).0.trim()).filter(|value| !value.is_empty());
    if let Some(file) = given("secret_key_file") {
        config.secret_key_file = PathBuf::from(file);
    }
    config.mail_from = given("mail_from").map(str::to_owned);
    config.sms_endpoint = given("sms_endpoint").map(str::to_owned);
    config.gateway_ca_file = given("gateway_ca_file").map(PathBuf::from);
    let networks = |name: &'static str| {
        let read = move |text: &String| settings.parse(name, Some(text));
        given(name).map(|given| listed(given).iter().map(read).collect::<Outcome<Vec<Network>>>()).transpose()
    };
    config.gateway_private_addresses = networks("gateway_private_addresses")?;
    config.webhook_private_addresses = networks("webhook_private_addresses")?.unwrap_or_default();
    config.webhook_plaintext = settings.flag("webhook_plaintext", None)?;
    config.gateway_connect_timeout_seconds = settings.parse("gateway_connect_timeout_seconds", None)?;
    config.gateway_timeout_seconds = settings.parse("gateway_timeout_seconds", None)?;
    Ok(())
}

/// The values of a setting that holds several.
fn listed(text: &str) -> Vec<String> {
    text.split(',').map(str::trim).filter(|value| !value.is_empty()).map(str::to_owned).collect()
}

/// A PostgreSQL store with its password from where PostgreSQL's own programs look; `flag` is the flag of the
/// command line that gave it.
pub fn address(given: &str, flag: Option<&str>) -> Outcome<Address> {
    let address = Address::parse(given).map_err(|error| Failure::usage(error.to_string()))?;
    if let Some(flag) = flag.filter(|_| address.has_password()) {
        let what = format!("{flag} holds a password, and others can read the arguments of a process");
        return Err(Failure::usage(what).hint("use PGPASSWORD, a password file, or MFA_STORE"));
    }
    let home_file = || Some(PathBuf::from(std::env::var_os("HOME")?).join(".pgpass"));
    let file = std::env::var_os("PGPASSFILE").map(PathBuf::from).or_else(home_file);
    Ok(address.or_password(std::env::var("PGPASSWORD").ok()).or_password_file(file))
}

/// The setting `store` as people may see it: without its password.
pub fn shown_store(setting: &str) -> String {
    match Address::parse(setting) {
        _ if setting.is_empty() => String::new(),
        Ok(address) => address.to_string(),
        Err(_) => "(cannot be read)".to_owned(),
    }
}

#[derive(Args)]
pub struct Run {
    #[command(flatten)]
    flags: DaemonFlags,
}

impl Verb for Run {
    const ABOUT: &'static str = "Run the daemon in the foreground until it is stopped";
    const EXAMPLES: &'static [&'static str] =
        &["mfa daemon run", "mfa daemon run --data-dir /var/lib/mfa/store --listen 127.0.0.1:6320 --auth on"];
    const SERVES: bool = true;
    async fn run(self, cx: &Cx) -> Outcome {
        log::to_stderr(cx)?;
        serve(cx, &self.flags, async |_| Ok(())).await
    }
}

/// Serves until a signal comes, or until the store takes no writes any more. `welcome` runs before the
/// address is printed.
pub async fn serve(cx: &Cx, flags: &DaemonFlags, welcome: impl AsyncFnOnce(&str) -> Outcome) -> Outcome {
    let mut term = listen(SignalKind::terminate())?;
    let mut int = listen(SignalKind::interrupt())?;
    // A daemon outlives the terminal that started it.
    let mut hangup = listen(SignalKind::hangup())?;
    let daemon = Daemon::start(flags.config(cx)?, Clock::system()).await.map_err(not_started)?;
    let url = daemon.url();
    let welcomed = async {
        welcome(&url).await?;
        let ready = match cx.out.format {
            Format::Id => url.clone(),
            format if format.is_structured() => json!({ "url": url, "status": "up" }).to_string(),
            _ => format!("mfa daemon listens on {url}"),
        };
        let _ = writeln!(stdout(), "{ready}");
        // From now on there is no end to wait for.
        talk::release();
        notify_systemd(NotifyState::Ready);
        std::future::pending::<Outcome>().await
    };
    let reloading = async {
        while hangup.recv().await.is_some() {
            daemon.reload();
        }
        std::future::pending::<Outcome>().await
    };
    let ended = tokio::select! {
        ended = reloading => ended,
        failed = welcomed => failed,
        why = daemon.failed() => Err(Failure::new("daemon_failed", exit::FAILURE, why)),
        _ = term.recv() => Ok(()),
        _ = int.recv() => Ok(()),
    };
    notify_systemd(NotifyState::Stopping);
    tokio::select! {
        () = daemon.stop() => return ended,
        _ = term.recv() => {}
        _ = int.recv() => {}
    }
    log::end();
    std::process::exit(exit::INTERRUPTED)
}

/// Notifies the service manager, if one has started this process.
fn notify_systemd(state: NotifyState<'_>) {
    if let Err(error) = sd_notify::notify(&[state]) {
        tracing::warn!(%error, "the service manager cannot be notified");
    }
}

pub fn not_started(error: StartError) -> Failure {
    let why = error.to_string();
    match error {
        StartError::Locked(_) => Failure::new("data_dir_locked", exit::LOCKED, why)
            .hint("stop the daemon that uses it: mfa daemon stop, or of a service: sudo systemctl stop mfa"),
        StartError::Settings(_) => Failure::usage(why).hint("see: mfa config view --origin"),
        StartError::Listen(_) => {
            Failure::new("cannot_listen", exit::FAILURE, why).hint("choose another address: --listen")
        }
        StartError::Store(_) => Failure::new("store", exit::FAILURE, why),
        // No daemon says when to try again.
        StartError::Refused(fault) if fault.kind == UNAVAILABLE => Failure::from(fault).hint(""),
        StartError::Refused(fault) => Failure::from(fault),
    }
}

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

/// The minute of the day at which interest is run, if the setting says one.
fn minute_of_day(settings: &Settings, name: &str) -> Outcome<Option<u16>> {
    let given = settings.get(name).0;
    if given.is_empty() || given == "off" {
        return Ok(None);
    }
    let digits = |text: &str, most: u16| {
        let plain = text.len() == 2 && text.bytes().all(|b| b.is_ascii_digit());
        text.parse::<u16>().ok().filter(|number| plain && *number <= most)
    };
    let minute = given.split_once(':').and_then(|(h, m)| Some(digits(h, 23)? * 60 + digits(m, 59)?));
    let bad = || Failure::usage(format!("{name} must be HH:MM, not \"{given}\""));
    minute.map(Some).ok_or_else(bad)
}
