//! What may be sent through a gateway, and how (`gateways.md` section 5).

use super::network::{Network, is_public};
use crate::secret::Secret;
use mfa_shared::address::ServiceAddress;
use mfa_shared::api::gateways::{EmailConfiguration, GatewayState, Protocol, is_mail_address};
use mfa_shared::time::Timestamp;
use std::net::IpAddr;
use std::path::PathBuf;
use std::time::Duration;

/// Most characters of a gateway's words that are passed on.
pub const WORDS_MAX: usize = 1000;
/// The placeholder for the account in the address of the SMS service.
pub const ACCOUNT_PLACE: &str = "{account_sid}";

/// Why nothing is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    /// The configuration is not in use.
    Deactivated,
    /// The protocol only fetches mail.
    OnlyFetches(Protocol),
    /// There is no address to send from.
    NoSender,
    /// The address of the service is not set.
    NoEndpoint {
        /// The setting that names it.
        setting: &'static str,
    },
    /// The secret would travel in clear to another machine.
    Insecure,
}

/// When TLS begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tls {
    /// Never.
    Never,
    /// By STARTTLS, or nothing is sent.
    StartTls,
    /// With the first byte.
    AtOnce,
}

/// How a mail leaves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MailWay {
    /// When TLS begins.
    pub tls: Tls,
    /// Sender of the mail.
    pub sender: String,
    /// Whether a secret travels in clear, so that the server must be on this machine.
    pub loopback_only: bool,
}

/// How a mail leaves through a configuration, if it may.
pub fn mail_way(email: &EmailConfiguration, mail_from: Option<&str>) -> Result<MailWay, Refusal> {
    if email.state == GatewayState::Deactivated {
        return Err(Refusal::Deactivated);
    }
    let tls = match (email.protocol, email.start_tls.is_on()) {
        (Protocol::Smtps, _) => Tls::AtOnce,
        (Protocol::Smtp, true) => Tls::StartTls,
        (Protocol::Smtp, false) => Tls::Never,
        (Protocol::Pop3 | Protocol::Imap, _) => return Err(Refusal::OnlyFetches(email.protocol)),
    };
    let own = email.username.as_deref().filter(|name| is_sender(name));
    let sender = own.or(mail_from).ok_or(Refusal::NoSender)?.to_owned();
    let loopback_only = tls == Tls::Never && email.smtp_auth.is_on();
    if loopback_only && !is_loopback(&email.host) {
        return Err(Refusal::Insecure);
    }
    Ok(MailWay { tls, sender, loopback_only })
}

/// Whether a name to sign in with is a mail address, also one with spaces between quotation marks.
fn is_sender(name: &str) -> bool {
    let quoted = name.strip_prefix('"').and_then(|name| name.rsplit_once("\"@"));
    match quoted {
        Some((inner, domain)) => {
            let is_spared = |c: char| c == '@' || c.is_whitespace();
            let plain: String = inner.chars().map(|c| if is_spared(c) { '_' } else { c }).collect();
            is_mail_address(&format!("\"{plain}\"@{domain}"))
        }
        None => is_mail_address(name),
    }
}

/// The address of an SMS service, with [`ACCOUNT_PLACE`] in its path.
pub fn sms_endpoint(address: &str) -> Option<ServiceAddress> {
    ServiceAddress::parse_around(address, ACCOUNT_PLACE)
}

const NO_SMS_ENDPOINT: Refusal = Refusal::NoEndpoint { setting: "sms_endpoint" };

/// The address of the SMS service, if a message may be sent there.
pub fn sms_way(state: GatewayState, endpoint: Option<&str>) -> Result<ServiceAddress, Refusal> {
    if state == GatewayState::Deactivated {
        return Err(Refusal::Deactivated);
    }
    let endpoint = endpoint.and_then(sms_endpoint).ok_or(NO_SMS_ENDPOINT)?;
    if !endpoint.tls && !is_loopback(&endpoint.host) {
        return Err(Refusal::Insecure);
    }
    Ok(endpoint)
}

/// Whether a host is this machine. A name other than `localhost` could resolve to any address.
pub fn is_loopback(host: &str) -> bool {
    match bare(host).parse::<IpAddr>() {
        Ok(address) => address.to_canonical().is_loopback(),
        Err(_) => host.eq_ignore_ascii_case("localhost"),
    }
}

/// A host without the brackets of an IPv6 address.
pub fn bare(host: &str) -> &str {
    host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host)
}

/// The limits of a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// Time to reach the gateway.
    pub connect: Duration,
    /// Time in all.
    pub whole: Duration,
    /// File of authorities beside those of the system.
    pub authorities: Option<PathBuf>,
    /// Networks of this machine and of private nets in which it may be.
    pub private: Vec<Network>,
    /// The setting that names these networks.
    pub setting: &'static str,
}

impl Limits {
    /// Whether a gateway may be at an address.
    pub fn allow(&self, address: IpAddr) -> bool {
        is_public(address) || self.private.iter().any(|network| network.contains(address))
    }
}

/// A mail that is to be sent.
#[derive(Debug)]
pub struct Mail {
    /// Mail server.
    pub host: String,
    /// Its port.
    pub port: u16,
    /// How it leaves.
    pub way: MailWay,
    /// Name and password, where it signs in.
    pub sign_in: Option<(String, Secret)>,
    /// Receiver.
    pub to: String,
    /// Subject.
    pub subject: String,
    /// Text.
    pub text: String,
    /// Name of the message, without a domain.
    pub name: String,
    /// When it is sent.
    pub at: Timestamp,
    /// Its limits.
    pub limits: Limits,
}

/// A message that goes to a service by one POST.
#[derive(Debug)]
pub struct Post {
    /// Address of the service; its path is complete.
    pub to: ServiceAddress,
    /// The header `Authorization`.
    pub sign_in: Secret,
    /// Account and secret that the header is made of, wherever the service repeats them.
    pub covered: (String, Secret),
    /// Type of the body.
    pub content_type: &'static str,
    /// The message in the way of the service.
    pub body: String,
    /// The property by which the service names the message in its answer.
    pub named_by: &'static str,
    /// Its limits.
    pub limits: Limits,
}

/// A message of any gateway, in the way in which it leaves.
#[derive(Debug)]
pub enum Message {
    /// Through a mail server.
    Mail(Box<Mail>),
    /// To a service.
    Post(Box<Post>),
}

/// How far a message came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// To the gateway's door.
    Connect,
    /// To the encrypted connection.
    Tls,
    /// To the sign-in.
    SignIn,
    /// To the message itself.
    Send,
}

impl Stage {
    /// The word on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Stage::Connect => "connect",
            Stage::Tls => "tls",
            Stage::SignIn => "sign_in",
            Stage::Send => "send",
        }
    }
}

/// A message that the gateway took.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Taken {
    /// The gateway's own words.
    pub answer: String,
    /// The gateway's name for the message.
    pub message: Option<String>,
    /// The status with which it took it.
    pub code: Option<u16>,
}

/// A message that did not get through.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failed {
    /// How far it came.
    pub stage: Stage,
    /// The status with which the gateway refused.
    pub code: Option<u16>,
    /// What is the case.
    pub why: String,
}

/// A message that is planned.
#[derive(Debug)]
pub struct Trial<M> {
    /// The message.
    pub message: M,
    /// The receiver as used.
    pub to: String,
    /// When it is sent.
    pub at: Timestamp,
}

/// A message that was tried.
#[derive(Debug)]
pub struct Tried {
    /// The receiver as used.
    pub to: String,
    /// When it was sent.
    pub at: Timestamp,
    /// The result.
    pub outcome: Result<Taken, Failed>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use mfa_shared::api::gateways::Switch;

    fn email(protocol: Protocol, host: &str, smtp_auth: Switch, start_tls: Switch) -> EmailConfiguration {
        EmailConfiguration {
            identifier: "main".to_owned(),
            host: host.to_owned(),
            port: "25".to_owned(),
            protocol,
            username: Some("bank@example.org".to_owned()),
            app_password: Some("geheim".to_owned()),
            smtp_auth,
            start_tls,
            state: GatewayState::Active,
        }
    }

    #[test]
    fn the_ways_of_a_mail() {
        use Protocol::{Imap, Pop3, Smtp, Smtps};
        use Switch::{False, True};
        for (protocol, host, auth, start_tls, expected) in [
            (Smtp, "mail.example.org", False, False, Ok(Tls::Never)),
            (Smtp, "mail.example.org", True, False, Err(Refusal::Insecure)),
            (Smtp, "mail.example.org", True, True, Ok(Tls::StartTls)),
            (Smtp, "mail.example.org", False, True, Ok(Tls::StartTls)),
            (Smtps, "mail.example.org", True, False, Ok(Tls::AtOnce)),
            (Smtps, "mail.example.org", True, True, Ok(Tls::AtOnce)),
            (Smtp, "127.0.0.1", True, False, Ok(Tls::Never)),
            (Smtp, "127.9.9.9", True, False, Ok(Tls::Never)),
            (Smtp, "::1", True, False, Ok(Tls::Never)),
            (Smtp, "[::1]", True, False, Ok(Tls::Never)),
            (Smtp, "LOCALHOST", True, False, Ok(Tls::Never)),
            (Smtp, "localhost.example.org", True, False, Err(Refusal::Insecure)),
            (Smtp, "10.0.0.1", True, False, Err(Refusal::Insecure)),
            (Pop3, "127.0.0.1", False, False, Err(Refusal::OnlyFetches(Pop3))),
            (Imap, "mail.example.org", True, False, Err(Refusal::OnlyFetches(Imap))),
        ] {
            let way = mail_way(&email(protocol, host, auth, start_tls), None);
            assert_eq!(way.map(|way| way.tls), expected, "{protocol} {host} {auth} {start_tls}");
        }
    }

    #[test]
    fn the_sender_is_the_user_name_where_that_is_an_address() {
        let mut from = email(Protocol::Smtps, "mail.example.org", Switch::True, Switch::False);
        let sender = |email: &EmailConfiguration, from| mail_way(email, from).map(|way| way.sender);
        assert_eq!(sender(&from, Some("other@example.org")).unwrap(), "bank@example.org");
        from.username = Some("bank".to_owned());
        assert_eq!(sender(&from, Some("other@example.org")).unwrap(), "other@example.org");
        assert_eq!(sender(&from, None), Err(Refusal::NoSender));
        from.state = GatewayState::Deactivated;
        assert_eq!(sender(&from, None), Err(Refusal::Deactivated));
    }

    #[test]
    fn the_ways_of_a_short_message() {
        let way =
            |address| sms_way(GatewayState::Active, address).map(|to| (to.tls, to.host, to.port, to.path));
        let good = |tls, host: &str, port, path: &str| Ok((tls, host.to_owned(), port, path.to_owned()));
        for (address, expected) in [
            (
                "https://sms.example.org/a/{account_sid}/b",
                good(true, "sms.example.org", 443, "/a/{account_sid}/b"),
            ),
            ("https://sms.example.org:8443", good(true, "sms.example.org", 8443, "/")),
            (
                "HTTPS://sms.example.org?a={account_sid}",
                good(true, "sms.example.org", 443, "/?a={account_sid}"),
            ),
            ("http://127.0.0.1:81/x", good(false, "127.0.0.1", 81, "/x")),
            ("http://[::1]/x", good(false, "[::1]", 80, "/x")),
            ("http://sms.example.org/x", Err(Refusal::Insecure)),
            ("ftp://sms.example.org/x", Err(NO_SMS_ENDPOINT)),
            ("https://{account_sid}.example.org/", Err(NO_SMS_ENDPOINT)),
            ("https://user:word@example.org/", Err(NO_SMS_ENDPOINT)),
            ("https:///x", Err(NO_SMS_ENDPOINT)),
            ("https://sms.example.org/{other}", Err(NO_SMS_ENDPOINT)),
            ("https://sms.example.org:0/", Err(NO_SMS_ENDPOINT)),
        ] {
            assert_eq!(way(Some(address)), expected, "{address}");
        }
        assert_eq!(way(None), Err(NO_SMS_ENDPOINT));
        assert_eq!(sms_way(GatewayState::Deactivated, None), Err(Refusal::Deactivated));
    }
}
