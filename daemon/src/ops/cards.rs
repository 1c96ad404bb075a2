//! Identification cards of customers. Contract: `customers.md` section 6.

use super::{Caller, customers};
use crate::ops::rows::Rows;
use crate::store::Tx;
use crate::store::records::{CARDS_BY_NUMBER, StoredCard, StoredScan};
use mfa_shared::api::cards::*;
use mfa_shared::fault::{self, Fault};
use mfa_shared::wire::{Accepted, Json, Nothing};

/// `POST /customers/{customer}/identifications`
pub fn create(
    tx: &mut Tx<'_>,
    caller: &Caller,
    at: &CreateCard,
    Json(new): &Json<CardInput>,
) -> Result<Accepted, Fault> {
    let customer = customers::find(tx, &at.customer)?;
    if tx.any(CARDS_BY_NUMBER, &[&new.number])? {
        let detail = format!("there is an identification card with the number \"{}\" already", new.number);
        return Err(Fault::new(fault::CARD_NUMBER_TAKEN, detail));
    }
    let new = new.clone();
    let card = Card {
        r#type: new.r#type,
        number: new.number,
        expiration_date: new.expiration_date,
        issuer: new.issuer,
        created_by: caller.name.clone(),
        created_on: tx.now(),
        last_modified_by: None,
        last_modified_on: None,
    };
    let place = tx.next_number::<StoredCard>(&[&at.customer])?;
    tx.put(&StoredCard { customer: at.customer.clone(), place, card })?;
    customers::save(tx, caller, customer)
}

/// `GET /customers/{customer}/identifications`
pub fn list(
    tx: &mut Tx<'_>,
    _: &Caller,
    at: &ListCards,
    _: &Nothing,
) -> Result<Rows<StoredCard, Card>, Fault> {
    customers::find(tx, &at.customer)?;
    Ok(Rows::all(&[&at.customer], |_, stored| Ok(stored.card)))
}

/// `GET /customers/{customer}/identifications/{card}`
pub fn get(tx: &mut Tx<'_>, _: &Caller, at: &GetCard, _: &Nothing) -> Result<Json<Card>, Fault> {
    Ok(Json(find(tx, &at.customer, &at.card)?.card))
}

/// `PUT /customers/{customer}/identifications/{card}`
pub fn update(
    tx: &mut Tx<'_>,
    caller: &Caller,
    at: &UpdateCard,
    Json(change): &Json<CardInput>,
) -> Result<Accepted, Fault> {
    let mut stored = find(tx, &at.customer, &at.card)?;
    if change.number != at.card {
        let detail = format!("the body names card \"{}\", the path \"{}\"", change.number, at.card);
        return Err(Fault::new(fault::IDENTIFIER_MISMATCH, detail));
    }
    let change = change.clone();
    stored.card.r#type = change.r#type;
    stored.card.expiration_date = change.expiration_date;
    stored.card.issuer = change.issuer;
    save(tx, caller, stored)?;
    touch_customer(tx, caller, &at.customer)
}

/// `DELETE /customers/{customer}/identifications/{card}`
pub fn delete(tx: &mut Tx<'_>, caller: &Caller, at: &DeleteCard, _: &Nothing) -> Result<Accepted, Fault> {
    let stored = find(tx, &at.customer, &at.card)?;
    for scan in tx.all::<StoredScan>(&[&at.customer, &at.card])? {
        tx.remove(&scan);
        tx.note_changed("scan", &[&at.customer, &at.card, &scan.scan.identifier]);
    }
    tx.remove(&stored);
    touch_customer(tx, caller, &at.customer)
}

/// The card of this customer; a card of another customer is not there.
pub(super) fn find(tx: &mut Tx<'_>, customer: &str, number: &str) -> Result<StoredCard, Fault> {
    customers::find(tx, customer)?;
    let same = |stored: &StoredCard| stored.customer == customer && stored.card.number == number;
    let found = tx.indexed::<StoredCard>(CARDS_BY_NUMBER, &[number])?.into_iter().find(same);
    found.ok_or_else(|| {
        let detail = format!("customer {customer} has no identification card \"{number}\"");
        Fault::new(fault::CARD_NOT_FOUND, detail)
    })
}

/// Writes a card that was changed, or whose scans were.
pub(super) fn save(tx: &mut Tx<'_>, caller: &Caller, mut stored: StoredCard) -> Result<Accepted, Fault> {
    stored.card.last_modified_by = Some(caller.name.clone());
    stored.card.last_modified_on = Some(tx.now());
    tx.put(&stored)?;
    Ok(Accepted)
}

fn touch_customer(tx: &mut Tx<'_>, caller: &Caller, customer: &str) -> Result<Accepted, Fault> {
    let customer = customers::find(tx, customer)?;
    customers::save(tx, caller, customer)
}
