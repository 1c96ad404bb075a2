//! What to type next where the state of a teller, of a transaction or of an account stands against it.

use crate::failure::Failure;
use mfa_shared::fault;

/// The failure, with the command that leads on where the state is wrong.
pub(super) fn next_step(failure: Failure) -> Failure {
    if failure.code != fault::WRONG_STATE.code || !failure.hint.is_empty() {
        return failure;
    }
    match hint(&failure.message) {
        Some(hint) => failure.hint(hint),
        None => failure,
    }
}

/// The daemon begins with what stands where: `teller T1 is CLOSED, so PAUSE is not possible`.
fn hint(message: &str) -> Option<String> {
    let words: Vec<_> = message.split([' ', ',', ';']).filter(|word| !word.is_empty()).collect();
    let [noun, name, "is", state, rest @ ..] = words.as_slice() else { return None };
    Some(match (*noun, *state, rest) {
        ("teller", "CLOSED", ["so", "CLOSE", ..]) => {
            format!("its day is over; look at it: mfa teller reports list {name}")
        }
        ("teller", "CLOSED", _) => format!("open it first: mfa teller open {name}"),
        ("teller", _, ["so", "OPEN" | "nobody", ..]) => format!("close it first: mfa teller close {name}"),
        ("teller", _, _) => format!("unlock its drawer first: mfa teller unlock {name}"),
        ("transaction", _, _) => {
            "it stays as it is; list those that wait: mfa teller transactions list CODE \
                                  --status pending"
                .to_owned()
        }
        ("account", "PENDING", _) => {
            format!("open it first: mfa teller open-account CODE --account {name} --amount AMOUNT")
        }
        ("account", "ACTIVE", _) => {
            format!(
                "it is open already; pay into it: mfa teller deposit CODE --account {name} --amount AMOUNT"
            )
        }
        ("account", _, _) => format!("it stays closed; look at it: mfa accounts get {name}"),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_wrong_state_at_the_counter_has_a_next_step() {
        for (message, expected) in [
            ("teller T1 is CLOSED, so PAUSE is not possible", "open it first: mfa teller open T1"),
            ("teller T1 is PAUSED, so a transaction is not possible", "mfa teller unlock T1"),
            ("teller T1 is OPEN, so CONFIRM is not possible", "mfa teller unlock T1"),
            ("teller T1 is ACTIVE, so OPEN is not possible", "mfa teller close T1"),
            ("teller T1 is OPEN, so nobody else can be assigned to it", "mfa teller close T1"),
            ("teller T1 is CLOSED, so CLOSE is not possible", "mfa teller reports list T1"),
            ("transaction 7f is CONFIRMED, so CANCEL is not possible", "--status pending"),
            ("account a.1 is PENDING; CDPT needs it ACTIVE", "mfa teller open-account CODE --account a.1"),
            ("account a.1 is ACTIVE; ACCO needs it PENDING", "mfa teller deposit CODE --account a.1"),
            ("account a.1 is CLOSED; CWDL needs it ACTIVE", "mfa accounts get a.1"),
        ] {
            let found = hint(message).unwrap_or_default();
            assert!(found.contains(expected), "{message}: {found}");
        }
        assert_eq!(hint("cash moved meanwhile"), None);
    }
}
