//! What each noun needs to travel in bulk.

use super::supply::Supply;
use crate::views::{self, View};
use mfa_shared::api::cards::{CreateCard, UpdateCard};
use mfa_shared::api::customers::{CreateCustomer, UpdateCustomer};
use mfa_shared::api::definitions::{CreateDefinition, UpdateDefinition};
use mfa_shared::api::employees::{CreateEmployee, UpdateEmployee};
use mfa_shared::api::instances::CreateInstance;
use mfa_shared::api::offices::{CreateOffice, UpdateOffice};
use mfa_shared::api::users::{CreateUser, SetUserRole};
use mfa_shared::endpoint::{Endpoint, Meta};
use serde_json::{Value, json};

/// Rows that travel in one batch.
const ROWS_MAX: usize = 500;

/// A noun.
pub struct Noun {
    /// What is typed, such as `customers`.
    pub name: &'static str,
    /// Several of its records, in words.
    pub plural: &'static str,
    /// The endpoint that makes a record.
    pub create: &'static Meta,
    /// The endpoint that changes one, for rows whose record is there already.
    pub change: Option<Change>,
    /// Columns that stand in the path of the endpoints and not in the body.
    pub within: &'static [&'static str],
    /// Columns that name a record in the report; the last one is its identifier.
    pub id: &'static [&'static str],
    /// Columns that tell more in an export and are passed over by an import.
    pub told: &'static [&'static str],
    /// Whether a row may name one that stands before it, so that no batch overtakes another.
    pub ordered: bool,
    /// Rows that travel in one batch.
    pub rows_max: usize,
    /// A row that works, for the template.
    pub example: &'static [(&'static str, &'static str)],
    /// Where an export gets the records.
    pub supply: Supply,
    /// The columns of a table for people.
    pub view: &'static View,
    /// Command lines that work.
    pub import_examples: &'static [&'static str],
    /// The same for the export.
    pub export_examples: &'static [&'static str],
}

/// How a record that is there already is changed.
#[derive(Clone, Copy)]
pub struct Change {
    /// The endpoint.
    pub meta: &'static Meta,
    /// Its body, from that of a new record.
    pub body: fn(&Value) -> Value,
    /// Whether a row can only be about a record that is there, because it has not what a new one needs.
    pub only: fn(&Value) -> bool,
}

/// The change takes the body of a new record.
const fn same(meta: &'static Meta) -> Option<Change> {
    Some(Change { meta, body: Value::clone, only: |_| false })
}

/// Customers.
pub const CUSTOMERS: Noun = Noun {
    name: "customers",
    plural: "customers",
    create: &CreateCustomer::META,
    change: same(&UpdateCustomer::META),
    within: &[],
    id: &["identifier"],
    told: &["currentState"],
    ordered: false,
    rows_max: ROWS_MAX,
    example: &[
        ("identifier", "c-900"),
        ("type", "PERSON"),
        ("givenName", "Ama"),
        ("surname", "Mensah"),
        ("dateOfBirth", "1990-05-17"),
        ("member", "true"),
        ("assignedOffice", "head-office"),
        ("address.street", "12 Ring Road"),
        ("address.city", "Accra"),
        ("address.countryCode", "GH"),
        ("address.country", "Ghana"),
        ("contactDetails", r#"[{"type":"MOBILE","group":"PRIVATE","value":"+233201234567"}]"#),
        ("applicationDate", "2024-03-05"),
        ("customValues", r#"[{"catalogIdentifier":"kyc","fieldIdentifier":"source","value":"market"}]"#),
    ],
    supply: Supply::List(super::supply::customers),
    view: &views::CUSTOMER,
    import_examples: &[
        "mfa customers import --template > all.csv && mfa customers import all.csv --validate-only",
        "mfa customers import --template > new.csv && mfa customers import new.csv --mode upsert",
        "echo '{\"identifier\": \"c-901\", \"surname\": \"Addo\"}' | mfa customers import - --format jsonl",
    ],
    export_examples: &["mfa customers export", "mfa customers export --out customers.jsonl -o jsonl"],
};

/// Offices.
pub const OFFICES: Noun = Noun {
    name: "offices",
    plural: "offices",
    create: &CreateOffice::META,
    change: same(&UpdateOffice::META),
    within: &[],
    id: &["identifier"],
    told: &[],
    ordered: true,
    rows_max: ROWS_MAX,
    example: &[
        ("identifier", "kumasi"),
        ("name", "Kumasi"),
        ("description", "Opposite the market"),
        ("address.street", "4 Prempeh II Street"),
        ("address.city", "Kumasi"),
        ("address.countryCode", "GH"),
        ("address.country", "Ghana"),
    ],
    supply: Supply::List(super::supply::offices),
    view: &views::OFFICE,
    import_examples: &[
        "mfa offices import --template > offices.csv && mfa offices import offices.csv",
        "printf 'identifier,name,parentIdentifier\\nosu,Osu,head-office\\n' | mfa offices import -",
    ],
    export_examples: &["mfa offices export", "mfa offices export -o json"],
};

/// Employees.
pub const EMPLOYEES: Noun = Noun {
    name: "employees",
    plural: "employees",
    create: &CreateEmployee::META,
    change: same(&UpdateEmployee::META),
    within: &[],
    id: &["identifier"],
    told: &[],
    ordered: false,
    rows_max: ROWS_MAX,
    example: &[
        ("identifier", "adwoa.b"),
        ("givenName", "Adwoa"),
        ("surname", "Boateng"),
        ("assignedOffice", "head-office"),
        ("contactDetails", r#"[{"type":"PHONE","group":"BUSINESS","value":"+233302123456"}]"#),
    ],
    supply: Supply::List(super::supply::employees),
    view: &views::EMPLOYEE,
    import_examples: &[
        "mfa employees import --template > employees.csv && mfa employees import employees.csv",
        "printf 'Kennung,surname\\nyaw.k,Kusi\\n' | mfa employees import - --map Kennung=identifier",
    ],
    export_examples: &["mfa employees export", "mfa employees export --out employees.csv"],
};

/// Users.
pub const USERS: Noun = Noun {
    name: "users",
    plural: "users",
    create: &CreateUser::META,
    // The password of a user who is there already is the user's own.
    change: Some(Change {
        meta: &SetUserRole::META,
        body: |user| json!({ "identifier": user["role"] }),
        only: |user| user["password"].is_null(),
    }),
    within: &[],
    id: &["identifier"],
    told: &[],
    ordered: false,
    // Each password takes a while to hash.
    rows_max: 20,
    example: &[("identifier", "abena.f"), ("role", "clerk"), ("password", "change me at once")],
    supply: Supply::List(super::supply::users),
    view: &views::USER,
    import_examples: &[
        "mfa users import --template > users.csv && mfa users import users.csv; rm -f users.csv*",
        "mfa users import --template | mfa users import - --validate-only",
    ],
    export_examples: &["mfa users export", "mfa users export -o jsonl"],
};

/// Products.
pub const DEFINITIONS: Noun = Noun {
    name: "products",
    plural: "products",
    create: &CreateDefinition::META,
    change: same(&UpdateDefinition::META),
    within: &[],
    id: &["identifier"],
    told: &["active"],
    ordered: false,
    rows_max: ROWS_MAX,
    example: &[
        ("type", "SAVINGS"),
        ("identifier", "youth-savings"),
        ("name", "Youth savings"),
        ("currency.code", "GHS"),
        ("currency.name", "Ghanaian cedi"),
        ("currency.sign", "₵"),
        ("currency.scale", "2"),
        ("minimumBalance", "5.00"),
        ("equityLedgerIdentifier", "9100"),
        ("cashAccountIdentifier", "7300"),
        ("expenseAccountIdentifier", "3900"),
        ("accrueAccountIdentifier", "8100"),
        ("interest", "1.25"),
        ("term.period", "12"),
        ("term.timeUnit", "MONTH"),
        ("term.interestPayable", "MATURITY"),
        ("charges", "[]"),
        ("flexible", "false"),
    ],
    supply: Supply::List(super::supply::definitions),
    view: &views::DEFINITION,
    import_examples: &[
        "mfa products import --template > products.csv && mfa products import products.csv",
        "mfa products import --template | mfa products import - --atomic",
    ],
    export_examples: &["mfa products export", "mfa products export -o yaml"],
};

/// Accounts.
pub const INSTANCES: Noun = Noun {
    name: "accounts",
    plural: "accounts",
    create: &CreateInstance::META,
    change: None,
    within: &[],
    id: &["customerIdentifier", "productIdentifier"],
    told: &["accountIdentifier", "state", "balance", "openedOn"],
    ordered: false,
    rows_max: ROWS_MAX,
    example: &[
        ("customerIdentifier", "c-001"),
        ("productIdentifier", "savings"),
        ("alternativeAccountNumber", "0009-4711"),
        ("beneficiaries", r#"["Kojo Mensah"]"#),
    ],
    supply: Supply::OfEach(super::supply::definitions, super::supply::instances),
    view: &views::INSTANCE,
    import_examples: &[
        "mfa accounts import --template > accounts.csv && mfa accounts import accounts.csv",
        "printf 'customerIdentifier,productIdentifier\\nc-002,savings\\n' | mfa accounts import -",
    ],
    export_examples: &["mfa accounts export", "mfa accounts export --out accounts.csv"],
};

/// Identification cards.
pub const CARDS: Noun = Noun {
    name: "cards",
    plural: "identification cards",
    create: &CreateCard::META,
    change: same(&UpdateCard::META),
    within: &["customer"],
    id: &["customer", "number"],
    told: &[],
    ordered: false,
    rows_max: ROWS_MAX,
    example: &[
        ("customer", "c-001"),
        ("type", "Passport"),
        ("number", "G9000001"),
        ("expirationDate", "2035-08-14"),
        ("issuer", "Accra"),
    ],
    supply: Supply::OfEach(super::supply::customers, super::supply::cards),
    view: &views::CARD,
    import_examples: &[
        "mfa cards import --template > cards.csv && mfa cards import cards.csv",
        "printf 'customer,type,number,expirationDate\\nc-002,Passport,G9000002,2034-01-31\\n' |\n    \
         mfa cards import -",
    ],
    export_examples: &["mfa cards export", "mfa cards export -o jsonl"],
};
