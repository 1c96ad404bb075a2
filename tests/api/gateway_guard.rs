//! `gateways.md` sections 4 and 5: who may send a stored secret where, and which addresses are reached.

use crate::support::guarded::{As, may, missing};
use crate::support::servers::Step::{Hear, Say};
use crate::support::servers::{MailServer, scripted};
use crate::support::world::{Seen, World};
use serde_json::{Value, json};

const PASSWORD: &str = "tulip-49 over the hill";
const GROUP: &str = "notification__v1__configuration";

fn email(port: u16) -> Value {
    json!({ "identifier": "main", "host": "127.0.0.1", "port": port, "username": "bank@example.org",
        "app_password": PASSWORD, "smtp_auth": true })
}

fn configured(world: &World) {
    let admin = world.login("olga");
    admin.post("/configuration/email", email(25)).is(201);
    let sms = json!({ "identifier": "main", "auth_token": "rose-17", "account_sid": "AC1", "sender_number": "Bank" });
    admin.post("/configuration/sms", sms).is(201);
}

#[test]
fn who_may_not_see_a_secret_cannot_send_it_elsewhere() {
    let world = World::guarded();
    configured(&world);
    let greta = world.user_with("greta", &[may(GROUP, "C")]);
    for change in [
        json!({ "host": "evil.example.org" }),
        json!({ "the service": "evil.example.org" }),
        json!({ "port": 26 }),
        json!({ "protocol": "smtps" }),
        json!({ "start_tls": true }),
        json!({ "host": "evil.example.org", "app_password": null }),
        json!({ "host": "evil.example.org", "smtp_auth": false, "app_password": "" }),
    ] {
        let mut body = change.clone();
        body["identifier"] = json!("main");
        for path in ["/configuration/email", "/configuration/sms"] {
            let refused = greta.put(path, body.clone()).refused(403, "exceeds_own_permissions");
            assert_eq!(missing(&refused), [format!("{GROUP} R")], "{change}");
            assert!(!refused.text().contains("tulip"), "{change}");
        }
        let batch = json!({ "operations":
            [{ "method": "PUT", "path": "/configuration/email", "body": body }] });
        let results = greta.post("/batch", batch).is(200).json();
        assert_eq!(results["results"][0]["problem"]["code"], "exceeds_own_permissions", "{change}");
    }
    let sms = json!({ "identifier": "main", "account_sid": "AC2" });
    greta.put("/configuration/sms", sms).refused(403, "exceeds_own_permissions");
    assert_eq!(world.login("olga").get("/configuration/email/main").json()["host"], "127.0.0.1");
    greta
        .put("/configuration/email", json!({ "identifier": "x1", "host": "h" }))
        .refused(404, "configuration_not_found");
}

#[test]
fn a_gateway_is_moved_with_a_new_secret_or_by_who_sees_the_old_one() {
    let world = World::guarded();
    configured(&world);
    let greta = world.user_with("greta", &[may(GROUP, "C")]);
    let put = |who: &As<'_>, change: Value| {
        let mut body = change;
        body["identifier"] = json!("main");
        who.put("/configuration/email", body).is(202);
    };
    put(&greta, json!({ "host": "127.0.0.1", "port": "25", "username": "other@example.org" }));
    put(&greta, json!({ "host": "mail.example.org", "app_password": "a new one" }));
    let sms = json!({ "identifier": "main", "account_sid": "AC1", "sender_number": "B" });
    greta.put("/configuration/sms", sms).is(202);
    let sms = json!({ "identifier": "main", "account_sid": "AC2", "auth_token": "new" });
    greta.put("/configuration/sms", sms).is(202);
    put(&world.user_with("rita", &[may(GROUP, "RC")]), json!({ "host": "mail2.example.org" }));
    put(&greta, json!({ "smtp_auth": false, "app_password": "" }));
    put(&greta, json!({ "host": "mail3.example.org" }));
}

#[test]
fn a_dry_run_of_a_batch_shows_no_secret() {
    let world = World::start();
    world.post("/configuration/email", email(25).to_string()).is(201);
    let dry = |atomic: bool| {
        let get = |path: &str| json!({ "method": "GET", "path": path });
        let operations =
            [get("/configuration/email"), get("/notification/v1/configuration/email/main"), get("/offices")];
        let body = json!({ "atomic": atomic, "operations": operations });
        world.send(world.request("POST", "/batch").header("dry-run", "true").body(body.to_string()))
    };
    let seen = dry(false).is(200);
    assert!(!seen.text().contains("tulip"), "{}", seen.text());
    let results = seen.json()["results"].clone();
    let status = |at: usize| results[at]["status"].as_u64().unwrap();
    assert_eq!([status(0), status(1), status(2)], [200, 400, 200]);
    assert_eq!(results[1]["problem"]["code"], "no_dry_run");
    dry(true).refused(400, "no_dry_run");
}

fn test(world: &World) -> Seen {
    world.post("/configuration/email/main/test", r#"{"to":"efua@example.org"}"#)
}

#[test]
fn addresses_of_this_machine_are_reached_only_if_a_setting_names_them() {
    let server = MailServer::start("plain", PASSWORD, None, &[]);
    for (networks, host, sent) in [
        (Some(vec![]), "127.0.0.1", false),
        (Some(vec![]), "localhost", false),
        (Some(vec!["127.0.0.2".parse().unwrap()]), "127.0.0.1", false),
        (Some(vec!["127.0.0.0/8".parse().unwrap()]), "localhost", true),
        (None, "127.0.0.1", true),
    ] {
        let world = World::with(|config| config.gateway_private_addresses = networks.clone());
        let mut configuration = email(server.port);
        configuration["host"] = json!(host);
        world.post("/configuration/email", configuration.to_string()).is(201);
        let seen = test(&world);
        if sent {
            seen.is(200);
            continue;
        }
        let problem = seen.refused(502, "gateway_failed").json();
        assert_eq!((&problem["stage"], &problem["gatewayCode"]), (&json!("connect"), &Value::Null));
        assert!(problem["detail"].as_str().unwrap().contains("gateway_private_addresses"), "{problem}");
    }
}

#[test]
fn only_a_reply_of_a_mail_server_is_quoted() {
    let world = World::start();
    let port = scripted(&[Say("+PONG role:master secret_of_another_service\r\n"), Hear]);
    let mut configuration = email(port);
    configuration["smtp_auth"] = json!(false);
    world.post("/configuration/email", configuration.to_string()).is(201);
    let seen = test(&world).refused(502, "gateway_failed");
    assert!(!seen.text().contains("secret_of") && !seen.text().contains("PONG"), "{}", seen.text());
}
