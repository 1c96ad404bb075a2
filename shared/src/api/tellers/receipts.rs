//! Receipts of confirmed transactions: numbered for each teller, without gaps. An addition of this project.

use super::transactions::{TransactionCharge, TransactionType};
use crate::amount::{AMOUNT_BOUND, Amount};
use crate::api::definitions::Currency;
use crate::kind::Kind;
use crate::object;
use crate::object::nested;
use crate::rule::*;
use crate::time::Timestamp;

object! {
    /// The receipt of a confirmed transaction, with everything that is printed on it. It is written when it
    /// is first asked for; from then on nothing of it changes but the count of its copies.
    pub struct Receipt {
        /// Number of the receipt: 1, 2, 3, ... without gaps for each teller.
        number: i64 = required(integer(1, i64::MAX)),
        /// 1 for the original, 2 for the first reprint, and so on; a read shows how many were given out.
        copy: i64 = required(integer(1, i64::MAX)),
        /// When the original was given out.
        issued_on: Timestamp = required(timestamp()),
        /// By whom.
        issued_by: String = required(line(256)),
        /// The office of the teller.
        office_identifier: String = required(id(32)),
        /// Its name.
        office_name: Option<String> = optional(line(256)),
        /// The teller.
        teller_code: String = required(id(32)),
        /// The clerk of the transaction.
        clerk: String = required(line(256)),
        /// The transaction.
        transaction_identifier: String = required(id(32)),
        /// What it was.
        transaction_type: TransactionType = required(word()),
        /// Its business date.
        transaction_date: Timestamp = required(timestamp()),
        /// When it was confirmed.
        confirmed_on: Timestamp = required(timestamp()),
        /// The journal entry that booked it; null where nothing moved.
        journal_entry_identifier: Option<String> = optional(id(32)),
        /// The holder of the account.
        customer_identifier: String = required(line(32)),
        /// The name of the holder, or null where no such customer is kept.
        customer_name: Option<String> = optional(line(1024)),
        /// The product of the account.
        product_identifier: String = required(id(32)),
        /// The account.
        customer_account_identifier: String = required(line(73)),
        /// The account that received a transfer.
        target_account_identifier: Option<String> = optional(line(73)),
        /// The currency of all amounts.
        currency: Currency = required(nested()),
        /// The amount.
        amount: Amount = required(decimal(0, AMOUNT_BOUND)),
        /// The charges in the order of the product.
        charges: Vec<TransactionCharge> = required(list(nested(), usize::MAX)),
        /// Whether the charges were paid in cash; otherwise the account paid them.
        charges_included: bool = required(flag()),
        /// The amount and its charges.
        total_amount: Amount = required(decimal(0, AMOUNT_BOUND)),
        /// Balance of the account right after the transaction; null where it did not move the account.
        balance: Option<Amount> = optional(decimal(-AMOUNT_BOUND, AMOUNT_BOUND)),
    }
}

/// Its kind of record.
pub const RECEIPT_KIND: &[Kind] =
    &[Kind::of("receipt", "/offices/{}/teller/{}/receipts/{}", "", "GetReceipt")];
