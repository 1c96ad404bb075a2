//! Cash of a teller: commands that move it, the balance, counts. Contract: `tellers.md` sections 3, 9, 10.

use crate::amount::{AMOUNT_BOUND, Amount};
use crate::fault::Fault;
use crate::object::{FieldDoc, Fields, Object, nested};
use crate::query::{ParamDoc, Parameters, Params};
use crate::rule::*;
use crate::time::{Date, DateRange, Timestamp};
use crate::{object, words};

words! {
    /// What the management does to a teller.
    pub enum TellerAction {
        /// Begin a session.
        Open = "OPEN",
        /// End it.
        Close = "CLOSE",
    }

    /// Which way cash moves between vault and drawer.
    pub enum Adjustment {
        /// Not at all.
        None = "NONE",
        /// From the vault into the drawer.
        Debit = "DEBIT",
        /// From the drawer into the vault.
        Credit = "CREDIT",
    }

    /// Whether cash came in or went out.
    pub enum CashSide {
        /// Into the drawer.
        Debit = "DEBIT",
        /// Out of it.
        Credit = "CREDIT",
    }
}

object! {
    /// One movement of cash.
    pub struct TellerEntry {
        /// Into the drawer or out of it.
        r#type as "type": CashSide = required(word()),
        /// When it was posted.
        transaction_date: Timestamp = required(timestamp()),
        /// What it was.
        message: String = required(line(256)),
        /// How much.
        amount: Amount = required(decimal(0, AMOUNT_BOUND).exclusive()),
    }

    /// The cash of a session.
    pub struct TellerBalance {
        /// The day on which the session began; null if the teller was never opened.
        day: Option<Date> = optional(date()),
        /// The cash in the drawer.
        cash_on_hand: Amount = required(decimal(0, AMOUNT_BOUND)),
        /// All that came in.
        cash_received_total: Amount = required(decimal(0, AMOUNT_BOUND)),
        /// All that went out.
        cash_disbursed_total: Amount = required(decimal(0, AMOUNT_BOUND)),
        /// Always 0: cheques are not offered.
        cheques_received_total: Amount = required(decimal(0, 0)),
        /// The movements in the order of posting; null if the teller was never opened.
        cash_entries: Option<Vec<TellerEntry>> = optional(list(nested(), usize::MAX)),
        /// Always empty: cheques are not offered; null if the teller was never opened.
        cheque_entries: Option<Vec<TellerEntry>> = optional(list(nested(), usize::MAX)),
    }

    /// The cash of a drawer, counted.
    pub struct NewDenomination {
        /// The cash that was counted.
        counted_total: Amount = required(decimal(0, AMOUNT_BOUND)),
        /// A remark.
        note: Option<String> = optional(text(512)),
        /// Checked and ignored: the daemon makes the entry.
        adjusting_journal_entry: Option<String> = optional(id(32)),
    }

    /// A count of the cash, as reads show it.
    pub struct Denomination {
        /// The cash that was counted.
        counted_total: Amount = required(decimal(0, AMOUNT_BOUND)),
        /// A remark.
        note: Option<String> = optional(text(512)),
        /// The entry that booked the difference; null where there was none.
        adjusting_journal_entry: Option<String> = optional(id(32)),
        /// When it was saved.
        created_on: Timestamp = required(timestamp()),
        /// By whom.
        created_by: String = required(line(256)),
    }
}

/// A command of the management.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TellerCommand {
    /// What to do.
    pub action: TellerAction,
    /// Which way cash moves.
    pub adjustment: Adjustment,
    /// How much; 0 with `NONE`.
    pub amount: Amount,
    /// Who works there from now on; CLOSE ignores it.
    pub assigned_employee_identifier: Option<String>,
}

impl Object for TellerCommand {
    const NAME: &'static str = "TellerCommand";
    const DOC: &'static str = " Opens or closes a teller.";

    fn read(fields: &mut Fields<'_>) -> Option<Self> {
        let action = fields.take("action", None, &[], &required(word()));
        let adjustment = fields.take("adjustment", None, &[], &or(word(), Adjustment::None));
        // Without an adjustment nothing can be moved, so only 0 is an amount then.
        let bound = if adjustment == Some(Adjustment::None) { 0 } else { AMOUNT_BOUND };
        let amount = fields.take("amount", None, &[], &or(decimal(0, bound), Amount::ZERO));
        let employee = match action {
            Some(TellerAction::Close) => Some(None),
            _ => fields.take("assigned_employee_identifier", None, &[], &reference(32)),
        };
        Some(Self {
            action: action?,
            adjustment: adjustment?,
            amount: amount?,
            assigned_employee_identifier: employee?,
        })
    }

    fn fields() -> Vec<FieldDoc> {
        let field = |name: &str, doc, required, schema| FieldDoc { name: name.into(), doc, required, schema };
        vec![
            field("action", "What to do.", true, word::<TellerAction>().schema()),
            field(
                "adjustment",
                "Which way cash moves; NONE if left out.",
                false,
                Field::schema(&optional(word::<Adjustment>())),
            ),
            field(
                "amount",
                "How much cash moves; with NONE only 0.",
                false,
                Field::schema(&optional(decimal(0, AMOUNT_BOUND))),
            ),
            field(
                "assignedEmployeeIdentifier",
                "Who works there from now on; CLOSE ignores it.",
                false,
                Field::schema(&reference(32)),
            ),
        ]
    }
}

/// Which counts of the cash.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct DenominationQuery {
    /// Only those of these days.
    pub date_range: Option<DateRange>,
}

impl Parameters for DenominationQuery {
    fn read(params: &Params) -> Result<Self, Fault> {
        Ok(Self { date_range: params.date_range("dateRange")? })
    }

    fn write(&self) -> Vec<(&'static str, String)> {
        self.date_range.iter().map(|range| ("dateRange", range.to_string())).collect()
    }

    fn docs() -> Vec<ParamDoc> {
        let doc = "Days on which they were saved, YYYY-MM-DD..YYYY-MM-DD.";
        vec![ParamDoc { name: "dateRange", doc, required: false, schema: DateRange::schema() }]
    }
}
