//! Creating and listing transactions. Contract: `tellers.md` section 5.

use super::accounts::{self, AccountAtCounter};
use super::{cancelled, check_caller, find, pending, step};
use crate::domain::teller::TellerStep;
use crate::domain::transaction::{self, Refusal};
use crate::ops::rows::Rows;
use crate::ops::{Caller, Stored, Unknown, ledger};
use crate::random;
use crate::store::Tx;
use crate::store::record::{Record, key};
use crate::store::records::{
    StoredInstance, StoredTransaction, TRANSACTIONS_PENDING, TransactionCounter, TransactionPlace,
};
use mfa_shared::amount::Amount;
use mfa_shared::api::definitions::Definition;
use mfa_shared::api::ledger::LedgerAccount;
use mfa_shared::api::tellers::*;
use mfa_shared::fault::{self, Fault};
use mfa_shared::identifier::shown;
use mfa_shared::wire::{Json, Nothing, Query};

/// `POST /teller/{teller}/transactions`
pub fn create(
    tx: &mut Tx<'_>,
    caller: &Caller,
    at: &CreateTransaction,
    Json(new): &Json<NewTransaction>,
) -> Result<Json<TransactionQuote>, Fault> {
    let Some(kind) = new.offered() else {
        let detail = format!("the transaction type \"{}\" is not offered", shown(&new.transaction_type));
        return Err(Fault::new(fault::UNSUPPORTED_TRANSACTION_TYPE, detail));
    };
    let stored = find(tx, &at.teller)?;
    check_caller(caller, &stored.teller)?;
    announce(tx, &stored.teller, new)?;
    let (account, target) = named(tx, new)?;
    check_amount(new.amount, &account, target.as_ref())?;
    step(&stored.teller, TellerStep::Transact, "a transaction")?;
    let parties = Parties { teller: &stored.teller, account: &account, target: target.as_ref() };
    let limit = stored.teller.cashdraw_limit;
    transaction::stage(kind, account.stage, target.as_ref().map(|target| target.stage))
        .and_then(|()| transaction::limit(kind, new.amount, limit))
        .and_then(|()| transaction::opening(kind, new.amount, account.minimum))
        .map_err(|refusal| parties.refuse(kind, &refusal))?;
    parties.check_currency(tx)?;
    let charges = account.charges(tx, kind, new.amount)?;
    let total_amount = new.amount.plus(Amount::sum(charges.iter().map(|charge| charge.amount)));
    let identifier = random::hex_at::<10>(tx.now());
    let transaction = Transaction {
        identifier: identifier.clone(),
        transaction_type: kind,
        transaction_date: new.transaction_date.unwrap_or(tx.now()),
        customer_identifier: new.customer_identifier.clone(),
        product_identifier: new.product_identifier.clone(),
        customer_account_identifier: account.identifier,
        target_account_identifier: target.map(|target| target.identifier),
        clerk: new.clerk.clone().unwrap_or_else(|| caller.name.clone()),
        amount: new.amount,
        total_amount,
        charges: charges.clone(),
        charges_included: None,
        state: TransactionState::Pending,
        created_on: tx.now(),
        finished_on: None,
    };
    let dated = new.transaction_date == Some(transaction.created_on);
    add(tx, &at.teller, transaction, dated)?;
    Ok(Json(TransactionQuote { teller_transaction_identifier: identifier, total_amount, charges }))
}

/// Stores a new transaction under the next number of its teller.
fn add(tx: &mut Tx<'_>, teller: &str, transaction: Transaction, dated: bool) -> Result<(), Fault> {
    let number = tx.get::<TransactionCounter>(&[teller])?.map_or(0, |counter| counter.last) + 1;
    pending::check_room(tx, teller, number)?;
    tx.add(&TransactionCounter { teller: teller.to_owned(), last: number });
    let identifier = transaction.identifier.clone();
    tx.add(&TransactionPlace { identifier, teller: teller.to_owned(), number });
    tx.add(&StoredTransaction { teller: teller.to_owned(), number, sequence: None, dated, transaction });
    Ok(())
}

/// The transaction with this identifier, at whichever teller.
pub(super) fn find_transaction(
    tx: &mut Tx<'_>,
    identifier: &str,
) -> Result<Option<StoredTransaction>, Fault> {
    match tx.get::<TransactionPlace>(&[identifier])? {
        Some(place) => tx.at(&StoredTransaction::at(&place.teller, place.number)),
        None => Ok(None),
    }
}

/// Announces that transactions will be looked for.
pub(super) fn expect_transactions(
    tx: &mut Tx<'_>,
    identifiers: impl Iterator<Item = String>,
) -> Result<(), Fault> {
    let places = tx.fetch::<TransactionPlace>(identifiers.map(|identifier| key(&[&identifier])).collect())?;
    let keys: Vec<_> =
        places.iter().map(|place| StoredTransaction::at(&place.teller, place.number)).collect();
    tx.expect(StoredTransaction::SPACE, &keys)
}

/// `GET /teller/{teller}/transactions/{transaction}`
pub fn get(
    tx: &mut Tx<'_>,
    _: &Caller,
    at: &GetTransaction,
    _: &Nothing,
) -> Result<Stored<Transaction>, Fault> {
    let place = tx.get::<TransactionPlace>(&[&at.transaction])?.filter(|place| place.teller == at.teller);
    let Some(place) = place else {
        find(tx, &at.teller)?;
        return Err(not_found(&at.transaction));
    };
    let stored = tx.value(StoredTransaction::SPACE, &StoredTransaction::at(&place.teller, place.number))?;
    let shown = stored.and_then(StoredTransaction::shown);
    shown.map(Stored::new).ok_or_else(|| not_found(&at.transaction))
}

pub(super) fn not_found(transaction: &str) -> Fault {
    Fault::new(fault::TRANSACTION_NOT_FOUND, format!("there is no transaction \"{transaction}\""))
}

/// `GET /teller/{teller}/transactions`
pub fn list(
    tx: &mut Tx<'_>,
    _: &Caller,
    at: &ListTransactions,
    Query(query): &Query<TransactionQuery>,
) -> Result<Rows<StoredTransaction, Transaction>, Fault> {
    find(tx, &at.teller)?;
    let shown = |_: &mut Tx<'_>, stored: StoredTransaction| Ok(stored.transaction);
    let listed = match query.status {
        Some(TransactionState::Pending) => Rows::indexed(TRANSACTIONS_PENDING, &[&at.teller], shown),
        Some(TransactionState::Canceled) => Rows::keyed(cancelled::keys(tx, &at.teller)?, shown),
        _ => Rows::all(&[&at.teller], shown),
    };
    Ok(match query.status {
        None => listed,
        Some(status) => listed.only(move |stored: &StoredTransaction| stored.transaction.state == status),
    })
}

/// Announces what a new transaction looks at, since its account may not have been seen for long.
fn announce(tx: &mut Tx<'_>, teller: &Teller, new: &NewTransaction) -> Result<(), Fault> {
    let named = [Some(&new.customer_account_identifier), new.target_account_identifier.as_ref()];
    let account =
        |name: &String| [StoredInstance::SPACE, LedgerAccount::SPACE].map(|space| (space, key(&[name])));
    let mut places: Vec<_> = named.into_iter().flatten().flat_map(account).collect();
    places.push((LedgerAccount::SPACE, key(&[&teller.teller_account_identifier])));
    places.push((TransactionCounter::SPACE, key(&[&teller.code])));
    tx.expect_places(&places)
}

/// The accounts that a transaction names, if they are the ones that it says they are.
fn named(
    tx: &mut Tx<'_>,
    new: &NewTransaction,
) -> Result<(AccountAtCounter, Option<AccountAtCounter>), Fault> {
    let mut unknown = Unknown::default();
    unknown.look::<Definition>(tx, "/productIdentifier", "product", &new.product_identifier)?;
    let account = accounts::find(tx, &new.customer_account_identifier)?;
    let name = &new.customer_account_identifier;
    unknown.note(account.is_some(), "/customerAccountIdentifier", "account", name);
    let mut target = None;
    if let Some(name) = &new.target_account_identifier {
        target = accounts::find(tx, name)?;
        unknown.note(target.is_some(), "/targetAccountIdentifier", "account", name);
    }
    let Some(account) = account.filter(|_| unknown.is_none()) else { return Err(unknown.fault()) };
    let contradiction = |detail: String| Err(Fault::new(fault::CONTRADICTS_ACCOUNT, detail));
    let identifier = &account.identifier;
    if account.product != new.product_identifier {
        return contradiction(format!("account {identifier} is of product {}", account.product));
    }
    if account.customer != new.customer_identifier {
        return contradiction(format!("account {identifier} belongs to customer {}", account.customer));
    }
    if target.as_ref().is_some_and(|target| target.identifier == *identifier) {
        return contradiction(format!("account {identifier} cannot transfer to itself"));
    }
    Ok((account, target))
}

/// No amount is finer than the smallest one of its currency. A target of another currency does not count: no
/// amount is right for that one, which is said later.
fn check_amount(
    amount: Amount,
    account: &AccountAtCounter,
    target: Option<&AccountAtCounter>,
) -> Result<(), Fault> {
    let target = target.filter(|target| target.ledger.currency == account.ledger.currency);
    let scale = target.map_or(account.scale, |target| account.scale.min(target.scale));
    if amount.fraction_digits() <= scale {
        return Ok(());
    }
    let what = format!("must have at most {scale} fraction digits");
    Err(Fault::field("/amount", "too_many_decimals", &what))
}

/// A type of transaction in words, with its code.
fn in_words(kind: TransactionType) -> &'static str {
    match kind {
        TransactionType::Acco => "an account opening (ACCO)",
        TransactionType::Accc => "an account closing (ACCC)",
        TransactionType::Acct => "a transfer (ACCT)",
        TransactionType::Cdpt => "a cash deposit (CDPT)",
        TransactionType::Cwdl => "a cash withdrawal (CWDL)",
    }
}

/// Who takes part in a transaction.
pub(super) struct Parties<'a> {
    /// The teller.
    pub teller: &'a Teller,
    /// The account.
    pub account: &'a AccountAtCounter,
    /// The account that receives a transfer.
    pub target: Option<&'a AccountAtCounter>,
}

impl Parties<'_> {
    /// Drawer, account and target have one currency, also where nothing touches one of them.
    pub fn check_currency(&self, tx: &mut Tx<'_>) -> Result<(), Fault> {
        let drawer = tx.get::<LedgerAccount>(&[&self.teller.teller_account_identifier])?;
        let target = self.target.map(|target| &target.ledger);
        ledger::join_currencies(drawer.iter().chain([&self.account.ledger]).chain(target)).map(|_| ())
    }

    /// The fault of a check that failed.
    pub fn refuse(&self, kind: TransactionType, refusal: &Refusal) -> Fault {
        let account = &self.account.identifier;
        let code = &self.teller.code;
        let target = self.target.map_or("", |target| &target.identifier);
        let kind = in_words(kind);
        let (kind, detail) = match refusal {
            Refusal::AccountState { stands, needed } => {
                (fault::WRONG_STATE, format!("account {account} is {stands}; {kind} needs it {needed}"))
            }
            Refusal::TargetState(stands) => {
                (fault::WRONG_STATE, format!("account {target} is {stands}; {kind} needs it ACTIVE"))
            }
            Refusal::OverLimit(limit) => {
                (fault::OVER_CASHDRAW_LIMIT, format!("teller {code} pays out at most {limit} at once"))
            }
            Refusal::Balance { taken, present } => (
                fault::INSUFFICIENT_BALANCE,
                format!("account {account} would have {present}, and {taken} is taken from it"),
            ),
            Refusal::Remaining(left) => {
                (fault::REMAINING_BALANCE, format!("{left} would remain on account {account}"))
            }
            Refusal::Minimum { left, minimum } => (
                fault::BELOW_MINIMUM_BALANCE,
                format!("account {account} would have {left}, and its product asks for {minimum}"),
            ),
            Refusal::Cash { paid, present } => (
                fault::INSUFFICIENT_CASH,
                format!("the drawer of teller {code} would have {present}, and {paid} is paid out"),
            ),
        };
        Fault::new(kind, detail)
    }
}
