//! Employees and how they are reached.

use crate::client::Client;
use crate::cx::{Cx, Done};
use crate::failure::Outcome;
use crate::flags::ContactFlags;
use crate::input::{self, Draft};
use crate::tree::{Node, Verb, group, verb};
use crate::views;
use clap::Args;
use mfa_shared::api::employees::*;
use mfa_shared::endpoint::{Endpoint, Meta};
use mfa_shared::wire::{Nothing, Query};

/// The verbs of the noun.
pub const VERBS: &[Node] = &[
    verb::<List>("list"),
    verb::<Get>("get"),
    verb::<super::history::OfEmployee>("history"),
    verb::<Create>("create"),
    verb::<Update>("update"),
    verb::<Edit>("edit"),
    verb::<Delete>("delete"),
    group(
        "contacts",
        "contact",
        "How an employee is reached",
        &[verb::<ContactsSet>("set"), verb::<ContactsList>("list"), verb::<ContactsDelete>("delete")],
    ),
    verb::<super::bulk::Import<super::bulk::Employees>>("import"),
    verb::<super::bulk::Export<super::bulk::Employees>>("export"),
];

/// Identifiers that contain a text.
pub async fn identifiers(client: &Client, term: &str) -> Vec<String> {
    let query = |paging| Query(EmployeeQuery { paging, office: None });
    Cx::identifiers(client, ListEmployees {}, term, query).await
}

const fn done<'a>(id: &'a str, what: &'a str) -> Done<'a> {
    Done { noun: "employee", id, what }
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

#[derive(Args)]
pub struct Get {
    /// Identifier of the employee
    #[arg(value_name = "ID")]
    employee: String,
}

impl Verb for Get {
    const ENDPOINT: Option<&'static Meta> = Some(&GetEmployee::META);
    const EXAMPLES: &'static [&'static str] =
        &["mfa employees get efua.sarpong", "mfa employee get efua.sarpong -o json"];
    async fn run(self, cx: &Cx) -> Outcome {
        cx.show(GetEmployee { employee: self.employee }, &views::EMPLOYEE).await
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
        let employee = draft.text("identifier").unwrap_or_default().to_owned();
        let body = draft.body::<CreateEmployee>()?;
        let read = GetEmployee { employee: employee.clone() };
        cx.change(CreateEmployee {}, body, done(&employee, "created"), read, &views::EMPLOYEE).await
    }
}

#[derive(Args)]
pub struct Update {
    /// Identifier of the employee
    #[arg(value_name = "ID")]
    employee: String,
    #[command(flatten)]
    flags: EmployeeFlags,
    /// Take the employee out of the office
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
        let employee = self.employee;
        let cleared = if self.unassign { &["assignedOffice".to_owned()][..] } else { &[] };
        let draft = self.flags.draft()?.clear(cleared);
        let read = GetEmployee { employee: employee.clone() };
        let write = UpdateEmployee { employee: employee.clone() };
        cx.update(read, write, draft, done(&employee, "updated"), &views::EMPLOYEE).await
    }
}

#[derive(Args)]
pub struct Edit {
    /// Identifier of the employee
    #[arg(value_name = "ID")]
    employee: String,
}

impl Verb for Edit {
    const ENDPOINT: Option<&'static Meta> = Some(&UpdateEmployee::META);
    const ABOUT: &'static str = "Change an employee in the editor that VISUAL or EDITOR names";
    const EXAMPLES: &'static [&'static str] = &[
        "EDITOR=true mfa employees edit efua.sarpong --yes",
        "EDITOR='sed -i s/Sarpong/Mensah/' mfa employees edit efua.sarpong --yes",
    ];
    async fn run(self, cx: &Cx) -> Outcome {
        let employee = self.employee;
        let read = GetEmployee { employee: employee.clone() };
        let write = UpdateEmployee { employee: employee.clone() };
        cx.edit(read, write, done(&employee, "updated"), &views::EMPLOYEE).await
    }
}

#[derive(Args)]
pub struct Delete {
    /// Identifier of the employee
    #[arg(value_name = "ID")]
    employee: String,
}

impl Verb for Delete {
    const ENDPOINT: Option<&'static Meta> = Some(&DeleteEmployee::META);
    const EXAMPLES: &'static [&'static str] =
        &["mfa employees delete efua.sarpong --yes", "mfa employees delete efua.sarpong --yes -o json"];
    async fn run(self, cx: &Cx) -> Outcome {
        cx.prompt.before_destroying(&format!("delete employee {}", self.employee), &self.employee)?;
        cx.client.send(&DeleteEmployee { employee: self.employee.clone() }, &Nothing).await?;
        cx.done(done(&self.employee, "deleted"))
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
        cx.change(endpoint, body, done(&employee, "given contacts"), read, &views::CONTACT).await
    }
}

#[derive(Args)]
pub struct ContactsList {
    /// Identifier of the employee
    #[arg(value_name = "ID")]
    employee: String,
}

impl Verb for ContactsList {
    const ENDPOINT: Option<&'static Meta> = Some(&ListEmployeeContacts::META);
    const EXAMPLES: &'static [&'static str] =
        &["mfa employees contacts list efua.sarpong", "mfa employees contacts list efua.sarpong -o json"];
    async fn run(self, cx: &Cx) -> Outcome {
        cx.show(ListEmployeeContacts { employee: self.employee }, &views::CONTACT).await
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
        cx.done(done(&employee, "left without contacts"))
    }
}
