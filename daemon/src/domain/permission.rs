//! What a permission covers: patterns of paths, groups of them, and the permissions that somebody holds.
//! Contract: `identity.md` sections 3, 4 and 7.

use mfa_shared::api::groups::{PermittableGroup, PermittableMethod};
use mfa_shared::api::roles::{DEACTIVATED, Operation, Permission, Role, unite};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The group on which every user holds all operations.
pub const SELF_GROUP: &str = "identity__v1__self";
/// Every operation, in the order of the contract.
pub const ALL: [Operation; 3] = [Operation::Read, Operation::Change, Operation::Delete];

/// The operation that a method needs.
pub fn operation(method: PermittableMethod) -> Operation {
    match method {
        PermittableMethod::Get | PermittableMethod::Head => Operation::Read,
        PermittableMethod::Post | PermittableMethod::Put => Operation::Change,
        PermittableMethod::Delete => Operation::Delete,
    }
}

/// A permission as a value.
pub fn permission(group: &str, operations: &[Operation]) -> Permission {
    Permission {
        permittable_endpoint_group_identifier: group.to_owned(),
        allowed_operations: operations.to_vec(),
    }
}

/// A request as access control sees it.
#[derive(Debug, Clone, Copy)]
pub struct Asked<'a> {
    /// Application name of the part to which the route belongs.
    pub application: &'a str,
    /// Method.
    pub method: PermittableMethod,
    /// Decoded segments of the path, without an old prefix.
    pub segments: &'a [&'a str],
}

/// Who asks, as the placeholders of a pattern see it.
#[derive(Debug, Clone, Copy, Default)]
pub struct Who<'a> {
    /// The user, if there is one.
    pub user: Option<&'a str>,
    /// The application, if there is one.
    pub application: Option<&'a str>,
    /// Applications that the token is intended for besides the daemon; empty for every part.
    pub intended: &'a [String],
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Segment {
    Text(String),
    /// Exactly one segment of any text.
    One,
    User,
    Application,
    /// A placeholder that nobody knows.
    Nothing,
}

/// A compiled pattern of paths.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pattern {
    application: String,
    segments: Vec<Segment>,
    /// Whether any number of segments may follow.
    open: bool,
}

impl Pattern {
    /// Compiles any text; one that names no application matches nothing.
    pub fn compile(text: &str) -> Self {
        let text = text.strip_prefix('/').unwrap_or(text).trim_end_matches('/');
        let mut parts = text.split('/');
        let application = parts.next().unwrap_or_default().to_owned();
        let mut parts: Vec<_> = parts.collect();
        let open = parts.last() == Some(&"*");
        if open {
            parts.pop();
        }
        let segment = |part: &str| match part {
            "*" | "{*}" => Segment::One,
            "{useridentifier}" => Segment::User,
            "{applicationidentifier}" => Segment::Application,
            _ if part.len() >= 2 && part.starts_with('{') && part.ends_with('}') => Segment::Nothing,
            _ => Segment::Text(part.to_owned()),
        };
        Self { application, segments: parts.into_iter().map(segment).collect(), open }
    }

    /// Whether the pattern covers a path.
    pub fn matches(&self, application: &str, segments: &[&str], who: &Who<'_>) -> bool {
        let enough = match self.open {
            true => segments.len() >= self.segments.len(),
            false => segments.len() == self.segments.len(),
        };
        let fits = |(pattern, asked): (&Segment, &&str)| match pattern {
            Segment::Text(text) => text == asked,
            Segment::One => true,
            Segment::User => who.user == Some(asked),
            Segment::Application => who.application == Some(asked),
            Segment::Nothing => false,
        };
        enough && self.application == application && self.segments.iter().zip(segments).all(fits)
    }
}

#[derive(Debug)]
struct Entry {
    method: PermittableMethod,
    pattern: Pattern,
    /// Whether a token that is intended for other applications is good here.
    foreign: bool,
}

impl Entry {
    fn covers(&self, asked: &Asked<'_>, who: &Who<'_>) -> bool {
        let method = self.method == asked.method
            || (self.method == PermittableMethod::Get && asked.method == PermittableMethod::Head);
        let intended = who.intended.is_empty() || who.intended.iter().any(|name| name == asked.application);
        method && (intended || self.foreign) && self.pattern.matches(asked.application, asked.segments, who)
    }
}

/// All permittable groups, compiled.
#[derive(Debug, Default)]
pub struct Groups(BTreeMap<String, Vec<Arc<Entry>>>);

/// What permissions open: the permittables of their groups whose operations they have, by application.
#[derive(Debug, Default)]
pub struct Reach {
    groups: Arc<Groups>,
    parts: Vec<(String, Vec<Arc<Entry>>)>,
}

impl Groups {
    /// Compiles the groups of the store.
    pub fn compile(groups: impl IntoIterator<Item = PermittableGroup>) -> Self {
        let entries = |group: PermittableGroup| {
            let entry = |p: &mfa_shared::api::groups::Permittable| Entry {
                method: p.method,
                pattern: Pattern::compile(&p.path),
                foreign: p.accept_token_intended_for_foreign_application,
            };
            (group.identifier, group.permittables.iter().map(entry).map(Arc::new).collect())
        };
        Self(groups.into_iter().map(entries).collect())
    }

    /// What these permissions open.
    pub fn reach(self: &Arc<Self>, held: &[Permission]) -> Reach {
        let mut parts = BTreeMap::<&str, Vec<Arc<Entry>>>::new();
        for held in held {
            let entries = self.0.get(&held.permittable_endpoint_group_identifier).into_iter().flatten();
            // GET and HEAD, of which one may stand for the other, need the same operation.
            for entry in entries.filter(|entry| held.allowed_operations.contains(&operation(entry.method))) {
                parts.entry(&entry.pattern.application).or_default().push(entry.clone());
            }
        }
        let parts = parts.into_iter().map(|(name, entries)| (name.to_owned(), entries)).collect();
        Reach { groups: self.clone(), parts }
    }

    /// The permissions any one of which would cover the request, by group.
    pub fn would_allow(&self, asked: &Asked<'_>, who: &Who<'_>) -> Vec<Permission> {
        let covering =
            self.0.iter().filter(|(_, entries)| entries.iter().any(|entry| entry.covers(asked, who)));
        covering.map(|(group, _)| permission(group, &[operation(asked.method)])).collect()
    }
}

impl Reach {
    /// Whether the request is among what is open.
    pub fn covers(&self, asked: &Asked<'_>, who: &Who<'_>) -> bool {
        let mut parts = self.parts.iter().filter(|(name, _)| name == asked.application);
        parts.any(|(_, entries)| entries.iter().any(|entry| entry.covers(asked, who)))
    }

    /// The groups on which permissions are.
    pub fn groups(&self) -> &Arc<Groups> {
        &self.groups
    }
}

/// What a user may do: the permissions of the role in their order, and those that every user has.
pub fn of_user(role: &str, stored: Option<&Role>) -> Vec<Permission> {
    if role == DEACTIVATED {
        return Vec::new();
    }
    let own = permission(SELF_GROUP, &ALL);
    unite(stored.iter().flat_map(|role| role.permissions.iter().cloned()).chain([own]))
}

/// What an application may do in the name of a user: what both hold, on groups that the user has enabled.
pub fn delegated(
    application: &[Permission],
    user: &[Permission],
    enabled: impl Fn(&str) -> bool,
) -> Vec<Permission> {
    let of_both = |asked: &Permission| {
        let group = &asked.permittable_endpoint_group_identifier;
        let held = user.iter().find(|held| held.permittable_endpoint_group_identifier == *group)?;
        let mut operations = asked.allowed_operations.clone();
        operations.retain(|operation| held.allowed_operations.contains(operation));
        (!operations.is_empty() && enabled(group)).then(|| permission(group, &operations))
    };
    application.iter().filter_map(of_both).collect()
}

/// Only the permissions on these groups.
pub fn narrowed(mut held: Vec<Permission>, groups: &[String]) -> Vec<Permission> {
    held.retain(|held| groups.contains(&held.permittable_endpoint_group_identifier));
    held
}

/// What is lacking for a token that is narrowed to these groups: on each the application must have a
/// permission, and a user in whose name it acts must hold all its operations and have enabled it. A group
/// on which the application has none stands there without operations.
pub fn scope_lacking(
    groups: &[String],
    application: &[Permission],
    user: Option<&[Permission]>,
    enabled: impl Fn(&str) -> bool,
) -> Vec<Permission> {
    let find = |held: &[Permission], group: &String| {
        held.iter().find(|held| held.permittable_endpoint_group_identifier == *group).cloned()
    };
    let lacking = |group: &String| {
        let Some(asked) = find(application, group) else { return Some(permission(group, &[])) };
        let user = user?;
        if !enabled(group) {
            return Some(asked);
        }
        let held = find(user, group).map_or(Vec::new(), |held| held.allowed_operations);
        let mut operations = asked.allowed_operations;
        operations.retain(|operation| !held.contains(operation));
        (!operations.is_empty()).then(|| permission(group, &operations))
    };
    unite(groups.iter().filter_map(lacking))
}

#[cfg(test)]
mod tests {
    use super::*;
    use Operation::{Change, Delete, Read};
    use mfa_shared::api::groups::Permittable;
    use mfa_shared::endpoint::split;

    /// The table of the contract: pattern, request, caller, whether it matches.
    const TABLE: &str = "
        identity-v1/roles/*                                  | /roles                     | anna  | yes
        identity-v1/roles/*                                  | /roles/clerk/              | anna  | yes
        identity-v1/users/*                                  | /users/bert/password       | anna  | yes
        /identity-v1/roles/                                  | /roles                     | anna  | yes
        identity-v1/roles                                    | /roles/clerk               | anna  | no
        identity-v10/roles/*                                 | /roles                     | anna  | no
        */roles/*                                            | /roles                     | anna  | no
        {*}/roles/*                                          | /roles                     | anna  | no
        identity-v1/users/{useridentifier}/password          | /users/anna/password       | anna  | yes
        identity-v1/users/{useridentifier}/password          | /users/bert/password       | anna  | no
        identity-v1/users/{useridentifier}/password          | /users/anna/password       | crm-v1 | no
        office-v1/employees/{useridentifier}/*               | /employees/anna/contacts   | anna  | yes
        identity-v1/applications/*/permissions/*/users/{useridentifier}/enabled \
            | /applications/crm-v1/permissions/g1/users/anna/enabled | anna | yes
        identity-v1/applications/*/permissions/*/users/{useridentifier}/enabled \
            | /applications/crm-v1/permissions/users/anna/enabled | anna | no
        identity-v1/applications/{applicationidentifier}/permissions \
            | /applications/crm-v1/permissions | crm-v1 | yes
        identity-v1/applications/{applicationidentifier}/permissions \
            | /applications/crm-v1/permissions | pay-v1 | no
        identity-v1/applications/{applicationidentifier}/permissions \
            | /applications/crm-v1/permissions | anna | no
        identity-v1/applications/{applicationidentifier}/permissions \
            | /applications/crm-v1/permissions/g1 | crm-v1 | no
        customer-v1/customers/{customeridentifier}           | /customers/C1              | anna  | no
        customer-v1/customers/{*}                            | /customers/C1              | anna  | yes
        customer-v1/customers/{*}                            | /customers                 | anna  | no
        customer-v1/customers/{*}                            | /customers/C1/portrait     | anna  | no
        customer-v1/customers/A B/*                          | /customers/A%20B           | anna  | yes
        customer-v1/customers/A%20B/*                        | /customers/A%20B           | anna  | no
        customer-v1/customers/*/portrait                     | /customers/C1%2FX/portrait | anna  | yes
        office-v1/offices/*                                  | /offices/O1/teller/T1      | anna  | no
        teller-v1/offices/{*}/teller/*                       | /offices/O1/teller/        | anna  | yes
        office-v1/employees/em*                              | /employees/emma            | anna  | no
        office-v1/employees/em*                              | /employees/em*             | anna  | yes
        office-v1/employees/em                               | /employees/*               | anna  | no
        office-v1/Employees/*                                | /employees                 | anna  | no
        office-v1//employees/*                               | /employees                 | anna  | no
        //office-v1/employees/*                              | /employees                 | anna  | no
        office-v1/employees///                               | /employees                 | anna  | yes
        office-v1/employees/{}                               | /employees/{}              | anna  | no
        office-v1/employees/{x                               | /employees/{x              | anna  | yes
        /x/y/z                                               | /employees                 | anna  | no
        office-v1                                            | /employees                 | anna  | no
        office-v1/*                                          | /employees/emma            | anna  | yes
    ";

    fn application_of(segments: &[&str]) -> &'static str {
        let segments: Vec<_> = segments.to_vec();
        match segments.as_slice() {
            ["offices", _, "teller", ..] => "teller-v1",
            ["offices" | "employees", ..] => "office-v1",
            ["customers", ..] => "customer-v1",
            _ => "identity-v1",
        }
    }

    #[test]
    fn patterns_match_as_the_table_says() {
        for row in TABLE.replace("\\\n", "").lines().filter(|line| !line.trim().is_empty()) {
            let cells: Vec<_> = row.split('|').map(str::trim).collect();
            let [pattern, request, caller, expected] = cells[..] else { panic!("{row}") };
            let segments = split(request).unwrap();
            let segments: Vec<_> = segments.iter().map(String::as_str).collect();
            let who = match caller {
                "anna" => Who { user: Some("anna"), ..Who::default() },
                name => Who { application: Some(name), ..Who::default() },
            };
            let matched = Pattern::compile(pattern).matches(application_of(&segments), &segments, &who);
            assert_eq!(matched, expected == "yes", "{row}");
        }
    }

    fn group(identifier: &str, path: &str, method: PermittableMethod, foreign: bool) -> PermittableGroup {
        let permittable = Permittable {
            path: path.to_owned(),
            method,
            group_id: None,
            accept_token_intended_for_foreign_application: foreign,
        };
        PermittableGroup { identifier: identifier.to_owned(), permittables: vec![permittable] }
    }

    #[test]
    fn a_token_intended_for_other_applications_counts_only_where_the_flag_says_so() {
        let segments = ["customers", "C1"];
        let method = PermittableMethod::Get;
        let asked = Asked { application: "customer-v1", method, segments: &segments };
        let held = [permission("g1", &[Read])];
        for (intended, flag, allowed) in
            [("office-v1", false, false), ("office-v1", true, true), ("customer-v1", false, true)]
        {
            let intended = [intended.to_owned()];
            let who = Who { application: Some("crm-v1"), intended: &intended, ..Who::default() };
            let groups = Arc::new(Groups::compile([group("g1", "customer-v1/customers/*", method, flag)]));
            assert_eq!(groups.reach(&held).covers(&asked, &who), allowed);
            assert_eq!(groups.would_allow(&asked, &who).len(), usize::from(allowed));
        }
    }

    #[test]
    fn the_operation_and_the_method_must_fit() {
        use PermittableMethod::{Get, Head, Post};
        let who = Who::default();
        for (permittable, held, asked, allowed) in [
            (Get, Read, Get, true),
            (Get, Read, Head, true),
            (Head, Read, Get, false),
            (Head, Read, Head, true),
            (Get, Change, Get, false),
            (Get, Delete, Get, false),
            (Post, Change, Post, true),
            (Post, Change, PermittableMethod::Put, false),
            (PermittableMethod::Delete, Delete, PermittableMethod::Delete, true),
            (PermittableMethod::Delete, Change, PermittableMethod::Delete, false),
        ] {
            let groups = Arc::new(Groups::compile([group("g1", "office-v1/offices/*", permittable, false)]));
            let asked = Asked { application: "office-v1", method: asked, segments: &["offices"] };
            let covers = |group| groups.reach(&[permission(group, &[held])]).covers(&asked, &who);
            assert_eq!(covers("g1"), allowed, "{asked:?}");
            assert!(!covers("g2"));
        }
    }

    #[test]
    fn a_user_holds_the_role_and_the_own_record() {
        let role = |permissions| Role { identifier: "clerk".into(), permissions };
        let own = permission(SELF_GROUP, &ALL);
        assert_eq!(of_user("clerk", None), vec![own.clone()]);
        assert_eq!(of_user("deactivated", None), []);
        let clerk = role(vec![permission(SELF_GROUP, &[Read]), permission("g1", &[Read])]);
        assert_eq!(of_user("clerk", Some(&clerk)), [own.clone(), permission("g1", &[Read])]);
        let clerk = role(vec![permission("g1", &[])]);
        assert_eq!(of_user("clerk", Some(&clerk)), [permission("g1", &[]), own]);
    }

    #[test]
    fn an_application_for_a_user_holds_what_both_hold_and_the_user_enabled() {
        let application =
            [permission("g1", &[Read, Change]), permission("g2", &[Read]), permission("g3", &[Read])];
        let user = [permission("g1", &[Read, Delete]), permission("g3", &[Read])];
        let held = delegated(&application, &user, |group| group != "g3");
        assert_eq!(held, [permission("g1", &[Read])]);
        assert_eq!(narrowed(held, &["g2".to_owned()]), []);
    }

    #[test]
    fn a_scope_is_covered_whole_or_not_at_all() {
        let scope = ["g1".to_owned(), "g2".to_owned(), "g1".to_owned()];
        let application = [permission("g1", &[Read, Change]), permission("g2", &[Read])];
        let all = |_: &str| true;
        assert_eq!(scope_lacking(&scope, &application, None, |_| false), []);
        assert_eq!(scope_lacking(&["g9".to_owned()], &application, None, all), [permission("g9", &[])]);
        let user = [permission("g1", &[Read]), permission("g2", &[Read])];
        assert_eq!(scope_lacking(&scope, &application, Some(&user), all), [permission("g1", &[Change])]);
        let user = [permission("g1", &ALL), permission("g2", &[Read])];
        assert_eq!(scope_lacking(&scope, &application, Some(&user), all), []);
        let enabled = |group: &str| group == "g1";
        assert_eq!(scope_lacking(&scope, &application, Some(&user), enabled), [permission("g2", &[Read])]);
    }
}
