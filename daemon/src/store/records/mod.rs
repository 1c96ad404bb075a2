//! Every kind of record that is stored, one file for each noun, and the spaces they are stored in. The
//! number of a space never changes its meaning. A new space takes the next one above the largest: some of the
//! gaps between them belonged to spaces of the first programs.

mod applications;
mod audit;
mod audit_lists;
mod cards;
mod customers;
mod days;
mod definitions;
mod employees;
mod gateways;
mod idempotency;
mod images;
mod instances;
mod interest;
mod ledger;
mod offices;
mod reports;
mod system;
mod tellers;
mod tokens;
mod users;
mod webhooks;

pub use applications::{StoredApplication, StoredConsent, StoredPermission, StoredSet, StoredSignature};
pub use audit::{AuditEnd, AuditIndexed, AuditPlace, PendingAudit, StoreLine, StoredAudit};
pub use audit_lists::{AuditList, LIST_LENGTH_MAX};
pub use cards::StoredCard;
pub use customers::StoredCommand;
pub use days::{DayMark, TellerMark, day_key};
pub use definitions::{StoredAction, StoredDefinitionCommand};
pub use employees::StoredEmployee;
pub use gateways::{APP_PASSWORD, AUTH_TOKEN, GatewayUse, StoredEmail, StoredSms};
pub use idempotency::Remembered;
pub use images::{ImageHold, StoredImage, StoredPortrait, StoredScan};
pub use instances::{AccountCounter, StoredInstance};
pub use interest::{
    FirstOrder, InterestState, ProductInterest, RateBefore, RunPhase, StoredDividend, StoredInterest,
    StoredPayment, StoredRun,
};
pub use ledger::{
    AccountLine, DrawerCash, ENTRY_LINES_MAX, LastPosting, SessionCash, StoredEntry, line_number,
};
pub use offices::{StoredOffice, StoredReference};
pub use reports::{LedgerDay, LedgerDaysEnd};
pub use system::{
    BackupMade, BackupMissed, Initialisation, ScheduledBackups, SealedWith, StoreFacts, StoreSecret,
};
pub use tellers::{
    Count, ReceiptCopies, Session, StoredDenomination, StoredDrawer, StoredTeller, StoredTransaction,
    TransactionCounter, TransactionPlace, receipt_key, report_key,
};
pub use tokens::{KnownAddress, StoredAttempts, StoredSession, StoredToken, TokenKind, UsedAssertion};
pub use users::{FACTOR_SECRET, GroupsVersion, RetiredUser, StoredFactor, StoredPassword, StoredUser};
pub use webhooks::{StoredDelivery, StoredSubscription, WEBHOOK_SECRET, Worker};

use super::engine::Space;
use super::seal::{ForEachKind, WithSecrets};
use mfa_shared::time::Timestamp;
use serde::{Deserialize, Serialize};

macro_rules! spaces {
    ($($name:ident = $id:literal $label:literal;)*) => {
        $(
            #[doc = concat!("The space `", $label, "`.")]
            pub const $name: Space = Space { id: $id, name: $label };
        )*
        /// Every space.
        pub const SPACES: &[Space] = &[$($name),*];
    };
}

spaces! {
    SYSTEM = 1 "system";
    IDEMPOTENCY = 2 "idempotency";
    IDEMPOTENCY_BY_TIME = 3 "idempotency_by_time";
    SECRETS = 4 "secrets";
    OFFICES = 10 "offices";
    OFFICES_BY_PARENT = 11 "offices_by_parent";
    OFFICE_REFERENCES = 12 "office_references";
    OFFICE_REFERENCES_ACTIVE = 13 "office_references_active";
    OFFICE_DAYS = 14 "office_days";
    OFFICE_DAY_MARKS = 15 "office_day_marks";
    CUSTOMERS = 20 "customers";
    CUSTOMERS_BY_OFFICE = 21 "customers_by_office";
    CUSTOMER_COMMANDS = 22 "customer_commands";
    ACTIONS = 80 "actions";
    ACTIONS_BY_IDENTIFIER = 81 "actions_by_identifier";
    DEFINITIONS = 85 "definitions";
    DEFINITION_COMMANDS = 86 "definition_commands";
    RATES_BEFORE = 87 "rates_before";
    DIVIDENDS = 88 "dividends";
    INSTANCES = 90 "instances";
    INSTANCES_BY_CUSTOMER = 91 "instances_by_customer";
    INSTANCES_BY_PRODUCT = 92 "instances_by_product";
    INSTANCES_NOT_CLOSED = 93 "instances_not_closed";
    INSTANCES_BY_NUMBER = 94 "instances_by_number";
    ACCOUNT_COUNTERS = 95 "account_counters";
    INTEREST = 96 "interest";
    INTEREST_PAYMENTS = 97 "interest_payments";
    INTEREST_PRODUCTS = 98 "interest_products";
    INTEREST_RUNS = 99 "interest_runs";
    INTEREST_OPEN = 108 "interest_open";
    LEDGER_ACCOUNTS = 100 "ledger_accounts";
    JOURNAL = 101 "journal";
    ACCOUNT_LINES = 103 "account_lines";
    LAST_POSTING = 105 "last_posting";
    DRAWER_CASH = 106 "drawer_cash";
    DRAWER_ENTRIES = 107 "drawer_entries";
    LEDGER_DAYS = 115 "ledger_days";
    LEDGER_DAYS_END = 116 "ledger_days_end";
    EMPLOYEES = 60 "employees";
    EMPLOYEES_BY_OFFICE = 61 "employees_by_office";
    CUSTOMERS_BY_EMPLOYEE = 62 "customers_by_employee";
    USERS = 30 "users";
    USERS_BY_ROLE = 31 "users_by_role";
    PASSWORDS = 32 "passwords";
    RETIRED_USERS = 33 "retired_users";
    ROLES = 34 "roles";
    ROLES_BY_GROUP = 35 "roles_by_group";
    GROUPS = 36 "permittable_groups";
    APPLICATIONS = 37 "applications";
    SIGNATURES = 38 "signatures";
    APPLICATION_PERMISSIONS = 39 "application_permissions";
    APPLICATION_PERMISSIONS_BY_GROUP = 40 "application_permissions_by_group";
    CALL_ENDPOINT_SETS = 41 "call_endpoint_sets";
    CALL_ENDPOINT_SETS_BY_GROUP = 42 "call_endpoint_sets_by_group";
    CONSENTS = 43 "consents";
    CONSENTS_BY_USER = 44 "consents_by_user";
    SESSIONS = 45 "sessions";
    SESSIONS_BY_TIME = 46 "sessions_by_time";
    TOKENS = 47 "tokens";
    TOKENS_BY_USER = 48 "tokens_by_user";
    TOKENS_BY_KEY = 49 "tokens_by_key";
    TOKENS_BY_SESSION = 50 "tokens_by_session";
    TOKENS_BY_TIME = 51 "tokens_by_time";
    LOGIN_ATTEMPTS = 52 "login_attempts";
    LOGIN_ATTEMPTS_BY_TIME = 53 "login_attempts_by_time";
    ASSERTIONS = 54 "assertions";
    ASSERTIONS_BY_TIME = 55 "assertions_by_time";
    KNOWN_ADDRESSES = 56 "known_addresses";
    KNOWN_ADDRESSES_BY_TIME = 57 "known_addresses_by_time";
    SECOND_FACTORS = 58 "second_factors";
    CARDS = 65 "cards";
    CARDS_BY_NUMBER = 66 "cards_by_number";
    SCANS = 67 "scans";
    SCANS_BY_IDENTIFIER = 68 "scans_by_identifier";
    PORTRAITS = 69 "portraits";
    IMAGE_USES = 70 "image_uses";
    IMAGE_HOLDS = 71 "image_holds";
    EMAIL_CONFIGURATIONS = 120 "email_configurations";
    SMS_CONFIGURATIONS = 121 "sms_configurations";
    GATEWAY_USES = 122 "gateway_uses";
    SUBSCRIPTIONS = 123 "subscriptions";
    DELIVERIES = 124 "deliveries";
    DELIVERER = 125 "deliverer";
    TELLERS = 130 "tellers";
    TELLERS_BY_OFFICE = 131 "tellers_by_office";
    TELLERS_BY_EMPLOYEE = 132 "tellers_by_employee";
    TELLERS_NOTED = 133 "tellers_noted";
    DRAWERS = 134 "drawers";
    DENOMINATIONS = 138 "denominations";
    DAY_REPORTS = 139 "day_reports";
    TRANSACTIONS = 140 "transactions";
    TRANSACTION_PLACES = 141 "transaction_places";
    TRANSACTION_COUNTERS = 142 "transaction_counters";
    TRANSACTIONS_PENDING = 143 "transactions_pending";
    RECEIPTS = 144 "receipts";
    RECEIPT_COPIES = 145 "receipt_copies";
    AUDIT = 150 "audit";
    AUDIT_PENDING = 151 "audit_pending";
    AUDIT_MARKS = 152 "audit_marks";
    AUDIT_LISTS = 153 "audit_lists";
    AUDIT_PLACE = 154 "audit_place";
}

/// Spaces that stay in their store: no backup and no export holds them.
pub const LOCAL: &[Space] = &[
    IDEMPOTENCY,
    IDEMPOTENCY_BY_TIME,
    SECRETS,
    SESSIONS,
    SESSIONS_BY_TIME,
    TOKENS,
    TOKENS_BY_USER,
    TOKENS_BY_KEY,
    TOKENS_BY_SESSION,
    TOKENS_BY_TIME,
    LOGIN_ATTEMPTS,
    LOGIN_ATTEMPTS_BY_TIME,
    ASSERTIONS,
    ASSERTIONS_BY_TIME,
    KNOWN_ADDRESSES,
    KNOWN_ADDRESSES_BY_TIME,
    AUDIT_PLACE,
    DELIVERER,
    IMAGE_HOLDS,
];

/// Spaces from which it is computed who calls and what they may do.
pub const IDENTITY: &[Space] = &[USERS, ROLES, GROUPS, APPLICATION_PERMISSIONS, CONSENTS, TOKENS];

macro_rules! with_secrets {
    ($($record:ty),*) => {
        $(impl WithSecrets for $record {})*

        /// Does something to every kind of record with secrets, in the order in which a restore without the
        /// key names them.
        pub fn each_with_secrets<F: ForEachKind>(each: &mut F) -> Result<(), F::Error> {
            $(each.kind::<$record>()?;)*
            Ok(())
        }
    };
}

with_secrets!(StoredEmail, StoredSms, StoredSubscription, StoredFactor);

/// Who made and last changed a record, and when.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Audit {
    /// Who made it.
    pub created_by: String,
    /// When.
    pub created_on: Timestamp,
    /// Who changed it last.
    pub last_modified_by: Option<String>,
    /// When.
    pub last_modified_on: Option<Timestamp>,
}

impl Audit {
    /// Made now.
    pub fn new(by: &str, now: Timestamp) -> Self {
        Self { created_by: by.to_owned(), created_on: now, last_modified_by: None, last_modified_on: None }
    }

    /// Changed now.
    pub fn touch(&mut self, by: &str, now: Timestamp) {
        self.last_modified_by = Some(by.to_owned());
        self.last_modified_on = Some(now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_space_has_its_own_number_and_name() {
        for (i, space) in SPACES.iter().enumerate() {
            assert!(SPACES[i + 1..].iter().all(|other| other.id != space.id && other.name != space.name));
        }
    }
}
