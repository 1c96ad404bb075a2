//! The double-entry ledger: accounts, journal, trial balance. Contract: `deposits.md` section 4.

use crate::amount::Amount;
use crate::fault::Fault;
use crate::object::nested;
use crate::query::Listed;
use crate::query::{Paging, ParamDoc, Parameters, Params, optional_param};
use crate::rule::*;
use crate::time::{Date, DateRange, Timestamp};
use crate::wire::{Json, Nothing, Page, Query};
use crate::{endpoints, object, words};
use serde_json::json;

words! {
    /// What an account is in the books.
    pub enum AccountKind {
        /// What the institution has; debits raise it.
        Asset = "ASSET",
        /// What the institution owes; credits raise it.
        Liability = "LIABILITY",
        /// What belongs to the members; credits raise it.
        Equity = "EQUITY",
        /// What the institution earns; credits raise it.
        Revenue = "REVENUE",
        /// What the institution spends; debits raise it.
        Expense = "EXPENSE",
    }

    /// For what an account is used.
    pub enum AccountRole {
        /// The account of a customer, made for a product instance.
        Customer = "CUSTOMER",
        /// The cash of a teller.
        Drawer = "DRAWER",
        /// Where a teller's cash comes from and goes to.
        Vault = "VAULT",
        /// Cheques that a teller took in; nothing is posted to it.
        ChequesReceivable = "CHEQUES_RECEIVABLE",
        /// Differences between a drawer and its count.
        OverShort = "OVER_SHORT",
        /// The cash account of a product; nothing is posted to it.
        ProductCash = "PRODUCT_CASH",
        /// The expense account of a product: what interest and dividends cost.
        ProductExpense = "PRODUCT_EXPENSE",
        /// The accrual account of a product: interest that is owed and not yet paid.
        ProductAccrue = "PRODUCT_ACCRUE",
        /// Where a charge is booked.
        Income = "INCOME",
    }

    /// A side of an account.
    pub enum Side {
        /// Left.
        Debit = "DEBIT",
        /// Right.
        Credit = "CREDIT",
    }
}

/// Any amount, of either sign.
const fn money() -> DecimalRule {
    decimal(i64::MIN, i64::MAX)
}

/// The identifier of a ledger account; those of customers are the longest.
const fn account() -> Text {
    line(73)
}

object! {
    /// An account of the ledger.
    pub struct LedgerAccount {
        /// Unique over all accounts.
        identifier: String = required(account()),
        /// Name; an account of a customer has the name of its product.
        name: Option<String> = optional(line(256)),
        /// What it is in the books.
        kind: AccountKind = required(word()),
        /// The role in which it was named first; null if it was added on the machine.
        role: Option<AccountRole> = optional(word()),
        /// The group to which an account of a customer belongs.
        ledger_identifier: Option<String> = optional(id(34)),
        /// The customer to whom it belongs.
        customer_identifier: Option<String> = optional(line(32)),
        /// Code of its currency; null until a posting gives it one.
        currency: Option<String> = optional(line(4)),
        /// Its balance, on the side of its kind.
        balance: Amount = required(money()),
        /// Sum of all debits.
        debit_total: Amount = required(money()),
        /// Sum of all credits.
        credit_total: Amount = required(money()),
        /// When it came into being.
        created_on: Timestamp = required(timestamp()),
        /// When it was last posted to.
        last_entry_on: Option<Timestamp> = optional(timestamp()),
    }

    /// An account that is added on the machine itself, before anything names it.
    pub struct NewLedgerAccount {
        /// Unique over all accounts.
        identifier: String = required(id(34)),
        /// What it is in the books.
        kind: AccountKind = required(word()),
    }

    /// A line of a journal entry.
    pub struct JournalLine {
        /// The account.
        account_identifier: String = required(account()),
        /// The side.
        side: Side = required(word()),
        /// For what the account is used here.
        role: AccountRole = required(word()),
        /// The amount, above 0.
        amount: Amount = required(money()),
    }

    /// An entry of the journal: its debits sum to its credits, and it never changes.
    pub struct JournalEntry {
        /// 32 characters.
        identifier: String = required(id(32)),
        /// 1, 2, 3, ... without gaps.
        sequence: i64 = required(integer(1, i64::MAX)),
        /// What moved the money: the type of a transaction, or of an adjustment.
        r#type as "type": String = required(line(32)),
        /// In words.
        message: String = required(line(256)),
        /// When it was posted, by the clock of the daemon.
        posted_on: Timestamp = required(timestamp()),
        /// The business date.
        transaction_date: Timestamp = required(timestamp()),
        /// The user who posted it.
        clerk: String = required(line(256)),
        /// The teller at whom it was posted; none for entries without a teller, as for interest.
        teller_code: Option<String> = optional(id(32)),
        /// The teller's transaction.
        teller_transaction_identifier: Option<String> = optional(id(32)),
        /// The lines.
        lines: Vec<JournalLine> = required(list(nested(), usize::MAX)),
    }

    /// One line of a journal entry, seen from its account.
    pub struct AccountEntry {
        /// The journal entry.
        journal_entry_identifier: String = required(id(32)),
        /// Its place in the journal.
        sequence: i64 = required(integer(1, i64::MAX)),
        /// The side.
        side: Side = required(word()),
        /// For what the account is used here.
        role: AccountRole = required(word()),
        /// The amount, above 0.
        amount: Amount = required(money()),
        /// The balance of the account: after the whole entry where the ledger lists it, after this very line
        /// where the account of a customer does.
        balance: Amount = required(money()),
        /// What moved the money.
        r#type as "type": String = required(line(32)),
        /// In words.
        message: String = required(line(256)),
        /// When it was posted.
        posted_on: Timestamp = required(timestamp()),
        /// The business date.
        transaction_date: Timestamp = required(timestamp()),
        /// The teller at whom it was posted; none for entries without a teller, as for interest.
        teller_code: Option<String> = optional(id(32)),
    }

    /// The balance of an account on its side; the other is 0.
    pub struct TrialBalanceRow {
        /// The account.
        account_identifier: String = required(account()),
        /// What it is in the books.
        kind: AccountKind = required(word()),
        /// Its balance, if that is on the debit side.
        debit: Amount = required(money()),
        /// Its balance, if that is on the credit side.
        credit: Amount = required(money()),
    }

    /// The balances of all accounts with at least one line, at the end of a day.
    pub struct TrialBalance {
        /// The day, in UTC.
        as_of: Date = required(date()),
        /// The accounts.
        rows: Vec<TrialBalanceRow> = required(list(nested(), usize::MAX)),
        /// Sum of the debit balances.
        total_debit: Amount = required(money()),
        /// Sum of the credit balances.
        total_credit: Amount = required(money()),
    }
}

impl Listed for LedgerAccount {
    const PLURAL: &'static str = "accounts";
    const COLUMNS: &'static [&'static str] = &["identifier", "name", "kind", "balance", "createdOn"];
}

impl Listed for JournalEntry {
    const PLURAL: &'static str = "entries";
    const COLUMNS: &'static [&'static str] = &["sequence"];
}

impl Listed for AccountEntry {
    const PLURAL: &'static str = "entries";
    const COLUMNS: &'static [&'static str] = &["sequence"];
}

/// Which accounts, and which part of them.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct AccountQuery {
    /// Which part, in which order.
    pub paging: Paging<LedgerAccount>,
    /// Accounts of this kind only.
    pub kind: Option<AccountKind>,
}

impl Parameters for AccountQuery {
    fn read(params: &Params) -> Result<Self, Fault> {
        Ok(Self { paging: Paging::read(params)?, kind: params.word("kind")? })
    }

    fn write(&self) -> Vec<(&'static str, String)> {
        let mut pairs = self.paging.write();
        pairs.extend(self.kind.map(|kind| ("kind", kind.to_string())));
        pairs
    }

    fn docs() -> Vec<ParamDoc> {
        let mut docs = Paging::<LedgerAccount>::docs();
        docs.push(optional_param("kind", "Accounts of this kind only.", word::<AccountKind>().schema()));
        docs
    }
}

/// Which entries, and which part of them: always in the order of posting.
#[derive(Debug, Clone, PartialEq)]
pub struct EntryQuery<T> {
    /// Which part; neither a column nor a term.
    pub paging: Paging<T>,
    /// Entries that were posted on these days only.
    pub dates: Option<DateRange>,
}

impl<T> Default for EntryQuery<T> {
    fn default() -> Self {
        Self { paging: Paging::default(), dates: None }
    }
}

impl<T: Listed> Parameters for EntryQuery<T> {
    fn read(params: &Params) -> Result<Self, Fault> {
        let dates = params.date_range("dateRange")?;
        Ok(Self { paging: Paging::read_part(params)?, dates })
    }

    fn write(&self) -> Vec<(&'static str, String)> {
        let mut pairs = self.paging.write();
        pairs.extend(self.dates.map(|dates| ("dateRange", dates.to_string())));
        pairs
    }

    fn docs() -> Vec<ParamDoc> {
        let paging = Paging::<T>::docs().into_iter();
        let mut docs: Vec<_> = paging.filter(|doc| !matches!(doc.name, "sortColumn" | "term")).collect();
        let doc = "Days of posting: YYYY-MM-DD..YYYY-MM-DD, in UTC.";
        docs.push(optional_param("dateRange", doc, DateRange::schema()));
        docs
    }
}

/// Which entries of the journal, and which part of them.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct JournalQuery {
    /// Which days, and which part.
    pub entries: EntryQuery<JournalEntry>,
    /// Entries with a line on this account only.
    pub account: Option<String>,
    /// Entries of this type only.
    pub r#type: Option<String>,
}

impl Parameters for JournalQuery {
    fn read(params: &Params) -> Result<Self, Fault> {
        let text = |name| Ok::<_, Fault>(params.one(name)?.filter(|v| !v.is_empty()).map(str::to_owned));
        Ok(Self { entries: EntryQuery::read(params)?, account: text("account")?, r#type: text("type")? })
    }

    fn write(&self) -> Vec<(&'static str, String)> {
        let mut pairs = self.entries.write();
        pairs.extend(self.account.iter().map(|account| ("account", account.clone())));
        pairs.extend(self.r#type.iter().map(|kind| ("type", kind.clone())));
        pairs
    }

    fn docs() -> Vec<ParamDoc> {
        let mut docs = EntryQuery::<JournalEntry>::docs();
        let text = json!({ "type": "string" });
        docs.push(optional_param("account", "Entries with a line on this account only.", text.clone()));
        docs.push(optional_param("type", "Entries of this type only.", text));
        docs
    }
}

/// The end of which day.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct AsOf {
    /// The day, in UTC; null is now.
    pub as_of: Option<Date>,
}

impl Parameters for AsOf {
    fn read(params: &Params) -> Result<Self, Fault> {
        Ok(Self { as_of: params.date("asOf")? })
    }

    fn write(&self) -> Vec<(&'static str, String)> {
        self.as_of.iter().map(|day| ("asOf", day.to_string())).collect()
    }

    fn docs() -> Vec<ParamDoc> {
        vec![optional_param("asOf", "End of this day, in UTC; default now.", date().schema())]
    }
}

endpoints! {
    application "ledger-v1";
    /// List the accounts of the ledger.
    ListLedgerAccounts {} Get "/ledger/accounts" Query<AccountQuery> => Page<LedgerAccount>;
    /// Read an account of the ledger.
    GetLedgerAccount { account } Get "/ledger/accounts/{account}" Nothing => Json<LedgerAccount>,
        tag GetLedgerAccount;
    /// List the lines on an account, in the order of posting.
    ListAccountEntries { account } Get "/ledger/accounts/{account}/entries" Query<EntryQuery<AccountEntry>>
        => Page<AccountEntry>;
    /// List the entries of the journal, in the order of posting.
    ListJournal {} Get "/ledger/journal" Query<JournalQuery> => Page<JournalEntry>;
    /// Read an entry of the journal.
    GetJournalEntry { entry } Get "/ledger/journal/{entry}" Nothing => Json<JournalEntry>,
        tag GetJournalEntry;
    /// Read the balances of all accounts at the end of a day.
    GetTrialBalance {} Get "/ledger/trial-balance" Query<AsOf> => Json<TrialBalance>, tag GetTrialBalance;
}
