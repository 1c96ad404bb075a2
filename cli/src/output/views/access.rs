//! The columns of users, roles, groups, applications and logins.

use crate::output::views::{Column, View, WIDE, column, moment};
use crate::output::{text, texts};
use serde_json::Value;

pub const USER: View = View::of("users")
    .state("/role")
    .columns(&[column("identifier", "/identifier", 0), column("role", "/role", 0)]);

pub const ROLE: View = View::of("roles").columns(&[
    column("identifier", "/identifier", 0),
    column("groups", "/permissions/*/permittableEndpointGroupIdentifier", 1),
]);

pub const PERMISSION: View = View::of("permissions").columns(&[
    column("group", "/permittableEndpointGroupIdentifier", 0),
    column("operations", "/allowedOperations", 0),
]);

/// What a user may do.
pub const ACCESS: View = View::of("requests").id("/path").columns(&[
    column("method", "/method", 0),
    column("path", "/path", 0),
    column("allowed", "/allowed", 0),
]);

pub const GROUP: View = View::of("groups").columns(&[
    column("identifier", "/identifier", 0),
    Column { lines: Some(permittables), ..column("paths", "/permittables/*/path", 1) },
    Column { lines: Some(methods), ..column("methods", "/permittables/*/method", WIDE) },
]);

/// The paths of a group, each once and with all its methods, as `--permittable` takes them.
fn permittables(group: &Value) -> Vec<String> {
    let mut paths: Vec<(String, Vec<String>)> = Vec::new();
    for permittable in group["permittables"].as_array().into_iter().flatten() {
        let [path, method] = ["/path", "/method"].map(|pointer| text(permittable, pointer));
        match paths.iter_mut().find(|(known, _)| *known == path) {
            Some((_, methods)) if methods.contains(&method) => {}
            Some((_, methods)) => methods.push(method),
            None => paths.push((path, vec![method])),
        }
    }
    paths.into_iter().map(|(path, methods)| format!("{} {path}", methods.join(","))).collect()
}

/// The methods that a group has for any of its paths, each once.
fn methods(group: &Value) -> Vec<String> {
    let mut once: Vec<String> = Vec::new();
    for method in texts(group, "/permittables/*/method") {
        if !once.contains(&method) {
            once.push(method);
        }
    }
    vec![once.join(", ")]
}

pub const APPLICATION_NAME: View =
    View::of("applications").columns(&[column("identifier", "/identifier", 0)]);

pub const SIGNATURE: View = View::of("keys")
    .id("/publicKeyMod")
    .columns(&[column("exponent", "/publicKeyExp", 0), column("modulus", "/publicKeyMod", 0)]);

/// Keys that were made here.
pub const KEY: View = View::of("keys").id("/timestamp").columns(&[
    column("application", "/application", 0),
    column("timestamp", "/timestamp", 0),
    column("file", "/file", 0),
    column("exponent", "/publicKeyExp", WIDE),
    column("modulus", "/publicKeyMod", WIDE),
]);

pub const SET: View = View::of("call endpoint sets").columns(&[
    column("identifier", "/identifier", 0),
    column("groups", "/permittableEndpointGroupIdentifiers", 0),
]);

pub const CONSENT: View = View::of("consents").id("/enabled").columns(&[
    column("application", "/application", 0),
    column("group", "/group", 0),
    column("user", "/user", 0),
    column("enabled", "/enabled", 0),
]);

/// The caller of a token.
pub const TOKEN: View = View::of("tokens").columns(&[
    column("user", "/user", 0),
    column("role", "/role", 0),
    column("application", "/application", 0),
    moment("ends", "/expiresAt", 1),
    column("must-change-password", "/passwordChangeRequired", 2),
]);

pub const SESSION: View = View::of("sessions").columns(&[
    column("identifier", "/identifier", 0),
    moment("created", "/createdOn", 1),
    moment("last-used", "/lastUsedOn", 0),
    column("origin", "/origin", 0),
    column("application", "/application", 1),
    moment("ends", "/expiresOn", 2),
    column("current", "/current", 0),
]);

/// The state of a user's second factor.
pub const SECOND_FACTOR: View = View::of("factors").state("/state").columns(&[
    column("state", "/state", 0),
    moment("enabled", "/enabledOn", 0),
    column("recovery-codes-left", "/recoveryCodesLeft", 0),
]);

/// The secret of a second factor.
pub const FACTOR_SECRET: View =
    View::of("secrets").columns(&[column("secret", "/secret", 0), column("uri", "/uri", 0)]);

/// Recovery codes, for when an authenticator is lost.
pub const RECOVERY_CODE: View = View::of("codes").columns(&[column("code", "/code", 0)]);

pub const LOGIN: View = View::of("logins").id("/url").columns(&[
    column("profile", "/profile", 1),
    column("url", "/url", 0),
    column("caller", "/caller", 0),
    moment("token-ends", "/tokenEnds", 1),
    column("goes-on", "/goesOn", 2),
]);

pub const PROFILE: View = View::of("profiles").columns(&[
    column("name", "/name", 0),
    column("url", "/url", 0),
    column("protected", "/protected", 0),
    column("current", "/current", 0),
    column("caller", "/caller", 1),
    column("settings", "/settings", WIDE),
]);

/// A password that was made up.
pub const PASSWORD: View = View::of("passwords")
    .columns(&[column("identifier", "/identifier", 0), column("password", "/password", 0)]);
