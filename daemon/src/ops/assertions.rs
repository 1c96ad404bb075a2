//! Signing in as an application. Contract: `identity.md` section 6.

use super::callers;
use super::grants;
use super::sessions::{self, Fresh};
use crate::domain::assertion::{Claims, Refusal, Unverified};
use crate::domain::permission;
use crate::domain::token::{JTI_SECONDS, Lifetimes, hash};
use crate::store::Tx;
use crate::store::records::{
    StoredConsent, StoredSet, StoredSignature, StoredUser, TokenKind, UsedAssertion,
};
use mfa_shared::api::applications::Signature;
use mfa_shared::api::roles::{DEACTIVATED, Role};
use mfa_shared::api::tokens::Token;
use mfa_shared::fault::{self, Fault};
use mfa_shared::rule::id;
use mfa_shared::time::Timestamp;

/// The application that it claims to come from.
#[derive(Debug, Clone)]
pub struct Claimed {
    application: String,
    key: String,
}

/// An assertion whose signature is right.
#[derive(Debug, Clone)]
pub struct Proven {
    /// The application that signed.
    pub application: String,
    /// The same with its claims, or what is wrong with them.
    pub checked: Result<Checked, Fault>,
}

/// An assertion whose signature and claims are right.
#[derive(Debug, Clone)]
pub struct Checked {
    claimed: Claimed,
    signature: Signature,
    claims: Claims,
}

impl Checked {
    /// The application that signed.
    pub fn application(&self) -> &str {
        &self.claimed.application
    }

    /// The user for whom it acts.
    pub fn subject(&self) -> Option<&str> {
        self.claims.subject.as_deref()
    }
}

/// Looks up the key with which an assertion claims to be signed.
pub fn claimed(assertion: &str) -> Result<Claimed, Fault> {
    let unverified = Unverified::parse(assertion).map_err(refused)?;
    Ok(Claimed { application: unverified.issuer, key: unverified.key })
}

/// The key of the application.
pub fn key(tx: &mut Tx<'_>, claimed: &Claimed) -> Result<Signature, Fault> {
    // What is not an identifier names nothing, and must not reach into the keys of the store.
    let named = [&claimed.application, &claimed.key].iter().all(|name| id(64).judge(name).is_ok());
    let stored = if named { tx.get::<StoredSignature>(&[&claimed.application, &claimed.key])? } else { None };
    stored.map(|stored| stored.signature).ok_or_else(|| refused(Refusal::Invalid))
}

/// Checks the signature, and then the claims; milliseconds of work for a large key.
pub fn check(
    assertion: &str,
    signature: Signature,
    now: Timestamp,
    audiences: &[String],
) -> Result<Proven, Fault> {
    let unverified = Unverified::parse(assertion).map_err(refused)?;
    let claimed = Claimed { application: unverified.issuer.clone(), key: unverified.key.clone() };
    let claims = unverified.verify(&signature).map_err(refused)?.claims(now, audiences);
    let application = claimed.application.clone();
    let checked = claims.map(|claims| Checked { claimed, signature, claims }).map_err(refused);
    Ok(Proven { application, checked })
}

/// Gives the token.
pub fn accept(
    tx: &mut Tx<'_>,
    checked: &Checked,
    scope: Option<&str>,
    lifetimes: Lifetimes,
    fresh: &Fresh,
) -> Result<Token, Fault> {
    let Checked { claimed, signature, claims } = checked;
    // The key may be gone since it was looked up.
    if key(tx, claimed)? != *signature {
        return Err(refused(Refusal::Invalid));
    }
    let application = claimed.application.clone();
    let jti = hash(&claims.jti);
    if tx.get::<UsedAssertion>(&[&application, &jti])?.is_some_and(|used| used.until > tx.now()) {
        return Err(refused(Refusal::Claim("its jti was used before")));
    }
    if let Some(subject) = &claims.subject {
        let user = match id(32).judge(subject) {
            Ok(()) => tx.get::<StoredUser>(&[subject])?,
            Err(_) => None,
        };
        if user.is_none_or(|user| user.role == DEACTIVATED || user.must_change_password) {
            return Err(refused(Refusal::Claim("sub is no active user with a password of their own")));
        }
    }
    let scope = match scope {
        Some(name) => Some(scoped(tx, &application, claims.subject.as_deref(), name)?),
        None => None,
    };
    let until = claims.ends.plus_seconds(JTI_SECONDS);
    tx.put(&UsedAssertion { application: application.clone(), jti, until })?;
    tx.set_actor(&callers::actor(claims.subject.as_deref(), Some(&application)));
    let key = claimed.key.clone();
    let intended = claims.intended.clone();
    let kind = TokenKind::Application { application, key, scope, intended };
    sessions::give_application(tx, claims.subject.clone(), kind, lifetimes, fresh)
}

/// The groups of a call endpoint set, if the token can have all of them.
fn scoped(
    tx: &mut Tx<'_>,
    application: &str,
    subject: Option<&str>,
    name: &str,
) -> Result<Vec<String>, Fault> {
    let set = match id(32).judge(name) {
        Ok(()) => tx.get::<StoredSet>(&[application, name])?,
        Err(_) => None,
    };
    let missing = || {
        format!(
            "application {application} has no call endpoint set \"{}\"",
            mfa_shared::identifier::shown(name)
        )
    };
    let set = set.ok_or_else(|| Fault::new(fault::SCOPE_UNKNOWN, missing()))?.set;
    let groups = set.permittable_endpoint_group_identifiers;
    let held = grants::of_application(tx, application)?;
    let user = match subject {
        Some(subject) => {
            let role = tx.get::<StoredUser>(&[subject])?.map_or(String::new(), |user| user.role);
            let stored = tx.get::<Role>(&[&role])?;
            Some(permission::of_user(&role, stored.as_ref()))
        }
        None => None,
    };
    let mut enabled = Vec::new();
    for group in &groups {
        if let Some(subject) = subject
            && tx.has::<StoredConsent>(&[application, group, subject])?
        {
            enabled.push(group.clone());
        }
    }
    let is_enabled = |group: &str| enabled.iter().any(|enabled| enabled == group);
    let lacking = permission::scope_lacking(&groups, &held, user.as_deref(), is_enabled);
    if lacking.is_empty() {
        return Ok(groups);
    }
    let detail = format!("call endpoint set {name} is not covered by what application {application} may use");
    Err(Fault::new(fault::SCOPE_NOT_COVERED, detail).missing(lacking))
}

fn refused(refusal: Refusal) -> Fault {
    let detail = match refusal {
        Refusal::Invalid => "the assertion is not valid".to_owned(),
        Refusal::Claim(why) => format!("the assertion is not accepted: {why}"),
    };
    Fault::new(fault::ASSERTION_INVALID, detail)
}
