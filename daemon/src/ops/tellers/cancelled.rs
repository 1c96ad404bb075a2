//! The cancelled transactions of a teller. A transaction that is no longer pending never changes, so the
//! numbers of those that were cancelled stay valid up to the first pending one, and only what follows needs a
//! look.

use crate::domain::numbers::{ListOf, Numbers};
use crate::ops::known::{Asked, known};
use crate::store::Tx;
use crate::store::engine::Range;
use crate::store::record::{Record, number, numbered, prefix};
use crate::store::records::{StoredTransaction, TRANSACTIONS_PENDING, TransactionCounter};
use crate::store::tx::decode;
use mfa_shared::api::tellers::TransactionState;
use mfa_shared::fault::Fault;
use std::ops::Range as Span;

/// Transactions that are looked at in one step.
const STEP: usize = 500;
/// Beyond so many, concurrent requests for the same list share one walk.
const NEAR: u64 = 1_000;

/// The keys of the cancelled transactions of a teller, the oldest first.
pub fn keys(tx: &mut Tx<'_>, teller: &str) -> Result<Vec<Vec<u8>>, Fault> {
    let end = tx.get::<TransactionCounter>(&[teller])?.map_or(0, |counter| counter.last) + 1;
    let pending = tx.scan(TRANSACTIONS_PENDING, &Range::prefix(&prefix(&[teller])), false, 1)?;
    let settled = pending.first().map_or(end, |(entry, _)| number(entry).min(end));
    let whole = ListOf::Cancelled(teller.to_owned()).into();
    let asked = Asked { whole, numbers: 0..settled, near: NEAR };
    let known = known(tx, asked, |tx, left, all| step(tx, teller, left, all))?;
    let mut rest = Numbers::beginning_at(known.upto().min(settled));
    let known = known.at(known.places(&(0..settled)));
    while rest.upto() < end {
        step(tx, teller, rest.upto()..end, &mut rest)?;
    }
    let rest = rest.at(rest.places(&(0..end)));
    Ok(known.chain(rest).map(|number| numbered(&[teller], number)).collect())
}

/// Adds the next ones of those with these numbers.
fn step(tx: &mut Tx<'_>, teller: &str, left: Span<u64>, found: &mut Numbers) -> Result<(), Fault> {
    let range = Range { from: numbered(&[teller], left.start), to: Some(numbered(&[teller], left.end)) };
    let pairs = tx.scan(StoredTransaction::SPACE, &range, false, STEP)?;
    let mut cancelled = Vec::new();
    for (_, value) in &pairs {
        let stored: StoredTransaction = decode(StoredTransaction::SPACE, value)?;
        cancelled
            .extend(Some(stored.number).filter(|_| stored.transaction.state == TransactionState::Canceled));
    }
    let upto = match pairs.last() {
        Some((last, _)) if pairs.len() == STEP => number(last) + 1,
        _ => left.end,
    };
    found.add(cancelled, pairs.len(), upto);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::numbers::ListNumbers;
    use crate::ops::ledger::tests::memory::Memory;
    use mfa_shared::amount::Amount;
    use mfa_shared::api::tellers::{Transaction, TransactionType};
    use mfa_shared::time::Timestamp;
    use std::sync::Arc;

    fn stored(teller: &str, number: u64, state: TransactionState) -> StoredTransaction {
        let now = Timestamp::parse("2031-05-06T07:08:09.123Z").unwrap();
        let transaction = Transaction {
            identifier: format!("{teller}-{number}"),
            transaction_type: TransactionType::Cdpt,
            transaction_date: now,
            customer_identifier: "c-1".to_owned(),
            product_identifier: "savings".to_owned(),
            customer_account_identifier: "c-1.9100.00001".to_owned(),
            target_account_identifier: None,
            clerk: "kwame".to_owned(),
            amount: Amount::ZERO,
            total_amount: Amount::ZERO,
            charges: Vec::new(),
            charges_included: None,
            state,
            created_on: now,
            finished_on: None,
        };
        StoredTransaction { teller: teller.to_owned(), number, sequence: None, dated: false, transaction }
    }

    /// A teller with these transactions more.
    fn add(store: &mut Memory, teller: &str, states: impl IntoIterator<Item = TransactionState>) {
        store
            .write(|tx| {
                let before = tx.get::<TransactionCounter>(&[teller])?;
                let mut last = before.map_or(0, |counter| counter.last);
                for state in states {
                    last += 1;
                    tx.put(&stored(teller, last, state))?;
                }
                tx.put(&TransactionCounter { teller: teller.to_owned(), last })
            })
            .unwrap();
    }

    fn set(store: &mut Memory, number: u64, state: TransactionState) {
        store.write(|tx| tx.put(&stored("desk", number, state))).unwrap();
    }

    fn listed(store: &mut Memory, numbers: &Arc<ListNumbers>) -> Vec<u64> {
        let found = store.read_with(numbers, |tx| keys(tx, "desk"));
        let walked = store.read(|tx| keys(tx, "desk"));
        assert_eq!(found, walked, "with the numbers in memory as without them");
        found.iter().map(|key| number(key)).collect()
    }

    fn cost(store: &mut Memory, numbers: &Arc<ListNumbers>) -> usize {
        let before = store.looked_at;
        store.read_with(numbers, |tx| keys(tx, "desk"));
        store.looked_at - before
    }

    use TransactionState::{Canceled, Confirmed, Pending};

    #[test]
    fn the_cancelled_ones_are_listed_whatever_becomes_of_pending_ones() {
        let (mut store, numbers) = (Memory::new(), Arc::new(ListNumbers::default()));
        assert!(listed(&mut store, &numbers).is_empty());
        add(&mut store, "des", [Canceled]);
        add(&mut store, "desk-2", [Canceled]);
        add(&mut store, "desk", (0..2_000).map(|_| Confirmed));
        add(&mut store, "desk", [Canceled, Pending, Canceled, Pending]);
        assert_eq!(listed(&mut store, &numbers), [2_001, 2_003]);
        set(&mut store, 2_004, Canceled);
        assert_eq!(listed(&mut store, &numbers), [2_001, 2_003, 2_004]);
        set(&mut store, 2_002, Confirmed);
        assert_eq!(listed(&mut store, &numbers), [2_001, 2_003, 2_004]);
        add(&mut store, "desk", [Pending, Canceled]);
        assert_eq!(listed(&mut store, &numbers), [2_001, 2_003, 2_004, 2_006]);
        set(&mut store, 2_005, Canceled);
        assert_eq!(listed(&mut store, &numbers), [2_001, 2_003, 2_004, 2_005, 2_006]);
    }

    #[test]
    fn once_they_are_known_only_newer_transactions_are_looked_at() {
        let (mut store, numbers) = (Memory::new(), Arc::new(ListNumbers::default()));
        let state = |number: u64| if number.is_multiple_of(1_000) { Canceled } else { Confirmed };
        add(&mut store, "desk", (1..=5_000).map(state));
        assert!(cost(&mut store, &numbers) > 5_000, "they are walked once");
        assert!(cost(&mut store, &numbers) < 10);
        add(&mut store, "desk", (1..=20).map(|_| Confirmed));
        assert!((20..40).contains(&cost(&mut store, &numbers)));
        assert!(cost(&mut store, &numbers) < 10);
    }
}
