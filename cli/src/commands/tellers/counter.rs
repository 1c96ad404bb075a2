//! Money at the counter: each verb asks for the charges, shows them, and then confirms or cancels.

use super::{money, transactions};
use crate::cx::Cx;
use crate::failure::{Failure, Outcome};
use crate::input::Draft;
use crate::tree::Verb;
use crate::views;
use clap::Args;
use mfa_shared::api::instances::GetInstance;
use mfa_shared::api::tellers::*;
use mfa_shared::endpoint::{Endpoint, Meta};
use mfa_shared::wire::{Nothing, Query};
use serde_json::Value;

/// What every transaction is given.
#[derive(Args)]
struct Wish {
    /// Code of the teller
    #[arg(value_name = "CODE")]
    teller: String,
    /// Account of the customer
    #[arg(long, value_name = "ACCOUNT")]
    account: String,
    /// How much
    #[arg(long, value_name = "AMOUNT", value_parser = money)]
    amount: Value,
    /// Who pays the charges: included in the cash, or excluded, so that the account pays
    #[arg(long, value_name = "included|excluded", default_value = "excluded")]
    charges: String,
    /// Business date, such as 2026-05-06T10:00:00Z; now by default
    #[arg(long, value_name = "TIME")]
    date: Option<String>,
}

/// The charges as one line each.
fn listed(quote: &Value, amount: &Value) -> String {
    let charges = quote["charges"].as_array().cloned().unwrap_or_default();
    let line =
        |charge: &Value| format!("\n  {} {}", charge["name"].as_str().unwrap_or_default(), charge["amount"]);
    let charges: String = charges.iter().map(line).collect();
    let charges = if charges.is_empty() { "\n  no charges".to_owned() } else { charges };
    format!("amount {amount}{charges}\ntotal {}", quote["totalAmount"])
}

async fn transact(cx: &Cx, wish: Wish, kind: &str, target: Option<String>) -> Outcome {
    if !cx.prompt.yes {
        cx.prompt.check("--yes")?;
    }
    let instance = cx.client.send(&GetInstance { account: wish.account.clone() }, &Nothing).await?.value;
    let draft = Draft::default()
        .set("transactionType", Some(kind))
        .set("transactionDate", wish.date)
        .set("customerIdentifier", Some(instance["customerIdentifier"].clone()))
        .set("productIdentifier", Some(instance["productIdentifier"].clone()))
        .set("customerAccountIdentifier", Some(wish.account))
        .set("targetAccountIdentifier", target)
        .set("amount", Some(wish.amount.clone()));
    let endpoint = CreateTransaction { teller: wish.teller.clone() };
    let quote = cx.client.send(&endpoint, &draft.body::<CreateTransaction>()?).await?.value;
    let Some(transaction) = quote["tellerTransactionIdentifier"].as_str() else {
        return Err(Failure::local("the daemon answered no identifier of the transaction"));
    };
    cx.out.say(&listed(&quote, &wish.amount));
    if let Err(declined) = cx.prompt.confirm(&format!("confirm, with the charges {}?", wish.charges)) {
        transactions::finish(cx, &wish.teller, transaction, "CANCEL", "excluded").await?;
        return Err(declined);
    }
    let confirmed = transactions::finish(cx, &wish.teller, transaction, "CONFIRM", &wish.charges).await;
    if let Err(failure) = confirmed {
        // What cannot be confirmed is not left behind; that it stays is told, not its own failure.
        if failure.status.is_some_and(|status| status < 500) {
            let _ = transactions::finish(cx, &wish.teller, transaction, "CANCEL", "excluded").await;
        }
        return Err(failure);
    }
    let all = Query(TransactionQuery { status: Some(TransactionState::Confirmed) });
    let listed = cx.client.send(&ListTransactions { teller: wish.teller }, &all).await?.value;
    let found = listed.as_array().and_then(|all| all.iter().find(|t| t["identifier"] == transaction));
    cx.out.tip(&format!("transaction {transaction} confirmed (CONFIRMED)"));
    cx.out.show(&views::TRANSACTION, found.unwrap_or(&Value::Null))
}

/// A type of transaction is one verb; all of them send the same endpoint with another word.
macro_rules! counter {
    ($($verb:ident $kind:literal $about:literal [$($example:literal),*];)*) => {$(
        #[derive(Args)]
        pub struct $verb {
            #[command(flatten)]
            wish: Wish,
        }

        impl Verb for $verb {
            const ENDPOINT: Option<&'static Meta> = Some(&CreateTransaction::META);
            const ABOUT: &'static str = $about;
            const EXAMPLES: &'static [&'static str] = &[$($example),*];
            async fn run(self, cx: &Cx) -> Outcome {
                transact(cx, self.wish, $kind, None).await
            }
        }
    )*};
}

counter! {
    Deposit "CDPT" "Take a deposit" [
        "mfa teller deposit desk-2 --account c-003.9100.00002 --amount 50 --yes",
        "mfa teller deposit desk-2 --account c-003.9100.00002 --amount 50.50 --charges included --yes -o json"
    ];
    Withdraw "CWDL" "Pay a withdrawal out" [
        "mfa teller withdraw desk-2 --account c-003.9100.00002 --amount 20 --yes",
        "mfa teller withdraw desk-2 --account c-003.9100.00002 --amount 20 --charges included --yes"
    ];
    OpenAccount "ACCO" "Open an account with a first deposit" [
        "mfa teller open-account desk-2 --account c-002.9100.00001 --amount 100 --yes",
        "mfa teller open-account desk-2 --account c-002.9100.00001 --amount 100 --charges included --yes"
    ];
    CloseAccount "ACCC" "Close an account and pay it out" [
        "mfa teller close-account desk-2 --account c-003.9100.00002 --amount 100 --charges included --yes",
        "mfa teller close-account desk-2 --account c-003.9100.00002 --amount 99 --yes"
    ];
}

#[derive(Args)]
pub struct Transfer {
    #[command(flatten)]
    wish: Wish,
    /// Account that receives it
    #[arg(long, value_name = "ACCOUNT")]
    to: String,
}

impl Verb for Transfer {
    const ENDPOINT: Option<&'static Meta> = Some(&CreateTransaction::META);
    const ABOUT: &'static str = "Transfer to another account";
    const EXAMPLES: &'static [&'static str] = &[
        "mfa teller transfer desk-2 --account c-003.9100.00002 --to c-003.9100.00003 --amount 5 --yes",
        "mfa teller transfer desk-2 --account c-003.9100.00002 --to c-003.9100.00003 --amount 5 \\\n    \
         --yes -o json",
    ];
    async fn run(self, cx: &Cx) -> Outcome {
        transact(cx, self.wish, "ACCT", Some(self.to)).await
    }
}
