//! Money at the counter: each verb asks for the charges, shows what the transaction does, asks, and then
//! confirms or cancels.

use super::of_day::Working;
use super::receipt_paper::ReceiptFlags;
use super::transactions::{self, ChargesFlag};
use super::{as_amount, money};
use crate::command::cx::{Cx, Done};
use crate::command::money::{check_digits, product_scale, with_digits};
use crate::command::verb::Verb;
use crate::failure::{Failure, Outcome};
use crate::input::{Draft, moment};
use crate::nouns::customers;
use crate::output::views;
use crate::words::quoted;
use clap::Args;
use mfa_shared::amount::Amount;
use mfa_shared::api::customers::GetCustomer;
use mfa_shared::api::instances::{GetInstance, InstanceQuery, ListInstances};
use mfa_shared::api::tellers::*;
use mfa_shared::endpoint::{Endpoint, Meta};
use mfa_shared::fault;
use mfa_shared::wire::{Nothing, Query};
use serde_json::Value;

/// What every transaction is given; `A` is its amount.
#[derive(Args)]
pub(super) struct Wish<A: Args> {
    #[command(flatten)]
    at: Working,
    /// Account of the customer; with --customer also its alternative number
    #[arg(short, long, value_name = "ACCOUNT")]
    account: String,
    /// Holder of the account; needed only where the account is named by its alternative number
    #[arg(long, value_name = "ID")]
    customer: Option<String>,
    #[command(flatten)]
    pub(super) amount: A,
    #[command(flatten)]
    pub(super) charges: ChargesFlag,
    /// Business date, such as 2026-05-06 or 2026-05-06T10:00:00Z; now by default
    #[arg(long, value_name = "TIME", value_parser = moment)]
    date: Option<String>,
    #[command(flatten)]
    receipt: ReceiptFlags,
}

/// The amount, where it must be given.
#[derive(Args)]
struct HowMuch {
    /// How much
    #[arg(short = 'm', long, value_name = "AMOUNT", value_parser = money, allow_negative_numbers = true)]
    amount: Value,
}

/// What a transaction moves, of which kind, and where to.
pub(super) struct Moved {
    pub(super) kind: TransactionType,
    pub(super) amount: Value,
    pub(super) target: Option<String>,
}

impl<A: Args> Wish<A> {
    /// The code of the teller.
    pub(super) fn teller(&self, cx: &Cx) -> Outcome<String> {
        self.at.clone().code(cx)
    }

    /// The transaction with an account as the daemon shows it.
    pub(super) fn draft(&self, instance: &Value, moved: &Moved) -> Draft {
        Draft::default()
            .set("transactionType", Some(moved.kind.as_str()))
            .set("transactionDate", self.date.clone())
            .set("customerIdentifier", Some(instance["customerIdentifier"].clone()))
            .set("productIdentifier", Some(instance["productIdentifier"].clone()))
            .set("customerAccountIdentifier", Some(instance["accountIdentifier"].clone()))
            .set("targetAccountIdentifier", moved.target.clone())
            .set("amount", Some(moved.amount.clone()))
    }

    /// The account as the daemon shows it.
    pub(super) async fn instance(&self, cx: &Cx) -> Outcome<Value> {
        let Some(customer) = &self.customer else {
            return Ok(cx.client.send(&GetInstance { account: self.account.clone() }, &Nothing).await?.value);
        };
        let query = Query(InstanceQuery { customer: Some(customer.clone()), ..InstanceQuery::default() });
        let found = cx.client.send(&ListInstances {}, &query).await?.value;
        let numbers = ["accountIdentifier", "alternativeAccountNumber"];
        let named = |instance: &&Value| numbers.iter().any(|number| instance[number] == self.account);
        found.as_array().and_then(|all| all.iter().find(named)).cloned().ok_or_else(|| {
            let what = format!("customer {customer} has no account \"{}\"", self.account);
            Failure::of(fault::INSTANCE_NOT_FOUND, what)
                .hint(format!("list them: mfa accounts list --customer {}", quoted(customer)))
        })
    }
}

/// What a transaction does, before it is confirmed.
struct Effect {
    amount: Amount,
    charges: Amount,
    account_pays: bool,
    /// Balance of the account before.
    before: Amount,
    /// Change of the balance.
    account: Amount,
    /// Change of the cash in the drawer.
    drawer: Amount,
    /// Digits after the point of the currency, if known.
    scale: Option<u32>,
}

impl Effect {
    fn of(
        moved: &Moved,
        quote: &Value,
        payer: ChargesWord,
        instance: &Value,
        scale: Option<u32>,
    ) -> Outcome<Self> {
        let amount = as_amount(&moved.amount)?;
        let charges = as_amount(&quote["totalAmount"])?.minus(amount);
        // Into the account and the drawer, or out of them.
        let (account, drawer) = match moved.kind {
            TransactionType::Cdpt | TransactionType::Acco => (amount, amount),
            TransactionType::Cwdl | TransactionType::Accc => (amount.negated(), amount.negated()),
            TransactionType::Acct => (amount.negated(), Amount::ZERO),
        };
        let (account, drawer) = match payer {
            ChargesWord::Included => (account, drawer.plus(charges)),
            ChargesWord::Excluded => (account.minus(charges), drawer),
        };
        let account_pays = !charges.is_zero() && payer == ChargesWord::Excluded;
        let before = as_amount(&instance["balance"])?;
        Ok(Self { amount, charges, account_pays, before, account, drawer, scale })
    }

    /// Where an account holds less or more than it should, what to do about it. Charges in cash are spoken of
    /// only where the account would pay some.
    fn with_way_out(&self, kind: TransactionType, failure: Failure) -> Failure {
        use TransactionType::{Accc, Acco, Cdpt};
        let is_short = failure.code == fault::INSUFFICIENT_BALANCE.code;
        match kind {
            Accc if is_short && self.account_pays && self.charges > self.before => {
                failure.hint("pay out all of it, the charges in cash: --charges included, without --amount")
            }
            Accc if is_short || failure.code == fault::REMAINING_BALANCE.code => {
                failure.hint("pay out all of it: leave out --amount")
            }
            // Only the charges can make it too little.
            Cdpt | Acco if is_short => {
                failure.hint("pay in more, or the charges in cash: --charges included")
            }
            _ if is_short && self.account_pays => {
                failure.hint("take less, or pay the charges in cash: --charges included")
            }
            _ if is_short => failure.hint("take less"),
            _ => failure,
        }
    }

    fn shown(&self, amount: Amount) -> String {
        with_digits(amount, self.scale)
    }

    fn signed(&self, amount: Amount) -> String {
        let sign = if amount.is_negative() || amount.is_zero() { "" } else { "+" };
        format!("{sign}{}", self.shown(amount))
    }

    /// A line for each charge, and for everything that changes.
    fn lines(&self, quote: &Value, target: Option<&str>) -> String {
        let mut lines = vec![("amount".to_owned(), self.shown(self.amount))];
        for charge in quote["charges"].as_array().into_iter().flatten() {
            let name = charge["name"].as_str().unwrap_or_default();
            let amount = as_amount(&charge["amount"]).map(|amount| self.shown(amount)).unwrap_or_default();
            lines.push((format!("charge {name}"), amount));
        }
        if self.charges.is_zero() {
            lines.push(("charges".to_owned(), "none".to_owned()));
        }
        lines.push(("total".to_owned(), self.shown(self.amount.plus(self.charges))));
        let after = self.before.plus(self.account);
        let (before, after) = (self.shown(self.before), self.shown(after));
        lines.push(("account".to_owned(), format!("{before} -> {after} ({})", self.signed(self.account))));
        if let Some(target) = target {
            lines.push((target.to_owned(), self.signed(self.amount)));
        }
        lines.push(("drawer".to_owned(), self.signed(self.drawer)));
        let width = lines.iter().map(|(name, _)| name.chars().count()).max().unwrap_or_default();
        lines.iter().map(|(name, value)| format!("\n  {name:width$}  {value}")).collect()
    }
}

/// Refuses what can be refused before anything is created or paid: if no question can be asked, nothing
/// happens at all.
pub(super) fn check<A: Args>(cx: &Cx, wish: &Wish<A>) -> Outcome {
    wish.receipt.check(cx)?;
    cx.check_columns(&views::TRANSACTION)?;
    if !cx.prompt.yes {
        cx.prompt.check("--yes")?;
    }
    Ok(())
}

/// Makes the transaction, shows what it does, asks, and confirms or cancels it.
pub(super) async fn transact<A: Args>(cx: &Cx, wish: Wish<A>, moved: Moved) -> Outcome {
    check(cx, &wish)?;
    let kind = moved.kind;
    let teller = wish.teller(cx)?;
    let instance = wish.instance(cx).await?;
    let text = |property: &str| instance[property].as_str().unwrap_or_default().to_owned();
    let scale = product_scale(&cx.client, &text("productIdentifier")).await;
    check_digits("/amount", &moved.amount, scale)?;
    let draft = wish.draft(&instance, &moved);
    let endpoint = CreateTransaction { teller: teller.clone() };
    let made = cx.client.send_telling(&endpoint, &draft.body::<CreateTransaction>()?).await?;
    let quote = made.value;
    let Some(transaction) = quote["tellerTransactionIdentifier"].as_str() else {
        return Err(Failure::local("the daemon returned no identifier of the transaction"));
    };
    if made.replayed {
        check_not_cancelled(cx, &teller, transaction).await?;
    }
    let effect = Effect::of(&moved, &quote, wish.charges.word(), &instance, scale)?;
    let holder = holder(cx, &text("customerIdentifier")).await;
    cx.out.say(&format!(
        "{} account {} ({}) of {holder}, at teller {teller}{}",
        words(kind),
        text("accountIdentifier"),
        text("productIdentifier"),
        effect.lines(&quote, moved.target.as_deref())
    ));
    if cx.client.dry_run {
        return cx.done(Done { noun: "teller", id: &teller, what: "would take it; nothing was changed" });
    }
    let question = match wish.charges.word() {
        _ if effect.charges.is_zero() => "confirm it?",
        ChargesWord::Included => "confirm it, with the charges paid in cash?",
        ChargesWord::Excluded => "confirm it, with the charges paid by the account?",
    };
    if let Err(why) = agreed(cx, wish.charges.word(), (&teller, transaction), question).await {
        let cancelled = transactions::cancel(&cx.client.step("cancel"), &teller, transaction).await;
        let left = |failure: Failure| failure.adding(&format!("; transaction {transaction} waits"));
        cancelled.map_err(left)?;
        return Err(effect.with_way_out(kind, why));
    }
    let client = cx.client.step("confirm");
    let confirmed = transactions::confirm(&client, &teller, transaction, wish.charges.word()).await;
    if let Err(failure) = confirmed {
        let failure = given_up(cx, &teller, transaction, failure).await;
        return Err(effect.with_way_out(kind, failure));
    }
    if wish.receipt.ask() {
        return wish.receipt.print(cx, &teller, transaction).await;
    }
    if !cx.prompt.yes {
        let receipt = format!("mfa teller receipt --teller {} {}", quoted(&teller), quoted(transaction));
        cx.out.tip(&format!("its receipt: {receipt}"));
    }
    let done = Done { noun: "transaction", id: transaction, what: "confirmed" };
    let read = GetTransaction { teller, transaction: transaction.to_owned() };
    cx.changed(done, read, &views::TRANSACTION).await
}

/// Refuses a transaction that was made before under the same key and cancelled then: nothing confirms it.
async fn check_not_cancelled(cx: &Cx, teller: &str, transaction: &str) -> Outcome {
    let read = GetTransaction { teller: teller.to_owned(), transaction: transaction.to_owned() };
    if cx.client.send(&read, &Nothing).await?.value["state"] != "CANCELED" {
        return Ok(());
    }
    let what = format!("transaction {transaction}, made under this key before, was cancelled");
    let row = fault::WRONG_STATE;
    Err(Failure::of(row, what).hint("to try it again give a new --idempotency-key"))
}

/// The owner of an account by name and number, for a question. Also warns of the owner's expired cards.
async fn holder(cx: &Cx, customer: &str) -> String {
    let unnamed = format!("customer {customer}");
    if cx.prompt.yes {
        return unnamed;
    }
    let read = GetCustomer { customer: customer.to_owned() };
    // Without the right to read customers, the account number is shown.
    let Ok(reply) = cx.client.send(&read, &Nothing).await else { return unnamed };
    customers::warn_of_cards(cx, customer).await;
    match customers::name(&reply.value) {
        name if name.is_empty() => unnamed,
        name => format!("{name} (customer {customer})"),
    }
}

/// Asks for a yes, but not about what the daemon would refuse.
async fn agreed(cx: &Cx, payer: ChargesWord, (teller, transaction): (&str, &str), question: &str) -> Outcome {
    if !cx.prompt.yes {
        transactions::try_confirm(cx, teller, transaction, payer).await?;
    }
    cx.prompt.confirm_or_interrupted(question).await
}

/// A transaction that cannot be confirmed is cancelled. One that may have been confirmed is named.
async fn given_up(cx: &Cx, teller: &str, transaction: &str, failure: Failure) -> Failure {
    if !failure.in_doubt && failure.status.is_some_and(|status| status < 500) {
        // If it cannot be cancelled either, the refusal matters more than that it is still PENDING.
        let _ = transactions::cancel(&cx.client.step("cancel"), teller, transaction).await;
        return failure;
    }
    let look = format!("mfa teller transactions get {} {}", quoted(teller), quoted(transaction));
    let failure = if failure.in_doubt {
        failure.adding(&format!(", the confirmation of transaction {transaction}"))
    } else {
        failure.adding(&format!("; whether transaction {transaction} was confirmed is not known"))
    };
    let look = format!("look: {look}; to confirm a confirmed one does nothing");
    let hint = if failure.key.is_some() { format!("{look}; {}", failure.hint) } else { look };
    failure.hint(hint)
}

fn words(kind: TransactionType) -> &'static str {
    match kind {
        TransactionType::Cdpt => "deposit to",
        TransactionType::Cwdl => "withdraw from",
        TransactionType::Acct => "transfer from",
        TransactionType::Acco => "open",
        TransactionType::Accc => "close",
    }
}

/// Each type of transaction is a verb; all of them send the same endpoint with a different word.
macro_rules! counter {
    ($($verb:ident $kind:ident $about:literal [$($example:literal),*];)*) => {$(
        #[derive(Args)]
        pub struct $verb {
            #[command(flatten)]
            wish: Wish<HowMuch>,
        }

        impl Verb for $verb {
            const ENDPOINT: Option<&'static Meta> = Some(&CreateTransaction::META);
            const ABOUT: &'static str = $about;
            const EXAMPLES: &'static [&'static str] = &[$($example),*];
            async fn run(self, cx: &Cx) -> Outcome {
                let amount = self.wish.amount.amount.clone();
                transact(cx, self.wish, Moved { kind: TransactionType::$kind, amount, target: None }).await
            }
        }
    )*};
}

counter! {
    Deposit Cdpt "Take a deposit" [
        "mfa teller deposit desk-2 --account c-003.9100.00002 --amount 50 --yes",
        "mfa teller deposit desk-2 --account c-003.9100.00002 --amount 5.50 --charges included --yes -o json",
        "mfa teller deposit desk-2 --account c-003.9100.00002 --amount 50 --yes --receipt"
    ];
    Withdraw Cwdl "Pay a withdrawal out" [
        "mfa teller withdraw desk-2 --account c-003.9100.00002 --amount 20 --yes",
        "mfa teller withdraw desk-2 --account c-003.9100.00002 --amount 20 --charges included --yes"
    ];
    OpenAccount Acco "Open an account with a first deposit" [
        "mfa teller open-account desk-2 --account c-002.9100.00001 --amount 100 --yes",
        "mfa teller open-account desk-2 --account c-002.9100.00001 --amount 100 --charges included --yes"
    ];
}

#[derive(Args)]
pub struct Transfer {
    /// Account that receives it
    #[arg(short, long, value_name = "ACCOUNT")]
    to: String,
    #[command(flatten)]
    wish: Wish<HowMuch>,
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
        let amount = self.wish.amount.amount.clone();
        transact(cx, self.wish, Moved { kind: TransactionType::Acct, amount, target: Some(self.to) }).await
    }
}
