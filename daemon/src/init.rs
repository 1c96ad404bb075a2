//! The initialisation of a store, which is done on its own machine and never over the network. Contract:
//! `identity.md` section 11.

use crate::clock::Clock;
use crate::config::Config;
use crate::open::{How, StartError, open, open_to_look};
use crate::ops::audit as trail;
use crate::ops::init::{self, FirstUser, Made};
use crate::ops::secret::Judged;
use crate::random;
use crate::store::records::Initialisation;
use futures_util::future::BoxFuture;
use mfa_shared::api::audit::AuditChange;
use mfa_shared::api::users::{NewUser, made_up_password};
use mfa_shared::fault::{self, Fault};
use mfa_shared::node::Node;
use mfa_shared::object::Object;
use mfa_shared::object::nested;
use mfa_shared::rule::check_body;
use mfa_shared::time::Timestamp;
use std::fmt;

/// A user to be made.
#[derive(Clone)]
pub struct NewLogin {
    /// The name.
    pub name: String,
    /// The password; none to have one made up, which must then be changed at first use.
    pub password: Option<String>,
}

impl fmt::Debug for NewLogin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NewLogin").field("name", &self.name).finish_non_exhaustive()
    }
}

/// What an initialisation made.
#[derive(Clone, PartialEq, Eq)]
pub struct Initialized {
    /// Whether the store was made now; false if it was there.
    pub created: bool,
    /// Name of the store.
    pub instance: String,
    /// What was added, and what existed.
    pub made: Made,
    /// Passwords that were made up, by user. They are shown once and known nowhere else.
    pub passwords: Vec<(String, String)>,
}

impl fmt::Debug for Initialized {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Initialized").field("made", &self.made).finish_non_exhaustive()
    }
}

/// Makes the store, if it is not there, and adds groups, starter roles and the first users, once. The first
/// user has the role `pharaoh`, the operator the role `administrator`.
pub fn init<'a>(
    config: &'a Config,
    first: &'a NewLogin,
    operator: Option<&'a NewLogin>,
) -> BoxFuture<'a, Result<Initialized, StartError>> {
    Box::pin(async move {
        let mut passwords = Vec::new();
        let first = prepare(first, &mut passwords)?;
        let operator = operator.map(|operator| prepare(operator, &mut passwords)).transpose()?;
        let (store, seeded) = open(config, Clock::system()).await?;
        let made = store
            .write("init", move |tx| {
                tx.set_actor("system");
                let made = init::initialise(tx, &first, operator.as_ref())?;
                if !made.added.is_empty() {
                    let added = Node::List(made.added.iter().cloned().map(Node::Text).collect());
                    let change = AuditChange { field: "/added".to_owned(), before: None, after: Some(added) };
                    trail::record_own(tx, "Init", "init", None, vec![change]);
                }
                Ok(made)
            })
            .await;
        store.close().await;
        let made = made.map_err(failed)?;
        // What was kept has its old password.
        passwords.retain(|(user, _)| made.added.contains(&format!("user {user}")));
        Ok(Initialized { created: seeded.fresh, instance: seeded.facts.instance, made, passwords })
    })
}

/// Whether a store has been initialised. One that is not there is not made.
pub fn is_initialised(config: &Config) -> BoxFuture<'_, Result<bool, StartError>> {
    Box::pin(async move {
        let store = match open_to_look(config, Clock::system(), How::to_look()).await {
            Ok(store) => store,
            // There is no store; what else is wrong with the settings, an initialisation says.
            Err(StartError::Settings(_)) => return Ok(false),
            Err(error) => return Err(error),
        };
        let has = store.read(false, |tx| tx.has::<Initialisation>(&["initialised"])).await;
        store.close().await;
        has.map_err(failed)
    })
}

fn prepare(login: &NewLogin, passwords: &mut Vec<(String, String)>) -> Result<FirstUser, StartError> {
    let must_change_password = login.password.is_none();
    let password = login.password.clone().unwrap_or_else(made_up);
    check(&login.name, &password)?;
    if must_change_password {
        passwords.push((login.name.clone(), password.clone()));
    }
    Ok(FirstUser { name: login.name.clone(), hash: hash(&password)?, must_change_password })
}

/// The rules of a new user, as the endpoint has them.
fn check(name: &str, password: &str) -> Result<(), StartError> {
    let fields = [("identifier", name), ("role", "pharaoh"), ("password", password)];
    let refused = checked::<NewUser>(&fields).err();
    refused.map_or(Ok(()), |refused| Err(StartError::Settings(refused.detail.clone())))
}

/// Texts that were given on the machine itself, held to the rules of a body.
pub(crate) fn checked<T: Object>(fields: &[(&str, &str)]) -> Result<T, Fault> {
    let field = |(name, text): &(&str, &str)| ((*name).to_owned(), Node::Text((*text).to_owned()));
    let body = Node::Object(fields.iter().map(field).collect());
    let today = Timestamp::from_millis(0).day();
    check_body(&nested::<T>(), &body, today).map_err(|refused| match refused {
        Ok(errors) => Fault::fields(errors),
        Err(why) => Fault::new(fault::MALFORMED_BODY, why),
    })
}

pub(crate) fn hash(password: &str) -> Result<String, StartError> {
    Judged::new(password, None, Some(&random::bytes())).hash().map_err(failed)
}

/// A password for a user who has none.
pub(crate) fn made_up() -> String {
    made_up_password(random::bytes())
}

fn failed(fault: Fault) -> StartError {
    StartError::Refused(fault)
}
