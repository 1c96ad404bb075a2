//! The audit record of a request. Contract: `audit.md` section 1.
//!
//! A change is recorded in its own transaction: the endpoint that shows the record concerned reads it before
//! and after, so `changes` are in the form on the wire, whatever the operation did.

mod changes;
mod days;
mod receipts;
mod references;
mod refusals;
mod shown;
mod subject;

pub use refusals::ended;

use super::head::Head;
use super::noted::Known;
use super::reply::Reply;
use super::route::Addressed;
use super::state::State;
use crate::ops::Caller;
use crate::ops::audit::secret_changed;
use crate::ops::callers::APPLICATION;
use crate::store::Tx;
use changes::{covered, differences, insert};
use mfa_shared::api::audit::{AuditChange, AuditOutcome, AuditRecord};
use mfa_shared::api::customers::CreateCustomer;
use mfa_shared::api::dividends::DistributeDividend;
use mfa_shared::api::gateways::{SENT_TO, is_test};
use mfa_shared::api::kinds;
use mfa_shared::api::offices::{CreateBranch, SetOfficeReference};
use mfa_shared::api::tellers::{CreateDenomination, CreateTransaction, IssueReceipt, UpdateTeller};
use mfa_shared::api::users::SetUserPassword;
use mfa_shared::api::webhooks::UpdateSubscription;
use mfa_shared::endpoint::{Endpoint, Meta, Method, render, split};
use mfa_shared::fault::{self, Fault};
use mfa_shared::identifier;
use mfa_shared::kind::{ShownBy, resource};
use mfa_shared::node::Node;
use mfa_shared::query::Params;
use mfa_shared::subject::{made_under, of_path};
use mfa_shared::time::Timestamp;
use mfa_shared::wire::RawBody;
use shown::{Changed, Shown, changed};
use std::net::IpAddr;
use std::sync::Arc;
use subject::{Subject, named_by_path, subject_teller};

/// Changes of what no read shows: the endpoint, and the field.
const UNSEEN: [(&str, &str); 3] = [
    (SetUserPassword::META.name, "password"),
    (UpdateTeller::META.name, "password"),
    (UpdateSubscription::META.name, "secret"),
];

/// Secrets that every record of a kind has, and that no read shows.
const UNSHOWN: [(&str, &str); 2] = [("teller", "password"), ("webhook", "secret")];

/// Operations whose record takes something out of the body, besides those that make what their body names.
const OF_BODY: [&str; 4] = [
    CreateBranch::META.name,
    CreateDenomination::META.name,
    DistributeDividend::META.name,
    SetOfficeReference::META.name,
];

/// Whether the record of a request takes something out of its body.
fn is_of_body(meta: &Meta) -> bool {
    let mut named = OF_BODY.into_iter().chain(UNSEEN.map(|(name, _)| name));
    let sends = is_test(meta.path);
    !meta.method.reads() && (sends || made_under(meta.path).is_some() || named.any(|name| name == meta.name))
}

/// Whether a request makes what its body names.
pub fn makes_what_its_body_names(meta: &Meta) -> bool {
    !meta.method.reads() && (made_under(meta.path).is_some() || meta.name == CreateBranch::META.name)
}

/// What is known of a request before its transaction.
#[derive(Debug)]
pub struct Trail {
    meta: Meta,
    origin: String,
    request_id: String,
    path: String,
    params: Vec<String>,
    place: Option<i64>,
    body: Option<Arc<Node>>,
    /// What a form and its query string say of the name of what it makes.
    form: Vec<(String, Option<String>)>,
    /// What it is about, as far as it says so itself.
    named: Option<Subject>,
}

/// What a request is about, as it was before.
#[derive(Debug)]
pub struct Before {
    subject: Option<Subject>,
    shown: Option<Shown>,
    reference: Option<Node>,
}

/// A record that was made or removed, with its secret, which reads show as null.
fn whole(secret: &str, was: Option<Shown>, is: Option<Shown>) -> Changed {
    let node = |shown: Option<Shown>| {
        let mut node = shown.and_then(Shown::into_node);
        if let Some(Node::Object(properties)) = &mut node {
            let secrets = properties.iter_mut().filter(|(name, _)| name == secret);
            secrets.for_each(|(_, value)| *value = Node::Text(String::new()));
        }
        node
    };
    Changed::Fields(differences(node(was).as_ref(), node(is).as_ref()))
}

/// The address of a peer, as a record has it.
pub fn origin(from: IpAddr) -> String {
    from.to_canonical().to_string()
}

/// The fields of a form; those of the query string first, since they count where both are given.
fn named_in(head: &Head, fields: &[(String, Option<String>)]) -> Vec<(String, Option<String>)> {
    let query = Params::parse(&head.query);
    let asked = query.pairs().iter().map(|(name, value)| (name.clone(), Some(value.clone())));
    asked.chain(fields.iter().cloned()).collect()
}

impl Trail {
    /// What a request says of itself; `raw` is what it carries, where that was read.
    pub fn of(head: &Head, meta: Meta, params: &[String], raw: Option<&RawBody<'_>>) -> Self {
        // What can be no name of a record may be long, and stays in the trail for good.
        let cut =
            |param: &String| if subject::is_short(param) { param.clone() } else { identifier::shown(param) };
        let cut: Vec<_> = params.iter().map(cut).collect();
        let names: Vec<_> = cut.iter().map(String::as_str).collect();
        let mut trail = Self {
            meta,
            origin: origin(head.origin),
            request_id: head.request_id.clone(),
            path: render(meta.path, &names),
            params: params.to_vec(),
            place: head.place,
            body: raw.filter(|_| is_of_body(&meta)).and_then(|raw| raw.node().ok().cloned()),
            form: raw.and_then(|raw| raw.form).map(|form| named_in(head, &form.fields)).unwrap_or_default(),
            named: None,
        };
        trail.named = trail.by_name();
        trail
    }

    /// The same, where the record that it is about is named by the body and not by the path.
    pub fn addressed(mut self, addressed: Option<&Addressed>) -> Self {
        if let Some((row, parts)) = addressed {
            let kind = kinds().find(|kind| kind.shown_by == ShownBy::Row(row));
            self.named = kind.map(|kind| Subject { kind, parts: parts.clone() });
        }
        self
    }

    /// A record about the request of a caller.
    pub fn record(&self, tx: &Tx<'_>, caller: &Caller) -> AuditRecord {
        AuditRecord {
            actor: caller.name.clone(),
            application: caller.application.clone(),
            origin: Some(self.origin.clone()),
            request_id: self.request_id.clone(),
            batch_index: self.place,
            method: Some(self.meta.method.as_str().to_owned()),
            path: Some(self.path.clone()),
            ..AuditRecord::of(self.meta.name, tx.now())
        }
    }

    /// A record of a refusal.
    pub fn refused(&self, known: &Known, now: Timestamp, status: u16, code: &str) -> AuditRecord {
        let by_path = self.named.clone();
        AuditRecord {
            actor: known.name.clone(),
            application: known.application.clone(),
            origin: Some(self.origin.clone()),
            request_id: self.request_id.clone(),
            batch_index: self.place,
            method: Some(self.meta.method.as_str().to_owned()),
            path: Some(self.path.clone()),
            resource: by_path.as_ref().map(Subject::name),
            affects: by_path.map(|subject| subject.affects(None)).unwrap_or_default(),
            outcome: AuditOutcome::Refused,
            status: Some(status.into()),
            code: Some(code.to_owned()),
            ..AuditRecord::of(self.meta.name, now)
        }
    }

    fn text(&self, name: &str) -> Option<String> {
        match self.body.as_ref().and_then(|body| body.property(name)) {
            Some(Node::Text(text)) => Some(text.clone()),
            _ => self.form.iter().find(|(given, _)| given == name).and_then(|(_, text)| text.clone()),
        }
    }

    /// What the request is about, as far as path and body say it.
    fn by_name(&self) -> Option<Subject> {
        self.said().filter(Subject::can_be)
    }

    fn said(&self) -> Option<Subject> {
        let path = self.meta.path;
        let params = &self.params;
        if self.meta.method != Method::Get
            && let Some(kind) = made_under(path)
            && let Some(name) = self.text(kind.named_by).filter(|name| subject::can_be_named(kind, name))
        {
            let parents = if kind.path.matches("{}").count() > 1 { params.clone() } else { Vec::new() };
            return Some(Subject { kind, parts: parents.into_iter().chain([name]).collect() });
        }
        let (kind, mut parts) = of_path(path, params)?;
        if self.meta.name == CreateBranch::META.name
            && let Some(branch) = self.text(kind.named_by).filter(|name| subject::can_be_named(kind, name))
        {
            // Its path names the office above, which is all that is known of a body that was not read.
            parts = vec![branch];
        }
        Some(Subject { kind, parts })
    }

    /// What the request is about; a teller at the counter is looked up.
    pub fn subject(&self, tx: &mut Tx<'_>, caller: Option<&Caller>) -> Result<Option<Subject>, Fault> {
        if self.named.is_some() {
            return Ok(self.named.clone());
        }
        let path = self.meta.path;
        if path.starts_with("/teller/")
            && let Some(code) = self.params.first()
        {
            return subject_teller(tx, code);
        }
        let user = caller.filter(|_| path.starts_with("/token")).and_then(|caller| caller.user.clone());
        let named = user.and_then(|user| of_path("/users/{user}", &[user]));
        Ok(named.map(|(kind, parts)| Subject { kind, parts }))
    }

    /// Reads the record of the request, before anything is changed.
    pub fn before(&self, state: &State, tx: &mut Tx<'_>, caller: &Caller) -> Result<Before, Fault> {
        if self.meta.name == CreateTransaction::META.name {
            // The answer names what is made.
            return Ok(Before { subject: None, shown: None, reference: None });
        }
        let subject = if self.meta.name == IssueReceipt::META.name {
            receipts::issued(tx, &self.params)?
        } else {
            self.subject(tx, Some(caller))?
        };
        let shown = match &subject {
            // There is none yet, or the creation is refused.
            _ if self.meta.name == CreateCustomer::META.name => None,
            Some(subject) if !self.path.starts_with("/token") => subject.shown(state, tx)?,
            _ => None,
        };
        let reference = self.reference(tx)?;
        Ok(Before { subject, shown, reference })
    }

    /// The external reference that the request sets.
    fn reference(&self, tx: &mut Tx<'_>) -> Result<Option<Node>, Fault> {
        match (self.params.as_slice(), self.text("type")) {
            ([office], Some(r#type)) if self.meta.name == SetOfficeReference::META.name => {
                references::read(tx, office, &r#type)
            }
            _ => Ok(None),
        }
    }

    /// Records what the request has done.
    pub fn record_change(
        &self,
        state: &State,
        tx: &mut Tx<'_>,
        caller: &Caller,
        before: Before,
        reply: &Reply,
    ) -> Result<(), Fault> {
        let mut record = self.record(tx, caller);
        record.status = Some(reply.status.into());
        let Before { mut subject, shown: was, reference } = before;
        if self.meta.name == IssueReceipt::META.name {
            subject = receipts::issued(tx, &self.params)?;
        }
        let mut changed = Changed::Fields(Vec::new());
        if let Some(subject) = self.made(reply).or(subject) {
            let is = if self.path.starts_with("/token") { None } else { subject.shown(state, tx)? };
            record.affects = subject.affects(is.as_ref().or(was.as_ref()));
            record.resource = Some(subject.name());
            if self.meta.name == CreateBranch::META.name {
                let office = resource("office", &self.params);
                record.affects.insert(0, office);
            }
            changed = match UNSHOWN.iter().find(|(kind, _)| *kind == subject.kind.name) {
                Some((_, field)) if was.is_some() != is.is_some() => whole(field, was, is),
                _ => self.changes(was, is),
            };
        }
        let besides = tx.take_besides();
        record.affects.extend(besides.records);
        match changed {
            Changed::Whole(whole) => tx.audit_whole(record, whole),
            Changed::Fields(mut changes) => {
                if self.meta.name == CreateDenomination::META.name {
                    let after = self.body.as_deref().cloned().map(covered);
                    changes.push(AuditChange { field: "/denominations".to_owned(), before: None, after });
                }
                changes.extend(besides.secrets);
                changes.extend(references::change(reference, self.reference(tx)?));
                tx.audit(AuditRecord { changes, ..record });
            }
        }
        Ok(())
    }

    /// What differs, with the secrets of the body that no read shows.
    fn changes(&self, was: Option<Shown>, is: Option<Shown>) -> Changed {
        let unseen =
            UNSEEN.iter().filter(|(name, field)| *name == self.meta.name && self.text(field).is_some());
        let mut unseen = unseen.map(|(_, field)| secret_changed(&format!("/{field}"))).peekable();
        if unseen.peek().is_none() {
            return changed(was, is);
        }
        let [was, is] = [was, is].map(|shown| shown.and_then(Shown::into_node));
        let mut changes = differences(was.as_ref(), is.as_ref());
        unseen.for_each(|change| insert(&mut changes, change, is.as_ref()));
        Changed::Fields(changes)
    }

    /// Records that someone has looked at a secret.
    pub fn record_look(&self, tx: &mut Tx<'_>, caller: &Caller, reply: &Reply) -> Result<(), Fault> {
        let subject = self.subject(tx, Some(caller))?;
        let mut record = self.record(tx, caller);
        record.status = Some(reply.status.into());
        record.resource = subject.map(|subject| subject.name());
        tx.audit(record);
        Ok(())
    }

    /// Records a login, or the sign-in of an application.
    pub fn record_login(&self, tx: &mut Tx<'_>, user: Option<&str>, application: Option<&str>) {
        let signed = application.map(|name| format!("{APPLICATION}{name}"));
        let name = user.map(str::to_owned).or(signed).unwrap_or_else(|| "unknown".to_owned());
        let known = Known { name, application: application.map(str::to_owned) };
        let mut record = self.refused(&known, tx.now(), 200, "");
        (record.outcome, record.code) = (AuditOutcome::Done, None);
        record.resource = match (application, user) {
            (Some(application), _) => Some(format!("application/{application}")),
            (None, user) => user.map(|user| format!("user/{user}")),
        };
        record.affects = application.and(user).map(|user| format!("user/{user}")).into_iter().collect();
        tx.audit(record);
    }

    /// Records what an errand has done.
    pub fn record_errand(&self, tx: &mut Tx<'_>, caller: &Caller, reply: &Reply) -> Result<(), Fault> {
        let mut record = self.record(tx, caller);
        record.status = Some(reply.status.into());
        record.resource = self.subject(tx, Some(caller))?.map(|subject| subject.name());
        let change = |field: &str| AuditChange {
            field: field.to_owned(),
            before: None,
            after: self.body.as_deref().cloned().map(covered),
        };
        if self.meta.name == DistributeDividend::META.name {
            record.changes.push(change("/dividends"));
        }
        record.changes.extend(self.receiver());
        record.changes.extend(days::ended(tx, self.meta, &self.params, reply)?);
        let place = reply.headers.iter().find(|(name, _)| name == "location");
        if let Some((_, day)) = place.and_then(|(_, place)| place.split_once("?date=")) {
            record.resource = Some(format!("interest/{day}"));
        }
        tx.audit(record);
        Ok(())
    }

    /// Records that a test message was not accepted.
    pub fn record_failure(&self, tx: &mut Tx<'_>, caller: &Caller, fault: &Fault) {
        if fault.kind != fault::GATEWAY_FAILED {
            return;
        }
        let known = Known { name: caller.name.clone(), application: caller.application.clone() };
        let record = self.refused(&known, tx.now(), fault.kind.status, fault.kind.code);
        let changes = self.receiver().into_iter().collect();
        tx.audit(AuditRecord { outcome: AuditOutcome::Failed, changes, ..record });
    }

    /// Whom the test message of a gateway goes to. Contract: `gateways.md` section 5.
    fn receiver(&self) -> Option<AuditChange> {
        let to = self.text("to").filter(|_| is_test(self.meta.path))?;
        Some(AuditChange { field: SENT_TO.to_owned(), before: None, after: Some(Node::Text(to)) })
    }

    /// What the answer names: an account or a transaction, whose identifiers the daemon gives.
    fn made(&self, reply: &Reply) -> Option<Subject> {
        let location = reply.headers.iter().find(|(name, _)| name == "location").map(|(_, value)| value);
        let segments = match location {
            Some(location) => split(location)?,
            None if self.meta.name == CreateTransaction::META.name => {
                let quote = Node::parse(reply.bytes()).ok()?;
                let Some(Node::Text(identifier)) = quote.property("tellerTransactionIdentifier") else {
                    return None;
                };
                let [teller] = self.params.as_slice() else { return None };
                ["teller", teller, "transactions", identifier].map(str::to_owned).to_vec()
            }
            None => return None,
        };
        named_by_path(&segments)
    }
}
