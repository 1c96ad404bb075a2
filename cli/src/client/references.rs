//! Changes that name missing records: a person is asked first, and with --existing-only the daemon refuses
//! them.

use super::dry_run;
use super::request::{DRY_RUN, Manner, Parcel};
use super::{Client, Dangling};
use crate::failure::{Failure, Outcome, codes};
use reqwest::Response;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use serde_json::Value;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

/// The header by which a change is refused that names what does not exist.
const EXISTING_ONLY: HeaderName = HeaderName::from_static("existing-only");

/// Ends of addresses whose changes need no confirmation. At the counter the daemon checks all that counts;
/// operations of a batch may name what others of it make.
const NOT_ASKED: &[&str] = &["/transactions", "/batch"];

/// What to do about a change that names a missing record.
#[derive(Debug, Clone, Default)]
pub enum References {
    /// Make it, and report it afterwards.
    #[default]
    Reported,
    /// Try it first, and ask the user.
    Asked(Arc<dyn Asks>),
    /// The daemon refuses it.
    Refused,
}

/// Who is asked about changes that name what does not exist.
pub trait Asks: fmt::Debug + Send + Sync {
    /// Whether a body names something that need not exist.
    fn is_free(&self, body: &Value) -> bool;
    /// Asks whether a change is made that leaves these references; a no is a failure.
    fn ask<'a>(&'a self, client: &'a Client, found: &'a [Dangling]) -> Asking<'a>;
}

/// A future answer. Looking for near identifiers sends requests in turn, so the type must be opaque to the
/// compiler.
pub type Asking<'a> = Pin<Box<dyn Future<Output = Outcome> + Send + 'a>>;

impl Client {
    /// Handles the references of a change before it is sent.
    pub(super) async fn heed(&self, mut parcel: Parcel) -> Outcome<Parcel> {
        let path = parcel.url.split('?').next().unwrap_or_default();
        if parcel.method.is_safe() || path.ends_with("/token") {
            return Ok(parcel);
        }
        match &self.references {
            References::Refused => {
                parcel.headers.insert(EXISTING_ONLY, HeaderValue::from_static("true"));
            }
            References::Asked(who) if !self.dry_run && !NOT_ASKED.iter().any(|end| path.ends_with(end)) => {
                self.ask_about(&parcel, &**who).await?;
            }
            References::Asked(_) | References::Reported => {}
        }
        Ok(parcel)
    }

    /// Lets the daemon try a change with references, and asks about those that it does not find.
    fn ask_about<'a>(&'a self, parcel: &'a Parcel, who: &'a dyn Asks) -> Asking<'a> {
        Box::pin(self.asked_about(parcel, who))
    }

    async fn asked_about(&self, parcel: &Parcel, who: &dyn Asks) -> Outcome {
        let Some((_, bytes)) = &parcel.body else { return Ok(()) };
        let is_role = parcel.url.ends_with("/roleIdentifier");
        if !is_role && !serde_json::from_slice(bytes).is_ok_and(|body| who.is_free(&body)) {
            return Ok(());
        }
        // The trial has no key, so that the one of the change stays unused.
        let trial = Self {
            dry_run: true,
            references: References::Reported,
            curl: None,
            keys: Default::default(),
            noted: Default::default(),
            ..self.clone()
        };
        let mut copy = parcel.clone();
        copy.manner = Manner { watch: None, keyed: false, bulk: false, ..copy.manner };
        copy.headers.insert(DRY_RUN, HeaderValue::from_static("true"));
        let answer = trial.deliver(copy).await?;
        // A refusal comes again when it is sent; or its key repeats an earlier change.
        if answer.status().is_success() && !answer.headers().contains_key(DRY_RUN) {
            return Err(dry_run::ignored(&self.url));
        }
        let found = trial.take_dangling();
        if found.is_empty() {
            return Ok(());
        }
        who.ask(self, &found).await?;
        self.agree_to(found);
        Ok(())
    }

    /// Detects a daemon that does not know the header and has made the change.
    pub(super) fn check_heeded(&self, sent: &HeaderMap, answer: &Response) -> Outcome {
        let heard = answer.headers().contains_key(EXISTING_ONLY);
        if heard || !sent.contains_key(EXISTING_ONLY) || !answer.status().is_success() {
            return Ok(());
        }
        let what =
            format!("the daemon at {} does not know --existing-only, and has made the change", self.url);
        Err(Failure::new(codes::EXISTING_ONLY_IGNORED, what))
    }
}
