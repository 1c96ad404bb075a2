//! Compares interest and dividends with the journal: what must hold after any history (`interest.md`
//! section 2).

use crate::domain::interest::rounded;
use crate::domain::ledger::{ACCRUAL, DIVIDEND, GIVEN_UP, INTEREST_TYPES, PAYMENT};
use crate::store::Tx;
use crate::store::check::Finding;
use crate::store::engine::Range;
use crate::store::record::{Record, key, prefix};
use crate::store::records::{
    ProductInterest, RunPhase, StoredDividend, StoredEntry, StoredInstance, StoredInterest, StoredPayment,
    StoredRun,
};
use crate::store::tx::decode;
use mfa_shared::amount::Amount;
use mfa_shared::api::definitions::Definition;
use mfa_shared::api::instances::InstanceState;
use mfa_shared::api::interest::RunOutcome;
use mfa_shared::api::ledger::{AccountRole, JournalEntry, JournalLine, Side};
use mfa_shared::fault::Fault;
use mfa_shared::time::Date;
use std::collections::{BTreeMap, BTreeSet};

/// Accounts that are asked for at once.
const STEP: usize = 256;

/// Announces what is compared with the interest of accounts.
fn expect_accounts(tx: &mut Tx<'_>, all: &[StoredInterest]) -> Result<(), Fault> {
    let accounts: Vec<_> = all.iter().map(|kept| key(&[&kept.account])).collect();
    let payments = |kept: &StoredInterest| (StoredPayment::SPACE, Range::prefix(&prefix(&[&kept.account])));
    tx.expect_ranges(&all.iter().map(payments).collect::<Vec<_>>())?;
    tx.expect(StoredInstance::SPACE, &accounts)
}

/// What the journal says.
#[derive(Debug, Default)]
struct Journal {
    /// INTA of each day of a product.
    accrued: BTreeMap<(String, Date), Amount>,
    /// INTP and INTF of each account.
    paid: BTreeMap<String, Amount>,
    given_up: BTreeMap<String, Amount>,
    /// DIVD of each due date of a product.
    dividends: BTreeMap<(String, Date), Amount>,
    /// Credits minus debits of the lines with the role PRODUCT_ACCRUE, by account of the ledger.
    accrue_lines: BTreeMap<String, Amount>,
    findings: Vec<Finding>,
}

/// What the days of the products say.
#[derive(Debug, Default)]
struct Days {
    /// What each product accrued.
    accrued: BTreeMap<String, Amount>,
    /// How much of it is of days that are not booked yet.
    unbooked: BTreeMap<String, Amount>,
    /// Closed accounts that are to give up what they accrued when their day is booked.
    give_up: BTreeSet<String>,
}

/// What the records of one product sum to.
#[derive(Debug, Default)]
struct Sums {
    accruals: Amount,
    paid: Amount,
    given_up: Amount,
}

fn add<K: Ord>(sums: &mut BTreeMap<K, Amount>, key: K, amount: Amount) {
    let sum = sums.entry(key).or_default();
    *sum = sum.plus(amount);
}

fn of<K: Ord>(sums: &BTreeMap<K, Amount>, key: &K) -> Amount {
    sums.get(key).copied().unwrap_or_default()
}

/// Everything that does not hold of interest and dividends.
pub fn check_interest(tx: &mut Tx<'_>) -> Result<Vec<Finding>, Fault> {
    let mut journal = Journal::default();
    let mut entries = Vec::new();
    tx.walk(StoredEntry::SPACE, Range::prefix(&[]), &mut |_, value| {
        let StoredEntry { entry, .. } = decode(StoredEntry::SPACE, value)?;
        let accrues = entry.lines.iter().any(|line| line.role == AccountRole::ProductAccrue);
        if accrues || INTEREST_TYPES.contains(&entry.r#type.as_str()) {
            entries.push(entry);
        }
        Ok(true)
    })?;
    for entry in &entries {
        journal.read(tx, entry)?;
    }
    let days = journal.compare_days(tx)?;
    let accounts = journal.compare_accounts(tx, &days)?;
    journal.compare_products(tx, &accounts, &days)?;
    journal.compare_dividends(tx)?;
    Ok(journal.findings)
}

impl Journal {
    fn find(&mut self, subject: String, detail: String) {
        self.findings.push(Finding { subject, detail });
    }

    fn read(&mut self, tx: &mut Tx<'_>, entry: &JournalEntry) -> Result<(), Fault> {
        let subject = || format!("entry {}", entry.sequence);
        let day = entry.transaction_date.day();
        let about = entry.message.clone();
        let amount = entry.lines.first().map_or(Amount::ZERO, |line| line.amount);
        for line in entry.lines.iter().filter(|line| line.role == AccountRole::ProductAccrue) {
            let amount = if line.side == Side::Credit { line.amount } else { line.amount.negated() };
            add(&mut self.accrue_lines, line.account_identifier.clone(), amount);
        }
        if !has_its_lines(entry) {
            self.find(subject(), format!("is of type {} and has other lines", entry.r#type));
        }
        match entry.r#type.as_str() {
            ACCRUAL => {
                if self.accrued.insert((about.clone(), day), amount).is_some() {
                    self.find(subject(), format!("books the interest of {about} for {day} again"));
                }
            }
            PAYMENT => add(&mut self.paid, about, amount),
            GIVEN_UP => add(&mut self.given_up, about, amount),
            DIVIDEND => match tx.get::<StoredInstance>(&[&about])? {
                Some(instance) => add(&mut self.dividends, (instance.product_identifier, day), amount),
                None => {
                    let detail = format!("is about {about}, which is not an account of a customer");
                    self.find(subject(), detail);
                }
            },
            other => self.find(subject(), format!("is of type {other} and moves accrued interest")),
        }
        Ok(())
    }

    /// Each account has accrued, been paid and given up what its records and the journal say.
    fn compare_accounts(&mut self, tx: &mut Tx<'_>, days: &Days) -> Result<BTreeMap<String, Sums>, Fault> {
        let mut products: BTreeMap<String, Sums> = BTreeMap::new();
        let mut seen = BTreeSet::new();
        let all = tx.all::<StoredInterest>(&[])?;
        for (at, kept) in all.iter().enumerate() {
            if at % STEP == 0 {
                expect_accounts(tx, &all[at..all.len().min(at + STEP)])?;
            }
            let subject = format!("interest of {}", kept.account);
            let Some(instance) = tx.get::<StoredInstance>(&[&kept.account])? else {
                self.find(subject, "belongs to no account of a customer".to_owned());
                continue;
            };
            let listed = tx.all::<StoredPayment>(&[&kept.account])?;
            let listed = Amount::sum(listed.iter().map(|stored| stored.payment.amount));
            for (what, stored, found) in [
                ("paid", kept.paid, of(&self.paid, &kept.account)),
                ("paid", kept.paid, listed),
                ("given up", kept.given_up, of(&self.given_up, &kept.account)),
            ] {
                if stored != found {
                    let detail = format!("has {stored} {what}, its entries sum to {found}");
                    self.find(subject.clone(), detail);
                }
            }
            let product = tx.get::<Definition>(&[&instance.product_identifier])?;
            let scale = product.map_or(0, |product| product.currency.scale);
            let left = rounded(kept.accrued(), scale);
            let closed = instance.state == InstanceState::Closed && !days.give_up.contains(&kept.account);
            if closed && left > Amount::ZERO {
                self.find(subject, format!("is {left}, and its account is closed: it was not given up"));
            }
            let sums = products.entry(instance.product_identifier).or_default();
            sums.accruals = sums.accruals.plus(kept.accruals);
            sums.paid = sums.paid.plus(kept.paid);
            sums.given_up = sums.given_up.plus(kept.given_up);
            seen.insert(kept.account.clone());
        }
        let moved = self.paid.keys().chain(self.given_up.keys());
        let unknown: BTreeSet<_> = moved.filter(|account| !seen.contains(*account)).cloned().collect();
        for account in unknown {
            self.find(format!("account {account}"), "was paid interest that it did not accrue".to_owned());
        }
        Ok(products)
    }

    /// Each day has booked what its entry says, and one that was left out has accrued nothing.
    fn compare_days(&mut self, tx: &mut Tx<'_>) -> Result<Days, Fault> {
        let mut days = Days::default();
        for row in tx.all::<StoredRun>(&[])? {
            let run = &row.run;
            let key = (run.product_identifier.clone(), run.date);
            add(&mut days.accrued, run.product_identifier.clone(), run.accrued);
            if !row.is_done() && matches!(row.phase, RunPhase::Accrue | RunPhase::Book) {
                add(&mut days.unbooked, run.product_identifier.clone(), run.accrued);
            }
            if row.is_cut_short() {
                self.find(format!("run {} of {}", key.1, key.0), missing(&row));
            }
            if run.outcome == RunOutcome::Failed && !run.accrued.is_zero() {
                let detail = format!(
                    "is listed as left out, but {} is accrued of it and not booked; correct the accounts of \
                     product {}, then: mfa interest run",
                    run.accrued, key.0
                );
                self.find(format!("run {} of {}", key.1, key.0), detail);
            }
            let booked = of(&self.accrued, &key);
            if booked != run.booked {
                let subject = format!("run {} of {}", key.1, key.0);
                let kept = run.booked;
                self.find(subject, format!("says that {kept} was booked, its entry says {booked}"));
            }
            days.give_up.extend(row.give_up);
        }
        Ok(days)
    }

    /// Each product has accrued what its accounts and its days have, and booked that, rounded.
    fn compare_products(
        &mut self,
        tx: &mut Tx<'_>,
        accounts: &BTreeMap<String, Sums>,
        days: &Days,
    ) -> Result<(), Fault> {
        let nothing = Sums::default();
        let mut booked: BTreeMap<String, Amount> = BTreeMap::new();
        self.accrued.iter().for_each(|((product, _), amount)| add(&mut booked, product.clone(), *amount));
        let kept: BTreeMap<_, _> =
            tx.all::<ProductInterest>(&[])?.into_iter().map(|kept| (kept.product.clone(), kept)).collect();
        let named = kept.keys().chain(booked.keys()).chain(days.accrued.keys()).chain(accounts.keys());
        let named: BTreeSet<String> = named.cloned().collect();
        let mut expected: BTreeMap<String, Amount> = BTreeMap::new();
        for product in named {
            let subject = format!("interest of product {product}");
            let (accruals, sum) =
                kept.get(&product).map_or_else(Default::default, |k| (k.accruals, k.booked));
            let sums = accounts.get(&product).unwrap_or(&nothing);
            let mut hold = |what: &str, kept: Amount, found: Amount| {
                if kept != found {
                    self.find(subject.clone(), format!("has {kept} {what} {found}"));
                }
            };
            hold("accrued, its accounts have", accruals, sums.accruals);
            hold("accrued, its days have", accruals, of(&days.accrued, &product));
            hold("booked, its entries sum to", sum, of(&booked, &product));
            let Some(definition) = tx.get::<Definition>(&[&product])? else { continue };
            // Of a day that is under way nothing is booked yet, unless it was cut short and a later one was.
            let due = |accruals| rounded(accruals, definition.currency.scale);
            let least = due(accruals.minus(of(&days.unbooked, &product)));
            if sum < least || sum > due(accruals) {
                hold("booked and not the rounded", sum, due(accruals));
            }
            if let Some(account) = definition.accrue_account_identifier {
                add(&mut expected, account, sum.minus(sums.paid).minus(sums.given_up));
            }
        }
        let accounts: BTreeSet<String> = expected.keys().chain(self.accrue_lines.keys()).cloned().collect();
        for account in accounts {
            let due = of(&expected, &account);
            let found = of(&self.accrue_lines, &account);
            if due != found {
                let detail = format!("holds {found} of accrued interest, its products account for {due}");
                self.find(format!("account {account}"), detail);
            }
        }
        Ok(())
    }

    fn compare_dividends(&mut self, tx: &mut Tx<'_>) -> Result<(), Fault> {
        let mut seen = BTreeSet::new();
        for kept in tx.all::<StoredDividend>(&[])? {
            let key = (kept.definition, kept.due);
            let found = of(&self.dividends, &key);
            if kept.amount != found {
                let detail = format!("says that {} was paid, its entries sum to {found}", kept.amount);
                self.find(format!("dividend {} of {}", key.1, key.0), detail);
            }
            seen.insert(key);
        }
        let unknown: Vec<_> = self.dividends.keys().filter(|key| !seen.contains(*key)).cloned().collect();
        for (product, due) in unknown {
            self.find(format!("dividend {due} of {product}"), "was paid and is not recorded".to_owned());
        }
        Ok(())
    }
}

/// What a day that was cut short lacks, and what brings it.
fn missing(row: &StoredRun) -> String {
    let lacks = match row.phase {
        RunPhase::Pay => "were not paid on it",
        _ => "accrued nothing for it",
    };
    let after = row.after.as_deref().unwrap_or_default();
    format!("is listed as done, but accounts after {after} {lacks}; make up for them: mfa interest run")
}

/// Whether an entry has the two lines of its type.
fn has_its_lines(entry: &JournalEntry) -> bool {
    use AccountRole::{Customer, ProductAccrue, ProductExpense};
    let due = match entry.r#type.as_str() {
        ACCRUAL => (ProductExpense, ProductAccrue),
        PAYMENT => (ProductAccrue, Customer),
        GIVEN_UP => (ProductAccrue, ProductExpense),
        _ => (ProductExpense, Customer),
    };
    let is = |line: &JournalLine, side, role| line.side == side && line.role == role;
    match entry.lines.as_slice() {
        [debit, credit] => is(debit, Side::Debit, due.0) && is(credit, Side::Credit, due.1),
        _ => false,
    }
}
