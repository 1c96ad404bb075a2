//! E-mail and SMS gateways. Contract: `gateways.md`. Names on the wire are written with underscores.

use crate::address::URL_LENGTH_MAX;
use crate::endpoint::CreatedAt;
use crate::kind::Kind;
use crate::node::Node;
use crate::object::Fields;
use crate::rule::*;
use crate::time::Timestamp;
use crate::wire::{Accepted, Alternative, Array, Done, Json, Nothing, OneOf};
use crate::{endpoints, object, words};
use serde_json::{Value, json};

/// Longest mail address, in characters.
pub const ADDRESS_LENGTH_MAX: usize = 254;
/// Digits of a telephone number.
pub const PHONE_DIGITS: std::ops::RangeInclusive<usize> = 7..=15;

object! {
    /// A way to send e-mail; every value is a text.
    pub struct EmailConfiguration across signs_in_with_both {
        /// Unique over the e-mail configurations; never changes.
        identifier: String = required(id(32)),
        /// Name or address of the mail server. A request may call it `the service` or `service`, too.
        host or "the service", "service": String = required(line(253).not_blank().no_white_space()),
        /// Port of the mail server, as digits.
        port: String = required(port()),
        /// How the server is spoken to; `smtps` is TLS from the first byte.
        protocol: Protocol = or(word(), Protocol::Smtp),
        /// Name to sign in with.
        username: Option<String> = optional(line(254)),
        /// Password to sign in with.
        app_password as "app_password": Option<String> = optional(line(255).hidden()),
        /// Whether to sign in.
        smtp_auth as "smtp_auth": Switch = or(switch(), Switch::False),
        /// Whether `smtp` demands STARTTLS before anything else.
        start_tls as "start_tls": Switch = or(switch(), Switch::False),
        /// Nothing is sent through a deactivated gateway.
        state: GatewayState = or(word(), GatewayState::Active),
    }

    /// A changed e-mail configuration; null keeps what is stored.
    pub struct EmailChange {
        /// Which configuration.
        identifier: String = required(id(32)),
        /// Name or address of the mail server. A request may call it `the service` or `service`, too.
        host or "the service", "service": Option<String> = optional(line(253).not_blank().no_white_space()),
        /// Port of the mail server, as digits.
        port: Option<String> = optional(port()),
        /// How the server is spoken to.
        protocol: Option<Protocol> = optional(word()),
        /// Name to sign in with; the empty text removes it.
        username: Option<String> = optional(line(254)),
        /// Password to sign in with; the empty text removes it.
        app_password as "app_password": Option<String> = optional(line(255).hidden()),
        /// Whether to sign in.
        smtp_auth as "smtp_auth": Option<Switch> = optional(switch()),
        /// Whether `smtp` demands STARTTLS before anything else.
        start_tls as "start_tls": Option<Switch> = optional(switch()),
        /// Nothing is sent through a deactivated gateway.
        state: Option<GatewayState> = optional(word()),
    }

    /// A way to send short messages to telephones.
    pub struct SmsConfiguration {
        /// Unique over the SMS configurations; never changes.
        identifier: String = required(id(32)),
        /// Secret of the account.
        auth_token as "auth_token": Option<String> = optional(line(255).not_blank().hidden()),
        /// Account at the service.
        account_sid as "account_sid": String = required(line(255).not_blank()),
        /// Number or name that receivers see.
        sender_number as "sender_number": String = required(line(45).not_blank()),
        /// Nothing is sent through a deactivated gateway.
        state: GatewayState = required(word()),
        /// Always null.
        r#type as "type": Option<String> = optional(line(0)),
    }

    /// A new SMS configuration.
    pub struct NewSmsConfiguration {
        /// Unique over the SMS configurations; never changes.
        identifier: String = required(id(32)),
        /// Secret of the account.
        auth_token as "auth_token": String = required(line(255).not_blank().hidden()),
        /// Account at the service.
        account_sid as "account_sid": String = required(line(255).not_blank()),
        /// Number or name that receivers see.
        sender_number as "sender_number": String = required(line(45).not_blank()),
        /// Nothing is sent through a deactivated gateway.
        state: GatewayState = or(word(), GatewayState::Active),
    }

    /// A changed SMS configuration; null keeps what is stored.
    pub struct SmsChange {
        /// Which configuration.
        identifier: String = required(id(32)),
        /// Secret of the account.
        auth_token as "auth_token": Option<String> = optional(line(255).not_blank().hidden()),
        /// Account at the service.
        account_sid as "account_sid": Option<String> = optional(line(255).not_blank()),
        /// Number or name that receivers see.
        sender_number as "sender_number": Option<String> = optional(line(45).not_blank()),
        /// Nothing is sent through a deactivated gateway.
        state: Option<GatewayState> = optional(word()),
    }

    /// Who gets the test message of an e-mail gateway.
    pub struct EmailTest {
        /// Mail address.
        to: String = required(mail_address()),
    }

    /// Who gets the test message of an SMS gateway.
    pub struct SmsTest {
        /// Telephone number, `+` and 7 to 15 digits; spaces, hyphens, dots and parentheses are dropped.
        to: String = required(phone_number()),
    }

    /// A test message that the gateway took, which does not say that it arrived.
    pub struct TestOutcome {
        /// The configuration.
        identifier: String = required(id(32)),
        /// The receiver as used; of a webhook its url.
        to: String = required(line(URL_LENGTH_MAX)),
        /// When it was sent.
        sent_on: Timestamp = required(timestamp()),
        /// The gateway's own words.
        gateway_answer: String = required(line(1000)),
        /// The gateway's name for the message, if it gave one.
        message_identifier: Option<String> = optional(line(1000)),
    }
}

words! {
    /// How a mail server is spoken to. Only the first two can send.
    pub enum Protocol {
        /// SMTP, in clear or with STARTTLS.
        Smtp = "smtp",
        /// SMTP with TLS from the first byte.
        Smtps = "smtps",
        /// For fetching mail.
        Pop3 = "pop3",
        /// For fetching mail.
        Imap = "imap",
    }

    /// A boolean as text.
    pub enum Switch {
        /// On.
        True = "true",
        /// Off.
        False = "false",
    }

    /// Whether a gateway is in use.
    pub enum GatewayState {
        /// It is.
        Active = "ACTIVE",
        /// Nothing is sent through it.
        Deactivated = "DEACTIVATED",
    }
}

impl Switch {
    /// Whether it is on.
    pub fn is_on(self) -> bool {
        self == Switch::True
    }
}

impl Alternative<EmailChange> for SmsChange {
    const ONLY: &'static [&'static str] = &["auth_token", "account_sid", "sender_number"];
    const ONLY_OTHER: &'static [&'static str] = &[
        "host",
        "the service",
        "service",
        "port",
        "protocol",
        "username",
        "app_password",
        "smtp_auth",
        "start_tls",
    ];
}

/// What signing in needs and does not have: the name, the password.
pub fn missing_to_sign_in(signs_in: bool, has_username: bool, has_password: bool) -> Vec<&'static str> {
    let fields = [("username", has_username), ("app_password", has_password)];
    fields.into_iter().filter(|(_, has)| signs_in && !has).map(|(name, _)| name).collect()
}

/// The same of a body with bad fields: a field that it does not set has the stored value.
pub fn missing_besides<'a>(
    sent: impl Fn(&str) -> Option<&'a Node>,
    [signs_in, has_username, has_password]: [bool; 3],
) -> Vec<&'static str> {
    let set = |name| sent(name).filter(|node| **node != Node::Null);
    let is_on = |node: &Node| match node {
        Node::Text(word) => word.eq_ignore_ascii_case(Switch::True.as_str()),
        node => *node == Node::Bool(true),
    };
    let has = |name, stored| set(name).map_or(stored, |node| *node != Node::Text(String::new()));
    let signs_in = set("smtp_auth").map_or(signs_in, is_on);
    missing_to_sign_in(signs_in, has("username", has_username), has("app_password", has_password))
}

/// What is wrong with a field that signing in needs and that is missing.
pub const NEEDED_TO_SIGN_IN: &str = "is required where smtp_auth is true";

fn signs_in_with_both(fields: &mut Fields<'_>) {
    for name in missing_besides(|name| fields.peek(name), [false; 3]) {
        fields.checks().property(name, |at| at.refuse::<()>("required", NEEDED_TO_SIGN_IN));
    }
}

/// A port as digits, 1 to 65535; a JSON number is taken as its digits.
fn port() -> Port {
    Port
}

#[derive(Debug, Clone, Copy)]
struct Port;

impl Rule for Port {
    type Out = String;
    fn check(&self, node: &Node, at: &mut Checks) -> Option<String> {
        let (Node::Text(digits) | Node::Number(digits)) = node else {
            return at.wrong_type("a string of digits", node);
        };
        if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
            return at.refuse("bad_characters", "must be digits");
        }
        match digits.parse::<u16>() {
            Ok(1..) if digits.len() <= 5 => Some(digits.clone()),
            _ => at.refuse("out_of_range", "must be from 1 to 65535"),
        }
    }
    fn schema(&self) -> Value {
        const FOUR: &str = "0{0,4}[1-9]|0{0,3}[1-9][0-9]|0{0,2}[1-9][0-9]{2}|0?[1-9][0-9]{3}";
        const FIVE: &str = "[1-5][0-9]{4}|6[0-4][0-9]{3}|65[0-4][0-9]{2}|655[0-2][0-9]|6553[0-5]";
        let pattern = format!("^({FOUR}|{FIVE})$");
        json!({ "type": ["string", "integer"], "pattern": pattern, "minimum": 1, "maximum": u16::MAX })
    }
}

/// `true` or `false` as text; a JSON boolean is taken as its word.
fn switch() -> SwitchRule {
    SwitchRule
}

#[derive(Debug, Clone, Copy)]
struct SwitchRule;

impl Rule for SwitchRule {
    type Out = Switch;
    fn check(&self, node: &Node, at: &mut Checks) -> Option<Switch> {
        match node {
            Node::Bool(true) => Some(Switch::True),
            Node::Bool(false) => Some(Switch::False),
            node => word().check(node, at),
        }
    }
    fn schema(&self) -> Value {
        // Not an enum of both: a generator of clients has no type for that. A pattern is about texts only.
        json!({ "type": ["string", "boolean"], "pattern": "^(true|false)$" })
    }
}

/// Whether a text is a mail address: one `@` with something on both sides, no white space.
pub fn is_mail_address(text: &str) -> bool {
    let plain = |part: &str| !part.is_empty() && !part.chars().any(|c| c.is_whitespace() || c.is_control());
    let sides = text.split_once('@').filter(|(_, domain)| !domain.contains('@'));
    text.chars().count() <= ADDRESS_LENGTH_MAX && sides.is_some_and(|(name, at)| plain(name) && plain(at))
}

fn mail_address() -> MailAddress {
    MailAddress
}

#[derive(Debug, Clone, Copy)]
struct MailAddress;

impl Rule for MailAddress {
    type Out = String;
    fn check(&self, node: &Node, at: &mut Checks) -> Option<String> {
        let Node::Text(text) = node else { return at.wrong_type("a string", node) };
        if text.chars().count() > ADDRESS_LENGTH_MAX {
            return at.refuse("too_long", format!("must have at most {ADDRESS_LENGTH_MAX} characters"));
        }
        if !is_mail_address(text) {
            return at.refuse("bad_characters", "must be a mail address such as name@example.org");
        }
        Some(text.clone())
    }
    fn schema(&self) -> Value {
        json!({ "type": "string", "format": "email", "maxLength": ADDRESS_LENGTH_MAX })
    }
}

fn phone_number() -> PhoneNumber {
    PhoneNumber
}

#[derive(Debug, Clone, Copy)]
struct PhoneNumber;

impl Rule for PhoneNumber {
    type Out = String;
    fn check(&self, node: &Node, at: &mut Checks) -> Option<String> {
        let Node::Text(text) = node else { return at.wrong_type("a string", node) };
        let number: String = text.chars().filter(|c| !matches!(c, ' ' | '-' | '.' | '(' | ')')).collect();
        let digits = number.strip_prefix('+').filter(|digits| digits.bytes().all(|b| b.is_ascii_digit()));
        match digits.filter(|_| text.starts_with('+')).map(str::len) {
            Some(count) if PHONE_DIGITS.contains(&count) => Some(number),
            Some(count) if count > *PHONE_DIGITS.end() => {
                at.refuse("too_long", format!("must have at most {} digits", PHONE_DIGITS.end()))
            }
            _ => at.refuse("bad_characters", "must be a telephone number such as +233201234567"),
        }
    }
    fn schema(&self) -> Value {
        let least = PHONE_DIGITS.start();
        let most = PHONE_DIGITS.end();
        let pattern = format!(r"^\+([ ().-]*[0-9]){{{least},{most}}}[ ().-]*$");
        json!({ "type": "string", "pattern": pattern })
    }
}

/// Its kinds of records.
pub const KINDS: &[Kind] = &[
    Kind::of("email", "/configuration/email/{}", "identifier", "GetEmailConfiguration"),
    Kind::of("sms", "/configuration/sms/{}", "identifier", "GetSmsConfiguration"),
];

/// The field of an audit record that holds whom a test message was sent to. No gateway has this field, so the
/// record is not an event.
pub const SENT_TO: &str = "/to";

/// Whether a path is that of a test message.
pub fn is_test(path: &str) -> bool {
    path.starts_with("/configuration/") && path.ends_with("/test")
}

endpoints! {
    application "notification-v1";
    /// Create an e-mail configuration.
    CreateEmailConfiguration {} Post "/configuration/email" Json<EmailConfiguration>
        => CreatedAt<GetEmailConfiguration>;
    /// List the e-mail configurations, without their passwords.
    ListEmailConfigurations {} Get "/configuration/email" Nothing => Array<EmailConfiguration>;
    /// Read an e-mail configuration with its password; the read is audited.
    GetEmailConfiguration { configuration } Get "/configuration/email/{configuration}" Nothing
        => Json<EmailConfiguration>, tag GetEmailConfiguration;
    /// Change the e-mail configuration that the body names.
    UpdateEmailConfiguration {} Put "/configuration/email" Json<EmailChange> => Accepted,
        tag GetEmailConfiguration;
    /// Delete an e-mail configuration with its password.
    DeleteEmailConfiguration { configuration } Delete "/configuration/email/{configuration}" Nothing => Done,
        tag GetEmailConfiguration;
    /// Send one test message by e-mail.
    TestEmailConfiguration { configuration } Post "/configuration/email/{configuration}/test"
        Json<EmailTest> => Json<TestOutcome>;
    /// Create an SMS configuration.
    CreateSmsConfiguration {} Post "/configuration/sms" Json<NewSmsConfiguration>
        => CreatedAt<GetSmsConfiguration>;
    /// List the SMS configurations, without their secrets.
    ListSmsConfigurations {} Get "/configuration/sms" Nothing => Array<SmsConfiguration>;
    /// Read an SMS configuration with its secret; the read is audited.
    GetSmsConfiguration { configuration } Get "/configuration/sms/{configuration}" Nothing
        => Json<SmsConfiguration>, tag GetSmsConfiguration;
    /// Change the SMS configuration that the body names, or the e-mail configuration if it is one.
    UpdateSmsConfiguration {} Put "/configuration/sms" OneOf<SmsChange, EmailChange> => Accepted,
        tag GetSmsConfiguration;
    /// Delete an SMS configuration with its secret.
    DeleteSmsConfiguration { configuration } Delete "/configuration/sms/{configuration}" Nothing => Done,
        tag GetSmsConfiguration;
    /// Send one test message by SMS.
    TestSmsConfiguration { configuration } Post "/configuration/sms/{configuration}/test"
        Json<SmsTest> => Json<TestOutcome>;
}
