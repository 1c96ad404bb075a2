//! One mail through a mail server.
//!
//! lettre speaks the protocol, one step at a time, so that each step is reported separately; the connection
//! is our own, so that its time and length are limited.

use super::dial::{self, Metered};
use super::span::{Span, broke_off, failed};
use super::talk::Talk;
use super::words::Mask;
use crate::domain::gateway::{Failed, Mail, Stage, Taken, Tls};
use crate::secret::Secret;
use lettre::address::Envelope;
use lettre::message::header::{self, ContentType};
use lettre::message::{Mailbox, Mailboxes};
use lettre::transport::smtp::Error;
use lettre::transport::smtp::authentication::{Credentials, Mechanism};
use lettre::transport::smtp::client::{AsyncSmtpConnection, AsyncTokioStream};
use lettre::transport::smtp::commands::Starttls;
use lettre::transport::smtp::extension::ClientId;
use lettre::transport::smtp::response::{Response, Severity};
use lettre::{Address, Message};
use std::error::Error as _;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, UNIX_EPOCH};
use tokio_rustls::client::TlsStream;

/// What lettre says where the connection ends before an answer does.
const CUT_SHORT: &str = "incomplete response";
/// What it says where an answer is no text.
const NO_TEXT: &str = "stream did not contain valid UTF-8";

/// An address as SMTP writes it: what may not stand before the `@` as it is goes between quotation marks. How
/// long that part may be is for the server to say.
fn address(text: &str) -> Option<Address> {
    if let Ok(address) = text.parse() {
        return Some(address);
    }
    let (name, domain) = text.rsplit_once('@')?;
    let domain = format!("postmaster@{domain}").parse::<Address>().ok()?.domain().to_owned();
    let is_atom = |c: char| c.is_alphanumeric() || "!#$%&'*+-/=?^_`{|}~".contains(c);
    let atoms = name.split('.').all(|atom| !atom.is_empty() && atom.chars().all(is_atom));
    let inner = name.strip_prefix('"').and_then(|name| name.strip_suffix('"'));
    let bare = inner.map(|inner| inner.replace("\\\\", "").replace("\\\"", ""));
    let is_quoted = bare.is_some_and(|bare| !bare.contains('"') && !bare.ends_with('\\'));
    let quoted = || format!("\"{}\"", name.replace('\\', "\\\\").replace('"', "\\\""));
    Some(Address::new_dangerous(if atoms || is_quoted { name.to_owned() } else { quoted() }, domain))
}

/// Sends a mail.
pub async fn send(mail: Mail) -> Result<Taken, Failed> {
    let span = Span::new(mail.limits.whole);
    let none = (String::new(), Secret::new(""));
    let (name, secret) = mail.sign_in.as_ref().unwrap_or(&none);
    let mask = Mask::new(name, secret);
    let said = deliver(&mail, span).await.map_err(|failed| match failed {
        Ended::Known(failed) => Failed { why: mask.clean(&failed.why), ..failed },
        Ended::Said(stage, error) => failure(&mail, stage, &error, &mask),
    })?;
    let words: Vec<_> = said.message().collect();
    let answer = mask.clean(format!("{} {}", said.code(), words.join(" ")).trim_end());
    Ok(Taken { answer, message: None, code: said.code().to_string().parse().ok() })
}

/// How a delivery ended before its end.
enum Ended {
    Known(Failed),
    Said(Stage, Error),
}

impl From<Failed> for Ended {
    fn from(failed: Failed) -> Self {
        Ended::Known(failed)
    }
}

/// An error of lettre in a stage.
fn said(stage: Stage) -> impl FnOnce(Error) -> Ended {
    move |error| Ended::Said(stage, error)
}

async fn deliver(mail: &Mail, span: Span) -> Result<Response, Ended> {
    let (envelope, bytes) = write(mail)?;
    let stream = dial::connect(&mail.host, mail.port, mail.way.loopback_only, &mail.limits, span).await?;
    let hello = hello(&stream);
    let talk: Box<dyn AsyncTokioStream> = match mail.way.tls {
        Tls::Never => Box::new(Talk::new(stream)),
        Tls::AtOnce => Box::new(Talk::new(encrypt(mail, stream, span).await?)),
        Tls::StartTls => {
            let stream = start_tls(mail, stream, &hello, span).await?;
            Box::new(Talk::greeted(encrypt(mail, stream, span).await?))
        }
    };
    let mut server = greet(talk, &hello, span).await?;
    if let Some((name, secret)) = &mail.sign_in {
        let mechanisms = [Mechanism::Plain, Mechanism::Login];
        if server.server_info().get_auth_mechanism(&mechanisms).is_none() {
            let why = format!("{} offers neither AUTH PLAIN nor AUTH LOGIN", mail.host);
            return Err(failed(Stage::SignIn, why).into());
        }
        let credentials = Credentials::new(name.clone(), secret.expose().to_owned());
        let sign_in = server.auth(&mechanisms, &credentials);
        span.step(Stage::SignIn, sign_in).await?.map_err(said(Stage::SignIn))?;
    }
    let answer = span.step(Stage::Send, server.send(&envelope, &bytes)).await?.map_err(said(Stage::Send))?;
    if answer.code().severity != Severity::PositiveCompletion {
        // More is asked for, and there is no more.
        return Err(
            failed(Stage::Send, format!("{} does not answer as a mail server does", mail.host)).into()
        );
    }
    // The message is taken; how the server says goodbye changes nothing.
    let _ = span.step(Stage::Send, server.quit()).await;
    Ok(answer)
}

async fn greet(
    talk: Box<dyn AsyncTokioStream>,
    hello: &ClientId,
    span: Span,
) -> Result<AsyncSmtpConnection, Ended> {
    let greet = AsyncSmtpConnection::connect_with_transport(talk, hello);
    span.step(Stage::Connect, greet).await?.map_err(said(Stage::Connect))
}

/// Has the server wait for encryption. lettre does not set it up: what it decrypts itself would have no
/// limit.
async fn start_tls(mail: &Mail, stream: Metered, hello: &ClientId, span: Span) -> Result<Metered, Ended> {
    let stream = Arc::new(Mutex::new(stream));
    let mut server = greet(Box::new(Talk::lent(&stream)), hello, span).await?;
    if !server.can_starttls() {
        return Err(failed(Stage::Tls, format!("{} does not offer STARTTLS", mail.host)).into());
    }
    span.step(Stage::Tls, server.command(Starttls)).await?.map_err(said(Stage::Tls))?;
    drop(server);
    let stream = Arc::into_inner(stream).ok_or_else(|| failed(Stage::Tls, "the connection is in use"))?;
    Ok(stream.into_inner().unwrap_or_else(PoisonError::into_inner))
}

async fn encrypt(mail: &Mail, stream: Metered, span: Span) -> Result<TlsStream<Metered>, Failed> {
    let trust = dial::trust(&mail.limits, span).await?;
    dial::encrypt(stream, &mail.host, &trust, span).await
}

fn write(mail: &Mail) -> Result<(Envelope, Vec<u8>), Failed> {
    let no_address = |text: &str| failed(Stage::Send, format!("no mail can be addressed to or from {text}"));
    let from = address(&mail.way.sender).ok_or_else(|| no_address(&mail.way.sender))?;
    let to = address(&mail.to).ok_or_else(|| no_address(&mail.to))?;
    let millis = u64::try_from(mail.at.millis()).unwrap_or_default();
    // A name of a message is of plain letters, whatever the domain of the sender is written in.
    let name =
        format!("<{}@{}>", mail.name, if from.domain().is_ascii() { from.domain() } else { "localhost" });
    // Left to lettre, it would be read from the headers, which loses what is in brackets or quotes.
    let envelope = Envelope::new(Some(from.clone()), vec![to.clone()]);
    let envelope =
        envelope.map_err(|error| failed(Stage::Send, format!("the mail cannot be sent: {error}")))?;
    // lettre reads the sender again before it writes a message, and takes no unusual one; that is put in at
    // the end.
    let plain = Address::new_dangerous("postmaster", from.domain());
    let message = Message::builder()
        .envelope(envelope)
        .date(UNIX_EPOCH + Duration::from_millis(millis))
        .message_id(Some(name))
        .from(Mailbox::new(None, plain))
        .to(Mailbox::new(None, to))
        .subject(&mail.subject)
        .header(ContentType::TEXT_PLAIN)
        .body(mail.text.clone());
    let mut message =
        message.map_err(|error| failed(Stage::Send, format!("the mail cannot be written: {error}")))?;
    message.headers_mut().set(header::From::from(Mailboxes::from(Mailbox::new(None, from))));
    Ok((message.envelope().clone(), message.formatted()))
}

/// How the daemon introduces itself: by the address that the server sees.
fn hello(stream: &Metered) -> ClientId {
    match stream.local_ip() {
        Some(IpAddr::V6(address)) => ClientId::Ipv6(address),
        Some(IpAddr::V4(address)) => ClientId::Ipv4(address),
        None => ClientId::Ipv4(Ipv4Addr::LOCALHOST),
    }
}

/// The reply of a server, or why it could not be read, as one sentence.
fn failure(mail: &Mail, stage: Stage, error: &Error, mask: &Mask) -> Failed {
    let host = &mail.host;
    let words = innermost(error);
    if let Some(code) = error.status() {
        let refused = match stage {
            Stage::Connect => "refused the connection",
            Stage::Tls => "refused STARTTLS",
            Stage::SignIn => "refused the sign-in",
            Stage::Send => "refused the message",
        };
        let words = mask.clean(&format!("{code} {words}"));
        let why = format!("{host} {refused}: \"{words}\"");
        return Failed { stage, code: code.to_string().parse().ok(), why };
    }
    let (is_text, is_reply) = (words != NO_TEXT, !error.is_response() || words == CUT_SHORT);
    let words = mask.clean(&words);
    let why = match stage {
        Stage::Tls if !error.is_response() => format!("there is no encrypted connection to {host}: {words}"),
        Stage::Send if !is_text => {
            format!("the answer of {host} is not UTF-8 and cannot be read; it may have taken the message")
        }
        _ if !is_text => format!("the answer of {host} is not UTF-8 and cannot be read"),
        // What is no reply of a mail server may be anything that listens there, so it is not quoted.
        _ if !is_reply => format!("{host} does not answer as a mail server does"),
        _ if error.is_client() => format!("the message cannot go through {host}: {words}"),
        _ => format!("the connection to {host} {}: {words}", broke_off(stage)),
    };
    failed(stage, why)
}

/// The words of the error beneath all others; those above it only repeat them.
fn innermost(error: &Error) -> String {
    let mut words = error.to_string();
    let mut beneath = error.source();
    while let Some(error) = beneath {
        words = error.to_string();
        beneath = error.source();
    }
    words
}
