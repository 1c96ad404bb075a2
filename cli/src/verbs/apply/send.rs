//! A plan carried out: layer by layer, each in batches. What names a record that was refused is not sent.

use super::plan::{Plan, Step};
use crate::client::Client;
use crate::failure::{Failure, Outcome};
use crate::verbs::bulk::send::{BATCH_BYTES_MAX, code_and_reason};
use mfa_shared::api::batch::{OPERATIONS_MAX, OperationResult, PASSWORDS_MAX};
use serde_json::json;
use std::collections::HashMap;

/// Passwords of one batch: each takes a while to hash.
const HASHES_MAX: usize = 20;

/// The result of a step.
#[derive(Clone)]
pub enum Became {
    /// Nothing was sent for it.
    Unsent,
    Done,
    /// It was tried, and could be done.
    Tried,
    /// It was refused: the code, and why.
    Refused(String, String),
    /// It names a record for which it could not be done.
    Waiting(String),
}

impl Became {
    /// The word of the result.
    pub fn word(&self, new: bool) -> &'static str {
        match (self, new) {
            (Became::Unsent, true) => "to be created",
            (Became::Unsent, false) => "to be changed",
            (Became::Done, true) => "created",
            (Became::Done, false) => "changed",
            (Became::Tried, true) => "would be created",
            (Became::Tried, false) => "would be changed",
            (Became::Refused(..), _) => "refused",
            (Became::Waiting(_), _) => "not sent",
        }
    }

    /// Why it was not done: a code, and a sentence.
    pub fn problem(&self) -> (Option<&str>, Option<String>) {
        match self {
            Became::Refused(code, message) => (Some(code), Some(message.clone())),
            Became::Waiting(on) => (Some("not_sent"), Some(format!("it needs {on}, which was not done"))),
            _ => (None, None),
        }
    }

    /// Whether it matches the files now.
    pub fn is_well(&self) -> bool {
        matches!(self, Became::Done | Became::Tried)
    }
}

/// Carries a plan out. A failure comes with what was done before it.
pub async fn carry_out(client: &Client, plan: &Plan) -> (Vec<Became>, Outcome) {
    let mut became = vec![Became::Unsent; plan.steps.len()];
    let places: HashMap<_, _> = (0..).zip(&plan.steps).map(|(i, step)| (step.document.name(), i)).collect();
    let mut from = 0;
    while from < plan.steps.len() {
        let layer = plan.steps[from].layer;
        let to = from + plan.steps[from..].iter().take_while(|step| step.layer == layer).count();
        let mut ready = Vec::new();
        for i in from..to {
            let names = plan.steps[i].document.references();
            let needed = names.iter().filter_map(|(_, name)| places.get(name));
            match needed.copied().find(|needed: &usize| !became[*needed].is_well()) {
                Some(needed) => became[i] = Became::Waiting(plan.steps[needed].document.title()),
                None => ready.push(i),
            }
        }
        for part in parts(&plan.steps, &ready) {
            if let Err(failure) = send(client, plan, part, &mut became).await {
                return (became, Err(failure));
            }
        }
        from = to;
    }
    (became, Ok(()))
}

/// Tries a plan, all of it in one batch, because each step sees only what its own batch did before it.
pub async fn try_out(client: &Client, plan: &Plan) -> Outcome<Vec<Became>> {
    let all: Vec<_> = (0..plan.steps.len()).collect();
    let (operations, bytes, hashes) = weight(&plan.steps, &all);
    if operations > OPERATIONS_MAX || bytes > BATCH_BYTES_MAX || hashes > PASSWORDS_MAX {
        let what = format!(
            "a dry run takes at most {OPERATIONS_MAX} changes, {PASSWORDS_MAX} of them with a password, and \
             {BATCH_BYTES_MAX} bytes; these are {operations}, {hashes} and {bytes}"
        );
        return Err(
            Failure::usage(what).hint("mfa diff shows the same changes without the daemon's judgement")
        );
    }
    let mut became = vec![Became::Unsent; plan.steps.len()];
    send(client, plan, &all, &mut became).await?;
    Ok(became)
}

async fn send(client: &Client, plan: &Plan, part: &[usize], became: &mut [Became]) -> Outcome {
    let operations: Vec<_> = part.iter().flat_map(|i| plan.steps[*i].operations.iter().cloned()).collect();
    let mut results = client.operations(&operations).await?.into_iter();
    for i in part {
        let own: Vec<_> = results.by_ref().take(plan.steps[*i].operations.len()).collect();
        became[*i] = outcome(&plan.steps[*i], &own, client.dry_run);
    }
    Ok(())
}

fn outcome(step: &Step, results: &[OperationResult], tried: bool) -> Became {
    match results.iter().find_map(|result| result.problem.as_ref()) {
        Some(problem) => {
            let (code, message) = code_and_reason(&json!(problem));
            Became::Refused(code, format!("{}: {message}", step.document.place))
        }
        None if tried => Became::Tried,
        None => Became::Done,
    }
}

/// Steps as parts of which each fits into a batch.
fn parts<'i>(steps: &[Step], all: &'i [usize]) -> Vec<&'i [usize]> {
    let mut parts = Vec::new();
    let mut from = 0;
    for to in 1..=all.len() {
        let fits = |part: &[usize]| {
            let (operations, bytes, hashes) = weight(steps, part);
            operations <= OPERATIONS_MAX && bytes <= BATCH_BYTES_MAX && hashes <= HASHES_MAX
        };
        if to == all.len() || !fits(&all[from..=to]) {
            parts.push(&all[from..to]);
            from = to;
        }
    }
    parts
}

/// Operations, bytes and passwords of steps.
fn weight(steps: &[Step], part: &[usize]) -> (usize, usize, usize) {
    let of = |i: &usize| &steps[*i];
    (
        part.iter().map(|i| of(i).operations.len()).sum(),
        part.iter().flat_map(|i| &of(i).operations).map(String::len).sum(),
        part.iter().filter(|i| of(i).hashes).count(),
    )
}
