//! Scans of identification cards. Contract: `customers.md` section 7.

use super::{Caller, ShownImage, cards, stored_image};
use crate::ops::rows::Rows;
use crate::store::Tx;
use crate::store::records::{SCANS_BY_IDENTIFIER, StoredScan};
use mfa_shared::api::scans::*;
use mfa_shared::fault::{self, Fault};
use mfa_shared::upload::Upload;
use mfa_shared::wire::{Accepted, Json, Nothing};

/// `POST /customers/{customer}/identifications/{card}/scans`
pub fn create(
    tx: &mut Tx<'_>,
    caller: &Caller,
    at: &CreateScan,
    upload: &Upload<ScanForm>,
) -> Result<Accepted, Fault> {
    let card = cards::find(tx, &at.customer, &at.card)?;
    let ScanForm { scan_identifier: identifier, description } = upload.form.clone();
    if tx.any(SCANS_BY_IDENTIFIER, &[&at.customer, &at.card, &identifier])? {
        let detail = format!("card {} has a scan \"{identifier}\" already", at.card);
        return Err(Fault::new(fault::IDENTIFIER_TAKEN, detail));
    }
    let place = tx.next_number::<StoredScan>(&[&at.customer, &at.card])?;
    let image = stored_image(tx, upload)?;
    let customer = at.customer.clone();
    let number = at.card.clone();
    let scan = Scan { identifier, description };
    tx.put(&StoredScan { customer, card: number, place, scan, image })?;
    cards::save(tx, caller, card)
}

/// `GET /customers/{customer}/identifications/{card}/scans`
pub fn list(
    tx: &mut Tx<'_>,
    _: &Caller,
    at: &ListScans,
    _: &Nothing,
) -> Result<Rows<StoredScan, Scan>, Fault> {
    cards::find(tx, &at.customer, &at.card)?;
    Ok(Rows::all(&[&at.customer, &at.card], |_, stored| Ok(stored.scan)))
}

/// `GET /customers/{customer}/identifications/{card}/scans/{scan}`
pub fn get(tx: &mut Tx<'_>, _: &Caller, at: &GetScan, _: &Nothing) -> Result<Json<Scan>, Fault> {
    Ok(Json(find(tx, &at.customer, &at.card, &at.scan)?.scan))
}

/// `GET /customers/{customer}/identifications/{card}/scans/{scan}/image`
pub fn get_image(tx: &mut Tx<'_>, _: &Caller, at: &GetScanImage, _: &Nothing) -> Result<ShownImage, Fault> {
    Ok(ShownImage(find(tx, &at.customer, &at.card, &at.scan)?.image))
}

/// `DELETE /customers/{customer}/identifications/{card}/scans/{scan}`
pub fn delete(tx: &mut Tx<'_>, caller: &Caller, at: &DeleteScan, _: &Nothing) -> Result<Accepted, Fault> {
    let card = cards::find(tx, &at.customer, &at.card)?;
    match look(tx, &at.customer, &at.card, &at.scan)? {
        None => Ok(Accepted),
        Some(scan) => {
            tx.remove(&scan);
            cards::save(tx, caller, card)
        }
    }
}

/// The scan of a card that is there.
fn look(tx: &mut Tx<'_>, customer: &str, card: &str, scan: &str) -> Result<Option<StoredScan>, Fault> {
    let found = tx.indexed::<StoredScan>(SCANS_BY_IDENTIFIER, &[customer, card, scan])?;
    Ok(found.into_iter().find(|stored| stored.scan.identifier == scan))
}

fn find(tx: &mut Tx<'_>, customer: &str, card: &str, scan: &str) -> Result<StoredScan, Fault> {
    cards::find(tx, customer, card)?;
    let detail = || format!("card {card} has no scan \"{scan}\"");
    look(tx, customer, card, scan)?.ok_or_else(|| Fault::new(fault::SCAN_NOT_FOUND, detail()))
}
