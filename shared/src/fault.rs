//! Everything that can be refused, as one table: code, HTTP status, exit code, title, hint.
//!
//! The table only ever grows, and a code never gets another meaning. `mfa explain error CODE` and the
//! error body (`decisions.md` section 4) print from it.

mod details;
pub mod exit;
mod problem;

pub use problem::Problem;

use crate::node::Node;
use crate::permission::Permission;
use crate::rule::{self, FIELD_ERRORS_MAX, FieldError};
use std::fmt;

/// One row of the fault table.
#[derive(Debug, PartialEq, Eq)]
pub struct Kind {
    /// Stable slug by which clients decide.
    pub code: &'static str,
    /// HTTP status; a code has exactly one.
    pub status: u16,
    /// Short fixed text.
    pub title: &'static str,
    /// The next step for a person; empty where only the detail can say it.
    pub hint: &'static str,
}

impl Kind {
    /// The exit code of the command line for this fault.
    pub fn exit(&self) -> i32 {
        match self.status {
            404 => exit::NOT_FOUND,
            401 => exit::NOT_LOGGED_IN,
            403 => exit::FORBIDDEN,
            409 | 412 => exit::CONFLICT,
            400 | 413 | 415 | 422 => exit::INVALID,
            429 => exit::TOO_MANY_ATTEMPTS,
            _ => exit::FAILURE,
        }
    }
}

macro_rules! faults {
    ($($name:ident: $code:literal $status:literal $title:literal $hint:literal;)*) => {
        $(
            #[doc = $title]
            pub const $name: &Kind = &Kind { code: $code, status: $status, title: $title, hint: $hint };
        )*
        /// The whole table.
        pub const TABLE: &[&Kind] = &[$($name),*];
    };
}

faults! {
    UNAVAILABLE: "unavailable" 503 "Not available at present"
        "try again after the time that Retry-After says";
    UNAUTHENTICATED: "unauthenticated" 401 "Not signed in" "log in: mfa login";
    FORBIDDEN: "forbidden" 403 "Not allowed" "log in as another user, or ask for the missing permission";
    FORBIDDEN_ORIGIN: "forbidden_origin" 403 "From another site"
        "without access control only this machine is answered; add the site to cors_origins, or use a login";
    ROUTE_NOT_FOUND: "route_not_found" 404 "No such path" "the paths are listed in /openapi.json";
    METHOD_NOT_ALLOWED: "method_not_allowed" 405 "No such method here" "the Allow header lists the methods";
    BODY_TOO_LARGE: "body_too_large" 413 "Body too large"
        "send less in one request: 1 MiB and 100,000 JSON values at most";
    UNSUPPORTED_MEDIA_TYPE: "unsupported_media_type" 415 "Content type not supported"
        "send the content type that the detail names";
    IDEMPOTENCY_KEY_REUSED: "idempotency_key_reused" 422 "Idempotency key used for another request"
        "use a new key for each new request";
    INVALID_IDEMPOTENCY_KEY: "invalid_idempotency_key" 400 "Bad idempotency key"
        "a key has 1 to 255 visible ASCII characters and is given once";
    MALFORMED_BODY: "malformed_body" 400 "Body cannot be read" "check the JSON text";
    AMBIGUOUS_BODY: "ambiguous_body" 400 "Body of two kinds"
        "send the properties of one kind of record only";
    AMBIGUOUS_REQUEST: "ambiguous_request" 400 "Ambiguous request"
        "send one Host header, and the length of the body once; a proxy sets both anew";
    HTTP_VERSION_TOO_OLD: "http_version_too_old" 400 "HTTP/1.0 cannot carry this"
        "ask over HTTP/1.1; for a proxy of nginx: proxy_http_version 1.1";
    TLS_REQUIRED: "tls_required" 400 "TLS required" "use the same address with https:// in place of http://";
    INVALID_FIELDS: "invalid_fields" 400 "Fields break a rule" "correct the listed fields";
    NOT_IN_BATCH: "not_in_batch" 400 "Not possible in a batch" "send it as a request of its own";
    DISK_FULL: "disk_full" 503 "Disk full"
        "make space on the disk of the store: changes are taken again at once, without a restart";
    DISK_READ_ONLY: "disk_read_only" 503 "Disk for reading only"
        "mount the disk of the store for writing, then mfa daemon restart, or systemctl restart mfa";
    IMAGE_DAMAGED: "image_damaged" 503 "Image damaged"
        "upload it again, or restore it from a copy of the store; what else is damaged: mfa check store";
    NO_DRY_RUN: "no_dry_run" 400 "No dry run here" "send it without Dry-Run";
    INVALID_PARAMETER: "invalid_parameter" 400 "Bad query parameter" "correct the named parameter";
    IMAGE_PART: "image_part" 400 "Not one image" "send one part of the name that the detail says";
    IMAGE_TYPE: "image_type" 400 "Not an image that is taken" "send image/jpeg or image/png";
    IMAGE_EMPTY: "image_empty" 400 "Empty image" "send the bytes of the image";
    IMAGE_TOO_LARGE: "image_too_large" 400 "Image too large" "make the picture smaller";
    PRECONDITION_FAILED: "precondition_failed" 412 "Changed meanwhile"
        "read the record again and repeat the change";
    IDENTIFIER_MISMATCH: "identifier_mismatch" 400 "Identifiers differ"
        "send the identifier of the path in the body, too";
    PARENT_MISMATCH: "parent_mismatch" 400 "Parents differ"
        "an office never moves: leave parentIdentifier out";
    IMMUTABLE_FIELD: "immutable_field" 400 "Field never changes"
        "leave the named field out, or send its present value";
    INTEREST_NOT_FLEXIBLE: "interest_not_flexible" 400 "Interest is fixed"
        "make the definition flexible first, in a change of its own";
    ACCOUNT_KIND_MISMATCH: "account_kind_mismatch" 400 "Account is of another kind"
        "name an account of the right kind: mfa ledger accounts list";
    UNKNOWN_REFERENCE: "unknown_reference" 400 "Names a record that does not exist"
        "create the named record first, or correct the name";
    CONTRADICTS_ACCOUNT: "contradicts_account" 400 "Contradicts the account"
        "send the customer and the product of the account, and another account as target";
    UNSUPPORTED_TRANSACTION_TYPE: "unsupported_transaction_type" 400 "Transaction type not offered"
        "use ACCO, ACCC, ACCT, CDPT or CWDL";
    EMPLOYEE_REQUIRED: "employee_required" 400 "Nobody is assigned"
        "name who works there: mfa teller open CODE --office OFFICE --employee ID";
    TELLER_NOT_PAUSED: "teller_not_paused" 400 "Only a paused teller can be counted"
        "pause the teller first: mfa teller pause CODE";
    IDENTIFIER_TAKEN: "identifier_taken" 409 "Identifier taken" "choose another identifier";
    CARD_NUMBER_TAKEN: "card_number_taken" 409 "Card number taken" "a number exists once over all customers";
    WRONG_STATE: "wrong_state" 409 "Not possible in the present state"
        "the detail says which state it is in; look at the record, and change its state first";
    INSUFFICIENT_BALANCE: "insufficient_balance" 409 "Not enough on the account"
        "take less, or let the charges be paid in cash";
    BELOW_MINIMUM_BALANCE: "below_minimum_balance" 409 "Below the minimum balance"
        "leave the minimum balance of the product on the account";
    REMAINING_BALANCE: "remaining_balance" 409 "Something would remain on the account"
        "pay out all that the account holds, less the charges it pays";
    OVER_CASHDRAW_LIMIT: "over_cashdraw_limit" 409 "Above the limit of the teller"
        "pay out less at once, or raise the limit: mfa teller update CODE --office OFFICE --limit AMOUNT";
    INSUFFICIENT_CASH: "insufficient_cash" 409 "Not enough cash in the drawer"
        "bring cash from the vault first";
    OTHER_TELLER: "other_teller" 409 "Transaction of another teller" "finish it at its own teller";
    TOO_MANY_PENDING: "too_many_pending" 409 "Too many pending transactions"
        "confirm or cancel some of them: mfa teller transactions list CODE --status pending";
    EMPLOYEE_HAS_OPEN_TELLER: "employee_has_open_teller" 409 "Works at another teller"
        "close that teller first: mfa teller close TELLER --office OFFICE";
    DENOMINATION_REQUIRED: "denomination_required" 409 "The cash was not counted"
        "pause the teller and save a count: mfa teller denominations add CODE --office OFFICE";
    TELLER_USED: "teller_used" 409 "Teller was opened once" "leave it closed: its history stays";
    IN_USE: "in_use" 409 "Still in use" "end the uses that the detail counts first";
    PRODUCT_INACTIVE: "product_inactive" 409 "Product is not active"
        "activate it: mfa products activate PRODUCT";
    ACCOUNT_NUMBERS_EXHAUSTED: "account_numbers_exhausted" 409 "Account numbers used up"
        "a customer has at most 99,999 accounts";
    BALANCE_NOT_ZERO: "balance_not_zero" 409 "Balance is not 0"
        "pay it out at the counter, which closes it: mfa teller close-account CODE --account ACCOUNT";
    ALREADY_BEGUN: "already_begun" 409 "Interest has begun before"
        "leave from out: a run goes on after the last day that was run";
    NOTHING_ACCRUED: "nothing_accrued" 409 "No interest to pay"
        "wait until the interest comes to the smallest amount of the currency: mfa accounts interest ACCOUNT";
    WRONG_PRODUCT_TYPE: "wrong_product_type" 409 "Not for this type of product"
        "name a product of type SHARE: mfa products list";
    ALREADY_DISTRIBUTED: "already_distributed" 409 "Dividend was distributed before"
        "there is one dividend for each due date: mfa products dividends list PRODUCT";
    CURRENCY_MISMATCH: "currency_mismatch" 409 "Two currencies"
        "use accounts of one currency: mfa ledger accounts list";
    OFFICE_NOT_FOUND: "office_not_found" 404 "No such office" "list them: mfa offices list";
    EMPLOYEE_NOT_FOUND: "employee_not_found" 404 "No such employee" "list them: mfa employees list";
    CUSTOMER_NOT_FOUND: "customer_not_found" 404 "No such customer" "list them: mfa customers list";
    PASSWORD_CHANGE_REQUIRED: "password_change_required" 403 "Password must be changed first"
        "set a new password, then log in again: mfa users set-password LOGIN";
    NOT_OWN_RECORD: "not_own_record" 403 "Only for the user's own record" "log in as that user";
    LOGIN_TOKEN_REQUIRED: "login_token_required" 403 "Needs a login by password"
        "log in with a password: a token of an application is never enough here";
    WRONG_PASSWORD: "wrong_password" 403 "Present password wrong"
        "give the password with which you log in now";
    EXCEEDS_OWN_PERMISSIONS: "exceeds_own_permissions" 403 "Grants more than the caller holds"
        "ask someone who holds the missing permissions";
    SCOPE_NOT_COVERED: "scope_not_covered" 403 "Scope not covered"
        "add the missing permissions and consents, or ask for another call endpoint set";
    SCOPE_UNKNOWN: "scope_unknown" 400 "No such scope" "name a call endpoint set of the application";
    CREDENTIALS_IN_QUERY: "credentials_in_query" 400 "Secrets in the address"
        "send them in the body, and change those that were sent: addresses are written to logs";
    UNSUPPORTED_GRANT_TYPE: "unsupported_grant_type" 400 "No such grant type"
        "use password, refresh_token or urn:ietf:params:oauth:grant-type:jwt-bearer";
    TOO_MANY_ATTEMPTS: "too_many_attempts" 429 "Too many failed attempts"
        "wait for the time that Retry-After says";
    TOO_MANY_REQUESTS: "too_many_requests" 429 "Too many requests"
        "wait for the time that Retry-After says";
    SECOND_FACTOR_REQUIRED: "second_factor_required" 401 "Code needed"
        "send the code of your authenticator, too, as this asks for it: mfa login";
    SECOND_FACTOR_INVALID: "second_factor_invalid" 401 "Code not right"
        "wait for the next code, or use a recovery code";
    SECOND_FACTOR_SETUP_REQUIRED: "second_factor_setup_required" 403 "Second factor must be set up first"
        "set one up: mfa second-factor enable";
    WRONG_CODE: "wrong_code" 400 "Code not right" "wait for the next code, and look at the clock";
    LOGIN_FAILED: "login_failed" 401 "Login failed" "check user name and password";
    REFRESH_TOKEN_INVALID: "refresh_token_invalid" 401 "Session has ended" "log in again: mfa login";
    ASSERTION_INVALID: "assertion_invalid" 401 "Assertion not accepted"
        "check the key, the clock and the claims of the assertion";
    IDENTIFIER_RETIRED: "identifier_retired" 409 "Identifier belongs to the past"
        "choose another identifier: records bear this one";
    LAST_PHARAOH: "last_pharaoh" 409 "Last user of role pharaoh" "give another user the role pharaoh first";
    BUILT_IN: "built_in" 409 "Built in"
        "make one of your own: a built-in record cannot be changed or deleted";
    INVALID_APPLICATION_IDENTIFIER: "invalid_application_identifier" 400 "Bad application identifier"
        "an application identifier has 2 to 64 characters of A-Z a-z 0-9 . - * _";
    INVALID_KEY_TIMESTAMP: "invalid_key_timestamp" 400 "Bad key timestamp"
        "a key timestamp looks like 2031-05-06T10_11_12";
    SESSION_NOT_FOUND: "session_not_found" 404 "No such session" "list them: mfa sessions list";
    USER_NOT_FOUND: "user_not_found" 404 "No such user" "list them: mfa users list";
    ROLE_NOT_FOUND: "role_not_found" 404 "No such role" "list them: mfa roles list";
    GROUP_NOT_FOUND: "group_not_found" 404 "No such permittable group" "list them: mfa groups list";
    APPLICATION_NOT_FOUND: "application_not_found" 404 "No such application"
        "list them: mfa applications list";
    SIGNATURE_NOT_FOUND: "signature_not_found" 404 "No such key"
        "list them: mfa applications signatures list APPLICATION";
    PERMISSION_NOT_FOUND: "permission_not_found" 404 "No such permission"
        "list them: mfa applications permissions list APPLICATION";
    CALL_ENDPOINT_SET_NOT_FOUND: "call_endpoint_set_not_found" 404 "No such call endpoint set"
        "list them: mfa applications sets list APPLICATION";
    CARD_NOT_FOUND: "card_not_found" 404 "No such identification card" "list them: mfa cards list CUSTOMER";
    SCAN_NOT_FOUND: "scan_not_found" 404 "No such scan" "list them: mfa cards scan list CUSTOMER CARD";
    PORTRAIT_NOT_FOUND: "portrait_not_found" 404 "No portrait"
        "set one: mfa customers portrait set CUSTOMER FILE";
    DEFINITION_NOT_FOUND: "definition_not_found" 404 "No such product definition"
        "list them: mfa products list";
    INSTANCE_NOT_FOUND: "instance_not_found" 404 "No such product instance"
        "list those of a customer: mfa accounts list --customer CUSTOMER";
    ACCOUNT_NOT_FOUND: "account_not_found" 404 "No such ledger account" "list them: mfa ledger accounts list";
    ENTRY_NOT_FOUND: "entry_not_found" 404 "No such journal entry" "list them: mfa ledger journal list";
    CONFIGURATION_NOT_FOUND: "configuration_not_found" 404 "No such gateway configuration"
        "list them: mfa gateways email list, mfa gateways sms list";
    GATEWAY_DEACTIVATED: "gateway_deactivated" 409 "Gateway deactivated" "set its state to ACTIVE first";
    GATEWAY_CANNOT_SEND: "gateway_cannot_send" 409 "Gateway cannot send" "complete what the detail names";
    GATEWAY_INSECURE: "gateway_insecure" 409 "Secret would travel unencrypted"
        "use TLS: protocol smtps, or start_tls true, or an https: endpoint";
    GATEWAY_FAILED: "gateway_failed" 502 "Gateway did not take the message"
        "the stage says how far it came, the detail quotes the gateway";
    TELLER_NOT_FOUND: "teller_not_found" 404 "No such teller" "list them: mfa teller list --office OFFICE";
    TRANSACTION_NOT_FOUND: "transaction_not_found" 404 "No such transaction"
        "list them: mfa teller transactions list CODE";
    POSITION_TOO_OLD: "position_too_old" 400 "Events are no longer kept"
        "begin with the number that the detail names: mfa events list";
    SUBSCRIPTION_NOT_FOUND: "subscription_not_found" 404 "No such subscription"
        "list them: mfa webhooks list";
    TOO_MANY_SUBSCRIPTIONS: "too_many_subscriptions" 409 "Too many subscriptions"
        "delete one that is not needed: mfa webhooks list";
    AUDIT_RECORD_NOT_FOUND: "audit_record_not_found" 404 "No such audit record" "list them: mfa audit list";
    REPORT_NOT_FOUND: "report_not_found" 404 "No such day report"
        "list them: mfa teller reports list CODE --office OFFICE";
    DAY_NOT_FOUND: "day_not_found" 404 "No such day was ended" "list them: mfa day list OFFICE";
    TELLERS_OPEN: "tellers_open" 409 "Tellers are open"
        "close them: mfa teller close CODE --office OFFICE; or leave them: mfa day end OFFICE --leave-open";
    DAY_OUT_OF_ORDER: "day_out_of_order" 409 "A later day was ended, or this one has not begun"
        "see which were ended: mfa day list OFFICE";
    RECEIPT_NOT_FOUND: "receipt_not_found" 404 "No such receipt"
        "receipts are numbered 1, 2, 3, ... for each teller; give one out: mfa teller receipt";
    NOT_ASSIGNED_EMPLOYEE: "not_assigned_employee" 403 "Not the employee of the teller"
        "log in as the employee who is assigned to the teller";
    WRONG_DRAWER_PASSWORD: "wrong_drawer_password" 403 "Wrong drawer password"
        "check the password of the drawer, or set another: mfa teller update CODE --office OFFICE";
    INTERNAL: "internal" 500 "Defect in the daemon" "report it with the request identifier";
}

/// Finds a row of the table by its code.
pub fn find(code: &str) -> Option<&'static Kind> {
    TABLE.iter().copied().find(|kind| kind.code == code)
}

/// A refused operation: which row of the table, and what is the case.
#[derive(Debug, Clone, PartialEq)]
pub struct Fault(Box<Parts>);

/// The parts of a [`Fault`].
#[derive(Debug, Clone, PartialEq)]
pub struct Parts {
    /// The row of the table.
    pub kind: &'static Kind,
    /// One sentence, lower case and without a final period: names the record and says what is the case.
    pub detail: String,
    /// Bad fields, where the fault is about fields.
    pub errors: Vec<FieldError>,
    /// Seconds until another try makes sense, for 429 and 503.
    pub retry_after: Option<u32>,
    /// The methods of the path, for 405.
    pub allow: Option<String>,
    /// Permissions that the caller lacks: any one of them for `forbidden`, all of them for
    /// `exceeds_own_permissions` and `scope_not_covered`.
    pub missing: Option<Vec<Permission>>,
    /// OAuth 2.0 error word, at `POST /token`.
    pub error: Option<&'static str>,
    /// How far a message came, for `gateway_failed`.
    pub gateway: Option<GatewayFailure>,
    /// The operation of a batch that was refused, counted from 0.
    pub operation: Option<usize>,
    /// Seconds of the lock that this refusal began; for the log alone.
    pub locked_seconds: Option<u32>,
}

/// How far a message to a gateway came.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GatewayFailure {
    /// `connect`, `tls`, `sign_in` or `send`.
    pub stage: &'static str,
    /// The status of SMTP or HTTP with which the gateway refused, if it said one.
    pub code: Option<u16>,
}

impl std::ops::Deref for Fault {
    type Target = Parts;
    fn deref(&self) -> &Parts {
        &self.0
    }
}

/// How the reason begins for which a whole batch is refused; the request and what is wrong with it follow.
fn operation_words(index: usize) -> String {
    format!("operation {index} of the batch, ")
}

/// What is wrong with the operation for which a batch is refused, for those who name the operation otherwise.
pub fn detail_of_operation(index: usize, detail: &str) -> &str {
    let rest = detail.strip_prefix(&operation_words(index)).and_then(|rest| rest.split_once(": "));
    rest.map_or(detail, |(_, detail)| detail)
}

impl Fault {
    /// A fault with its sentence.
    pub fn new(kind: &'static Kind, detail: impl Into<String>) -> Self {
        let retry_after = matches!(kind.status, 429 | 503).then_some(1);
        let detail = detail.into();
        Self(Box::new(Parts {
            kind,
            detail,
            errors: Vec::new(),
            retry_after,
            allow: None,
            missing: None,
            error: None,
            gateway: None,
            operation: None,
            locked_seconds: None,
        }))
    }

    /// Bad fields, all at once.
    pub fn fields(errors: Vec<FieldError>) -> Self {
        Self::about_all(INVALID_FIELDS, "break a rule", errors)
    }

    fn about_all(kind: &'static Kind, what: &str, errors: Vec<FieldError>) -> Self {
        let first = errors.first().map_or(String::new(), |e| e.detail.clone());
        let detail = match errors.len() {
            0 | 1 => first,
            // As many as a body is looked through for.
            FIELD_ERRORS_MAX => format!("{FIELD_ERRORS_MAX} fields or more {what}; the first: {first}"),
            n => format!("{n} fields {what}; the first: {first}"),
        };
        let mut fault = Self::new(kind, detail);
        fault.0.errors = errors;
        fault
    }

    /// The same fault without its fields; the detail still names the first.
    pub fn without_fields(mut self) -> Self {
        self.0.errors.clear();
        self
    }

    /// One bad field that was found beside the rules of the body.
    pub fn field(pointer: &str, code: &str, what: &str) -> Self {
        let field = pointer.to_owned();
        let code = code.to_owned();
        Self::fields(vec![FieldError { field, code, detail: format!("{pointer} {what}") }])
    }

    /// A body that gives another value for a field which never changes.
    pub fn immutable(pointer: &str, present: &str) -> Self {
        Self::about(IMMUTABLE_FIELD, pointer, format!("{pointer} never changes; its value is {present}"))
    }

    /// A fault of one field that has a code of its own.
    pub fn about(kind: &'static Kind, pointer: &str, detail: String) -> Self {
        let mut fault = Self::new(kind, detail.clone());
        let field = pointer.to_owned();
        let code = kind.code.to_owned();
        fault.0.errors = vec![FieldError { field, code, detail }];
        fault
    }

    /// A body that names a record which does not exist.
    pub fn unknown_reference(pointer: &str, noun: &str, name: &str) -> Self {
        Self::unknown_references(vec![FieldError::unknown_reference(pointer, noun, name)])
    }

    /// A body that names records which do not exist, all at once.
    pub fn unknown_references(errors: Vec<FieldError>) -> Self {
        Self::about_all(UNKNOWN_REFERENCE, "name what does not exist", errors)
    }

    /// The same fault with its dangling references in the order of the body that was sent.
    pub fn in_order_of(mut self, body: &Node) -> Self {
        if self.kind != UNKNOWN_REFERENCE {
            return self;
        }
        rule::sort(&mut self.0.errors, body);
        Self::unknown_references(self.0.errors)
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.detail, self.kind.code)
    }
}

impl std::error::Error for Fault {}

#[cfg(test)]
#[path = "fault_tests.rs"]
mod tests;
