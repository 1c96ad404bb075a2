//! Dangling names in a body: one answer reports all of them, in the order of the body.

use crate::api::definitions::PRODUCT;
use crate::support::counter::Counter;
use crate::support::world::{Seen, World};
use serde_json::Value;

fn strict() -> World {
    World::with(|config| config.strict_references = true)
}

/// The fields that a refusal names, each with the right code.
#[track_caller]
fn refused_fields(problem: &Value) -> Vec<String> {
    let errors = problem["errors"].as_array().unwrap();
    assert!(errors.iter().all(|error| error["code"] == "unknown_reference"), "{problem}");
    errors.iter().map(|error| error["field"].as_str().unwrap().to_owned()).collect()
}

#[track_caller]
fn refused(seen: Seen, fields: &[&str]) -> String {
    let problem = seen.refused(400, "unknown_reference").json();
    assert_eq!(refused_fields(&problem), fields);
    problem["detail"].as_str().unwrap().to_owned()
}

#[test]
fn every_charge_of_an_unknown_action_is_reported() {
    let world = World::start();
    let body = PRODUCT.replace(r#""Open""#, r#""None""#).replace(r#""Withdraw""#, r#""Never""#);
    let fields = ["/charges/0/actionIdentifier", "/charges/1/actionIdentifier"];
    let detail = refused(world.post("/definitions", body.clone()), &fields);
    let first = "/charges/0/actionIdentifier names action \"None\", which does not exist";
    assert_eq!(detail, format!("2 fields name what does not exist; the first: {first}"));
    world.get("/definitions/savings").refused(404, "definition_not_found");
    world.post("/definitions", PRODUCT).is(202);
    refused(world.put("/definitions/savings", body), &fields);
    let one = PRODUCT.replace(r#""Withdraw""#, r#""Never""#);
    let detail = refused(world.put("/definitions/savings", one), &fields[1..]);
    assert_eq!(detail, "/charges/1/actionIdentifier names action \"Never\", which does not exist");
}

#[test]
fn unknown_references_of_a_customer_are_reported_in_the_order_sent() {
    let world = strict();
    let body =
        r#"{"assignedEmployee":"ama","identifier":"c-1","assignedOffice":"accra","referenceCustomer":"c-0"}"#;
    let fields = ["/assignedEmployee", "/assignedOffice", "/referenceCustomer"];
    refused(world.post("/customers", body), &fields);
    world.post("/customers", r#"{"identifier":"c-1"}"#).is(202);
    refused(world.put("/customers/c-1", body), &fields);
    world.post("/offices", r#"{"identifier":"accra","name":"Accra"}"#).is(202);
    refused(world.put("/customers/c-1", body), &["/assignedEmployee", "/referenceCustomer"]);
}

#[test]
fn unknown_customer_and_product_of_an_account_are_reported() {
    let lenient = World::start();
    let body = r#"{"productIdentifier":"none","customerIdentifier":"Maria"}"#;
    refused(lenient.post("/instances", body), &["/productIdentifier"]);
    let world = strict();
    refused(world.post("/instances", body), &["/productIdentifier", "/customerIdentifier"]);
    world.post("/customers", r#"{"identifier":"Maria"}"#).is(202);
    refused(world.post("/instances", body), &["/productIdentifier"]);
}

#[test]
fn unknown_accounts_and_employee_of_a_teller_are_reported() {
    let world = strict();
    world.post("/offices", r#"{"identifier":"accra","name":"Accra"}"#).is(202);
    let body = r#"{"code":"T1","password":"4711","cashdrawLimit":1000,
        "tellerAccountIdentifier":"drawer","vaultAccountIdentifier":"vault","chequesReceivableAccount":"cheques",
        "cashOverShortAccount":"over","denominationRequired":false,"assignedEmployee":"ama"}"#;
    let fields = [
        "/tellerAccountIdentifier",
        "/vaultAccountIdentifier",
        "/chequesReceivableAccount",
        "/cashOverShortAccount",
        "/assignedEmployee",
    ];
    refused(world.post("/offices/accra/teller", body), &fields);
    // A definition creates its accounts in every setting.
    let product = PRODUCT.replace(r#""1000""#, r#""vault""#).replace(r#""3000""#, r#""over""#);
    world.post("/definitions", product).is(202);
    let left = ["/tellerAccountIdentifier", "/chequesReceivableAccount", "/assignedEmployee"];
    refused(world.post("/offices/accra/teller", body), &left);
}

#[test]
fn unknown_product_and_accounts_of_a_transaction_are_reported() {
    let counter = Counter::active("1000");
    let body = r#"{"transactionType":"ACCT","customerIdentifier":"anna","productIdentifier":"none",
        "customerAccountIdentifier":"anna.none","targetAccountIdentifier":"bela.none","clerk":"ama","amount":1}"#;
    let fields = ["/productIdentifier", "/customerAccountIdentifier", "/targetAccountIdentifier"];
    refused(counter.world.post("/teller/T1/transactions", body), &fields);
    let known = body.replace(r#""none""#, r#""saver""#);
    refused(counter.world.post("/teller/T1/transactions", known), &fields[1..]);
}

#[test]
fn every_unknown_group_of_a_role_or_endpoint_set_is_reported() {
    let world = strict();
    let permission = |group: &str| {
        format!(r#"{{"permittableEndpointGroupIdentifier":"{group}","allowedOperations":["READ"]}}"#)
    };
    let permissions = ["none", "identity__v1__users", "never"].map(permission).join(",");
    let role = format!(r#"{{"identifier":"clerk","permissions":[{permissions}]}}"#);
    let field = |i| format!("/permissions/{i}/permittableEndpointGroupIdentifier");
    refused(world.post("/roles", role), &[&field(0), &field(2)]);
    let key = r#"{"publicKeyMod":187,"publicKeyExp":3}"#;
    world.put("/applications/crm-v1/signatures/2031-05-06T10_11_12", key);
    let groups: Vec<_> = (0..120).map(|i| format!("\"none-{i}\"")).collect();
    let set =
        format!(r#"{{"identifier":"s1","permittableEndpointGroupIdentifiers":[{}]}}"#, groups.join(","));
    let problem =
        world.post("/applications/crm-v1/callendpointset", set).refused(400, "unknown_reference").json();
    assert!(problem["detail"].as_str().unwrap().starts_with("120 fields name what does not exist"));
    let most = refused_fields(&problem);
    assert_eq!((most.len(), most[99].as_str()), (100, "/permittableEndpointGroupIdentifiers/99"));
}

#[test]
fn unknown_references_of_batch_operations_are_reported_alike() {
    let world = strict();
    let body = r#"{"productIdentifier":"none","customerIdentifier":"Maria"}"#;
    let batch = |atomic: bool| {
        let operation = format!(r#"{{"method":"POST","path":"/instances","body":{body}}}"#);
        world.post("/batch", format!(r#"{{"atomic":{atomic},"operations":[{operation}]}}"#))
    };
    let result = batch(false).is(200).json();
    let fields = ["/productIdentifier", "/customerIdentifier"];
    assert_eq!(refused_fields(&result["results"][0]["problem"]), fields);
    let placed = fields.map(|field| format!("/operations/0/body{field}"));
    refused(batch(true), &[&placed[0], &placed[1]]);
}
