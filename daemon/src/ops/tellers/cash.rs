//! Cash in the drawer: every movement is posted to the ledger and stands in the balance of its session.
//! Contract: `tellers.md` sections 3, 8 and 9.

use super::managed;
use crate::domain::transaction::{minus, plus};
use crate::ops::{Caller, ledger};
use crate::store::Tx;
use crate::store::engine::{Range, Space};
use crate::store::record::prefix;
use crate::store::records::{StoredMovement, StoredTeller, StoredTransaction, ordinal};
use mfa_shared::amount::Amount;
use mfa_shared::api::ledger::{JournalLine, LedgerRole, Side};
use mfa_shared::api::tellers::*;
use mfa_shared::fault::Fault;
use mfa_shared::time::Timestamp;
use mfa_shared::wire::{Json, Nothing};

/// What a teller posts.
pub(super) struct Booking<'a> {
    /// Type of the entry.
    pub kind: &'a str,
    /// Its message.
    pub message: &'a str,
    /// Business date; the moment of posting if there is none.
    pub date: Option<Timestamp>,
    /// The transaction that it books.
    pub transaction: Option<&'a str>,
    /// Its lines.
    pub lines: Vec<JournalLine>,
}

/// A line of an entry.
pub(super) fn line(side: Side, role: LedgerRole, account: &str, amount: Amount) -> JournalLine {
    JournalLine { account_identifier: account.to_owned(), side, role, amount }
}

/// Posts an entry and moves the cash of its drawer lines; answers the identifier of the entry.
pub(super) fn book(
    tx: &mut Tx<'_>,
    caller: &Caller,
    stored: &mut StoredTeller,
    booking: Booking<'_>,
) -> Result<String, Fault> {
    let message = booking.message.to_owned();
    let drawer: Vec<_> = booking.lines.iter().filter(|line| line.role == LedgerRole::Drawer).cloned().collect();
    let entry = post(tx, caller, stored, booking)?;
    for line in drawer {
        let r#type = match line.side {
            Side::Debit => CashSide::Debit,
            Side::Credit => CashSide::Credit,
        };
        let (message, amount) = (message.clone(), line.amount);
        let movement = TellerEntry { r#type, transaction_date: tx.now(), message, amount };
        enter(tx, stored, movement, Some(entry.clone()))?;
    }
    Ok(entry)
}

fn post(
    tx: &mut Tx<'_>,
    caller: &Caller,
    stored: &StoredTeller,
    booking: Booking<'_>,
) -> Result<String, Fault> {
    ledger::post(
        tx,
        ledger::Posting {
            r#type: booking.kind,
            message: booking.message,
            transaction_date: booking.date,
            clerk: &caller.name,
            teller_code: &stored.teller.code,
            teller_transaction_identifier: booking.transaction,
            lines: booking.lines,
        },
    )
}

/// Enters a movement into the session, without posting it.
pub(super) fn enter(
    tx: &mut Tx<'_>,
    stored: &mut StoredTeller,
    entry: TellerEntry,
    journal_entry: Option<String>,
) -> Result<(), Fault> {
    // Cash moves in a session only: a teller that was never opened has none, and nothing that moves it.
    let session = stored.session.as_mut().expect("a teller that was opened");
    let total = match entry.r#type {
        CashSide::Debit => &mut session.received,
        CashSide::Credit => &mut session.disbursed,
    };
    *total = plus(*total, entry.amount);
    session.entries += 1;
    let (teller, number) = (stored.teller.code.clone(), session.entries);
    tx.put(&StoredMovement { teller, session: session.number, number, journal_entry, entry })
}

/// Moves cash between vault and drawer.
pub(super) fn adjust(
    tx: &mut Tx<'_>,
    caller: &Caller,
    stored: &mut StoredTeller,
    adjustment: Adjustment,
    amount: Amount,
) -> Result<(), Fault> {
    let drawer = (LedgerRole::Drawer, stored.teller.teller_account_identifier.clone());
    let vault = (LedgerRole::Vault, stored.teller.vault_account_identifier.clone());
    let (kind, debit, credit) = match adjustment {
        Adjustment::Debit if amount != Amount::ZERO => ("DAJT", drawer, vault),
        Adjustment::Credit if amount != Amount::ZERO => ("CAJT", vault, drawer),
        _ => return Ok(()),
    };
    let message = "Teller adjustment.";
    let lines = vec![
        line(Side::Debit, debit.0, &debit.1, amount),
        line(Side::Credit, credit.0, &credit.1, amount),
    ];
    book(tx, caller, stored, Booking { kind, message, date: None, transaction: None, lines })?;
    Ok(())
}

/// Takes the cash in the drawer along to another account. It is no movement of cash.
pub(super) fn move_drawer(
    tx: &mut Tx<'_>,
    caller: &Caller,
    stored: &mut StoredTeller,
    from: &str,
) -> Result<(), Fault> {
    let cash = stored.cash();
    if cash == Amount::ZERO {
        return Ok(());
    }
    let to = &stored.teller.teller_account_identifier;
    let lines =
        vec![line(Side::Debit, LedgerRole::Drawer, to, cash), line(Side::Credit, LedgerRole::Drawer, from, cash)];
    let (kind, message) = ("ADJT", "Teller account change.");
    post(tx, caller, stored, Booking { kind, message, date: None, transaction: None, lines })?;
    Ok(())
}

/// Books what a count found: over, or short. Answers the entry, if there is a difference.
pub(super) fn settle(
    tx: &mut Tx<'_>,
    caller: &Caller,
    stored: &mut StoredTeller,
    counted: Amount,
) -> Result<Option<String>, Fault> {
    let cash = stored.cash();
    if counted == cash {
        return Ok(None);
    }
    let drawer = (LedgerRole::Drawer, stored.teller.teller_account_identifier.clone());
    let difference = (LedgerRole::OverShort, stored.teller.cash_over_short_account.clone());
    let (kind, debit, credit, amount) = match counted > cash {
        true => ("DAJT", drawer, difference, minus(counted, cash)),
        false => ("CAJT", difference, drawer, minus(cash, counted)),
    };
    let message = "Teller denomination adjustment.";
    let lines = vec![
        line(Side::Debit, debit.0, &debit.1, amount),
        line(Side::Credit, credit.0, &credit.1, amount),
    ];
    book(tx, caller, stored, Booking { kind, message, date: None, transaction: None, lines }).map(Some)
}

/// `GET /offices/{office}/teller/{teller}/balance`
pub fn balance(
    tx: &mut Tx<'_>,
    _: &Caller,
    at: &GetTellerBalance,
    _: &Nothing,
) -> Result<Json<TellerBalance>, Fault> {
    let stored = managed(tx, &at.office, &at.teller)?;
    let (cash_on_hand, zero) = (stored.cash(), Amount::ZERO);
    let movements = match &stored.session {
        None => None,
        Some(session) => Some(tx.all::<StoredMovement>(&[&at.teller, &ordinal(session.number)])?),
    };
    let entries = movements.map(|found| found.into_iter().map(|movement| movement.entry).collect());
    Ok(Json(TellerBalance {
        day: stored.teller.last_opened_on.map(Timestamp::day),
        cash_on_hand,
        cash_received_total: stored.session.as_ref().map_or(zero, |session| session.received),
        cash_disbursed_total: stored.session.as_ref().map_or(zero, |session| session.disbursed),
        cheques_received_total: zero,
        cheque_entries: stored.session.as_ref().map(|_| Vec::new()),
        cash_entries: entries,
    }))
}

/// The transactions of a teller that an index has, the oldest first.
pub(super) fn transactions(
    tx: &mut Tx<'_>,
    index: Space,
    teller: &str,
) -> Result<Vec<StoredTransaction>, Fault> {
    // An entry is the teller, the place of the transaction, its identifier.
    let passed = prefix(&[teller, &ordinal(0)]).len();
    let mut identifiers = Vec::new();
    tx.walk(index, Range::prefix(&prefix(&[teller])), &mut |entry, _| {
        identifiers.push(String::from_utf8_lossy(entry.get(passed..).unwrap_or_default()).into_owned());
        Ok(true)
    })?;
    let mut found = Vec::with_capacity(identifiers.len());
    for identifier in identifiers {
        found.extend(tx.get::<StoredTransaction>(&[&identifier])?);
    }
    Ok(found)
}
