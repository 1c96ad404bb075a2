//! One row of the table with its operation: decode, check the tag, run, encode.

use super::reply::{IntoReply, Reply};
use super::state::State;
use crate::ops::Caller;
use crate::store::Tx;
use mfa_shared::endpoint::{Endpoint, Meta};
use mfa_shared::fault::Fault;
use mfa_shared::wire::{Body, Nothing, RawBody};
use std::fmt;
use std::sync::Arc;

/// A decoded request, ready to run in a transaction, as often as the store wants.
pub type Run = Box<dyn Fn(&mut Tx<'_>, &Caller) -> Result<Reply, Fault> + Send + Sync>;

type Prepare = Box<dyn Fn(Vec<String>, &RawBody<'_>) -> Result<Run, Fault> + Send + Sync>;
type Status = fn(&State) -> Result<Reply, Fault>;

/// A row with what stands behind it.
pub struct Route {
    /// The row.
    pub meta: Meta,
    /// What answers it.
    pub behind: Behind,
}

/// What answers a row.
pub enum Behind {
    /// An operation in a transaction.
    Operation(Prepare),
    /// The state of the process, without a transaction and without a token.
    Status(Status),
}

impl fmt::Debug for Route {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.meta.method, self.meta.path)
    }
}

/// Joins a row and its operation.
pub fn operation<E, R>(run: fn(&mut Tx<'_>, &Caller, &E, &E::Body) -> Result<R, Fault>) -> Route
where
    E: Endpoint,
    R: IntoReply<E::Answer> + 'static,
{
    let prepare = move |params: Vec<String>, raw: &RawBody<'_>| -> Result<Run, Fault> {
        let (endpoint, body) = (E::from_params(params), E::Body::read(raw)?);
        Ok(Box::new(move |tx: &mut Tx<'_>, caller: &Caller| {
            run(tx, caller, &endpoint, &body).map(IntoReply::into_reply)
        }))
    };
    Route { meta: E::META, behind: Behind::Operation(Box::new(prepare)) }
}

/// Joins a row and a look at the process.
pub fn status<E: Endpoint<Body = Nothing>>(look: Status) -> Route {
    Route { meta: E::META, behind: Behind::Status(look) }
}

/// The representation whose tag a row carries: the read operation that the row names, on the same path.
#[derive(Clone)]
pub struct Tagged(Arc<Run>);

impl Tagged {
    /// Prepares the read of the tag, which takes the first parameters of the path.
    pub fn prepare(route: &Route, params: &[String]) -> Option<Self> {
        let Behind::Operation(prepare) = &route.behind else { return None };
        let count = route.meta.path.matches('{').count();
        let params = params.get(..count)?.to_vec();
        let no_query = mfa_shared::query::Params::default();
        let today = mfa_shared::time::Timestamp::from_millis(0).day();
        let raw = RawBody { params: &no_query, bytes: &[], form: None, today };
        prepare(params, &raw).ok().map(|run| Self(Arc::new(run)))
    }

    /// The tag at present; the fault of the read where the record is not there.
    pub fn read(&self, tx: &mut Tx<'_>, caller: &Caller) -> Result<String, Fault> {
        (self.0)(tx, caller).map(|reply| reply.tag())
    }
}
