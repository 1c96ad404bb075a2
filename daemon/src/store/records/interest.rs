//! Interest and dividends: what accounts and products have accrued, the days that were run, payments.

use super::{
    DIVIDENDS, INTEREST, INTEREST_OPEN, INTEREST_PAYMENTS, INTEREST_PRODUCTS, INTEREST_RUNS, RATES_BEFORE,
    SYSTEM,
};
use crate::store::engine::Space;
use crate::store::record::{Record, key, numbered};
use mfa_shared::amount::Amount;
use mfa_shared::api::definitions::InterestPayable;
use mfa_shared::api::interest::{InterestPayment, InterestRun, RunOutcome};
use mfa_shared::time::{Date, Timestamp};
use serde::{Deserialize, Serialize};

/// How far interest was run: one record under the key `interest`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct InterestState {
    /// The first day that was run.
    pub begun: Date,
    /// The last day that was run for all products.
    pub last: Option<Date>,
    /// Who runs days at present; none between runs.
    pub runner: Option<String>,
    /// Counts the steps, so that others see whether the runner is still alive.
    pub beat: u64,
    /// How many runs were removed or begun again, so that lists kept in memory notice.
    #[serde(default)]
    pub removed: u64,
    /// Whether the runs were looked through for days that an earlier program cut short.
    #[serde(default)]
    pub looked_through: bool,
    /// The order that began with a day of its own; earlier programs did not keep it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first: Option<FirstOrder>,
}

/// The order of the first run of a store, where it said with which day that begins.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FirstOrder {
    /// The day.
    pub from: Date,
    /// Its name, by which a repeated request is known again.
    pub name: String,
    /// Whether all was done that it asked for.
    pub ended: bool,
}

impl InterestState {
    /// The parts of its key.
    pub const KEY: &[&str] = &["interest"];
}

impl Record for InterestState {
    const SPACE: Space = SYSTEM;
    fn key(&self) -> Vec<u8> {
        key(Self::KEY)
    }
}

/// What an account has accrued, and what was paid of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StoredInterest {
    /// The account.
    pub account: String,
    /// Sum of all accruals.
    pub accruals: Amount,
    /// Sum of all payments.
    pub paid: Amount,
    /// What was given up when the account was closed.
    pub given_up: Amount,
}

impl StoredInterest {
    /// What is neither paid nor given up.
    pub fn accrued(&self) -> Amount {
        self.accruals.minus(self.paid).minus(self.given_up)
    }
}

impl Record for StoredInterest {
    const SPACE: Space = INTEREST;
    fn key(&self) -> Vec<u8> {
        key(&[&self.account])
    }
}

/// A payment to an account.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StoredPayment {
    /// The account.
    pub account: String,
    /// Sequence of its journal entry.
    pub sequence: u64,
    /// The payment as reads show it.
    pub payment: InterestPayment,
}

impl Record for StoredPayment {
    const SPACE: Space = INTEREST_PAYMENTS;
    fn key(&self) -> Vec<u8> {
        numbered(&[&self.account], self.sequence)
    }
}

/// What the accounts of a product have accrued, and what of it is booked.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ProductInterest {
    /// The product definition.
    pub product: String,
    /// Sum of all accruals.
    pub accruals: Amount,
    /// What is booked of it.
    pub booked: Amount,
}

impl Record for ProductInterest {
    const SPACE: Space = INTEREST_PRODUCTS;
    fn key(&self) -> Vec<u8> {
        key(&[&self.product])
    }
}

/// How far a day of a product has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum RunPhase {
    /// Accounts accrue.
    Accrue,
    /// What they accrued is to be booked.
    Book,
    /// Accounts are paid, and closed ones give up what they accrued on the day.
    Pay,
    /// It is done, or was left out.
    End,
}

/// A day of a product. While it runs, it says where the next transaction goes on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StoredRun {
    /// The day as reads show it, once it is over.
    pub run: InterestRun,
    /// How far it has come; a failed one goes on from here.
    pub phase: RunPhase,
    /// Whether it has ended, well or not.
    pub ended: bool,
    /// The last account that was looked at in this phase.
    pub after: Option<String>,
    /// Whether some account falls due on the day.
    pub due: bool,
    /// When the product paid as the run of the day began; earlier programs looked at each step.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub payable: Option<InterestPayable>,
    /// On which expense account the day is booked: that of the product as the first account accrued on it. It
    /// has the currency of the product since then, as its accrual account has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expense: Option<String>,
    /// Accounts that accrued on the day and were closed since: they give it up once it is booked.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub give_up: Vec<String>,
}

impl StoredRun {
    /// The part of the index of all that are not done.
    pub const OPEN: &str = "open";

    /// Whether it has ended well.
    pub fn is_done(&self) -> bool {
        self.ended && self.run.outcome == RunOutcome::Done
    }

    /// Whether it counts as done and is not. An earlier program left days so that it tried again with more
    /// accounts than one transaction looks at.
    pub fn is_cut_short(&self) -> bool {
        self.is_done() && self.phase != RunPhase::End
    }
}

impl Record for StoredRun {
    const SPACE: Space = INTEREST_RUNS;
    fn key(&self) -> Vec<u8> {
        key(&[&self.run.date.to_string(), &self.run.product_identifier])
    }
    fn index(&self) -> Vec<(Space, Vec<u8>)> {
        (!self.is_done()).then(|| (INTEREST_OPEN, key(&[Self::OPEN]))).into_iter().collect()
    }
}

/// An interest of a product that held until it was changed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RateBefore {
    /// The product definition.
    pub definition: String,
    /// Its place among the changes, from 1.
    pub number: u64,
    /// The interest.
    pub interest: Option<Amount>,
    /// When another one took its place.
    pub until: Timestamp,
}

impl Record for RateBefore {
    const SPACE: Space = RATES_BEFORE;
    fn key(&self) -> Vec<u8> {
        numbered(&[&self.definition], self.number)
    }
}

/// A dividend of a product.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StoredDividend {
    /// The product definition.
    pub definition: String,
    /// Last day of its period.
    pub due: Date,
    /// Percent a year.
    pub rate: Amount,
    /// Accounts that got something.
    pub accounts: i64,
    /// What they got together.
    pub amount: Amount,
    /// Who distributed it.
    pub created_by: String,
    /// When.
    pub created_on: Timestamp,
    /// Whether every account was looked at.
    pub ended: bool,
    /// The last account that was looked at.
    pub after: Option<String>,
    /// First day of its period; earlier programs took it from the product each time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first: Option<Date>,
    /// The orders that have taken part in it: of equal ones at the same moment, those that come when it has
    /// ended are refused.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub orders: Vec<String>,
}

impl Record for StoredDividend {
    const SPACE: Space = DIVIDENDS;
    fn key(&self) -> Vec<u8> {
        key(&[&self.definition, &self.due.to_string()])
    }
}
