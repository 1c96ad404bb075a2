//! What a record is about: `resource` and the order of `changes`, also where only the body names the record.

use super::{of, records, the};
use crate::support::counter::{Counter, product, teller};
use crate::support::guarded::may;
use crate::support::images::Images;
use crate::support::servers::{SmsService, closed_port};
use crate::support::world::{Seen, World};
use mfa_daemon::domain::second_factor::{from_base32, step_code};
use serde_json::{Value, json};

fn fields(record: &Value) -> Vec<&str> {
    record["changes"].as_array().unwrap().iter().map(|change| change["field"].as_str().unwrap()).collect()
}

#[test]
fn an_email_gateway_changed_at_the_address_of_sms_is_named() {
    let world = World::start();
    let email =
        json!({ "identifier": "main", "host": "one.example.org", "port": 25, "app_password": "a word" });
    world.post("/configuration/email", email.to_string()).is(201);
    let sms =
        json!({ "identifier": "main", "auth_token": "rose", "account_sid": "AC1", "sender_number": "Bank" });
    world.post("/configuration/sms", sms.to_string()).is(201);
    let change = json!({ "identifier": "main", "the service": "two.example.org", "app_password": "new" });
    let record = the(&world, &world.put("/configuration/sms", change.to_string()).is(202));
    assert_eq!(record["operation"], "UpdateSmsConfiguration");
    assert_eq!(
        (&record["resource"], fields(&record)),
        (&json!("email/main"), vec!["/host", "/app_password"])
    );
    assert!(!record.to_string().contains("\"new\""), "{record}");
    let change = json!({ "identifier": "main", "sender_number": "MFI" });
    let record = the(&world, &world.put("/configuration/sms", change.to_string()).is(202));
    assert_eq!((&record["resource"], fields(&record)), (&json!("sms/main"), vec!["/sender_number"]));
    // So it is an event, and part of the history.
    let heard = world.get("/events?kind=email").is(200).json();
    let heard: Vec<_> = heard.as_array().unwrap().iter().map(|event| event["operation"].clone()).collect();
    assert_eq!(heard, ["CreateEmailConfiguration", "UpdateSmsConfiguration"]);
    assert_eq!(records(&world, "resource=email/main").len(), 2);
}

#[test]
fn a_new_password_is_listed_among_the_changes_in_field_order() {
    let counter = Counter::start();
    let mut change = teller("T1");
    (change["cashdrawLimit"], change["password"]) = (json!(500), json!("4712"));
    let seen = counter.world.put("/offices/accra/teller/T1", change.to_string()).is(202);
    let expected = ["/password", "/cashdrawLimit", "/lastModifiedBy", "/lastModifiedOn"];
    assert_eq!(fields(&the(&counter.world, &seen)), expected);
}

#[test]
fn a_refusal_names_what_the_body_would_have_made() {
    let world = World::guarded();
    let kofi = world.user_with("kofi", &[may("identity__v1__users", "C")]);
    let user = json!({ "identifier": "ama", "role": "administrator", "password": "blue kettle 8" });
    let record = the(&world, &kofi.post("/users", user).refused(403, "exceeds_own_permissions"));
    assert_eq!(record["resource"], "user/ama");
    // Of a body that names nothing the path names the parent.
    let refused = kofi.post("/offices/accra", json!({})).refused(403, "forbidden");
    assert_eq!(the(&world, &refused)["resource"], "office/accra");
    let refused =
        kofi.post("/offices/accra", json!({ "identifier": "accra-east" })).refused(403, "forbidden");
    assert_eq!(the(&world, &refused)["resource"], "office/accra-east");
    let made = world.login("olga").post("/offices", json!({ "identifier": "accra", "name": "Accra" }));
    assert_eq!(the(&world, &made.is(202))["resource"], "office/accra");
}

#[test]
fn a_refusal_at_the_counter_names_the_teller_with_its_office() {
    let counter = Counter::with(World::guarded_with(|config| config.auth = mfa_daemon::Auth::Off));
    counter.open("T1", "emp1", "100");
    let unlock = |employee: &str, password: &str| {
        let body = json!({ "employeeIdentifier": employee, "password": password });
        counter.world.post("/teller/T1/drawer", body.to_string())
    };
    for refused in [
        unlock("emp1", "0000").refused(403, "wrong_drawer_password"),
        unlock("emp2", "4711").refused(403, "not_assigned_employee"),
    ] {
        let record = the(&counter.world, &refused);
        assert_eq!((&record["outcome"], &record["resource"]), (&json!("REFUSED"), &json!("teller/accra/T1")));
    }
    for _ in 0..4 {
        unlock("emp1", "0000").refused(403, "wrong_drawer_password");
    }
    let locked = unlock("emp1", "4711").refused(429, "too_many_attempts");
    assert_eq!(the(&counter.world, &locked)["resource"], "teller/accra/T1");
    assert_eq!(records(&counter.world, "resource=teller/accra/T1&outcome=REFUSED&size=100").len(), 7);
    let unknown = counter.world.post("/teller/T9/drawer", "{}").refused(400, "invalid_fields");
    assert_eq!(of(&counter.world, &unknown), Vec::<Value>::new());
}

#[test]
fn a_look_at_an_account_of_the_ledger_names_it_as_its_changes_do() {
    let counter = Counter::active("500");
    let account = counter.account("c-001");
    let opening = counter.quote(&Counter::request("ACCO", &account, "100"));
    counter.finish("T1", &opening, "command=CONFIRM").is(202);
    let world = &counter.world;
    let accounts = world.get("/ledger/accounts?size=1000").is(200).json()["accounts"].clone();
    let of_bank = accounts.as_array().unwrap().iter().find(|account| account["role"] != "CUSTOMER").unwrap();
    let of_bank = of_bank["identifier"].as_str().unwrap();
    let of_customer = json!(format!("account/{account}"));
    for (path, named) in [
        (format!("/instances/{account}/entries"), of_customer.clone()),
        (format!("/ledger/accounts/{account}/entries"), of_customer.clone()),
        (format!("/ledger/accounts/{of_bank}/entries"), json!(format!("ledger/{of_bank}"))),
        ("/ledger/accounts".to_owned(), Value::Null),
    ] {
        let seen = world.send(world.request("GET", &path).header("accept", "application/x-ndjson")).is(200);
        assert_eq!(the(world, &seen)["resource"], named, "{path}");
    }
    let looks = records(world, &format!("resource=account/{account}&operation=ListAccountEntries"));
    assert_eq!(looks.len(), 1, "{looks:?}");
}

#[test]
fn a_refused_look_at_an_account_of_the_ledger_names_it() {
    let world = World::guarded();
    let olga = world.login("olga");
    olga.post("/definitions", product()).is(202);
    let kofi = world.user_with("kofi", &[may("identity__v1__users", "R")]);
    for (name, named) in [("7300", json!("ledger/7300")), ("none", Value::Null)] {
        let seen = kofi.get(&format!("/ledger/accounts/{name}")).refused(403, "forbidden");
        assert_eq!(the(&world, &seen)["resource"], named);
    }
}

#[test]
fn a_reference_of_an_office_is_recorded_with_its_type_and_both_states() {
    let world = World::start();
    world.post("/offices", r#"{"identifier":"accra","name":"Accra"}"#).is(202);
    let set = |r#type: &str, state: &str| {
        let reference = json!({ "type": r#type, "state": state });
        let record = the(&world, &world.put("/offices/accra/references", reference.to_string()).is(202));
        assert_eq!(record["resource"], "office/accra");
        let changes = record["changes"].as_array().unwrap();
        changes.iter().find(|change| change["field"] == "/references").cloned()
    };
    let [active, inactive] = ["ACTIVE", "INACTIVE"].map(|state| json!({ "type": "payroll", "state": state }));
    let change = |before: &Value, after: &Value| {
        Some(json!({ "field": "/references", "before": before, "after": after }))
    };
    assert_eq!(set("payroll", "ACTIVE"), change(&Value::Null, &active));
    assert_eq!(set("payroll", "INACTIVE"), change(&active, &inactive));
    assert_eq!(set("payroll", "INACTIVE"), None);
    let fleet = json!({ "type": "fleet", "state": "INACTIVE" });
    assert_eq!(set("fleet", "INACTIVE"), change(&Value::Null, &fleet));
    let heard = world.get("/events?kind=office").is(200).json();
    assert_eq!(heard.as_array().unwrap().len(), 4, "{heard}");
}

#[test]
fn closing_a_teller_names_the_transactions_that_it_cancels() {
    let counter = Counter::active("500");
    let account = counter.account("c-001");
    let opening = Counter::request("ACCO", &account, "100");
    let kept = counter.quote(&opening);
    counter.finish("T1", &kept, "command=CANCEL").is(202);
    let pending = [counter.quote(&opening), counter.quote(&opening)];
    let closed = counter.close("T1").is(202);
    let [first, second] = pending.map(|number| format!("transaction/T1/{number}"));
    assert_eq!(the(&counter.world, &closed)["affects"], json!([first, second]));
    let history = records(&counter.world, &format!("resource={first}"));
    let operations: Vec<_> = history.iter().map(|record| &record["operation"]).collect();
    assert_eq!(operations, ["CommandTeller", "CreateTransaction"]);
    counter.open("T1", "emp1", "0");
    assert_eq!(the(&counter.world, &counter.close("T1").is(202))["affects"], json!([]));
}

#[test]
fn a_test_message_is_recorded_with_its_receiver_and_is_no_event() {
    let world = World::start();
    let closed = json!({ "identifier": "main", "host": "127.0.0.1", "port": closed_port(),
        "username": "branch@example.org", "start_tls": false });
    world.post("/configuration/email", closed.to_string()).is(201);
    let failed = world.post("/configuration/email/main/test", r#"{"to":"efua@example.org"}"#);
    let record = the(&world, &failed.refused(502, "gateway_failed"));
    let receiver = json!([{ "field": "/to", "before": null, "after": "efua@example.org" }]);
    assert_eq!((&record["outcome"], &record["changes"]), (&json!("FAILED"), &receiver));
    let service = SmsService::start("HTTP/1.1 201 Created\nContent-Length: 2\n\n{}", None);
    let endpoint = format!("http://127.0.0.1:{}/", service.port);
    let world = World::with(move |config| config.sms_endpoint = Some(endpoint));
    let sms =
        json!({ "identifier": "main", "auth_token": "rose", "account_sid": "AC1", "sender_number": "Bank" });
    world.post("/configuration/sms", sms.to_string()).is(201);
    let sent = world.post("/configuration/sms/main/test", r#"{"to":"+233201234567"}"#).is(200);
    let record = the(&world, &sent);
    let receiver = json!([{ "field": "/to", "before": null, "after": "+233201234567" }]);
    assert_eq!((&record["outcome"], &record["changes"]), (&json!("DONE"), &receiver));
    let heard = world.get("/events?kind=sms").is(200).json();
    assert_eq!(heard.as_array().unwrap().len(), 1, "{heard}");
}

#[test]
fn a_new_secret_of_a_second_factor_is_seen_to_change_and_never_shown() {
    let world = World::guarded();
    let olga = world.login("olga");
    let begin = || olga.post("/users/olga/second-factor", json!({})).is(200);
    let change = |before: &str, after: &str| {
        let value = |text: &str| if text.is_empty() { Value::Null } else { json!(text) };
        json!([{ "field": "/secret", "before": value(before), "after": value(after) }])
    };
    let secret = |record: &Value| {
        let all = record["changes"].as_array().unwrap().clone();
        json!(all.into_iter().filter(|change| change["field"] == "/secret").collect::<Vec<_>>())
    };
    let first = the(&world, &begin());
    assert_eq!(secret(&first), change("", "***"));
    let again = begin();
    let record = the(&world, &again);
    assert_eq!(record["changes"], change("***", "***"));
    assert!(!record.to_string().contains(again.json()["secret"].as_str().unwrap()), "{record}");
}

#[test]
fn recovery_codes_are_seen_to_come_and_to_change_and_never_shown() {
    let world = World::guarded();
    let esi = world.user("esi", "clerk");
    let path = "/users/esi/second-factor";
    let secret = esi.post(path, json!({})).is(200).json()["secret"].as_str().unwrap().to_owned();
    let enable = |steps: i64| {
        let now = world.clock.now().plus_seconds(30 * steps);
        let seen = esi.put(path, json!({ "code": step_code(&from_base32(&secret).unwrap(), now) })).is(200);
        let record = the(&world, &seen);
        let shown = seen.json()["recoveryCodes"][0].as_str().unwrap().to_owned();
        assert!(!record.to_string().contains(&shown), "{record}");
        let changes = record["changes"].as_array().unwrap().clone();
        changes.into_iter().find(|change| change["field"] == "/recoveryCodes").unwrap()
    };
    let first = enable(0);
    assert_eq!((&first["before"], &first["after"]), (&Value::Null, &json!("***")));
    let again = enable(1);
    assert_eq!((&again["before"], &again["after"]), (&json!("***"), &json!("***")));
}

#[test]
fn whole_records_say_that_a_teller_and_a_webhook_have_a_secret() {
    let world = World::start();
    world.post("/offices", r#"{"identifier":"ho","name":"Head"}"#).is(202);
    let teller = json!({ "code": "T1", "password": "4711", "cashdrawLimit": 100,
        "tellerAccountIdentifier": "7100", "vaultAccountIdentifier": "7200",
        "chequesReceivableAccount": "7300", "cashOverShortAccount": "7400",
        "denominationRequired": false, "assignedEmployee": "emp1" });
    let made = the(&world, &world.post("/offices/ho/teller", teller.to_string()).is(202));
    assert_eq!(made["changes"][0]["after"]["password"], "***", "{made}");
    let removed = the(&world, &world.delete("/offices/ho/teller/T1").is(202));
    assert_eq!(removed["changes"][0]["before"]["password"], "***", "{removed}");
    let hook = r#"{"identifier":"books","url":"https://example.org/mfa"}"#;
    let made = the(&world, &world.post("/events/subscriptions", hook).is(200));
    assert_eq!(made["changes"][0]["after"]["secret"], "***", "{made}");
    let removed = the(&world, &world.delete("/events/subscriptions/books").is(202));
    assert_eq!(removed["changes"][0]["before"]["secret"], "***", "{removed}");
}

#[test]
fn what_goes_with_a_user_is_named_by_its_record() {
    let world = World::guarded();
    let olga = world.login("olga");
    world.user("esi", "clerk");
    let esi = world.login("esi");
    world.login("esi");
    esi.post("/users/esi/second-factor", json!({})).is(200);
    let sessions = olga.get("/users/esi/sessions").is(200).json();
    let named: Vec<_> = sessions.as_array().unwrap().iter().map(|session| &session["identifier"]).collect();
    let mut named: Vec<_> =
        named.iter().map(|name| format!("session/esi/{}", name.as_str().unwrap())).collect();
    let ended = the(&world, &olga.delete("/users/esi/sessions").is(202));
    let mut affects: Vec<_> =
        ended["affects"].as_array().unwrap().iter().map(|name| name.as_str().unwrap().to_owned()).collect();
    named.sort();
    affects.sort();
    assert!(affects.len() > 1 && affects == named, "{affects:?} {named:?}");
    let deleted = the(&world, &olga.delete("/users/esi").is(202));
    assert_eq!(deleted["affects"], json!(["second-factor/esi"]));
}

#[test]
fn what_goes_with_an_application_or_a_consent_is_named_by_its_record() {
    let world = World::start();
    let key = "/applications/crm-v1/signatures/2031-05-06T10_11_12";
    world.put(key, json!({ "publicKeyMod": 123456789, "publicKeyExp": 65537 }).to_string()).is(202);
    let permission = json!({ "permittableEndpointGroupIdentifier": "identity__v1__users",
        "allowedOperations": ["READ"] });
    world.post("/applications/crm-v1/permissions", permission.to_string()).is(202);
    let set =
        json!({ "identifier": "front", "permittableEndpointGroupIdentifiers": ["identity__v1__users"] });
    world.post("/applications/crm-v1/callendpointset", set.to_string()).is(202);
    let user = json!({ "identifier": "esi", "role": "clerk", "password": "blue kettle 7" });
    world.post("/users", user.to_string()).is(202);
    let consent = "crm-v1/permissions/identity__v1__users/users/esi/enabled";
    world.put(&format!("/applications/{consent}"), "true").is(202);
    let deleted = the(&world, &world.delete("/users/esi").is(202));
    assert_eq!(deleted["affects"], json!(["consent/crm-v1/identity__v1__users/esi"]));
    let deleted = the(&world, &world.delete("/applications/crm-v1").is(202));
    let expected =
        ["signature/crm-v1/2031-05-06T10_11_12", "permission/crm-v1/identity__v1__users", "set/crm-v1/front"];
    assert_eq!(deleted["affects"], json!(expected));
}

#[test]
fn a_card_with_slashes_in_its_number_is_named_like_any_other() {
    let world = World::start();
    let customer = json!({ "identifier": "c-1", "type": "PERSON", "givenName": "Ama", "surname": "Owusu" });
    world.post("/customers", customer.to_string()).is(202);
    let mut card = json!({ "type": "National", "number": "GHA/7/1", "issuer": "NIA",
        "expirationDate": { "year": 2040, "month": 1, "day": 1 } });
    let named = |seen: &Seen| {
        let record = the(&world, seen);
        (record["resource"].clone(), record["affects"].clone(), fields(&record).len())
    };
    let (name, affects) = (json!("card/c-1/GHA/7/1"), json!(["customer/c-1"]));
    let made = world.post("/customers/c-1/identifications", card.to_string()).is(202);
    assert_eq!(named(&made), (name.clone(), affects.clone(), 1));
    card["issuer"] = json!("Passport Office");
    let path = "/customers/c-1/identifications/GHA%2F7%2F1";
    let changed = named(&world.put(path, card.to_string()).is(202));
    assert_eq!((&changed.0, &changed.1), (&name, &affects));
    assert_eq!(named(&world.delete(path).is(202)), (name, affects, 1));
    // So its changes are events, and its history is found.
    let heard = world.get("/events?kind=card").is(200).json();
    let heard: Vec<_> = heard.as_array().unwrap().iter().map(|event| event["operation"].clone()).collect();
    assert_eq!(heard, ["CreateCard", "UpdateCard", "DeleteCard"]);
    assert_eq!(records(&world, "resource=card/c-1/GHA%2F7%2F1").len(), 3);
    assert_eq!(records(&world, "resource=card/c-1/*").len(), 3);
}

#[test]
fn scans_that_go_with_their_card_are_named_by_its_record() {
    let images = Images::start();
    images.scan("front", b"front").is(202);
    images.scan("back", b"back").is(202);
    let deleted = the(&images.0, &images.0.delete("/customers/c-1/identifications/A-1").is(202));
    let expected = json!(["customer/c-1", "scan/c-1/A-1/front", "scan/c-1/A-1/back"]);
    assert_eq!((&deleted["resource"], &deleted["affects"]), (&json!("card/c-1/A-1"), &expected));
    assert_eq!(records(&images.0, "resource=scan/c-1/A-1/front").len(), 2);
}
