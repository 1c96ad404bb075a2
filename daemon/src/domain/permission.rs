//! What a permission covers: patterns of paths, groups of them, and the permissions that a caller holds.
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
pub struct Target<'a> {
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
    /// An unknown placeholder.
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
        let enough = if self.open {
            segments.len() >= self.segments.len()
        } else {
            segments.len() == self.segments.len()
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
    fn covers(&self, asked: &Target<'_>, who: &Who<'_>) -> bool {
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
pub struct Permitted {
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
    pub fn reach(self: &Arc<Self>, held: &[Permission]) -> Permitted {
        let mut parts = BTreeMap::<&str, Vec<Arc<Entry>>>::new();
        for held in held {
            let entries = self.0.get(&held.permittable_endpoint_group_identifier).into_iter().flatten();
            // GET and HEAD, which may replace each other, need the same operation.
            for entry in entries.filter(|entry| held.allowed_operations.contains(&operation(entry.method))) {
                parts.entry(&entry.pattern.application).or_default().push(entry.clone());
            }
        }
        let parts = parts.into_iter().map(|(name, entries)| (name.to_owned(), entries)).collect();
        Permitted { groups: self.clone(), parts }
    }

    /// The permissions any one of which would cover the request, by group.
    pub fn would_allow(&self, asked: &Target<'_>, who: &Who<'_>) -> Vec<Permission> {
        let covering =
            self.0.iter().filter(|(_, entries)| entries.iter().any(|entry| entry.covers(asked, who)));
        covering.map(|(group, _)| permission(group, &[operation(asked.method)])).collect()
    }
}

impl Permitted {
    /// Whether the request is among what is open.
    pub fn covers(&self, asked: &Target<'_>, who: &Who<'_>) -> bool {
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

/// What a token that is narrowed to these groups lacks: on each group the application must have a permission,
/// and a user in whose name it acts must hold all its operations and have enabled it. A group on which the
/// application has no permission is listed without operations.
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
#[path = "permission_tests.rs"]
mod tests;
