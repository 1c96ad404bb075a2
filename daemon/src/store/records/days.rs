//! Ends of the days of offices.

use super::{OFFICE_DAY_MARKS, OFFICE_DAYS};
use crate::store::engine::Space;
use crate::store::record::{Record, key};
use mfa_shared::api::days::OfficeDay;
use mfa_shared::time::{Date, Timestamp};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A report is stored as reads show it.
impl Record for OfficeDay {
    const SPACE: Space = OFFICE_DAYS;
    fn key(&self) -> Vec<u8> {
        day_key(&self.office_identifier, &self.date.to_string())
    }
}

/// The key of the report of a day of an office.
pub fn day_key(office: &str, date: &str) -> Vec<u8> {
    key(&[office, date])
}

/// How far the last report of an office reaches, so that the next one goes on from there.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DayMark {
    /// The office.
    pub office: String,
    /// The number of the report.
    pub number: i64,
    /// Its day.
    pub date: Date,
    /// The moment to which everything in it belongs.
    pub covers_until: Timestamp,
    /// The last journal entry that it covers; 0 before the first.
    pub last_entry: u64,
    /// How far it reaches at each teller, by code.
    pub tellers: BTreeMap<String, TellerMark>,
}

/// How far the last report reaches at a teller.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TellerMark {
    /// The last transaction that it has looked at.
    pub transaction: u64,
    /// Those up to it that were neither confirmed nor cancelled by then.
    pub open: Vec<u64>,
    /// The number of the last day report in it.
    pub report: u64,
}

impl Record for DayMark {
    const SPACE: Space = OFFICE_DAY_MARKS;
    fn key(&self) -> Vec<u8> {
        key(&[&self.office])
    }
}
