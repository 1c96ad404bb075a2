//! The receipt of a transaction on paper, and the flags by which a transaction asks for one.

use crate::command::cx::Cx;
use crate::command::money::with_digits;
use crate::failure::{Failure, Outcome};
use crate::output::{text, transaction, views};
use crate::paper::{Paper, PaperFlags, Part, named_for_people};
use crate::words::quoted;
use clap::Args;
use mfa_shared::amount::Amount;
use mfa_shared::api::tellers::*;
use mfa_shared::wire::Nothing;
use serde_json::Value;

/// The setting of the size of receipts.
const SIZE: &str = "receipt_paper";

// Whether a transaction is followed by its receipt. They go last in the flags of a verb.
#[derive(Args)]
pub(super) struct ReceiptFlags {
    /// Print the receipt once the transaction is confirmed, of the size of MFA_RECEIPT_PAPER; the options
    /// of papers ask for it, too
    #[arg(long)]
    receipt: bool,
    #[command(flatten)]
    paper: PaperFlags,
}

impl ReceiptFlags {
    /// Whether a receipt is asked for.
    pub fn ask(&self) -> bool {
        self.receipt || self.paper.ask()
    }

    /// Refuses what cannot be printed, before anything moves.
    pub fn check(&self, cx: &Cx) -> Outcome {
        if self.ask() { self.paper.check_on(cx, SIZE) } else { Ok(()) }
    }

    /// Prints the receipt of a transaction that was just confirmed.
    pub async fn print(&self, cx: &Cx, teller: &str, identifier: &str) -> Outcome {
        cx.out.tip(&format!("transaction {identifier} confirmed"));
        let confirmed = |failure: Failure| {
            let again = format!("mfa teller receipt --teller {} {}", quoted(teller), quoted(identifier));
            failure
                .adding(&format!("; transaction {identifier} is confirmed nevertheless"))
                .hint(format!("print the receipt again: {again}"))
                .of_key(cx.client.keys.of_command())
        };
        issue(cx, &self.paper, teller, identifier).await.map_err(confirmed)
    }
}

/// Issues the receipt of a transaction, and prints it on the paper that the flags say.
pub(super) async fn issue(cx: &Cx, flags: &PaperFlags, teller: &str, identifier: &str) -> Outcome {
    flags.check_on(cx, SIZE)?;
    let at = IssueReceipt { teller: teller.to_owned(), transaction: identifier.to_owned() };
    let receipt = cx.client.send(&at, &Nothing).await?.value;
    // With a data format, prints the receipt as a record.
    if !flags.ask() && cx.out.is_asked_for_records() {
        return cx.print(&at, &views::RECEIPT, receipt).await;
    }
    flags.print_on(cx, SIZE, &of(cx, &receipt)?)
}

fn of(cx: &Cx, receipt: &Value) -> Outcome<Paper> {
    let read: Receipt = serde_json::from_value(receipt.clone())
        .map_err(|error| Failure::local(format!("the daemon sent a receipt of another shape: {error}")))?;
    let shown = |pointer: &str| text(receipt, pointer);
    let time = |pointer: &str| cx.out.moment(&shown(pointer));
    let charges = match (read.charges.is_empty(), read.charges_included) {
        (true, _) => "none",
        (false, true) => "paid in cash",
        (false, false) => "paid by the account",
    };
    let mut facts = vec![
        ("Teller", read.teller_code.clone()),
        ("Clerk", read.clerk.clone()),
        ("Time", time("/confirmedOn")),
        ("Transaction", transaction(&shown("/transactionType")).to_owned()),
        ("Reference", read.transaction_identifier.clone()),
        ("Account", read.customer_account_identifier.clone()),
        ("To account", read.target_account_identifier.clone().unwrap_or_default()),
        ("Holder", named_for_people(&shown("/customerName"), &read.customer_identifier)),
        ("Product", read.product_identifier.clone()),
        ("Charges", charges.to_owned()),
        ("Currency", read.currency.code.clone()),
    ];
    if read.copy > 1 {
        facts.push(("Original of", time("/issuedOn")));
        facts.push(("Copy", (read.copy - 1).to_string()));
    }
    facts.retain(|(_, value)| !value.is_empty());
    let mut paper = Paper::new(cx, "receipt", "Receipt")?
        .at_office(named_for_people(&shown("/officeName"), &read.office_identifier))
        .with(Part::Facts(facts))
        .with(Part::Totals(totals(&read)))
        .with(Part::Signatures(vec!["Customer", "Teller"]));
    paper.number = Some(read.number.to_string());
    paper.mark = (read.copy > 1).then_some("COPY");
    Ok(paper)
}

/// The amounts of a receipt.
fn totals(receipt: &Receipt) -> Vec<(String, String)> {
    let scale = u32::try_from(receipt.currency.scale).ok();
    let money = |amount: Amount| with_digits(amount, scale);
    let mut totals = vec![("Amount".to_owned(), money(receipt.amount))];
    totals.extend(receipt.charges.iter().map(|charge| (charge.name.clone(), money(charge.amount))));
    if !receipt.charges.is_empty() {
        totals.push(("Total".to_owned(), money(receipt.total_amount)));
    }
    totals.extend(receipt.balance.map(|balance| ("Balance of the account".to_owned(), money(balance))));
    totals
}
