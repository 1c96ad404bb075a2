//! Connections to the daemon, certificates, and why no answer came.

use super::Client;
use super::idempotency::Keys;
use super::limits::BYTES_A_SECOND;
use crate::failure::{Failure, Outcome, codes};
use mfa_shared::wire::PROBLEM_TYPE;
use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderName, RETRY_AFTER};
use std::net::IpAddr;
use std::sync::OnceLock;
use std::time::Duration;

/// The header of each of its answers.
const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
/// What to do about a certificate that is not trusted.
const UNTRUSTED_HINT: &str = "correct the address, or name the file of its authority: --ca-file; \
                              mfa tls trust fetches it";
/// Longest wait for a connection.
const CONNECT_SECONDS_MAX: u64 = 10;
/// How long an idle connection is used again: less than a daemon keeps it, which could close it just as the
/// next request is sent.
const IDLE_SECONDS_MAX: u64 = 5;

/// Longest time that a daemon may ask to wait before a request is repeated, or a part of longer work.
const RETRY_AFTER_SECONDS_MAX: u64 = 5;
const TURN_SECONDS_MAX: u64 = 60;

/// Longest wait for the answer to a question that a daemon answers at once.
const LOOK_WITHIN: Duration = Duration::from_secs(5);

impl Client {
    /// The same client for looks at the daemon itself, which it answers at once or not at all.
    pub fn looking(&self) -> Self {
        Self { verbose: self.verbose, ..self.hasty(self.timeout.min(LOOK_WITHIN)) }
    }

    /// The same client with a shorter timeout and without retries, which leaves the login as it is.
    pub fn hasty(&self, timeout: Duration) -> Self {
        let client = Self { timeout, retries: 0, http: OnceLock::new(), ..self.clone() };
        Self { verbose: false, keys: Keys::default(), leaves_login: true, ..client }
    }

    /// The same client with a longer timeout and without retries, for requests that must not be repeated
    /// silently.
    pub fn patient(&self, timeout: Duration) -> Self {
        Self { timeout: timeout.max(self.timeout), retries: 0, http: OnceLock::new(), ..self.clone() }
    }

    /// The same caller at the daemon of another address, whose requests are not repeated.
    pub fn at(&self, url: &str) -> Self {
        let url = url.trim_end_matches('/').to_owned();
        Self { url, leaves_login: self.leaves_login, ..self.hasty(self.timeout) }
    }

    /// How long to wait before a request is repeated; `None` where that does not help or takes too long. What
    /// is part of a longer work waits for its turn, a minute at most.
    pub(super) fn wait(
        &self,
        answer: &Result<reqwest::Response, reqwest::Error>,
        tries: u32,
        bulk: bool,
    ) -> Option<Duration> {
        let limited = is_limited(answer);
        let wait = match answer {
            Ok(response) if limited || response.status().as_u16() >= 500 => asked_wait(response.headers()),
            Ok(_) => return None,
            Err(error) if error.is_builder() => return None,
            Err(_) => Duration::ZERO,
        };
        // Also where the request reached no daemon.
        let backoff = Duration::from_millis(100 * 3_u64.pow(tries.min(4)));
        let soon = tries < self.retries && wait.as_secs() <= RETRY_AFTER_SECONDS_MAX;
        let in_turn = limited && bulk && wait.as_secs() <= TURN_SECONDS_MAX;
        (in_turn || soon).then(|| wait.max(backoff))
    }

    /// The connections that a request uses, and how long it may take. A body that is sent piece by piece
    /// has connections of its own: nothing comes back while a slow line is busy with it.
    pub(super) fn way(&self, in_pieces: bool, bytes: usize) -> Outcome<(reqwest::Client, Duration)> {
        if in_pieces {
            let patience = self.timeout + Duration::from_secs(bytes as u64 / BYTES_A_SECOND);
            return Ok((self.connections(patience)?, patience));
        }
        if let Some(http) = self.http.get() {
            return Ok((http.clone(), self.timeout));
        }
        let http = self.connections(self.timeout)?;
        Ok((self.http.get_or_init(|| http).clone(), self.timeout))
    }

    /// Refuses to send a password or a token where others on the way can read it.
    pub fn check_wire(&self) -> Outcome {
        let url = address(&self.url)?;
        if url.scheme() == "https" || is_here(&url) || self.insecure {
            return Ok(());
        }
        let host = url.host_str().unwrap_or_default();
        let what = "is plain HTTP to another machine: others could read the password or token";
        let hint = format!(
            "use https://, or a tunnel: ssh -L 6320:127.0.0.1:6320 {host}; \
             in a network that is yours alone: --insecure"
        );
        Err(Failure::usage(format!("{} {what}", self.url)).hint(hint))
    }

    fn connections(&self, read_timeout: Duration) -> Outcome<reqwest::Client> {
        let url = address(&self.url)?;
        let builder = reqwest::Client::builder()
            .user_agent(concat!("mfa/", env!("CARGO_PKG_VERSION")))
            .redirect(reqwest::redirect::Policy::none())
            .connect_timeout(self.timeout.min(Duration::from_secs(CONNECT_SECONDS_MAX)))
            .pool_idle_timeout(Duration::from_secs(IDLE_SECONDS_MAX))
            .read_timeout(read_timeout);
        // A proxy of the environment does not lead to this machine.
        let builder = if is_here(&url) { builder.no_proxy() } else { builder };
        let client = self.tls(builder, &url)?.build();
        client.map_err(|error| Failure::local(format!("cannot set up TLS: {error}")))
    }

    /// Reading the machine's certificates takes longer than everything else, so plain HTTP goes without.
    #[expect(clippy::expect_used, reason = "rustls's own provider speaks its default versions")]
    fn tls(&self, builder: reqwest::ClientBuilder, url: &reqwest::Url) -> Outcome<reqwest::ClientBuilder> {
        let provider = rustls::crypto::ring::default_provider();
        if url.scheme() == "https" {
            // It fails only where a provider is installed already, which serves as well.
            let _ = provider.install_default();
            return self.trust.apply(builder, is_here(url));
        }
        let config = rustls::ClientConfig::builder_with_provider(provider.into())
            .with_safe_default_protocol_versions()
            .expect("default versions")
            .with_root_certificates(rustls::RootCertStore::empty())
            .with_no_client_auth();
        Ok(builder.tls_backend_preconfigured(config))
    }
}

/// Whether an address is one of this machine.
fn is_here(url: &reqwest::Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    let number = host.trim_matches(['[', ']']).parse::<IpAddr>();
    host == "localhost" || number.is_ok_and(|ip| ip.to_canonical().is_loopback())
}

/// Refuses an invalid address of a daemon.
pub fn check_address(text: &str) -> Outcome {
    address(text).map(drop)
}

fn address(text: &str) -> Outcome<reqwest::Url> {
    let url = reqwest::Url::parse(text).ok().filter(|url| url.has_host());
    let url = url.filter(|url| matches!(url.scheme(), "http" | "https"));
    // The paths of requests go behind the address, where a query or a fragment would swallow them.
    let url = url.filter(|url| url.query().is_none() && url.fragment().is_none());
    url.ok_or_else(|| {
        // What is before an @ may be a password.
        let shown = text.rsplit_once('@').map_or(text.to_owned(), |(_, behind)| format!("…@{behind}"));
        Failure::usage(format!("\"{shown}\" is not the address of a daemon"))
            .hint("an address is like http://127.0.0.1:6320; it is set by --url or MFA_URL")
    })
}

/// An answer that did not come, or not to its end, in its time.
pub fn too_late(url: &str, within: Duration) -> Failure {
    silent(url, &format!("no answer within {} s", within.as_secs()), "is it running? mfa daemon status")
}

fn silent(url: &str, why: &str, hint: &str) -> Failure {
    let message = format!("cannot reach the daemon at {url}: {why}");
    Failure::new(codes::UNREACHABLE, message).hint(hint)
}

/// Why no answer came, by the first cause that says something to a person.
pub(super) fn unreachable(url: &str, timeout: Duration, error: &reqwest::Error) -> Failure {
    let here = reqwest::Url::parse(url).is_ok_and(|url| is_here(&url));
    let mut certificate = None;
    let mut refused = false;
    let mut unknown_name = false;
    let mut cause: Option<&(dyn std::error::Error + 'static)> = Some(error);
    while let Some(error) = cause {
        let mut io = error.downcast_ref::<std::io::Error>();
        while let Some(outer) = io {
            refused |= outer.kind() == std::io::ErrorKind::ConnectionRefused;
            // An input error hides what it carries from `source`, so it is taken apart here.
            let inner = outer.get_ref();
            certificate = certificate.or_else(|| inner?.downcast_ref::<rustls::Error>());
            io = inner.and_then(|inner| inner.downcast_ref());
        }
        certificate = certificate.or(error.downcast_ref::<rustls::Error>());
        unknown_name |= error.to_string() == "dns error";
        cause = error.source();
    }
    let (why, hint) = match certificate {
        Some(rustls::Error::InvalidCertificate(why)) => {
            (format!("its certificate is not trusted: {}", distrust(why)), UNTRUSTED_HINT)
        }
        Some(rustls::Error::InvalidMessage(_)) => {
            ("the server there does not speak TLS".to_owned(), "is the address http:// in place of https://?")
        }
        _ if unknown_name => ("no such host".to_owned(), "correct the address: --url or MFA_URL"),
        _ if refused && here => ("the connection was refused".to_owned(), "start it: mfa daemon start"),
        _ if refused => {
            ("the connection was refused".to_owned(), "start the daemon there, or correct the address")
        }
        _ if error.is_timeout() => return too_late(url, timeout),
        _ => (root(error), "is it running? mfa daemon status"),
    };
    silent(url, &why, hint)
}

fn distrust(why: &rustls::CertificateError) -> &'static str {
    use rustls::CertificateError::*;
    match why {
        Expired | ExpiredContext { .. } => "it has expired",
        NotValidYet | NotValidYetContext { .. } => "it is not valid yet; is the clock right?",
        Revoked => "it has been revoked",
        UnknownIssuer => "this machine does not know its authority",
        NotValidForName | NotValidForNameContext { .. } => "it is for another host",
        ApplicationVerificationFailure => "it is not the one of the setting tls_cert",
        _ => "it is not one for a server",
    }
}

/// The innermost cause, which is the one that says what happened.
pub(super) fn root(error: &reqwest::Error) -> String {
    let mut cause: &dyn std::error::Error = error;
    while let Some(inner) = cause.source() {
        cause = inner;
    }
    cause.to_string()
}

/// Whether the daemon refused a request because its token or address has sent too many. Nothing was done.
pub(super) fn is_limited(answer: &Result<reqwest::Response, reqwest::Error>) -> bool {
    let limited = |response: &reqwest::Response| {
        response.status().as_u16() == 429 && response.headers().contains_key("ratelimit")
    };
    answer.as_ref().is_ok_and(limited)
}

/// Whether a refusal is the daemon's own, and not that of a proxy before it.
fn is_own(headers: &HeaderMap) -> bool {
    let kind = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
    kind.and_then(|kind| kind.split(';').next()) == PROBLEM_TYPE.split(';').next()
}

/// Whether a daemon answered. Another server may well answer 200 or 404 to whatever it is asked, and a script
/// would take a change for made, or for refused. Proxies number requests, too, but refuse them in other
/// words.
pub(super) fn is_of_daemon(response: &reqwest::Response) -> bool {
    let (status, headers) = (response.status(), response.headers());
    let refuses = status.is_client_error() || status.is_server_error();
    headers.contains_key(REQUEST_ID) && (!refuses || is_own(headers))
}

/// How long the daemon asks to wait.
fn asked_wait(headers: &HeaderMap) -> Duration {
    let seconds = headers.get(RETRY_AFTER).and_then(|value| value.to_str().ok()?.parse().ok());
    Duration::from_secs(seconds.unwrap_or(0))
}
