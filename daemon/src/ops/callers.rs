//! Callers by their tokens, as they were computed before. Contract: `identity.md` section 3.

use super::caller::{Caller, LoginRules};
use super::grants;
use super::groups::{self, CompiledGroups};
use super::last_use::LastUse;
use super::sessions;
use crate::domain::permission::{self, Groups};
use crate::domain::privilege::Holding;
use crate::domain::token;
use crate::store::Tx;
use crate::store::engine::Space;
use crate::store::record::{Record as _, key};
use crate::store::records::{StoredConsent, StoredSession, StoredToken, StoredUser, TokenKind};
use mfa_shared::api::roles::{DEACTIVATED, PHARAOH, Permission, Role};
use mfa_shared::fault::Fault;
use mfa_shared::time::Timestamp;
use sha2::{Digest as _, Sha256};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What stands before the name of an application that acts for itself.
pub const APPLICATION: &str = "application:";

/// A caller as the audit trail names it.
pub fn actor(user: Option<&str>, application: Option<&str>) -> String {
    match (user, application) {
        (Some(user), Some(application)) => format!("{user} by application:{application}"),
        (Some(user), None) => user.to_owned(),
        (None, Some(application)) => format!("{APPLICATION}{application}"),
        (None, None) => "guest".to_owned(),
    }
}

/// Whether a text has the form of an access token; if so, the hash under which it is known.
pub fn access_hash(text: &str) -> Option<String> {
    token::Kind::Access.fits(text).then(|| token::hash(text))
}

/// Callers as they were computed before. A caller is reused only while the transaction finds its sources
/// unchanged, so that a change to any of them counts from the next request on, no matter who made it: by the
/// store's own count of such changes where it has one, otherwise by the records themselves.
#[derive(Debug, Default)]
pub struct KnownCallers {
    by_hash: Mutex<HashMap<String, Arc<Known>>>,
    groups: CompiledGroups,
    rules: Arc<LoginRules>,
    uses: Arc<LastUse>,
}

/// Callers that are remembered; beyond, all are forgotten and begin anew.
const KNOWN_MAX: usize = 10_000;

#[derive(Debug)]
struct Known {
    caller: Arc<Caller>,
    /// The count of changes when it was last true.
    version: Option<u64>,
    /// Digest of the stored records of a login; what an application holds depends on more than can be
    /// compared.
    records: Option<Digest>,
}

/// A SHA-256.
type Digest = [u8; 32];

impl KnownCallers {
    /// Of a daemon with these settings, which shares its store with others or does not.
    pub fn new(rules: LoginRules, shared: bool) -> Self {
        Self { rules: Arc::new(rules), uses: Arc::new(LastUse::new(shared)), ..Self::default() }
    }

    /// When sessions were used last.
    pub fn uses(&self) -> &LastUse {
        &self.uses
    }

    /// The caller who sent the access token with this hash; `None` if it is no live one. The request counts
    /// as a use of the session.
    pub fn find(&self, tx: &mut Tx<'_>, hash: &str) -> Result<Option<Arc<Caller>>, Fault> {
        let Some(caller) = self.live(tx, hash)? else { return Ok(None) };
        let Some(StoredToken { user: Some(user), kind, ends, .. }) = &caller.token else {
            return Ok(Some(caller));
        };
        match kind {
            TokenKind::Access { session } if self.is_idle(tx, user, session)? => return Ok(None),
            _ if tx.is_rehearsal() => {}
            TokenKind::Access { session } => self.uses.note(user, session, tx.now()),
            _ => self.uses.note_token(hash, *ends, tx.now()),
        }
        Ok(Some(caller))
    }

    /// Whether a session has ended because it was not used. Another daemon may have seen a later use, so the
    /// record decides.
    fn is_idle(&self, tx: &mut Tx<'_>, user: &str, session: &str) -> Result<bool, Fault> {
        let idle = self.rules.session_idle_seconds;
        let now = tx.now();
        let fresh = |at: Timestamp| at.plus_seconds(idle.into()) > now;
        if idle == 0 || self.uses.of(session).is_some_and(fresh) {
            return Ok(false);
        }
        let stored = tx.get::<StoredSession>(&[user, session])?;
        Ok(stored.is_none_or(|stored| sessions::is_idle(&stored, &self.uses, idle, now)))
    }

    /// The records by which a caller is known again, if it was seen before.
    pub fn places(&self, hash: &str) -> Vec<(Space, Vec<u8>)> {
        let known = self.by_hash().get(hash).cloned();
        known.map_or_else(Vec::new, |known| sources(hash, &known.caller).to_vec())
    }

    fn live(&self, tx: &mut Tx<'_>, hash: &str) -> Result<Option<Arc<Caller>>, Fault> {
        let version = tx.version();
        let known = self.by_hash().get(hash).cloned();
        let known = known.filter(|known| known.caller.token.as_ref().is_some_and(|t| t.ends > tx.now()));
        if let Some(known) = known.as_ref().filter(|known| version.is_some() && known.version == version) {
            return Ok(Some(known.caller.clone()));
        }
        if let Some(known) = known.as_ref().filter(|known| version.is_none() && known.records.is_some()) {
            tx.expect_places(&sources(hash, &known.caller))?;
        }
        let groups = self.groups.get(tx)?;
        if tx.is_rehearsal() {
            // What it has seen may be of two moments, so nothing is kept of it.
            let caller = match known {
                Some(known)
                    if known.records.is_some() && Arc::ptr_eq(known.caller.reach.groups(), &groups) =>
                {
                    (known.records == Some(records(tx, hash, &known.caller)?)).then(|| known.caller.clone())
                }
                _ => None,
            };
            return match caller {
                Some(caller) => Ok(Some(caller)),
                None => Ok(find(tx, hash, &groups, (&self.rules, &self.uses))?.map(Arc::new)),
            };
        }
        let same_groups = |known: &Arc<Known>| Arc::ptr_eq(known.caller.reach.groups(), &groups);
        if known.as_ref().is_some_and(|known| !same_groups(known)) {
            // The groups have changed, and with every caller of before go the groups of before.
            self.by_hash().retain(|_, known| same_groups(known));
        }
        if let Some(known) = known.filter(|known| known.records.is_some() && same_groups(known)) {
            let records = Some(records(tx, hash, &known.caller)?);
            if known.records == records {
                self.keep(hash, Known { caller: known.caller.clone(), version, records });
                return Ok(Some(known.caller.clone()));
            }
        }
        let Some(caller) = find(tx, hash, &groups, (&self.rules, &self.uses))? else {
            self.by_hash().remove(hash);
            return Ok(None);
        };
        let caller = Arc::new(caller);
        let records = match caller.application {
            Some(_) => None,
            None => Some(records(tx, hash, &caller)?),
        };
        if version.is_some() || records.is_some() {
            self.keep(hash, Known { caller: caller.clone(), version, records });
        }
        Ok(Some(caller))
    }

    /// Someone who is not the caller, as [`absent`] finds them.
    pub fn absent(&self, tx: &mut Tx<'_>, who: Absent<'_>) -> Result<Option<Caller>, Fault> {
        let groups = self.groups.get(tx)?;
        absent(tx, who, &groups, (&self.rules, &self.uses))
    }

    fn by_hash(&self) -> MutexGuard<'_, HashMap<String, Arc<Known>>> {
        self.by_hash.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn keep(&self, hash: &str, known: Known) {
        let mut all = self.by_hash();
        if all.len() >= KNOWN_MAX {
            all.clear();
        }
        all.insert(hash.to_owned(), Arc::new(known));
    }
}

/// A user, or an application with a token of a kind, by itself or for the user.
pub type Absent<'a> = (Option<&'a str>, Option<TokenKind>);

/// Someone who is not the caller, with what they hold now; `None` who could not log in any more. What they
/// would have to do first at a login is not asked of them here.
pub fn absent(
    tx: &mut Tx<'_>,
    (user, kind): Absent<'_>,
    groups: &Arc<Groups>,
    rules: (&Arc<LoginRules>, &Arc<LastUse>),
) -> Result<Option<Caller>, Fault> {
    let user = match user {
        None => None,
        Some(name) => match tx.get::<StoredUser>(&[name])?.filter(|user| user.role != DEACTIVATED) {
            Some(user) => Some(user),
            None => return Ok(None),
        },
    };
    let of_login = match &user {
        Some(user) => by_login(tx, user, groups, rules)?,
        None => Caller { holding: Holding::Only(Arc::default()), ..Caller::guest() },
    };
    let caller = Caller { must_change_password: false, must_set_up_factor: false, ..of_login };
    let Some(TokenKind::Application { application, scope, .. }) = &kind else {
        return Ok(user.map(|_| caller));
    };
    if !grants::has_key(tx, application)? {
        return Ok(None);
    }
    let of_user = match &user {
        Some(user) => Some(held_by(tx, user)?),
        None => None,
    };
    let held = of_application(tx, application, user.as_ref().zip(of_user))?;
    let held: Arc<[Permission]> = narrowed(held, scope.as_deref()).into();
    let holding = Holding::Only(held.clone());
    let reach = Arc::new(groups.reach(&held));
    let application = Some(application.clone());
    let (hash, ends, user) = (String::new(), tx.now(), user.map(|user| user.identifier));
    let token = kind.map(|kind| StoredToken { hash, user, ends, kind, given: None, origin: None });
    Ok(Some(Caller { application, holding, reach, token, ..caller }))
}

/// The records on which a login rests, with that of the groups.
fn sources(hash: &str, caller: &Caller) -> [(Space, Vec<u8>); 5] {
    let name = |name: &'_ Option<String>| key(&[name.as_deref().unwrap_or_default()]);
    let token = (StoredToken::SPACE, key(&[hash]));
    [
        caller.token.as_ref().map_or_else(|| token.clone(), sessions::place_of_life),
        token,
        (StoredUser::SPACE, name(&caller.user)),
        (Role::SPACE, name(&caller.role)),
        groups::version_place(),
    ]
}

/// Digest of the stored records on which a login rests.
fn records(tx: &mut Tx<'_>, hash: &str, caller: &Caller) -> Result<Digest, Fault> {
    let [life, token, user, role, _] = sources(hash, caller);
    let mut digest = Sha256::new();
    for (space, key) in [life, token, user, role] {
        let record = tx.value(space, &key)?;
        // The length keeps the records apart, and none from an empty one.
        digest.update(record.as_ref().map_or(u64::MAX, |bytes| bytes.len() as u64).to_le_bytes());
        digest.update(record.unwrap_or_default());
    }
    Ok(digest.finalize().into())
}

fn find(
    tx: &mut Tx<'_>,
    hash: &str,
    groups: &Arc<Groups>,
    (rules, uses): (&Arc<LoginRules>, &Arc<LastUse>),
) -> Result<Option<Caller>, Fault> {
    let Some(token) = tx.get::<StoredToken>(&[hash])? else { return Ok(None) };
    if token.ends <= tx.now() || matches!(token.kind, TokenKind::Refresh { .. }) {
        return Ok(None);
    }
    let user = match &token.user {
        Some(user) => match tx.get::<StoredUser>(&[user])? {
            Some(user) if user.role != DEACTIVATED => Some(user),
            _ => return Ok(None),
        },
        None => None,
    };
    if !sessions::is_alive(tx, &token, user.as_ref())? {
        return Ok(None);
    }
    let TokenKind::Application { application, scope, .. } = &token.kind else {
        let Some(user) = user else { return Ok(None) };
        return Ok(Some(Caller { token: Some(token), ..by_login(tx, &user, groups, (rules, uses))? }));
    };
    let of_user = match &user {
        Some(user) => Some(held_by(tx, user)?),
        None => None,
    };
    let held = of_application(tx, application, user.as_ref().zip(of_user))?;
    let held: Arc<[Permission]> = narrowed(held, scope.as_deref()).into();
    let identifier = user.as_ref().map(|user| user.identifier.clone());
    let actor = actor(identifier.as_deref(), Some(application));
    Ok(Some(Caller {
        name: identifier.clone().unwrap_or_else(|| actor.clone()),
        actor,
        must_change_password: user.as_ref().is_some_and(|user| user.must_change_password),
        must_set_up_factor: user.as_ref().is_some_and(|user| rules.must_set_up_factor(user)),
        role: user.map(|user| user.role),
        user: identifier,
        application: Some(application.clone()),
        holding: Holding::Only(held.clone()),
        reach: Arc::new(groups.reach(&held)),
        token: Some(token),
        rules: rules.clone(),
        uses: uses.clone(),
    }))
}

/// What is left of permissions where a token is narrowed to groups.
fn narrowed(held: Vec<Permission>, scope: Option<&[String]>) -> Vec<Permission> {
    match scope {
        Some(groups) => permission::narrowed(held, groups),
        None => held,
    }
}

fn held_by(tx: &mut Tx<'_>, user: &StoredUser) -> Result<Vec<Permission>, Fault> {
    let role = tx.get::<Role>(&[&user.role])?;
    Ok(permission::of_user(&user.role, role.as_ref()))
}

/// A user as a login makes one a caller; who cannot log in holds nothing.
pub fn by_login(
    tx: &mut Tx<'_>,
    user: &StoredUser,
    groups: &Arc<Groups>,
    (rules, uses): (&Arc<LoginRules>, &Arc<LastUse>),
) -> Result<Caller, Fault> {
    let held: Arc<[Permission]> = held_by(tx, user)?.into();
    let is_pharaoh = user.role == PHARAOH;
    Ok(Caller {
        name: user.identifier.clone(),
        actor: user.identifier.clone(),
        user: Some(user.identifier.clone()),
        role: Some(user.role.clone()),
        application: None,
        must_change_password: user.must_change_password,
        must_set_up_factor: rules.must_set_up_factor(user),
        reach: Arc::new(groups.reach(&held)),
        holding: if is_pharaoh { Holding::Pharaoh } else { Holding::Only(held) },
        token: None,
        rules: rules.clone(),
        uses: uses.clone(),
    })
}

fn of_application(
    tx: &mut Tx<'_>,
    application: &str,
    user: Option<(&StoredUser, Vec<Permission>)>,
) -> Result<Vec<Permission>, Fault> {
    let held = grants::of_application(tx, application)?;
    let Some((user, of_user)) = user else { return Ok(held) };
    let mut enabled = Vec::new();
    for permission in &held {
        let group = &permission.permittable_endpoint_group_identifier;
        if tx.has::<StoredConsent>(&[application, group, &user.identifier])? {
            enabled.push(group.clone());
        }
    }
    Ok(permission::delegated(&held, &of_user, |group| enabled.iter().any(|enabled| enabled == group)))
}
