//! Offices, branches, addresses, external references. Contract: `organisation.md` section 2.

use super::listing::{Findable, Listing, Shelved, SortKey, json};
use super::{Caller, Use, refuse_used};
use crate::ops::rows::Rows;
use crate::store::Tx;
use crate::store::records::{
    Audit, CUSTOMERS_BY_OFFICE, DayMark, EMPLOYEES_BY_OFFICE, OFFICE_REFERENCES_ACTIVE, OFFICES_BY_PARENT,
    StoredOffice, StoredReference, TELLERS_BY_OFFICE,
};
use mfa_shared::api::days::OfficeDay;
use mfa_shared::api::offices::*;
use mfa_shared::fault::{self, Fault};
use mfa_shared::query::Paging;
use mfa_shared::wire::{Accepted, Json, JsonOrNone, Nothing, Query};

/// What keeps an office from being deleted.
const USES: &[Use] = &[
    (OFFICES_BY_PARENT, "branch", "branches"),
    (EMPLOYEES_BY_OFFICE, "employee", "employees"),
    (TELLERS_BY_OFFICE, "teller", "tellers"),
    (OFFICE_REFERENCES_ACTIVE, "active external reference", "active external references"),
];

/// Uses that count only where every reference must name a record.
const STRICT_USES: &[Use] = &[(CUSTOMERS_BY_OFFICE, "customer", "customers")];

/// `POST /offices`
pub fn create(
    tx: &mut Tx<'_>,
    caller: &Caller,
    _: &CreateOffice,
    Json(new): &Json<NewOffice>,
) -> Result<Accepted, Fault> {
    if let Some(parent) = &new.parent_identifier
        && !tx.has::<StoredOffice>(&[parent])?
    {
        return Err(Fault::unknown_reference("/parentIdentifier", "office", parent));
    }
    insert(tx, caller, new, new.parent_identifier.clone())
}

/// `GET /offices`
pub fn list(
    _: &mut Tx<'_>,
    _: &Caller,
    _: &ListOffices,
    Query(paging): &Query<Paging<Office>>,
) -> Result<Listing<StoredOffice, Office>, Fault> {
    Ok(listing(paging))
}

/// `GET /offices/{office}`
pub fn get(tx: &mut Tx<'_>, _: &Caller, at: &GetOffice, _: &Nothing) -> Result<Json<Office>, Fault> {
    let office = find(tx, &at.office)?;
    Ok(Json(shown(tx, office)?))
}

/// `PUT /offices/{office}`
pub fn update(
    tx: &mut Tx<'_>,
    caller: &Caller,
    at: &UpdateOffice,
    Json(change): &Json<OfficeChange>,
) -> Result<Accepted, Fault> {
    let mut office = find(tx, &at.office)?;
    if change.identifier != at.office {
        let detail = format!("the body names office \"{}\", the path \"{}\"", change.identifier, at.office);
        return Err(Fault::new(fault::IDENTIFIER_MISMATCH, detail));
    }
    if change.parent_identifier.is_some() && change.parent_identifier != office.parent_identifier {
        return Err(parent_mismatch(&at.office, office.parent_identifier.as_deref()));
    }
    if let Some(name) = &change.name {
        office.name.clone_from(name);
    }
    office.description = change.description.clone().or(office.description);
    office.address = change.address.clone().or(office.address);
    save(tx, caller, office)
}

/// `DELETE /offices/{office}`
pub fn delete(tx: &mut Tx<'_>, _: &Caller, at: &DeleteOffice, _: &Nothing) -> Result<Accepted, Fault> {
    let office = find(tx, &at.office)?;
    let uses = uses(tx);
    refuse_used(tx, "office", &at.office, uses)?;
    tx.remove_all::<StoredReference>(&[&at.office])?;
    // No teller of it was ever opened, so their records have no money in them; the next office of this name
    // begins anew.
    tx.remove_all::<OfficeDay>(&[&at.office])?;
    if let Some(mark) = tx.get::<DayMark>(&[&at.office])? {
        tx.remove(&mark);
    }
    tx.remove(&office);
    Ok(Accepted)
}

/// `POST /offices/{office}`
pub fn create_branch(
    tx: &mut Tx<'_>,
    caller: &Caller,
    at: &CreateBranch,
    Json(new): &Json<NewOffice>,
) -> Result<Accepted, Fault> {
    let parent = find(tx, &at.office)?;
    if new.parent_identifier.as_ref().is_some_and(|named| *named != at.office) {
        return Err(parent_mismatch(&new.identifier, Some(&at.office)));
    }
    insert(tx, caller, new, Some(at.office.clone()))?;
    save(tx, caller, parent)
}

/// `GET /offices/{office}/branches`
pub fn list_branches(
    tx: &mut Tx<'_>,
    _: &Caller,
    at: &ListBranches,
    Query(paging): &Query<Paging<Office>>,
) -> Result<Listing<StoredOffice, Office>, Fault> {
    find(tx, &at.office)?;
    Ok(listing(paging).under(OFFICES_BY_PARENT, &at.office))
}

/// `PUT /offices/{office}/address`
pub fn set_address(
    tx: &mut Tx<'_>,
    caller: &Caller,
    at: &SetOfficeAddress,
    Json(address): &Json<Address>,
) -> Result<Accepted, Fault> {
    let mut office = find(tx, &at.office)?;
    office.address = Some(address.clone());
    save(tx, caller, office)
}

/// `GET /offices/{office}/address`
pub fn get_address(
    tx: &mut Tx<'_>,
    _: &Caller,
    at: &GetOfficeAddress,
    _: &Nothing,
) -> Result<JsonOrNone<Address>, Fault> {
    Ok(JsonOrNone(find(tx, &at.office)?.address))
}

/// `DELETE /offices/{office}/address`
pub fn delete_address(
    tx: &mut Tx<'_>,
    caller: &Caller,
    at: &DeleteOfficeAddress,
    _: &Nothing,
) -> Result<Accepted, Fault> {
    let mut office = find(tx, &at.office)?;
    if office.address.take().is_none() {
        return Ok(Accepted);
    }
    save(tx, caller, office)
}

/// `PUT /offices/{office}/references`
pub fn set_reference(
    tx: &mut Tx<'_>,
    caller: &Caller,
    at: &SetOfficeReference,
    Json(reference): &Json<ExternalReference>,
) -> Result<Accepted, Fault> {
    let office = find(tx, &at.office)?;
    let r#type = reference.r#type.clone();
    let state = reference.state;
    tx.put(&StoredReference { office: at.office.clone(), r#type, state })?;
    save(tx, caller, office)
}

/// `GET /offices/{office}/references`
pub fn list_references(
    tx: &mut Tx<'_>,
    _: &Caller,
    at: &ListOfficeReferences,
    _: &Nothing,
) -> Result<Rows<StoredReference, ExternalReference>, Fault> {
    find(tx, &at.office)?;
    Ok(Rows::all(&[&at.office], |_, stored| Ok(stored.shown())))
}

/// The office, if there is one.
pub fn find(tx: &mut Tx<'_>, office: &str) -> Result<StoredOffice, Fault> {
    let found = tx.get(&[office])?;
    found.ok_or_else(|| Fault::new(fault::OFFICE_NOT_FOUND, format!("there is no office \"{office}\"")))
}

fn insert(
    tx: &mut Tx<'_>,
    caller: &Caller,
    new: &NewOffice,
    parent_identifier: Option<String>,
) -> Result<Accepted, Fault> {
    let new = new.clone();
    if tx.has::<StoredOffice>(&[&new.identifier])? {
        let detail = format!("there is an office \"{}\" already", new.identifier);
        return Err(Fault::new(fault::IDENTIFIER_TAKEN, detail));
    }
    let audit = Audit::new(&caller.name, tx.now());
    let NewOffice { identifier, name, description, address, .. } = new;
    tx.put(&StoredOffice { identifier, name, description, parent_identifier, address, audit })?;
    Ok(Accepted)
}

fn save(tx: &mut Tx<'_>, caller: &Caller, mut office: StoredOffice) -> Result<Accepted, Fault> {
    office.audit.touch(&caller.name, tx.now());
    tx.put(&office)?;
    Ok(Accepted)
}

fn parent_mismatch(office: &str, parent: Option<&str>) -> Fault {
    let stands = parent.map_or("is a head office".to_owned(), |parent| format!("is a branch of {parent}"));
    Fault::new(fault::PARENT_MISMATCH, format!("office {office} {stands}; the body names another parent"))
}

fn uses(tx: &Tx<'_>) -> impl Iterator<Item = &'static Use> + use<> {
    let strict = if tx.strict_references() { STRICT_USES } else { &[] };
    USES.iter().chain(strict)
}

fn shown(tx: &mut Tx<'_>, office: StoredOffice) -> Result<Office, Fault> {
    for (index, ..) in uses(tx) {
        if tx.any(*index, &[&office.identifier])? {
            return Ok(office.shown(true));
        }
    }
    Ok(office.shown(false))
}

fn listing(paging: &Paging<Office>) -> Listing<StoredOffice, Office> {
    Listing::of_shelf(paging, None, |tx, office| Ok(json(&shown(tx, office)?)))
}

impl Findable for StoredOffice {
    fn identifier(&self) -> &str {
        &self.identifier
    }
    fn texts(&self) -> Vec<Option<&str>> {
        vec![Some(&self.identifier), Some(&self.name)]
    }
}

impl Shelved for StoredOffice {
    type Brief = Self;
    fn sort_key(&self, column: &str) -> SortKey {
        sort_key(self, column)
    }
}

fn sort_key(office: &StoredOffice, column: &str) -> SortKey {
    let audit = &office.audit;
    match column {
        "name" => (&office.name).into(),
        "description" => office.description.as_ref().into(),
        "parentIdentifier" => office.parent_identifier.as_ref().into(),
        "createdBy" => (&audit.created_by).into(),
        "createdOn" => audit.created_on.millis().into(),
        "lastModifiedBy" => audit.last_modified_by.as_ref().into(),
        "lastModifiedOn" => audit.last_modified_on.map(|on| on.millis()).into(),
        _ => (&office.identifier).into(),
    }
}
