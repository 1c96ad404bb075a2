//! Employees and how they are reached.

use crate::command::cx::Cx;
use crate::command::flags::ContactFlags;
use crate::command::noun::{self, APPLY, Apply, IMPORT, Import, Noun, Samples, Section, held};
use crate::command::verb::{Verb, group, shows, verb};
use crate::failure::Outcome;
use crate::input::{self, Draft, Row};
use crate::output::views;
use clap::Args;
use mfa_shared::api::employees::*;
use mfa_shared::api::search::HitKind;
use mfa_shared::endpoint::{Endpoint, Meta};
use mfa_shared::wire::{Nothing, Query};
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
    change: Some(Row::of::<UpdateEmployee>()),
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
        verb::<Create>("create"),
        verb::<Update>("update"),
        group(
            "contacts",
            "contact",
            "How an employee is reached",
            &[
                verb::<ContactsSet>("set"),
                shows("list", &ListEmployeeContacts::META, &views::CONTACT, "employee").examples(&[
                    "mfa employees contacts list efua.sarpong",
                    "mfa employees contacts list efua.sarpong -o json",
                ]),
                verb::<ContactsDelete>("delete"),
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

impl EmployeeFlags {
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
pub struct Create {
    /// Identifier of the new employee, 2 to 32 letters, digits and . - * _
    #[arg(value_name = "ID", required_unless_present = "from")]
    identifier: Option<String>,
    #[command(flatten)]
    flags: EmployeeFlags,
}

impl Verb for Create {
    const ENDPOINT: Option<&'static Meta> = Some(&CreateEmployee::META);
    const EXAMPLES: &'static [&'static str] = &[
        "mfa employees create kwame.asante --given-name Kwame --surname Asante --assigned-office market",
        "mfa employees create abena.osei --contact type=email,group=business,value=abena@example.org",
    ];
    async fn run(self, cx: &Cx) -> Outcome {
        let draft = self.flags.draft()?.set("identifier", self.identifier);
        cx.create(&NOUN, &[], draft).await
    }
}

#[derive(Args)]
pub struct Update {
    /// Identifier of the employee
    #[arg(value_name = "ID")]
    employee: String,
    #[command(flatten)]
    flags: EmployeeFlags,
    /// Remove the employee from the office
    #[arg(long, conflicts_with = "assigned_office")]
    unassign: bool,
}

impl Verb for Update {
    const ENDPOINT: Option<&'static Meta> = Some(&UpdateEmployee::META);
    const EXAMPLES: &'static [&'static str] = &[
        "mfa employees update efua.sarpong --assigned-office market",
        "mfa employees update efua.sarpong --surname Mensah --unassign",
    ];
    async fn run(self, cx: &Cx) -> Outcome {
        let cleared = if self.unassign { &["assignedOffice".to_owned()][..] } else { &[] };
        let draft = self.flags.draft()?.clear(cleared);
        cx.update(&NOUN, &[&self.employee], draft).await
    }
}

#[derive(Args)]
pub struct ContactsSet {
    /// Identifier of the employee
    #[arg(value_name = "ID")]
    employee: String,
    #[command(flatten)]
    contacts: ContactFlags,
}

impl Verb for ContactsSet {
    const ENDPOINT: Option<&'static Meta> = Some(&SetEmployeeContacts::META);
    const EXAMPLES: &'static [&'static str] = &[
        "mfa employees contacts set efua.sarpong --contact type=phone,group=business,value=0302123456",
        "mfa employees contacts set efua.sarpong --none",
    ];
    async fn run(self, cx: &Cx) -> Outcome {
        let employee = self.employee;
        let body = self.contacts.body::<SetEmployeeContacts>()?;
        let read = ListEmployeeContacts { employee: employee.clone() };
        let endpoint = SetEmployeeContacts { employee: employee.clone() };
        cx.change(endpoint, body, NOUN.done(&[&employee], "given contacts"), read, &views::CONTACT).await
    }
}

#[derive(Args)]
pub struct ContactsDelete {
    /// Identifier of the employee
    #[arg(value_name = "ID")]
    employee: String,
}

impl Verb for ContactsDelete {
    const ENDPOINT: Option<&'static Meta> = Some(&DeleteEmployeeContacts::META);
    const EXAMPLES: &'static [&'static str] = &[
        "mfa employees contacts delete efua.sarpong --yes",
        "mfa employees contacts delete efua.sarpong --yes -o json",
    ];
    async fn run(self, cx: &Cx) -> Outcome {
        let employee = self.employee;
        cx.prompt.before_destroying(&format!("remove the contacts of employee {employee}"), &employee)?;
        cx.client.send(&DeleteEmployeeContacts { employee: employee.clone() }, &Nothing).await?;
        cx.done(NOUN.done(&[&employee], "left without contacts"))
    }
}
