//! Product instances: the accounts of customers. Contract: `deposits.md` section 3.

use crate::amount::Amount;
use crate::api::ledger::{AccountEntry, EntryQuery};
use crate::endpoint::AcceptedAt;
use crate::fault::Fault;
use crate::kind::Kind;
use crate::query::{
    PAGE_SIZE_DEFAULT, PAGE_SIZE_MAX, ParamDoc, Parameters, Params, TERM_LENGTH_MAX, missing, optional_param,
};
use crate::rule::*;
use crate::time::{Date, Timestamp};
use crate::wire::{Accepted, Array, Form, Json, Nothing, Page, Query};
use crate::{endpoints, object, words};
use serde_json::json;

words! {
    /// The state of an account of a customer.
    pub enum InstanceState {
        /// Made, not yet opened.
        Pending = "PENDING",
        /// Open.
        Active = "ACTIVE",
        /// Closed for good.
        Closed = "CLOSED",
    }

    /// What can be done to an account of a customer.
    pub enum InstanceCommand {
        /// Open it.
        Activate = "ACTIVATE",
        /// Close it; its balance must be 0.
        Close = "CLOSE",
        /// Note a transaction that moved no money here.
        Transaction = "TRANSACTION",
    }
}

/// Most beneficiaries of an account.
const BENEFICIARIES_MAX: usize = 100;
/// Longest account identifier: customer, ledger and number, with two dots.
pub const ACCOUNT_LENGTH_MAX: usize = 73;

const fn customer() -> Text {
    line(32).not_blank().segment()
}

const fn beneficiaries() -> List<Text> {
    list(line(256).not_blank(), BENEFICIARIES_MAX)
}

object! {
    /// An account of a customer, as every read shows it.
    pub struct Instance {
        /// The customer.
        customer_identifier: String = required(customer()),
        /// The product definition.
        product_identifier: String = required(id(32)),
        /// Generated: customer, ledger, number.
        account_identifier: String = required(line(ACCOUNT_LENGTH_MAX)),
        /// Another number by which the account is known.
        alternative_account_number: Option<String> = optional(line(64)),
        /// Who benefits.
        beneficiaries: Vec<String> = required(beneficiaries()),
        /// Day on which it became ACTIVE for the first time.
        opened_on: Option<Date> = optional(date()),
        /// Last movement, or last TRANSACTION command.
        last_transaction_date: Option<Timestamp> = optional(timestamp()),
        /// State; only commands and transactions change it.
        state: InstanceState = required(word()),
        /// Balance of the ledger account.
        balance: Amount = required(decimal(i64::MIN, i64::MAX)),
    }

    /// A new account of a customer.
    pub struct NewInstance {
        /// The customer.
        customer_identifier: String = required(customer()),
        /// The product definition.
        product_identifier: String = required(id(32)),
        /// Another number by which the account is known, unique over all account numbers.
        alternative_account_number: Option<String> = optional(line(64).not_blank().no_slash()),
        /// Who benefits; equal texts are kept once.
        beneficiaries: Option<Vec<String>> = optional(beneficiaries()),
    }

    /// A changed account of a customer; null keeps what is stored.
    pub struct InstanceChange {
        /// The present customer; it never changes.
        customer_identifier: Option<String> = optional(customer()),
        /// The present product; it never changes.
        product_identifier: Option<String> = optional(id(32)),
        /// The account identifier of the path.
        account_identifier: String = required(line(ACCOUNT_LENGTH_MAX)),
        /// The present alternative number; it never changes.
        alternative_account_number: Option<String> = optional(line(64).not_blank().no_slash()),
        /// Who benefits, replaced as a whole.
        beneficiaries: Option<Vec<String>> = optional(beneficiaries()),
    }

    /// A type of transaction that is possible at present.
    pub struct TransactionType {
        /// The type.
        transaction_type: String = required(id(32)),
    }
}

/// Whose accounts.
#[derive(Debug, Clone, PartialEq)]
pub struct OfCustomer {
    /// The customer.
    pub customer: String,
}

impl Parameters for OfCustomer {
    fn read(params: &Params) -> Result<Self, Fault> {
        Ok(Self { customer: params.text("customer")?.to_owned() })
    }

    fn write(&self) -> Vec<(&'static str, String)> {
        vec![("customer", self.customer.clone())]
    }

    fn docs() -> Vec<ParamDoc> {
        let schema = json!({ "type": "string", "minLength": 1 });
        vec![ParamDoc { name: "customer", doc: "Identifier of the customer.", required: true, schema }]
    }
}

/// Which accounts: all of a customer, or the first ones that contain a text.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct InstanceQuery {
    /// The customer; needed where there is no term.
    pub customer: Option<String>,
    /// A substring of the account, its other number, its customer or its product, in any letter case.
    pub term: Option<String>,
    /// Most accounts that contain the term, 1 to 1,000; null is 20.
    pub size: Option<u32>,
}

impl Parameters for InstanceQuery {
    fn read(params: &Params) -> Result<Self, Fault> {
        let term = params.term()?.map(str::to_owned);
        let customer = match (params.one("customer")?, &term) {
            (None, Some(_)) => None,
            _ => Some(params.text("customer")?.to_owned()),
        };
        Ok(Self { customer, term, size: params.integer("size", 1, PAGE_SIZE_MAX)? })
    }

    fn write(&self) -> Vec<(&'static str, String)> {
        let Self { customer, term, size } = self.clone();
        let pairs = [("customer", customer), ("term", term), ("size", size.map(|size| size.to_string()))];
        pairs.into_iter().filter_map(|(name, value)| Some((name, value?))).collect()
    }

    fn docs() -> Vec<ParamDoc> {
        let text = json!({ "type": "string", "minLength": 1 });
        let size = json!({
            "type": "integer", "minimum": 1, "maximum": PAGE_SIZE_MAX, "default": PAGE_SIZE_DEFAULT
        });
        vec![
            optional_param("customer", "Accounts of this customer only; needed without a term.", text),
            optional_param(
                "term",
                "Substring of the account, its other number, customer or product.",
                json!({ "type": "string", "maxLength": TERM_LENGTH_MAX }),
            ),
            optional_param("size", "Most accounts that contain the term.", size),
        ]
    }
}

/// The form of a command.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct InstanceCommandForm {
    /// What to do.
    pub command: InstanceCommand,
}

impl Parameters for InstanceCommandForm {
    fn read(params: &Params) -> Result<Self, Fault> {
        let command = params.command("command")?.ok_or_else(|| missing("command"))?;
        Ok(Self { command })
    }

    fn write(&self) -> Vec<(&'static str, String)> {
        vec![("command", self.command.to_string())]
    }

    fn docs() -> Vec<ParamDoc> {
        let schema = word::<InstanceCommand>().schema();
        vec![ParamDoc { name: "command", doc: "What to do, in any letter case.", required: true, schema }]
    }
}

/// Its kind of record.
pub const KINDS: &[Kind] = &[Kind::of("account", "/instances/{}", "", "GetInstance")];

endpoints! {
    application "deposit-v1";
    /// Open an account for a customer, in state PENDING with balance 0.
    CreateInstance {} Post "/instances" Json<NewInstance> => AcceptedAt<GetInstance>;
    /// List the accounts of a customer, or the first ones that contain a text.
    ListInstances {} Get "/instances" Query<InstanceQuery> => Array<Instance>;
    /// List the types of transaction that the accounts of a customer allow at present.
    ListTransactionTypes {} Get "/instances/transactiontypes" Query<OfCustomer> => Array<TransactionType>;
    /// Read an account of a customer.
    GetInstance { account } Get "/instances/{account}" Nothing => Json<Instance>, tag GetInstance;
    /// List the lines on an account in the order of posting, each with the balance after it.
    ListInstanceEntries { account } Get "/instances/{account}/entries" Query<EntryQuery<AccountEntry>>
        => Page<AccountEntry>;
    /// Change the beneficiaries of an account.
    UpdateInstance { account } Put "/instances/{account}" Json<InstanceChange> => Accepted, tag GetInstance;
    /// Activate or close an account, or note a transaction on it.
    CommandInstance { account } Post "/instances/{account}" Form<InstanceCommandForm> => Accepted;
}
