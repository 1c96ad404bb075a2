//! What a day came to, as it was at one moment. Of tellers and transactions only those of the office are
//! read, from where the report before it has ended.

use super::tellers::{AtTeller, Span, look};
use super::{Day, Order};
use crate::ops::ledger::{self, Totals};
use crate::ops::{counted, offices};
use crate::store::Tx;
use crate::store::record::{Record, key};
use crate::store::records::{DayMark, StoredEmployee, StoredTeller, TELLERS_BY_OFFICE};
use mfa_shared::amount::Amount;
use mfa_shared::api::customers::Customer;
use mfa_shared::api::days::*;
use mfa_shared::api::definitions::Definition;
use mfa_shared::api::ledger::LedgerAccount;
use mfa_shared::api::tellers::{DayReport, TellerState, Transaction, TransactionState, TransactionType};
use mfa_shared::fault::Fault;
use mfa_shared::rule::Word;
use std::collections::{BTreeMap, BTreeSet};

/// Days without an opening after which a teller is dormant.
const DORMANT_DAYS: i64 = 30;
const DAY_SECONDS: i64 = 86_400;
/// Customers that are looked for in one message to a database.
const CUSTOMERS_AT_ONCE: usize = 500;

impl Day {
    /// The sums of the ledger that belong to it, none of them added yet.
    pub fn totals(&self) -> Totals {
        Totals::before(self.mark.last_entry + 1)
    }

    /// With these sums, and an exception where they are not the same.
    pub fn with_totals(mut self, totals: &Totals) -> Self {
        let debit = totals.debit;
        let credit = totals.credit;
        if debit != credit {
            let detail = format!("debits are {debit}, and credits {credit}");
            let kind = DayExceptionKind::Unbalanced;
            let teller_code = None;
            self.report.exceptions.push(DayException { kind, teller_code, detail });
        }
        (self.report.total_debit, self.report.total_credit) = (debit, credit);
        self
    }
}

/// What a day of an office came to, but for the sums of the ledger. Nothing is written.
pub fn gather(tx: &mut Tx<'_>, order: &Order) -> Result<Day, Fault> {
    let office = offices::find(tx, &order.office)?;
    let before = tx.get::<DayMark>(&[&order.office])?;
    let span = span(tx, order, before.as_ref())?;
    let number = before.as_ref().map_or(0, |mark| mark.number) + 1;
    let mut marks = before.map(|mark| mark.tellers).unwrap_or_default();
    let mut sums = Sums::default();
    for stored in tx.indexed::<StoredTeller>(TELLERS_BY_OFFICE, &[&order.office])? {
        let known = marks.remove(&stored.teller.code);
        let seen = look(tx, &stored, known, &span)?;
        marks.insert(stored.teller.code.clone(), seen.mark.clone());
        sums.add(tx, &stored, seen, &span)?;
    }
    let vaults = vaults(tx, &sums.vaults, &span)?;
    let last_entry = span.next_entry - 1;
    let report = OfficeDay {
        number,
        office_identifier: order.office.clone(),
        office_name: office.name,
        date: order.date,
        ended_on: tx.now(),
        ended_by: order.by.clone(),
        covers_from: span.from,
        covers_until: span.until,
        last_entry: i64::try_from(last_entry).unwrap_or(i64::MAX),
        tellers: sums.tellers,
        sessions: sums.sessions,
        vaults,
        totals: sums.totals.into_values().collect(),
        // Both are added by `Day::with_totals`.
        total_debit: Amount::ZERO,
        total_credit: Amount::ZERO,
        exceptions: sums.exceptions,
    };
    let office = order.office.clone();
    let date = order.date;
    let covers_until = span.until;
    Ok(Day { report, mark: DayMark { office, number, date, covers_until, last_entry, tellers: marks } })
}

fn span(tx: &mut Tx<'_>, order: &Order, before: Option<&DayMark>) -> Result<Span, Fault> {
    let end = order.date.next().start();
    let is_over = end <= tx.now();
    let from = before.map_or(order.date.start(), |mark| mark.covers_until);
    let next_entry = if is_over { ledger::sequence_at(tx, end)? } else { ledger::last_sequence(tx)? + 1 };
    // A clock that was set back removes nothing from the report before.
    let next_entry = next_entry.max(before.map_or(1, |mark| mark.last_entry + 1));
    Ok(Span { from, until: if is_over { end } else { tx.now() }.max(from), is_over, next_entry })
}

/// What the tellers of the office come to.
#[derive(Debug, Default)]
struct Sums {
    tellers: Vec<DayTeller>,
    sessions: Vec<DaySession>,
    vaults: BTreeSet<String>,
    totals: BTreeMap<(usize, String), DayTotal>,
    /// The currencies of products.
    currencies: BTreeMap<String, String>,
    exceptions: Vec<DayException>,
}

impl Sums {
    fn note(&mut self, kind: DayExceptionKind, teller: Option<&str>, detail: String) {
        self.exceptions.push(DayException { kind, teller_code: teller.map(str::to_owned), detail });
    }

    fn add(
        &mut self,
        tx: &mut Tx<'_>,
        stored: &StoredTeller,
        seen: AtTeller,
        span: &Span,
    ) -> Result<(), Fault> {
        let teller = &stored.teller;
        self.vaults.insert(teller.vault_account_identifier.clone());
        for transaction in &seen.finished {
            self.count(tx, transaction)?;
        }
        self.look(stored, &seen, span);
        self.look_for_dangling(tx, stored, &seen.finished)?;
        self.sessions.extend(seen.reports.into_iter().map(session));
        let drawer = tx.get::<LedgerAccount>(&[&teller.teller_account_identifier])?;
        self.tellers.push(DayTeller {
            code: teller.code.clone(),
            state: teller.state,
            assigned_employee: teller.assigned_employee.clone(),
            last_opened_on: teller.last_opened_on,
            currency: drawer.and_then(|drawer| drawer.currency),
            cash_on_hand: seen.cash,
            pending_transactions: i64::try_from(seen.pending).unwrap_or(i64::MAX),
        });
        Ok(())
    }

    /// What needs attention.
    fn look(&mut self, stored: &StoredTeller, seen: &AtTeller, span: &Span) {
        use DayExceptionKind::{Difference, Dormant, OpenTeller, Pending};
        let teller = &stored.teller;
        let code = Some(teller.code.as_str());
        let is_open = teller.state != TellerState::Closed;
        if is_open {
            let employee = teller.assigned_employee.as_deref().unwrap_or("nobody");
            self.note(OpenTeller, code, format!("is {} for {employee}", teller.state));
        }
        if seen.pending > 0 {
            let waiting = counted(seen.pending, "transaction waits", "transactions wait");
            self.note(Pending, code, format!("{waiting} for confirmation"));
        }
        for report in &seen.reports {
            let found = report.difference.filter(|difference| !difference.is_zero());
            if let Some(difference) = found {
                let what = if difference.is_negative() { "short" } else { "over" };
                let found = if difference.is_negative() { difference.negated() } else { difference };
                self.note(Difference, code, format!("day report {}: {found} {what}", report.number));
            }
        }
        let since = span.until.plus_seconds(-DORMANT_DAYS * DAY_SECONDS);
        match teller.last_opened_on {
            None => self.note(Dormant, code, "was never opened".to_owned()),
            Some(on) if !is_open && on < since => {
                self.note(Dormant, code, format!("was opened last on {}", on.day()));
            }
            Some(_) => {}
        }
    }

    /// Employees and customers that the teller and its transactions name although they do not exist.
    fn look_for_dangling(
        &mut self,
        tx: &mut Tx<'_>,
        stored: &StoredTeller,
        finished: &[Transaction],
    ) -> Result<(), Fault> {
        let code = stored.teller.code.as_str();
        if let Some(employee) = &stored.teller.assigned_employee
            && !tx.has::<StoredEmployee>(&[employee])?
        {
            let detail = format!("is assigned to employee \"{employee}\", who does not exist");
            self.note(DayExceptionKind::Dangling, Some(code), detail);
        }
        let confirmed = finished.iter().filter(|found| found.state == TransactionState::Confirmed);
        let mut accounts: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for found in confirmed {
            let of_customer = accounts.entry(&found.customer_identifier).or_default();
            of_customer.insert(&found.customer_account_identifier);
        }
        let customers: Vec<_> = accounts.into_iter().collect();
        for customers in customers.chunks(CUSTOMERS_AT_ONCE) {
            let keys: Vec<_> = customers.iter().map(|(customer, _)| key(&[customer])).collect();
            tx.expect(Customer::SPACE, &keys)?;
            for (customer, accounts) in customers {
                if tx.has::<Customer>(&[customer])? {
                    continue;
                }
                for account in accounts {
                    let detail = format!(
                        "account \"{account}\" belongs to customer \"{customer}\", who does not exist"
                    );
                    self.note(DayExceptionKind::Dangling, Some(code), detail);
                }
            }
        }
        Ok(())
    }

    fn count(&mut self, tx: &mut Tx<'_>, transaction: &Transaction) -> Result<(), Fault> {
        let currency = self.currency(tx, &transaction.product_identifier)?;
        let kind = transaction.transaction_type;
        let place = TransactionType::WORDS.iter().position(|(_, word)| *word == kind).unwrap_or_default();
        let total = self.totals.entry((place, currency.clone())).or_insert_with(|| DayTotal {
            transaction_type: kind,
            currency,
            confirmed: 0,
            amount: Amount::ZERO,
            charges: Amount::ZERO,
            canceled: 0,
        });
        if transaction.state == TransactionState::Canceled {
            total.canceled += 1;
            return Ok(());
        }
        total.confirmed += 1;
        total.amount = total.amount.plus(transaction.amount);
        total.charges = total.charges.plus(transaction.total_amount.minus(transaction.amount));
        Ok(())
    }

    /// The currency of a product, which is looked for once.
    fn currency(&mut self, tx: &mut Tx<'_>, product: &str) -> Result<String, Fault> {
        if let Some(code) = self.currencies.get(product) {
            return Ok(code.clone());
        }
        let definition = tx.get::<Definition>(&[product])?;
        let code = definition.map(|definition| definition.currency.code).unwrap_or_default();
        self.currencies.insert(product.to_owned(), code.clone());
        Ok(code)
    }
}

fn session(report: DayReport) -> DaySession {
    DaySession {
        teller_code: report.teller_code,
        report: report.number,
        employee_identifier: report.employee_identifier,
        opened_on: report.opened_on,
        closed_on: report.closed_on,
        cash_received_total: report.cash_received_total,
        cash_disbursed_total: report.cash_disbursed_total,
        difference: report.difference,
        cash_on_hand: report.cash_on_hand,
    }
}

fn vaults(tx: &mut Tx<'_>, accounts: &BTreeSet<String>, span: &Span) -> Result<Vec<DayVault>, Fault> {
    let mut found = Vec::new();
    for account in accounts {
        let Some(vault) = tx.get::<LedgerAccount>(&[account])? else { continue };
        let balance = ledger::balance_at(tx, account, span.next_entry)?;
        found.push(DayVault { account_identifier: account.clone(), currency: vault.currency, balance });
    }
    Ok(found)
}
