//! Tellers: drawers, sessions, movements of cash, transactions, counts.

use super::{
    DAY_REPORTS, DENOMINATIONS, DRAWERS, RECEIPT_COPIES, RECEIPTS, TELLERS, TELLERS_BY_EMPLOYEE,
    TELLERS_BY_OFFICE, TELLERS_NOTED, TRANSACTION_COUNTERS, TRANSACTION_PLACES, TRANSACTIONS,
    TRANSACTIONS_PENDING,
};
use crate::domain::lockout::Attempts;
use crate::store::engine::Space;
use crate::store::record::{Record, key, numbered};
use mfa_shared::amount::Amount;
use mfa_shared::api::tellers::{
    DayReport, Denomination, Receipt, Teller, TellerState, Transaction, TransactionState,
};
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

/// The lock of a drawer. It is stored separately, so that readers of tellers never load a hash.
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
    /// Whether the client gave its date, where that is the moment of its creation.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub dated: bool,
    /// The transaction as lists show it.
    pub transaction: Transaction,
}

impl StoredTransaction {
    /// The key of the transaction of a teller with this number.
    pub fn at(teller: &str, number: u64) -> Vec<u8> {
        numbered(&[teller], number)
    }

    /// The transaction as reads show it, out of the stored form, whose last property it is. In no text does
    /// its name stand before a colon: there its quotation marks are escaped.
    pub fn shown(mut stored: Vec<u8>) -> Option<Vec<u8>> {
        const NAME: &[u8] = b"\"transaction\":";
        let start = memchr::memmem::find(&stored, NAME)? + NAME.len();
        stored.pop().filter(|last| *last == b'}')?;
        stored.drain(..start);
        Some(stored)
    }
}

impl Record for StoredTransaction {
    const SPACE: Space = TRANSACTIONS;
    fn key(&self) -> Vec<u8> {
        Self::at(&self.teller, self.number)
    }
    fn index(&self) -> Vec<(Space, Vec<u8>)> {
        match self.transaction.state {
            TransactionState::Pending => vec![(TRANSACTIONS_PENDING, key(&[&self.teller]))],
            TransactionState::Confirmed | TransactionState::Canceled => Vec::new(),
        }
    }
}

/// Where a transaction is found by its identifier.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TransactionPlace {
    /// The identifier.
    pub identifier: String,
    /// See [`StoredTransaction::teller`].
    pub teller: String,
    /// See [`StoredTransaction::number`].
    pub number: u64,
}

impl Record for TransactionPlace {
    const SPACE: Space = TRANSACTION_PLACES;
    fn key(&self) -> Vec<u8> {
        key(&[&self.identifier])
    }
}

/// The transactions that were ever created at a teller. It changes with each of them, so it is stored apart
/// from the teller, which is much longer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TransactionCounter {
    /// The teller.
    pub teller: String,
    /// The number of the last one.
    pub last: u64,
}

impl Record for TransactionCounter {
    const SPACE: Space = TRANSACTION_COUNTERS;
    fn key(&self) -> Vec<u8> {
        key(&[&self.teller])
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

/// A receipt is stored as its original shows it.
impl Record for Receipt {
    const SPACE: Space = RECEIPTS;
    fn key(&self) -> Vec<u8> {
        receipt_key(&self.teller_code, self.number.unsigned_abs())
    }
}

/// The key of the receipt of a teller with this number.
pub fn receipt_key(teller: &str, number: u64) -> Vec<u8> {
    numbered(&[teller], number)
}

/// The receipt of a transaction, and how often it was given out. It changes with every copy, so it is stored
/// apart from the receipt, which never does.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ReceiptCopies {
    /// The transaction.
    pub transaction: String,
    /// Its teller.
    pub teller: String,
    /// The number of the receipt.
    pub number: u64,
    /// How often it was given out, the original included.
    pub copies: u64,
}

impl Record for ReceiptCopies {
    const SPACE: Space = RECEIPT_COPIES;
    fn key(&self) -> Vec<u8> {
        key(&[&self.transaction])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mfa_shared::api::tellers::TransactionType;
    use mfa_shared::time::Timestamp;

    #[test]
    fn a_transaction_is_shown_out_of_its_stored_form_as_it_is_written_anew() {
        let amount: Amount = serde_json::from_str("1.50").unwrap();
        for name in ["desk-1", "transaction", "\"transaction\":{}}", "}", ""] {
            let transaction = Transaction {
                identifier: name.to_owned(),
                transaction_type: TransactionType::Cdpt,
                transaction_date: Timestamp::from_millis(0),
                customer_identifier: name.to_owned(),
                product_identifier: name.to_owned(),
                customer_account_identifier: name.to_owned(),
                target_account_identifier: None,
                clerk: name.to_owned(),
                amount,
                total_amount: amount,
                charges: Vec::new(),
                charges_included: None,
                state: TransactionState::Pending,
                created_on: Timestamp::from_millis(0),
                finished_on: None,
            };
            let expected = serde_json::to_vec(&transaction).unwrap();
            let stored = StoredTransaction {
                teller: name.to_owned(),
                number: 7,
                sequence: Some(3),
                dated: true,
                transaction,
            };
            assert_eq!(StoredTransaction::shown(stored.stored()), Some(expected), "{name}");
        }
        assert_eq!(StoredTransaction::shown(b"{}".to_vec()), None);
    }
}
