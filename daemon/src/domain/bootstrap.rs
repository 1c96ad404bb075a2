//! What a fresh store holds, and what its initialisation adds. Contract: `identity.md` section 11.

use super::permission::{ALL, permission};
use mfa_shared::api::groups::{Permittable, PermittableGroup, PermittableMethod};
use mfa_shared::api::roles::{Operation, PHARAOH, Role};
use mfa_shared::rule::Word;

/// A group: its identifier and its paths; words in front of a path are its methods, and without any they
/// are GET, POST, PUT and DELETE.
type Group = (&'static str, &'static [&'static str]);

/// The groups of every store; they cannot be changed.
const BUILT_IN: &[Group] = &[
    ("identity__v1__roles", &["identity-v1/roles/*", "identity-v1/permittablegroups/*"]),
    ("identity__v1__users", &["identity-v1/users/*"]),
    (
        "identity__v1__self",
        &[
            "identity-v1/users/{useridentifier}/password",
            "identity-v1/applications/*/permissions/*/users/{useridentifier}/enabled",
        ],
    ),
    ("identity__v1__app_self", &["identity-v1/applications/{applicationidentifier}/permissions"]),
];

/// The groups of an initialised store besides those; ordinary ones.
const STARTER: &[Group] = &[
    ("identity__v1__applications", &["identity-v1/applications/*"]),
    ("office__v1__offices", &["office-v1/offices/*"]),
    ("office__v1__employees", &["office-v1/employees/*"]),
    (
        "office__v1__self",
        &[
            "GET PUT office-v1/employees/{useridentifier}",
            "GET PUT DELETE office-v1/employees/{useridentifier}/contacts",
        ],
    ),
    ("customer__v1__customer", &["GET POST PUT customer-v1/customers/*"]),
    ("customer__v1__identifications", &["customer-v1/customers/*/identifications/*"]),
    ("customer__v1__portrait", &["GET POST DELETE customer-v1/customers/*/portrait"]),
    (
        "deposit__v1__definition",
        &[
            "deposit-v1/actions/*",
            "deposit-v1/definitions",
            "deposit-v1/definitions/{*}",
            "deposit-v1/definitions/{*}/commands",
        ],
    ),
    ("deposit__v1__instance", &["deposit-v1/definitions/{*}/instances", "deposit-v1/instances/*"]),
    (INTEREST, &["deposit-v1/interest/*", "deposit-v1/definitions/{*}/dividends"]),
    (DAYS, &["office-v1/offices/{*}/days/*"]),
    ("teller__v1__management", &["teller-v1/offices/{*}/teller/*"]),
    ("teller__v1__operation", &["teller-v1/teller/*"]),
    (GATEWAYS, &["notification-v1/configuration/*"]),
    ("ledger__v1__ledger", &["GET ledger-v1/ledger/*"]),
    ("audit__v1__audit", &["GET audit-v1/audit/*"]),
    ("events__v1__events", &["events-v1/events/*"]),
    ("admin__v1__admin", &["admin-v1/admin/*", "GET admin-v1/metrics"]),
];

/// The group of the gateways and of their secrets.
pub const GATEWAYS: &str = "notification__v1__configuration";

/// The group of interest runs and dividends.
pub const INTEREST: &str = "deposit__v1__interest";

/// The group of the ends of days.
pub const DAYS: &str = "office__v1__days";

/// Groups that stores made by earlier programs do not have.
pub const LATER_GROUPS: &[&str] = &[INTEREST, DAYS];

/// The starter roles, and below what each may do on a group: Read, Change, Delete.
const ROLES: [&str; 5] = ["administrator", "branch-manager", "clerk", "teller", "auditor"];
const PERMISSIONS: &[(&str, [&str; 5])] = &[
    ("identity__v1__roles", ["RCD", "R", "", "", "R"]),
    ("identity__v1__users", ["RCD", "R", "", "", "R"]),
    ("identity__v1__applications", ["RCD", "", "", "", "R"]),
    ("identity__v1__app_self", ["RCD", "", "", "", ""]),
    ("office__v1__offices", ["RCD", "R", "R", "R", "R"]),
    ("office__v1__employees", ["RCD", "RC", "R", "", "R"]),
    ("office__v1__self", ["RCD", "RCD", "RCD", "RCD", "R"]),
    ("customer__v1__customer", ["RCD", "RC", "RC", "R", "R"]),
    ("customer__v1__identifications", ["RCD", "RCD", "RC", "R", "R"]),
    ("customer__v1__portrait", ["RCD", "RCD", "RC", "R", "R"]),
    ("deposit__v1__definition", ["RCD", "R", "R", "R", "R"]),
    ("deposit__v1__instance", ["RCD", "RC", "RC", "R", "R"]),
    (INTEREST, ["RCD", "RC", "R", "R", "R"]),
    (DAYS, ["RCD", "RC", "R", "R", "R"]),
    ("teller__v1__management", ["RCD", "RC", "", "R", "R"]),
    ("teller__v1__operation", ["RCD", "", "", "RC", ""]),
    (GATEWAYS, ["RCD", "", "", "", ""]),
    ("admin__v1__admin", ["RCD", "", "", "", ""]),
    ("ledger__v1__ledger", ["R", "R", "", "", "R"]),
    ("audit__v1__audit", ["R", "", "", "", "R"]),
    ("events__v1__events", ["RCD", "R", "", "", "R"]),
];

fn group((identifier, paths): &Group) -> PermittableGroup {
    use PermittableMethod::{Delete, Get, Post, Put};
    let mut permittables = Vec::new();
    for path in *paths {
        let (path, methods) = match path.rsplit_once(' ') {
            None => (*path, vec![Get, Post, Put, Delete]),
            Some((words, path)) => (path, words.split(' ').filter_map(PermittableMethod::find).collect()),
        };
        permittables.extend(methods.into_iter().map(|method| Permittable {
            path: path.to_owned(),
            method,
            group_id: None,
            accept_token_intended_for_foreign_application: false,
        }));
    }
    PermittableGroup { identifier: (*identifier).to_owned(), permittables }
}

/// The groups of a fresh store.
pub fn built_in_groups() -> impl Iterator<Item = PermittableGroup> {
    BUILT_IN.iter().map(group)
}

/// Whether the group cannot be changed.
pub fn is_built_in(group: &str) -> bool {
    BUILT_IN.iter().any(|(identifier, _)| *identifier == group)
}

/// The groups of an initialised store.
pub fn groups() -> impl Iterator<Item = PermittableGroup> {
    BUILT_IN.iter().chain(STARTER).map(group)
}

/// The built-in role that may grant everything.
pub fn pharaoh() -> Role {
    let permissions = BUILT_IN.iter().map(|(group, _)| permission(group, &ALL)).collect();
    Role { identifier: PHARAOH.to_owned(), permissions }
}

/// The starter roles.
pub fn roles() -> impl Iterator<Item = Role> {
    let operations = |letters: &str| -> Vec<Operation> {
        let letter = |operation: &Operation| operation.as_str()[..1].to_owned();
        ALL.iter().filter(|operation| letters.contains(&letter(operation))).copied().collect()
    };
    ROLES.iter().enumerate().map(move |(i, identifier)| {
        let rows = PERMISSIONS.iter().filter(|(_, letters)| !letters[i].is_empty());
        let permissions = rows.map(|(group, letters)| permission(group, &operations(letters[i]))).collect();
        Role { identifier: (*identifier).to_owned(), permissions }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::permission::{Groups, Target, Who};
    use crate::domain::privilege::Holding;
    use mfa_shared::api;
    use mfa_shared::endpoint::{Method, segments};

    #[test]
    fn the_administrator_holds_all_that_the_others_hold() {
        let roles: Vec<_> = roles().collect();
        assert_eq!(roles[0].identifier, "administrator");
        let administrator = Holding::Only(roles[0].permissions.clone().into());
        for role in &roles[1..] {
            assert_eq!(administrator.lacking(&role.permissions), [], "{}", role.identifier);
            assert!(
                !Holding::Only(role.permissions.clone().into()).lacking(&roles[0].permissions).is_empty()
            );
        }
    }

    #[test]
    fn every_permission_names_a_group_and_every_group_is_in_a_role() {
        let mut groups: Vec<_> = groups().map(|g| g.identifier).collect();
        let mut named: Vec<_> = PERMISSIONS.iter().map(|(group, _)| (*group).to_owned()).collect();
        named.push("identity__v1__self".to_owned());
        groups.sort();
        named.sort();
        assert_eq!(groups, named);
    }

    #[test]
    fn the_built_in_groups_have_four_methods_on_each_path() {
        let group = built_in_groups().next().unwrap();
        let shown: Vec<_> = group.permittables.iter().map(|p| format!("{} {}", p.method, p.path)).collect();
        let methods = ["GET", "POST", "PUT", "DELETE"];
        let paths = ["identity-v1/roles/*", "identity-v1/permittablegroups/*"];
        let expected: Vec<_> = paths.iter().flat_map(|p| methods.map(|m| format!("{m} {p}"))).collect();
        assert_eq!(shown, expected);
        assert_eq!(pharaoh().permissions.len(), 4);
    }

    #[test]
    fn every_endpoint_that_needs_a_permission_is_covered_by_a_group() {
        let groups = Groups::compile(groups());
        // A batch and a search are open to every caller: each operation, and each kind, is decided by itself.
        let own = ["/token", "/batch", "/search", "/live", "/ready", "/version", "/openapi.json", "/docs"];
        for row in api::rows() {
            if own.iter().any(|own| row.path.starts_with(own)) {
                continue;
            }
            // A consent is given by its user only, which no group can open.
            if row.name == "SetConsent" {
                continue;
            }
            let method = match row.method {
                Method::Get => PermittableMethod::Get,
                Method::Post => PermittableMethod::Post,
                Method::Put => PermittableMethod::Put,
                Method::Delete => PermittableMethod::Delete,
            };
            let segments: Vec<_> = segments(row.path).collect();
            let asked = Target { application: row.application(), method, segments: &segments };
            assert!(
                !groups.would_allow(&asked, &Who::default()).is_empty(),
                "{} is open to no one",
                row.name
            );
        }
    }
}
