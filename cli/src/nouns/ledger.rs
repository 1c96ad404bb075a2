//! The ledger: accounts, journal, trial balance.

use crate::command::cx::Cx;
use crate::command::money::Money;
use crate::command::noun::{self, Noun, Samples, Section};
use crate::command::verb::{Verb, shows, verb};
use crate::failure::Outcome;
use crate::input::{account_kind, date, days};
use crate::output::{text, views};
use crate::paper::{Column, Paper, PaperFlags, Part, Table};
use clap::Args;
use mfa_shared::api::ledger::*;
use mfa_shared::endpoint::{Endpoint, Meta};
use mfa_shared::time::{Date, DateRange};
use mfa_shared::wire::Query;
use serde_json::Value;

pub const NOUN: Noun = Noun {
    section: Section::Money,
    typed: "ledger",
    about: "The double-entry ledger",
    verbs: &[verb::<Entries>("entries"), verb::<TrialBalanceVerb>("trial-balance")],
    parts: &[&ACCOUNTS, &JOURNAL],
    ..noun::NOUN
};

/// Its accounts, with those of customers.
pub const ACCOUNTS: Noun = Noun {
    typed: "ledger accounts",
    alias: "account",
    about: "Accounts of the ledger",
    singular: "account",
    list: Some(&ListLedgerAccounts::META),
    read: Some(&GetLedgerAccount::META),
    view: &views::LEDGER_ACCOUNT,
    arguments: &[
        "expense_account",
        "cash_account",
        "accrue_account",
        "drawer_account",
        "vault_account",
        "cheques_account",
        "over_short_account",
    ],
    fields: &["account"],
    samples: Samples { one: "1000", deleted: "", edit: "" },
    verbs: &[verb::<Accounts>("list")],
    ..noun::NOUN
};

/// Entries of its journal.
const JOURNAL: Noun = Noun {
    typed: "ledger journal",
    about: "Entries of the journal",
    singular: "entry",
    read: Some(&GetJournalEntry::META),
    view: &views::JOURNAL_ENTRY,
    verbs: &[
        verb::<Journal>("list"),
        shows("get", &GetJournalEntry::META, &views::JOURNAL_ENTRY, "entry").examples(&[
            "for entry in $(mfa ledger journal list -o id); do mfa ledger journal get $entry; done",
            "for entry in $(mfa ledger journal list --type ACCO -o id); do\n    \
             mfa ledger journal get $entry -o json; done",
        ]),
    ],
    ..noun::NOUN
};

#[derive(Args)]
pub struct Accounts {
    /// asset, liability, equity, revenue or expense
    #[arg(long, value_name = "KIND", value_parser = account_kind)]
    kind: Option<AccountKind>,
}

impl Verb for Accounts {
    const ENDPOINT: Option<&'static Meta> = Some(&ListLedgerAccounts::META);
    const EXAMPLES: &'static [&'static str] =
        &["mfa ledger accounts list", "mfa ledger accounts list --kind asset --sort -balance -o csv"];
    async fn run(self, cx: &Cx) -> Outcome {
        let query = |paging| Query(AccountQuery { paging, kind: self.kind });
        cx.list(ListLedgerAccounts {}, &views::LEDGER_ACCOUNT, query).await
    }
}

// The days of posting; one alone is the only end of the range.
#[derive(Args)]
pub struct Days {
    /// First day of posting, in UTC
    #[arg(long, value_name = "DATE", value_parser = date)]
    from: Option<Date>,
    /// Last day of posting, in UTC
    #[arg(long, value_name = "DATE", value_parser = date)]
    to: Option<Date>,
}

impl Days {
    /// The range of days, where there is one.
    pub fn range(&self) -> Outcome<Option<DateRange>> {
        days(self.from, self.to)
    }
}

#[derive(Args)]
pub struct Entries {
    /// Identifier of the account
    #[arg(value_name = "ID")]
    account: String,
    #[command(flatten)]
    days: Days,
}

impl Verb for Entries {
    const ENDPOINT: Option<&'static Meta> = Some(&ListAccountEntries::META);
    const EXAMPLES: &'static [&'static str] =
        &["mfa ledger entries 1000", "mfa ledger entries 1000 --from 2026-01-01 --sort -sequence -o csv"];
    async fn run(self, cx: &Cx) -> Outcome {
        let dates = self.days.range()?;
        let query = |paging| Query(EntryQuery { paging, dates });
        cx.list(ListAccountEntries { account: self.account }, &views::ACCOUNT_ENTRY, query).await
    }
}

#[derive(Args)]
pub struct Journal {
    /// Only entries with a line on this account
    #[arg(long, value_name = "ID")]
    account: Option<String>,
    /// Only entries of this type, such as CDPT
    #[arg(long = "type", value_name = "TYPE")]
    kind: Option<String>,
    #[command(flatten)]
    days: Days,
}

impl Verb for Journal {
    const ENDPOINT: Option<&'static Meta> = Some(&ListJournal::META);
    const EXAMPLES: &'static [&'static str] =
        &["mfa ledger journal list", "mfa ledger journal list --account 1000 --type CDPT --to 2026-12-31"];
    async fn run(self, cx: &Cx) -> Outcome {
        let dates = self.days.range()?;
        let query = |paging| {
            let entries = EntryQuery { paging, dates };
            Query(JournalQuery { entries, account: self.account.clone(), r#type: self.kind.clone() })
        };
        cx.list(ListJournal {}, &views::JOURNAL_ENTRY, query).await
    }
}

#[derive(Args)]
pub struct TrialBalanceVerb {
    /// The day at whose end the balances are taken; now by default
    #[arg(long, value_name = "DATE", value_parser = date)]
    as_of: Option<Date>,
    #[command(flatten)]
    paper: PaperFlags,
}

impl Verb for TrialBalanceVerb {
    const ENDPOINT: Option<&'static Meta> = Some(&GetTrialBalance::META);
    const EXAMPLES: &'static [&'static str] = &[
        "mfa ledger trial-balance",
        "mfa ledger trial-balance --as-of 2026-06-30 -o csv",
        "mfa ledger trial-balance --out trial-balance.pdf",
    ];
    async fn run(self, cx: &Cx) -> Outcome {
        if self.paper.ask() {
            self.paper.check(cx)?;
        }
        let query = Query(AsOf { as_of: self.as_of });
        let mut sheet = cx.client.send(&GetTrialBalance {}, &query).await?.value;
        if self.paper.ask() {
            return self.paper.print(cx, &trial_balance(cx, &sheet).await?);
        }
        if cx.out.format.is_structured() {
            return cx.out.show(&views::TRIAL_BALANCE, &sheet);
        }
        let total = serde_json::json!({
            "accountIdentifier": "total", "debit": sheet["totalDebit"], "credit": sheet["totalCredit"],
        });
        let mut rows = sheet["rows"].take();
        if let Some(rows) = rows.as_array_mut() {
            rows.push(total);
        }
        cx.print(&GetTrialBalance {}, &views::TRIAL_BALANCE, rows).await
    }
}

/// A trial balance on paper.
async fn trial_balance(cx: &Cx, sheet: &Value) -> Outcome<Paper> {
    let mut money = Money::on_paper(&cx.client, &GetTrialBalance {}, &views::TRIAL_BALANCE);
    let cells = |row: &Value| {
        ["/accountIdentifier", "/kind", "/debit", "/credit"].map(|pointer| text(row, pointer)).to_vec()
    };
    let mut rows = Vec::new();
    for row in sheet["rows"].as_array().into_iter().flatten() {
        rows.push(cells(&money.shown(row.clone()).await));
    }
    let total = serde_json::json!({
        "accountIdentifier": "total", "debit": sheet["totalDebit"], "credit": sheet["totalCredit"],
    });
    let table = Table {
        columns: vec![
            Column::words("Account"),
            Column::words("Kind"),
            Column::amounts("Debit"),
            Column::amounts("Credit"),
        ],
        rows,
        total: Some(cells(&money.shown(total).await)),
        empty: "no account has entries",
    };
    Ok(Paper::new(cx, "trialBalance", "Trial balance")?
        .with(Part::Facts(vec![("End of day (UTC)", text(sheet, "/asOf"))]))
        .with(Part::Table(table)))
}
