//! Portraits of customers. Contract: `customers.md` section 5.

use super::{Caller, ShownImage, customers, stored_image};
use crate::store::Tx;
use crate::store::records::StoredPortrait;
use mfa_shared::api::portraits::*;
use mfa_shared::fault::{self, Fault};
use mfa_shared::upload::Upload;
use mfa_shared::wire::{Accepted, Nothing};

/// `POST /customers/{customer}/portrait`
pub fn set(
    tx: &mut Tx<'_>,
    caller: &Caller,
    at: &SetPortrait,
    upload: &Upload<PortraitForm>,
) -> Result<Accepted, Fault> {
    let customer = customers::find(tx, &at.customer)?;
    let image = stored_image(tx, upload)?;
    tx.put(&StoredPortrait { customer: at.customer.clone(), image })?;
    customers::save(tx, caller, customer)
}

/// `GET /customers/{customer}/portrait`
pub fn get(tx: &mut Tx<'_>, _: &Caller, at: &GetPortrait, _: &Nothing) -> Result<ShownImage, Fault> {
    customers::find(tx, &at.customer)?;
    let portrait = tx.get::<StoredPortrait>(&[&at.customer])?;
    portrait.map(|portrait| ShownImage(portrait.image)).ok_or_else(|| {
        Fault::new(fault::PORTRAIT_NOT_FOUND, format!("customer {} has no portrait", at.customer))
    })
}

/// `DELETE /customers/{customer}/portrait`
pub fn delete(tx: &mut Tx<'_>, caller: &Caller, at: &DeletePortrait, _: &Nothing) -> Result<Accepted, Fault> {
    let customer = customers::find(tx, &at.customer)?;
    match tx.get::<StoredPortrait>(&[&at.customer])? {
        None => Ok(Accepted),
        Some(portrait) => {
            tx.remove(&portrait);
            customers::save(tx, caller, customer)
        }
    }
}
