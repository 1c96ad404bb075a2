//! Receipts of confirmed transactions: the daemon numbers them, and counts their copies.

use super::of_day::Working;
use super::{Managed, Place, receipt_paper};
use crate::command::cx::Cx;
use crate::command::verb::Verb;
use crate::failure::Outcome;
use crate::output::views;
use crate::paper::PaperFlags;
use clap::Args;
use mfa_shared::api::audit::ListAudit;
use mfa_shared::api::tellers::*;
use mfa_shared::endpoint::{Endpoint, Meta};

#[derive(Args)]
pub struct Issue {
    /// Identifier of the transaction
    #[arg(value_name = "ID")]
    transaction: String,
    /// Code of the teller; by default that of MFA_TELLER, else the one you opened or unlocked last today
    #[arg(long, value_name = "CODE")]
    teller: Option<String>,
    #[command(flatten)]
    paper: PaperFlags,
}

impl Verb for Issue {
    const ENDPOINT: Option<&'static Meta> = Some(&IssueReceipt::META);
    const EXAMPLES: &'static [&'static str] = &[
        "mfa teller receipt --teller desk-2 \\\n    \
         $(mfa teller transactions list desk-2 --status confirmed -o id | head -n 1)",
        "mfa teller transactions list desk-2 --status confirmed -o id | head -n 1 | \\\n    \
         xargs mfa teller receipt --teller desk-2 -o json",
        "mfa teller transactions list desk-2 --status confirmed -o id | head -n 1 | \\\n    \
         xargs mfa teller receipt --teller desk-2 --out receipt.pdf",
    ];
    async fn run(self, cx: &Cx) -> Outcome {
        let teller = Working::of_flag(self.teller).code(cx)?;
        receipt_paper::issue(cx, &self.paper, &teller, &self.transaction).await
    }
}

#[derive(Args)]
pub struct Get {
    #[command(flatten)]
    at: Managed,
    /// Number of the receipt
    #[arg(value_name = "NUMBER")]
    receipt: String,
}

impl Verb for Get {
    const ENDPOINT: Option<&'static Meta> = Some(&GetReceipt::META);
    const EXAMPLES: &'static [&'static str] = &[
        "mfa teller receipts get desk-2 1 --office head-office",
        "mfa teller receipts get desk-2 1 --office head-office -o json",
    ];
    async fn run(self, cx: &Cx) -> Outcome {
        let Place { office, teller } = self.at.place(cx)?;
        cx.show(GetReceipt { office, teller, receipt: self.receipt }, &views::RECEIPT).await
    }
}

#[derive(Args)]
pub struct History {
    #[command(flatten)]
    at: Managed,
    /// Number of the receipt
    #[arg(value_name = "NUMBER")]
    receipt: String,
}

impl Verb for History {
    const ENDPOINT: Option<&'static Meta> = Some(&ListAudit::META);
    const ABOUT: &'static str = "Show who issued and copied the receipt, and when, the oldest first";
    const EXAMPLES: &'static [&'static str] = &[
        "mfa teller receipts history desk-2 1 --office head-office",
        "mfa teller receipts history desk-2 1 --office head-office -o json",
    ];
    async fn run(self, cx: &Cx) -> Outcome {
        let Place { office, teller } = self.at.place(cx)?;
        cx.history("receipt", &[&office, &teller, &self.receipt], Some(&GetReceipt::META)).await
    }
}
