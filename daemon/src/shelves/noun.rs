//! The nouns whose lists have a shelf, and what of their records decides where they are in it.

use crate::domain::shelf::{Row, SortKey, texts};
use crate::ops::listing::{Findable, Shelved};
use crate::store::engine::Space;
use crate::store::record::Record;
use crate::store::records::{StoredEmployee, StoredInstance, StoredOffice};
use crate::store::tx::decode;
use mfa_shared::api::customers::{Customer, ListCustomers};
use mfa_shared::api::employees::ListEmployees;
use mfa_shared::api::instances::ListInstances;
use mfa_shared::api::ledger::{LedgerAccount, ListLedgerAccounts};
use mfa_shared::api::offices::ListOffices;
use mfa_shared::endpoint::Endpoint;
use mfa_shared::fault::Fault;
use mfa_shared::query::Params;

/// A noun whose lists have a shelf.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Noun {
    /// Customers.
    Customers,
    /// Employees.
    Employees,
    /// Offices.
    Offices,
    /// Accounts of the ledger.
    LedgerAccounts,
    /// Accounts of customers.
    Instances,
}

pub(super) const NOUNS: [Noun; 5] =
    [Noun::Customers, Noun::Employees, Noun::Offices, Noun::LedgerAccounts, Noun::Instances];

impl Noun {
    /// The noun that a row lists, where these parameters ask for an order or a term.
    pub fn of(row: &str, params: &Params) -> Option<Self> {
        let has = |name: &str| params.one(name).is_ok_and(|text| text.is_some_and(|text| !text.is_empty()));
        match row {
            _ if row == ListCustomers::META.name => Some(Self::Customers),
            _ if row == ListEmployees::META.name => Some(Self::Employees),
            _ if row == ListOffices::META.name => Some(Self::Offices),
            _ if row == ListLedgerAccounts::META.name => Some(Self::LedgerAccounts),
            // The accounts of one customer are few.
            _ if row == ListInstances::META.name => {
                (has("term") && !has("customer")).then_some(Self::Instances)
            }
            _ => None,
        }
    }

    pub(super) fn space(self) -> Space {
        match self {
            Self::Customers => Customer::SPACE,
            Self::Employees => StoredEmployee::SPACE,
            Self::Offices => StoredOffice::SPACE,
            Self::LedgerAccounts => LedgerAccount::SPACE,
            Self::Instances => StoredInstance::SPACE,
        }
    }

    pub(super) fn row(self, value: &[u8], columns: &[String]) -> Result<Row, Fault> {
        match self {
            Self::Customers => row::<Customer>(value, columns),
            Self::Employees => row::<StoredEmployee>(value, columns),
            Self::Offices => row::<StoredOffice>(value, columns),
            Self::LedgerAccounts => row::<LedgerAccount>(value, columns),
            Self::Instances => row::<StoredInstance>(value, columns),
        }
    }
}

fn row<R: Shelved>(value: &[u8], columns: &[String]) -> Result<Row, Fault> {
    if columns.is_empty() {
        return Ok(row_of(&decode::<R::Brief>(R::SPACE, value)?, Vec::new()));
    }
    let record: R = decode(R::SPACE, value)?;
    let keys = columns.iter().map(|column| record.sort_key(column)).collect();
    Ok(row_of(&record, keys))
}

fn row_of(record: &impl Findable, keys: Vec<SortKey>) -> Row {
    let identifier = record.identifier().to_owned();
    Row { identifier, texts: texts(record.texts()), group: record.group(), keys }
}
