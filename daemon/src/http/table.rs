//! The endpoint table with its operations: one line for each row, in the order of the rows.

use super::heavy::Secret;
use super::route::{
    Look, Route, Work, addressed, audited, backup, batch, errand, events, login, metrics, operation, said,
    search, secret_operation, status,
};
use super::said::SaidCustomer;
use crate::days as ended;
use crate::interest as run;
use crate::ops::audit as trail;
use crate::ops::gateways::{ForEachGateway, Gateway, each_gateway};
use crate::ops::*;
use crate::outward;
use mfa_shared::api::actions::*;
use mfa_shared::api::applications::*;
use mfa_shared::api::audit::*;
use mfa_shared::api::backup::GetBackup;
use mfa_shared::api::batch::SendBatch;
use mfa_shared::api::cards::*;
use mfa_shared::api::customers::*;
use mfa_shared::api::days::*;
use mfa_shared::api::definitions::*;
use mfa_shared::api::dividends::*;
use mfa_shared::api::employees::*;
use mfa_shared::api::events::ListEvents;
use mfa_shared::api::groups::*;
use mfa_shared::api::instances::*;
use mfa_shared::api::interest::*;
use mfa_shared::api::ledger::*;
use mfa_shared::api::offices::*;
use mfa_shared::api::portraits::*;
use mfa_shared::api::reports::*;
use mfa_shared::api::roles::*;
use mfa_shared::api::scans::*;
use mfa_shared::api::search::Search;
use mfa_shared::api::second_factor::*;
use mfa_shared::api::sessions::*;
use mfa_shared::api::system::*;
use mfa_shared::api::tellers::*;
use mfa_shared::api::tokens::*;
use mfa_shared::api::users::*;
use mfa_shared::api::webhooks::*;
use mfa_shared::wire::Json;

/// Every row with its handler.
pub fn table() -> Vec<Route> {
    let nouns = [
        process(),
        identity(),
        application_rows(),
        institution(),
        gateway_rows(),
        teller_rows(),
        webhook_rows(),
    ];
    nouns.into_iter().flatten().collect()
}

fn process() -> Vec<Route> {
    vec![
        status::<GetLive>(Look::Live),
        status::<GetReady>(Look::Ready),
        status::<GetVersion>(Look::Version),
        metrics::<GetMetrics>(),
        backup::<GetBackup>(),
        batch::<SendBatch>(),
        search::<Search>(),
    ]
}

fn identity() -> Vec<Route> {
    vec![
        login::<CreateToken>(),
        operation::<GetCurrentToken, _>(tokens::get_current),
        operation::<DeleteCurrentToken, _>(tokens::delete_current),
        operation::<DeleteTokens, _>(tokens::delete_all),
        secret_operation::<CreateUser, _>(users::create, |_, Json(new)| {
            Secret::new(&new.password, |_| Ok(None))
        }),
        operation::<ListUsers, _>(users::list),
        operation::<GetUser, _>(users::get),
        operation::<ListUserPermissions, _>(users::list_permissions),
        operation::<GetUserAccess, _>(users::get_access),
        operation::<SetUserRole, _>(users::set_role),
        secret_operation::<SetUserPassword, _>(users::set_password, |at, Json(change)| {
            let user = at.user.clone();
            let same = at.user.clone();
            Secret::new(&change.password, move |tx| users::present_password(tx, &user))
                .beside(change.current_password.as_deref(), move |tx| login::hash_while_open(tx, &same))
        }),
        operation::<DeleteUser, _>(users::delete),
        operation::<GetSecondFactor, _>(second_factor::get),
        operation::<BeginSecondFactor, _>(second_factor::begin),
        operation::<EnableSecondFactor, _>(second_factor::enable),
        operation::<DeleteSecondFactor, _>(second_factor::delete),
        operation::<ListUserSessions, _>(user_sessions::list),
        operation::<EndUserSession, _>(user_sessions::end),
        operation::<EndUserSessions, _>(user_sessions::end_all),
        operation::<CreateRole, _>(roles::create),
        operation::<ListRoles, _>(roles::list),
        operation::<GetRole, _>(roles::get),
        operation::<UpdateRole, _>(roles::update),
        operation::<DeleteRole, _>(roles::delete),
        operation::<CreateGroup, _>(groups::create),
        operation::<ListGroups, _>(groups::list),
        operation::<GetGroup, _>(groups::get),
        operation::<UpdateGroup, _>(groups::update),
        operation::<DeleteGroup, _>(groups::delete),
    ]
}

fn application_rows() -> Vec<Route> {
    vec![
        operation::<ListApplications, _>(applications::list),
        operation::<DeleteApplication, _>(applications::delete),
        operation::<SetSignature, _>(applications::set_signature),
        operation::<ListSignatures, _>(applications::list_signatures),
        operation::<GetSignature, _>(applications::get_signature),
        operation::<DeleteSignature, _>(applications::delete_signature),
        operation::<CreateApplicationPermission, _>(application_permissions::create_permission),
        operation::<ListApplicationPermissions, _>(application_permissions::list_permissions),
        operation::<GetApplicationPermission, _>(application_permissions::get_permission),
        operation::<UpdateApplicationPermission, _>(application_permissions::update_permission),
        operation::<DeleteApplicationPermission, _>(application_permissions::delete_permission),
        operation::<CreateCallEndpointSet, _>(application_permissions::create_set),
        operation::<ListCallEndpointSets, _>(application_permissions::list_sets),
        operation::<GetCallEndpointSet, _>(application_permissions::get_set),
        operation::<UpdateCallEndpointSet, _>(application_permissions::update_set),
        operation::<DeleteCallEndpointSet, _>(application_permissions::delete_set),
        operation::<GetConsent, _>(application_permissions::get_consent),
        operation::<SetConsent, _>(application_permissions::set_consent),
    ]
}

fn institution() -> Vec<Route> {
    vec![
        operation::<CreateOffice, _>(offices::create),
        operation::<ListOffices, _>(offices::list),
        operation::<GetOffice, _>(offices::get),
        operation::<UpdateOffice, _>(offices::update),
        operation::<DeleteOffice, _>(offices::delete),
        operation::<CreateBranch, _>(offices::create_branch),
        operation::<ListBranches, _>(offices::list_branches),
        operation::<SetOfficeAddress, _>(offices::set_address),
        operation::<GetOfficeAddress, _>(offices::get_address),
        operation::<DeleteOfficeAddress, _>(offices::delete_address),
        operation::<SetOfficeReference, _>(offices::set_reference),
        operation::<ListOfficeReferences, _>(offices::list_references),
        errand::<EndOfficeDay, _, _, _, _>(Work::Long, days::plan, ended::gather, days::settle),
        operation::<ListOfficeDays, _>(days::list),
        operation::<GetOfficeDay, _>(days::get),
        operation::<CreateEmployee, _>(employees::create),
        operation::<ListEmployees, _>(employees::list),
        operation::<GetEmployee, _>(employees::get),
        operation::<UpdateEmployee, _>(employees::update),
        operation::<DeleteEmployee, _>(employees::delete),
        operation::<SetEmployeeContacts, _>(employees::set_contacts),
        operation::<ListEmployeeContacts, _>(employees::list_contacts),
        operation::<DeleteEmployeeContacts, _>(employees::delete_contacts),
        said::<CreateCustomer, _>(customers::create, SaidCustomer::made),
        operation::<ListCustomers, _>(customers::list),
        operation::<GetCustomer, _>(customers::get),
        said::<UpdateCustomer, _>(customers::update, SaidCustomer::changed),
        operation::<CommandCustomer, _>(customers::command),
        operation::<ListCustomerCommands, _>(customers::list_commands),
        operation::<SetCustomerAddress, _>(customers::set_address),
        said::<SetCustomerContacts, _>(customers::set_contacts, SaidCustomer::contacted),
        operation::<CreateCard, _>(cards::create),
        operation::<ListCards, _>(cards::list),
        operation::<GetCard, _>(cards::get),
        operation::<UpdateCard, _>(cards::update),
        operation::<DeleteCard, _>(cards::delete),
        operation::<CreateScan, _>(scans::create),
        operation::<ListScans, _>(scans::list),
        operation::<GetScan, _>(scans::get),
        operation::<GetScanImage, _>(scans::get_image),
        operation::<DeleteScan, _>(scans::delete),
        operation::<SetPortrait, _>(portraits::set),
        operation::<GetPortrait, _>(portraits::get),
        operation::<DeletePortrait, _>(portraits::delete),
        operation::<CreateAction, _>(actions::create),
        operation::<ListActions, _>(actions::list),
        operation::<CreateDefinition, _>(definitions::create),
        operation::<ListDefinitions, _>(definitions::list),
        operation::<GetDefinition, _>(definitions::get),
        operation::<UpdateDefinition, _>(definitions::update),
        operation::<DeleteDefinition, _>(definitions::delete),
        operation::<ListDefinitionInstances, _>(definitions::list_instances),
        operation::<CommandDefinition, _>(definitions::command),
        operation::<ListDefinitionCommands, _>(definitions::list_commands),
        operation::<CreateInstance, _>(instances::create),
        operation::<ListInstances, _>(instances::list),
        operation::<ListTransactionTypes, _>(instances::list_transaction_types),
        operation::<GetInstance, _>(instances::get),
        operation::<ListInstanceEntries, _>(instances::list_entries),
        operation::<UpdateInstance, _>(instances::update),
        operation::<CommandInstance, _>(instances::command),
        errand::<DistributeDividend, _, _, _, _>(
            Work::InSteps,
            dividends::plan,
            run::distribute,
            dividends::settle,
        ),
        operation::<ListDividends, _>(dividends::list),
        errand::<RunInterest, _, _, _, _>(Work::InSteps, interest::plan, run::run, interest::settle),
        operation::<ListInterestRuns, _>(interest::list),
        operation::<GetInstanceInterest, _>(interest::get),
        operation::<PayInstanceInterest, _>(interest::pay_now),
        operation::<ListLedgerAccounts, _>(ledger::list_accounts),
        operation::<GetLedgerAccount, _>(ledger::get_account),
        operation::<ListAccountEntries, _>(ledger::list_account_entries),
        operation::<ListJournal, _>(ledger::list_journal),
        operation::<GetJournalEntry, _>(ledger::get_entry),
        operation::<GetTrialBalance, _>(ledger::trial_balance),
        operation::<GetCashReport, _>(reports::cash),
        operation::<GetDepositReport, _>(reports::deposits),
        operation::<GetCustomerReport, _>(reports::customers),
    ]
}

/// The rows of every kind of gateway.
struct GatewayRows(Vec<Route>);

impl ForEachGateway for GatewayRows {
    fn kind<G: Gateway>(&mut self) {
        self.0.extend([
            operation::<G::Create, _>(gateways::create::<G>),
            operation::<G::List, _>(gateways::list::<G>),
            audited::<G::Get, _>(gateways::get::<G>, gateways::note::<G>),
            addressed::<G::Update, _>(gateways::update::<G>, G::changed),
            operation::<G::Delete, _>(gateways::delete::<G>),
            errand::<G::Test, _, _, _, _>(
                Work::Message,
                gateways::plan_test::<G>,
                |trial, _| outward::send(trial, outward::message),
                gateways::settle_test::<G>,
            ),
        ]);
    }
}

fn gateway_rows() -> Vec<Route> {
    let mut rows = GatewayRows(Vec::new());
    each_gateway(&mut rows);
    rows.0
}

fn teller_rows() -> Vec<Route> {
    vec![
        secret_operation::<CreateTeller, _>(tellers::create, |_, Json(new)| {
            Secret::new(&new.password, |_| Ok(None))
        }),
        operation::<ListTellers, _>(tellers::list),
        operation::<GetTeller, _>(tellers::get),
        secret_operation::<UpdateTeller, _>(tellers::update, |_, Json(change)| {
            Secret::new(&change.password, |_| Ok(None))
        }),
        operation::<DeleteTeller, _>(tellers::delete),
        operation::<CommandTeller, _>(tellers::command),
        operation::<GetTellerBalance, _>(tellers::balance),
        operation::<CreateDenomination, _>(tellers::create_denomination),
        operation::<ListDenominations, _>(tellers::list_denominations),
        operation::<ListDayReports, _>(tellers::list_reports),
        operation::<GetDayReport, _>(tellers::get_report),
        operation::<GetReceipt, _>(tellers::get_receipt),
        secret_operation::<UnlockDrawer, _>(tellers::unlock, |at, Json(unlock)| {
            let teller = at.teller.clone();
            let employee = unlock.employee_identifier.clone();
            Secret::compared(&unlock.password, move |tx| tellers::drawer_hash(tx, &teller, &employee))
        }),
        operation::<PauseTeller, _>(tellers::pause),
        operation::<CreateTransaction, _>(tellers::create_transaction),
        operation::<GetTransaction, _>(tellers::get_transaction),
        operation::<FinishTransaction, _>(tellers::finish),
        operation::<IssueReceipt, _>(tellers::issue_receipt),
        operation::<ListTransactions, _>(tellers::list_transactions),
        operation::<ListAudit, _>(trail::list),
        operation::<GetAuditRecord, _>(trail::get),
        operation::<GetAuditHead, _>(trail::head),
        events::<ListEvents>(),
    ]
}

fn webhook_rows() -> Vec<Route> {
    vec![
        operation::<ListSubscriptions, _>(webhooks::list),
        operation::<CreateSubscription, _>(webhooks::create),
        operation::<GetSubscription, _>(webhooks::get),
        operation::<UpdateSubscription, _>(webhooks::update),
        operation::<DeleteSubscription, _>(webhooks::delete),
        errand::<TestSubscription, _, _, _, _>(
            Work::Message,
            webhooks::trial::plan,
            |trial, _| outward::send(trial, outward::webhook::send),
            webhooks::trial::settle,
        ),
        operation::<MoveSubscription, _>(webhooks::set_position),
        operation::<ListDeliveries, _>(webhooks::deliveries),
    ]
}
