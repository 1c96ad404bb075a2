//! Tellers: drawers, transactions, balances, counts. Contract: `tellers.md`.

use crate::amount::Amount;
use crate::object::{FieldDoc, Fields, Object, rule_for};
use crate::rule::*;
use crate::time::{Date, Timestamp};
use crate::wire::{Accepted, Array, Json, Nothing, Query};
use crate::{endpoints, object, words};

/// Highest limit of a drawer.
pub const CASHDRAW_LIMIT_MAX: i64 = 1_000_000_000;
/// Above every amount: those have at most 15 digits before the point.
const AMOUNT_MAX: i64 = 1_000_000_000_000_000;

words! {
    /// Where a teller stands.
    pub enum TellerState {
        /// Nobody works there.
        Closed = "CLOSED",
        /// Assigned for the day, the drawer still locked.
        Open = "OPEN",
        /// The drawer is unlocked.
        Active = "ACTIVE",
        /// The drawer is locked for a while; its cash can be counted.
        Paused = "PAUSED",
    }

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

    /// What the assigned employee does to the teller.
    pub enum TellerCommandWord {
        /// Lock the drawer for a while.
        Pause = "PAUSE",
    }

    /// Whether cash came in or went out.
    pub enum CashSide {
        /// Into the drawer.
        Debit = "DEBIT",
        /// Out of it.
        Credit = "CREDIT",
    }

    /// What happens at the counter.
    pub enum TransactionType {
        /// Opening of an account with a first deposit.
        Acco = "ACCO",
        /// Closing of an account, paying it out.
        Accc = "ACCC",
        /// Transfer to another account.
        Acct = "ACCT",
        /// Cash deposit.
        Cdpt = "CDPT",
        /// Cash withdrawal.
        Cwdl = "CWDL",
    }

    /// Where a transaction stands.
    pub enum TransactionState {
        /// Quoted; no money has moved.
        Pending = "PENDING",
        /// Booked.
        Confirmed = "CONFIRMED",
        /// Given up.
        Canceled = "CANCELED",
    }

    /// How a transaction ends.
    pub enum TransactionCommandWord {
        /// Book it.
        Confirm = "CONFIRM",
        /// Give it up.
        Cancel = "CANCEL",
    }

    /// Who pays the charges.
    pub enum ChargesWord {
        /// The customer, in cash, on top of the amount.
        Included = "INCLUDED",
        /// The customer's account.
        Excluded = "EXCLUDED",
    }
}

fn reference_line() -> Text {
    line(73).not_blank()
}

object! {
    /// A teller as every read shows it.
    pub struct Teller {
        /// Unique over the tellers of all offices; never changes.
        code: String = required(id(32)),
        /// Always null: the PIN of the drawer is never shown.
        password: Option<String> = optional(secret(4, 4096)),
        /// Most that one withdrawal may pay out.
        cashdraw_limit: Amount = required(decimal(0, CASHDRAW_LIMIT_MAX)),
        /// The account of the drawer.
        teller_account_identifier: String = required(id(34)),
        /// The account of the vault.
        vault_account_identifier: String = required(id(34)),
        /// The account of cheques; nothing is posted to it.
        cheques_receivable_account: String = required(id(34)),
        /// The account that takes what a count finds over or short.
        cash_over_short_account: String = required(id(34)),
        /// Whether the cash must be counted before the teller is closed.
        denomination_required: bool = required(flag()),
        /// Who works there.
        assigned_employee: Option<String> = optional(line(32)),
        /// State; only commands change it.
        state: TellerState = required(word()),
        /// Who created the teller.
        created_by: String = required(line(256)),
        /// When.
        created_on: Timestamp = required(timestamp()),
        /// Who changed it last.
        last_modified_by: Option<String> = optional(line(256)),
        /// When.
        last_modified_on: Option<Timestamp> = optional(timestamp()),
        /// Who opened it last.
        last_opened_by: Option<String> = optional(line(256)),
        /// When.
        last_opened_on: Option<Timestamp> = optional(timestamp()),
    }

    /// A new teller.
    pub struct NewTeller {
        /// Unique over the tellers of all offices; never changes.
        code: String = required(id(32)),
        /// PIN of the drawer.
        password: String = required(secret(4, 4096)),
        /// Most that one withdrawal may pay out.
        cashdraw_limit: Amount = required(decimal(0, CASHDRAW_LIMIT_MAX)),
        /// The account of the drawer.
        teller_account_identifier: String = required(id(34)),
        /// The account of the vault; may be that of the drawer.
        vault_account_identifier: String = required(id(34)),
        /// The account of cheques; nothing is posted to it.
        cheques_receivable_account: String = required(id(34)),
        /// The account that takes what a count finds over or short.
        cash_over_short_account: String = required(id(34)),
        /// Whether the cash must be counted before the teller is closed.
        denomination_required: bool = or(flag(), false),
        /// Who is to work there.
        assigned_employee: Option<String> = reference(32),
    }

    /// A changed teller; null keeps what is stored.
    pub struct TellerChange {
        /// The code of the path.
        code: String = required(id(32)),
        /// PIN of the drawer; replaces the present one and ends a lock.
        password: String = required(secret(4, 4096)),
        /// Most that one withdrawal may pay out.
        cashdraw_limit: Option<Amount> = optional(decimal(0, CASHDRAW_LIMIT_MAX)),
        /// The account of the drawer; cash in the drawer moves along.
        teller_account_identifier: Option<String> = optional(id(34)),
        /// The account of the vault.
        vault_account_identifier: Option<String> = optional(id(34)),
        /// The account of cheques.
        cheques_receivable_account: Option<String> = optional(id(34)),
        /// The account that takes what a count finds over or short.
        cash_over_short_account: Option<String> = optional(id(34)),
        /// Whether the cash must be counted before the teller is closed.
        denomination_required: Option<bool> = optional(flag()),
        /// Who is to work there; the empty text is nobody. Only a CLOSED teller takes another one.
        assigned_employee: Option<String> = optional(line(32)),
    }

    /// Who unlocks a drawer, and with which PIN.
    pub struct DrawerUnlock {
        /// The assigned employee.
        employee_identifier: String = required(line(256)),
        /// The PIN of the drawer.
        password: String = required(secret(0, 4096)),
    }

    /// One movement of cash.
    pub struct TellerEntry {
        /// Into the drawer or out of it.
        r#type as "type": CashSide = required(word()),
        /// When it was posted.
        transaction_date: Timestamp = required(timestamp()),
        /// What it was.
        message: String = required(line(256)),
        /// How much.
        amount: Amount = required(decimal(0, AMOUNT_MAX).exclusive()),
    }

    /// The cash of a session.
    pub struct TellerBalance {
        /// The day on which the session began; null if the teller was never opened.
        day: Option<Date> = optional(date()),
        /// The cash in the drawer.
        cash_on_hand: Amount = required(decimal(0, AMOUNT_MAX)),
        /// All that came in.
        cash_received_total: Amount = required(decimal(0, AMOUNT_MAX)),
        /// All that went out.
        cash_disbursed_total: Amount = required(decimal(0, AMOUNT_MAX)),
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
        counted_total: Amount = required(decimal(0, AMOUNT_MAX)),
        /// A remark.
        note: Option<String> = optional(text(512)),
        /// Checked and ignored: the daemon makes the entry.
        adjusting_journal_entry: Option<String> = optional(id(32)),
    }

    /// A count of the cash, as reads show it.
    pub struct Denomination {
        /// The cash that was counted.
        counted_total: Amount = required(decimal(0, AMOUNT_MAX)),
        /// A remark.
        note: Option<String> = optional(text(512)),
        /// The entry that booked the difference; null where there was none.
        adjusting_journal_entry: Option<String> = optional(id(32)),
        /// When it was saved.
        created_on: Timestamp = required(timestamp()),
        /// By whom.
        created_by: String = required(line(256)),
    }

    /// A charge of a transaction.
    pub struct TransactionCharge {
        /// The action to which the charge is tied.
        code: String = required(id(32)),
        /// The account that earns it.
        income_account_identifier: String = required(id(34)),
        /// Its name.
        name: String = required(line(256)),
        /// What it comes to.
        amount: Amount = required(decimal(0, AMOUNT_MAX)),
    }

    /// What a transaction will cost; it is PENDING until it is confirmed or cancelled.
    pub struct TransactionQuote {
        /// Identifier of the transaction, 32 letters and digits.
        teller_transaction_identifier: String = required(id(32)),
        /// The amount and its charges.
        total_amount: Amount = required(decimal(0, AMOUNT_MAX)),
        /// The charges in the order of the product.
        charges: Vec<TransactionCharge> = required(list(nested(), usize::MAX)),
    }

    /// A transaction as it is listed.
    pub struct Transaction {
        /// Its identifier, 32 letters and digits.
        identifier: String = required(id(32)),
        /// What it is.
        transaction_type: TransactionType = required(word()),
        /// Its business date.
        transaction_date: Timestamp = required(timestamp()),
        /// The holder of the account.
        customer_identifier: String = required(line(32)),
        /// The product of the account.
        product_identifier: String = required(id(32)),
        /// The account.
        customer_account_identifier: String = required(reference_line()),
        /// The account that receives a transfer.
        target_account_identifier: Option<String> = optional(reference_line()),
        /// The clerk, as sent.
        clerk: String = required(line(256)),
        /// The amount.
        amount: Amount = required(decimal(0, AMOUNT_MAX)),
        /// The amount and its charges.
        total_amount: Amount = required(decimal(0, AMOUNT_MAX)),
        /// The charges in the order of the product.
        charges: Vec<TransactionCharge> = required(list(nested(), usize::MAX)),
        /// Whether the charges were paid in cash; null unless it is CONFIRMED.
        charges_included: Option<bool> = optional(flag()),
        /// Where it stands.
        state: TransactionState = required(word()),
        /// When it was created.
        created_on: Timestamp = required(timestamp()),
        /// When it was confirmed or cancelled.
        finished_on: Option<Timestamp> = optional(timestamp()),
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
        let action = fields.take("action", None, &required(word()));
        let adjustment = fields.take("adjustment", None, &or(word(), Adjustment::None));
        // Without an adjustment nothing can be moved, so only 0 is an amount then.
        let bound = if adjustment == Some(Adjustment::None) { 0 } else { AMOUNT_MAX };
        let amount = fields.take("amount", None, &or(decimal(0, bound), Amount::ZERO));
        let employee = match action {
            Some(TellerAction::Close) => Some(None),
            _ => fields.take("assigned_employee_identifier", None, &reference(32)),
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
                Field::schema(&rule_for(optional(word::<Adjustment>()))),
            ),
            field(
                "amount",
                "How much cash moves; with NONE only 0.",
                false,
                Field::schema(&optional(decimal(0, AMOUNT_MAX))),
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

/// A transaction that is asked for.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct NewTransaction {
    /// One of the words of [`TransactionType`], in any letter case; others are not offered.
    pub transaction_type: String,
    /// Business date; the present moment if left out.
    pub transaction_date: Option<Timestamp>,
    /// The holder of the account.
    pub customer_identifier: String,
    /// The product of the account.
    pub product_identifier: String,
    /// Account identifier or alternative number.
    pub customer_account_identifier: String,
    /// The account that receives a transfer; ignored for other types.
    pub target_account_identifier: Option<String>,
    /// The clerk; the caller if left out.
    pub clerk: Option<String>,
    /// The amount.
    pub amount: Amount,
}

impl NewTransaction {
    /// What is asked for, if it is offered.
    pub fn offered(&self) -> Option<TransactionType> {
        TransactionType::find(&self.transaction_type)
    }
}

impl Object for NewTransaction {
    const NAME: &'static str = "NewTransaction";
    const DOC: &'static str = " A transaction at the counter.";

    fn read(fields: &mut Fields<'_>) -> Option<Self> {
        use TransactionType::{Acct, Cdpt, Cwdl};
        let word = fields.take("transaction_type", None, &required(text(usize::MAX)));
        let kind = word.as_deref().and_then(TransactionType::find);
        let date = fields.take("transaction_date", None, &optional(timestamp()));
        let customer = fields.take("customer_identifier", None, &required(line(32).not_blank()));
        let product = fields.take("product_identifier", None, &required(id(32)));
        let account = fields.take("customer_account_identifier", None, &required(reference_line()));
        let target = match kind {
            Some(Acct) => {
                fields.take("target_account_identifier", None, &required(reference_line())).map(Some)
            }
            _ => Some(None),
        };
        let clerk = fields.take("clerk", None, &optional(line(32)));
        let amount = match kind {
            Some(Cdpt | Cwdl | Acct) => decimal(0, AMOUNT_MAX).exclusive(),
            _ => decimal(0, AMOUNT_MAX),
        };
        let amount = fields.take("amount", None, &required(amount));
        Some(Self {
            transaction_type: word?,
            transaction_date: date?,
            customer_identifier: customer?,
            product_identifier: product?,
            customer_account_identifier: account?,
            target_account_identifier: target?,
            clerk: clerk?,
            amount: amount?,
        })
    }

    fn fields() -> Vec<FieldDoc> {
        let field = |name: &str, doc, required, schema| FieldDoc { name: name.into(), doc, required, schema };
        let account = reference_line().schema();
        vec![
            field("transactionType", "What to do.", true, word::<TransactionType>().schema()),
            field(
                "transactionDate",
                "Business date; the present moment if left out.",
                false,
                Field::schema(&optional(timestamp())),
            ),
            field("customerIdentifier", "The holder of the account.", true, line(32).not_blank().schema()),
            field("productIdentifier", "The product of the account.", true, id(32).schema()),
            field(
                "customerAccountIdentifier",
                "Account identifier or alternative number.",
                true,
                account.clone(),
            ),
            field(
                "targetAccountIdentifier",
                "The account that receives a transfer (ACCT), which needs it.",
                false,
                Field::schema(&optional(reference_line())),
            ),
            field("clerk", "The clerk; the caller if left out.", false, Field::schema(&optional(line(32)))),
            field(
                "amount",
                "The amount; above 0 for CDPT, CWDL and ACCT.",
                true,
                decimal(0, AMOUNT_MAX).schema(),
            ),
        ]
    }
}
