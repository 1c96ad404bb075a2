//! The states of a teller (`tellers.md` section 11).

use TellerStep::{Close, Count, Open, Pause, Transact, Unlock};
use mfa_shared::amount::Amount;
use mfa_shared::api::ledger::Side;
use mfa_shared::api::tellers::CashMovements;
use mfa_shared::api::tellers::TellerState::{self, Active, Closed, Paused};

/// Message of the cash that was in the drawer when a session began; it is no posting.
pub const CARRIED_OVER: &str = "Cash carried over.";

/// What is done to a teller, as far as its state decides about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TellerStep {
    /// The command OPEN.
    Open,
    /// The command CLOSE.
    Close,
    /// Unlocking of the drawer.
    Unlock,
    /// The command PAUSE.
    Pause,
    /// Creating, confirming or cancelling a transaction.
    Transact,
    /// Counting the cash.
    Count,
}

/// The state after a step, or `None` where the present state does not allow it.
pub fn next_state(present: TellerState, step: TellerStep) -> Option<TellerState> {
    match (present, step) {
        (Closed, Open) => Some(TellerState::Open),
        (TellerState::Open | Active | Paused, Close) => Some(Closed),
        (TellerState::Open | Active | Paused, Unlock) => Some(Active),
        (Active, Pause) => Some(Paused),
        (Active, Transact) => Some(Active),
        (Paused, Count) => Some(Paused),
        _ => None,
    }
}

/// Counts a movement of cash among those with the same message.
pub fn count_movement(moved: &mut Vec<CashMovements>, message: &str, side: Side, amount: Amount) {
    let at = moved.iter().position(|sum| sum.message == message).unwrap_or_else(|| {
        let (message, zero) = (message.to_owned(), Amount::ZERO);
        moved.push(CashMovements { message, count: 0, received: zero, disbursed: zero });
        moved.len() - 1
    });
    let sum = &mut moved[at];
    sum.count += 1;
    match side {
        Side::Debit => sum.received = sum.received.plus(amount),
        Side::Credit => sum.disbursed = sum.disbursed.plus(amount),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mfa_shared::rule::Word;

    #[test]
    fn the_grid_of_states_and_steps() {
        let steps = [Open, Close, Unlock, Pause, Transact, Count];
        let grid = "
            CLOSED OPEN -      -      -      -      -
            OPEN   -    CLOSED ACTIVE -      -      -
            ACTIVE -    CLOSED ACTIVE PAUSED ACTIVE -
            PAUSED -    CLOSED ACTIVE -      -      PAUSED";
        let mut rows = 0;
        for row in grid.trim().lines() {
            let mut cells = row.split_whitespace();
            let present = TellerState::find(cells.next().unwrap()).unwrap();
            for (step, cell) in steps.iter().zip(cells) {
                assert_eq!(next_state(present, *step), TellerState::find(cell), "{present} {step:?}");
            }
            rows += 1;
        }
        assert_eq!(rows, TellerState::WORDS.len());
    }
}
