//! One row of the table with its operation: decode, check the tag, run, encode.

use super::heavy::Secret;
use super::reply::{IntoReply, Reply};
use super::said::SaidCustomer;
use crate::ops::secret::Judged;
use crate::ops::{Caller, Given};
use crate::store::{Store, Tx};
use mfa_shared::endpoint::{Endpoint, Meta};
use mfa_shared::fault::Fault;
use mfa_shared::wire::{AnswerKind, Nothing, RawBody};
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;

/// A decoded request, ready to run in a transaction, as often as the store wants.
pub type Run = Box<dyn Fn(&mut Tx<'_>, &Caller) -> Result<Reply, Fault> + Send + Sync>;

/// A decoded request, with the password in it that has to be hashed first, if there is one.
pub struct Prepared {
    /// The rest of the request.
    pub run: Run,
    /// The password.
    pub secret: Option<Arc<Secret>>,
    /// The record whose tag is compared, where the body names it and not the path.
    pub addressed: Option<Addressed>,
    /// What a read leaves in the audit trail.
    pub note: Option<Note>,
    /// The customer that it makes or changes, where others may be like it afterwards.
    pub said: Option<SaidCustomer>,
}

impl Prepared {
    fn new(run: Run) -> Self {
        Self { run, secret: None, addressed: None, note: None, said: None }
    }
}

/// A record: the endpoint that reads it, and the parameters of its path.
pub type Addressed = (&'static str, Vec<String>);
/// What is written beside an answer.
pub type Note = Box<dyn Fn(&mut Tx<'_>, &Caller) -> Result<(), Fault> + Send + Sync>;

type Prepare = Box<dyn Fn(Vec<String>, &RawBody<'_>) -> Result<Prepared, Fault> + Send + Sync>;
type Acting = Pin<Box<dyn Future<Output = Run> + Send>>;

/// What is to be done outside the store; it ends in what settles it.
pub struct Act {
    pub(super) run: Box<dyn FnOnce(Store) -> Acting + Send>,
    /// What it answers when it succeeds.
    pub(super) answer: AnswerKind,
    /// What doing it is like.
    pub(super) work: Work,
}

/// What the work of an errand is like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Work {
    /// Transactions, each of which is short.
    InSteps,
    /// Reading about every record of a noun, so that the threads for lists do it.
    Long,
    /// Sending a test message.
    Message,
}

/// A decoded request that plans its errand.
pub type Errand = Box<dyn Fn(&mut Tx<'_>, &Caller, Given<'_>) -> Result<Act, Fault> + Send + Sync>;

/// Reads the errand of a request.
pub type PrepareErrand = Box<dyn Fn(Vec<String>, &RawBody<'_>) -> Result<Errand, Fault> + Send + Sync>;

impl fmt::Debug for Act {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Act").finish_non_exhaustive()
    }
}

/// What a look at the process shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Look {
    /// Whether it lives.
    Live,
    /// Whether it takes requests.
    Ready,
    /// Which program it is.
    Version,
    /// The endpoint table for programs.
    OpenApi,
    /// The endpoint table for people.
    Docs,
}

/// A row with its handler.
pub struct Route {
    /// The row.
    pub meta: Meta,
    /// What answers it.
    pub handler: Handler,
}

/// What answers a row.
pub enum Handler {
    /// An operation in a transaction.
    Operation(Prepare),
    /// The state of the process, without a transaction and without a token.
    Status(Look),
    /// The giving of tokens, which needs none.
    Login,
    /// Work outside the store between two transactions.
    Errand(PrepareErrand),
    /// Operations of other rows, in one transaction.
    Batch,
    /// The search over what the caller may read.
    Search,
    /// What is changed, as it happens.
    Events,
    /// The metrics of the process and its store.
    Metrics,
    /// A backup of the whole store.
    Backup,
}

impl Route {
    /// Whether it is what those ask who watch over the daemon.
    pub fn watches(&self) -> bool {
        matches!(self.handler, Handler::Status(Look::Live | Look::Ready) | Handler::Metrics)
    }
}

impl fmt::Debug for Route {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.meta.method, self.meta.path)
    }
}

/// Joins a row and its operation.
pub fn operation<E, R>(run: Operation<E, R>) -> Route
where
    E: Endpoint,
    R: IntoReply<E::Answer> + 'static,
{
    with(run, |_, _| Known::default())
}

/// Joins a row and its operation on a customer, of whom the body says what others may be like.
pub fn said<E, R>(run: Operation<E, R>, find: fn(&E, &E::Body) -> SaidCustomer) -> Route
where
    E: Endpoint,
    R: IntoReply<E::Answer> + 'static,
{
    with(run, move |endpoint, body| Known { said: Some(find(endpoint, body)), ..Known::default() })
}

/// Joins a row and its operation on the record that its body names.
pub fn addressed<E, R>(run: Operation<E, R>, find: fn(&E::Body) -> Addressed) -> Route
where
    E: Endpoint,
    R: IntoReply<E::Answer> + 'static,
{
    with(run, move |_, body| Known { addressed: Some(find(body)), ..Known::default() })
}

type Operation<E, R> = fn(&mut Tx<'_>, &Caller, &E, &<E as Endpoint>::Body) -> Result<R, Fault>;

/// What is known of a request once it is decoded.
#[derive(Default)]
struct Known {
    addressed: Option<Addressed>,
    said: Option<SaidCustomer>,
}

/// Joins a row and its operation; `look` says what is known of a decoded request.
fn with<E, R>(run: Operation<E, R>, look: impl Fn(&E, &E::Body) -> Known + Send + Sync + 'static) -> Route
where
    E: Endpoint,
    R: IntoReply<E::Answer> + 'static,
{
    let prepare = move |params: Vec<String>, raw: &RawBody<'_>| -> Result<Prepared, Fault> {
        let endpoint = E::from_params(params);
        let body = endpoint.read(raw)?;
        let Known { addressed, said } = look(&endpoint, &body);
        let run = move |tx: &mut Tx<'_>, caller: &Caller| {
            run(tx, caller, &endpoint, &body).map(IntoReply::into_reply)
        };
        Ok(Prepared { addressed, said, ..Prepared::new(Box::new(run)) })
    };
    Route { meta: E::META, handler: Handler::Operation(Box::new(prepare)) }
}

/// Joins a row and a read that is noted in the audit trail.
pub fn audited<E, R>(
    run: fn(&mut Tx<'_>, &Caller, &E, &E::Body) -> Result<R, Fault>,
    note: fn(&mut Tx<'_>, &Caller, &E) -> Result<(), Fault>,
) -> Route
where
    E: Endpoint,
    R: IntoReply<E::Answer> + 'static,
{
    let prepare = move |params: Vec<String>, raw: &RawBody<'_>| -> Result<Prepared, Fault> {
        let endpoint = Arc::new(E::from_params(params));
        let body = endpoint.read(raw)?;
        let noted = endpoint.clone();
        let run = move |tx: &mut Tx<'_>, caller: &Caller| {
            run(tx, caller, &endpoint, &body).map(IntoReply::into_reply)
        };
        let note = move |tx: &mut Tx<'_>, caller: &Caller| note(tx, caller, &noted);
        Ok(Prepared { note: Some(Box::new(note)), ..Prepared::new(Box::new(run)) })
    };
    Route { meta: E::META, handler: Handler::Operation(Box::new(prepare)) }
}

type WithSecret<E, R> = fn(&mut Tx<'_>, &Caller, &E, &<E as Endpoint>::Body, &Judged) -> Result<R, Fault>;

/// Joins a row and its operation on a password, which `find` takes out of the request.
pub fn secret_operation<E, R>(run: WithSecret<E, R>, find: fn(&E, &E::Body) -> Secret) -> Route
where
    E: Endpoint,
    R: IntoReply<E::Answer> + 'static,
{
    let prepare = move |params: Vec<String>, raw: &RawBody<'_>| -> Result<Prepared, Fault> {
        let endpoint = E::from_params(params);
        let body = endpoint.read(raw)?;
        let secret = Arc::new(find(&endpoint, &body));
        let judging = secret.clone();
        let run = move |tx: &mut Tx<'_>, caller: &Caller| {
            run(tx, caller, &endpoint, &body, &judging.judged()).map(IntoReply::into_reply)
        };
        Ok(Prepared { secret: Some(secret), ..Prepared::new(Box::new(run)) })
    };
    Route { meta: E::META, handler: Handler::Operation(Box::new(prepare)) }
}

type Plan<E, P> = fn(&mut Tx<'_>, &Caller, Given<'_>, &E, &<E as Endpoint>::Body) -> Result<P, Fault>;
type Settle<E, O, R> = fn(&mut Tx<'_>, &Caller, &E, &O) -> Result<R, Fault>;

/// Joins a row with the three steps of its errand; between the first and the last it may run transactions of
/// its own. A refusal in `settle` keeps what was written with [`Tx::keep_when_refused`] and is never
/// remembered as the answer to an idempotency key.
pub fn errand<E, P, O, R, F>(
    work: Work,
    plan: Plan<E, P>,
    act: fn(P, Store) -> F,
    settle: Settle<E, O, R>,
) -> Route
where
    E: Endpoint,
    P: Send + 'static,
    O: Send + Sync + 'static,
    R: IntoReply<E::Answer> + 'static,
    F: Future<Output = O> + Send + 'static,
{
    let prepare = move |params: Vec<String>, raw: &RawBody<'_>| -> Result<Errand, Fault> {
        let endpoint = Arc::new(E::from_params(params));
        let body = endpoint.read(raw)?;
        Ok(Box::new(move |tx: &mut Tx<'_>, caller: &Caller, given: Given<'_>| {
            let planned = plan(tx, caller, given, &endpoint, &body)?;
            let endpoint = endpoint.clone();
            let run = Box::new(move |store| -> Acting {
                Box::pin(async move {
                    let outcome = act(planned, store).await;
                    let run = move |tx: &mut Tx<'_>, caller: &Caller| {
                        settle(tx, caller, &endpoint, &outcome).map(IntoReply::into_reply)
                    };
                    Box::new(run) as Run
                })
            });
            Ok(Act { run, answer: E::META.answer.kind, work })
        }))
    };
    Route { meta: E::META, handler: Handler::Errand(Box::new(prepare)) }
}

/// The row that gives tokens.
pub fn login<E: Endpoint>() -> Route {
    Route { meta: E::META, handler: Handler::Login }
}

/// The row that carries operations of other rows.
pub fn batch<E: Endpoint>() -> Route {
    Route { meta: E::META, handler: Handler::Batch }
}

/// The row that searches.
pub fn search<E: Endpoint>() -> Route {
    Route { meta: E::META, handler: Handler::Search }
}

/// The row that streams changes.
pub fn events<E: Endpoint>() -> Route {
    Route { meta: E::META, handler: Handler::Events }
}

/// The row of the metrics.
pub fn metrics<E: Endpoint>() -> Route {
    Route { meta: E::META, handler: Handler::Metrics }
}

/// The row of the backup.
pub fn backup<E: Endpoint>() -> Route {
    Route { meta: E::META, handler: Handler::Backup }
}

/// Joins a row and a look at the process.
pub fn status<E: Endpoint<Body = Nothing>>(look: Look) -> Route {
    Route { meta: E::META, handler: Handler::Status(look) }
}

/// The representation whose tag a row carries: the read operation that the row names, on the same path.
#[derive(Clone)]
pub struct Tagged(Arc<Run>);

impl Tagged {
    /// Prepares the read of the tag, which takes the first parameters of the path.
    pub fn prepare(route: &Route, params: &[String]) -> Option<Self> {
        let Handler::Operation(prepare) = &route.handler else { return None };
        let count = route.meta.path.matches('{').count();
        let params = params.get(..count)?.to_vec();
        let no_query = mfa_shared::query::Params::default();
        let today = mfa_shared::time::Timestamp::from_millis(0).day();
        let raw = RawBody::new(&no_query, &[], today);
        prepare(params, &raw).ok().map(|prepared| Self(Arc::new(prepared.run)))
    }

    /// The representation at present; the fault of the read where the record is not there.
    pub fn reply(&self, tx: &mut Tx<'_>, caller: &Caller) -> Result<Reply, Fault> {
        (self.0)(tx, caller)
    }

    /// The tag at present; the fault of the read where the record is not there.
    pub fn read(&self, tx: &mut Tx<'_>, caller: &Caller) -> Result<String, Fault> {
        self.reply(tx, caller)?.tag(tx)
    }
}
