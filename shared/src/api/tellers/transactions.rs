//! Transactions at the counter. Contract: `tellers.md` sections 5 and 6.

use crate::amount::{AMOUNT_BOUND, Amount};
use crate::fault::Fault;
use crate::kind::Kind;
use crate::object::{FieldDoc, Fields, Object, nested};
use crate::query::{ParamDoc, Parameters, Params, missing};
use crate::rule::*;
use crate::time::Timestamp;
use crate::{object, words};
use serde_json::json;

words! {
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

    /// The state of a transaction.
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
    /// A charge of a transaction.
    pub struct TransactionCharge {
        /// The action to which the charge is tied.
        code: String = required(id(32)),
        /// The account that earns it.
        income_account_identifier: String = required(id(34)),
        /// Its name.
        name: String = required(line(256)),
        /// What it comes to.
        amount: Amount = required(decimal(0, AMOUNT_BOUND)),
    }

    /// What a transaction will cost; it is PENDING until it is confirmed or cancelled.
    pub struct TransactionQuote {
        /// Identifier of the transaction, 32 letters and digits.
        teller_transaction_identifier: String = required(id(32)),
        /// The amount and its charges.
        total_amount: Amount = required(decimal(0, AMOUNT_BOUND)),
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
        amount: Amount = required(decimal(0, AMOUNT_BOUND)),
        /// The amount and its charges.
        total_amount: Amount = required(decimal(0, AMOUNT_BOUND)),
        /// The charges in the order of the product.
        charges: Vec<TransactionCharge> = required(list(nested(), usize::MAX)),
        /// Whether the charges were paid in cash; null unless it is CONFIRMED.
        charges_included: Option<bool> = optional(flag()),
        /// Its state.
        state: TransactionState = required(word()),
        /// When it was created.
        created_on: Timestamp = required(timestamp()),
        /// When it was confirmed or cancelled.
        finished_on: Option<Timestamp> = optional(timestamp()),
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
        let word = fields.take("transaction_type", None, &[], &required(free(usize::MAX)));
        let kind = word.as_deref().and_then(TransactionType::find);
        let date = fields.take("transaction_date", None, &[], &optional(timestamp()));
        let customer = fields.take("customer_identifier", None, &[], &required(line(32).not_blank()));
        let product = fields.take("product_identifier", None, &[], &required(id(32)));
        let account = fields.take("customer_account_identifier", None, &[], &required(reference_line()));
        let target = match kind {
            Some(Acct) => {
                fields.take("target_account_identifier", None, &[], &required(reference_line())).map(Some)
            }
            _ => Some(None),
        };
        let clerk = fields.take("clerk", None, &[], &optional(line(32)));
        let amount = match kind {
            Some(Cdpt | Cwdl | Acct) => decimal(0, AMOUNT_BOUND).exclusive(),
            _ => decimal(0, AMOUNT_BOUND),
        };
        let amount = fields.take("amount", None, &[], &required(amount));
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
                decimal(0, AMOUNT_BOUND).schema(),
            ),
        ]
    }
}

/// Which transactions of a teller.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TransactionQuery {
    /// Only those in this state.
    pub status: Option<TransactionState>,
}

impl Parameters for TransactionQuery {
    fn read(params: &Params) -> Result<Self, Fault> {
        params.one("status")?;
        Ok(Self { status: params.command("status")? })
    }

    fn write(&self) -> Vec<(&'static str, String)> {
        self.status.iter().map(|status| ("status", status.to_string())).collect()
    }

    fn docs() -> Vec<ParamDoc> {
        let schema = word::<TransactionState>().schema();
        vec![ParamDoc { name: "status", doc: "Only those in this state.", required: false, schema }]
    }
}

/// How a transaction ends, and who pays its charges.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TransactionForm {
    /// The command.
    pub command: TransactionCommandWord,
    /// Who pays the charges.
    pub charges: ChargesWord,
}

impl Parameters for TransactionForm {
    fn read(params: &Params) -> Result<Self, Fault> {
        let command = params.command("command")?.ok_or_else(|| missing("command"))?;
        Ok(Self { command, charges: params.command("charges")?.unwrap_or(ChargesWord::Excluded) })
    }

    fn write(&self) -> Vec<(&'static str, String)> {
        let charges = self.charges.as_str().to_ascii_lowercase();
        vec![("command", self.command.to_string()), ("charges", charges)]
    }

    fn docs() -> Vec<ParamDoc> {
        let charges = "Who pays the charges: in cash (included), or the account (excluded).";
        let doc = |name, doc, required, schema| ParamDoc { name, doc, required, schema };
        vec![
            doc("command", "What to do.", true, word::<TransactionCommandWord>().schema()),
            doc(
                "charges",
                charges,
                false,
                json!({ "enum": ["included", "excluded"], "default": "excluded" }),
            ),
        ]
    }
}

/// Its kind of record.
pub const TRANSACTION_KIND: &[Kind] =
    &[Kind::of("transaction", "/teller/{}/transactions/{}", "", "GetTransaction")];
