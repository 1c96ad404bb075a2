//! What patterns match, and what permissions cover.

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
fn a_token_for_other_applications_counts_only_where_the_flag_says_so() {
    let segments = ["customers", "C1"];
    let method = PermittableMethod::Get;
    let asked = Target { application: "customer-v1", method, segments: &segments };
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
        let asked = Target { application: "office-v1", method: asked, segments: &["offices"] };
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
