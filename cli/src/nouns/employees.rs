//! Employees and how they are reached.

use crate::command::cx::Cx;
use crate::command::flags::ContactFlags;
use crate::command::noun::{self, APPLY, Apply, Drafts, Flags, IMPORT, Import, Noun, Samples, Section, held};
use crate::command::verb::{Verb, changes, group, removes, shows, verb};
use crate::failure::Outcome;
use crate::input::{self, Draft, Row};
use crate::output::views;
use clap::Args;
use mfa_shared::api::employees::*;
use mfa_shared::api::search::HitKind;
use mfa_shared::endpoint::{Endpoint, Meta};
use mfa_shared::wire::Query;
use serde_json::Value;

pub const NOUN: Noun = Noun {
    section: Section::People,
    typed: "employees",
    alias: "employee",
    about: "Employees and how they are reached",
    singular: "employee",
    history: "employee",
    list: Some(&ListEmployees::META),
    read: Some(&GetEmployee::META),
    create: Some(Row::of::<CreateEmployee>()),
    creates: Some(Flags::of::<EmployeeFlags>(&[
        "mfa employees create kwame.asante --given-name Kwame --surname Asante --assigned-office market",
        "mfa employees create abena.osei --contact type=email,group=business,value=abena@example.org",
    ])),
    change: Some(Row::of::<UpdateEmployee>()),
    updates: Some(Flags::of::<EmployeeChange>(&[
        "mfa employees update efua.sarpong --assigned-office market",
        "mfa employees update efua.sarpong --surname Mensah --unassign",
    ])),
    delete: Some(&DeleteEmployee::META),
    edited: true,
    view: &views::EMPLOYEE,
    arguments: &["assigned_employee"],
    fields: &["employee"],
    free: &["assignedEmployee", "assignedEmployeeIdentifier"],
    searched: Some(HitKind::Employee),
    import: Some(Import {
        plural: "employees",
        example: &[
            ("identifier", "adwoa.b"),
            ("givenName", "Adwoa"),
            ("surname", "Boateng"),
            ("assignedOffice", "head-office"),
            ("contactDetails", r#"[{"type":"PHONE","group":"BUSINESS","value":"+233302123456"}]"#),
        ],
        examples: &[
            "mfa employees import --template > employees.csv && mfa employees import employees.csv",
            "printf 'Kennung,surname\\nyaw.k,Kusi\\n' | mfa employees import - --map Kennung=identifier",
        ],
        export_examples: &["mfa employees export", "mfa employees export --out employees.csv"],
        ..IMPORT
    }),
    apply: Some(Apply {
        kind: "employee",
        place: 3,
        references: &[("/assignedOffice", "office")],
        shown: |employee| held::<Employee>(employee).map(by_preference),
        ..APPLY
    }),
    samples: Samples { one: "efua.sarpong", deleted: "efua.sarpong", edit: "s/Sarpong/Mensah/" },
    verbs: &[
        verb::<List>("list"),
        group(
            "contacts",
            "contact",
            "How an employee is reached",
            &[
                changes::<SetEmployeeContacts, ContactFlags>("set", "employee", "given contacts")
                    .reading(&ListEmployeeContacts::META, &views::CONTACT)
                    .examples(&[
        "mfa employees contacts set efua.sarpong --contact type=phone,group=business,value=0302123456",
        "mfa employees contacts set efua.sarpong --none",
    ]),
                shows("list", &ListEmployeeContacts::META, &views::CONTACT, "employee").examples(&[
                    "mfa employees contacts list efua.sarpong",
                    "mfa employees contacts list efua.sarpong -o json",
                ]),
                removes("delete", &DeleteEmployeeContacts::META, "employee", "left without contacts")
                    .asking("remove the contacts of employee {employee}")
                    .examples(&[
                        "mfa employees contacts delete efua.sarpong --yes",
                        "mfa employees contacts delete efua.sarpong --yes -o json",
                    ]),
            ],
        ),
    ],
    ..noun::NOUN
};

/// The contacts of an employee in the order in which the daemon answers them.
fn by_preference(mut employee: Value) -> Value {
    if let Some(contacts) = employee["contactDetails"].as_array_mut() {
        contacts.sort_by_key(|contact| contact["preferenceLevel"].as_i64().unwrap_or(i64::MAX));
    }
    employee
}

#[derive(Args)]
pub struct List {
    /// Only the employees of this office
    #[arg(long, value_name = "ID")]
    office: Option<String>,
}

impl Verb for List {
    const ENDPOINT: Option<&'static Meta> = Some(&ListEmployees::META);
    const EXAMPLES: &'static [&'static str] =
        &["mfa employees list", "mfa employees list --office head-office --sort surname -o csv"];
    async fn run(self, cx: &Cx) -> Outcome {
        let query = |paging| Query(EmployeeQuery { paging, office: self.office.clone() });
        cx.list(ListEmployees {}, &views::EMPLOYEE, query).await
    }
}

// What an employee can be given when it is created and when it is changed.
#[derive(Args)]
struct EmployeeFlags {
    /// Given name; an empty text empties it
    #[arg(long, value_name = "TEXT")]
    given_name: Option<String>,
    /// Middle name; an empty text empties it
    #[arg(long, value_name = "TEXT")]
    middle_name: Option<String>,
    /// Surname; an empty text empties it
    #[arg(long, value_name = "TEXT")]
    surname: Option<String>,
    /// The office in which the employee works
    #[arg(long, value_name = "ID")]
    assigned_office: Option<String>,
    /// Contact, such as type=mobile,group=business,value=+233201234567; can be repeated
    #[arg(long, value_name = "NAME=VALUE,...", value_parser = input::pairs::<EmployeeContact>)]
    contact: Vec<Draft>,
    /// Body of JSON or YAML, - for standard input; flags go before it
    #[arg(long, value_name = "FILE")]
    from: Option<String>,
}

impl Drafts for EmployeeFlags {
    fn draft(self) -> Outcome<Draft> {
        Ok(Draft::from_file(self.from.as_deref())?
            .set("givenName", self.given_name)
            .set("middleName", self.middle_name)
            .set("surname", self.surname)
            .set("assignedOffice", self.assigned_office)
            .set_list("contactDetails", &self.contact))
    }
}

#[derive(Args)]
struct EmployeeChange {
    #[command(flatten)]
    flags: EmployeeFlags,
    /// Remove the employee from the office
    #[arg(long, conflicts_with = "assigned_office")]
    unassign: bool,
}

impl Drafts for EmployeeChange {
    fn draft(self) -> Outcome<Draft> {
        let cleared = if self.unassign { &["assignedOffice".to_owned()][..] } else { &[] };
        Ok(self.flags.draft()?.clear(cleared))
    }
}
