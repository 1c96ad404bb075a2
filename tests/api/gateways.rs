//! `gateways.md` sections 1 to 4 and 6.

use crate::support::images::hash;
use crate::support::servers::closed_port;
use crate::support::stored;
use crate::support::world::World;
use mfa_daemon::store::records::GatewayUse;
use serde_json::{Value, json};

fn email(identifier: &str) -> Value {
    json!({ "identifier": identifier, "host": "mail.example.org", "port": "587", "protocol": "smtp",
        "username": "bank@example.org", "app_password": "tulip-49 over", "smtp_auth": "true",
        "start_tls": "true", "state": "ACTIVE" })
}

fn sms(identifier: &str) -> Value {
    json!({ "identifier": identifier, "auth_token": "rose-17 under", "account_sid": "AC1",
        "sender_number": "+1 (555) 0100", "state": "ACTIVE" })
}

fn with(mut body: Value, field: &str, value: Value) -> String {
    body[field] = value;
    body.to_string()
}

fn without(mut body: Value, field: &str) -> String {
    body.as_object_mut().unwrap().remove(field);
    body.to_string()
}

const EMAIL: &str = "/configuration/email";
const SMS: &str = "/configuration/sms";

fn both() -> World {
    let world = World::start();
    world.post(EMAIL, email("main").to_string()).is(201);
    world.post(SMS, sms("main").to_string()).is(201);
    world
}

#[test]
fn a_configuration_is_read_as_it_was_created() {
    let world = World::start();
    let created = world.post(EMAIL, email("main").to_string()).is(201);
    assert_eq!((created.text(), created.header("location")), (String::new(), format!("{EMAIL}/main")));
    assert_eq!(world.get(&created.header("location")).is(200).text(), email("main").to_string());
    let created = world.post("/notification/v1/configuration/sms/", sms("main").to_string()).is(201);
    assert_eq!(created.header("location"), format!("{SMS}/main"));
    let read = world.get("/notification/v1/configuration/sms/main").is(200);
    let mut expected = sms("main");
    expected["type"] = Value::Null;
    assert_eq!(read.text(), expected.to_string());
    world.post(SMS, with(sms("other"), "type", json!({ "any": 1 }))).is(201);
    assert_eq!(world.get(&format!("{SMS}/other")).json()["type"], Value::Null);
}

#[test]
fn what_is_not_given_has_its_default() {
    let world = World::start();
    world.post(EMAIL, r#"{"identifier":"e1","host":"h","port":"25"}"#).is(201);
    let expected = json!({ "identifier": "e1", "host": "h", "port": "25", "protocol": "smtp",
        "username": null, "app_password": null, "smtp_auth": "false", "start_tls": "false", "state": "ACTIVE" });
    assert_eq!(world.get(&format!("{EMAIL}/e1")).text(), expected.to_string());
    world.post(SMS, without(sms("s1"), "state")).is(201);
    assert_eq!(world.get(&format!("{SMS}/s1")).json()["state"], "ACTIVE");
    let empty = with(with_value(email("e2"), "smtp_auth", json!(null)), "username", json!(""));
    let empty: Value = serde_json::from_str(&empty).unwrap();
    world.post(EMAIL, with(empty, "app_password", json!(""))).is(201);
    let read = world.get(&format!("{EMAIL}/e2")).json();
    assert_eq!((&read["username"], &read["app_password"]), (&Value::Null, &Value::Null));
}

fn with_value(mut body: Value, field: &str, value: Value) -> Value {
    body[field] = value;
    body
}

#[test]
fn numbers_and_booleans_become_texts_and_words_their_own_case() {
    let world = World::start();
    let body = json!({ "identifier": "e1", "host": "h", "port": 587, "protocol": "SmtpS", "smtp_auth": false,
        "start_tls": true, "state": "deactivated" });
    world.post(EMAIL, body.to_string()).is(201);
    let read = world.get(&format!("{EMAIL}/e1")).json();
    let words =
        ["port", "protocol", "smtp_auth", "start_tls", "state"].map(|f| read[f].as_str().unwrap().to_owned());
    assert_eq!(words, ["587", "smtps", "false", "true", "DEACTIVATED"]);
}

#[test]
fn the_mail_server_has_three_names_in_requests_and_one_in_answers() {
    let world = World::start();
    for (i, (body, host)) in [
        (json!({ "the service": "a.example" }), "a.example"),
        (json!({ "service": "b.example" }), "b.example"),
        (json!({ "service": "b.example", "host": "c.example" }), "c.example"),
        (json!({ "the service": "a.example", "host": "c.example" }), "c.example"),
        (json!({ "the service": "a.example", "host": null }), "a.example"),
    ]
    .into_iter()
    .enumerate()
    {
        let identifier = format!("e{i}");
        let mut body = with_value(body, "identifier", json!(identifier));
        body["port"] = json!("25");
        world.post(EMAIL, body.to_string()).is(201);
        let read = world.get(&format!("{EMAIL}/{identifier}")).json();
        assert_eq!((read["host"].as_str(), read.as_object().unwrap().len()), (Some(host), 9));
    }
    world.put(EMAIL, r#"{"identifier":"e0","the service":"d.example"}"#).is(202);
    assert_eq!(world.get(&format!("{EMAIL}/e0")).json()["host"], "d.example");
    world
        .post(EMAIL, r#"{"identifier":"e9","the service":"a b","port":"25"}"#)
        .fields(&["/the service bad_characters"]);
    world
        .post(EMAIL, r#"{"identifier":"e9","service":"a","service":"b","port":"25"}"#)
        .refused(400, "malformed_body");
}

#[test]
fn each_bad_field_of_an_email_configuration_is_named() {
    let world = World::start();
    for (field, value, code) in [
        ("identifier", json!(null), "required"),
        ("identifier", json!("z"), "too_short"),
        ("identifier", json!("x".repeat(33)), "too_long"),
        ("identifier", json!("a b"), "bad_characters"),
        ("host", json!(null), "required"),
        ("host", json!(""), "blank"),
        ("host", json!("a b"), "bad_characters"),
        ("host", json!("x".repeat(254)), "too_long"),
        ("port", json!(null), "required"),
        ("port", json!("smtp"), "bad_characters"),
        ("port", json!(""), "bad_characters"),
        ("port", json!("-1"), "bad_characters"),
        ("port", json!(25.5), "bad_characters"),
        ("port", json!("0"), "out_of_range"),
        ("port", json!("70000"), "out_of_range"),
        ("port", json!(65536), "out_of_range"),
        ("port", json!(true), "wrong_type"),
        ("protocol", json!("http"), "unknown_value"),
        ("username", json!("x".repeat(255)), "too_long"),
        ("app_password", json!("x".repeat(256)), "too_long"),
        ("app_password", json!("a\nb"), "bad_characters"),
        ("smtp_auth", json!("yes"), "unknown_value"),
        ("smtp_auth", json!(1), "wrong_type"),
        ("start_tls", json!("yes"), "unknown_value"),
        ("state", json!("OFF"), "unknown_value"),
    ] {
        let refused = world.post(EMAIL, with(email("main"), field, value));
        refused.fields(&[&format!("/{field} {code}")]);
    }
    for port in ["1", "65535", "00025"] {
        world.post(EMAIL, with(email(&format!("port-{port}")), "port", json!(port))).is(201);
    }
    world.get(&format!("{EMAIL}/main")).refused(404, "configuration_not_found");
}

#[test]
fn each_bad_field_of_an_sms_configuration_is_named() {
    let world = World::start();
    for (field, value, code) in [
        ("identifier", json!("z"), "too_short"),
        ("auth_token", json!(null), "required"),
        ("auth_token", json!(" "), "blank"),
        ("auth_token", json!("x".repeat(300)), "too_long"),
        ("account_sid", json!(null), "required"),
        ("account_sid", json!(""), "blank"),
        ("account_sid", json!("x".repeat(300)), "too_long"),
        ("sender_number", json!(null), "required"),
        ("sender_number", json!(""), "blank"),
        ("sender_number", json!("x".repeat(46)), "too_long"),
        ("state", json!("OFF"), "unknown_value"),
    ] {
        world.post(SMS, with(sms("main"), field, value)).fields(&[&format!("/{field} {code}")]);
    }
    world.post(SMS, with(sms("main"), "sender_number", json!("Bank & Co."))).is(201);
}

#[test]
fn signing_in_needs_name_and_password() {
    let world = World::start();
    world.post(EMAIL, without(email("main"), "username")).fields(&["/username required"]);
    world.post(EMAIL, with(email("main"), "app_password", json!(""))).fields(&["/app_password required"]);
    world
        .post(EMAIL, r#"{"identifier":"e1","host":"h","port":"25","smtp_auth":"true"}"#)
        .fields(&["/username required", "/app_password required"]);
    world.post(EMAIL, r#"{"identifier":"e1","host":"h","port":"25"}"#).is(201);
    let change = |fields: &str| world.put(EMAIL, format!(r#"{{"identifier":"e1",{fields}}}"#));
    change(r#""smtp_auth":true"#).fields(&["/username required", "/app_password required"]);
    change(r#""smtp_auth":true,"username":"u""#).fields(&["/app_password required"]);
    change(r#""smtp_auth":true,"username":"u","app_password":"p""#).is(202);
    change(r#""username":"""#).fields(&["/username required"]);
    change(r#""username":"","app_password":"","smtp_auth":"false""#).is(202);
    let read = world.get(&format!("{EMAIL}/e1")).json();
    assert_eq!((&read["username"], &read["app_password"]), (&Value::Null, &Value::Null));
}

#[test]
fn what_signing_in_lacks_is_named_with_all_other_bad_fields() {
    let world = World::start();
    let bad = r#"{"identifier":"e1","host":"h","port":"no","smtp_auth":"True"}"#;
    world.post(EMAIL, bad).fields(&["/port bad_characters", "/username required", "/app_password required"]);
    world.post(EMAIL, r#"{"identifier":"e1","host":"h","port":"25","app_password":"p"}"#).is(201);
    let change = |fields: &str| world.put(SMS, format!(r#"{{"identifier":"e1",{fields}}}"#));
    let both = ["/username required", "/port bad_characters"];
    change(r#""username":"","port":"no","smtp_auth":true"#).fields(&both);
    change(r#""username":null,"port":"no","smtp_auth":true"#).fields(&both);
    change(r#""port":"no","smtp_auth":true"#).fields(&["/port bad_characters", "/username required"]);
    change(r#""port":"no","smtp_auth":true,"username":7"#)
        .fields(&["/port bad_characters", "/username wrong_type"]);
    let parts = json!({ "atomic": true, "operations": [{ "method": "PUT", "path": EMAIL,
        "body": { "identifier": "e1", "port": "no", "smtp_auth": true } }] });
    world
        .post("/batch", parts.to_string())
        .fields(&["/operations/0/body/port bad_characters", "/operations/0/body/username required"]);
    let other = r#"{"identifier":"none","port":"no","smtp_auth":true}"#;
    world.put(EMAIL, other).fields(&["/port bad_characters"]);
}

#[test]
fn a_change_keeps_what_is_null() {
    let world = both();
    world.put(EMAIL, r#"{"identifier":"main","app_password":null}"#).is(202);
    assert_eq!(world.get(&format!("{EMAIL}/main")).text(), email("main").to_string());
    world.put(EMAIL, r#"{"identifier":"main","port":"465","protocol":"smtps","app_password":"new"}"#).is(202);
    let read = world.get(&format!("{EMAIL}/main")).json();
    assert_eq!(
        (&read["port"], &read["app_password"], &read["host"]),
        (&json!("465"), &json!("new"), &json!("mail.example.org"))
    );
    world.put(SMS, r#"{"identifier":"main","state":"deactivated"}"#).is(202);
    let read = world.get(&format!("{SMS}/main")).json();
    assert_eq!((&read["state"], &read["auth_token"]), (&json!("DEACTIVATED"), &json!("rose-17 under")));
    world.put(SMS, r#"{"identifier":"main","auth_token":"other"}"#).is(202);
    assert_eq!(world.get(&format!("{SMS}/main")).json()["auth_token"], "other");
    world.put(SMS, r#"{"identifier":"main","auth_token":""}"#).fields(&["/auth_token blank"]);
}

#[test]
fn the_names_in_the_body_decide_which_configuration_a_put_to_sms_changes() {
    let world = both();
    for body in [
        r#"{"identifier":"main","host":"x.example"}"#,
        r#"{"identifier":"main","the service":"x.example"}"#,
        r#"{"identifier":"main","service":"x.example","state":"ACTIVE"}"#,
    ] {
        world.put(SMS, body).is(202);
        assert_eq!(world.get(&format!("{EMAIL}/main")).json()["host"], "x.example");
        world.put(EMAIL, r#"{"identifier":"main","host":"back"}"#).is(202);
    }
    for name in ["port", "protocol", "username", "app_password", "smtp_auth", "start_tls"] {
        world.put(SMS, format!(r#"{{"identifier":"main","state":"DEACTIVATED","{name}":null}}"#)).is(202);
        assert_eq!(world.get(&format!("{EMAIL}/main")).json()["state"], "DEACTIVATED", "{name}");
        world.put(EMAIL, r#"{"identifier":"main","state":"ACTIVE"}"#).is(202);
        world
            .put(SMS, format!(r#"{{"identifier":"none","{name}":null,"auth_token":null}}"#))
            .refused(400, "ambiguous_body");
    }
    world.put(SMS, r#"{"identifier":"main","host":"h","sender_number":"1"}"#).refused(400, "ambiguous_body");
    assert_eq!(world.get(&format!("{SMS}/main")).json()["state"], "ACTIVE");
    world.put(SMS, r#"{"identifier":"main","state":"DEACTIVATED"}"#).is(202);
    assert_eq!(world.get(&format!("{SMS}/main")).json()["state"], "DEACTIVATED");
    world.put(SMS, r#"{"identifier":"main","port":"x"}"#).fields(&["/port bad_characters"]);
    world.put(SMS, r#"{"identifier":"none","port":"1"}"#).refused(404, "configuration_not_found");
    world.put(SMS, "[]").refused(400, "malformed_body");
}

#[test]
fn an_unknown_identifier_is_not_found_and_a_known_one_is_taken() {
    let world = both();
    world.post(EMAIL, email("main").to_string()).refused(409, "identifier_taken");
    world.post(SMS, sms("main").to_string()).refused(409, "identifier_taken");
    for base in [EMAIL, SMS] {
        world.get(&format!("{base}/none")).refused(404, "configuration_not_found");
        world.get(&format!("{base}/x%20y")).refused(404, "configuration_not_found");
        world.delete(&format!("{base}/none")).refused(404, "configuration_not_found");
        world.put(base, r#"{"identifier":"none"}"#).refused(404, "configuration_not_found");
        world.put(base, "{}").fields(&["/identifier required"]);
    }
}

#[test]
fn a_deleted_configuration_is_gone_and_its_identifier_free() {
    let world = both();
    let deleted = world.delete(&format!("{EMAIL}/main")).is(200);
    assert_eq!((deleted.text(), deleted.header("content-length")), (String::new(), "0".to_owned()));
    world.get(&format!("{EMAIL}/main")).refused(404, "configuration_not_found");
    world.get(&format!("{SMS}/main")).is(200);
    world.delete(&format!("{SMS}/main")).is(200);
    world.delete(&format!("{SMS}/main")).refused(404, "configuration_not_found");
    world.post(SMS, sms("main").to_string()).is(201);
}

#[test]
fn lists_stand_in_order_and_show_no_secrets() {
    let world = both();
    for identifier in ["b2", "Z9", "a1"] {
        world.post(EMAIL, email(identifier).to_string()).is(201);
        world.post(SMS, sms(identifier).to_string()).is(201);
    }
    for (base, secret, count) in [(EMAIL, "app_password", 9), (SMS, "auth_token", 6)] {
        let list = world.get(base).is(200).json();
        let names: Vec<_> =
            list.as_array().unwrap().iter().map(|c| c["identifier"].as_str().unwrap()).collect();
        assert_eq!(names, ["Z9", "a1", "b2", "main"]);
        for configuration in list.as_array().unwrap() {
            assert_eq!(
                (configuration.as_object().unwrap().len(), &configuration[secret]),
                (count, &Value::Null)
            );
        }
        let lines =
            world.send(world.request("GET", base).header("accept", "application/x-ndjson")).is(200).text();
        assert_eq!(lines.lines().count(), 4);
    }
}

#[test]
fn a_change_with_a_tag_succeeds_only_on_what_was_read() {
    let world = both();
    let sent = |method: &str, path: &str, tag: &str, body: &str| {
        world.send(world.request(method, path).header("if-match", tag).body(body.to_owned()))
    };
    let (mail, short) = (world.get(&format!("{EMAIL}/main")), world.get(&format!("{SMS}/main")));
    let (mail, short) = (mail.header("etag"), short.header("etag"));
    sent("PUT", EMAIL, &short, r#"{"identifier":"main","port":"x"}"#).fields(&["/port bad_characters"]);
    sent("PUT", EMAIL, &mail, r#"{"identifier":"none"}"#).refused(404, "configuration_not_found");
    sent("PUT", EMAIL, &short, r#"{"identifier":"main"}"#).refused(412, "precondition_failed");
    sent("PUT", SMS, &short, r#"{"identifier":"main","port":"99"}"#).refused(412, "precondition_failed");
    sent("PUT", SMS, &mail, r#"{"identifier":"main","state":"ACTIVE"}"#).refused(412, "precondition_failed");
    sent("PUT", SMS, &mail, r#"{"identifier":"main","app_password":"new"}"#).is(202);
    sent("PUT", EMAIL, &mail, r#"{"identifier":"main"}"#).refused(412, "precondition_failed");
    sent("PUT", SMS, &short, r#"{"identifier":"main","state":"DEACTIVATED"}"#).is(202);
    sent("DELETE", &format!("{SMS}/main"), &short, "").refused(412, "precondition_failed");
    sent("DELETE", &format!("{SMS}/main"), "*", "").is(200);
}

#[test]
fn a_repeated_creation_is_answered_from_memory() {
    let world = World::start();
    let create = || {
        let request = world.request("POST", EMAIL).header("idempotency-key", "k1");
        world.send(request.body(email("main").to_string()))
    };
    let (first, again) = (create().is(201), create().is(201));
    assert_eq!(again.header("idempotency-replayed"), "true");
    assert_eq!(first.header("location"), again.header("location"));
}

#[test]
fn a_configuration_outlives_a_restart() {
    let mut world = both();
    let look = |world: &World| {
        let seen = world.get(&format!("{EMAIL}/main")).is(200);
        (seen.text(), seen.header("etag"))
    };
    let before = look(&world);
    world.restart();
    assert_eq!(look(&world), before);
}

#[test]
fn who_guesses_all_of_a_configuration_cannot_ask_by_its_tag_whether_the_guess_is_right() {
    let world = both();
    let read = world.get(&format!("{EMAIL}/main")).is(200);
    let guessed = hash(email("main").to_string().as_bytes());
    for tag in [guessed.as_str(), &guessed[..32]] {
        assert_eq!(read.text(), email("main").to_string());
        let put = world.request("PUT", EMAIL).header("if-match", format!("\"{tag}\""));
        world.send(put.body(email("main").to_string())).refused(412, "precondition_failed");
    }
    let put = world.request("PUT", EMAIL).header("if-match", read.header("etag"));
    world.send(put.body(email("main").to_string())).is(202);
}

/// What was last done with each configuration, as the store of the stopped daemon notes it.
fn noted(world: &mut World) -> Vec<String> {
    world.stop();
    let store = stored::open(world.config(), world.clock.clone());
    let uses = world.block_on(async move {
        let uses = store.read(false, |tx| tx.all::<GatewayUse>(&[])).await.unwrap();
        store.close().await;
        uses
    });
    let shown = |noted: Value| {
        assert!(!noted.to_string().contains("rose-17") && !noted.to_string().contains("tulip-49"));
        let words = ["kind", "action", "by", "to", "outcome"].map(|name| noted[name].as_str().unwrap_or("-"));
        words.join(" ")
    };
    uses.iter().map(|noted| shown(serde_json::to_value(noted).unwrap())).collect()
}

#[test]
fn reads_of_a_secret_and_tests_are_noted_without_it() {
    let mut world = both();
    world.get(EMAIL).is(200);
    world.get(SMS).is(200);
    world.post(&format!("{SMS}/main/test"), r#"{"to":"+2332012345"}"#).refused(409, "gateway_cannot_send");
    assert_eq!(noted(&mut world), [""; 0], "a list shows no secret, and nothing was sent");
    world.restart();
    world.get(&format!("{EMAIL}/main")).is(200);
    world.get(&format!("{SMS}/main")).is(200);
    assert_eq!(noted(&mut world), ["email READ guest - -", "sms READ guest - -"]);
    world.restart();
    let closed =
        json!({ "identifier": "main", "host": "127.0.0.1", "port": closed_port(), "start_tls": false });
    world.put(EMAIL, closed.to_string()).is(202);
    world.post(&format!("{EMAIL}/main/test"), r#"{"to":"a@b"}"#).refused(502, "gateway_failed");
    assert_eq!(noted(&mut world)[0], "email TEST guest a@b connect");
}
