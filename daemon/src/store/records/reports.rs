//! What moved on each day, summed up from the journal: what reports show.

use super::{LEDGER_DAYS, LEDGER_DAYS_END};
use crate::domain::ledger::Moved;
use crate::store::engine::Space;
use crate::store::record::{Record, key};
use mfa_shared::amount::Amount;
use mfa_shared::time::Date;
use serde::{Deserialize, Serialize};

/// What moved on a day in one series: the cash of a drawer on one account, or the accounts of a product.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LedgerDay {
    /// The parts of the name of the series.
    pub series: Vec<String>,
    /// The day of posting.
    pub day: Date,
    /// What moved.
    pub moved: Moved,
    /// The balance at the end of the day.
    pub balance: Amount,
}

impl LedgerDay {
    /// The cash of a teller on an account.
    pub fn drawer(teller: &str, account: &str) -> Vec<String> {
        ["drawer", teller, account].map(str::to_owned).to_vec()
    }

    /// The accounts of a product.
    pub fn product(product: &str) -> Vec<String> {
        ["product", product].map(str::to_owned).to_vec()
    }

    /// The key of a day of a series.
    pub fn at(series: &[String], day: Date) -> Vec<u8> {
        let day = day.to_string();
        let parts: Vec<&str> = series.iter().map(String::as_str).chain([day.as_str()]).collect();
        key(&parts)
    }
}

impl Record for LedgerDay {
    const SPACE: Space = LEDGER_DAYS;
    fn key(&self) -> Vec<u8> {
        Self::at(&self.series, self.day)
    }
}

/// How far the days go.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LedgerDaysEnd {
    /// Sequence of the last journal entry that is in them.
    pub sequence: u64,
}

impl LedgerDaysEnd {
    /// The parts of its key.
    pub const KEY: &[&str] = &["end"];
}

impl Record for LedgerDaysEnd {
    const SPACE: Space = LEDGER_DAYS_END;
    fn key(&self) -> Vec<u8> {
        key(Self::KEY)
    }
}
