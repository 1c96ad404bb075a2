//! What must hold of tellers after any history (`tellers.md` section 14): recomputed from the journal, and
//! compared with what is kept about tellers, transactions, counts, receipts and day reports.

use super::cash::of_session;
use super::receipts;
use super::transactions::{expect_transactions, find_transaction};
use crate::domain::ledger::{ACCOUNT_CHANGE, INTEREST_TYPES, cash_moved};
use crate::domain::teller::CARRIED_OVER;
use crate::domain::transaction::{Line, Place, lines};
use crate::ops::ledger::{drawer_cash, entry_at};
use crate::ops::rows::each_beside;
use crate::store::Tx;
use crate::store::check::Finding;
use crate::store::record::{Record, key};
use crate::store::records::{
    StoredDenomination, StoredEntry, StoredTeller, StoredTransaction, TRANSACTION_PLACES, TransactionCounter,
};
use mfa_shared::amount::Amount;
use mfa_shared::api::ledger::{AccountRole, JournalEntry, JournalLine, LedgerAccount, Side};
use mfa_shared::api::tellers::*;
use mfa_shared::fault::Fault;
use std::collections::{BTreeMap, BTreeSet};

/// What the journal says about one teller.
#[derive(Debug, Default)]
struct Drawer {
    cash: Amount,
    /// Cash after each entry that moved it, by the sequence of the entry.
    after: BTreeMap<u64, Amount>,
}

impl Drawer {
    /// Cash after the entry with this sequence, or the last one before it.
    fn at(&self, sequence: u64) -> Amount {
        self.after.range(..=sequence).next_back().map_or(Amount::ZERO, |(_, cash)| *cash)
    }
}

#[derive(Debug, Default)]
struct Journal {
    drawers: BTreeMap<String, Drawer>,
    /// Identifiers of the entries that booked what a count found, with teller and sequence.
    counts: BTreeMap<String, (String, u64)>,
    /// The roles in which each account was used.
    roles: BTreeMap<String, Vec<AccountRole>>,
    findings: Vec<Finding>,
}

/// Everything about tellers that does not hold; empty if all is well.
pub fn check_tellers(tx: &mut Tx<'_>) -> Result<Vec<Finding>, Fault> {
    let mut journal = Journal::default();
    let booked = |stored: &StoredEntry| stored.entry.teller_transaction_identifier.clone();
    each_beside(
        tx,
        &mut |tx, entries| expect_transactions(tx, entries.iter().filter_map(booked)),
        &mut |tx, stored: StoredEntry| journal.take(tx, stored.entry),
    )?;
    let tellers = tx.all::<StoredTeller>(&[])?;
    journal.compare_transactions(tx, &tellers)?;
    journal.compare_accounts(tx, &tellers)?;
    journal.compare_employees(&tellers);
    for teller in &tellers {
        journal.compare_teller(tx, teller)?;
        journal.compare_counts(tx, &teller.teller.code)?;
        journal.compare_reports(tx, teller)?;
    }
    journal.findings.extend(receipts::check(tx, &tellers)?);
    Ok(journal.findings)
}

/// Announces what transactions are compared with: themselves, as they are found by their identifiers, and the
/// entries that booked them.
fn expect_own(tx: &mut Tx<'_>, transactions: &[StoredTransaction]) -> Result<(), Fault> {
    let mut places = Vec::with_capacity(3 * transactions.len());
    for stored in transactions {
        places.push((TRANSACTION_PLACES, key(&[&stored.transaction.identifier])));
        places.push((StoredTransaction::SPACE, stored.key()));
        let entry = stored.sequence.map(|sequence| StoredEntry::at(sequence.unsigned_abs()));
        places.extend(entry.map(|entry| (StoredEntry::SPACE, entry)));
    }
    tx.expect_places(&places)
}

impl Journal {
    fn find(&mut self, subject: String, detail: impl Into<String>) {
        self.findings.push(Finding { subject, detail: detail.into() });
    }

    fn take(&mut self, tx: &mut Tx<'_>, entry: JournalEntry) -> Result<(), Fault> {
        let sequence = entry.sequence.unsigned_abs();
        for line in &entry.lines {
            let roles = self.roles.entry(line.account_identifier.clone()).or_default();
            if !roles.contains(&line.role) {
                roles.push(line.role);
            }
        }
        // What interest and dividends book is held to their own records.
        if is_interest(&entry.r#type) && entry.teller_code.is_none() {
            return Ok(());
        }
        let teller = entry.teller_code.clone().unwrap_or_default();
        if entry.lines.iter().any(|line| line.role == AccountRole::Drawer) {
            let drawer = self.drawers.entry(teller.clone()).or_default();
            drawer.cash = drawer.cash.plus(Amount::sum(entry.lines.iter().map(cash_moved)));
            drawer.after.insert(sequence, drawer.cash);
        }
        if let Some(transaction) = &entry.teller_transaction_identifier {
            let booked = find_transaction(tx, transaction)?;
            if booked.is_none_or(|stored| stored.sequence != Some(entry.sequence)) {
                self.find(format!("entry {sequence}"), format!("does not book transaction {transaction}"));
            }
            return Ok(());
        }
        if !is_adjustment(&entry) {
            let detail =
                format!("is of type {} and moves something else than cash of a drawer", entry.r#type);
            self.find(format!("entry {sequence}"), detail);
        }
        if entry.lines.iter().any(|line| line.role == AccountRole::OverShort) {
            self.counts.insert(entry.identifier, (teller, sequence));
        }
        Ok(())
    }

    /// Every confirmed transaction that moves something has its one entry, and no other has any.
    fn compare_transactions(&mut self, tx: &mut Tx<'_>, tellers: &[StoredTeller]) -> Result<(), Fault> {
        let mut numbers: BTreeMap<String, u64> = BTreeMap::new();
        let mut pending = BTreeSet::new();
        each_beside(tx, &mut expect_own, &mut |tx, stored: StoredTransaction| {
            *numbers.entry(stored.teller.clone()).or_default() += 1;
            let identifier = &stored.transaction.identifier;
            if find_transaction(tx, identifier)?.as_ref() != Some(&stored) {
                self.find(format!("transaction {identifier}"), "is not found by its identifier");
            }
            if stored.transaction.state == TransactionState::Pending {
                pending.insert(stored.teller.clone());
            }
            let entry = match stored.sequence {
                Some(sequence) => entry_at(tx, sequence.unsigned_abs())?.map(|stored| stored.entry),
                None => None,
            };
            if let Some(detail) = wrongly_booked(&stored, entry.as_ref()) {
                self.find(format!("transaction {}", stored.transaction.identifier), detail);
            }
            Ok(())
        })?;
        let places = tx.count(TRANSACTION_PLACES, &[])?;
        let count = numbers.values().sum::<u64>();
        if places != count {
            let detail = format!("are {count}, and {places} identifiers are kept");
            self.find("transactions".to_owned(), detail);
        }
        for StoredTeller { teller, .. } in tellers {
            let subject = format!("teller {}", teller.code);
            let found = numbers.remove(&teller.code).unwrap_or_default();
            let counter = tx.get::<TransactionCounter>(&[&teller.code])?;
            let counted = counter.map_or(0, |counter| counter.last);
            if found != counted {
                self.find(subject.clone(), format!("has {found} transactions and has numbered {counted}"));
            }
            if teller.state == TellerState::Closed && pending.contains(&teller.code) {
                self.find(subject, "is CLOSED and has a PENDING transaction");
            }
        }
        for teller in numbers.into_keys().collect::<Vec<_>>() {
            self.find(format!("teller {teller}"), "is not there and has transactions");
        }
        Ok(())
    }

    /// An account that is only a drawer holds what is in the drawers of its tellers.
    fn compare_accounts(&mut self, tx: &mut Tx<'_>, tellers: &[StoredTeller]) -> Result<(), Fault> {
        let roles = std::mem::take(&mut self.roles);
        for account in roles.into_iter().filter(|(_, roles)| roles == &[AccountRole::Drawer]) {
            let Some(stored) = tx.get::<LedgerAccount>(&[&account.0])? else { continue };
            let of = tellers.iter().filter(|stored| stored.teller.teller_account_identifier == account.0);
            let cash = |stored: &StoredTeller| {
                self.drawers.get(&stored.teller.code).map_or(Amount::ZERO, |drawer| drawer.cash)
            };
            let cash = Amount::sum(of.map(cash));
            let held = stored.debit_total.minus(stored.credit_total);
            if held != cash {
                let detail = format!("holds {held}, and the drawers on it {cash}");
                self.find(format!("account {}", account.0), detail);
            }
        }
        Ok(())
    }

    /// No one works at two tellers, and each teller that is not closed has an employee.
    fn compare_employees(&mut self, tellers: &[StoredTeller]) {
        let mut at: BTreeMap<&str, &str> = BTreeMap::new();
        for StoredTeller { teller, .. } in tellers.iter().filter(|s| s.teller.state != TellerState::Closed) {
            let subject = format!("teller {}", teller.code);
            let Some(employee) = &teller.assigned_employee else {
                self.find(subject, format!("is {} and no one is assigned to it", teller.state));
                continue;
            };
            if let Some(other) = at.insert(employee, &teller.code) {
                self.find(subject, format!("is assigned to {employee}, and so is teller {other}"));
            }
        }
    }

    /// Session, balance and journal of a teller agree.
    fn compare_teller(&mut self, tx: &mut Tx<'_>, stored: &StoredTeller) -> Result<(), Fault> {
        let teller = &stored.teller;
        let subject = || format!("teller {}", teller.code);
        let drawer = self.drawers.remove(&teller.code).unwrap_or_default();
        let Some(session) = stored.session.as_ref().filter(|_| teller.last_opened_on.is_some()) else {
            if teller.state != TellerState::Closed || !drawer.after.is_empty() {
                self.find(subject(), "was never opened, and is in use or has entries");
            }
            self.drawers.insert(teller.code.clone(), drawer);
            return Ok(());
        };
        let kept = drawer_cash(tx, &teller.code)?;
        let shown = of_session(tx, stored)?;
        let on_hand = shown.cash_received_total.minus(shown.cash_disbursed_total);
        if [kept, shown.cash_on_hand, on_hand].iter().any(|cash| *cash != drawer.cash) {
            let detail =
                format!("shows {} on hand, and its entries leave {}", shown.cash_on_hand, drawer.cash);
            self.find(subject(), detail);
        }
        if drawer.at(session.after) != session.carried {
            let before = drawer.at(session.after);
            self.find(subject(), format!("was opened with {}, and had {before} before", session.carried));
        }
        self.drawers.insert(teller.code.clone(), drawer);
        Ok(())
    }

    /// After a count the drawer holds what was counted.
    fn compare_counts(&mut self, tx: &mut Tx<'_>, code: &str) -> Result<(), Fault> {
        let drawer = self.drawers.remove(code).unwrap_or_default();
        for (number, count) in (1..).zip(tx.all::<StoredDenomination>(&[code])?) {
            let subject = format!("count {} of teller {code}", count.number);
            let counted = count.denomination.counted_total;
            if count.number != number {
                self.find(subject.clone(), format!("is in the place of number {number}"));
            }
            if drawer.at(count.after) != counted {
                let detail = format!("found {counted}, and the drawer held {} then", drawer.at(count.after));
                self.find(subject.clone(), detail);
            }
            let Some(entry) = count.denomination.adjusting_journal_entry else { continue };
            if self.counts.get(&entry) != Some(&(code.to_owned(), count.after)) {
                self.find(subject, format!("names entry {entry}, which does not book it"));
            }
        }
        self.drawers.insert(code.to_owned(), drawer);
        Ok(())
    }

    /// Day reports have their numbers, and each session begins with the cash that the one before left.
    fn compare_reports(&mut self, tx: &mut Tx<'_>, teller: &StoredTeller) -> Result<(), Fault> {
        let code = teller.teller.code.as_str();
        let mut left: Option<Amount> = None;
        for (number, report) in (1..).zip(tx.all::<DayReport>(&[code])?) {
            let subject = format!("report {} of teller {code}", report.number);
            if report.number != number {
                self.find(subject.clone(), format!("is in the place of number {number}"));
            }
            let sum = |side: fn(&CashMovements) -> Amount| Amount::sum(report.movements.iter().map(side));
            let received = sum(|m| m.received);
            let disbursed = sum(|m| m.disbursed);
            let totals = (report.cash_received_total, report.cash_disbursed_total, report.cash_on_hand);
            if totals != (received, disbursed, received.minus(disbursed)) {
                self.find(subject.clone(), "does not sum up to its movements");
            }
            let carried = report.movements.iter().find(|m| m.message == CARRIED_OVER);
            let carried = carried.map_or(Amount::ZERO, |movement| movement.received);
            if let Some(left) = left.filter(|left| *left != carried) {
                self.find(subject, format!("begins with {carried}, and the one before left {left}"));
            }
            left = Some(report.cash_on_hand);
        }
        let carried = teller.session.as_ref().map(|session| session.carried);
        if teller.teller.state != TellerState::Closed && left.is_some() && left != carried {
            let carried = carried.unwrap_or_default();
            let left = left.unwrap_or_default();
            let detail = format!("was opened with {carried}, and the last report left {left}");
            self.find(format!("teller {code}"), detail);
        }
        Ok(())
    }
}

/// Whether entries of this type belong to interest or dividends.
fn is_interest(r#type: &str) -> bool {
    INTEREST_TYPES.contains(&r#type)
}

/// Cash between drawer and vault, what a count found, or cash that goes along to another account.
fn is_adjustment(entry: &JournalEntry) -> bool {
    use AccountRole::{Drawer, OverShort, Vault};
    let [to, from] = entry.lines.as_slice() else { return false };
    if (to.side, from.side) != (Side::Debit, Side::Credit) {
        return false;
    }
    match (entry.r#type.as_str(), to.role, from.role) {
        ("DAJT", Drawer, Vault | OverShort) | ("CAJT", Vault | OverShort, Drawer) => true,
        (kind, Drawer, Drawer) => kind == ACCOUNT_CHANGE,
        _ => false,
    }
}

/// What is wrong about the entry of a transaction.
fn wrongly_booked(stored: &StoredTransaction, entry: Option<&JournalEntry>) -> Option<String> {
    let transaction = &stored.transaction;
    let included = match (transaction.state, transaction.charges_included) {
        (TransactionState::Confirmed, Some(included)) => included,
        (TransactionState::Confirmed, None) => return Some("is CONFIRMED and does not say how".to_owned()),
        (state, _) if stored.sequence.is_some() => return Some(format!("is {state} and was booked")),
        _ => return None,
    };
    let charges: Vec<_> = transaction.charges.iter().map(|charge| charge.amount).collect();
    let due = lines(transaction.transaction_type, transaction.amount, &charges, included);
    let Some(entry) = entry else {
        let is_due = !due.is_empty() || stored.sequence.is_some();
        return is_due.then(|| "is CONFIRMED and was not booked".to_owned());
    };
    let same = entry.lines.len() == due.len()
        && entry.lines.iter().zip(&due).all(|(line, due)| as_due(transaction, line, due));
    let is_own = entry.teller_code.as_ref() == Some(&stored.teller)
        && entry.r#type == transaction.transaction_type.as_str()
        && entry.teller_transaction_identifier.as_ref() == Some(&transaction.identifier);
    (!same || !is_own).then(|| format!("is booked by entry {} in another way", entry.sequence))
}

/// Whether a line is the expected one.
fn as_due(transaction: &Transaction, line: &JournalLine, due: &Line) -> bool {
    let (role, account) = match due.place {
        // A teller may have had another account then; the role identifies its drawer.
        Place::Drawer => (AccountRole::Drawer, Some(&line.account_identifier)),
        Place::Account => (AccountRole::Customer, Some(&transaction.customer_account_identifier)),
        Place::Target => (AccountRole::Customer, transaction.target_account_identifier.as_ref()),
        Place::Income(i) => (AccountRole::Income, Some(&transaction.charges[i].income_account_identifier)),
    };
    (line.role, Some(&line.account_identifier)) == (role, account)
        && (line.side == Side::Debit) == due.debit
        && line.amount == due.amount
}
