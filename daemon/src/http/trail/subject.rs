//! The record that a request is about, and how it is shown.

use super::shown::Shown;
use crate::http::reply::Content;
use crate::http::route::Tagged;
use crate::http::state::State;
use crate::ops::listing::json;
use crate::ops::{Caller, user_sessions};
use crate::store::Tx;
use crate::store::records::StoredTeller;
use mfa_shared::api::kinds;
use mfa_shared::api::sessions::ListUserSessions;
use mfa_shared::endpoint::Endpoint;
use mfa_shared::fault::{self, Fault};
use mfa_shared::kind::{Kind, ShownBy, may_have_slashes, resource};
use mfa_shared::node::Node;
use mfa_shared::path::segments;
use mfa_shared::subject::of_path;

/// A record that a request is about.
#[derive(Debug, Clone)]
pub struct Subject {
    /// What kind of record it is.
    pub kind: &'static Kind,
    /// The identifiers in its path.
    pub parts: Vec<String>,
}

/// The record at a path that an answer names.
pub fn named_by_path(path: &[String]) -> Option<Subject> {
    let fits = |kind: &&Kind| {
        let mut given = path.iter();
        segments(kind.path).all(|own| given.next().is_some_and(|given| own == "{}" || own == given))
            && given.next().is_none()
    };
    let kind = kinds().find(fits)?;
    let parts = segments(kind.path).zip(path).filter(|(own, _)| *own == "{}").map(|(_, given)| given.clone());
    Some(Subject { kind, parts: parts.collect() })
}

/// A teller by its code alone, as the paths of the counter have it.
pub fn subject_teller(tx: &mut Tx<'_>, code: &str) -> Result<Option<Subject>, Fault> {
    let Some(stored) = tx.get::<StoredTeller>(&[code])? else { return Ok(None) };
    let parts = [stored.office, code.to_owned()];
    let kind = of_path("/offices/{office}/teller/{teller}", &parts);
    Ok(kind.map(|(kind, parts)| Subject { kind, parts }))
}

/// No identifier of a record is longer, in bytes.
const PART_BYTES_MAX: usize = 256;
const NAME_BYTES_MAX: usize = 512;

/// Whether a text can be an identifier of a record of this kind, at this place in its path: what a caller
/// wrote is not checked yet where a request is refused before that.
pub fn can_be(kind: &Kind, place: usize, part: &str) -> bool {
    is_short(part) && (may_have_slashes(kind.name, place) || !part.contains('/'))
}

/// Whether a text is no longer than an identifier, and has only signs that one may have.
pub fn is_short(part: &str) -> bool {
    part.len() <= PART_BYTES_MAX && !part.contains(char::is_control)
}

/// Whether a text can be the last identifier in the path of a record of this kind.
pub fn can_be_named(kind: &Kind, name: &str) -> bool {
    can_be(kind, kind.path.matches("{}").count() - 1, name)
}

impl Subject {
    /// Whether it can be the name of a record at all.
    pub fn can_be(&self) -> bool {
        self.parts.iter().enumerate().all(|(place, part)| can_be(self.kind, place, part))
            && self.parts.iter().map(String::len).sum::<usize>() <= NAME_BYTES_MAX
    }

    /// As the audit trail names it.
    pub fn name(&self) -> String {
        resource(self.kind.name, &self.parts)
    }

    /// The record on the wire, if it is there.
    pub fn shown(&self, state: &State, tx: &mut Tx<'_>) -> Result<Option<Shown>, Fault> {
        match self.kind.shown_by {
            ShownBy::Row(row) => self.read(state, tx, row),
            ShownBy::WithImage(row, image) => {
                let Some(mut node) = self.node(state, tx, row)? else { return Ok(None) };
                if let (Node::Object(properties), Some(image)) = (&mut node, self.node(state, tx, image)?) {
                    properties.push(("image".to_owned(), image));
                }
                Ok(Some(Shown::Node(node)))
            }
            // Of sessions there may be thousands.
            ShownBy::List(row) if row == ListUserSessions::META.name => self.session(tx),
            ShownBy::List(row) => {
                let Some(Node::List(elements)) = self.node(state, tx, row)? else { return Ok(None) };
                let name = self.parts.last().map(|name| Node::Text(name.clone()));
                let is_it = |element: &Node| {
                    element.property("identifier") == name.as_ref() || Some(element) == name.as_ref()
                };
                Ok(elements.into_iter().find(is_it).map(Shown::Node))
            }
        }
    }

    fn session(&self, tx: &mut Tx<'_>) -> Result<Option<Shown>, Fault> {
        let [user, name] = self.parts.as_slice() else { return Ok(None) };
        match user_sessions::one(tx, &Caller::guest(), user, name) {
            Ok(session) => Ok(session.map(|session| Shown::Text(json(&session).into()))),
            Err(fault) if fault.kind.status < 500 => Ok(None),
            Err(fault) => Err(fault),
        }
    }

    /// What a row shows, taken apart.
    fn node(&self, state: &State, tx: &mut Tx<'_>, row: &str) -> Result<Option<Node>, Fault> {
        Ok(self.read(state, tx, row)?.and_then(Shown::into_node))
    }

    /// What a row shows; nothing where it refuses.
    fn read(&self, state: &State, tx: &mut Tx<'_>, row: &str) -> Result<Option<Shown>, Fault> {
        let Some(route) = state.routes.by_name(row) else { return Ok(None) };
        let Some(read) = Tagged::prepare(route, &self.parts) else { return Ok(None) };
        let reply = match read.reply(tx, &Caller::guest()) {
            Ok(reply) => reply.read(tx, false)?,
            // A record that cannot be shown is mended all the same.
            Err(fault) if fault.kind.status < 500 || fault.kind == fault::INTERNAL => return Ok(None),
            Err(fault) => return Err(fault),
        };
        Ok(match reply.content {
            Content::Image(hash) => Some(Shown::Node(Node::Text(hash))),
            Content::Bytes(text) if !text.is_empty() => Some(Shown::Text(text)),
            _ => None,
        })
    }

    /// The further records that a change of this one concerns.
    pub fn affects(&self, shown: Option<&Shown>) -> Vec<String> {
        let named = |kind: &str, name: Option<String>| {
            name.filter(|name| !name.is_empty()).map(|name| format!("{kind}/{name}"))
        };
        let part = |kind: &str, count: usize| self.parts.get(..count).map(|parts| resource(kind, parts));
        let affects = match self.kind.name {
            "card" | "portrait" => vec![part("customer", 1)],
            "scan" => vec![part("customer", 1), part("card", 2)],
            "account" => texts(shown, ["customerIdentifier"]).map(|name| named("customer", name)).to_vec(),
            "transaction" => texts(shown, ["customerAccountIdentifier", "targetAccountIdentifier"])
                .map(|name| named("account", name))
                .to_vec(),
            "receipt" => receipt_affects(shown),
            "session" | "second-factor" => vec![part("user", 1)],
            "signature" | "permission" | "set" => vec![part("application", 1)],
            "consent" => vec![part("application", 1), self.parts.last().map(|user| format!("user/{user}"))],
            _ => Vec::new(),
        };
        let mut once: Vec<String> = Vec::new();
        for name in affects.into_iter().flatten() {
            if !once.contains(&name) {
                once.push(name);
            }
        }
        once
    }
}

fn texts<const N: usize>(shown: Option<&Shown>, names: [&str; N]) -> [Option<String>; N] {
    shown.map_or([const { None }; N], |shown| shown.texts(names))
}

/// What a receipt concerns: its transaction, and the account.
fn receipt_affects(shown: Option<&Shown>) -> Vec<Option<String>> {
    let names = ["tellerCode", "transactionIdentifier", "customerAccountIdentifier"];
    let [teller, transaction, account] = texts(shown, names);
    let transaction = teller.zip(transaction);
    let transaction = transaction.map(|(teller, number)| resource("transaction", &[teller, number]));
    vec![transaction, account.map(|account| resource("account", &[account]))]
}
