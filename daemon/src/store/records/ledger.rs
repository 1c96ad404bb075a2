//! The ledger: accounts, the journal and its end, lines by account, cash and entries by drawer.

use super::{ACCOUNT_LINES, DRAWER_CASH, DRAWER_ENTRIES, JOURNAL, LAST_POSTING, LEDGER_ACCOUNTS};
use crate::hex::hexadecimal;
use crate::store::engine::Space;
use crate::store::record::{Record, key, numbered};
use mfa_shared::amount::Amount;
use mfa_shared::api::ledger::{AccountRole, JournalEntry, LedgerAccount};
use mfa_shared::api::tellers::CashMovements;
use mfa_shared::time::Timestamp;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// Lines that one entry may have.
pub const ENTRY_LINES_MAX: u64 = 1024;

/// A ledger account is stored as reads show it.
impl Record for LedgerAccount {
    const SPACE: Space = LEDGER_ACCOUNTS;
    fn key(&self) -> Vec<u8> {
        key(&[&self.identifier])
    }
}

/// An entry of the journal with a seal that covers it and everything before it, so that an entry which
/// differs from the one that was first written is found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StoredEntry {
    /// The entry as reads show it.
    pub entry: JournalEntry,
    /// Hash of the seal before it and of the entry.
    pub seal: String,
}

impl StoredEntry {
    /// Seals an entry behind the seal of the entry before it.
    pub fn new(entry: JournalEntry, before: &str) -> Self {
        let seal = Self::seal(&entry, before);
        Self { entry, seal }
    }

    /// The seal of an entry behind another seal.
    #[expect(
        clippy::expect_used,
        reason = "entries have string keys only, so there is nothing that JSON could not hold"
    )]
    pub fn seal(entry: &JournalEntry, before: &str) -> String {
        let text = serde_json::to_vec(entry).expect("entries are JSON");
        let hash = Sha256::new().chain_update(before.as_bytes()).chain_update(text).finalize();
        hexadecimal(&hash[..16])
    }

    /// The key of the entry with this sequence.
    pub fn at(sequence: u64) -> Vec<u8> {
        numbered(&[], sequence)
    }
}

impl Record for StoredEntry {
    const SPACE: Space = JOURNAL;
    fn key(&self) -> Vec<u8> {
        Self::at(self.entry.sequence.unsigned_abs())
    }
    fn index(&self) -> Vec<(Space, Vec<u8>)> {
        let moves_cash = self.entry.lines.iter().any(|line| line.role == AccountRole::Drawer);
        let teller = self.entry.teller_code.iter().filter(|_| moves_cash);
        teller.map(|teller| (DRAWER_ENTRIES, key(&[teller]))).collect()
    }
}

/// What the next entry of the journal follows: one record under the key `last`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LastPosting {
    /// The sequence of the last entry.
    pub sequence: u64,
    /// When it was posted.
    pub posted_on: Timestamp,
    /// Its seal.
    pub seal: String,
}

impl LastPosting {
    /// The parts of its key.
    pub const KEY: &[&str] = &["last"];
}

impl Record for LastPosting {
    const SPACE: Space = LAST_POSTING;
    fn key(&self) -> Vec<u8> {
        key(Self::KEY)
    }
}

/// The number of a line: lines sort by entry, then by their place in it.
pub fn line_number(sequence: u64, place: u64) -> u64 {
    sequence * ENTRY_LINES_MAX + place
}

/// A line of the journal under its account.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AccountLine {
    /// The account.
    pub account: String,
    /// See [`line_number`].
    pub number: u64,
    /// Balance of the account after the whole entry.
    pub balance: Amount,
}

impl Record for AccountLine {
    const SPACE: Space = ACCOUNT_LINES;
    fn key(&self) -> Vec<u8> {
        numbered(&[&self.account], self.number)
    }
}

/// The cash in the drawer of a teller: debits minus credits of all its lines with the role DRAWER, whatever
/// account they are on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DrawerCash {
    /// Code of the teller.
    pub teller: String,
    /// The cash.
    pub cash: Amount,
    /// What the session has moved, so that the end of a long one reads none of its entries. One that an
    /// earlier program opened has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<SessionCash>,
}

/// What a session of a teller has moved so far.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SessionCash {
    /// The sequence of the last entry before the session, by which it is known.
    pub after: u64,
    /// The cash that was carried over, and what was posted since.
    pub moved: Vec<CashMovements>,
}

impl Record for DrawerCash {
    const SPACE: Space = DRAWER_CASH;
    fn key(&self) -> Vec<u8> {
        key(&[&self.teller])
    }
}
