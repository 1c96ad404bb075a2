//! The settings of the daemon in this process: flags, and what variables and config files say.

use crate::command::cx::Cx;
use crate::failure::{Failure, Outcome};
use crate::settings::{self, Settings};
use clap::Args;
use mfa_daemon::{Address, Auth, BackupSchedule, Config, Network, Rates, StorePlace};
use std::path::{Path, PathBuf};

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
    pub(super) fn config(&self, cx: &Cx) -> Outcome<Config> {
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
pub(super) fn backups(settings: &Settings) -> Outcome<Option<BackupSchedule>> {
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
