//! The life of a customer (`customers.md` section 3), and by what one is found.

use mfa_shared::api::customers::CustomerAction::{self, Activate, Close, Lock, Reopen, Unlock};
use mfa_shared::api::customers::CustomerState::{self, Active, Closed, Locked, Pending};
use mfa_shared::api::customers::{Customer, CustomerContact, DateOfBirth};
use mfa_shared::rule::Word;
use serde::Deserialize;

/// What a customer is found by, read out of its stored form. Lists and searches read all customers, so the
/// rest of each one, which is most of it, is passed over.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct KnownCustomer {
    /// The customer.
    pub identifier: String,
    /// Given name.
    pub given_name: Option<String>,
    /// Middle name.
    pub middle_name: Option<String>,
    /// Surname.
    pub surname: Option<String>,
    /// Day of birth.
    pub date_of_birth: Option<DateOfBirth>,
    /// How the customer is reached.
    pub contact_details: Vec<CustomerContact>,
    /// State.
    pub current_state: CustomerState,
}

/// The name of a customer as a person says it, if any part of it is known.
pub fn full_name(customer: &Customer) -> Option<String> {
    let parts = [&customer.given_name, &customer.middle_name, &customer.surname];
    let known: Vec<_> = parts.into_iter().flatten().map(|part| part.trim()).collect();
    let known: Vec<_> = known.into_iter().filter(|part| !part.is_empty()).collect();
    (!known.is_empty()).then(|| known.join(" "))
}

/// The state after a command, or `None` where the present state does not allow it. A customer who was
/// activated once is reopened as ACTIVE.
pub fn next_state(
    present: CustomerState,
    action: CustomerAction,
    was_activated: bool,
) -> Option<CustomerState> {
    match (present, action) {
        (Pending, Activate) | (Locked, Unlock) => Some(Active),
        (Active, Lock) => Some(Locked),
        (Pending | Active | Locked, Close) => Some(Closed),
        (Closed, Reopen) => Some(if was_activated { Active } else { Pending }),
        _ => None,
    }
}

/// The actions that are possible in a state, as a refusal lists them.
pub fn possible(present: CustomerState) -> String {
    let possible =
        CustomerAction::WORDS.iter().filter(|(_, action)| next_state(present, *action, false).is_some());
    possible.map(|(word, _)| *word).collect::<Vec<_>>().join(" or ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_grid_of_states_and_commands() {
        let grid = "
            PENDING  ACTIVE - - CLOSED -
            ACTIVE   - LOCKED - CLOSED -
            LOCKED   - - ACTIVE CLOSED -
            CLOSED   - - - - PENDING";
        for row in grid.trim().lines() {
            let mut cells = row.split_whitespace();
            let present = CustomerState::find(cells.next().unwrap()).unwrap();
            for ((_, action), cell) in CustomerAction::WORDS.iter().zip(cells) {
                let expected = CustomerState::find(cell);
                assert_eq!(next_state(present, *action, false), expected, "{present} {action}");
                let after = expected.map(|state| if *action == Reopen { Active } else { state });
                assert_eq!(next_state(present, *action, true), after, "{present} {action} activated before");
            }
        }
    }
}
