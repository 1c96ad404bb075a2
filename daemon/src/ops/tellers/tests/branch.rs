//! A branch over a store of a map: three tellers, two products, and the operations as they are called.

use crate::ops::ledger::tests::memory::Memory;
use crate::ops::secret::Judged;
use crate::ops::{Caller, ledger, tellers};
use crate::store::Tx;
use crate::store::records::{Audit, StoredAction, StoredInstance, StoredOffice};
use mfa_shared::amount::Amount;
use mfa_shared::api::actions::Action;
use mfa_shared::api::definitions::{Charge, Currency, Definition, InterestPayable, ProductType, Term};
use mfa_shared::api::instances::InstanceState;
use mfa_shared::api::ledger::AccountRole;
use mfa_shared::api::tellers::*;
use mfa_shared::fault::Fault;
use mfa_shared::wire::{Form, Json};
use rust_decimal::Decimal;

/// A product: identifier, minimum in cents, and its charges: action, whether it is in percent, and how much.
struct Product {
    identifier: &'static str,
    minimum: i64,
    charges: &'static [(&'static str, bool, i64)],
}

const PRODUCTS: [Product; 2] = [
    Product {
        identifier: "saver",
        minimum: 10_000,
        charges: &[
            ("Open", false, 500),
            ("Deposit", false, 150),
            ("Withdraw", true, 300),
            ("Withdraw", false, 1),
            ("Transfer", true, 125),
        ],
    },
    Product { identifier: "plain", minimum: 0, charges: &[] },
];

/// Cents as an amount.
pub fn cents(cents: i64) -> Amount {
    Amount(Decimal::new(cents, 2))
}

/// The office of the branch.
fn office() -> String {
    "accra".to_owned()
}

pub fn code(teller: usize) -> String {
    format!("T{teller}")
}

pub fn account(number: usize) -> String {
    format!("anna.9100.{number:05}")
}

pub struct Branch {
    pub store: Memory,
    caller: Caller,
    /// Identifiers of the transactions, in the order of their creation.
    pub transactions: Vec<String>,
}

/// What is known about the right PIN before the transaction; no test of money waits for a hash.
fn judged() -> Judged {
    Judged { hash: Some("hash".to_owned()), fits: Some("hash".to_owned()) }
}

impl Branch {
    pub fn new() -> Self {
        let mut store = Memory::new();
        let caller = Caller::guest();
        store.write(|tx| set_up(tx, &caller)).unwrap();
        Self { store, caller, transactions: Vec::new() }
    }

    pub fn new_account(&mut self, number: usize, product: usize) {
        let (identifier, product) = (account(number), &PRODUCTS[product]);
        self.store
            .write(|tx| {
                let new = ledger::CustomerAccount {
                    identifier: &identifier,
                    customer: "anna",
                    product: ProductType::Savings,
                    name: product.identifier,
                    ledger: "9100",
                    currency: "USD",
                };
                ledger::name_customer_account(tx, new)?;
                tx.put(&StoredInstance {
                    account_identifier: identifier.clone(),
                    customer_identifier: "anna".to_owned(),
                    product_identifier: product.identifier.to_owned(),
                    alternative_account_number: None,
                    beneficiaries: Vec::new(),
                    opened_on: None,
                    transaction_command_on: None,
                    closed_on: None,
                    state: InstanceState::Pending,
                })
            })
            .unwrap();
    }

    /// Opens or closes; above 0 cash comes from the vault, below 0 it goes there.
    pub fn command(&mut self, action: TellerAction, teller: usize, employee: usize, amount: i64) {
        let adjustment = match amount {
            1.. => Adjustment::Debit,
            0 => Adjustment::None,
            _ => Adjustment::Credit,
        };
        let (amount, employee) = (cents(amount.abs()), Some(format!("emp{employee}")));
        let command = TellerCommand { action, adjustment, amount, assigned_employee_identifier: employee };
        let at = CommandTeller { office: office(), teller: code(teller) };
        let caller = &self.caller;
        self.store.write(|tx| tellers::command(tx, caller, &at, &Json(command))).unwrap();
    }

    pub fn unlock(&mut self, teller: usize, employee: usize) {
        let request =
            DrawerUnlock { employee_identifier: format!("emp{employee}"), password: "1234".to_owned() };
        let at = UnlockDrawer { teller: code(teller) };
        let caller = &self.caller;
        self.store.write(|tx| tellers::unlock(tx, caller, &at, &Json(request), &judged())).unwrap();
    }

    pub fn pause(&mut self, teller: usize) {
        let (at, form) =
            (PauseTeller { teller: code(teller) }, TellerForm { command: TellerCommandWord::Pause });
        let caller = &self.caller;
        self.store.write(|tx| tellers::pause(tx, caller, &at, &Form(form))).unwrap();
    }

    pub fn count(&mut self, teller: usize, total: i64) {
        let at = CreateDenomination { office: office(), teller: code(teller) };
        let new = NewDenomination { counted_total: cents(total), note: None, adjusting_journal_entry: None };
        let caller = &self.caller;
        self.store.write(|tx| tellers::create_denomination(tx, caller, &at, &Json(new))).unwrap();
    }

    pub fn change(&mut self, teller: usize, limit: i64, drawer: &str) {
        let at = UpdateTeller { office: office(), teller: code(teller) };
        let change = TellerChange {
            code: code(teller),
            password: "1234".to_owned(),
            cashdraw_limit: Some(cents(limit)),
            teller_account_identifier: Some(drawer.to_owned()),
            vault_account_identifier: None,
            cheques_receivable_account: None,
            cash_over_short_account: None,
            denomination_required: None,
            assigned_employee: None,
        };
        let caller = &self.caller;
        self.store.write(|tx| tellers::update(tx, caller, &at, &Json(change), &judged())).unwrap();
    }

    pub fn create(
        &mut self,
        teller: usize,
        kind: &str,
        (number, product): (usize, usize),
        target: usize,
        amount: i64,
    ) {
        let new = NewTransaction {
            transaction_type: kind.to_owned(),
            transaction_date: None,
            customer_identifier: "anna".to_owned(),
            product_identifier: PRODUCTS[product].identifier.to_owned(),
            customer_account_identifier: account(number),
            target_account_identifier: (kind == "ACCT").then(|| account(target)),
            clerk: None,
            amount: cents(amount),
        };
        let at = CreateTransaction { teller: code(teller) };
        let caller = &self.caller;
        let quoted = self.store.write(|tx| tellers::create_transaction(tx, caller, &at, &Json(new)));
        self.transactions.push(quoted.unwrap().0.teller_transaction_identifier);
    }

    pub fn finish(&mut self, teller: usize, transaction: usize, confirm: bool, included: bool) {
        let transaction = self.transactions[transaction].clone();
        let at = FinishTransaction { teller: code(teller), transaction };
        let command = match confirm {
            true => TransactionCommandWord::Confirm,
            false => TransactionCommandWord::Cancel,
        };
        let charges = if included { ChargesWord::Included } else { ChargesWord::Excluded };
        let caller = &self.caller;
        let form = Form(TransactionForm { command, charges });
        self.store.write(|tx| tellers::finish(tx, caller, &at, &form)).unwrap();
    }
}

fn set_up(tx: &mut Tx<'_>, caller: &Caller) -> Result<(), Fault> {
    tx.put(&StoredOffice {
        identifier: office(),
        name: "Accra".to_owned(),
        description: None,
        parent_identifier: None,
        address: None,
        audit: Audit::new("test", tx.now()),
    })?;
    let actions = [
        ("Open", "ACCO"),
        ("Transfer", "ACCT"),
        ("Close", "ACCC"),
        ("Deposit", "CDPT"),
        ("Withdraw", "CWDL"),
    ];
    for (number, (identifier, kind)) in (1..).zip(actions) {
        let (identifier, transaction_type) = (identifier.to_owned(), kind.to_owned());
        let action = Action { name: identifier.clone(), identifier, description: None, transaction_type };
        tx.put(&StoredAction { number, action })?;
    }
    for product in &PRODUCTS {
        tx.put(&definition(product))?;
        ledger::name_account(tx, "/income", "income", AccountRole::Income)?;
    }
    for teller in 0..3 {
        let new = NewTeller {
            code: code(teller),
            password: "1234".to_owned(),
            cashdraw_limit: cents(100_000),
            teller_account_identifier: format!("drawer-{teller}"),
            vault_account_identifier: "vault".to_owned(),
            cheques_receivable_account: "cheques".to_owned(),
            cash_over_short_account: "over-short".to_owned(),
            denomination_required: teller == 2,
            assigned_employee: None,
        };
        let at = CreateTeller { office: office() };
        tellers::create(tx, caller, &at, &Json(new), &judged())?;
    }
    Ok(())
}

fn definition(product: &Product) -> Definition {
    let charge = |(place, (action, proportional, amount)): (usize, &(&str, bool, i64))| Charge {
        action_identifier: (*action).to_owned(),
        income_account_identifier: "income".to_owned(),
        name: format!("charge {place}"),
        description: None,
        proportional: *proportional,
        amount: cents(*amount),
    };
    Definition {
        r#type: ProductType::Savings,
        identifier: product.identifier.to_owned(),
        name: product.identifier.to_owned(),
        description: None,
        currency: Currency {
            code: "USD".to_owned(),
            name: "Currency".to_owned(),
            sign: "$".to_owned(),
            scale: 2,
        },
        minimum_balance: cents(product.minimum),
        equity_ledger_identifier: "9100".to_owned(),
        cash_account_identifier: "7300".to_owned(),
        expense_account_identifier: "3900".to_owned(),
        accrue_account_identifier: Some("8100".to_owned()),
        interest: None,
        term: Term { period: None, time_unit: None, interest_payable: InterestPayable::Maturity },
        charges: product.charges.iter().enumerate().map(charge).collect(),
        flexible: false,
        active: true,
    }
}
