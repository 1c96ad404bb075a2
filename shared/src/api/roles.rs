//! Roles and permissions: what the users of a role may do. Contract: `identity.md` section 8.

use crate::kind::Kind;
use crate::node::Node;
use crate::object::nested;
pub use crate::permission::{Operation, OperationSet, Permission};
use crate::rule::*;
use crate::wire::{Accepted, Array, Json, Nothing};
use crate::{endpoints, object};
use serde_json::Value;

/// The built-in role that may grant everything.
pub const PHARAOH: &str = "pharaoh";
/// The role of a user who may not log in; no record ever bears it.
pub const DEACTIVATED: &str = "deactivated";
/// Most permissions of a role.
pub const PERMISSIONS_MAX: usize = 1000;

object! {
    /// A named list of permissions.
    pub struct Role {
        /// Unique over all roles; never changes.
        identifier: String = required(id(32).reserved(&[DEACTIVATED])),
        /// The permissions in their order; a later one for the same group is united into the first.
        permissions: Vec<Permission> = required(PermissionList),
    }
}

/// The permissions of a role, one for each group.
#[derive(Debug, Clone, Copy)]
pub struct PermissionList;

impl Rule for PermissionList {
    type Out = Vec<Permission>;
    fn check(&self, node: &Node, at: &mut Checks) -> Option<Vec<Permission>> {
        list(nested(), PERMISSIONS_MAX).check(node, at).map(unite)
    }
    fn schema(&self) -> Value {
        list(nested::<Permission>(), PERMISSIONS_MAX).schema()
    }
}

/// One permission for each group, at the place of its first: several on one group are united.
pub fn unite(permissions: impl IntoIterator<Item = Permission>) -> Vec<Permission> {
    let mut united: Vec<Permission> = Vec::new();
    let mut places = std::collections::HashMap::new();
    for permission in permissions {
        match places.get(&permission.permittable_endpoint_group_identifier) {
            None => {
                places.insert(permission.permittable_endpoint_group_identifier.clone(), united.len());
                united.push(permission);
            }
            Some(&place) => {
                let first: &mut Permission = &mut united[place];
                first.allowed_operations.extend(permission.allowed_operations);
                first.allowed_operations.sort_unstable();
                first.allowed_operations.dedup();
            }
        }
    }
    united
}

/// Its kind of record.
pub const KINDS: &[Kind] = &[Kind::of("role", "/roles/{}", "identifier", "GetRole")];

endpoints! {
    application "identity-v1";
    /// Create a role.
    CreateRole {} Post "/roles" Json<Role> => Accepted;
    /// List all roles.
    ListRoles {} Get "/roles" Nothing => Array<Role>;
    /// Read a role.
    GetRole { role } Get "/roles/{role}" Nothing => Json<Role>, tag GetRole;
    /// Replace the permissions of a role.
    UpdateRole { role } Put "/roles/{role}" Json<Role> => Accepted, tag GetRole;
    /// Delete a role that no user has.
    DeleteRole { role } Delete "/roles/{role}" Nothing => Accepted, tag GetRole;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::Date;

    fn read(text: &str) -> Result<Role, Vec<(String, String)>> {
        let today = Date::new(2031, 5, 6).unwrap();
        let body = Node::parse(text.as_bytes()).unwrap();
        check_body(&nested::<Role>(), &body, today)
            .map_err(|e| e.unwrap().into_iter().map(|e| (e.field, e.code)).collect())
    }

    #[test]
    fn a_later_permission_for_the_same_group_is_united_into_the_first() {
        let role = read(
            r#"{"identifier":"clerk","permissions":[
                {"permittableEndpointGroupIdentifier":"g1","allowedOperations":["delete","READ","read"]},
                {"permittableEndpointGroupIdentifier":"g2","allowedOperations":[]},
                {"permittableEndpointGroupIdentifier":"g1","allowedOperations":["CHANGE","READ"]}]}"#,
        )
        .unwrap();
        let shown = |p: &Permission| {
            let operations: Vec<_> = p.allowed_operations.iter().map(|o| o.as_str()).collect();
            format!("{} {}", p.permittable_endpoint_group_identifier, operations.join(" "))
        };
        let shown: Vec<_> = role.permissions.iter().map(shown).collect();
        assert_eq!(shown, ["g1 READ CHANGE DELETE", "g2 "]);
    }

    #[test]
    fn bad_operations_and_reserved_names_are_refused_at_their_place() {
        let operations = |operations: &str| {
            let permission =
                format!(r#"{{"permittableEndpointGroupIdentifier":"g1","allowedOperations":{operations}}}"#);
            let text = format!(r#"{{"identifier":"r1","permissions":[{permission}]}}"#);
            read(&text).unwrap_err().remove(0)
        };
        let at = |rest: &str| format!("/permissions/0/allowedOperations{rest}");
        assert_eq!(operations(r#"["READ","WRITE"]"#), (at("/1"), "unknown_value".to_owned()));
        assert_eq!(operations("[0]"), (at("/0"), "wrong_type".to_owned()));
        assert_eq!(operations("[null]"), (at("/0"), "required".to_owned()));
        assert_eq!(operations(r#""READ""#), (at(""), "wrong_type".to_owned()));
        assert_eq!(operations("null"), (at(""), "required".to_owned()));
        let errors = read(r#"{"identifier":"deactivated","permissions":[null]}"#).unwrap_err();
        let expected = [("/identifier", "reserved"), ("/permissions/0", "required")];
        assert_eq!(errors, expected.map(|(f, c)| (f.to_owned(), c.to_owned())));
    }
}
