//! E-mail and SMS gateways: a file for each kind, and what they share. Contract: `gateways.md`.

mod common;
mod email;
mod sms;
mod trial;

pub use common::{Gateway, create, delete, get, list, note, update};
pub use email::bad_besides;
pub use trial::{plan_test, settle_test};

use crate::store::records::{StoredEmail, StoredSms};

/// What is done for every kind of gateway.
pub trait ForEachGateway {
    /// Does it for one kind.
    fn kind<G: Gateway>(&mut self);
}

/// Goes through the kinds of gateways, in the order of their rows.
pub fn each_gateway(each: &mut impl ForEachGateway) {
    each.kind::<StoredEmail>();
    each.kind::<StoredSms>();
}
