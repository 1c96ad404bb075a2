//! The institution on which the command line is tried.

use crate::cli::pictures::{CARD, FACE};
use crate::support::gateways;
use crate::support::guarded::PASSWORD;
use crate::support::images::{form, part};
use crate::support::run::run;
use crate::support::world::World;
use serde_json::{Value, json};

/// The institution of `mfa quickstart`, with a user, a role, a group, an application, gateways, and the files
/// that examples name.
pub fn sample(world: &World) {
    // What the program signs is about the present by the clock of this machine.
    world.to_present();
    let token = world.as_olga();
    let bearer = |request: reqwest::RequestBuilder| match &token {
        Some(token) => request.bearer_auth(token),
        None => request,
    };
    let send = |method: &str, path: &str, body: &str| {
        world.send(bearer(world.request(method, path).body(body.to_owned())))
    };
    if token.is_some() {
        log_in(world, "olga");
    }
    let listen = world.url().replace("http://", "");
    run(world.mfa(&["quickstart", "--listen", &listen])).ok();
    for kind in gateways::KINDS {
        send("POST", kind.path, kind.new).is(201);
    }
    let webhook = r#"{"identifier":"sync","url":"https://sync.example.org/mfa","state":"PAUSED"}"#;
    send("POST", "/events/subscriptions", webhook).is(200);
    std::fs::write(world.dir.path().join("word.txt"), format!("{PASSWORD}\n")).unwrap();
    std::fs::write(world.dir.path().join("face.png"), FACE).unwrap();
    std::fs::write(world.dir.path().join("card.jpg"), CARD).unwrap();
    let image = |path: &str, name: &str, kind: &str, bytes: &[u8]| {
        let form = form("b", &[part(name, Some(kind), bytes)]);
        let request = bearer(world.request("POST", path));
        let request = request.header("content-type", "multipart/form-data; boundary=b");
        world.send(request.body(form)).is(202);
    };
    image("/customers/c-001/portrait", "portrait", "image/png", FACE);
    let scans = "/customers/c-001/identifications/GHA-001122334-5/scans";
    image(&format!("{scans}?scanIdentifier=front&description=Front"), "image", "image/jpeg", CARD);
    let gateway = "identifier: night\naccount_sid: AC0123\nsender_number: Bank\n";
    std::fs::write(world.dir.path().join("gateway.yaml"), gateway).unwrap();
    let permission =
        |group: &str| json!({ "permittableEndpointGroupIdentifier": group, "allowedOperations": ["READ"] });
    let post = |path: &str, body: Value| {
        send("POST", path, &body.to_string()).is(202);
    };
    match &token {
        Some(_) => drop(world.user("esi", "clerk")),
        None => {
            post("/users", json!({ "identifier": "esi", "role": "clerk", "password": PASSWORD }));
            // A session of hers, for the commands about sessions.
            world.try_login("esi", PASSWORD).is(200);
        }
    }
    post("/roles", json!({ "identifier": "counter", "permissions": [permission("identity__v1__users")] }));
    post("/permittablegroups", json!({ "identifier": "see-customers", "permittables": [] }));
    let key = r#"{"publicKeyMod":123456789,"publicKeyExp":65537}"#;
    send("PUT", "/applications/crm-v1/signatures/2031-05-06T10_11_12", key).is(202);
    post("/applications/crm-v1/permissions", permission("identity__v1__users"));
    let set =
        json!({ "identifier": "doorway", "permittableEndpointGroupIdentifiers": ["identity__v1__users"] });
    post("/applications/crm-v1/callendpointset", set);
    let yesterday = world.clock.now().day().previous();
    send("POST", &format!("/offices/head-office/days/{yesterday}"), r#"{"leaveOpen":true}"#).is(202);
    let confirmed = ["teller", "transactions", "list", "desk-2", "--status", "confirmed", "-o", "id"];
    let confirmed = run(world.mfa(&confirmed)).ok();
    let transaction = confirmed.lines().next().unwrap();
    run(world.mfa(&["teller", "receipt", "--teller", "desk-2", transaction])).ok();
}

/// Leaves a user logged in at the daemon of a world.
pub fn log_in(world: &World, user: &str) {
    let file = world.dir.path().join("password.txt");
    std::fs::write(&file, PASSWORD).unwrap();
    run(world.mfa(&["login", user, "--password-file", file.to_str().unwrap()])).ok();
}
