//! Tellers: drawers, sessions, movements of cash, transactions, counts.

use super::{
    DAY_REPORTS, DENOMINATIONS, DRAWERS, TELLERS, TELLERS_BY_EMPLOYEE, TELLERS_BY_OFFICE, TELLERS_NOTED,
    TRANSACTIONS, TRANSACTIONS_BY_TELLER, TRANSACTIONS_PENDING,
};
use crate::domain::lockout::Attempts;
use crate::store::engine::Space;
use crate::store::record::{Record, key, numbered};
use mfa_shared::amount::Amount;
use mfa_shared::api::tellers::{DayReport, Denomination, Teller, TellerState, Transaction, TransactionState};
use serde::{Deserialize, Serialize};

/// A teller with its office and its session.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StoredTeller {
    /// The office.
    pub office: String,
    /// The teller as reads show it.
    pub teller: Teller,
    /// The present session, or the last one; none if the teller was never opened.
    pub session: Option<Session>,
    /// Transactions that were ever created here.
    pub transactions: u64,
}

/// What began with the last OPEN.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Session {
    /// The last journal entry before it: what is posted later belongs to the session.
    pub after: u64,
    /// Cash that was in the drawer when it began.
    pub carried: Amount,
    /// What its counts found, if the cash was counted.
    pub count: Option<Count>,
}

/// What the counts of a session found.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Count {
    /// The cash that was counted last.
    pub counted: Amount,
    /// What all counts found over, or below 0 short.
    pub difference: Amount,
}

impl Record for StoredTeller {
    const SPACE: Space = TELLERS;
    fn key(&self) -> Vec<u8> {
        key(&[&self.teller.code])
    }
    fn index(&self) -> Vec<(Space, Vec<u8>)> {
        let assigned = match self.teller.state {
            TellerState::Closed => TELLERS_NOTED,
            _ => TELLERS_BY_EMPLOYEE,
        };
        let employee = self.teller.assigned_employee.iter().map(|name| (assigned, key(&[name])));
        employee.chain([(TELLERS_BY_OFFICE, key(&[&self.office]))]).collect()
    }
}

/// The lock of a drawer. It is stored apart, so that whoever reads tellers never meets a hash.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StoredDrawer {
    /// The teller.
    pub teller: String,
    /// argon2id hash of the PIN.
    pub hash: String,
    /// Wrong PINs so far.
    pub attempts: Attempts,
}

impl std::fmt::Debug for StoredDrawer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("StoredDrawer").field("teller", &self.teller).finish_non_exhaustive()
    }
}

impl Record for StoredDrawer {
    const SPACE: Space = DRAWERS;
    fn key(&self) -> Vec<u8> {
        key(&[&self.teller])
    }
}

/// The text of a number that sorts as the number does.
pub fn ordinal(number: u64) -> String {
    format!("{number:016x}")
}

/// A transaction at a teller.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StoredTransaction {
    /// The teller at which it was created.
    pub teller: String,
    /// Its place among the transactions of the teller, from 1.
    pub number: u64,
    /// The sequence of the journal entry that booked it.
    pub sequence: Option<i64>,
    /// The transaction as lists show it.
    pub transaction: Transaction,
}

impl Record for StoredTransaction {
    const SPACE: Space = TRANSACTIONS;
    fn key(&self) -> Vec<u8> {
        key(&[&self.transaction.identifier])
    }
    fn index(&self) -> Vec<(Space, Vec<u8>)> {
        let place = key(&[&self.teller, &ordinal(self.number)]);
        let pending = self.transaction.state == TransactionState::Pending;
        let pending = pending.then(|| (TRANSACTIONS_PENDING, place.clone()));
        pending.into_iter().chain([(TRANSACTIONS_BY_TELLER, place)]).collect()
    }
}

/// A count of the cash.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StoredDenomination {
    /// The teller.
    pub teller: String,
    /// Its place among the counts of the teller, from 1.
    pub number: u64,
    /// The last journal entry when it was saved, its own included.
    pub after: u64,
    /// The count as reads show it.
    pub denomination: Denomination,
}

impl Record for StoredDenomination {
    const SPACE: Space = DENOMINATIONS;
    fn key(&self) -> Vec<u8> {
        numbered(&[&self.teller], self.number)
    }
}

/// A day report is stored as reads show it.
impl Record for DayReport {
    const SPACE: Space = DAY_REPORTS;
    fn key(&self) -> Vec<u8> {
        report_key(&self.teller_code, self.number.unsigned_abs())
    }
}

/// The key of the report of a teller with this number.
pub fn report_key(teller: &str, number: u64) -> Vec<u8> {
    numbered(&[teller], number)
}
