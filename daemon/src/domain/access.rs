//! The decision whether a request is allowed. Contract: `identity.md` section 3.

use super::permission::{Permitted, Target, Who};
use mfa_shared::api::groups::PermittableMethod::{Delete, Get, Head, Post, Put};
use mfa_shared::api::roles::Permission;

/// Who calls, as the token says.
#[derive(Debug, Clone, Copy)]
pub struct Holder<'a> {
    /// User, application, and what the token is intended for.
    pub who: Who<'a>,
    /// Whether the user has to set a new password first.
    pub must_change_password: bool,
    /// Whether the user has to set up a second factor first.
    pub must_set_up_factor: bool,
    /// What is open to the caller at this moment.
    pub reach: &'a Permitted,
}

/// Why a request is not allowed.
#[derive(Debug, Clone, PartialEq)]
pub enum Denial {
    /// The user has to set a new password first.
    PasswordChangeRequired,
    /// The user has to set up a second factor first.
    FactorRequired,
    /// Only for the own record, whatever the permissions.
    NotOwnRecord,
    /// Only by login, never with a token of an application.
    LoginTokenRequired,
    /// Any one of these permissions would do.
    Forbidden(Vec<Permission>),
}

/// What a caller may do with any role.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Own {
    /// With any token.
    Right,
    /// With any token, because each operation that is carried, and each kind that is searched, is decided by
    /// itself.
    Carries,
    /// With a login token; otherwise permissions decide.
    LoginRight,
    /// With a login token, and never otherwise.
    LoginOnly,
    /// The record of another user, which is off limits.
    Others,
    /// No own right.
    No,
}

fn own(asked: &Target<'_>, user: Option<&str>) -> Own {
    let reads = matches!(asked.method, Get | Head);
    let is_own = |name: &str| user == Some(name);
    match (asked.method, asked.segments) {
        (Get | Head | Delete, ["token", "_current"]) => Own::Right,
        (Post, ["batch"]) | (Get | Head, ["search"]) => Own::Carries,
        (_, ["users", name] | ["users", name, "permissions" | "access"]) if reads && is_own(name) => {
            Own::LoginRight
        }
        (_, ["users", name, "second-factor"]) if is_own(name) && (reads || asked.method == Delete) => {
            Own::LoginRight
        }
        // No permission allows setting up the second factor of another user.
        (Post | Put, ["users", name, "second-factor"]) => {
            if is_own(name) || user.is_none() {
                Own::LoginOnly
            } else {
                Own::Others
            }
        }
        (_, ["users", name, "sessions"]) if is_own(name) && (reads || asked.method == Delete) => {
            Own::LoginRight
        }
        (Delete, ["users", name, "sessions", _]) if is_own(name) => Own::LoginRight,
        (_, ["applications", _, "permissions", _, "users", name, "enabled"]) if reads && is_own(name) => {
            Own::LoginRight
        }
        (Put, ["users", name, "password"]) if is_own(name) => Own::LoginOnly,
        (Put, ["applications", _, "permissions", _, "users", name, "enabled"]) => {
            // An application first learns that it can never consent, no matter who the user is.
            if is_own(name) || user.is_none() { Own::LoginOnly } else { Own::Others }
        }
        (Delete, ["token"]) => Own::LoginOnly,
        _ => Own::No,
    }
}

/// Whether the caller may make this request.
pub fn decide(asked: &Target<'_>, caller: &Holder<'_>) -> Result<(), Denial> {
    let who = &caller.who;
    let own = own(asked, who.user);
    let by_login = who.application.is_none();
    if caller.must_change_password {
        let password = matches!((asked.method, asked.segments), (Put, ["users", _, "password"]));
        let allowed = own == Own::Right || (own == Own::LoginOnly && password && by_login);
        return if allowed { Ok(()) } else { Err(Denial::PasswordChangeRequired) };
    }
    if caller.must_set_up_factor {
        let factor = matches!(asked.segments, ["users", _, "second-factor"]);
        let password = matches!((asked.method, asked.segments), (Put, ["users", _, "password"]));
        let own_record = matches!(own, Own::LoginOnly | Own::LoginRight) && by_login;
        let allowed = own == Own::Right || (own_record && (factor || password));
        return if allowed { Ok(()) } else { Err(Denial::FactorRequired) };
    }
    match own {
        Own::Right | Own::Carries => Ok(()),
        Own::LoginRight | Own::LoginOnly if by_login => Ok(()),
        Own::LoginOnly => Err(Denial::LoginTokenRequired),
        Own::Others if by_login => Err(Denial::NotOwnRecord),
        Own::Others => Err(Denial::LoginTokenRequired),
        Own::LoginRight | Own::No if caller.reach.covers(asked, who) => Ok(()),
        Own::LoginRight | Own::No => Err(Denial::Forbidden(caller.reach.groups().would_allow(asked, who))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::bootstrap;
    use crate::domain::permission::{ALL, Groups, permission};
    use mfa_shared::api::groups::PermittableMethod;
    use mfa_shared::rule::Word;
    use std::sync::Arc;

    /// Request, then the answer for: anna by login, an application alone, an application for anna. The
    /// callers hold nothing; `no` is for want of a permission, `never` is no whatever they hold.
    const OWN_RIGHTS: &str = "
        GET /users/anna                                    | yes | no | no
        HEAD /users/anna                                   | yes | no | no
        GET /users/anna/permissions                        | yes | no | no
        GET /users/anna/access                             | yes | no | no
        GET /users/anna/second-factor                      | yes | no | no
        POST /users/anna/second-factor                     | yes | login | login
        PUT /users/anna/second-factor                      | yes | login | login
        DELETE /users/anna/second-factor                   | yes | no | no
        GET /users/bert/second-factor                      | no  | no | no
        POST /users/bert/second-factor                     | others | login | login
        PUT /users/bert/second-factor                      | others | login | login
        DELETE /users/bert/second-factor                   | no  | no | no
        GET /users/anna/sessions                           | yes | no | no
        DELETE /users/anna/sessions                        | yes | no | no
        DELETE /users/anna/sessions/s-1                    | yes | no | no
        POST /users/anna/sessions                          | no  | no | no
        GET /users/bert/sessions                           | no  | no | no
        DELETE /users/bert/sessions                        | no  | no | no
        DELETE /users/bert/sessions/s-1                    | no  | no | no
        GET /users/bert                                    | no  | no | no
        GET /users/bert/access                             | no  | no | no
        GET /users                                         | no  | no | no
        GET /applications/crm-v1/permissions/g1/users/anna/enabled | yes | no | no
        GET /applications/crm-v1/permissions/g1/users/bert/enabled | no | no | no
        GET /token/_current                                | yes | yes | yes
        DELETE /token/_current                             | yes | yes | yes
        PUT /users/anna/password                           | yes | no | login
        PUT /users/bert/password                           | no  | no | no
        PUT /users/anna/roleIdentifier                     | no  | no | no
        PUT /applications/crm-v1/permissions/g1/users/anna/enabled | yes | login | login
        PUT /applications/crm-v1/permissions/g1/users/bert/enabled | others | login | login
        DELETE /token                                      | yes | login | login
        DELETE /users/anna                                 | no  | no | no
        POST /batch                                        | yes | yes | yes
        GET /batch                                         | never | never | never
        POST /batch/x                                      | never | never | never
    ";

    fn answers(request: &str, held: &[Permission], must_change_password: bool) -> [&'static str; 3] {
        let reach = Arc::new(Groups::compile(bootstrap::groups())).reach(held);
        let (method, path) = request.split_once(' ').unwrap();
        let segments: Vec<_> = path[1..].split('/').collect();
        let method = PermittableMethod::find(method).unwrap();
        let asked = Target { application: "identity-v1", method, segments: &segments };
        let callers = [(Some("anna"), None), (None, Some("crm-v1")), (Some("anna"), Some("crm-v1"))];
        callers.map(|(user, application)| {
            let who = Who { user, application, intended: &[] };
            let must_change_password = must_change_password && application.is_none();
            match decide(
                &asked,
                &Holder { who, must_change_password, must_set_up_factor: false, reach: &reach },
            ) {
                Ok(()) => "yes",
                Err(Denial::Forbidden(_)) => "no",
                Err(Denial::LoginTokenRequired) => "login",
                Err(Denial::NotOwnRecord) => "others",
                Err(Denial::PasswordChangeRequired) => "change",
                Err(Denial::FactorRequired) => "factor",
            }
        })
    }

    #[test]
    fn own_rights_are_as_the_table_says() {
        let everything: Vec<_> = bootstrap::groups().map(|g| permission(&g.identifier, &ALL)).collect();
        for row in OWN_RIGHTS.lines().filter(|line| !line.trim().is_empty()) {
            let cells: Vec<_> = row.split('|').map(str::trim).collect();
            let answer = |cell: &&'static str, held: bool| match *cell {
                "never" => "no",
                // Permissions open what is only closed for want of them, and nothing else.
                "no" if held => "yes",
                cell => cell,
            };
            let expected = |held| cells[1..].iter().map(|cell| answer(cell, held)).collect::<Vec<_>>();
            assert_eq!(answers(cells[0], &[], false).to_vec(), expected(false), "{row}");
            assert_eq!(answers(cells[0], &everything, false).to_vec(), expected(true), "{row}");
        }
    }

    #[test]
    fn a_user_who_must_change_the_password_may_do_little_else() {
        let everything: Vec<_> = bootstrap::groups().map(|g| permission(&g.identifier, &ALL)).collect();
        for row in OWN_RIGHTS.lines().filter(|line| !line.trim().is_empty()) {
            let request = row.split('|').next().unwrap().trim();
            let little = ["PUT /users/anna/password", "GET /token/_current", "DELETE /token/_current"];
            let expected = if little.contains(&request) { "yes" } else { "change" };
            assert_eq!(answers(request, &everything, true)[0], expected, "{request}");
        }
    }

    #[test]
    fn a_refusal_names_the_permissions_any_of_which_would_do() {
        let reach = Arc::new(Groups::compile(bootstrap::groups())).reach(&[]);
        let asked =
            Target { application: "customer-v1", method: Delete, segments: &["customers", "C1", "portrait"] };
        let who = Who { user: Some("anna"), ..Who::default() };
        let refused = decide(
            &asked,
            &Holder { who, must_change_password: false, must_set_up_factor: false, reach: &reach },
        );
        let portrait = permission("customer__v1__portrait", &[mfa_shared::api::roles::Operation::Delete]);
        assert_eq!(refused, Err(Denial::Forbidden(vec![portrait])));
    }
}
