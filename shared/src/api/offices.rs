//! Offices, branches, addresses, external references. Contract: `organisation.md` section 2.

use crate::kind::Kind;
use crate::object::nested;
use crate::query::Listed;
use crate::query::Paging;
use crate::rule::*;
use crate::wire::{Accepted, Array, Json, JsonOrNone, Nothing, Page, Query};
use crate::{endpoints, object, words};

object! {
    /// Where an office or a customer is found.
    pub struct Address {
        /// Street and house number.
        street: String = required(line(256).not_blank()),
        /// City.
        city: String = required(line(256).not_blank()),
        /// Region.
        region: Option<String> = optional(line(256)),
        /// Postal code.
        postal_code: Option<String> = optional(line(32)),
        /// Code of the country, two letters or digits.
        country_code: String = required(alphanumeric(2)),
        /// Name of the country.
        country: String = required(line(256).not_blank()),
    }

    /// An office as every read shows it.
    pub struct Office {
        /// Unique over all offices; never changes.
        identifier: String = required(id(32)),
        /// Name.
        name: String = required(line(256).not_blank()),
        /// Description.
        description: Option<String> = optional(text(2048)),
        /// The office of which this one is a branch; null for a head office.
        parent_identifier: Option<String> = optional(id(32)),
        /// Address.
        address: Option<Address> = optional(nested()),
        /// Whether something still uses the office, so that it cannot be deleted.
        external_references: bool = required(flag()),
    }

    /// A new office, or a new branch.
    pub struct NewOffice {
        /// Unique over all offices; never changes.
        identifier: String = required(id(32)),
        /// Name.
        name: String = required(line(256).not_blank()),
        /// Description.
        description: Option<String> = optional(text(2048)),
        /// The office of which this one is a branch; null for a head office.
        parent_identifier: Option<String> = optional(id(32)),
        /// Address.
        address: Option<Address> = optional(nested()),
    }

    /// A changed office; null keeps what is stored.
    pub struct OfficeChange {
        /// The identifier of the path.
        identifier: String = required(id(32)),
        /// Name.
        name: Option<String> = optional(line(256).not_blank()),
        /// Description; the empty text empties it.
        description: Option<String> = optional(text(2048)),
        /// The present parent; an office never moves.
        parent_identifier: Option<String> = optional(id(32)),
        /// Address, replaced as a whole.
        address: Option<Address> = optional(nested()),
    }

    /// A mark with which another system says that it uses the office.
    pub struct ExternalReference {
        /// A free label; an office has at most one reference of each type.
        r#type as "type": String = required(line(32).not_blank()),
        /// Whether the use goes on.
        state: ReferenceState = required(word()),
    }
}

words! {
    /// Whether another system still uses an office.
    pub enum ReferenceState {
        /// It does, so the office cannot be deleted.
        Active = "ACTIVE",
        /// It does not any more.
        Inactive = "INACTIVE",
    }
}

impl Listed for Office {
    const PLURAL: &'static str = "offices";
    const COLUMNS: &'static [&'static str] = &[
        "identifier",
        "name",
        "description",
        "parentIdentifier",
        "createdBy",
        "createdOn",
        "lastModifiedBy",
        "lastModifiedOn",
    ];
}

/// Its kind of record.
pub const KINDS: &[Kind] = &[Kind::of("office", "/offices/{}", "identifier", "GetOffice")];

endpoints! {
    application "office-v1";
    /// Create a head office, or a branch of the named parent.
    CreateOffice {} Post "/offices" Json<NewOffice> => Accepted;
    /// List all offices, head offices and branches.
    ListOffices {} Get "/offices" Query<Paging<Office>> => Page<Office>;
    /// Read an office.
    GetOffice { office } Get "/offices/{office}" Nothing => Json<Office>, tag GetOffice;
    /// Change the name, description or address of an office.
    UpdateOffice { office } Put "/offices/{office}" Json<OfficeChange> => Accepted, tag GetOffice;
    /// Delete an office that nothing uses any more.
    DeleteOffice { office } Delete "/offices/{office}" Nothing => Accepted, tag GetOffice;
    /// Create a branch of an office.
    CreateBranch { office } Post "/offices/{office}" Json<NewOffice> => Accepted;
    /// List the direct branches of an office.
    ListBranches { office } Get "/offices/{office}/branches" Query<Paging<Office>> => Page<Office>;
    /// Set the address of an office.
    SetOfficeAddress { office } Put "/offices/{office}/address" Json<Address> => Accepted, tag GetOffice;
    /// Read the address of an office.
    GetOfficeAddress { office } Get "/offices/{office}/address" Nothing => JsonOrNone<Address>, tag GetOffice;
    /// Remove the address of an office.
    DeleteOfficeAddress { office } Delete "/offices/{office}/address" Nothing => Accepted, tag GetOffice;
    /// Add an external reference to an office, or set the state of the one of this type.
    SetOfficeReference { office } Put "/offices/{office}/references" Json<ExternalReference> => Accepted,
        tag GetOffice;
    /// List the external references of an office.
    ListOfficeReferences { office } Get "/offices/{office}/references" Nothing => Array<ExternalReference>;
}
