//! Dry runs.

use super::{At, Client, Way, operation};
use crate::failure::{Failure, Outcome, codes};
use mfa_shared::endpoint::Endpoint;
use mfa_shared::fault::Problem;
use mfa_shared::wire::{Body, Outgoing};
use serde_json::{Value, json};

impl Client {
    fn trying(&self) -> Self {
        Self { dry_run: true, keys: Default::default(), ..self.clone() }
    }

    /// What the daemon would answer to a change whose answer reports its result.
    pub async fn try_telling<E: Endpoint>(&self, endpoint: &E, body: &E::Body) -> Outcome<Value> {
        Ok(self.trying().send_telling(endpoint, body).await?.value)
    }

    /// Lets the daemon try a change, whatever the flags say; the keys of later changes are not used up.
    pub async fn try_out<E: Endpoint>(&self, endpoint: &E, body: &E::Body) -> Outcome {
        self.try_row((&E::META, &endpoint.params()), body.write()).await
    }

    /// The same for a row of the endpoint table.
    pub async fn try_row(&self, at: At<'_>, outgoing: Outgoing) -> Outcome {
        match self.trying().send_row(at, outgoing).await {
            Err(failure) if failure.dry_run.is_none() => Err(failure),
            _ => Ok(()),
        }
    }

    /// Lets the daemon try a change, and returns the record that a read would show after it.
    pub async fn try_then_read(
        &self,
        write: At<'_>,
        body: &Outgoing,
        tag: Option<&str>,
        read: At<'_>,
    ) -> Outcome<Value> {
        // The change itself reports what it leaves dangling.
        let trial = Self { dry_run: true, noted: Default::default(), ..self.clone() };
        let sent = body.body.as_ref().map(|(_, bytes)| String::from_utf8_lossy(bytes).into_owned());
        let change = operation(write.0, write.1, None, tag, sent.as_deref());
        let look = operation(read.0, read.1, None, None, None);
        let tried = trial.batch(&[change, look], Way { atomic: true, ..Way::default() }).await;
        let results = tried.map_err(Failure::of_one_change)?.results;
        let refused = results.iter().find_map(|result| result.problem.as_ref());
        match refused.map(|problem| serde_json::from_value::<Problem>(json!(problem))) {
            Some(Ok(problem)) => Err(Failure::problem(problem)),
            Some(Err(_)) => Err(Failure::status(200, &self.url)),
            None => Ok(results.last().map_or(Value::Null, |result| json!(result.body))),
        }
    }
}

/// A daemon that does not know the header has made the change.
pub(super) fn ignored(url: &str) -> Failure {
    let what = format!("the daemon at {url} does not know dry runs, and has made the change");
    Failure::new(codes::DRY_RUN_IGNORED, what)
}

/// How a command ends whose change would be accepted.
pub(super) fn would_be_accepted(method: &str, path: &str, location: Option<String>) -> Failure {
    let result = "would be accepted; nothing was changed";
    Failure::dry_run(json!({ "method": method, "path": path, "result": result, "location": location }))
}
