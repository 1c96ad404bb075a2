//! `gateways.md` section 5: test messages by SMS.

use crate::support::servers::Step::{Hang, Hear, Say};
use crate::support::servers::{Authority, SmsService, closed_port, scripted};
use crate::support::world::{NOW, Seen, World};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

const TOKEN: &str = "rose-17 under";
const CREATED: &str = "HTTP/1.1 201 Created\nContent-Type: application/json\nContent-Length: 34\n\n{\"sid\":\"SM01\",\"status\":\"accepted\"}";

/// A daemon with an SMS service and one configuration.
fn world(endpoint: Option<&str>, authority: Option<&Authority>) -> World {
    timed(endpoint, authority, false)
}

fn timed(endpoint: Option<&str>, authority: Option<&Authority>, hasty: bool) -> World {
    let world = World::with(|config| {
        config.gateway_timeout_seconds = if hasty { 2 } else { 30 };
        config.sms_endpoint = endpoint.map(str::to_owned);
        config.gateway_ca_file = authority.map(Authority::file);
    });
    let sms = json!({ "identifier": "main", "auth_token": TOKEN, "account_sid": "AC/1 a", "sender_number": "Bank & Co" });
    world.post("/configuration/sms", sms.to_string()).is(201);
    world
}

fn near(port: u16) -> String {
    format!("http://127.0.0.1:{port}/2010/Accounts/{{account_sid}}/Messages.json")
}

fn test(world: &World) -> Seen {
    world.post("/configuration/sms/main/test", r#"{"to":"+233 (20) 123-45.67","body":"Dear customer"}"#)
}

#[track_caller]
fn failed(world: &World, stage: &str, code: Value, words: &str) {
    let seen = test(world).refused(502, "gateway_failed");
    let problem = seen.json();
    assert_eq!((&problem["stage"], &problem["gatewayCode"]), (&json!(stage), &code), "{problem}");
    let detail = problem["detail"].as_str().unwrap();
    assert!(detail.starts_with("SMS configuration main: ") && detail.contains(words), "{detail}");
    assert!(!seen.text().contains(TOKEN), "{detail}");
}

#[test]
fn a_test_message_is_one_post_with_the_account_signed_in() {
    let service = SmsService::start(CREATED, None);
    let world = world(Some(&near(service.port)), None);
    let outcome = test(&world).is(200).text();
    let expected = json!({ "identifier": "main", "to": "+233201234567", "sentOn": NOW,
        "gatewayAnswer": "201 {\"sid\":\"SM01\",\"status\":\"accepted\"}", "messageIdentifier": "SM01" });
    assert_eq!(outcome, expected.to_string());
    let [request] = service.asked().try_into().unwrap();
    let (head, body) = request.split_once("\r\n\r\n").unwrap();
    let lines: Vec<_> = head.lines().map(str::to_ascii_lowercase).collect();
    assert_eq!(lines[0], "post /2010/accounts/ac%2f1%20a/messages.json http/1.1");
    let sign_in =
        format!("authorization: basic {}", STANDARD.encode(format!("AC/1 a:{TOKEN}"))).to_ascii_lowercase();
    for line in [
        &sign_in,
        "content-type: application/x-www-form-urlencoded",
        &format!("host: 127.0.0.1:{}", service.port),
    ] {
        assert!(lines.contains(&line.to_owned()), "{line} is not in {lines:?}");
    }
    assert!(body.starts_with("To=%2B233201234567&From=Bank%20%26%20Co&Body=Test%20message%20of%20the%20mfa%20daemon%20urn%3Amfa%3Ainstance%3A"), "{body}");
    assert!(body.contains("SMS%20configuration%20main") && !body.contains("Dear"), "{body}");
}

#[test]
fn an_answer_without_json_or_sid_is_a_success_without_a_name() {
    for answer in [
        "HTTP/1.1 200 OK\nContent-Length: 6\n\nqueued",
        "HTTP/1.1 204 No Content\n\n",
        "HTTP/1.1 200 OK\nContent-Length: 9\n\n{\"sid\":7}",
        "HTTP/1.1 200 OK\nContent-Length: 900\n\ncut short",
    ] {
        let service = SmsService::start(answer, None);
        let world = world(Some(&near(service.port)), None);
        assert_eq!(test(&world).is(200).json()["messageIdentifier"], Value::Null, "{answer}");
    }
}

#[test]
fn what_the_service_says_is_quoted_without_the_token_in_any_form() {
    let sign_in = STANDARD.encode(format!("AC/1 a:{TOKEN}"));
    let body = format!("not {TOKEN} nor {sign_in} nor {}", STANDARD.encode(TOKEN));
    let answer = |status: &str| format!("HTTP/1.1 {status}\nContent-Length: {}\n\n{body}", body.len());
    for (status, stage, code) in [
        ("401 Unauthorized", "sign_in", 401),
        ("403 Forbidden", "sign_in", 403),
        ("400 Bad Request", "send", 400),
        ("429 Too Many Requests", "send", 429),
        ("500 Oops", "send", 500),
    ] {
        let service = SmsService::start(&answer(status), None);
        let world = world(Some(&near(service.port)), None);
        failed(&world, stage, json!(code), &format!("\"{code} not *** nor ***"));
        let seen = test(&world).text();
        assert!(!seen.contains(&sign_in) && !seen.contains(&STANDARD.encode(TOKEN)), "{seen}");
    }
    let service = SmsService::start(&answer("200 OK"), None);
    let world = world(Some(&near(service.port)), None);
    assert!(!test(&world).is(200).text().contains(TOKEN));
}

#[test]
fn a_redirect_is_not_followed() {
    let elsewhere = SmsService::start(CREATED, None);
    let answer = format!("HTTP/1.1 307 Go\nLocation: {}\nContent-Length: 0\n\n", near(elsewhere.port));
    let service = SmsService::start(&answer, None);
    let world = world(Some(&near(service.port)), None);
    failed(&world, "send", json!(307), "127.0.0.1 refused the message: \"307\"");
    assert_eq!((service.asked().len(), elsewhere.asked().len()), (1, 0));
}

#[test]
fn a_service_that_is_not_reached_breaks_off_or_stalls_fails_at_its_stage() {
    for (port, stage, words) in [
        (closed_port(), "connect", "is not reached: "),
        (scripted(&[Hear]), "send", "the connection to 127.0.0.1 broke off before it answered the message: "),
        (scripted(&[Say("hello\r\n\r\n"), Hear]), "send", "127.0.0.1"),
    ] {
        failed(&world(Some(&near(port)), None), stage, Value::Null, words);
    }
    let stalls = timed(Some(&near(scripted(&[Hang]))), None, true);
    failed(&stalls, "send", Value::Null, "the gateway did not answer the message within 2 seconds");
}

#[test]
fn a_service_proves_itself_by_its_certificate() {
    let dir = tempfile::tempdir().unwrap();
    let authority = Authority::new(dir.path());
    let far = |port: u16| format!("https://127.0.0.1:{port}/x");
    let service = SmsService::start(CREATED, Some(&authority.certificate("127.0.0.1", 2090)));
    test(&world(Some(&far(service.port)), Some(&authority))).is(200);
    assert_eq!(service.asked().len(), 1);
    failed(&world(Some(&far(service.port)), None), "tls", Value::Null, "UnknownIssuer");
    for (host, year, words) in
        [("other.example.org", 2090, "not valid for name"), ("127.0.0.1", 2021, "expired")]
    {
        let service = SmsService::start(CREATED, Some(&authority.certificate(host, year)));
        failed(&world(Some(&far(service.port)), Some(&authority)), "tls", Value::Null, words);
        assert_eq!(service.asked().len(), 0);
    }
}

#[test]
fn authorities_that_cannot_be_read_are_named_in_no_answer() {
    let dir = tempfile::tempdir().unwrap();
    let authority = Authority::new(dir.path());
    let service = SmsService::start(CREATED, Some(&authority.certificate("127.0.0.1", 2090)));
    let world = world(Some(&format!("https://127.0.0.1:{}/x", service.port)), Some(&authority));
    std::fs::remove_file(authority.file()).unwrap();
    failed(&world, "tls", Value::Null, "the daemon cannot read its certificate authorities");
    let seen = test(&world).text();
    assert!(!seen.contains(".pem") && !seen.contains(&*dir.path().to_string_lossy()), "{seen}");
    assert_eq!(service.asked().len(), 0);
}

#[test]
fn what_prevents_a_test_is_reported_in_its_order() {
    let world = world(None, None);
    world.post("/configuration/sms/none/test", r#"{"to":"call me"}"#).fields(&["/to bad_characters"]);
    world
        .post("/configuration/sms/none/test", r#"{"to":"+1234567"}"#)
        .refused(404, "configuration_not_found");
    world.put("/configuration/sms", r#"{"identifier":"main","state":"DEACTIVATED"}"#).is(202);
    test(&world).refused(409, "gateway_deactivated");
    world.put("/configuration/sms", r#"{"identifier":"main","state":"ACTIVE"}"#).is(202);
    let unset = test(&world).refused(409, "gateway_cannot_send");
    assert!(unset.text().contains("sms_endpoint"), "{}", unset.text());
    let far = self::world(Some("http://sms.example.org/x"), None);
    test(&far).refused(409, "gateway_insecure");
}

#[test]
fn the_receiver_is_one_telephone_number() {
    let service = SmsService::start(CREATED, None);
    let world = world(Some(&near(service.port)), None);
    for (to, code) in [
        (json!(null), "required"),
        (json!(233), "wrong_type"),
        (json!(""), "bad_characters"),
        (json!("call me"), "bad_characters"),
        (json!("0201234567"), "bad_characters"),
        (json!("+123456"), "bad_characters"),
        (json!("+1234567890123456"), "too_long"),
        (json!("+12345x67"), "bad_characters"),
        (json!("++1234567"), "bad_characters"),
        (json!(" +1234567"), "bad_characters"),
    ] {
        let body = json!({ "to": to }).to_string();
        world.post("/configuration/sms/main/test", body).fields(&[&format!("/to {code}")]);
    }
    for to in ["+1234567", "+123456789012345", "+1 (2) 3-4.567"] {
        let sent = world.post("/configuration/sms/main/test", json!({ "to": to }).to_string()).is(200);
        assert_eq!(sent.json()["to"], to.replace([' ', '(', ')', '-', '.'], ""));
    }
}
