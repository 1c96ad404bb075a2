//! The life of a customer's account (`deposits.md` sections 3.2 to 3.4).

use mfa_shared::api::instances::InstanceCommand::{self, Activate, Close, Transaction};
use mfa_shared::api::instances::InstanceState::{self, Active, Closed, Pending};

/// Largest number of an account of one customer.
pub const NUMBER_MAX: u32 = 99_999;

/// Why a command is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    /// The state does not allow it.
    WrongState,
    /// There is money on the account.
    BalanceNotZero,
}

/// What a command does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// The account becomes ACTIVE.
    Opens,
    /// The account becomes CLOSED.
    Closes,
    /// The time of the last transaction is noted.
    Notes,
    /// Nothing changes.
    Nothing,
}

/// What a command does to an account in a state, with a balance of 0 or another one.
pub fn command(
    state: InstanceState,
    command: InstanceCommand,
    balance_is_zero: bool,
) -> Result<Effect, Refusal> {
    match (state, command) {
        (Pending, Activate) => Ok(Effect::Opens),
        (Active, Activate) | (Closed, Close) => Ok(Effect::Nothing),
        (Pending | Active, Close) if balance_is_zero => Ok(Effect::Closes),
        (Pending | Active, Close) => Err(Refusal::BalanceNotZero),
        (Pending | Active, Transaction) => Ok(Effect::Notes),
        (Closed, Activate | Transaction) => Err(Refusal::WrongState),
    }
}

/// The types of transaction that an account in a state allows, ascending.
pub fn transaction_types(state: InstanceState) -> &'static [&'static str] {
    match state {
        Pending => &["ACCO"],
        Active => &["ACCC", "ACCT", "CDPT", "CWDL"],
        Closed => &[],
    }
}

/// The identifier of an account: the customer, the ledger of the product, a number of five digits.
pub fn account_identifier(customer: &str, ledger: &str, number: u32) -> String {
    format!("{customer}.{ledger}.{number:05}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use mfa_shared::rule::Word;

    #[test]
    fn the_grid_of_states_and_commands() {
        let grid = "
            PENDING Opens      Closes  Closes            Notes
            ACTIVE  Nothing    Closes  BalanceNotZero    Notes
            CLOSED  WrongState Nothing Nothing           WrongState";
        for row in grid.trim().lines() {
            let cells: Vec<_> = row.split_whitespace().collect();
            let state = InstanceState::find(cells[0]).unwrap();
            let shown = |asked, zero| match command(state, asked, zero) {
                Ok(effect) => format!("{effect:?}"),
                Err(refusal) => format!("{refusal:?}"),
            };
            assert_eq!(shown(Activate, true), cells[1], "{state}");
            assert_eq!(shown(Close, true), cells[2], "{state}");
            // A PENDING account with money on it cannot occur.
            if state != Pending {
                assert_eq!(shown(Close, false), cells[3], "{state}");
            }
            assert_eq!(shown(Transaction, true), cells[4], "{state}");
        }
    }

    #[test]
    fn an_account_identifier_has_three_parts() {
        assert_eq!(account_identifier("Maria", "9100", 1), "Maria.9100.00001");
        let longest = account_identifier(&"c".repeat(32), &"e".repeat(34), NUMBER_MAX);
        assert_eq!(longest.len(), mfa_shared::api::instances::ACCOUNT_LENGTH_MAX);
    }
}
