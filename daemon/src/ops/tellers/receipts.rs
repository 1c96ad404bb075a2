//! Receipts of confirmed transactions. The first one that is asked for takes the next number of the teller
//! and stores all that is printed, in one transaction; every later one is a copy of it.

use super::transactions::{find_transaction, not_found};
use super::{check_caller, find, managed};
use crate::domain::customer::full_name;
use crate::ops::Caller;
use crate::ops::ledger::{balance_after, entry_at};
use crate::ops::rows::each;
use crate::store::Tx;
use crate::store::check::Finding;
use crate::store::records::{
    RECEIPT_COPIES, ReceiptCopies, StoredOffice, StoredTeller, StoredTransaction, receipt_key,
};
use mfa_shared::api::customers::Customer;
use mfa_shared::api::definitions::Definition;
use mfa_shared::api::ledger::JournalEntry;
use mfa_shared::api::tellers::*;
use mfa_shared::fault::{self, Fault};
use mfa_shared::wire::{Json, Nothing};
use std::collections::BTreeMap;

/// `POST /teller/{teller}/transactions/{transaction}/receipt`
pub fn issue(
    tx: &mut Tx<'_>,
    caller: &Caller,
    at: &IssueReceipt,
    _: &Nothing,
) -> Result<Json<Receipt>, Fault> {
    let teller = find(tx, &at.teller)?;
    let stored = find_transaction(tx, &at.transaction)?.ok_or_else(|| not_found(&at.transaction))?;
    check_caller(caller, &teller.teller)?;
    check_states(&teller, &stored)?;
    let known = tx.get::<ReceiptCopies>(&[&at.transaction])?;
    let mut copies = match known {
        Some(copies) => copies,
        None => write(tx, caller, &teller, &stored)?,
    };
    copies.copies += 1;
    let receipt = numbered(tx, &at.teller, copies.number)?;
    tx.add(&copies);
    let receipt = receipt.ok_or_else(|| {
        let detail = format!("receipt {} of teller {} is gone", copies.number, at.teller);
        Fault::new(fault::INTERNAL, detail)
    })?;
    Ok(Json(Receipt { copy: signed(copies.copies), ..receipt }))
}

/// `GET /offices/{office}/teller/{teller}/receipts/{receipt}`
pub fn get(tx: &mut Tx<'_>, _: &Caller, at: &GetReceipt, _: &Nothing) -> Result<Json<Receipt>, Fault> {
    managed(tx, &at.office, &at.teller)?;
    let missing = || {
        let detail = format!("teller {} has no receipt \"{}\"", at.teller, at.receipt);
        Fault::new(fault::RECEIPT_NOT_FOUND, detail)
    };
    // A text that is no number is not the number of a receipt either.
    let number = at.receipt.parse().ok().filter(|number: &u64| number.to_string() == at.receipt);
    let receipt = numbered(tx, &at.teller, number.ok_or_else(missing)?)?.ok_or_else(missing)?;
    let copies = tx.get::<ReceiptCopies>(&[&receipt.transaction_identifier])?;
    let copy = copies.map_or(receipt.copy, |copies| signed(copies.copies));
    Ok(Json(Receipt { copy, ..receipt }))
}

/// The receipt of a transaction, if one was given out.
pub fn find_copies(tx: &mut Tx<'_>, transaction: &str) -> Result<Option<ReceiptCopies>, Fault> {
    tx.get(&[transaction])
}

/// A receipt moves nothing, so the drawer may be locked; but an employee must be assigned to the teller.
fn check_states(teller: &StoredTeller, stored: &StoredTransaction) -> Result<(), Fault> {
    let code = &teller.teller.code;
    let transaction = &stored.transaction;
    if teller.teller.state == TellerState::Closed {
        let detail = format!("teller {code} is CLOSED, so a receipt is not possible");
        return Err(Fault::new(fault::WRONG_STATE, detail));
    }
    if stored.teller != *code {
        let detail =
            format!("transaction {} was created at teller {}", transaction.identifier, stored.teller);
        return Err(Fault::new(fault::OTHER_TELLER, detail));
    }
    if transaction.state != TransactionState::Confirmed {
        let identifier = &transaction.identifier;
        let state = transaction.state;
        let detail = format!("transaction {identifier} is {state}, and only a CONFIRMED one has a receipt");
        return Err(Fault::new(fault::WRONG_STATE, detail));
    }
    Ok(())
}

/// Writes the receipt of a transaction under the next number of its teller; no copy was given out yet.
fn write(
    tx: &mut Tx<'_>,
    caller: &Caller,
    teller: &StoredTeller,
    stored: &StoredTransaction,
) -> Result<ReceiptCopies, Fault> {
    let code = &teller.teller.code;
    let number = tx.next_number::<Receipt>(&[code])?;
    let receipt = written(tx, caller, teller, stored, signed(number))?;
    tx.add(&receipt);
    let transaction = stored.transaction.identifier.clone();
    Ok(ReceiptCopies { transaction, teller: code.clone(), number, copies: 0 })
}

/// What the receipt of a transaction shows.
fn written(
    tx: &mut Tx<'_>,
    caller: &Caller,
    teller: &StoredTeller,
    stored: &StoredTransaction,
    number: i64,
) -> Result<Receipt, Fault> {
    let transaction = stored.transaction.clone();
    let product = &transaction.product_identifier;
    let definition = tx.get::<Definition>(&[product])?;
    let gone = || Fault::new(fault::INTERNAL, format!("product {product} of a transaction is gone"));
    let currency = definition.ok_or_else(gone)?.currency;
    let customer = tx.get::<Customer>(&[&transaction.customer_identifier])?;
    let office = tx.get::<StoredOffice>(&[&teller.office])?;
    let entry = booked(tx, stored)?;
    let balance = match &entry {
        Some(entry) => balance_after(tx, entry, &transaction.customer_account_identifier)?,
        None => None,
    };
    Ok(Receipt {
        number,
        copy: 1,
        issued_on: tx.now(),
        issued_by: caller.name.clone(),
        office_identifier: teller.office.clone(),
        office_name: office.map(|office| office.name),
        teller_code: teller.teller.code.clone(),
        clerk: transaction.clerk,
        transaction_identifier: transaction.identifier,
        transaction_type: transaction.transaction_type,
        transaction_date: transaction.transaction_date,
        confirmed_on: transaction.finished_on.unwrap_or(transaction.created_on),
        journal_entry_identifier: entry.map(|entry| entry.identifier),
        customer_identifier: transaction.customer_identifier,
        customer_name: customer.as_ref().and_then(full_name),
        product_identifier: transaction.product_identifier,
        customer_account_identifier: transaction.customer_account_identifier,
        target_account_identifier: transaction.target_account_identifier,
        currency,
        amount: transaction.amount,
        charges: transaction.charges,
        charges_included: transaction.charges_included.unwrap_or_default(),
        total_amount: transaction.total_amount,
        balance,
    })
}

/// The entry that booked a transaction; none where nothing moved.
fn booked(tx: &mut Tx<'_>, stored: &StoredTransaction) -> Result<Option<JournalEntry>, Fault> {
    let Some(sequence) = stored.sequence else { return Ok(None) };
    Ok(entry_at(tx, sequence.unsigned_abs())?.map(|stored| stored.entry))
}

fn numbered(tx: &mut Tx<'_>, teller: &str, number: u64) -> Result<Option<Receipt>, Fault> {
    tx.at(&receipt_key(teller, number))
}

fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// Receipts have their numbers without gaps, and each is that of one confirmed transaction of its teller.
pub(super) fn check(tx: &mut Tx<'_>, tellers: &[StoredTeller]) -> Result<Vec<Finding>, Fault> {
    let mut found = Vec::new();
    let mut last = BTreeMap::<String, i64>::new();
    let mut count = 0;
    each(tx, &mut |tx, receipt: Receipt| {
        count += 1;
        let due = last.entry(receipt.teller_code.clone()).or_default();
        let subject = format!("receipt {} of teller {}", receipt.number, receipt.teller_code);
        let mut find = |detail: String| found.push(Finding { subject: subject.clone(), detail });
        if receipt.number != *due + 1 {
            find(format!("is in the place of number {}", *due + 1));
        }
        *due = receipt.number;
        if let Some(why) = wrongly_issued(tx, &receipt)? {
            find(why);
        }
        Ok(())
    })?;
    let copies = tx.count(RECEIPT_COPIES, &[])?;
    if copies != count {
        let detail = format!("are {count}, and copies of {copies} are counted");
        found.push(Finding { subject: "receipts".to_owned(), detail });
    }
    let is_there = |code: &String| tellers.iter().any(|stored| stored.teller.code == *code);
    found.extend(last.into_keys().filter(|code| !is_there(code)).map(|code| {
        let detail = "is not there and has receipts".to_owned();
        Finding { subject: format!("teller {code}"), detail }
    }));
    Ok(found)
}

/// What is wrong about a receipt.
fn wrongly_issued(tx: &mut Tx<'_>, receipt: &Receipt) -> Result<Option<String>, Fault> {
    let identifier = &receipt.transaction_identifier;
    let Some(stored) = find_transaction(tx, identifier)? else {
        return Ok(Some(format!("is of transaction {identifier}, which is not there")));
    };
    let transaction = &stored.transaction;
    if stored.teller != receipt.teller_code || transaction.state != TransactionState::Confirmed {
        let state = transaction.state;
        let teller = &stored.teller;
        return Ok(Some(format!("is of transaction {identifier}, which is {state} at teller {teller}")));
    }
    let entry = booked(tx, &stored)?;
    let balance = match &entry {
        Some(entry) => balance_after(tx, entry, &transaction.customer_account_identifier)?,
        None => None,
    };
    let says_so = receipt.transaction_type == transaction.transaction_type
        && receipt.customer_account_identifier == transaction.customer_account_identifier
        && receipt.target_account_identifier == transaction.target_account_identifier
        && receipt.amount == transaction.amount
        && receipt.charges == transaction.charges
        && receipt.total_amount == transaction.total_amount
        && receipt.journal_entry_identifier == entry.map(|entry| entry.identifier)
        && receipt.balance == balance;
    if !says_so {
        return Ok(Some(format!("differs from transaction {identifier}")));
    }
    let counted = tx.get::<ReceiptCopies>(&[identifier])?.is_some_and(|copies| {
        (copies.teller.as_str(), signed(copies.number)) == (receipt.teller_code.as_str(), receipt.number)
            && copies.copies > 0
    });
    Ok((!counted).then(|| "is not the one whose copies are counted".to_owned()))
}
