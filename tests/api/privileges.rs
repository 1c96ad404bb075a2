//! No one grants more than they hold: `identity.md` section 5.

use crate::support::guarded::{PASSWORD, may, missing};
use crate::support::world::{Seen, World};
use serde_json::{Value, json};

const KEY: &str = r#"{"publicKeyMod":123,"publicKeyExp":3}"#;
const KID: &str = "2031-05-06T10_11_12";

#[track_caller]
fn exceeds(seen: Seen, expected: &[&str]) {
    let seen = seen.refused(403, "exceeds_own_permissions");
    assert_eq!(missing(&seen), expected);
}

fn role(name: &str, permissions: &[mfa_shared::api::roles::Permission]) -> Value {
    json!({ "identifier": name, "permissions": permissions })
}

fn user(name: &str, role: &str) -> Value {
    json!({ "identifier": name, "role": role, "password": PASSWORD })
}

#[test]
fn a_role_is_made_changed_and_deleted_only_within_what_the_caller_holds() {
    let world = World::guarded();
    let held = [may("identity__v1__roles", "RCD"), may("office__v1__offices", "RC")];
    let anna = world.user_with("anna", &held);
    let admin = world.login("admin");
    exceeds(
        anna.post("/roles", role("r1", &[may("office__v1__offices", "RCD")])),
        &["office__v1__offices D"],
    );
    exceeds(
        anna.post("/roles", role("r1", &[may("new", "R"), may("customer__v1__customer", "C")])),
        &["new R", "customer__v1__customer C"],
    );
    anna.post("/roles", role("r1", &held)).is(202);
    anna.post("/roles", role("r2", &[may("new", ""), may("identity__v1__self", "RCD")])).is(202);
    exceeds(
        anna.put("/roles/r1", role("r1", &[may("office__v1__offices", "D")])),
        &["office__v1__offices D"],
    );
    anna.put("/roles/r1", role("r1", &[])).is(202);
    admin.put("/roles/r1", role("r1", &[may("teller__v1__operation", "R")])).is(202);
    exceeds(anna.put("/roles/r1", role("r1", &[])), &["teller__v1__operation R"]);
    exceeds(anna.delete("/roles/r1"), &["teller__v1__operation R"]);
    exceeds(
        anna.delete("/roles/teller"),
        &missing(&anna.delete("/roles/teller")).iter().map(String::as_str).collect::<Vec<_>>(),
    );
    // One can only narrow the own role.
    exceeds(
        anna.put("/roles/role-anna", role("role-anna", &[may("office__v1__offices", "RCD")])),
        &["office__v1__offices D"],
    );
    anna.put("/roles/role-anna", role("role-anna", &[may("identity__v1__roles", "RCD")])).is(202);
    exceeds(anna.put("/roles/role-anna", role("role-anna", &held)), &["office__v1__offices RC"]);
}

#[test]
fn a_user_carries_the_role() {
    let world = World::guarded();
    let anna = world.user_with("anna", &[may("identity__v1__users", "RCD"), may("office__v1__offices", "R")]);
    let admin = world.login("admin");
    let only = |name: &str, letters: &str| {
        admin.post("/roles", role(name, &[may("office__v1__offices", letters)])).is(202);
    };
    only("readers", "R");
    only("writers", "RC");
    anna.post("/users", user("u1", "readers")).is(202);
    anna.post("/users", user("u2", "no-such-role")).is(202);
    exceeds(anna.post("/users", user("u3", "writers")), &["office__v1__offices C"]);
    exceeds(
        anna.put("/users/u1/roleIdentifier", json!({ "identifier": "writers" })),
        &["office__v1__offices C"],
    );
    anna.put("/users/u1/roleIdentifier", json!({ "identifier": "deactivated" })).is(202);
    admin.post("/users", user("u4", "writers")).is(202);
    exceeds(
        anna.put("/users/u4/roleIdentifier", json!({ "identifier": "readers" })),
        &["office__v1__offices C"],
    );
    exceeds(anna.put("/users/u4/password", json!({ "password": PASSWORD })), &["office__v1__offices C"]);
    exceeds(anna.delete("/users/u4"), &["office__v1__offices C"]);
    anna.put("/users/u2/password", json!({ "password": "green kettle 8" })).is(202);
    anna.delete("/users/u2").is(202);
    // Creating the role that a user already has grants it.
    anna.post("/users", user("u5", "later")).is(202);
    let bert = world.user_with("bert", &[may("identity__v1__roles", "C")]);
    exceeds(
        bert.post("/roles", role("later", &[may("office__v1__offices", "R")])),
        &["office__v1__offices R"],
    );
}

#[test]
fn a_deactivated_user_is_guarded_by_the_role_before() {
    let world = World::guarded();
    let anna = world.user_with("anna", &[may("identity__v1__users", "RCD"), may("office__v1__offices", "R")]);
    let admin = world.login("admin");
    admin.post("/roles", role("writers", &[may("office__v1__offices", "RC")])).is(202);
    admin.post("/roles", role("readers", &[may("office__v1__offices", "R")])).is(202);
    let password = || json!({ "password": PASSWORD });
    let become_ = |name: &str| json!({ "identifier": name });
    let held = ["identity__v1__roles RCD", "identity__v1__app_self RCD"];
    for (role, missing) in [("writers", &["office__v1__offices C"][..]), ("pharaoh", &held)] {
        let (id, path) = (format!("u-{role}"), format!("/users/u-{role}"));
        admin.post("/users", user(&id, role)).is(202);
        for _ in 0..2 {
            admin.put(&format!("{path}/roleIdentifier"), become_("deactivated")).is(202);
            exceeds(anna.put(&format!("{path}/password"), password()), missing);
            exceeds(anna.put(&format!("{path}/roleIdentifier"), become_("readers")), missing);
            exceeds(anna.delete(&path), missing);
            let factor = anna.delete(&format!("{path}/second-factor"));
            if role == "pharaoh" {
                exceeds(factor, missing)
            } else {
                drop(factor.refused(409, "wrong_state"))
            }
        }
        assert_eq!(admin.get(&path).is(200).json(), json!({ "identifier": id, "role": "deactivated" }));
        admin.put(&format!("{path}/password"), password()).is(202);
        // With another role it is another user.
        admin.put(&format!("{path}/roleIdentifier"), become_("readers")).is(202);
        anna.put(&format!("{path}/password"), password()).is(202);
        anna.put(&format!("{path}/roleIdentifier"), become_("deactivated")).is(202);
        anna.put(&format!("{path}/password"), password()).is(202);
    }
}

#[test]
fn only_pharaoh_touches_pharaoh() {
    let world = World::guarded();
    let (olga, admin) = (world.login("olga"), world.login("admin"));
    exceeds(olga.post("/users", user("u1", "pharaoh")), &[]);
    exceeds(olga.put("/users/olga/roleIdentifier", json!({ "identifier": "pharaoh" })), &[]);
    exceeds(olga.put("/users/admin/roleIdentifier", json!({ "identifier": "clerk" })), &[]);
    exceeds(olga.put("/users/admin/password", json!({ "password": PASSWORD })), &[]);
    exceeds(olga.delete("/users/admin"), &[]);
    admin.post("/users", user("u1", "pharaoh")).is(202);
    admin.put("/users/u1/password", json!({ "password": PASSWORD })).is(202);
    admin.put("/users/u1/roleIdentifier", json!({ "identifier": "clerk" })).is(202);
    admin.put("/users/admin/roleIdentifier", json!({ "identifier": "clerk" })).refused(409, "last_pharaoh");
    // Narrowing one's own role is possible, and the administrator grants what an administrator holds.
    olga.post("/users", user("u2", "administrator")).is(202);
    for starter in ["branch-manager", "clerk", "teller", "auditor"] {
        olga.post("/users", user(&format!("u-{starter}"), starter)).is(202);
    }
}

#[test]
fn pharaoh_grants_every_pair_known_or_not() {
    let world = World::guarded();
    let admin = world.login("admin");
    admin
        .post("/roles", role("r1", &[may("never-heard-of-it", "RCD"), may("customer__v1__customer", "RCD")]))
        .is(202);
    admin.post("/users", user("u1", "r1")).is(202);
    admin.get("/customers").refused(403, "forbidden");
}

#[test]
fn only_pharaoh_widens_what_others_hold() {
    let world = World::guarded();
    let (olga, admin) = (world.login("olga"), world.login("admin"));
    let group = |name: &str| json!({ "identifier": name, "permittables": [] });
    olga.post("/permittablegroups", group("free")).is(202);
    exceeds(olga.put("/permittablegroups/free", group("free")), &[]);
    admin.put("/permittablegroups/free", group("free")).is(202);
    admin.post("/roles", role("r1", &[may("named", "R")])).is(202);
    exceeds(olga.post("/permittablegroups", group("named")), &[]);
    admin.post("/permittablegroups", group("named")).is(202);
    exceeds(olga.put("/permittablegroups/identity__v1__self", group("identity__v1__self")), &[]);
    olga.delete("/permittablegroups/free").is(202);
    // Only a login of a pharaoh holds the pairs of a new group.
    exceeds(olga.post("/roles", role("r2", &[may("named", "R")])), &["named R"]);
}

#[test]
fn an_application_carries_its_permissions() {
    let world = World::guarded();
    let held = [may("identity__v1__applications", "RCD"), may("office__v1__offices", "R")];
    let anna = world.user_with("anna", &held);
    let admin = world.login("admin");
    let key = |application: &str, kid: &str| format!("/applications/{application}/signatures/{kid}");
    anna.call("PUT", &key("crm-v1", KID), KEY).is(202);
    let base = "/applications/crm-v1/permissions";
    anna.post(base, json!(may("office__v1__offices", "R"))).is(202);
    exceeds(anna.post(base, json!(may("customer__v1__customer", "R"))), &["customer__v1__customer R"]);
    let one = format!("{base}/office__v1__offices");
    exceeds(anna.put(&one, json!(may("office__v1__offices", "RC"))), &["office__v1__offices C"]);
    admin.post(base, json!(may("customer__v1__customer", "R"))).refused(403, "forbidden");
    let olga = world.login("olga");
    olga.post(base, json!(may("customer__v1__customer", "R"))).is(202);
    let lacking = &["customer__v1__customer R"];
    exceeds(anna.call("PUT", &key("crm-v1", "2031-05-06T10_11_13"), KEY), lacking);
    exceeds(anna.delete(&key("crm-v1", KID)), lacking);
    exceeds(anna.delete(&format!("{base}/customer__v1__customer")), lacking);
    exceeds(anna.delete("/applications/crm-v1"), lacking);
    anna.delete(&one).is(202);
    olga.delete(&format!("{base}/customer__v1__customer")).is(202);
    anna.delete("/applications/crm-v1").is(202);
}
