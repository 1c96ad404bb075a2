//! The description of the interface: `decisions.md` section 9 and `identity.md` sections 3 and 4.

use crate::support::world::World;
use mfa_daemon::Auth;
use mfa_shared::api::rows;
use mfa_shared::endpoint::Meta;
use serde_json::{Value, json};

fn references<'v>(value: &'v Value, found: &mut Vec<&'v str>) {
    match value {
        Value::Object(members) => {
            found.extend(members.get("$ref").and_then(Value::as_str));
            members.values().for_each(|member| references(member, found));
        }
        Value::Array(elements) => elements.iter().for_each(|element| references(element, found)),
        _ => {}
    }
}

#[test]
fn every_endpoint_is_described_and_every_reference_leads_somewhere() {
    let world = World::start();
    let document = world.get("/openapi.json").is(200).json();
    for row in rows() {
        let operation = &document["paths"][row.path][row.method.as_str().to_ascii_lowercase()];
        assert_eq!(operation["operationId"], row.name, "{} {}", row.method, row.path);
    }
    let mut found = Vec::new();
    references(&document, &mut found);
    assert!(found.contains(&"#/components/schemas/Customer"));
    for reference in found {
        assert!(document.pointer(reference.trim_start_matches('#')).is_some(), "{reference}");
    }
}

#[test]
fn an_operation_names_what_a_group_and_a_permission_must_hold() {
    let world = World::start();
    let document = world.get("/openapi.json").is(200).json();
    let operation = &document["paths"]["/customers/{customer}/address"]["put"];
    assert_eq!(operation["x-application"], "customer-v1");
    assert_eq!(operation["x-permittable-path"], "customer-v1/customers/{*}/address");
    assert_eq!(operation["x-allowed-operation"], "CHANGE");
    for (path, method) in [("/token", "post"), ("/live", "get"), ("/ready", "get"), ("/version", "get")] {
        let operation = &document["paths"][path][method];
        assert_eq!(operation["security"], json!([]), "{path}");
        assert_eq!(operation.get("x-application"), None, "{path}");
    }
}

/// What a read answers to somebody who takes this type; an event stream has no end to wait for.
fn content_type(world: &World, path: &str, accepted: &str) -> String {
    let request = world.request("GET", path).header("accept", accepted);
    let answer = world.block_on(request.send()).unwrap();
    assert_eq!(answer.status(), 200, "{path}");
    let given = answer.headers()["content-type"].to_str().unwrap();
    given.split(';').next().unwrap_or_default().to_owned()
}

#[test]
fn every_content_type_of_a_read_is_described_and_answered() {
    let world = World::start();
    let document = world.get("/openapi.json").is(200).json();
    // A fresh store has no record whose path could be filled in, and some reads ask for a parameter.
    let plain = |row: &&Meta| row.method.reads() && !row.path.contains('{');
    let reads: Vec<_> = rows().filter(plain).filter(|row| world.get(row.path).status == 200).collect();
    assert!(reads.len() > 20, "{}", reads.len());
    for row in reads {
        let success = &document["paths"][row.path]["get"]["responses"]["200"];
        for (kind, _) in success["content"].as_object().into_iter().flatten() {
            assert_eq!(content_type(&world, row.path, kind), *kind, "{}", row.path);
        }
        let lists = success["content"].get("application/x-ndjson").is_some();
        let lines = "application/x-ndjson";
        assert_eq!(content_type(&world, row.path, lines) == lines, lists, "{}", row.path);
    }
}

#[test]
fn a_record_with_a_tag_is_described_with_it_and_with_304() {
    let world = World::start();
    let document = world.get("/openapi.json").is(200).json();
    world.post("/customers", json!({ "identifier": "c-1" }).to_string()).is(202);
    let tag = world.get("/customers/c-1").header("etag");
    let unchanged = world.request("GET", "/customers/c-1").header("if-none-match", tag);
    world.send(unchanged).is(304);
    for path in ["/customers/{customer}", "/customers/{customer}/portrait", "/offices/{office}/address"] {
        let operation = &document["paths"][path]["get"];
        let takes = operation["parameters"].as_array().unwrap().iter();
        assert!(takes.clone().any(|one| one["name"] == "If-None-Match"), "{path}");
        assert!(operation["responses"].get("304").is_some(), "{path}");
        assert!(operation["responses"]["200"]["headers"].get("ETag").is_some(), "{path}");
    }
    let list = &document["paths"]["/customers"]["get"];
    assert!(list["responses"].get("304").is_none());
}

#[test]
fn headers_forms_images_and_ranges_are_described_as_they_are_taken() {
    let world = World::start();
    let document = world.get("/openapi.json").is(200).json();
    let operation = |path: &str, method: &str| document["paths"][path][method].clone();
    let parameter = |path: &str, method: &str, name: &str| {
        let all = operation(path, method)["parameters"].as_array().unwrap().clone();
        all.into_iter().find(|one| one["name"] == name).unwrap()["schema"].clone()
    };
    let office = "/offices/{office}";
    for (name, value) in [("Dry-Run", "yes"), ("Existing-Only", "1")] {
        assert_eq!(parameter(office, "delete", name)["enum"], json!(["true", "false"]));
        let request = world.request("DELETE", "/offices/x").header(name, value);
        world.send(request).refused(400, "invalid_parameter");
    }
    assert_eq!(parameter(office, "delete", "Idempotency-Key")["pattern"], "^[!-~]{1,255}$");
    let portrait = "/customers/{customer}/portrait";
    let form = &operation(portrait, "post")["requestBody"]["content"];
    assert_eq!(form.as_object().unwrap().keys().collect::<Vec<_>>(), ["multipart/form-data"]);
    assert_eq!(form["multipart/form-data"]["encoding"]["portrait"]["contentType"], "image/jpeg, image/png");
    let image = &operation(portrait, "get")["responses"]["200"]["content"];
    assert_eq!(image.as_object().unwrap().keys().collect::<Vec<_>>(), ["image/jpeg", "image/png"]);
    for path in ["/audit", "/ledger/journal", "/offices/{office}/teller/{teller}/denominations"] {
        assert!(parameter(path, "get", "dateRange")["pattern"].is_string(), "{path}");
    }
    let body = operation("/events/subscriptions", "post")["requestBody"].clone();
    let kinds = &body["content"]["application/json"]["schema"];
    let kinds = match kinds["$ref"].as_str() {
        Some(place) => &document.pointer(place.trim_start_matches('#')).unwrap()["properties"]["kinds"],
        None => &kinds["properties"]["kinds"],
    };
    assert_eq!(kinds["uniqueItems"], true, "{kinds}");
    let signature = "/applications/{application}/signatures/{timestamp}";
    assert!(parameter(signature, "get", "timestamp")["pattern"].is_string());
}

#[test]
fn a_token_is_said_to_be_needed_where_it_is() {
    let security = |auth| {
        let world = World::with(|config| config.auth = auth);
        world.get("/openapi.json").is(200).json()["security"].clone()
    };
    assert_eq!(security(Auth::Off), json!([]));
    assert_eq!(security(Auth::On), json!([{ "bearer": [] }]));
}

#[test]
fn the_description_needs_no_token() {
    let world = World::with(|config| config.auth = Auth::On);
    for path in ["/openapi.json", "/docs"] {
        let bad = world.request("GET", path).header("authorization", "Bearer bad");
        let page = world.send(bad).is(200);
        assert!(page.text().contains("/customers/{customer}/commands"), "{path}");
        let head = world.send(world.request("HEAD", path)).is(200);
        assert_eq!(head.header("content-type"), page.header("content-type"));
    }
    assert_eq!(world.get("/docs").header("content-type"), "text/html;charset=UTF-8");
    world.get("/docs/x").refused(401, "unauthenticated");
}

#[test]
fn the_description_says_which_texts_numbers_and_lists_are_refused() {
    let world = World::start();
    let document = world.get("/openapi.json").is(200).json();
    let field =
        |schema: &str, name: &str| document["components"]["schemas"][schema]["properties"][name].clone();
    // No control characters; a name that must not be blank has something else than white space.
    let pattern = |schema: &str, name: &str| field(schema, name)["pattern"].as_str().unwrap().to_owned();
    assert_eq!(pattern("Office", "description"), r"^[^\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]*$");
    let good = r"[^\x00-\x1f\x7f-\x9f]";
    assert_eq!(pattern("Office", "name"), format!(r"^{good}*[^\x00-\x1f\x7f-\x9f\s]{good}*$"));
    world.post("/offices", r#"{"identifier":"a1","name":"a\u0001"}"#).fields(&["/name bad_characters"]);
    world.post("/offices", r#"{"identifier":"a1","name":" "}"#).fields(&["/name blank"]);
    let day = field("NewInterestRun", "date");
    assert_eq!(day["pattern"], "^[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])Z?$");
    let parameters = document["paths"]["/interest/runs"]["get"]["parameters"].as_array().unwrap().clone();
    let range = parameters.iter().find(|parameter| parameter["name"] == "dateRange").unwrap();
    assert!(range["schema"]["pattern"].as_str().unwrap().contains("(0[1-9]|1[0-2])"), "{range}");
    // A port may be digits or a number, and both up to 65535; a switch a word or a boolean.
    let port = field("EmailConfiguration", "port");
    assert_eq!(port["type"], json!(["string", "integer"]));
    assert!(port["pattern"].as_str().unwrap().ends_with("|6553[0-5])$"), "{port}");
    assert_eq!(field("EmailConfiguration", "smtp_auth")["pattern"], "^(true|false)$");
    assert_eq!(field("EmailConfiguration", "smtp_auth")["type"], json!(["string", "boolean", "null"]));
    assert_eq!(field("SmsTest", "to")["pattern"], r"^\+([ ().-]*[0-9]){7,15}[ ().-]*$");
    assert_eq!(field("NewSubscription", "kinds")["uniqueItems"], true);
    // An amount has at most 15 integer digits.
    assert_eq!(field("Charge", "amount")["exclusiveMaximum"], json!(1_000_000_000_000_000_i64));
    let token = &document["paths"]["/token"]["post"]["requestBody"]["content"]["application/json"]["schema"];
    assert_eq!(token["properties"]["refresh_token"]["minLength"], 1);
}

#[test]
fn too_many_requests_are_described_where_they_are_refused() {
    let world = World::start();
    let document = world.get("/openapi.json").is(200).json();
    let reference = json!({ "$ref": "#/components/responses/TooManyRequests" });
    for (path, method, expected) in [
        ("/offices", "post", Some(&reference)),
        ("/version", "get", Some(&reference)),
        ("/live", "get", None),
    ] {
        assert_eq!(document["paths"][path][method]["responses"].get("429"), expected, "{path}");
    }
    let headers = &document["components"]["responses"]["TooManyRequests"]["headers"];
    assert!(headers["Retry-After"].is_object() && headers["RateLimit-Policy"].is_object());
}
