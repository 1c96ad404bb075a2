//! Permittable groups: which endpoints a permission covers. Contract: `identity.md` section 9.

use crate::kind::Kind;
use crate::object::nested;
use crate::rule::*;
use crate::wire::{Accepted, Array, Json, Nothing};
use crate::{endpoints, object, words};

words! {
    /// The request method of a permittable.
    pub enum PermittableMethod {
        /// Reads; covers HEAD as well.
        Get = "GET",
        /// Reads without the body.
        Head = "HEAD",
        /// Creates or commands.
        Post = "POST",
        /// Changes.
        Put = "PUT",
        /// Removes.
        Delete = "DELETE",
    }
}

object! {
    /// A pattern of paths with a method.
    pub struct Permittable {
        /// Application name and path, with `*`, `{*}`, `{useridentifier}` or `{applicationidentifier}`.
        path: String = required(line(1024).not_blank()),
        /// Request method.
        method: PermittableMethod = required(word()),
        /// A free label without effect.
        group_id: Option<String> = optional(free(256)),
        /// Whether a token that is intended for other applications is good here, too.
        accept_token_intended_for_foreign_application: bool = or(flag(), false),
    }

    /// A named list of permittables, to which permissions refer.
    pub struct PermittableGroup {
        /// Unique over all groups; never changes.
        identifier: String = required(id(32)),
        /// The permittables in their order.
        permittables: Vec<Permittable> = required(list(nested(), 1000)),
    }
}

/// Its kind of record.
pub const KINDS: &[Kind] = &[Kind::of("group", "/permittablegroups/{}", "identifier", "GetGroup")];

endpoints! {
    application "identity-v1";
    /// Create a permittable group.
    CreateGroup {} Post "/permittablegroups" Json<PermittableGroup> => Accepted;
    /// List all permittable groups.
    ListGroups {} Get "/permittablegroups" Nothing => Array<PermittableGroup>;
    /// Read a permittable group.
    GetGroup { group } Get "/permittablegroups/{group}" Nothing => Json<PermittableGroup>, tag GetGroup;
    /// Replace the permittables of a group.
    UpdateGroup { group } Put "/permittablegroups/{group}" Json<PermittableGroup> => Accepted, tag GetGroup;
    /// Delete a group that nothing names any more.
    DeleteGroup { group } Delete "/permittablegroups/{group}" Nothing => Accepted, tag GetGroup;
}
