//! Cash in the drawer: what moves it is posted to the ledger, and what the ledger says is the balance.
//! Contract: `tellers.md` sections 3, 8 and 9.

use super::find::managed;
use crate::domain::ledger::{ACCOUNT_CHANGE, CASH_IN, CASH_OUT};
use crate::domain::teller::{CARRIED_OVER, count_movement};
use crate::ops::{Caller, ledger};
use crate::store::Tx;
use crate::store::records::{Session, StoredTeller};
use mfa_shared::amount::Amount;
use mfa_shared::api::ledger::{AccountRole, JournalEntry, JournalLine, Side};
use mfa_shared::api::tellers::*;
use mfa_shared::fault::Fault;
use mfa_shared::time::Timestamp;
use mfa_shared::wire::{Json, Nothing};

/// Posts an entry of the teller that belongs to no transaction.
fn book(
    tx: &mut Tx<'_>,
    caller: &Caller,
    teller: &Teller,
    (r#type, message): (&str, &str),
    lines: Vec<JournalLine>,
) -> Result<Option<JournalEntry>, Fault> {
    let clerk = &caller.name;
    let teller_code = Some(teller.code.as_str());
    let transaction_date = None;
    let teller_transaction = None;
    let entry =
        ledger::Entry { r#type, message, transaction_date, clerk, teller_code, teller_transaction, lines };
    ledger::post(tx, entry)
}

/// Moves cash between vault and drawer.
pub(super) fn adjust(
    tx: &mut Tx<'_>,
    caller: &Caller,
    teller: &Teller,
    adjustment: Adjustment,
    amount: Amount,
) -> Result<(), Fault> {
    let drawer = (teller.teller_account_identifier.as_str(), AccountRole::Drawer);
    let vault = (teller.vault_account_identifier.as_str(), AccountRole::Vault);
    let (r#type, to, from) = match adjustment {
        Adjustment::None => return Ok(()),
        Adjustment::Debit => (CASH_IN, drawer, vault),
        Adjustment::Credit => (CASH_OUT, vault, drawer),
    };
    let lines = vec![ledger::debit(to.0, to.1, amount), ledger::credit(from.0, from.1, amount)];
    book(tx, caller, teller, (r#type, "Teller adjustment."), lines)?;
    Ok(())
}

/// Takes the cash in the drawer along from the account that the teller had before.
pub(super) fn move_drawer(
    tx: &mut Tx<'_>,
    caller: &Caller,
    teller: &Teller,
    before: &str,
) -> Result<(), Fault> {
    let cash = ledger::drawer_cash(tx, &teller.code)?;
    let to = &teller.teller_account_identifier;
    let lines =
        vec![ledger::debit(to, AccountRole::Drawer, cash), ledger::credit(before, AccountRole::Drawer, cash)];
    book(tx, caller, teller, (ACCOUNT_CHANGE, "Teller account change."), lines)?;
    Ok(())
}

/// Books what a count found over or short; answers the entry, if there is a difference.
pub(super) fn settle(
    tx: &mut Tx<'_>,
    caller: &Caller,
    teller: &Teller,
    difference: Amount,
) -> Result<Option<JournalEntry>, Fault> {
    let drawer = (teller.teller_account_identifier.as_str(), AccountRole::Drawer);
    let over_short = (teller.cash_over_short_account.as_str(), AccountRole::OverShort);
    let (r#type, to, from, amount) = if difference.is_negative() {
        (CASH_OUT, over_short, drawer, difference.negated())
    } else {
        (CASH_IN, drawer, over_short, difference)
    };
    let lines = vec![ledger::debit(to.0, to.1, amount), ledger::credit(from.0, from.1, amount)];
    book(tx, caller, teller, (r#type, "Teller denomination adjustment."), lines)
}

/// `GET /offices/{office}/teller/{teller}/balance`
pub fn balance(
    tx: &mut Tx<'_>,
    _: &Caller,
    at: &GetTellerBalance,
    _: &Nothing,
) -> Result<Json<TellerBalance>, Fault> {
    let stored = managed(tx, &at.office, &at.teller)?;
    of_session(tx, &stored).map(Json)
}

/// The cash of a teller's session.
pub(super) fn of_session(tx: &mut Tx<'_>, stored: &StoredTeller) -> Result<TellerBalance, Fault> {
    let entries = entries(tx, stored)?;
    let total = |side| {
        let of_side = entries.iter().flatten().filter(|entry| entry.r#type == side);
        Amount::sum(of_side.map(|entry| entry.amount))
    };
    let received = total(CashSide::Debit);
    let disbursed = total(CashSide::Credit);
    Ok(TellerBalance {
        day: stored.teller.last_opened_on.map(Timestamp::day),
        cash_on_hand: received.minus(disbursed),
        cash_received_total: received,
        cash_disbursed_total: disbursed,
        cheques_received_total: Amount::ZERO,
        cheque_entries: entries.as_ref().map(|_| Vec::new()),
        cash_entries: entries,
    })
}

/// The movements of cash in the session of a teller; none if it was never opened.
fn entries(tx: &mut Tx<'_>, stored: &StoredTeller) -> Result<Option<Vec<TellerEntry>>, Fault> {
    let (Some(session), Some(opened_on)) = (&stored.session, stored.teller.last_opened_on) else {
        return Ok(None);
    };
    let carried = TellerEntry {
        r#type: CashSide::Debit,
        transaction_date: opened_on,
        message: CARRIED_OVER.to_owned(),
        amount: session.carried,
    };
    let first = (!session.carried.is_zero()).then_some(carried);
    let mut found: Vec<_> = first.into_iter().collect();
    walk(tx, &stored.teller, session, &mut |entry, line| {
        found.push(TellerEntry {
            r#type: match line.side {
                Side::Debit => CashSide::Debit,
                Side::Credit => CashSide::Credit,
            },
            transaction_date: entry.posted_on,
            message: entry.message.clone(),
            amount: line.amount,
        });
    })?;
    Ok(Some(found))
}

/// Looks at each movement of cash that was posted in a session.
fn walk(
    tx: &mut Tx<'_>,
    teller: &Teller,
    session: &Session,
    look: &mut dyn FnMut(&JournalEntry, &JournalLine),
) -> Result<(), Fault> {
    ledger::walk_drawer(tx, &teller.code, session.after, &mut |entry, line| {
        if entry.r#type != ACCOUNT_CHANGE {
            look(entry, line);
        }
    })
}

/// What a session has moved, by messages. It is counted with each posting; the entries of one that an earlier
/// program opened are read.
pub(super) fn moved(
    tx: &mut Tx<'_>,
    teller: &Teller,
    session: &Session,
) -> Result<Vec<CashMovements>, Fault> {
    if let Some(moved) = ledger::session_cash(tx, &teller.code, session.after)? {
        return Ok(moved);
    }
    let mut moved = Vec::new();
    if !session.carried.is_zero() {
        count_movement(&mut moved, CARRIED_OVER, Side::Debit, session.carried);
    }
    walk(tx, teller, session, &mut |entry, line| {
        count_movement(&mut moved, &entry.message, line.side, line.amount);
    })?;
    Ok(moved)
}
