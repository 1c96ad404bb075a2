//! Accounts of customers, as the counter looks at them.

use crate::domain::transaction::{AccountStage, charge};
use crate::ops::{Caller, actions, instances, interest};
use crate::store::Tx;
use crate::store::records::StoredInstance;
use mfa_shared::amount::Amount;
use mfa_shared::api::definitions::{Charge, Definition};
use mfa_shared::api::instances::InstanceState;
use mfa_shared::api::ledger::LedgerAccount;
use mfa_shared::api::tellers::{TransactionCharge, TransactionType};
use mfa_shared::fault::{self, Fault};
use mfa_shared::time::Timestamp;

/// An account with what its product says about it.
#[derive(Debug)]
pub(super) struct AccountAtCounter {
    /// Its identifier.
    pub identifier: String,
    /// The customer.
    pub customer: String,
    /// The product.
    pub product: String,
    /// Its stage.
    pub stage: AccountStage,
    /// Its account in the ledger.
    pub ledger: LedgerAccount,
    /// Minimum balance of the product.
    pub minimum: Amount,
    /// Fraction digits of the smallest amount of its currency.
    pub scale: u32,
    charges: Vec<Charge>,
    pub(super) instance: StoredInstance,
}

impl AccountAtCounter {
    /// What a transaction of the account is charged at this moment, in the order of the product. The type
    /// of an action is compared without regard to letter case.
    pub fn charges(
        &self,
        tx: &mut Tx<'_>,
        kind: TransactionType,
        amount: Amount,
    ) -> Result<Vec<TransactionCharge>, Fault> {
        let mut found = Vec::new();
        for tariff in &self.charges {
            if !actions::is_for_type(tx, &tariff.action_identifier, kind.as_str())? {
                continue;
            }
            let amount = charge(amount, tariff.amount, tariff.proportional, self.scale);
            if !amount.is_zero() {
                found.push(TransactionCharge {
                    code: tariff.action_identifier.clone(),
                    income_account_identifier: tariff.income_account_identifier.clone(),
                    name: tariff.name.clone(),
                    amount,
                });
            }
        }
        Ok(found)
    }
}

/// The account with this identifier or alternative number.
pub(super) fn find(tx: &mut Tx<'_>, number: &str) -> Result<Option<AccountAtCounter>, Fault> {
    let Some(instance) = instances::find_by_any_number(tx, number)? else { return Ok(None) };
    let product = &instance.product_identifier;
    // Both stay as long as there is the instance.
    let gone = |what: &str| Fault::new(fault::INTERNAL, format!("{what} of account {number} is gone"));
    let definition = tx.get::<Definition>(&[product])?.ok_or_else(|| gone("the product"))?;
    let ledger = tx.get::<LedgerAccount>(&[&instance.account_identifier])?;
    Ok(Some(AccountAtCounter {
        identifier: instance.account_identifier.clone(),
        customer: instance.customer_identifier.clone(),
        product: instance.product_identifier.clone(),
        stage: match instance.state {
            InstanceState::Pending => AccountStage::Pending,
            InstanceState::Active => AccountStage::Active,
            InstanceState::Closed => AccountStage::Closed,
        },
        ledger: ledger.ok_or_else(|| gone("the ledger account"))?,
        minimum: definition.minimum_balance,
        scale: u32::try_from(definition.currency.scale).unwrap_or_default(),
        charges: definition.charges,
        instance,
    }))
}

/// Makes the account ACTIVE at the moment of its first posting.
pub(super) fn open(tx: &mut Tx<'_>, account: &AccountAtCounter, posted_on: Timestamp) -> Result<(), Fault> {
    let mut instance = account.instance.clone();
    instance.open(posted_on);
    tx.put(&instance)
}

/// Makes the account CLOSED at the moment of its last posting; no posting follows.
pub(super) fn close(
    tx: &mut Tx<'_>,
    caller: &Caller,
    account: &AccountAtCounter,
    posted_on: Timestamp,
) -> Result<(), Fault> {
    let mut instance = account.instance.clone();
    interest::give_up(tx, &instance, &caller.name)?;
    instance.close(posted_on);
    tx.put(&instance)
}
