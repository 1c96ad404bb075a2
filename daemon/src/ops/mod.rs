//! One function for each row of the endpoint table, in the order of the rows.
//!
//! An operation is a plain function `(tx, caller, endpoint, body) -> Result<answer, Fault>`: no HTTP in it,
//! no waiting, no engine. It may run more than once, so it changes nothing but the `Tx`.

pub mod access;
pub mod actions;
pub mod application_permissions;
pub mod applications;
pub mod assertions;
pub mod attempts;
pub mod audit;
pub mod backups;
pub mod caller;
pub mod callers;
pub mod cards;
pub mod check;
pub mod customers;
pub mod days;
pub mod definitions;
pub mod dividends;
pub mod employees;
pub mod events;
pub mod figures;
pub mod find;
pub mod gateways;
pub mod grants;
pub mod groups;
pub mod in_time;
pub mod init;
pub mod instances;
pub mod interest;
mod known;
pub mod last_use;
pub mod ledger;
pub mod list;
pub mod listing;
pub mod login;
pub mod offices;
pub mod portraits;
pub mod references;
pub mod reports;
pub mod roles;
pub mod rows;
pub mod scans;
pub mod search;
pub mod second_factor;
pub mod secret;
pub mod sessions;
pub mod tellers;
pub mod tokens;
pub mod turn;
mod unknown;
pub mod user_sessions;
pub mod users;
pub mod webhooks;

use crate::config::Config;
use crate::store::Tx;
use crate::store::engine::Space;
use crate::store::records::StoredImage;
pub use caller::Caller;
use mfa_shared::fault::{self, Fault};
use mfa_shared::upload::{Image, Upload};
use std::marker::PhantomData;
use unknown::Unknown;

/// What the plan of an errand is given.
#[derive(Debug, Clone, Copy)]
pub struct Given<'g> {
    /// The settings of the daemon.
    pub config: &'g Config,
    /// The name of its order.
    pub order: &'g OrderName,
}

/// The name of what a request orders, by which it is known again when it is repeated after a kill. The name
/// depends on the key file; so there is one under each of its keys, that of the key in use first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OrderName(Vec<String>);

impl OrderName {
    /// One with these names.
    pub fn new(names: Vec<String>) -> Self {
        Self(names)
    }

    /// The name that is kept.
    pub fn to_keep(&self) -> String {
        self.0.first().cloned().unwrap_or_default()
    }

    /// Whether a name was kept for the same order.
    pub fn is(&self, kept: &str) -> bool {
        self.0.iter().any(|name| name == kept)
    }
}

/// An answer whose stored form is its form on the wire.
#[derive(Debug)]
pub struct Stored<T> {
    /// The JSON text.
    pub bytes: Vec<u8>,
    shown: PhantomData<fn() -> T>,
}

impl<T> Stored<T> {
    /// The stored text of a `T`.
    pub fn new(bytes: Vec<u8>) -> Self {
        Self { bytes, shown: PhantomData }
    }
}

/// An answer that is the bytes of an image.
#[derive(Debug)]
pub struct ShownImage(pub StoredImage);

/// The image of an upload as records name it.
fn stored_image<F>(tx: &Tx<'_>, upload: &Upload<F>) -> Result<StoredImage, Fault> {
    let Image::Arrived(image) = &upload.image else {
        return Err(Fault::new(fault::INTERNAL, "the image of an upload was not kept"));
    };
    Ok(StoredImage {
        sha256: image.sha256.clone(),
        length: image.length,
        content_type: upload.content_type,
        uploaded_on: tx.now(),
    })
}

/// What keeps a record from being deleted: an index of the uses under the record, and their noun.
type Use = (Space, &'static str, &'static str);

/// Refuses to delete what is still used; the refusal counts every kind of use.
fn refuse_used<'u>(
    tx: &mut Tx<'_>,
    noun: &str,
    name: &str,
    uses: impl Iterator<Item = &'u Use>,
) -> Result<(), Fault> {
    let mut reasons = Vec::new();
    for (index, one, many) in uses {
        match tx.count_some(*index, &[name], COUNTED_MAX)? {
            0 => {}
            count => reasons.push(counted(count, one, many)),
        }
    }
    if reasons.is_empty() {
        return Ok(());
    }
    Err(Fault::new(fault::IN_USE, format!("{noun} {name} has {}", reasons.join(", "))))
}

/// Uses that a refusal counts: nobody waits until a million are counted.
const COUNTED_MAX: u64 = 10_000;

/// `1 branch`, `2 branches`, `more than 10000 branches`.
fn counted(count: u64, one: &str, many: &str) -> String {
    let more = if count > COUNTED_MAX { "more than " } else { "" };
    format!("{more}{} {}", count.min(COUNTED_MAX), if count == 1 { one } else { many })
}
