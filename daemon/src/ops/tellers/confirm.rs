//! Confirming and cancelling a transaction. Contract: `tellers.md` sections 6 and 8.

use super::accounts::{self, AccountAtCounter};
use super::pending::cancel;
use super::transactions::{Parties, find_transaction, not_found};
use super::{check_caller, find, step};
use crate::domain::teller::TellerStep;
use crate::domain::transaction::{Place, Situation, check, lines};
use crate::ops::{Caller, ledger};
use crate::store::Tx;
use crate::store::records::{StoredTeller, StoredTransaction};
use mfa_shared::amount::Amount;
use mfa_shared::api::ledger::{AccountRole, JournalEntry, JournalLine};
use mfa_shared::api::tellers::*;
use mfa_shared::fault::{self, Fault};
use mfa_shared::wire::{Accepted, Form};

/// `POST /teller/{teller}/transactions/{transaction}`
pub fn finish(
    tx: &mut Tx<'_>,
    caller: &Caller,
    at: &FinishTransaction,
    Form(form): &Form<TransactionForm>,
) -> Result<Accepted, Fault> {
    let teller = find(tx, &at.teller)?;
    let mut stored = find_transaction(tx, &at.transaction)?.ok_or_else(|| not_found(&at.transaction))?;
    check_caller(caller, &teller.teller)?;
    let word = form.command;
    step(&teller.teller, TellerStep::Transact, word.as_str())?;
    if stored.teller != at.teller {
        let detail = format!("transaction {} was created at teller {}", at.transaction, stored.teller);
        return Err(Fault::new(fault::OTHER_TELLER, detail));
    }
    let state = stored.transaction.state;
    if state != TransactionState::Pending {
        let detail = format!("transaction {} is {state}, so {word} is not possible", at.transaction);
        return Err(Fault::new(fault::WRONG_STATE, detail));
    }
    match word {
        TransactionCommandWord::Cancel => cancel(tx, &mut stored)?,
        TransactionCommandWord::Confirm => {
            confirm(tx, caller, &teller, stored, form.charges == ChargesWord::Included)?;
        }
    }
    Ok(Accepted)
}

fn confirm(
    tx: &mut Tx<'_>,
    caller: &Caller,
    teller: &StoredTeller,
    mut stored: StoredTransaction,
    included: bool,
) -> Result<(), Fault> {
    let transaction = &stored.transaction;
    let kind = transaction.transaction_type;
    let mut account = held(tx, &transaction.customer_account_identifier)?;
    let target = match &transaction.target_account_identifier {
        Some(target) => Some(held(tx, target)?),
        None => None,
    };
    let parties = Parties { teller: &teller.teller, account: &account, target: target.as_ref() };
    let charges: Vec<Amount> = transaction.charges.iter().map(|charge| charge.amount).collect();
    check(&Situation {
        transaction: kind,
        amount: transaction.amount,
        charges: Amount::sum(charges.iter().copied()),
        included,
        account: account.stage,
        target: target.as_ref().map(|target| target.stage),
        balance: account.ledger.balance,
        minimum: account.minimum,
        limit: teller.teller.cashdraw_limit,
        cash: ledger::drawer_cash(tx, &teller.teller.code)?,
    })
    .map_err(|refusal| parties.refuse(kind, &refusal))?;
    parties.check_currency(tx)?;
    let entry = ledger::Entry {
        r#type: kind.as_str(),
        message: kind.as_str(),
        // Without one from the client, it is the date of posting.
        transaction_date: Some(transaction.transaction_date)
            .filter(|date| stored.dated || *date != transaction.created_on),
        clerk: &caller.name,
        teller_code: Some(&teller.teller.code),
        teller_transaction: Some(&transaction.identifier),
        lines: posted(&parties, transaction, &charges, included),
    };
    let entry = ledger::post(tx, entry)?;
    // Not the clock, which may have been set back behind the last entry.
    let posted_on = match &entry {
        Some(entry) => entry.posted_on,
        None => ledger::posting_time(tx)?,
    };
    // Of an entry of charges alone the ledger account does not know.
    let is_unknown = entry.as_ref().is_some_and(|entry| !has_line(entry, &account.identifier));
    if is_unknown {
        account.instance.note(posted_on);
    }
    match kind {
        TransactionType::Acco => accounts::open(tx, &account, posted_on)?,
        TransactionType::Accc => accounts::close(tx, caller, &account, posted_on)?,
        _ if is_unknown => tx.put(&account.instance)?,
        TransactionType::Acct | TransactionType::Cdpt | TransactionType::Cwdl => {}
    }
    let before = stored.clone();
    stored.sequence = entry.map(|entry| entry.sequence);
    stored.transaction.state = TransactionState::Confirmed;
    stored.transaction.charges_included = Some(included);
    stored.transaction.finished_on = Some(posted_on);
    tx.replace(&before, &stored);
    Ok(())
}

fn has_line(entry: &JournalEntry, account: &str) -> bool {
    entry.lines.iter().any(|line| line.account_identifier == account)
}

/// The lines of the journal with their accounts.
fn posted(
    parties: &Parties<'_>,
    transaction: &Transaction,
    charges: &[Amount],
    included: bool,
) -> Vec<JournalLine> {
    let named = |place| match place {
        Place::Drawer => (AccountRole::Drawer, parties.teller.teller_account_identifier.as_str()),
        Place::Account => (AccountRole::Customer, parties.account.identifier.as_str()),
        // Only a transfer has a line of this place, and a transfer has a target.
        Place::Target => (AccountRole::Customer, parties.target.map_or("", |target| &target.identifier)),
        Place::Income(i) => (AccountRole::Income, transaction.charges[i].income_account_identifier.as_str()),
    };
    let found = lines(transaction.transaction_type, transaction.amount, charges, included);
    let shown = found.into_iter().map(|posted| {
        let (role, account) = named(posted.place);
        if posted.debit {
            ledger::debit(account, role, posted.amount)
        } else {
            ledger::credit(account, role, posted.amount)
        }
    });
    shown.collect()
}

/// An account of a stored transaction. Accounts are never removed, so one that is not there is a defect.
fn held(tx: &mut Tx<'_>, identifier: &str) -> Result<AccountAtCounter, Fault> {
    let missing = || Fault::new(fault::INTERNAL, format!("account {identifier} of a transaction is gone"));
    accounts::find(tx, identifier)?.ok_or_else(missing)
}
