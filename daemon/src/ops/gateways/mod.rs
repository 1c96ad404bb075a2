//! E-mail and SMS gateways: a file for each kind, and what they share. Contract: `gateways.md`.

mod common;
pub mod email;
pub mod sms;
mod trial;

use super::Caller;
use crate::store::Tx;
use mfa_shared::api::gateways::{EmailChange, SmsChange, UpdateSmsConfiguration};
use mfa_shared::fault::Fault;
use mfa_shared::wire::{Accepted, OneOf};

/// `PUT /configuration/sms`, which changes e-mail configurations, too
pub fn update(
    tx: &mut Tx<'_>,
    caller: &Caller,
    _: &UpdateSmsConfiguration,
    change: &OneOf<SmsChange, EmailChange>,
) -> Result<Accepted, Fault> {
    match change {
        OneOf::First(change) => sms::change(tx, caller, change),
        OneOf::Other(change) => email::change(tx, caller, change),
    }
}
