//! `organisation.md` sections 2.5, 2.7 and 3.4: every cause for which an office or an employee stays.

use crate::support::counter::teller;
use crate::support::world::World;
use serde_json::json;

/// One cause of use of the office `north`: how it comes about, how it ends, and how a refusal counts it.
struct Cause {
    strict: bool,
    make: &'static [(&'static str, &'static str, &'static str)],
    end: &'static [(&'static str, &'static str, &'static str)],
    detail: &'static str,
}

const CAUSES: &[Cause] = &[
    Cause {
        strict: false,
        make: &[("POST", "/offices/north", r#"{"identifier":"stall","name":"Stall"}"#)],
        end: &[("DELETE", "/offices/stall", "")],
        detail: "1 branch",
    },
    Cause {
        strict: false,
        make: &[("POST", "/offices", r#"{"identifier":"stall","name":"Stall","parentIdentifier":"north"}"#)],
        end: &[("DELETE", "/offices/stall", "")],
        detail: "1 branch",
    },
    Cause {
        strict: false,
        make: &[("POST", "/employees", r#"{"identifier":"ama","assignedOffice":"north"}"#)],
        end: &[("DELETE", "/employees/ama", "")],
        detail: "1 employee",
    },
    Cause {
        strict: false,
        make: &[
            ("POST", "/employees", r#"{"identifier":"ama"}"#),
            ("PUT", "/employees/ama", r#"{"identifier":"ama","assignedOffice":"north"}"#),
        ],
        end: &[("PUT", "/employees/ama", r#"{"identifier":"ama"}"#)],
        detail: "1 employee",
    },
    Cause {
        strict: false,
        make: &[("POST", "/offices/north/teller", "teller")],
        end: &[("DELETE", "/offices/north/teller/T1", "")],
        detail: "1 teller",
    },
    Cause {
        strict: false,
        make: &[
            ("PUT", "/offices/north/references", r#"{"type":"fleet","state":"INACTIVE"}"#),
            ("PUT", "/offices/north/references", r#"{"type":"payroll","state":"ACTIVE"}"#),
        ],
        end: &[("PUT", "/offices/north/references", r#"{"type":"payroll","state":"INACTIVE"}"#)],
        detail: "1 active external reference",
    },
    Cause {
        strict: true,
        make: &[("POST", "/customers", r#"{"identifier":"c-1","assignedOffice":"north"}"#)],
        end: &[("PUT", "/customers/c-1", r#"{"identifier":"c-1"}"#)],
        detail: "1 customer",
    },
];

fn call(world: &World, (method, path, body): &(&str, &str, &str)) {
    let body = if *body == "teller" { teller("T1").to_string() } else { (*body).to_owned() };
    world.call(method, path, body).is(202);
}

#[test]
fn an_office_is_in_use_exactly_while_it_cannot_be_deleted() {
    for cause in CAUSES {
        let world = World::with(|config| config.strict_references = cause.strict);
        world.post("/offices", r#"{"identifier":"head","name":"Head"}"#).is(202);
        world.post("/offices/head", r#"{"identifier":"north","name":"North"}"#).is(202);
        let in_use = || {
            let single = world.get("/offices/north").json()["externalReferences"].clone();
            for list in ["/offices?term=north", "/offices/head/branches"] {
                assert_eq!(world.get(list).json()["offices"][0]["externalReferences"], single, "{list}");
            }
            single
        };
        assert_eq!(in_use(), false, "{}", cause.detail);
        let tag = world.get("/offices/north").header("etag");
        cause.make.iter().for_each(|step| call(&world, step));
        assert_eq!(in_use(), true, "{}", cause.detail);
        assert_ne!(world.get("/offices/north").header("etag"), tag, "{}", cause.detail);
        let refused = world.delete("/offices/north").refused(409, "in_use").json();
        assert_eq!(refused["detail"], format!("office north has {}", cause.detail));
        cause.end.iter().for_each(|step| call(&world, step));
        assert_eq!(in_use(), false, "{}", cause.detail);
        assert_eq!(world.get("/offices/north").header("etag"), tag, "{}", cause.detail);
        world.delete("/offices/north").is(202);
    }
}

#[test]
fn an_office_without_strict_references_goes_and_customers_keep_its_name() {
    let world = World::start();
    world.post("/offices", r#"{"identifier":"north","name":"North"}"#).is(202);
    world.post("/customers", r#"{"identifier":"c-1","assignedOffice":"north"}"#).is(202);
    assert_eq!(world.get("/offices/north").json()["externalReferences"], false);
    world.delete("/offices/north").is(202);
    assert_eq!(world.get("/customers/c-1").json()["assignedOffice"], "north");
    world.post("/offices", r#"{"identifier":"north","name":"Another"}"#).is(202);
}

#[test]
fn an_employee_stays_while_it_is_named_as_far_as_references_are_strict() {
    for strict in [false, true] {
        let world = World::with(|config| config.strict_references = strict);
        world.post("/offices", r#"{"identifier":"north","name":"North"}"#).is(202);
        world.post("/employees", r#"{"identifier":"ama"}"#).is(202);
        world.post("/customers", r#"{"identifier":"c-1","assignedEmployee":"ama"}"#).is(202);
        let stale = world.request("DELETE", "/employees/ama").header("if-match", "\"old\"");
        world.send(stale).refused(412, "precondition_failed");
        if strict {
            let refused = world.delete("/employees/ama").refused(409, "in_use").json();
            assert_eq!(refused["detail"], "employee ama has 1 customer");
            world.put("/customers/c-1", r#"{"identifier":"c-1"}"#).is(202);
            world.delete("/employees/ama").is(202);
        } else {
            let mut noted = teller("T1");
            noted["assignedEmployee"] = json!("ama");
            world.post("/offices/north/teller", noted.to_string()).is(202);
            world.delete("/employees/ama").is(202);
            // Customers and closed tellers keep the name.
            assert_eq!(world.get("/customers/c-1").json()["assignedEmployee"], "ama");
            let kept = world.get("/offices/north/teller/T1").json();
            assert_eq!((&kept["state"], &kept["assignedEmployee"]), (&json!("CLOSED"), &json!("ama")));
        }
    }
}

#[test]
fn an_employee_and_a_user_of_the_same_name_do_nothing_to_each_other() {
    let world = World::start();
    let user = r#"{"identifier":"ama","role":"clerk","password":"blue kettle 7"}"#;
    world.post("/employees", r#"{"identifier":"ama","givenName":"Ama"}"#).is(202);
    world.get("/users/ama").refused(404, "user_not_found");
    world.post("/users", user).is(202);
    let before = (world.get("/users/ama").text(), world.get("/employees/ama").text());
    world.put("/employees/ama", r#"{"identifier":"ama","givenName":"Yaa"}"#).is(202);
    assert_eq!(world.get("/users/ama").text(), before.0);
    world.delete("/employees/ama").is(202);
    assert_eq!(world.get("/users/ama").text(), before.0);
    world.post("/employees", r#"{"identifier":"ama","givenName":"Ama"}"#).is(202);
    assert_eq!(world.get("/employees/ama").text(), before.1);
}
