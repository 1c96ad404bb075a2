//! References to records that do not exist (`decisions.md` section 5), and accounts that are named in roles
//! of another kind (`deposits.md` section 4.2). A list for people; nothing here refuses anything.

use super::tellers;
use crate::domain::ledger::kind_of_role;
use crate::store::engine::{Range, Space};
use crate::store::record::Record;
use crate::store::records::*;
use crate::store::tx::{Tx, decode};
use mfa_shared::api::customers::Customer;
use mfa_shared::api::definitions::Definition;
use mfa_shared::api::ledger::{AccountKind, AccountRole, LedgerAccount};
use mfa_shared::api::roles::{DEACTIVATED, Role};
use mfa_shared::fault::Fault;
use std::collections::{HashMap, HashSet};

/// A dangling reference, or one to an account of the wrong kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reference {
    /// The record that holds it, such as `customer c-001`.
    pub record: String,
    /// The field, as a JSON pointer.
    pub field: String,
    /// What it names.
    pub names: String,
    /// What is the case.
    pub detail: String,
}

/// The identifiers of every kind of record that others name.
struct Known {
    offices: HashSet<String>,
    employees: HashSet<String>,
    customers: HashSet<String>,
    roles: HashSet<String>,
    groups: HashSet<String>,
    actions: HashSet<String>,
    definitions: HashSet<String>,
    accounts: HashMap<String, AccountKind>,
}

/// Every dangling reference, kind by kind and record by record.
pub fn dangling(tx: &mut Tx<'_>) -> Result<Vec<Reference>, Fault> {
    let known = Known::read(tx)?;
    let mut found = Vec::new();
    each(tx, |office: StoredOffice| {
        let mut record = Of::new("office", &office.identifier, &mut found);
        record.names("/parentIdentifier", office.parent_identifier.as_ref(), "office", &known.offices);
    })?;
    each(tx, |employee: StoredEmployee| {
        let mut record = Of::new("employee", &employee.identifier, &mut found);
        record.names("/assignedOffice", employee.assigned_office.as_ref(), "office", &known.offices);
    })?;
    each(tx, |customer: Customer| {
        let mut record = Of::new("customer", &customer.identifier, &mut found);
        let reference = customer.reference_customer.as_ref();
        record.names("/referenceCustomer", reference, "customer", &known.customers);
        record.names("/assignedOffice", customer.assigned_office.as_ref(), "office", &known.offices);
        record.names("/assignedEmployee", customer.assigned_employee.as_ref(), "employee", &known.employees);
    })?;
    each(tx, |user: StoredUser| {
        let role = Some(&user.role).filter(|role| *role != DEACTIVATED);
        Of::new("user", &user.identifier, &mut found).names("/role", role, "role", &known.roles);
    })?;
    each(tx, |role: Role| {
        let groups = role.permissions.iter().map(|p| &p.permittable_endpoint_group_identifier);
        let field = |i| format!("/permissions/{i}/permittableEndpointGroupIdentifier");
        Of::new("role", &role.identifier, &mut found).groups(groups, field, &known);
    })?;
    of_applications(tx, &known, &mut found)?;
    of_products(tx, &known, &mut found)?;
    each(tx, |stored: StoredTeller| {
        let mut record = Of::new("teller", &stored.teller.code, &mut found);
        record.names("/office", Some(&stored.office), "office", &known.offices);
        for (field, account, role) in tellers::accounts(&stored.teller) {
            record.account(field, account, role, &known);
        }
        let employee = stored.teller.assigned_employee.as_ref();
        record.names("/assignedEmployee", employee, "employee", &known.employees);
    })?;
    Ok(found)
}

fn of_applications(tx: &mut Tx<'_>, known: &Known, found: &mut Vec<Reference>) -> Result<(), Fault> {
    each(tx, |stored: StoredPermission| {
        let group = &stored.permission.permittable_endpoint_group_identifier;
        let mut record = Of::new("application", &stored.application, found);
        record.groups([group].into_iter(), |_| "/permissions".to_owned(), known);
    })?;
    each(tx, |stored: StoredSet| {
        let name = format!("{} of application {}", stored.set.identifier, stored.application);
        let groups = stored.set.permittable_endpoint_group_identifiers.iter();
        let field = |i| format!("/permittableEndpointGroupIdentifiers/{i}");
        Of::new("call endpoint set", &name, found).groups(groups, field, known);
    })
}

fn of_products(tx: &mut Tx<'_>, known: &Known, found: &mut Vec<Reference>) -> Result<(), Fault> {
    each(tx, |definition: Definition| {
        let mut record = Of::new("definition", &definition.identifier, found);
        let cash = Some(&definition.cash_account_identifier);
        let expense = Some(&definition.expense_account_identifier);
        let accrue = definition.accrue_account_identifier.as_ref();
        for (field, account, role) in [
            ("/cashAccountIdentifier", cash, AccountRole::ProductCash),
            ("/expenseAccountIdentifier", expense, AccountRole::ProductExpense),
            ("/accrueAccountIdentifier", accrue, AccountRole::ProductAccrue),
        ] {
            account.into_iter().for_each(|account| record.account(field, account, role, known));
        }
        for (i, charge) in definition.charges.iter().enumerate() {
            let field = format!("/charges/{i}/actionIdentifier");
            record.names(&field, Some(&charge.action_identifier), "action", &known.actions);
            let field = format!("/charges/{i}/incomeAccountIdentifier");
            record.account(&field, &charge.income_account_identifier, AccountRole::Income, known);
        }
    })?;
    each(tx, |instance: StoredInstance| {
        let mut record = Of::new("instance", &instance.account_identifier, found);
        record.names(
            "/customerIdentifier",
            Some(&instance.customer_identifier),
            "customer",
            &known.customers,
        );
        record.names(
            "/productIdentifier",
            Some(&instance.product_identifier),
            "definition",
            &known.definitions,
        );
    })
}

/// The record whose references are looked at.
struct Of<'f> {
    record: String,
    found: &'f mut Vec<Reference>,
}

impl<'f> Of<'f> {
    fn new(noun: &str, identifier: &str, found: &'f mut Vec<Reference>) -> Self {
        Self { record: format!("{noun} {identifier}"), found }
    }

    fn find(&mut self, field: &str, names: &str, detail: String) {
        let record = self.record.clone();
        let field = field.to_owned();
        let names = names.to_owned();
        self.found.push(Reference { record, field, names, detail });
    }

    /// An empty text names nothing.
    fn names(&mut self, field: &str, name: Option<&String>, noun: &str, known: &HashSet<String>) {
        if let Some(name) = name.filter(|name| !name.is_empty() && !known.contains(*name)) {
            self.find(field, name, format!("there is no {noun} \"{name}\""));
        }
    }

    fn groups<'g>(
        &mut self,
        groups: impl Iterator<Item = &'g String>,
        field: impl Fn(usize) -> String,
        known: &Known,
    ) {
        for (i, group) in groups.enumerate() {
            self.names(&field(i), Some(group), "permittable group", &known.groups);
        }
    }

    fn account(&mut self, field: &str, account: &str, role: AccountRole, known: &Known) {
        match (known.accounts.get(account), kind_of_role(role)) {
            (None, _) => self.find(field, account, format!("there is no ledger account \"{account}\"")),
            (Some(kind), Some(due)) if *kind != due => {
                let detail = format!("ledger account {account} is {kind}, and this field wants {due}");
                self.find(field, account, detail);
            }
            (Some(_), _) => {}
        }
    }
}

impl Known {
    fn read(tx: &mut Tx<'_>) -> Result<Self, Fault> {
        let mut known = Self {
            offices: names(tx, OFFICES)?,
            employees: names(tx, EMPLOYEES)?,
            customers: names(tx, CUSTOMERS)?,
            roles: names(tx, ROLES)?,
            groups: names(tx, GROUPS)?,
            actions: HashSet::new(),
            definitions: names(tx, DEFINITIONS)?,
            accounts: HashMap::new(),
        };
        each(tx, |stored: StoredAction| known.actions.extend([stored.action.identifier]))?;
        each(tx, |account: LedgerAccount| known.accounts.extend([(account.identifier, account.kind)]))?;
        Ok(known)
    }
}

/// The identifiers of the records of a space, where they are its keys.
fn names(tx: &mut Tx<'_>, space: Space) -> Result<HashSet<String>, Fault> {
    let mut names = HashSet::new();
    tx.walk(space, Range::prefix(b""), &mut |key, _| {
        names.insert(String::from_utf8_lossy(key).into_owned());
        Ok(true)
    })?;
    Ok(names)
}

/// Visits every record of a kind, one at a time.
fn each<R: Record>(tx: &mut Tx<'_>, mut visit: impl FnMut(R)) -> Result<(), Fault> {
    tx.walk(R::SPACE, Range::prefix(b""), &mut |_, value| {
        visit(decode(R::SPACE, value)?);
        Ok(true)
    })
}
