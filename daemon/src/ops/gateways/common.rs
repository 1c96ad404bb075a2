//! What every kind of gateway has in common: the operations on its configurations, and what these are
//! refused with. No kind is named here.

use crate::config::Config;
use crate::domain::bootstrap::GATEWAYS;
use crate::domain::gateway::{Message, Trial};
use crate::domain::permission::permission;
use crate::ops::Caller;
use crate::ops::access::decide;
use crate::ops::rows::Rows;
use crate::secret::Secret;
use crate::store::Tx;
use crate::store::records::GatewayUse;
use crate::store::seal::HoldsSecrets;
use mfa_shared::api::gateways::TestOutcome;
use mfa_shared::api::roles::Operation;
use mfa_shared::endpoint::{CreatedAt, Endpoint, segments};
use mfa_shared::fault::{self, Fault};
use mfa_shared::object::Object;
use mfa_shared::wire::{Accepted, Array, Done, Json, Nothing};
use serde::Serialize;

/// A kind of gateway, by the form in which its configurations are stored: its endpoints, and what differs
/// from kind to kind.
pub trait Gateway: HoldsSecrets + Clone {
    /// A new configuration.
    type New: Send + Sync + 'static;
    /// A configuration as reads show it.
    type Shown: Object + Serialize + Send + Sync;
    /// Who gets a test message.
    type To: Send + Sync + 'static;
    /// The endpoint that creates one.
    type Create: Endpoint<Body = Json<Self::New>, Answer = CreatedAt<Self::Get>>;
    /// The endpoint that lists them.
    type List: Endpoint<Body = Nothing, Answer = Array<Self::Shown>>;
    /// The endpoint that shows one with its secret.
    type Get: Endpoint<Body = Nothing, Answer = Json<Self::Shown>>;
    /// The endpoint that changes one.
    type Update: Endpoint<Answer = Accepted>;
    /// The endpoint that deletes one.
    type Delete: Endpoint<Body = Nothing, Answer = Done>;
    /// The endpoint that sends a test message.
    type Test: Endpoint<Body = Json<Self::To>, Answer = Json<TestOutcome>>;

    /// What people call one of its configurations.
    const CALLED: &'static str;

    /// The identifier of a new one.
    fn identifier(new: &Self::New) -> &str;
    /// A new one as it is stored.
    fn made(tx: &Tx<'_>, caller: &Caller, new: &Self::New) -> Result<Self, Fault>;
    /// One as reads show it, with its secret or without.
    fn shown(self, secret: Option<String>) -> Self::Shown;
    /// The record that a change is about: the endpoint that shows it, and its identifier.
    fn changed(change: &<Self::Update as Endpoint>::Body) -> (&'static str, Vec<String>);
    /// Changes one.
    fn change(
        tx: &mut Tx<'_>,
        caller: &Caller,
        change: &<Self::Update as Endpoint>::Body,
    ) -> Result<(), Fault>;
    /// The test message of one.
    fn plan(
        tx: &mut Tx<'_>,
        config: &Config,
        identifier: &str,
        to: &Self::To,
    ) -> Result<Trial<Message>, Fault>;
}

/// The identifier in a path.
pub fn identifier<E: Endpoint>(at: &E) -> &str {
    at.params().first().copied().unwrap_or_default()
}

/// The word for a kind, in the paths of its endpoints and in the note of a use.
pub fn word<G: Gateway>() -> &'static str {
    segments(G::Get::META.path).nth(1).unwrap_or_default()
}

/// Creates a configuration.
pub fn create<G: Gateway>(
    tx: &mut Tx<'_>,
    caller: &Caller,
    _: &G::Create,
    Json(new): &Json<G::New>,
) -> Result<CreatedAt<G::Get>, Fault> {
    let identifier = G::identifier(new);
    if tx.has::<G>(&[identifier])? {
        let detail = format!("there is an {} \"{identifier}\" already", G::CALLED);
        return Err(Fault::new(fault::IDENTIFIER_TAKEN, detail));
    }
    tx.put(&G::made(tx, caller, new)?)?;
    Ok(CreatedAt(G::Get::from_params(vec![identifier.to_owned()])))
}

/// Lists the configurations, without their secrets.
pub fn list<G: Gateway>(
    _: &mut Tx<'_>,
    _: &Caller,
    _: &G::List,
    _: &Nothing,
) -> Result<Rows<G, G::Shown>, Fault> {
    Ok(Rows::all(&[], |_, stored| Ok(stored.shown(None))))
}

/// Reads a configuration with its secret.
pub fn get<G: Gateway>(
    tx: &mut Tx<'_>,
    _: &Caller,
    at: &G::Get,
    _: &Nothing,
) -> Result<Json<G::Shown>, Fault> {
    let stored = find::<G>(tx, identifier(at))?;
    let secret = secret(tx, &stored)?.map(|secret| secret.expose().to_owned());
    Ok(Json(stored.shown(secret)))
}

/// Notes that the secret of a configuration was read.
pub fn note<G: Gateway>(tx: &mut Tx<'_>, caller: &Caller, at: &G::Get) -> Result<(), Fault> {
    tx.put(&GatewayUse {
        kind: word::<G>().to_owned(),
        identifier: identifier(at).to_owned(),
        action: "READ".to_owned(),
        by: caller.actor.clone(),
        at: tx.now(),
        to: None,
        outcome: None,
    })
}

/// Changes the configuration that a body names.
pub fn update<G: Gateway>(
    tx: &mut Tx<'_>,
    caller: &Caller,
    _: &G::Update,
    change: &<G::Update as Endpoint>::Body,
) -> Result<Accepted, Fault> {
    G::change(tx, caller, change)?;
    Ok(Accepted)
}

/// Deletes a configuration with its secret.
pub fn delete<G: Gateway>(tx: &mut Tx<'_>, _: &Caller, at: &G::Delete, _: &Nothing) -> Result<Done, Fault> {
    let stored = find::<G>(tx, identifier(at))?;
    tx.remove(&stored);
    Ok(Done)
}

/// The configuration of an identifier.
pub fn find<G: Gateway>(tx: &mut Tx<'_>, identifier: &str) -> Result<G, Fault> {
    tx.get(&[identifier])?.ok_or_else(|| {
        let detail = format!("there is no {} \"{identifier}\"", G::CALLED);
        Fault::new(fault::CONFIGURATION_NOT_FOUND, detail)
    })
}

/// The secret of a configuration, where it has one.
pub fn secret<G: Gateway>(tx: &Tx<'_>, stored: &G) -> Result<Option<Secret>, Fault> {
    let mut sealed = stored.clone();
    let sealed = sealed.secrets().pop();
    sealed.map(|(field, sealed)| tx.unseal(stored, field, sealed)).transpose()
}

/// Refuses a change of where a stored secret is sent by a caller who may not see it, unless a new secret
/// comes with it: otherwise a test message would carry the stored one to a server of the caller.
pub fn refuse_redirect<G: Gateway>(caller: &Caller, identifier: &str) -> Result<(), Fault> {
    let path = ["configuration", word::<G>(), identifier];
    if caller.is_unchecked() || decide(caller, &G::Get::META, false, &path).is_ok() {
        return Ok(());
    }
    let detail = format!(
        "{} {identifier}: its stored secret may not be sent elsewhere by a caller who may not see it; send a \
         new secret with the change",
        G::CALLED
    );
    let missing = vec![permission(GATEWAYS, &[Operation::Read])];
    Err(Fault::new(fault::EXCEEDS_OWN_PERMISSIONS, detail).missing(missing))
}
