//! How accounts come into being: a definition, an instance or a teller names them.

use crate::domain::ledger::{kind_of_product, kind_of_role};
use crate::store::Tx;
use crate::store::records::INSTANCES_BY_NUMBER;
use mfa_shared::amount::Amount;
use mfa_shared::api::definitions::ProductType;
use mfa_shared::api::ledger::{AccountKind, AccountRole, LedgerAccount, NewLedgerAccount};
use mfa_shared::fault::{self, Fault};
use mfa_shared::time::Timestamp;

/// Names an account in a role, with the field that names it. It comes into being with the kind of the
/// role; one that is there keeps its kind. An account of a customer can never be named, and with strict
/// references neither can one of another kind, nor (by a teller) one that is not there.
#[expect(clippy::expect_used, reason = "accounts of customers are made by `name_customer_account` only")]
pub fn name_account(tx: &mut Tx<'_>, field: &str, identifier: &str, role: AccountRole) -> Result<(), Fault> {
    let kind = kind_of_role(role).expect("no field names an account in the role of a customer");
    let Some(account) = tx.get::<LedgerAccount>(&[identifier])? else {
        if tx.strict_references() && named_by_teller(role) {
            return Err(Fault::unknown_reference(field, "ledger account", identifier));
        }
        if tx.any(INSTANCES_BY_NUMBER, &[identifier])? {
            let detail =
                format!("{field} names {identifier}, the alternative number of a customer's account");
            return Err(Fault::about(fault::ACCOUNT_KIND_MISMATCH, field, detail));
        }
        return tx.put(&LedgerAccount { role: Some(role), ..fresh(identifier, kind, tx.now()) });
    };
    if account.role == Some(AccountRole::Customer) {
        let detail = format!("{field} names {identifier}, which is the account of a customer");
        return Err(Fault::about(fault::ACCOUNT_KIND_MISMATCH, field, detail));
    }
    if tx.strict_references() && account.kind != kind {
        let detail = format!("{field} names {identifier}, which is {} and not {kind}", account.kind);
        return Err(Fault::about(fault::ACCOUNT_KIND_MISMATCH, field, detail));
    }
    Ok(())
}

fn named_by_teller(role: AccountRole) -> bool {
    use AccountRole::*;
    matches!(role, Drawer | Vault | ChequesReceivable | OverShort)
}

/// What the account of a customer is made from.
#[derive(Debug, Clone, Copy)]
pub struct CustomerAccount<'a> {
    /// The generated identifier, which no account has yet.
    pub identifier: &'a str,
    /// The customer.
    pub customer: &'a str,
    /// Type of the product.
    pub product: ProductType,
    /// Name of the product.
    pub name: &'a str,
    /// The group of accounts to which those of the product belong.
    pub ledger: &'a str,
    /// Currency code of the product.
    pub currency: &'a str,
}

/// Makes the ledger account of a product instance.
pub fn name_customer_account(tx: &mut Tx<'_>, new: CustomerAccount<'_>) -> Result<(), Fault> {
    let account = LedgerAccount {
        name: Some(new.name.to_owned()),
        role: Some(AccountRole::Customer),
        ledger_identifier: Some(new.ledger.to_owned()),
        customer_identifier: Some(new.customer.to_owned()),
        currency: Some(new.currency.to_owned()),
        ..fresh(new.identifier, kind_of_product(new.product), tx.now())
    };
    tx.put(&account)
}

/// Adds an account beforehand, on the machine itself.
pub fn add_account(tx: &mut Tx<'_>, new: &NewLedgerAccount) -> Result<LedgerAccount, Fault> {
    let identifier = &new.identifier;
    let taken = |detail: String| Err(Fault::new(fault::IDENTIFIER_TAKEN, detail));
    if tx.has::<LedgerAccount>(&[identifier])? {
        return taken(format!("there is a ledger account \"{identifier}\" already"));
    }
    if tx.any(INSTANCES_BY_NUMBER, &[identifier])? {
        return taken(format!("\"{identifier}\" is the alternative number of an account already"));
    }
    let account = fresh(identifier, new.kind, tx.now());
    tx.put(&account)?;
    Ok(account)
}

fn fresh(identifier: &str, kind: AccountKind, now: Timestamp) -> LedgerAccount {
    LedgerAccount {
        identifier: identifier.to_owned(),
        name: None,
        kind,
        role: None,
        ledger_identifier: None,
        customer_identifier: None,
        currency: None,
        balance: Amount::ZERO,
        debit_total: Amount::ZERO,
        credit_total: Amount::ZERO,
        created_on: now,
        last_entry_on: None,
    }
}
