//! Kinds of records: what the audit trail calls them, their place among the paths, and which endpoint
//! shows one. The words are the singular nouns of the command line. Contract: `audit.md` section 1.

/// How one record of a kind is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ShownBy {
    /// By this endpoint, whose path names it.
    Row(&'static str),
    /// Among those that this endpoint lists.
    List(&'static str),
    /// As a row, with the image that another row shows.
    WithImage(&'static str, &'static str),
}

/// A kind of record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Kind {
    /// Its name.
    pub name: &'static str,
    /// The path of one.
    pub path: &'static str,
    /// The field of a body that names a new one, as a JSON pointer.
    pub named_by: &'static str,
    /// How it is read.
    pub shown_by: ShownBy,
}

const fn kind(name: &'static str, path: &'static str, named_by: &'static str, row: &'static str) -> Kind {
    Kind { name, path, named_by, shown_by: ShownBy::Row(row) }
}

/// Every kind. Where the path of one begins with that of another, the longer one is meant.
pub const KINDS: &[Kind] = &[
    kind("user", "/users/{}", "identifier", "GetUser"),
    kind("second-factor", "/users/{}/second-factor", "", "GetSecondFactor"),
    Kind {
        name: "session",
        path: "/users/{}/sessions/{}",
        named_by: "",
        shown_by: ShownBy::List("ListUserSessions"),
    },
    kind("role", "/roles/{}", "identifier", "GetRole"),
    kind("group", "/permittablegroups/{}", "identifier", "GetGroup"),
    Kind {
        name: "application",
        path: "/applications/{}",
        named_by: "",
        shown_by: ShownBy::List("ListApplications"),
    },
    kind("signature", "/applications/{}/signatures/{}", "", "GetSignature"),
    kind(
        "permission",
        "/applications/{}/permissions/{}",
        "permittableEndpointGroupIdentifier",
        "GetApplicationPermission",
    ),
    kind("consent", "/applications/{}/permissions/{}/users/{}/enabled", "", "GetConsent"),
    kind("set", "/applications/{}/callendpointset/{}", "identifier", "GetCallEndpointSet"),
    kind("office", "/offices/{}", "identifier", "GetOffice"),
    kind("day", "/offices/{}/days/{}", "", "GetOfficeDay"),
    kind("teller", "/offices/{}/teller/{}", "code", "GetTeller"),
    kind("employee", "/employees/{}", "identifier", "GetEmployee"),
    kind("customer", "/customers/{}", "identifier", "GetCustomer"),
    kind("portrait", "/customers/{}/portrait", "", "GetPortrait"),
    kind("card", "/customers/{}/identifications/{}", "number", "GetCard"),
    Kind {
        name: "scan",
        path: "/customers/{}/identifications/{}/scans/{}",
        named_by: "scanIdentifier",
        shown_by: ShownBy::WithImage("GetScan", "GetScanImage"),
    },
    Kind {
        name: "action",
        path: "/actions/{}",
        named_by: "identifier",
        shown_by: ShownBy::List("ListActions"),
    },
    kind("product", "/definitions/{}", "identifier", "GetDefinition"),
    kind("account", "/instances/{}", "", "GetInstance"),
    kind("email", "/configuration/email/{}", "identifier", "GetEmailConfiguration"),
    kind("sms", "/configuration/sms/{}", "identifier", "GetSmsConfiguration"),
    kind("transaction", "/teller/{}/transactions/{}", "", "GetTransaction"),
    kind("receipt", "/offices/{}/teller/{}/receipts/{}", "", "GetReceipt"),
    kind("webhook", "/events/subscriptions/{}", "identifier", "GetSubscription"),
];

/// A record as the audit trail names it.
pub fn resource(kind: &str, parts: &[String]) -> String {
    let mut name = kind.to_owned();
    for part in parts {
        name.push('/');
        name.push_str(part);
    }
    name
}
