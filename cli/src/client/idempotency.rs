//! The key by which the daemon recognises a repeated change.

use crate::client::Client;
use crate::random;
use crate::words::hex;
use std::sync::atomic::Ordering;

impl Client {
    /// The key of the next change. Where one was given for a command of several changes, the first has it and
    /// the others append a number, so that the same command with the same key repeats them all.
    pub fn next_key(&self) -> String {
        let before = self.changes.fetch_add(1, Ordering::Relaxed);
        match (&self.idempotency_key, before) {
            (None, _) => new_key(),
            (Some(key), 0) => key.clone(),
            (Some(key), before) => format!("{key}.{}", before + 1),
        }
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
