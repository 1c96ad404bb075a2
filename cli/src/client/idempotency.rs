//! The key by which the daemon recognises a repeated change.

use crate::client::Client;
use crate::random;
use crate::words::hex;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// The keys of the changes of a command, all made from one, so that the command with that one repeats them
/// all.
#[derive(Debug, Clone)]
pub struct Keys {
    /// The key of the command.
    command: String,
    /// Whether the user gave it.
    given: bool,
    /// Whether the command takes one.
    taken: bool,
    /// What is behind the key of the command; empty for its main change.
    step: String,
    /// How many changes were sent.
    sent: Arc<AtomicU32>,
}

impl Default for Keys {
    /// The keys of changes that no flag repeats.
    fn default() -> Self {
        Self { taken: false, ..Self::of(None) }
    }
}

impl Keys {
    /// The keys of a command that takes one, where it was given one.
    pub fn of(given: Option<&str>) -> Self {
        Self {
            command: given.map_or_else(new_key, str::to_owned),
            given: given.is_some(),
            taken: true,
            step: String::new(),
            sent: Arc::default(),
        }
    }

    /// Whether the command takes a key.
    pub(super) fn are_taken(&self) -> bool {
        self.taken
    }

    pub fn are_given(&self) -> bool {
        self.given
    }

    /// The key of the command.
    pub fn of_command(&self) -> &str {
        &self.command
    }

    /// The key of the next change. Of several changes that are always sent in this order, those after the
    /// first append a number.
    pub(super) fn next(&self) -> String {
        let own = format!("{}{}", self.command, self.step);
        match self.sent.fetch_add(1, Ordering::Relaxed) {
            0 => own,
            before => format!("{own}.{}", before + 1),
        }
    }

    /// The key by which the command can be repeated, and how; `flags` are those that it needs then besides.
    pub(super) fn repeated(&self, flags: &str) -> Option<(&str, String)> {
        let key = self.command.as_str();
        let how = if self.given {
            "repeat it with the same key".to_owned()
        } else {
            format!("repeat the command with {flags}--idempotency-key {key}")
        };
        self.taken.then(|| (key, format!("{how}, which makes the change only once")))
    }
}

impl Client {
    /// The same client for changes that no flag of the command repeats.
    pub fn aside(&self) -> Self {
        Self { keys: Keys::default(), ..self.clone() }
    }

    /// The same client for a change that the command may leave out: its key is named, so that those of the
    /// others do not depend on whether it is sent. No identifier has a slash, so one may be the name.
    pub fn step(&self, name: &str) -> Self {
        let step = format!("{}/{name}", self.keys.step);
        Self { keys: Keys { step, sent: Arc::default(), ..self.keys.clone() }, ..self.clone() }
    }
}

/// A fresh key: a UUID of version 4.
pub fn new_key() -> String {
    let mut bytes: [u8; 16] = random::bytes();
    bytes[6] = bytes[6] & 0x0f | 0x40;
    bytes[8] = bytes[8] & 0x3f | 0x80;
    let hex = hex(&bytes);
    [&hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]].join("-")
}
