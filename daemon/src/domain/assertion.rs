//! Assertions with which an application signs in (RFC 7523, compact JWS). Contract: `identity.md`
//! section 6.
//!
//! The steps follow each other in the order of the contract: [`Unverified::parse`] believes no claim but
//! says whose key is to be looked up; [`Unverified::verify`] checks the signature; [`Verified::claims`]
//! checks what was signed. Whether the `jti` is new and the user exists is for the store to say.

use super::rsa::{Algorithm, PublicKey};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use mfa_shared::api::applications::{APPLICATION_RULE, Signature};
use mfa_shared::node::Node;
use mfa_shared::time::Timestamp;

/// Most bytes of an assertion.
pub const ASSERTION_BYTES_MAX: usize = 16 * 1024;
/// How far the end of an assertion may lie ahead.
pub const AHEAD_SECONDS_MAX: i64 = 300;
/// How far clocks may differ.
pub const LEEWAY_SECONDS: i64 = 30;
/// Most applications that a token may be intended for.
pub const INTENDED_MAX: usize = 16;
/// Most characters of a `jti`.
pub const JTI_LENGTH_MAX: usize = 255;

/// Why an assertion is not accepted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refusal {
    /// It is malformed, or its signature is wrong. The caller learns no more than that, because they have not
    /// shown who they are.
    Invalid,
    /// A signed claim breaks a rule.
    Claim(&'static str),
}

use Refusal::{Claim, Invalid};

type Object = Vec<(String, Node)>;

/// An assertion before any check.
#[derive(Debug)]
pub struct Unverified<'a> {
    /// The application that it claims to come from.
    pub issuer: String,
    /// The timestamp of the key that it claims to be signed with.
    pub key: String,
    algorithm: Algorithm,
    signed: &'a str,
    signature: Vec<u8>,
    claims: Object,
}

/// An assertion whose signature is right.
#[derive(Debug)]
pub struct Verified {
    issuer: String,
    claims: Object,
}

/// The claims of a valid assertion.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claims {
    /// The user in whose name the application wants to act.
    pub subject: Option<String>,
    /// Applications, besides the daemon, that the token is intended for.
    pub intended: Vec<String>,
    /// Name of the assertion, which may be used once.
    pub jti: String,
    /// When it ends.
    pub ends: Timestamp,
}

fn object(part: &str) -> Option<Object> {
    let bytes = URL_SAFE_NO_PAD.decode(part).ok()?;
    let Ok(Node::Object(properties)) = Node::parse(&bytes) else { return None };
    // Two readers of a repeated member may each believe another one, so none is believed.
    let mut names: Vec<_> = properties.iter().map(|(name, _)| name).collect();
    names.sort_unstable();
    let repeated = names.windows(2).any(|pair| pair[0] == pair[1]);
    (!repeated).then_some(properties)
}

fn member<'a>(object: &'a Object, name: &str) -> Option<&'a Node> {
    object.iter().find(|(n, _)| n == name).map(|(_, node)| node)
}

fn text<'a>(object: &'a Object, name: &str) -> Option<&'a str> {
    match member(object, name) {
        Some(Node::Text(text)) => Some(text),
        _ => None,
    }
}

impl<'a> Unverified<'a> {
    /// Takes an assertion apart.
    pub fn parse(assertion: &'a str) -> Result<Self, Refusal> {
        Self::take_apart(assertion).ok_or(Invalid)
    }

    fn take_apart(assertion: &'a str) -> Option<Self> {
        if assertion.len() > ASSERTION_BYTES_MAX {
            return None;
        }
        let (signed, signature) = assertion.rsplit_once('.')?;
        let (header, claims) = signed.split_once('.')?;
        if header.is_empty() || claims.is_empty() || signature.is_empty() || claims.contains('.') {
            return None;
        }
        let header = object(header)?;
        let algorithm = match text(&header, "alg")? {
            "RS256" => Algorithm::Rs256,
            "RS512" => Algorithm::Rs512,
            _ => return None,
        };
        if member(&header, "crit").is_some() {
            return None;
        }
        let claims = object(claims)?;
        let issuer = text(&claims, "iss")?.to_owned();
        let key = text(&header, "kid")?.to_owned();
        let signature = URL_SAFE_NO_PAD.decode(signature).ok()?;
        Some(Self { issuer, key, algorithm, signed, signature, claims })
    }

    /// Checks the signature with the key that the application registered under the timestamp.
    pub fn verify(self, key: &Signature) -> Result<Verified, Refusal> {
        let key = PublicKey::new(key).ok_or(Invalid)?;
        let right = key.verify(self.algorithm, self.signed.as_bytes(), &self.signature);
        right.then_some(Verified { issuer: self.issuer, claims: self.claims }).ok_or(Invalid)
    }
}

impl Verified {
    /// Checks what was signed; `audiences` are the names of the daemon.
    pub fn claims(&self, now: Timestamp, audiences: &[String]) -> Result<Claims, Refusal> {
        let intended = self.intended(audiences)?;
        let ends = self.times(now)?;
        let jti = match member(&self.claims, "jti") {
            Some(Node::Text(jti)) if (1..=JTI_LENGTH_MAX).contains(&jti.chars().count()) => jti.clone(),
            _ => return Err(Claim("jti must be a string of 1 to 255 characters")),
        };
        let subject = match member(&self.claims, "sub") {
            None | Some(Node::Null) => None,
            Some(Node::Text(subject)) if *subject == self.issuer => None,
            Some(Node::Text(subject)) => Some(subject.clone()),
            Some(_) => return Err(Claim("sub must be a string")),
        };
        Ok(Claims { subject, intended, jti, ends })
    }

    fn intended(&self, audiences: &[String]) -> Result<Vec<String>, Refusal> {
        let named: Vec<&str> = match member(&self.claims, "aud") {
            Some(Node::Text(one)) => vec![one],
            Some(Node::List(list)) => {
                let texts =
                    list.iter().map(|node| if let Node::Text(t) = node { Some(t.as_str()) } else { None });
                texts.collect::<Option<_>>().ok_or(Claim("aud must be a string or an array of strings"))?
            }
            _ => return Err(Claim("aud must be a string or an array of strings")),
        };
        let is_own = |name: &&str| audiences.iter().any(|own| own == name);
        if !named.iter().any(is_own) {
            return Err(Claim("aud does not name this daemon"));
        }
        let others: Vec<_> = named.into_iter().filter(|name| !is_own(name)).map(str::to_owned).collect();
        if others.len() > INTENDED_MAX {
            return Err(Claim("aud names more than 16 applications"));
        }
        if others.iter().any(|name| APPLICATION_RULE.judge(name).is_err()) {
            return Err(Claim("aud names something that is not an application identifier"));
        }
        Ok(others)
    }

    fn times(&self, now: Timestamp) -> Result<Timestamp, Refusal> {
        let ends = self.moment("exp")?.ok_or(Claim("exp is missing"))?;
        let leeway_ms = LEEWAY_SECONDS * 1000;
        let ahead_ms = ends.millis().saturating_sub(now.millis());
        if ahead_ms <= -leeway_ms {
            return Err(Claim("the assertion has expired"));
        }
        if ahead_ms > AHEAD_SECONDS_MAX * 1000 + leeway_ms {
            return Err(Claim("exp is more than 300 seconds ahead"));
        }
        for (name, refusal) in [("nbf", "nbf is in the future"), ("iat", "iat is in the future")] {
            let moment = self.moment(name)?;
            if moment.is_some_and(|moment| moment.millis().saturating_sub(now.millis()) > leeway_ms) {
                return Err(Claim(refusal));
            }
        }
        Ok(ends)
    }

    /// A moment in seconds since the start of 1970; a fraction of a second is cut.
    fn moment(&self, name: &'static str) -> Result<Option<Timestamp>, Refusal> {
        let digits = match member(&self.claims, name) {
            None | Some(Node::Null) => return Ok(None),
            Some(Node::Number(digits)) => digits,
            Some(_) => return Err(Claim("exp, nbf and iat must be numbers")),
        };
        let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
        let plain = fraction.bytes().all(|b| b.is_ascii_digit());
        let seconds = whole.parse::<i64>().ok().filter(|_| plain).and_then(|s| s.checked_mul(1000));
        seconds.map(Timestamp::from_millis).map(Some).ok_or(Claim("exp, nbf and iat must be plain seconds"))
    }
}

#[cfg(test)]
#[path = "assertion_tests.rs"]
mod tests;
