//! `gateways.md` section 5: mail servers that mean harm, or speak no SMTP that can be read.

use crate::support::servers::Step::{Bytes, Flood, Hang, Hear, Say};
use crate::support::servers::{Authority, MailServer, Step, scripted};
use crate::support::world::World;
use serde_json::{Value, json};
use std::time::{Duration, Instant};

const PASSWORD: &str = "tulip-49 over";

/// Keeps a configuration of a server on this machine, with changes.
fn configure(world: &World, id: &str, port: u16, changes: &Value) {
    let mut email = json!({ "identifier": id, "host": "localhost", "port": port,
        "username": "bank@example.org", "app_password": PASSWORD });
    email.as_object_mut().unwrap().extend(changes.as_object().unwrap().clone());
    world.post("/configuration/email", email.to_string()).is(201);
}

/// How a test through a configuration fails.
#[track_caller]
fn failed(world: &World, id: &str, stage: &str) -> String {
    let seen = world.post(&format!("/configuration/email/{id}/test"), r#"{"to":"efua@example.org"}"#);
    let problem = seen.refused(502, "gateway_failed").json();
    assert_eq!(problem["stage"], stage, "{problem}");
    problem["detail"].as_str().unwrap().to_owned()
}

/// A server that has greeted and is asked these things.
fn greeted(steps: &[Step]) -> u16 {
    scripted(&[&[Say("220 mail.test\r\n"), Hear], steps].concat())
}

#[test]
fn a_reply_without_end_fails_soon_and_holds_up_nobody() {
    let dir = tempfile::tempdir().unwrap();
    let authority = Authority::new(dir.path());
    let files = authority.certificate("localhost", 2090);
    let encrypted = MailServer::start("endless", PASSWORD, Some(&files), &[]);
    let world = World::with(|config| config.gateway_ca_file = Some(authority.file()));
    configure(&world, "greeting", scripted(&[Flood("220-\r\n", 20_000)]), &json!({}));
    configure(&world, "hello", greeted(&[Flood("250-\r\n", 20_000)]), &json!({}));
    configure(&world, "encrypted", encrypted.port, &json!({ "start_tls": true }));
    let ids = ["greeting", "hello", "encrypted"];
    let tests = ids.map(|id| {
        let request = world.request("POST", &format!("/configuration/email/{id}/test"));
        let request = request.header("content-type", "application/json").body(r#"{"to":"a@example.org"}"#);
        world.spawn(request.send())
    });
    let began = Instant::now();
    for _ in 0..20 {
        world.get("/live").is(200);
    }
    assert!(began.elapsed() < Duration::from_secs(10), "{:?}", began.elapsed());
    for (id, test) in ids.into_iter().zip(tests) {
        assert_eq!(world.wait(test).unwrap().status().as_u16(), 502, "{id}");
        let why = failed(&world, id, "connect");
        assert!(why.contains("it sent more than 1000 lines, which no mail server does"), "{id}: {why}");
    }
}

#[test]
fn an_answer_that_is_no_text_may_have_taken_the_message() {
    let world = World::start();
    let ok = [Say("250 ok\r\n"), Hear];
    let no_text = [Bytes(b"250 2.0.0 Ok: \xff\r\n"), Say("221 bye\r\n"), Hang];
    let steps = [&ok[..], &ok, &ok, &[Say("354 go\r\n"), Hear], &no_text].concat();
    configure(&world, "taken", greeted(&steps), &json!({}));
    let why = failed(&world, "taken", "send");
    assert!(
        why.ends_with("localhost is not UTF-8 and cannot be read; it may have taken the message"),
        "{why}"
    );
    configure(&world, "greeting", scripted(&[Bytes(b"220 \xff\r\n"), Hang]), &json!({}));
    let why = failed(&world, "greeting", "connect");
    assert!(why.ends_with("localhost is not UTF-8 and cannot be read"), "{why}");
}

#[test]
fn a_server_that_ends_at_ehlo_is_not_said_to_have_said_nothing() {
    let world = World::start();
    configure(&world, "main", greeted(&[]), &json!({}));
    let why = failed(&world, "main", "connect");
    assert!(why.contains("broke off before it greeted and answered EHLO: "), "{why}");
}

#[test]
fn a_password_that_is_broken_into_the_lines_of_a_reply_is_covered() {
    let world = World::start();
    let offers = [Say("250-mail.test\r\n250 AUTH PLAIN\r\n"), Hear];
    let refuses = [Say("535-5.7.8 not tulip\r\n535-5.7.8 -49\r\n535 5.7.8 over here\r\n"), Hang];
    configure(&world, "main", greeted(&[&offers[..], &refuses].concat()), &json!({ "smtp_auth": true }));
    let why = failed(&world, "main", "sign_in");
    assert!(why.ends_with("refused the sign-in: \"535 5.7.8 not *** here\""), "{why}");
}
