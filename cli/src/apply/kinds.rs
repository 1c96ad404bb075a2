//! What each kind of record needs for being applied.

use crate::bulk::supply::{self, Supply};
use crate::failure::Outcome;
use crate::input;
use mfa_shared::api::definitions::*;
use mfa_shared::api::employees::*;
use mfa_shared::api::gateways::*;
use mfa_shared::api::groups::*;
use mfa_shared::api::offices::*;
use mfa_shared::api::roles::*;
use mfa_shared::api::tellers::*;
use mfa_shared::api::users::*;
use mfa_shared::endpoint::{Endpoint, Meta};
use mfa_shared::object::Object;
use mfa_shared::wire::Json;
use serde::Serialize;
use serde_json::{Value, json};

/// A kind of record.
pub struct Kind {
    /// What stands behind `kind:`.
    pub name: &'static str,
    /// The property that names a record.
    pub key: &'static str,
    /// The property that stands in the path and not in the body: the record in which this one lies.
    pub within: Option<&'static str>,
    /// The endpoint that makes a record.
    pub create: &'static Meta,
    /// The endpoint that reads one.
    pub read: &'static Meta,
    /// The endpoint that changes one.
    pub change: &'static Meta,
    /// Where all records come from.
    pub supply: Supply,
    /// Properties that no read shows, so that they are never compared.
    pub unseen: &'static [&'static str],
    /// Properties that other records are named in, with their kinds.
    pub references: &'static [Reference],
    /// A record as a read shows it, held to the rules.
    pub shown: fn(&Value) -> Outcome<Value>,
    /// The body that makes a record.
    pub made: fn(&Value) -> Outcome<Value>,
    /// The body that changes one, from the whole record.
    pub changed: fn(&Value) -> Outcome<Value>,
    /// Properties with an endpoint of their own, which is sent for a value of them.
    pub own: &'static [Own],
}

/// Where a kind names another one: `*` in the pointer is every element of a list.
pub type Reference = (&'static str, &'static str);

/// A property that is set by an endpoint of its own.
pub struct Own {
    /// Its name.
    pub property: &'static str,
    /// Whether a new record can be given it only in this way.
    pub always: bool,
    /// The endpoint and its body for a value; nothing where the body of the record takes it.
    pub set: fn(&Value) -> Option<Order>,
}

/// An endpoint with its body.
pub type Order = (&'static Meta, Option<Value>);

/// A value as an object of the wire, with every property of it.
fn held<T: Object + Serialize + Send + Sync>(value: &Value) -> Outcome<Value> {
    let Json(object) = input::checked::<Json<T>>(value)?;
    // Wire types have string keys only.
    Ok(serde_json::to_value(object).unwrap_or_default())
}

/// Every kind, in the order in which records of no other order are sent.
pub const KINDS: &[Kind] = &[
    Kind {
        name: "group",
        create: &CreateGroup::META,
        read: &GetGroup::META,
        change: &UpdateGroup::META,
        shown: held::<PermittableGroup>,
        made: held::<PermittableGroup>,
        changed: held::<PermittableGroup>,
        ..EMPTY
    },
    Kind {
        name: "role",
        create: &CreateRole::META,
        read: &GetRole::META,
        change: &UpdateRole::META,
        supply: Supply::List(supply::roles),
        references: &[("/permissions/*/permittableEndpointGroupIdentifier", "group")],
        shown: held::<Role>,
        made: held::<Role>,
        changed: held::<Role>,
        ..EMPTY
    },
    Kind {
        name: "office",
        create: &CreateOffice::META,
        read: &GetOffice::META,
        change: &UpdateOffice::META,
        supply: Supply::List(supply::offices),
        references: &[("/parentIdentifier", "office")],
        shown: held::<Office>,
        made: held::<NewOffice>,
        changed: held::<OfficeChange>,
        own: &[Own {
            property: "address",
            always: false,
            set: |address| address.is_null().then_some((&DeleteOfficeAddress::META, None)),
        }],
        ..EMPTY
    },
    Kind {
        name: "employee",
        create: &CreateEmployee::META,
        read: &GetEmployee::META,
        change: &UpdateEmployee::META,
        supply: Supply::List(supply::employees),
        references: &[("/assignedOffice", "office")],
        shown: |employee| held::<Employee>(employee).map(by_preference),
        made: held::<EmployeeInput>,
        changed: held::<EmployeeInput>,
        ..EMPTY
    },
    Kind {
        name: "user",
        create: &CreateUser::META,
        read: &GetUser::META,
        change: &SetUserRole::META,
        supply: Supply::List(supply::users),
        // The password of a user who is there is the user's own.
        unseen: &["password"],
        references: &[("/role", "role")],
        shown: held::<User>,
        made: held::<NewUser>,
        changed: |user| held::<RoleChange>(&json!({ "identifier": user["role"] })),
        ..EMPTY
    },
    Kind {
        name: "product",
        create: &CreateDefinition::META,
        read: &GetDefinition::META,
        change: &UpdateDefinition::META,
        supply: Supply::List(supply::definitions),
        shown: held::<Definition>,
        made: held::<NewDefinition>,
        changed: held::<DefinitionChange>,
        own: &[Own {
            property: "active",
            always: true,
            set: |active| {
                let action = if active == &json!(true) { "ACTIVATE" } else { "DEACTIVATE" };
                Some((&CommandDefinition::META, Some(json!({ "action": action }))))
            },
        }],
        ..EMPTY
    },
    Kind {
        name: "teller",
        key: "code",
        within: Some("office"),
        create: &CreateTeller::META,
        read: &GetTeller::META,
        change: &UpdateTeller::META,
        supply: Supply::OfEach(supply::offices, supply::tellers),
        unseen: &["password"],
        references: &[("/office", "office"), ("/assignedEmployee", "employee")],
        shown: held::<Teller>,
        made: held::<NewTeller>,
        changed: held::<TellerChange>,
        ..EMPTY
    },
    Kind {
        name: "email-gateway",
        create: &CreateEmailConfiguration::META,
        read: &GetEmailConfiguration::META,
        change: &UpdateEmailConfiguration::META,
        supply: Supply::List(supply::email_gateways),
        shown: held::<EmailConfiguration>,
        made: held::<EmailConfiguration>,
        changed: held::<EmailChange>,
        ..EMPTY
    },
    Kind {
        name: "sms-gateway",
        create: &CreateSmsConfiguration::META,
        read: &GetSmsConfiguration::META,
        change: &UpdateSmsConfiguration::META,
        supply: Supply::List(supply::sms_gateways),
        shown: held::<SmsConfiguration>,
        made: held::<NewSmsConfiguration>,
        changed: held::<SmsChange>,
        ..EMPTY
    },
];

/// What most kinds have in common.
const EMPTY: Kind = Kind {
    name: "",
    key: "identifier",
    within: None,
    create: &CreateGroup::META,
    read: &GetGroup::META,
    change: &UpdateGroup::META,
    supply: Supply::List(supply::groups),
    unseen: &[],
    references: &[],
    shown: |record| Ok(record.clone()),
    made: |record| Ok(record.clone()),
    changed: |record| Ok(record.clone()),
    own: &[],
};

/// The kind of a name.
pub fn find(name: &str) -> Option<&'static Kind> {
    KINDS.iter().find(|kind| kind.name == name)
}

/// The contacts of an employee in the order in which the daemon answers them.
fn by_preference(mut employee: Value) -> Value {
    if let Some(contacts) = employee["contactDetails"].as_array_mut() {
        contacts.sort_by_key(|contact| contact["preferenceLevel"].as_i64().unwrap_or(i64::MAX));
    }
    employee
}
