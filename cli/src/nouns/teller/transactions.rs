//! Transactions of a teller: list, confirm, cancel.

use super::of_day::Working;
use super::receipt_paper::ReceiptFlags;
use crate::client::Client;
use crate::command::cx::{Cx, Done};
use crate::command::verb::Verb;
use crate::failure::{Failure, Outcome};
use crate::output::views;
use crate::words::quoted;
use clap::Args;
use mfa_shared::api::tellers::*;
use mfa_shared::endpoint::{Endpoint, Meta};
use mfa_shared::fault;
use mfa_shared::query::{Parameters, Params};
use mfa_shared::rule::Word;
use mfa_shared::wire::{Form, Nothing, Query};

#[derive(Args)]
pub struct List {
    #[command(flatten)]
    at: Working,
    /// Only those in this state: PENDING, CONFIRMED or CANCELED
    #[arg(long, value_name = "STATE")]
    status: Option<String>,
}

impl Verb for List {
    const ENDPOINT: Option<&'static Meta> = Some(&ListTransactions::META);
    const EXAMPLES: &'static [&'static str] = &[
        "mfa teller transactions list desk-2",
        "mfa teller transactions list desk-2 --status pending -o id",
    ];
    async fn run(self, cx: &Cx) -> Outcome {
        let status = self.status.map_or_else(String::new, |status| format!("status={status}"));
        let query = Query(TransactionQuery::read(&Params::parse(&status))?);
        let at = ListTransactions { teller: self.at.code(cx)? };
        let found = cx.client.send(&at, &query).await?.value;
        cx.print(&at, &views::TRANSACTION, found).await
    }
}

#[derive(Args)]
pub struct Confirm {
    /// Code of the teller
    #[arg(value_name = "CODE")]
    teller: String,
    /// Identifier of the transaction
    #[arg(value_name = "ID")]
    transaction: String,
    #[command(flatten)]
    charges: ChargesFlag,
    #[command(flatten)]
    receipt: ReceiptFlags,
}

impl Verb for Confirm {
    const ENDPOINT: Option<&'static Meta> = Some(&FinishTransaction::META);
    const ABOUT: &'static str = "Confirm a transaction, which moves the money";
    const EXAMPLES: &'static [&'static str] = &[
        "mfa teller transactions confirm desk-2 \\\n    \
         $(mfa teller transactions list desk-2 --status pending -o id)",
        "mfa teller transactions list desk-2 --status pending -o id | \\\n    \
         xargs mfa teller transactions confirm desk-2 --charges included --yes",
    ];
    async fn run(self, cx: &Cx) -> Outcome {
        self.receipt.check(cx)?;
        if !self.receipt.ask() {
            cx.check_columns(&views::RESULT)?;
        }
        if let Err(failure) = confirm(&cx.client, &self.teller, &self.transaction, self.charges.word()).await
        {
            return Err(self.without_charges(cx, failure).await);
        }
        if self.receipt.ask() {
            return self.receipt.print(cx, &self.teller, &self.transaction).await;
        }
        cx.done(Done { noun: "transaction", id: &self.transaction, what: "confirmed" })
    }
}

impl Confirm {
    /// If the account pays no charges, nothing is said of charges in cash.
    async fn without_charges(&self, cx: &Cx, failure: Failure) -> Failure {
        if failure.code != fault::INSUFFICIENT_BALANCE.code {
            return failure;
        }
        let (teller, transaction) = (&self.teller, &self.transaction);
        let read = GetTransaction { teller: teller.clone(), transaction: transaction.clone() };
        let Ok(reply) = cx.client.send(&read, &Nothing).await else { return failure };
        let charged = reply.value["charges"].as_array().is_some_and(|charges| !charges.is_empty());
        if charged && self.charges.word() == ChargesWord::Excluded {
            failure
        } else {
            let (teller, transaction) = (quoted(teller), quoted(transaction));
            failure.hint(format!(
                "cancel it, and take less: mfa teller transactions cancel {teller} {transaction}"
            ))
        }
    }
}

#[derive(Args)]
pub struct Cancel {
    /// Code of the teller
    #[arg(value_name = "CODE")]
    teller: String,
    /// Identifier of the transaction
    #[arg(value_name = "ID")]
    transaction: String,
}

impl Verb for Cancel {
    const ENDPOINT: Option<&'static Meta> = Some(&FinishTransaction::META);
    const ABOUT: &'static str = "Cancel a transaction; nothing moves";
    const EXAMPLES: &'static [&'static str] = &[
        "mfa teller transactions cancel desk-2 \\\n    \
         $(mfa teller transactions list desk-2 --status pending -o id)",
        "mfa teller transactions list desk-2 --status pending -o id | \\\n    \
         xargs mfa teller transactions cancel desk-2 -o json",
    ];
    async fn run(self, cx: &Cx) -> Outcome {
        cx.check_columns(&views::RESULT)?;
        cancel(&cx.client, &self.teller, &self.transaction).await?;
        cx.done(Done { noun: "transaction", id: &self.transaction, what: "cancelled" })
    }
}

// Who pays the charges.
#[derive(Args)]
pub(super) struct ChargesFlag {
    /// Who pays the charges: included in the cash, or excluded, so that the account pays
    #[arg(
        short,
        long,
        value_name = "included|excluded",
        default_value = "excluded",
        hide_default_value = true
    )]
    #[arg(value_parser = charges)]
    charges: ChargesWord,
}

impl ChargesFlag {
    pub fn word(&self) -> ChargesWord {
        self.charges
    }
}

fn charges(text: &str) -> Result<ChargesWord, String> {
    ChargesWord::find(text).ok_or_else(|| "it must be included or excluded".to_owned())
}

/// Books a transaction.
pub(super) async fn confirm(
    client: &Client,
    teller: &str,
    transaction: &str,
    charges: ChargesWord,
) -> Outcome {
    finish(client, teller, transaction, confirmation(charges)).await
}

/// What the daemon would say to it; nothing moves.
pub(super) async fn try_confirm(cx: &Cx, teller: &str, transaction: &str, charges: ChargesWord) -> Outcome {
    let at = FinishTransaction { teller: teller.to_owned(), transaction: transaction.to_owned() };
    cx.client.try_out(&at, &Form(confirmation(charges))).await
}

fn confirmation(charges: ChargesWord) -> TransactionForm {
    TransactionForm { command: TransactionCommandWord::Confirm, charges }
}

pub(super) async fn cancel(client: &Client, teller: &str, transaction: &str) -> Outcome {
    let (command, charges) = (TransactionCommandWord::Cancel, ChargesWord::Excluded);
    finish(client, teller, transaction, TransactionForm { command, charges }).await
}

async fn finish(client: &Client, teller: &str, transaction: &str, form: TransactionForm) -> Outcome {
    let endpoint = FinishTransaction { teller: teller.to_owned(), transaction: transaction.to_owned() };
    client.send(&endpoint, &Form(form)).await?;
    Ok(())
}
