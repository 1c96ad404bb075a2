//! The refusal of what cannot be done now.

use mfa_shared::fault::{Fault, UNAVAILABLE};

/// Seconds after which a client may try again; a person has to look at the disk first.
const RETRY_AFTER_S: u32 = 30;

/// The fault of everything that cannot be done until a person has looked at the disk.
pub(super) fn unavailable(detail: &str) -> Fault {
    Fault::new(UNAVAILABLE, detail).retry_after(RETRY_AFTER_S)
}
