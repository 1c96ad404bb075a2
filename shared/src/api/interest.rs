//! Interest: runs over days, and what is accrued on an account. Contract: `interest.md`.

use crate::amount::Amount;
use crate::endpoint::AcceptedAt;
use crate::fault::Fault;
use crate::node::Node;
use crate::object::Fields;
use crate::object::nested;
use crate::query::Listed;
use crate::query::{PAGE_SIZE_DEFAULT, PAGE_SIZE_MAX, Paging, ParamDoc, Parameters, Params, optional_param};
use crate::rule::*;
use crate::time::{Date, DateRange, Timestamp};
use crate::wire::{Accepted, Json, Nothing, Page, Query};
use crate::{endpoints, object, words};
use serde_json::json;

words! {
    /// How a day of a product ended.
    pub enum RunOutcome {
        /// The day is accrued, booked and paid.
        Done = "DONE",
        /// The product could not be booked; the next run tries the day again.
        Failed = "FAILED",
    }

    /// What can be done with the interest of an account.
    pub enum InterestAction {
        /// Pay what is accrued now.
        Pay = "PAY",
    }
}

/// Under a name of its own, because a field is called `date`, too.
const fn day() -> DateRule {
    date()
}

const fn money() -> DecimalRule {
    decimal(i64::MIN, i64::MAX)
}

object! {
    /// The days that are to be run.
    pub struct NewInterestRun across days_are_over {
        /// The last day, which must be over; null is yesterday.
        date: Option<Date> = optional(day()),
        /// The day with which the first run of a store begins; null is the last day itself.
        from: Option<Date> = optional(day()),
    }

    /// A day of a product that was run.
    pub struct InterestRun {
        /// The day.
        date: Date = required(day()),
        /// The product definition.
        product_identifier: String = required(id(32)),
        /// Accounts that earned something.
        accounts: i64 = required(integer(0, i64::MAX)),
        /// What they earned, exact to five digits.
        accrued: Amount = required(money()),
        /// What was booked to the accounts of the product.
        booked: Amount = required(money()),
        /// What was paid to accounts.
        paid: Amount = required(money()),
        /// Payments that were made.
        payments: i64 = required(integer(0, i64::MAX)),
        /// How it ended.
        outcome: RunOutcome = required(word()),
        /// The code of the failure.
        code: Option<String> = optional(line(64)),
        /// The failure in words.
        detail: Option<String> = optional(text(2048)),
        /// When it ended.
        ran_on: Timestamp = required(timestamp()),
        /// Who asked for it.
        ran_by: String = required(line(256)),
    }

    /// A payment of interest to an account.
    pub struct InterestPayment {
        /// Last day of the period that was paid.
        date: Date = required(day()),
        /// The amount.
        amount: Amount = required(money()),
        /// The journal entry.
        journal_entry_identifier: String = required(id(32)),
    }

    /// The interest of an account.
    pub struct AccountInterest {
        /// The account.
        account_identifier: String = required(line(super::instances::ACCOUNT_LENGTH_MAX)),
        /// What is earned and neither paid nor given up, exact to five digits.
        accrued: Amount = required(money()),
        /// What was paid so far.
        paid_total: Amount = required(money()),
        /// Interest of the product at present, in percent a year.
        rate: Amount = required(decimal(0, 1000)),
        /// Last day that was run for the account.
        accrued_until: Option<Date> = optional(day()),
        /// Day of the next payment.
        next_payment: Option<Date> = optional(day()),
        /// The payments, the oldest first.
        payments: Vec<InterestPayment> = required(list(nested(), usize::MAX)),
    }

    /// What is to be done with the interest of an account.
    pub struct InterestCommand {
        /// What to do.
        action: InterestAction = required(word()),
    }
}

/// Both days are judged here, together with the form of the fields.
fn days_are_over(fields: &mut Fields<'_>) {
    let day = |node: Option<&Node>| match node {
        Some(Node::Text(text)) => Date::parse(text),
        _ => None,
    };
    let is_given = |node: Option<&Node>| node.is_some_and(|node| *node != Node::Null);
    let date = fields.peek("date");
    let from = fields.peek("from");
    let given = is_given(date);
    let date = day(date);
    let from = day(from);
    let at = fields.checks();
    let today = at.today;
    if date.is_some_and(|date| date >= today) {
        let refuse = |at: &mut Checks| at.refuse::<()>("out_of_range", "must be a day that is over in UTC");
        at.property("date", refuse);
    }
    let last = if given { date } else { Some(today.previous()) };
    if from.is_some_and(|from| last.is_some_and(|last| from > last)) {
        let refuse = |at: &mut Checks| at.refuse::<()>("out_of_range", "must not lie after the last day");
        at.property("from", refuse);
    }
}

impl Listed for InterestRun {
    const PLURAL: &'static str = "runs";
    const COLUMNS: &'static [&'static str] = &["date"];
}

/// Which runs, and which part of them; the newest first unless asked for otherwise.
#[derive(Debug, Clone, PartialEq)]
pub struct RunQuery {
    /// Which part.
    pub paging: Paging<InterestRun>,
    /// These days only.
    pub dates: Option<DateRange>,
    /// This day only, as in the `Location` of a run.
    pub date: Option<Date>,
    /// Runs of this product only.
    pub product: Option<String>,
}

impl Default for RunQuery {
    fn default() -> Self {
        let mut paging = Paging::default();
        paging.descending = true;
        Self { paging, dates: None, date: None, product: None }
    }
}

impl Parameters for RunQuery {
    fn read(params: &Params) -> Result<Self, Fault> {
        let descending = params.choice("sortDirection", &["ASC", "DESC"])? != Some(0);
        // Checked as in every paged list, though there is one order and nothing to look in.
        let mut paging = Paging::read(params)?;
        paging.descending = descending;
        let dates = params.date_range("dateRange")?;
        let product = params.one("product")?.filter(|text| !text.is_empty()).map(str::to_owned);
        Ok(Self { paging, dates, date: params.date("date")?, product })
    }

    fn write(&self) -> Vec<(&'static str, String)> {
        let page = self.paging.page_index;
        let size = self.paging.size;
        let ascending = (!self.paging.descending).then(|| "ASC".to_owned());
        let pairs = [
            ("pageIndex", page.map(|n| n.to_string())),
            ("size", size.map(|n| n.to_string())),
            ("sortDirection", ascending),
            ("dateRange", self.dates.map(|dates| dates.to_string())),
            ("date", self.date.map(|date| date.to_string())),
            ("product", self.product.clone()),
        ];
        pairs.into_iter().filter_map(|(name, value)| Some((name, value?))).collect()
    }

    fn docs() -> Vec<ParamDoc> {
        let page = json!({ "type": "integer", "minimum": 0, "maximum": i32::MAX, "default": 0 });
        let size = json!({
            "type": "integer", "minimum": 1, "maximum": PAGE_SIZE_MAX, "default": PAGE_SIZE_DEFAULT
        });
        let direction = json!({ "type": "string", "enum": ["ASC", "DESC"], "default": "DESC" });
        vec![
            optional_param("pageIndex", "Pages to pass over.", page),
            optional_param("size", "Elements of a page.", size),
            optional_param("sortDirection", "Oldest or newest day first.", direction),
            optional_param("dateRange", "Days that were run: YYYY-MM-DD..YYYY-MM-DD.", DateRange::schema()),
            optional_param("date", "This day only.", date().schema()),
            optional_param("product", "Runs of this product only.", json!({ "type": "string" })),
        ]
    }
}

endpoints! {
    application "deposit-v1";
    /// Accrue every day up to a date for all products, and pay the interest that falls due.
    RunInterest {} Post "/interest/runs" Json<NewInterestRun> => AcceptedAt<ListInterestRuns>;
    /// List the days that were run, each product by itself, the newest first.
    ListInterestRuns {} Get "/interest/runs" Query<RunQuery> => Page<InterestRun>;
    /// Read the interest of an account: what is accrued, what was paid.
    GetInstanceInterest { account } Get "/instances/{account}/interest" Nothing => Json<AccountInterest>,
        tag GetInstanceInterest;
    /// Pay the accrued interest of an account now.
    PayInstanceInterest { account } Post "/instances/{account}/interest" Json<InterestCommand> => Accepted;
}
