//! Where a PostgreSQL store is: a connection string whose password is never shown.

use super::OpenError;
use super::passfile;
use mfa_shared::endpoint::percent_decode;
use std::fmt;
use std::net::IpAddr;
use std::path::PathBuf;
use tokio_postgres::Config;
use tokio_postgres::config::{Host, SslMode};

/// What a connection string begins with.
pub const SCHEMES: [&str; 2] = ["postgres://", "postgresql://"];
/// The default schema for the tables.
const SCHEMA_DEFAULT: &str = "mfa";
/// PostgreSQL cuts longer names.
const SCHEMA_LENGTH_MAX: usize = 63;

/// How far the identity of the server is looked at; the words of `sslmode`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verify {
    /// Encrypted at most (`disable`, `prefer`, `require`).
    Nothing,
    /// The certificate has a known root (`verify-ca`).
    Root,
    /// The certificate has a known root and names the host (`verify-full`).
    Host,
}

/// The place of a PostgreSQL store. Printing it leaves the password out.
#[derive(Clone)]
pub struct Address {
    pub(super) config: Config,
    pub(super) schema: String,
    pub(super) verify: Verify,
    pub(super) root_file: Option<PathBuf>,
    password_file: Option<PathBuf>,
}

/// One server of several.
#[derive(Debug, Clone)]
pub(super) struct Server {
    pub(super) host: String,
    pub(super) port: u16,
}

impl Address {
    /// Whether a text is meant as the address of a PostgreSQL store.
    pub fn is_one(text: &str) -> bool {
        SCHEMES.iter().any(|scheme| text.starts_with(scheme))
    }

    /// Reads `postgres://user@host:5432,host:5432/database?sslmode=...`, with `schema`, `sslrootcert` and
    /// `passfile` beside the settings that the driver knows.
    pub fn parse(text: &str) -> Result<Self, OpenError> {
        // The text may hold a password, so no refusal repeats any of it.
        let refuse = |why: &str| OpenError::Address(why.to_owned());
        if !Self::is_one(text) {
            return Err(refuse("the store must be given as postgres://user@host:port/database"));
        }
        let (place, query) = text.split_once('?').unwrap_or((text, ""));
        let mut schema = SCHEMA_DEFAULT.to_owned();
        let mut verify = Verify::Nothing;
        let mut root_file = None;
        let mut password_file = None;
        let mut rest = Vec::new();
        for setting in query.split('&').filter(|setting| !setting.is_empty()) {
            let (name, value) = setting.split_once('=').unwrap_or((setting, ""));
            let decoded = percent_decode(value);
            let decoded =
                decoded.ok_or_else(|| refuse("a setting of the store is no percent-encoded text"))?;
            match (name, decoded.as_str()) {
                ("schema", _) => schema = decoded,
                ("sslrootcert", _) => root_file = Some(PathBuf::from(decoded)),
                ("passfile", _) => password_file = Some(PathBuf::from(decoded)),
                ("sslmode", "verify-ca") => verify = Verify::Root,
                ("sslmode", "verify-full") => verify = Verify::Host,
                ("target_session_attrs", "read-write") => {}
                ("target_session_attrs", _) => {
                    return Err(refuse(
                        "a store is written to, so target_session_attrs can only be read-write",
                    ));
                }
                _ => rest.push(setting),
            }
        }
        let plain = schema.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_');
        if !plain || schema.is_empty() || schema.len() > SCHEMA_LENGTH_MAX || schema.starts_with("pg_") {
            return Err(refuse("the schema of the store must be 1 to 63 of a-z, 0-9 and _"));
        }
        let place = if rest.is_empty() { place.to_owned() } else { format!("{place}?{}", rest.join("&")) };
        // What the driver says names settings, but never their values.
        let config = place.parse::<Config>().map_err(|e| match std::error::Error::source(&e) {
            Some(source) if !source.to_string().contains(':') => refuse(&format!("the store: {source}")),
            _ => refuse("the store cannot be read as postgres://user@host:port/database"),
        })?;
        let mut address = Self { config, schema, verify, root_file, password_file };
        if verify != Verify::Nothing {
            address.config.ssl_mode(SslMode::Require);
        }
        if address.config.get_user().is_none() {
            return Err(refuse("the address of the store names no user: postgres://user@host/database"));
        }
        let servers = address.servers();
        if servers.is_empty() || servers.iter().any(|server| server.host.contains('@')) {
            let why = "the address of the store names no host, or a password in it is not percent-encoded";
            return Err(refuse(why));
        }
        Ok(address)
    }

    /// Whether the address brings its password along.
    pub fn has_password(&self) -> bool {
        self.config.get_password().is_some()
    }

    /// The hosts on other machines of which nothing shows that they are the ones that are meant: whoever
    /// answers in their place gets the password, and all records. None where it does not matter.
    pub fn unverified(&self) -> Option<String> {
        let is_encrypted = self.config.get_ssl_mode() == SslMode::Require;
        if self.verify != Verify::Nothing || (is_encrypted && self.root_file.is_some()) {
            return None;
        }
        let elsewhere = self.config.get_hosts().iter().filter_map(|host| match host {
            Host::Tcp(name) if !is_here(name) => Some(name.as_str()),
            _ => None,
        });
        let names: Vec<_> = elsewhere.collect();
        (!names.is_empty()).then(|| names.join(", "))
    }

    /// The same address with this password, unless it has one.
    pub fn or_password(mut self, password: Option<String>) -> Self {
        if let Some(password) = password.filter(|_| !self.has_password()) {
            self.config.password(password);
        }
        self
    }

    /// The same address with this password file, unless it names one.
    pub fn or_password_file(mut self, file: Option<PathBuf>) -> Self {
        self.password_file = self.password_file.or(file);
        self
    }

    /// The hosts in their order.
    pub(super) fn servers(&self) -> Vec<Server> {
        let ports = self.config.get_ports();
        let host = |host: &Host| match host {
            Host::Tcp(name) => name.clone(),
            Host::Unix(path) => path.to_string_lossy().into_owned(),
        };
        let port = |i: usize| ports.get(i).or(ports.first().filter(|_| ports.len() == 1)).copied();
        let hosts = self.config.get_hosts().iter().enumerate();
        hosts.map(|(i, h)| Server { host: host(h), port: port(i).unwrap_or(5432) }).collect()
    }

    /// The settings for one of the hosts, with its password out of the password file if there is one.
    pub(super) fn at(&self, server: &Server) -> Config {
        let from = &self.config;
        let mut config = Config::new();
        config.host(&server.host).port(server.port).ssl_mode(from.get_ssl_mode());
        config.ssl_negotiation(from.get_ssl_negotiation()).channel_binding(from.get_channel_binding());
        config.application_name(from.get_application_name().unwrap_or("mfa"));
        if let Some(user) = from.get_user() {
            config.user(user);
        }
        config.dbname(self.database());
        if let Some(options) = from.get_options() {
            config.options(options);
        }
        match (from.get_password(), &self.password_file) {
            (Some(password), _) => {
                config.password(password);
            }
            (None, Some(file)) => {
                let user = from.get_user().unwrap_or_default();
                let asked = [&server.host, &server.port.to_string(), self.database(), user];
                if let Some(password) = passfile::find(file, asked) {
                    config.password(password);
                }
            }
            (None, None) => {}
        }
        config
    }

    fn database(&self) -> &str {
        self.config.get_dbname().or(self.config.get_user()).unwrap_or_default()
    }
}

/// Whether a host is this machine, by its name alone.
fn is_here(host: &str) -> bool {
    let address = host.trim_matches(['[', ']']).parse::<IpAddr>();
    host == "localhost" || address.is_ok_and(|address| address.to_canonical().is_loopback())
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let servers = self.servers().into_iter().map(|server| {
            if server.host.contains(':') {
                format!("[{}]:{}", server.host, server.port)
            } else {
                format!("{}:{}", server.host, server.port)
            }
        });
        let servers: Vec<_> = servers.collect();
        let user = self.config.get_user().unwrap_or_default();
        write!(f, "postgres://{user}@{}/{}", servers.join(","), self.database())?;
        if self.schema != SCHEMA_DEFAULT {
            write!(f, "?schema={}", self.schema)?;
        }
        Ok(())
    }
}

impl fmt::Debug for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_shown_without_its_password_and_its_settings() {
        let text = "postgres://ann:s3cret@one,two:6000/bank?sslmode=verify-full&sslrootcert=/c.pem&schema=b1";
        let address = Address::parse(text).unwrap();
        assert_eq!(address.to_string(), "postgres://ann@one:5432,two:6000/bank?schema=b1");
        assert!(!format!("{address:?}").contains("s3cret"));
        assert!(address.has_password() && address.verify == Verify::Host);
        assert_eq!(address.at(&address.servers()[1]).get_password(), Some(&b"s3cret"[..]));
    }

    #[test]
    fn a_bad_address_is_refused_without_repeating_it() {
        for text in [
            "postgres://ann:s3cret@/",
            "postgres://ann:s3cret@host/bank?nosuch=1",
            "postgres://ann:s3cret@host:port/bank",
            "postgres://ann:s3@cret@host/bank",
            "postgres://ann:s3cret@host/bank?schema=Bank",
            "postgres://ann:s3cret@host/bank?target_session_attrs=any",
            "mysql://ann:s3cret@host/bank",
        ] {
            let why = Address::parse(text).unwrap_err().to_string();
            assert!(!why.contains("cret") && !why.contains("s3"), "{text}: {why}");
        }
    }

    #[test]
    fn a_server_on_another_machine_is_verified_where_the_address_says_so() {
        for (address, hosts) in [
            ("postgres://mfa@db1,127.0.0.1,db2/bank", Some("db1, db2")),
            ("postgres://mfa@db1/bank?sslmode=require", Some("db1")),
            ("postgres://mfa@db1/bank?sslrootcert=/c.pem", Some("db1")),
            ("postgres://mfa@[2001:db8::1]/bank", Some("2001:db8::1")),
            ("postgres://mfa@db1/bank?sslmode=require&sslrootcert=/c.pem", None),
            ("postgres://mfa@db1/bank?sslmode=verify-ca&sslrootcert=/c.pem", None),
            ("postgres://mfa@localhost,[::1],127.0.0.2/bank", None),
            ("postgres://mfa@%2Frun%2Fpostgresql/bank", None),
        ] {
            assert_eq!(Address::parse(address).unwrap().unverified().as_deref(), hosts, "{address}");
        }
    }

    #[test]
    fn a_password_from_elsewhere_counts_only_where_the_address_has_none() {
        let given = |text: &str| {
            let address = Address::parse(text).unwrap().or_password(Some("other".to_owned()));
            address.at(&address.servers()[0]).get_password().map(<[u8]>::to_vec)
        };
        assert_eq!(given("postgres://ann@host/bank"), Some(b"other".to_vec()));
        assert_eq!(given("postgres://ann:own@host/bank"), Some(b"own".to_vec()));
    }
}
