//! Tellers: drawers, transactions, balances, counts. Contract: `tellers.md`.

mod cash;
mod receipts;
mod reports;
mod transactions;

pub use cash::*;
pub use receipts::*;
pub use reports::*;
pub use transactions::*;

use crate::amount::Amount;
use crate::fault::Fault;
use crate::kind::Kind;
use crate::query::{ParamDoc, Parameters, Params, missing};
use crate::rule::*;
use crate::time::Timestamp;
use crate::wire::{Accepted, Array, Form, Json, Nothing, Query};
use crate::{endpoints, object, words};

/// Highest limit of a drawer.
pub const CASHDRAW_LIMIT_MAX: i64 = 1_000_000_000;
words! {
    /// The state of a teller.
    pub enum TellerState {
        /// No one works there.
        Closed = "CLOSED",
        /// Assigned for the day, the drawer still locked.
        Open = "OPEN",
        /// The drawer is unlocked.
        Active = "ACTIVE",
        /// The drawer is locked for a while; its cash can be counted.
        Paused = "PAUSED",
    }

    /// What the assigned employee does to the teller.
    pub enum TellerCommandWord {
        /// Lock the drawer for a while.
        Pause = "PAUSE",
    }

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
        /// Who works there; the empty text for no one. Only a CLOSED teller takes another one.
        assigned_employee: Option<String> = optional(line(32)),
    }

    /// Who unlocks a drawer, and with which PIN.
    pub struct DrawerUnlock {
        /// The assigned employee.
        employee_identifier: String = required(line(256)),
        /// The PIN of the drawer.
        password: String = required(secret(0, 4096)),
    }

}

/// What the assigned employee does to the teller.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TellerForm {
    /// The command.
    pub command: TellerCommandWord,
}

impl Parameters for TellerForm {
    fn read(params: &Params) -> Result<Self, Fault> {
        Ok(Self { command: params.command("command")?.ok_or_else(|| missing("command"))? })
    }

    fn write(&self) -> Vec<(&'static str, String)> {
        vec![("command", self.command.to_string())]
    }

    fn docs() -> Vec<ParamDoc> {
        let schema = word::<TellerCommandWord>().schema();
        vec![ParamDoc { name: "command", doc: "What to do.", required: true, schema }]
    }
}

/// Its kind of record.
pub const KINDS: &[Kind] = &[Kind::of("teller", "/offices/{}/teller/{}", "code", "GetTeller")];

endpoints! {
    application "teller-v1";
    /// Create a teller of an office, in state CLOSED.
    CreateTeller { office } Post "/offices/{office}/teller" Json<NewTeller> => Accepted;
    /// List the tellers of an office.
    ListTellers { office } Get "/offices/{office}/teller" Nothing => Array<Teller>;
    /// Read a teller.
    GetTeller { office, teller } Get "/offices/{office}/teller/{teller}" Nothing => Json<Teller>,
        tag GetTeller;
    /// Change a teller, and set the password of its drawer.
    UpdateTeller { office, teller } Put "/offices/{office}/teller/{teller}" Json<TellerChange> => Accepted,
        tag GetTeller;
    /// Delete a teller that was never opened.
    DeleteTeller { office, teller } Delete "/offices/{office}/teller/{teller}" Nothing => Accepted,
        tag GetTeller;
    /// Open or close a teller.
    CommandTeller { office, teller } Post "/offices/{office}/teller/{teller}/commands"
        Json<TellerCommand> => Accepted;
    /// Read the cash of a teller's session.
    GetTellerBalance { office, teller } Get "/offices/{office}/teller/{teller}/balance"
        Nothing => Json<TellerBalance>,
        tag GetTellerBalance;
    /// Save a count of the cash, and book the difference.
    CreateDenomination { office, teller } Post "/offices/{office}/teller/{teller}/denominations"
        Json<NewDenomination> => Accepted;
    /// List the counts of the cash, the newest first.
    ListDenominations { office, teller } Get "/offices/{office}/teller/{teller}/denominations"
        Query<DenominationQuery> => Array<Denomination>;
    /// List the day reports of a teller, the oldest first.
    ListDayReports { office, teller } Get "/offices/{office}/teller/{teller}/reports"
        Nothing => Array<DayReport>;
    /// Read a day report of a teller by its number, or the latest.
    GetDayReport { office, teller, report } Get "/offices/{office}/teller/{teller}/reports/{report}"
        Nothing => Json<DayReport>,
        tag GetDayReport;
    /// Read a receipt of a teller by its number; it counts as no copy.
    GetReceipt { office, teller, receipt } Get "/offices/{office}/teller/{teller}/receipts/{receipt}"
        Nothing => Json<Receipt>,
        tag GetReceipt;
    /// Unlock the drawer of a teller.
    UnlockDrawer { teller } Post "/teller/{teller}/drawer" Json<DrawerUnlock> => Json<Teller>;
    /// Pause a teller.
    PauseTeller { teller } Post "/teller/{teller}" Form<TellerForm> => Accepted;
    /// Create a transaction, which is PENDING until it is confirmed or cancelled.
    CreateTransaction { teller } Post "/teller/{teller}/transactions" Json<NewTransaction>
        => Json<TransactionQuote>;
    /// Read a transaction of a teller.
    GetTransaction { teller, transaction } Get "/teller/{teller}/transactions/{transaction}"
        Nothing => Json<Transaction>,
        tag GetTransaction;
    /// Confirm or cancel a transaction.
    FinishTransaction { teller, transaction } Post "/teller/{teller}/transactions/{transaction}"
        Form<TransactionForm> => Accepted;
    /// Give out the receipt of a confirmed transaction, or one more copy of it.
    IssueReceipt { teller, transaction } Post "/teller/{teller}/transactions/{transaction}/receipt"
        Nothing => Json<Receipt>;
    /// List the transactions of a teller, the oldest first.
    ListTransactions { teller } Get "/teller/{teller}/transactions" Query<TransactionQuery>
        => Array<Transaction>;
}
