//! Reports: cash by day, deposits and customers by month. They are additions under `/ledger`, where the
//! figures of the whole institution are, so `ledger__v1__ledger` covers them.
//!
//! Days and months are those of UTC. The last day or month is the present one, and ends now.

use crate::amount::Amount;
use crate::fault::Fault;
use crate::query::{ParamDoc, Parameters, Params, optional_param};
use crate::rule::*;
use crate::time::Date;
use crate::wire::{Array, Query};
use crate::{endpoints, object};
use serde_json::json;

/// Most days of a report.
pub const DAYS_MAX: u32 = 366;
/// Days of a report that asks for no number.
pub const DAYS_DEFAULT: u32 = 30;
/// Most months of a report.
pub const MONTHS_MAX: u32 = 120;
/// Months of a report that asks for no number.
pub const MONTHS_DEFAULT: u32 = 12;

const fn money() -> DecimalRule {
    decimal(i64::MIN, i64::MAX)
}

const fn count() -> Integer {
    integer(0, i64::MAX)
}

/// Under a name of its own, because a field is called `date`, too.
const fn day() -> DateRule {
    date()
}

object! {
    /// The cash in the drawers of an office on one day, in one currency.
    pub struct CashDay {
        /// The day.
        date: Date = required(day()),
        /// Code of the currency; null for drawers whose account has none yet.
        currency: Option<String> = optional(line(4)),
        /// Cash that came in, from the vaults too.
        received: Amount = required(money()),
        /// Cash that went out, to the vaults too.
        disbursed: Amount = required(money()),
        /// What counts of the drawers found over.
        over: Amount = required(money()),
        /// What counts of the drawers found short.
        short: Amount = required(money()),
        /// Cash in the drawers at the end of the day.
        cash_on_hand: Amount = required(money()),
    }

    /// The accounts of a product in one month.
    pub struct DepositMonth {
        /// The month, as `YYYY-MM`.
        month: String = required(line(7)),
        /// Code of the currency.
        currency: String = required(line(4)),
        /// Credits of the accounts: deposits, interest, transfers between them.
        paid_in: Amount = required(money()),
        /// Debits of the accounts: withdrawals, charges, transfers between them.
        paid_out: Amount = required(money()),
        /// Balance of all accounts at the end of the month.
        balance: Amount = required(money()),
        /// Accounts that were opened.
        opened: i64 = required(count()),
        /// Accounts that were closed.
        closed: i64 = required(count()),
        /// Accounts that are ACTIVE at the end of the month.
        open: i64 = required(count()),
    }

    /// The customers in one month.
    pub struct CustomerMonth {
        /// The month, as `YYYY-MM`.
        month: String = required(line(7)),
        /// Customers that were created.
        created: i64 = required(count()),
        /// CLOSE commands.
        closed: i64 = required(count()),
        /// REOPEN commands.
        reopened: i64 = required(count()),
        /// Customers that are not CLOSED at the end of the month.
        open: i64 = required(count()),
    }
}

fn text_param(name: &'static str, doc: &'static str) -> ParamDoc {
    ParamDoc { name, doc, required: true, schema: json!({ "type": "string", "minLength": 1 }) }
}

fn number_param(name: &'static str, doc: &'static str, max: u32, default: u32) -> ParamDoc {
    optional_param(name, doc, json!({ "type": "integer", "minimum": 1, "maximum": max, "default": default }))
}

/// Which office, and how many days.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct CashQuery {
    /// Identifier of the office.
    pub office: String,
    /// Days up to today, 1 to 366; null is 30.
    pub days: Option<u32>,
}

impl Parameters for CashQuery {
    fn read(params: &Params) -> Result<Self, Fault> {
        Ok(Self { office: params.text("office")?.to_owned(), days: params.integer("days", 1, DAYS_MAX)? })
    }

    fn write(&self) -> Vec<(&'static str, String)> {
        let mut pairs = vec![("office", self.office.clone())];
        pairs.extend(self.days.map(|days| ("days", days.to_string())));
        pairs
    }

    fn docs() -> Vec<ParamDoc> {
        vec![
            text_param("office", "Identifier of the office."),
            number_param("days", "Days up to today.", DAYS_MAX, DAYS_DEFAULT),
        ]
    }
}

/// Which product, and how many months.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct DepositQuery {
    /// Identifier of the product definition.
    pub product: String,
    /// Months up to the present one, 1 to 120; null is 12.
    pub months: Option<u32>,
}

impl Parameters for DepositQuery {
    fn read(params: &Params) -> Result<Self, Fault> {
        let product = params.text("product")?.to_owned();
        Ok(Self { product, months: params.integer("months", 1, MONTHS_MAX)? })
    }

    fn write(&self) -> Vec<(&'static str, String)> {
        let mut pairs = vec![("product", self.product.clone())];
        pairs.extend(self.months.map(|months| ("months", months.to_string())));
        pairs
    }

    fn docs() -> Vec<ParamDoc> {
        vec![
            text_param("product", "Identifier of the product definition."),
            number_param("months", "Months up to the present one.", MONTHS_MAX, MONTHS_DEFAULT),
        ]
    }
}

/// How many months.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct MonthsQuery {
    /// Months up to the present one, 1 to 120; null is 12.
    pub months: Option<u32>,
}

impl Parameters for MonthsQuery {
    fn read(params: &Params) -> Result<Self, Fault> {
        Ok(Self { months: params.integer("months", 1, MONTHS_MAX)? })
    }

    fn write(&self) -> Vec<(&'static str, String)> {
        self.months.iter().map(|months| ("months", months.to_string())).collect()
    }

    fn docs() -> Vec<ParamDoc> {
        vec![number_param("months", "Months up to the present one.", MONTHS_MAX, MONTHS_DEFAULT)]
    }
}

endpoints! {
    application "ledger-v1";
    /// Report the cash in the drawers of an office, day by day.
    GetCashReport {} Get "/ledger/reports/cash" Query<CashQuery> => Array<CashDay>;
    /// Report what was paid in and out of the accounts of a product, month by month.
    GetDepositReport {} Get "/ledger/reports/deposits" Query<DepositQuery> => Array<DepositMonth>;
    /// Report how many customers were created and closed, month by month.
    GetCustomerReport {} Get "/ledger/reports/customers" Query<MonthsQuery> => Array<CustomerMonth>;
}
