//! What became of one record: who changed it, when, from what into what. One verb for each noun.

use crate::cx::Cx;
use crate::failure::Outcome;
use crate::tree::Verb;
use crate::views;
use clap::Args;
use mfa_shared::api::audit::*;
use mfa_shared::endpoint::{Endpoint, Meta};
use mfa_shared::query::Paging;
use mfa_shared::wire::Query;

/// A verb for each kind of record: the parts that name one, and two examples.
macro_rules! histories {
    ($(
        $verb:ident $kind:literal { $($(#[doc = $doc:literal])* $part:ident $value:literal),+ }
            [$($example:literal),+];
    )*) => {$(
        #[derive(Args)]
        pub struct $verb {
            $(
                $(#[doc = $doc])*
                #[arg(value_name = $value)]
                $part: String,
            )+
        }

        impl Verb for $verb {
            const ENDPOINT: Option<&'static Meta> = Some(&ListAudit::META);
            const ABOUT: &'static str =
                concat!("Show who changed the ", $kind, ", when and what, the oldest change first");
            const EXAMPLES: &'static [&'static str] = &[$($example),+];
            async fn run(self, cx: &Cx) -> Outcome {
                show(cx, &[$kind, $(&self.$part),+]).await
            }
        }
    )*};
}

histories! {
    OfOffice "office" {
        /// Identifier of the office
        office "ID"
    } ["mfa offices history head-office", "mfa offices history head-office -o json"];
    OfEmployee "employee" {
        /// Identifier of the employee
        employee "ID"
    } ["mfa employees history amensah", "mfa employees history amensah -o json"];
    OfCustomer "customer" {
        /// Identifier of the customer
        customer "ID"
    } ["mfa customers history c-001", "mfa customers history c-001 -o json"];
    OfCard "card" {
        /// Identifier of the customer
        customer "CUSTOMER",
        /// Number of the card
        card "NUMBER"
    } ["mfa cards history c-001 GHA-7001", "mfa cards history c-001 GHA-7001 -o json"];
    OfEmail "email" {
        /// Identifier of the gateway
        gateway "ID"
    } ["mfa gateways email history main", "mfa gateways email history main -o json"];
    OfSms "sms" {
        /// Identifier of the gateway
        gateway "ID"
    } ["mfa gateways sms history main", "mfa gateways sms history main -o json"];
    OfUser "user" {
        /// Name of the user
        user "ID"
    } ["mfa users history esi", "mfa users history esi -o json"];
    OfRole "role" {
        /// Identifier of the role
        role "ID"
    } ["mfa roles history clerk", "mfa roles history clerk -o json"];
    OfGroup "group" {
        /// Identifier of the group
        group "ID"
    } ["mfa groups history office__v1__offices", "mfa groups history office__v1__offices -o json"];
    OfApplication "application" {
        /// Identifier of the application
        application "ID"
    } ["mfa applications history crm-v1", "mfa applications history crm-v1 -o json"];
    OfAction "action" {
        /// Identifier of the action
        action "ID"
    } ["mfa actions history Open", "mfa actions history Open -o json"];
    OfProduct "product" {
        /// Identifier of the product
        product "ID"
    } ["mfa products history savings", "mfa products history savings -o json"];
    OfAccount "account" {
        /// Identifier of the account
        account "ID"
    } ["mfa accounts history c-003.9100.00001", "mfa accounts history c-003.9100.00001 -o json"];
    OfWebhook "webhook" {
        /// Identifier of the webhook
        webhook "ID"
    } ["mfa webhooks history sync", "mfa webhooks history sync -o json"];
}

/// Shows what the audit trail says of a record.
pub async fn show(cx: &Cx, resource: &[&str]) -> Outcome {
    let resource = resource.join("/");
    let query = |paging: Paging<AuditRecord>| {
        Query(AuditQuery { paging, resource: Some(resource.clone()), ..AuditQuery::default() })
    };
    cx.list(ListAudit {}, &views::HISTORY, query).await
}
