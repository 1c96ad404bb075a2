//! Users: who may log in, and with which role. Contract: `identity.md` section 7.

use super::groups::PermittableMethod;
use super::roles::{Operation, Permission};
use crate::fault::Fault;
use crate::kind::Kind;
use crate::node::Node;
use crate::object::Fields;
use crate::object::nested;
use crate::password::{TOO_COMMON, like_the_name};
use crate::query::{ParamDoc, Parameters, Params, missing};
use crate::rule::*;
use crate::wire::{Accepted, Array, Json, Nothing, Query};
use crate::{endpoints, object};
use serde_json::json;

/// Names that are not of a person: the caller of a daemon without access control, the daemon itself, and two
/// service users of older systems.
pub const RESERVED: &[&str] = &["guest", "system", "seshat", "wepemnefret"];

/// Most bytes of a password.
pub const PASSWORD_BYTES_MAX: usize = 4096;

/// Letters and digits of a password that is made up: none that is easily taken for another.
const LETTERS: &[u8; 32] = b"abcdefghijkmnpqrstuvwxyz23456789";

/// A password out of random bytes: twenty letters and digits in groups of five.
pub fn made_up_password(random: [u8; 20]) -> String {
    let groups = random.chunks(5).map(|group| {
        let letters = group.iter().map(|byte| char::from(LETTERS[usize::from(byte % 32)]));
        letters.collect::<String>()
    });
    groups.collect::<Vec<_>>().join("-")
}

const fn password() -> Text {
    secret(8, PASSWORD_BYTES_MAX).not_blank().not_common()
}

/// Refuses the name of the new user as its password; one that breaks another rule is refused once.
fn not_the_name(fields: &mut Fields<'_>) {
    let (Some(Node::Text(name)), Some(Node::Text(given))) =
        (fields.peek("identifier"), fields.peek("password"))
    else {
        return;
    };
    if let Some(why) = like_the_name(given, name).filter(|_| password().judge(given).is_ok()) {
        fields.checks().property("password", |at| at.refuse::<()>(TOO_COMMON, why));
    }
}

/// Refuses the name of the user as the new password.
fn not_the_own_name(at: &SetUserPassword, Json(change): &Json<PasswordChange>) -> Result<(), Fault> {
    match like_the_name(&change.password, &at.user) {
        Some(why) => Err(Fault::field("/password", TOO_COMMON, why)),
        None => Ok(()),
    }
}

object! {
    /// A user as every read shows it.
    pub struct User {
        /// Unique over all users; never changes.
        identifier: String = required(id(32)),
        /// The role that says what the user may do; `deactivated` means nothing, not even a login.
        role: String = required(id(32)),
    }

    /// A new user.
    pub struct NewUser across not_the_name {
        /// Unique over all users; never changes.
        identifier: String = required(id(32).reserved(RESERVED)),
        /// The role; it need not exist yet.
        role: String = required(id(32)),
        /// First password, which the user must change at first use.
        password: String = required(password()),
    }

    /// Whether a request would be allowed at this moment.
    pub struct RequestAccess {
        /// The method.
        method: PermittableMethod = required(word()),
        /// The path as it was asked about.
        path: String = required(free(usize::MAX)),
        /// Whether the request would be allowed.
        allowed: bool = required(flag()),
        /// The code of the refusal; null where there is none.
        code: Option<String> = optional(line(64)),
        /// What the refusal would say.
        detail: Option<String> = optional(line(1024)),
        /// Permissions any one of which would do.
        missing: Vec<Permission> = required(list(nested(), usize::MAX)),
    }

    /// The new role of a user.
    pub struct RoleChange {
        /// The role; it need not exist yet.
        identifier: String = required(id(32)),
    }

    /// The new password of a user.
    pub struct PasswordChange {
        /// At least 8 characters, at most 4,096 bytes, used as sent; never returned.
        password: String = required(password()),
        /// The present password. It may be left out unless the setting `current_password_required` asks for
        /// it where users change their own.
        current_password: Option<String> = optional(secret(0, PASSWORD_BYTES_MAX)),
    }
}

/// What is asked about the access of a user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AccessQuery {
    /// The operation.
    pub operation: Operation,
    /// The path of a request, as it would be sent.
    pub path: String,
}

impl Parameters for AccessQuery {
    fn read(params: &Params) -> Result<Self, Fault> {
        let operation = params.word("operation")?.ok_or_else(|| missing("operation"))?;
        Ok(Self { operation, path: params.one("path")?.ok_or_else(|| missing("path"))?.to_owned() })
    }

    fn write(&self) -> Vec<(&'static str, String)> {
        vec![("operation", self.operation.as_str().to_owned()), ("path", self.path.clone())]
    }

    fn docs() -> Vec<ParamDoc> {
        let doc = |name, doc, schema| ParamDoc { name, doc, required: true, schema };
        let path = "The path of a request, as it would be sent.";
        vec![
            doc("operation", "READ, CHANGE or DELETE.", word::<Operation>().schema()),
            doc("path", path, json!({ "type": "string" })),
        ]
    }
}

/// Its kind of record.
pub const KINDS: &[Kind] = &[Kind::of("user", "/users/{}", "identifier", "GetUser")];

endpoints! {
    application "identity-v1";
    /// Create a user.
    CreateUser {} Post "/users" Json<NewUser> => Accepted;
    /// List all users.
    ListUsers {} Get "/users" Nothing => Array<User>;
    /// Read a user.
    GetUser { user } Get "/users/{user}" Nothing => Json<User>, tag GetUser;
    /// List what a user may do: the permissions of the role, and those that every user has.
    ListUserPermissions { user } Get "/users/{user}/permissions" Nothing => Array<Permission>;
    /// Show whether a login of a user may do something: an entry for each method of the operation.
    GetUserAccess { user } Get "/users/{user}/access" Query<AccessQuery> => Array<RequestAccess>;
    /// Give a user another role.
    SetUserRole { user } Put "/users/{user}/roleIdentifier" Json<RoleChange> => Accepted, tag GetUser;
    /// Set the password of a user.
    SetUserPassword { user } Put "/users/{user}/password"
        Json<PasswordChange> => Accepted, tag GetUser, body not_the_own_name;
    /// Delete a user.
    DeleteUser { user } Delete "/users/{user}" Nothing => Accepted, tag GetUser;
}
