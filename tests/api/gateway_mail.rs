//! `gateways.md` section 5: test messages by e-mail.

use crate::support::servers::Step::{Flood, Hang, Hear, Say, Until};
use crate::support::servers::{Authority, MailServer, Step, closed_port, scripted};
use crate::support::world::{NOW, Seen, World};
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::SeqCst;

const PASSWORD: &str = "tulip-49 over";

/// A daemon that knows an authority.
fn world(authority: Option<&Authority>) -> World {
    World::with(|config| config.gateway_ca_file = authority.map(Authority::file))
}

/// A daemon that gives gateways little time.
fn hasty() -> World {
    World::with(|config| config.gateway_timeout_seconds = 2)
}

/// Keeps a configuration that signs in to a server on this machine, with changes.
fn configure(world: &World, port: u16, changes: &Value) {
    let mut email = json!({ "identifier": "main", "host": "localhost", "port": port.to_string(),
        "username": "bank@example.org", "app_password": PASSWORD, "smtp_auth": "true" });
    email.as_object_mut().unwrap().extend(changes.as_object().unwrap().clone());
    let _ = world.delete("/configuration/email/main");
    world.post("/configuration/email", email.to_string()).is(201);
}

fn test(world: &World) -> Seen {
    world.post("/configuration/email/main/test", r#"{"to":"efua@example.org","text":"Dear customer"}"#)
}

/// Holds a failure to its stage and code, and to saying some words and never the password.
#[track_caller]
fn failed(world: &World, stage: &str, code: Value, words: &str) {
    let seen = test(world).refused(502, "gateway_failed");
    let problem = seen.json();
    assert_eq!((&problem["stage"], &problem["gatewayCode"]), (&json!(stage), &code), "{problem}");
    let detail = problem["detail"].as_str().unwrap();
    assert!(detail.starts_with("e-mail configuration main: ") && detail.contains(words), "{detail}");
    assert!(!seen.text().contains(PASSWORD), "{detail}");
}

#[test]
fn a_test_mail_arrives_and_says_only_what_is_fixed() {
    let mut server = MailServer::start("plain", PASSWORD, None, &[]);
    let world = world(None);
    configure(&world, server.port, &json!({}));
    let outcome = test(&world).is(200).text();
    let expected = json!({ "identifier": "main", "to": "efua@example.org", "sentOn": NOW,
        "gatewayAnswer": "250 2.0.0 Ok: queued as 4F2A", "messageIdentifier": null });
    assert_eq!(outcome, expected.to_string());
    let mail = server.mail();
    assert_eq!((&mail["from"], &mail["to"]), (&json!("bank@example.org"), &json!(["efua@example.org"])));
    assert_eq!((&mail["mechanism"], &mail["encrypted"]), (&json!("PLAIN"), &json!(false)));
    let content = mail["content"].as_str().unwrap().replace("=\r\n", "");
    let instance = world.get("/version").json()["instance"].as_str().unwrap().to_owned();
    for part in [
        "From: bank@example.org\r\n",
        "To: efua@example.org\r\n",
        "Subject: Test of the e-mail configuration main\r\n",
        "Date: Tue, 06 May 2031 07:08:09 +0000\r\n",
        "Content-Type: text/plain; charset=utf-8\r\n",
        &instance,
        "e-mail configuration main",
        NOW,
    ] {
        assert!(content.contains(part), "{part:?} is not in {content}");
    }
    assert!(!content.contains("Dear customer") && !content.contains(PASSWORD), "{content}");
}

#[test]
fn a_mail_signs_in_by_login_without_plain_and_only_where_asked_for() {
    let mut server = MailServer::start("plain", PASSWORD, None, &["PLAIN"]);
    let world = world(None);
    configure(&world, server.port, &json!({}));
    test(&world).is(200);
    assert_eq!(server.mail()["mechanism"], "LOGIN");
    configure(&world, server.port, &json!({ "smtp_auth": "false" }));
    test(&world).is(200);
    let mail = server.mail();
    assert_eq!((&mail["signedIn"], &mail["mechanism"]), (&Value::Null, &Value::Null));
}

#[test]
fn a_mail_is_encrypted_by_starttls_or_from_the_first_byte() {
    let dir = tempfile::tempdir().unwrap();
    let authority = Authority::new(dir.path());
    let files = authority.certificate("localhost", 2090);
    let world = world(Some(&authority));
    for (mode, changes) in
        [("starttls", json!({ "start_tls": "true" })), ("smtps", json!({ "protocol": "smtps" }))]
    {
        let mut server = MailServer::start(mode, PASSWORD, Some(&files), &[]);
        configure(&world, server.port, &changes);
        test(&world).is(200);
        let mail = server.mail();
        assert_eq!((&mail["encrypted"], &mail["signedIn"]), (&json!(true), &json!(true)), "{mode}");
    }
}

#[test]
fn a_certificate_that_does_not_hold_ends_the_test_before_anything_is_said() {
    let dir = tempfile::tempdir().unwrap();
    let authority = Authority::new(dir.path());
    let other_dir = tempfile::tempdir().unwrap();
    let other = Authority::new(other_dir.path());
    let world = world(Some(&authority));
    for (files, words) in [
        (other.certificate("localhost", 2090), "UnknownIssuer"),
        (authority.certificate("mail.example.org", 2090), "not valid for name"),
        (authority.certificate("localhost", 2021), "expired"),
    ] {
        for (mode, changes) in
            [("starttls", json!({ "start_tls": "true" })), ("smtps", json!({ "protocol": "smtps" }))]
        {
            let server = MailServer::start(mode, PASSWORD, Some(&files), &[]);
            configure(&world, server.port, &changes);
            failed(&world, "tls", Value::Null, words);
        }
    }
}

#[test]
fn a_gateway_that_is_not_reached_or_turns_away_fails_at_connect() {
    let world = world(None);
    configure(&world, closed_port(), &json!({}));
    failed(&world, "connect", Value::Null, "is not reached: ");
    configure(&world, 25, &json!({ "host": "no-such-host.invalid", "smtp_auth": "false" }));
    failed(&world, "connect", Value::Null, "the address of no-such-host.invalid is not found: ");
    configure(&world, scripted(&[Say("554 5.3.2 not today\r\n"), Hear]), &json!({}));
    failed(&world, "connect", json!(554), "localhost refused the connection: \"554 5.3.2 not today\"");
    configure(&world, scripted(&[]), &json!({}));
    failed(&world, "connect", Value::Null, "localhost");
    configure(&world, scripted(&[Flood("220-welcome\r\n", 20_000)]), &json!({}));
    failed(&world, "connect", Value::Null, "localhost");
    configure(&world, scripted(&[Flood("aaaaaaaaaaaaaaaa", 100_000)]), &json!({}));
    failed(&world, "connect", Value::Null, "65536 bytes");
}

/// What a server says that offers AUTH.
const SIGNS_IN: &str = "250-mail.test\r\n250 AUTH PLAIN\r\n";
const GREETING: [Step; 2] = [Say("220 mail.test\r\n"), Hear];

fn after_greeting(steps: &[Step]) -> u16 {
    scripted(&[&GREETING, steps].concat())
}

#[test]
fn a_gateway_without_encryption_fails_at_tls() {
    let world = world(None);
    let tls = json!({ "start_tls": "true" });
    configure(&world, after_greeting(&[Say("250 mail.test\r\n"), Hang]), &tls);
    failed(&world, "tls", Value::Null, "localhost does not offer STARTTLS");
    configure(
        &world,
        after_greeting(&[Say("250-mail.test\r\n250 STARTTLS\r\n"), Hear, Say("454 4.7.0 not now\r\n"), Hear]),
        &tls,
    );
    failed(&world, "tls", json!(454), "localhost refused STARTTLS: \"454 4.7.0 not now\"");
    configure(&world, scripted(&[Say("220 in clear\r\n"), Hang]), &json!({ "protocol": "smtps" }));
    failed(&world, "tls", Value::Null, "there is no encrypted connection to localhost: ");
}

#[test]
fn answers_from_before_the_encryption_do_not_count_after_it() {
    let dir = tempfile::tempdir().unwrap();
    let authority = Authority::new(dir.path());
    let files = authority.certificate("localhost", 2090);
    let server = MailServer::start("injected", PASSWORD, Some(&files), &[]);
    let world = world(Some(&authority));
    configure(&world, server.port, &json!({ "start_tls": "true" }));
    failed(&world, "tls", Value::Null, "there is no encrypted connection to localhost: ");
}

#[test]
fn a_server_has_taken_the_mail_by_a_code_alone_and_not_where_it_asks_for_more() {
    let world = hasty();
    let greeted = [Say("250 mail.test\r\n"), Hear];
    let answers = |ok: [Step; 2], data: [Step; 4]| {
        let steps = [&greeted[..], &ok, &ok, &data].concat();
        configure(&world, after_greeting(&steps), &json!({ "smtp_auth": "false" }));
    };
    answers([Say("250\r\n"), Hear], [Say("354\r\n"), Hear, Say("250\r\n221\r\n"), Hang]);
    assert_eq!(test(&world).is(200).json()["gatewayAnswer"], "250");
    answers([Say("250 ok\r\n"), Hear], [Say("354 go\r\n"), Hear, Say("354 more\r\n"), Hear]);
    failed(&world, "send", Value::Null, "localhost does not answer as a mail server does");
}

#[test]
fn a_refused_sign_in_is_quoted_without_the_password_in_any_form() {
    let server = MailServer::start("plain", "another", None, &[]);
    let world = world(None);
    configure(&world, server.port, &json!({}));
    failed(&world, "sign_in", json!(535), "refused the sign-in: \"535 5.7.8 not with *** or ***\"");
    let none = after_greeting(&[Say("250 mail.test\r\n"), Hang]);
    configure(&world, none, &json!({}));
    failed(&world, "sign_in", Value::Null, "localhost offers neither AUTH PLAIN nor AUTH LOGIN");
}

#[test]
fn a_refused_message_fails_at_send() {
    let server = MailServer::start("plain", PASSWORD, None, &[]);
    let world = world(None);
    configure(&world, server.port, &json!({}));
    let nobody = world.post("/configuration/email/main/test", r#"{"to":"nobody@example.org"}"#);
    let problem = nobody.refused(502, "gateway_failed").json();
    assert_eq!((&problem["stage"], &problem["gatewayCode"]), (&json!("send"), &json!(550)));
    assert!(problem["detail"].as_str().unwrap().contains("\"550 5.1.1 nobody of that name\""), "{problem}");
    let in_clear = json!({ "smtp_auth": "false" });
    let full = after_greeting(&[Say("250 mail.test\r\n"), Hear, Say("452 4.3.1 disk full\r\n"), Hear]);
    configure(&world, full, &in_clear);
    failed(&world, "send", json!(452), "localhost refused the message: \"452 4.3.1 disk full\"");
    configure(&world, after_greeting(&[Say("250 mail.test\r\n"), Hear]), &in_clear);
    failed(&world, "send", Value::Null, "localhost");
    let long = Say(
        "550 xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\r\n",
    );
    let talks = Flood(
        "550-xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\r\n",
        40,
    );
    configure(&world, after_greeting(&[Say("250 mail.test\r\n"), Hear, talks, long, Hear]), &in_clear);
    let detail = test(&world).refused(502, "gateway_failed").json()["detail"].as_str().unwrap().to_owned();
    let quoted = detail.split('"').nth(1).unwrap();
    assert_eq!(quoted.chars().count(), 1000, "{detail}");
}

#[test]
fn what_prevents_a_test_is_reported_in_its_order() {
    let world = world(None);
    let send = |to: &str| world.post("/configuration/email/main/test", to.to_owned());
    send("{}").fields(&["/to required"]);
    send(r#"{"to":"a@b"}"#).refused(404, "configuration_not_found");
    let far =
        json!({ "host": "mail.example.org", "username": "bank", "state": "DEACTIVATED", "protocol": "pop3" });
    configure(&world, 25, &far);
    send(r#"{"to":"a b"}"#).fields(&["/to bad_characters"]);
    let change = |fields: &str| {
        world.put("/configuration/email", format!(r#"{{"identifier":"main",{fields}}}"#)).is(202)
    };
    send(r#"{"to":"a@b"}"#).refused(409, "gateway_deactivated");
    change(r#""state":"ACTIVE""#);
    for protocol in ["pop3", "imap"] {
        change(&format!(r#""protocol":"{protocol}""#));
        send(r#"{"to":"a@b"}"#).refused(409, "gateway_cannot_send");
    }
    change(r#""protocol":"smtp""#);
    let no_sender = send(r#"{"to":"a@b"}"#).refused(409, "gateway_cannot_send");
    assert!(no_sender.text().contains("mail_from"), "{}", no_sender.text());
    change(r#""username":"bank@example.org""#);
    let insecure = send(r#"{"to":"a@b"}"#).refused(409, "gateway_insecure");
    assert!(!insecure.text().contains(PASSWORD));
}

#[test]
fn the_receiver_is_one_mail_address() {
    let world = world(None);
    configure(&world, closed_port(), &json!({}));
    let long = format!("{}@example.org", "x".repeat(243));
    for (to, code) in [
        (json!(null), "required"),
        (json!(7), "wrong_type"),
        (json!(""), "bad_characters"),
        (json!("efua"), "bad_characters"),
        (json!("@example.org"), "bad_characters"),
        (json!("efua@"), "bad_characters"),
        (json!("efua@a@b"), "bad_characters"),
        (json!("efua @a"), "bad_characters"),
        (json!("efua@a\r\nDATA"), "bad_characters"),
        (json!(long), "too_long"),
    ] {
        let body = json!({ "to": to }).to_string();
        world.post("/configuration/email/main/test", body).fields(&[&format!("/to {code}")]);
    }
}

#[test]
fn any_receiver_that_the_rule_allows_is_passed_on_as_smtp_writes_it() {
    let long = format!("{}@b", "a".repeat(252));
    for (to, sent_to) in [
        (r#""efua,kusi"@example.org"#, r#""efua,kusi"@example.org"#),
        ("efua@[127.0.0.1]", "efua@[127.0.0.1]"),
        (long.as_str(), long.as_str()),
        ("efua>kusi@example.org", r#""efua>kusi"@example.org"#),
    ] {
        let mut server = MailServer::start("plain", PASSWORD, None, &[]);
        let world = world(None);
        configure(&world, server.port, &json!({}));
        let sent = world.post("/configuration/email/main/test", json!({ "to": to }).to_string()).is(200);
        assert_eq!(sent.json()["to"], to);
        assert_eq!(server.mail()["to"], json!([sent_to]));
    }
}

#[test]
fn a_receiver_at_no_domain_is_refused_by_the_trial_and_not_by_the_rule() {
    let world = world(None);
    configure(&world, closed_port(), &json!({}));
    for to in ["efua@a..b", "efua@a>b", "efua@-a.org"] {
        let seen = world.post("/configuration/email/main/test", json!({ "to": to }).to_string());
        let problem = seen.refused(502, "gateway_failed").json();
        assert_eq!((&problem["stage"], &problem["gatewayCode"]), (&json!("send"), &Value::Null), "{problem}");
        assert!(problem["detail"].as_str().unwrap().contains(to), "{problem}");
    }
}

#[test]
fn a_sender_may_be_quoted_or_have_a_long_name() {
    let long = format!("{}@example.org", "a".repeat(70));
    for (sender, sent_from) in [
        (r#""a b"@example.org"#, r#""a b"@example.org"#),
        (r#""a@b"@example.org"#, r#""a@b"@example.org"#),
        ("a>b@example.org", r#""a>b"@example.org"#),
        (long.as_str(), long.as_str()),
    ] {
        let mut server = MailServer::start("plain", PASSWORD, None, &[]);
        let world = world(None);
        configure(&world, server.port, &json!({ "username": sender, "smtp_auth": "false" }));
        test(&world).is(200);
        let mail = server.mail();
        assert_eq!(mail["from"], sent_from);
        let content = mail["content"].as_str().unwrap().replace("\r\n ", " ");
        assert!(content.contains(&format!("From: {sent_from}\r\n")), "{content}");
    }
}

#[test]
fn the_sender_is_the_setting_where_the_user_name_is_no_address() {
    let mut server = MailServer::start("plain", PASSWORD, None, &[]);
    let world = World::with(|config| config.mail_from = Some("office@example.org".to_owned()));
    configure(&world, server.port, &json!({ "smtp_auth": "false", "username": "bank" }));
    test(&world).is(200);
    assert_eq!(server.mail()["from"], "office@example.org");
}

#[test]
fn a_repeated_test_sends_nothing_after_success_and_retries_a_failure() {
    let mut server = MailServer::start("plain", PASSWORD, None, &[]);
    let world = world(None);
    configure(&world, closed_port(), &json!({}));
    let send = |to: &str| {
        let request = world.request("POST", "/configuration/email/main/test").header("idempotency-key", "t1");
        world.send(request.body(json!({ "to": to }).to_string()))
    };
    send("a@example.org").refused(502, "gateway_failed");
    let port = format!(r#"{{"identifier":"main","port":{}}}"#, server.port);
    world.put("/configuration/email", port).is(202);
    let first = send("a@example.org").is(200);
    let again = send("a@example.org").is(200);
    assert_eq!((first.text(), again.header("idempotency-replayed")), (again.text(), "true".to_owned()));
    send("b@example.org").refused(422, "idempotency_key_reused");
    test(&world).is(200);
    assert_eq!(server.mail()["to"], json!(["a@example.org"]));
    assert_eq!(server.mail()["to"], json!(["efua@example.org"]), "the repeated test sent nothing");
}

#[test]
fn a_gateway_that_stalls_fails_at_the_stage_where_it_does() {
    let world = hasty();
    let greeted = |words| after_greeting(&[Say(words), Hang]);
    let starts = [Say("250-mail.test\r\n250 STARTTLS\r\n"), Hear, Say("220 go\r\n"), Hang];
    let in_clear = json!({ "smtp_auth": "false" });
    for (port, changes, stage, words) in [
        (scripted(&[Hang]), json!({}), "connect", "was reached and did not greet and answer EHLO"),
        (scripted(&[Hang]), json!({ "protocol": "smtps" }), "tls", "did not set up the encryption"),
        (after_greeting(&starts), json!({ "start_tls": "true" }), "tls", "did not set up the encryption"),
        (greeted(SIGNS_IN), json!({}), "sign_in", "did not answer the sign-in"),
        (greeted("250 mail.test\r\n"), in_clear, "send", "did not answer the message"),
    ] {
        configure(&world, port, &changes);
        failed(&world, stage, Value::Null, &format!("the gateway {words} within 2 seconds in all"));
    }
}

#[test]
fn a_broken_connection_is_reported_with_the_stage_it_had_reached() {
    let world = world(None);
    let starts = [Say("250-mail.test\r\n250 STARTTLS\r\n"), Hear, Say("220 go\r\n")];
    let in_clear = json!({ "smtp_auth": "false" });
    for (port, changes, stage, words) in [
        (
            scripted(&[]),
            json!({}),
            "connect",
            "the connection to localhost broke off before it greeted and answered EHLO: ",
        ),
        (
            after_greeting(&starts),
            json!({ "start_tls": "true" }),
            "tls",
            "no encrypted connection to localhost: ",
        ),
        (after_greeting(&[Say(SIGNS_IN), Hear]), json!({}), "sign_in", "broke off during the sign-in: "),
        (
            after_greeting(&[Say("250 m\r\n"), Hear]),
            in_clear,
            "send",
            "broke off before it answered the message: ",
        ),
    ] {
        configure(&world, port, &changes);
        failed(&world, stage, Value::Null, words);
    }
}

#[test]
fn the_store_takes_writes_while_a_gateway_keeps_a_test_waiting() {
    let world = world(None);
    let go_on = Arc::new(AtomicBool::new(false));
    configure(&world, scripted(&[Until(go_on.clone())]), &json!({}));
    let request = world.request("POST", "/configuration/email/main/test").body(r#"{"to":"a@b"}"#);
    let waiting = world.spawn(request.send());
    for i in 0..20 {
        let office = json!({ "identifier": format!("office-{i}"), "name": "Name" });
        world.post("/offices", office.to_string()).is(202);
    }
    go_on.store(true, SeqCst);
    assert_eq!(world.wait(waiting).unwrap().status().as_u16(), 502);
}

#[test]
fn equal_tests_at_once_with_one_key_send_one_message() {
    let mut server = MailServer::start("plain", PASSWORD, None, &[]);
    let world = world(None);
    configure(&world, server.port, &json!({}));
    let one = |to: &str| {
        let request = world.request("POST", "/configuration/email/main/test").header("idempotency-key", "t1");
        request.body(json!({ "to": to }).to_string())
    };
    let seen = world.insist_all((0..6).map(|_| one("a@example.org")).collect());
    assert!(seen.iter().all(|seen| seen.status == 200), "{seen:?}");
    let first = seen.iter().filter(|seen| seen.header("idempotency-replayed").is_empty()).count();
    assert_eq!(first, 1);
    test(&world).is(200);
    let mut sent = 0;
    while server.mail()["to"] != json!(["efua@example.org"]) {
        sent += 1;
    }
    // Of several daemons of a database, none knows what another has under way.
    let daemons = if world.config().store.postgres().is_some() { 2 } else { 1 };
    assert!((1..=daemons).contains(&sent), "{sent} messages were sent");
}
