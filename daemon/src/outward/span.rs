//! The time that a message has, and the words for a stage that fails.

use crate::domain::gateway::{Failed, Stage};
use std::time::Duration;
use tokio::time::{Instant, timeout_at};

/// The time that a message has in all.
#[derive(Debug, Clone, Copy)]
pub struct Span {
    /// When it is over.
    pub end: Instant,
    /// How long it is.
    pub whole: Duration,
    /// What the other side is called.
    pub peer: &'static str,
}

impl Span {
    /// It begins now.
    pub fn new(whole: Duration) -> Self {
        Self { end: Instant::now() + whole, whole, peer: "the gateway" }
    }

    /// The same with another side of this name.
    pub fn with(self, peer: &'static str) -> Self {
        Self { peer, ..self }
    }

    /// Does one step of a stage, as long as there is time.
    pub async fn step<T>(self, stage: Stage, what: impl Future<Output = T>) -> Result<T, Failed> {
        timeout_at(self.end, what).await.map_err(|_| {
            let not = match stage {
                Stage::Connect => "was reached and did not greet and answer EHLO",
                Stage::Tls => "did not set up the encryption",
                Stage::SignIn => "did not answer the sign-in",
                Stage::Send => "did not answer the message",
            };
            failed(stage, format!("{} {not} within {} seconds in all", self.peer, self.whole.as_secs()))
        })
    }
}

/// When a connection broke off, in the words of its stage.
pub fn broke_off(stage: Stage) -> &'static str {
    match stage {
        Stage::Connect => "broke off before it greeted and answered EHLO",
        Stage::Tls => "broke off before it was encrypted",
        Stage::SignIn => "broke off during the sign-in",
        Stage::Send => "broke off before it answered the message",
    }
}

/// A failure of a stage.
pub fn failed(stage: Stage, why: impl Into<String>) -> Failed {
    Failed { stage, code: None, why: why.into() }
}
