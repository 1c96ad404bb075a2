//! Settings of the daemon: their names, defaults and rules. Where a value comes from (flag, environment,
//! file) is the business of the command line.

use crate::domain::network::Network;
use crate::domain::pace::Pace;
use crate::domain::rate::Rates;
use crate::domain::thinning::Keep;
use crate::domain::webhook::Receivers;
use crate::store::backup::crypt::PublicKey;
use crate::store::postgres::Address;
use crate::tls::TlsFiles;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The default address on which the daemon listens.
pub const LISTEN_DEFAULT: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 6320);

/// Connections beyond [`Config::connections_max`], on which only looks at the daemon itself are answered.
pub const CONNECTIONS_SPARE: usize = 8;

/// Whether callers are asked for a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Auth {
    /// Every endpoint but the public ones needs a token.
    On,
    /// No authentication; for trying the interface on loopback only.
    Off,
}

impl Auth {
    /// The word of the setting.
    pub fn as_str(self) -> &'static str {
        match self {
            Auth::On => "on",
            Auth::Off => "off",
        }
    }
}

/// Where the store of a daemon is.
#[derive(Debug, Clone)]
pub enum StorePlace {
    /// In the folder [`Config::data_dir`], by the embedded engine.
    Embedded,
    /// In a PostgreSQL database.
    Postgres(Box<Address>),
}

impl StorePlace {
    /// The address of the database, if the store is in one.
    pub fn postgres(&self) -> Option<&Address> {
        match self {
            Self::Embedded => None,
            Self::Postgres(address) => Some(address),
        }
    }
}

impl From<Address> for StorePlace {
    fn from(address: Address) -> Self {
        Self::Postgres(Box::new(address))
    }
}

impl From<Option<Address>> for StorePlace {
    fn from(address: Option<Address>) -> Self {
        address.map_or(Self::Embedded, Self::from)
    }
}

/// When backups are made, where, and which ones stay.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BackupSchedule {
    /// The folder.
    pub dir: PathBuf,
    /// Minute of the day in UTC from which on the one of the day is made.
    pub minute: u16,
    /// Which ones stay.
    pub keep: Keep,
    /// Who can open them; if empty, everyone can.
    pub encrypt_to: Vec<PublicKey>,
    /// Days whose journal stays with the store; older files that the backup covers go into an archive beside
    /// it. Without it all stay.
    pub journal_keep_days: Option<u32>,
}

/// Settings of one daemon.
#[derive(Debug, Clone)]
pub struct Config {
    /// Folder of the embedded store.
    pub data_dir: PathBuf,
    /// Where the store is.
    pub store: StorePlace,
    /// Most connections to PostgreSQL for requests.
    pub store_connections_max: usize,
    /// Address to listen on; port 0 takes a free one.
    pub listen: SocketAddr,
    /// Whether it may listen beyond this machine without encryption.
    pub plaintext: bool,
    /// File of the certificate with which it speaks TLS; [`Config::tls_files`].
    pub tls_cert: Option<PathBuf>,
    /// File of the certificate's private key.
    pub tls_key: Option<PathBuf>,
    /// File of the authorities of clients, where these must have a certificate, too.
    pub tls_client_ca: Option<PathBuf>,
    /// Whether callers are asked for a token.
    pub auth: Auth,
    /// Whether every descriptive reference must name an existing record (`decisions.md` section 5).
    pub strict_references: bool,
    /// Life of an access token, 60 to 86,400.
    pub access_token_seconds: u32,
    /// Life of a session, 300 to 2,592,000.
    pub refresh_token_seconds: u32,
    /// Roles whose users must have a second factor.
    pub second_factor_roles: Vec<String>,
    /// Seconds after which a session ends that is not used; 0 for never.
    pub session_idle_seconds: u32,
    /// Whether users must give the present password to set another one.
    pub current_password_required: bool,
    /// Further names under which the assertion of an application may name the daemon.
    pub token_audiences: Vec<String>,
    /// File of the keys with which secrets are encrypted; it is kept outside the store.
    pub secret_key_file: PathBuf,
    /// Sender of e-mail where a configuration has no address as its user name.
    pub mail_from: Option<String>,
    /// Address of the SMS service, in which `{account_sid}` is the placeholder for the account.
    pub sms_endpoint: Option<String>,
    /// File of certificate authorities that gateways may have beside those of the system.
    pub gateway_ca_file: Option<PathBuf>,
    /// Networks of this machine and of private nets in which gateways may be; [`Config::gateway_networks`].
    pub gateway_private_addresses: Option<Vec<Network>>,
    /// Time to reach a gateway.
    pub gateway_connect_timeout_seconds: u64,
    /// Time for a message to a gateway in all.
    pub gateway_timeout_seconds: u64,
    /// Whether events may be delivered to `http:` addresses.
    pub webhook_plaintext: bool,
    /// Networks of this machine and of private nets in which receivers of events may be.
    pub webhook_private_addresses: Vec<Network>,
    /// Origins to which cross-origin headers are sent.
    pub cors_origins: Vec<String>,
    /// Largest JSON body.
    pub body_bytes_max: usize,
    /// Largest image.
    pub image_max_bytes: u64,
    /// Connections served at once; the last 16 of them are for programs of this machine. A few more are
    /// answered where they look at the daemon itself.
    pub connections_max: usize,
    /// Connections of one address that is not of this machine; more are refused.
    pub connections_per_address: usize,
    /// Connections that programs of this machine may have, however few an address may; all of them where
    /// nothing is said.
    pub connections_of_loopback: Option<usize>,
    /// How often a token and an address may ask.
    pub rates: Rates,
    /// Whether programs of this machine see the metrics without a token.
    pub metrics_public: bool,
    /// Addresses of proxies whose `X-Forwarded-For` says for whom they ask.
    pub trusted_proxies: Vec<IpAddr>,
    /// How slow a client may read, and send a body.
    pub pace: Pace,
    /// A listener of events who does not read for so long is closed.
    pub listener_patience: Duration,
    /// How long one operation of a batch may read while it holds up all changes.
    pub batch_read_time: Duration,
    /// Bytes that are remembered in a day for the batches of a caller beyond what they have changed.
    pub remembered_bytes: u64,
    /// Time that a read of one moment has.
    pub read_time: Duration,
    /// Time for the head of a request to arrive.
    pub header_timeout_seconds: u64,
    /// Time for a request to arrive whole and be answered.
    pub request_timeout_seconds: u64,
    /// Time between "not ready" and the end of accepting, so that clients that poll `/ready` turn away first.
    pub drain: Duration,
    /// Time after the signal to stop in which running requests may end.
    pub stop_timeout_seconds: u64,
    /// Backups that the daemon makes by itself.
    pub backups: Option<BackupSchedule>,
    /// Whether a backup is made before a store of an earlier form is upgraded.
    pub upgrade_backup: bool,
    /// Minute of the day in UTC from which on the daemon runs the interest of yesterday by itself.
    pub interest_run_at: Option<u16>,
    /// Memory that the index of the embedded store may use for its cache.
    pub cache_bytes: u64,
}

impl Config {
    /// The defaults for a data directory; the key file is next to it.
    pub fn new(data_dir: impl Into<PathBuf>) -> Self {
        let data_dir = data_dir.into();
        // A slash at the end would put it into the folder.
        let mut secret_key_file = data_dir.components().as_path().as_os_str().to_owned();
        secret_key_file.push(".key");
        Self {
            data_dir,
            store: StorePlace::Embedded,
            store_connections_max: 16,
            listen: LISTEN_DEFAULT,
            plaintext: false,
            tls_cert: None,
            tls_key: None,
            tls_client_ca: None,
            auth: Auth::On,
            strict_references: false,
            access_token_seconds: 1200,
            refresh_token_seconds: 54_000,
            second_factor_roles: Vec::new(),
            session_idle_seconds: 0,
            current_password_required: false,
            token_audiences: Vec::new(),
            secret_key_file: secret_key_file.into(),
            mail_from: None,
            sms_endpoint: None,
            gateway_ca_file: None,
            gateway_private_addresses: None,
            gateway_connect_timeout_seconds: 10,
            gateway_timeout_seconds: 30,
            webhook_plaintext: false,
            webhook_private_addresses: Vec::new(),
            cors_origins: Vec::new(),
            body_bytes_max: 1_048_576,
            image_max_bytes: 524_288,
            connections_max: 4096,
            connections_per_address: 256,
            connections_of_loopback: None,
            rates: Rates::default(),
            metrics_public: false,
            trusted_proxies: Vec::new(),
            batch_read_time: Duration::from_millis(100),
            // Some 100,000 refusals.
            remembered_bytes: 40 * 1024 * 1024,
            read_time: Duration::from_secs(60),
            pace: Pace { grace: Duration::from_secs(10), bytes_a_second: 1024 },
            listener_patience: Duration::from_secs(30),
            header_timeout_seconds: 10,
            request_timeout_seconds: 60,
            drain: Duration::from_millis(250),
            stop_timeout_seconds: 20,
            backups: None,
            upgrade_backup: true,
            interest_run_at: None,
            cache_bytes: 64 * 1024 * 1024,
        }
    }

    /// The folder of the store, if it is an embedded one.
    pub fn folder(&self) -> Option<&Path> {
        match self.store {
            StorePlace::Embedded => Some(&self.data_dir),
            StorePlace::Postgres(_) => None,
        }
    }

    /// The store as people may see it: its folder, or its address without a password.
    pub fn shown_store(&self) -> String {
        match &self.store {
            StorePlace::Embedded => self.data_dir.display().to_string(),
            StorePlace::Postgres(address) => address.to_string(),
        }
    }

    /// The files for TLS, if it is to be spoken; one without the other is a mistake.
    pub fn tls_files(&self) -> Result<Option<TlsFiles>, String> {
        let missing =
            |there: &str, lacks: &str| Err(format!("{there} is set and {lacks} is not: set both or neither"));
        match (&self.tls_cert, &self.tls_key, &self.tls_client_ca) {
            (Some(certificate), Some(key), authorities) => Ok(Some(TlsFiles {
                certificate: certificate.clone(),
                key: key.clone(),
                client_authorities: authorities.clone(),
            })),
            (Some(_), None, _) => missing("tls_cert", "tls_key"),
            (None, Some(_), _) => missing("tls_key", "tls_cert"),
            (None, None, Some(_)) => missing("tls_client_ca", "tls_cert"),
            (None, None, None) => Ok(None),
        }
    }

    /// Where events may be delivered to.
    pub fn receivers(&self) -> Receivers {
        Receivers { plaintext: self.webhook_plaintext, private: self.webhook_private_addresses.clone() }
    }

    /// Networks beside the Internet in which gateways may be: by default none, and while
    /// the interface is only tried out on this machine, this machine.
    pub fn gateway_networks(&self) -> Vec<Network> {
        match (&self.gateway_private_addresses, self.auth) {
            (Some(given), _) => given.clone(),
            (None, Auth::Off) => Network::LOOPBACK.to_vec(),
            (None, Auth::On) => Vec::new(),
        }
    }
}
