//! `Dry-Run: true`: the whole operation, and nothing of it stays.

use crate::api::audit::Witness;
use crate::support::counter::{Counter, PIN, plain_product, product, teller};
use crate::support::gateways;
use crate::support::images::{form, part};
use crate::support::stored::in_folder;
use crate::support::world::{Seen, World};
use mfa_shared::api::rows;
use reqwest::RequestBuilder;
use serde_json::{Value, json};
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

fn dry(world: &World, method: &str, path: &str, body: impl Into<String>) -> Seen {
    let request =
        world.request(method, path).header("dry-run", "true").header("content-type", "application/json");
    world.send(request.body(body.into()))
}

/// Every file of the store, with its bytes: the journal and the objects.
fn files(world: &World) -> Vec<(PathBuf, Vec<u8>)> {
    fn walk(folder: &Path, found: &mut Vec<(PathBuf, Vec<u8>)>) {
        for entry in std::fs::read_dir(folder).into_iter().flatten() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                walk(&path, found)
            } else {
                found.push((path.clone(), std::fs::read(path).unwrap()))
            }
        }
    }
    let mut found = Vec::new();
    for part in ["data/journal", "data/objects"] {
        walk(&world.dir.path().join(part), &mut found);
    }
    found.sort();
    found
}

/// Every request first dry and then in earnest: both are answered alike. The first leaves no byte and no
/// record of the audit trail, the second exactly the right ones.
struct Twice {
    world: World,
    count: RefCell<usize>,
    seen: RefCell<BTreeSet<String>>,
    trail: Witness,
}

impl Twice {
    /// The files once the lists of the trail are written, which happens beside serving, a moment after a change.
    fn files_at_rest(&self) -> Vec<(PathBuf, Vec<u8>)> {
        let mut before = files(&self.world);
        loop {
            std::thread::sleep(Duration::from_millis(400));
            let now = files(&self.world);
            if now == before {
                return now;
            }
            before = now;
        }
    }

    /// The answer to a dry run that leaves no byte. On a busy machine the lists of the trail may be written
    /// late, in that very moment; what a dry run itself leaves, it leaves each time.
    fn try_out(&self, request: &dyn Fn() -> RequestBuilder) -> Option<Seen> {
        (0..5).find_map(|_| {
            let before = self.files_at_rest();
            let tried = self.world.send(request().header("dry-run", "true"));
            (files(&self.world) == before).then_some(tried)
        })
    }

    #[track_caller]
    fn send(&self, method: &str, path: &str, kind: &str, body: &[u8]) -> Seen {
        *self.count.borrow_mut() += 1;
        let key = self.count.borrow().to_string();
        let request = || {
            let request = self.world.request(method, path).header("idempotency-key", &key);
            request.header("content-type", kind).body(body.to_vec())
        };
        self.trail.look(&self.world);
        let tried = self.try_out(&request).unwrap_or_else(|| panic!("{method} {path} left something"));
        assert!(tried.status < 300, "{method} {path}: {}", tried.text());
        assert_eq!(tried.header("dry-run"), "true", "{method} {path}");
        // Had the key been remembered, this would be a replay.
        let done = self.world.send(request());
        assert_eq!(
            (done.status, done.header("idempotency-replayed").as_str()),
            (tried.status, ""),
            "{method} {path}: {}",
            done.text()
        );
        assert_eq!(done.header("dry-run"), "");
        let segments: Vec<_> = path.split('?').next().unwrap().split('/').skip(1).collect();
        let row = rows().find(|row| {
            let names: Vec<_> = row.path.split('/').skip(1).collect();
            row.method.as_str() == method
                && names.len() == segments.len()
                && names.iter().zip(&segments).all(|(name, segment)| name.starts_with('{') || name == segment)
        });
        let row = row.unwrap();
        self.seen.borrow_mut().insert(row.name.to_owned());
        self.trail.hear(&self.world, row, path, (&tried, &done));
        done
    }

    #[track_caller]
    fn json(&self, method: &str, path: &str, body: Value) -> Seen {
        self.send(method, path, "application/json", body.to_string().as_bytes())
    }

    #[track_caller]
    fn none(&self, method: &str, path: &str) -> Seen {
        self.send(method, path, "application/json", b"")
    }

    fn image(&self, path: &str, name: &str) {
        let body = form("b", &[part(name, Some("image/png"), b"a picture")]);
        self.send("POST", path, "multipart/form-data; boundary=b", &body);
    }
}

fn organisation(twice: &Twice) {
    let address = json!({ "street": "1 Quay", "city": "Tema", "countryCode": "GH", "country": "Ghana" });
    let contact = json!([{ "type": "MOBILE", "group": "PRIVATE", "value": "1" }]);
    twice.json("POST", "/offices", json!({ "identifier": "accra", "name": "Accra" }));
    twice.json("PUT", "/offices/accra", json!({ "identifier": "accra", "name": "Accra 2" }));
    twice.json("POST", "/offices/accra", json!({ "identifier": "osu", "name": "Osu" }));
    twice.json("PUT", "/offices/osu/address", address.clone());
    twice.none("DELETE", "/offices/osu/address");
    twice.json("PUT", "/offices/osu/references", json!({ "type": "x", "state": "INACTIVE" }));
    twice.none("DELETE", "/offices/osu");
    twice.json("POST", "/employees", json!({ "identifier": "efua" }));
    twice.json("PUT", "/employees/efua", json!({ "identifier": "efua", "surname": "Addo" }));
    twice.json("PUT", "/employees/efua/contacts", contact.clone());
    twice.none("DELETE", "/employees/efua/contacts");
    twice.none("DELETE", "/employees/efua");
    twice.json("POST", "/customers", json!({ "identifier": "c-1" }));
    twice.json("PUT", "/customers/c-1", json!({ "identifier": "c-1", "surname": "Addo" }));
    twice.json("PUT", "/customers/c-1/address", address);
    twice.json("PUT", "/customers/c-1/contact", contact);
    twice.json("POST", "/customers/c-1/commands", json!({ "action": "ACTIVATE" }));
    let card = |kind: &str| {
        json!({ "type": kind, "number": "A-1",
        "expirationDate": { "year": 2032, "month": 1, "day": 1 } })
    };
    twice.json("POST", "/customers/c-1/identifications", card("National"));
    twice.json("PUT", "/customers/c-1/identifications/A-1", card("Passport"));
    twice.image("/customers/c-1/identifications/A-1/scans?scanIdentifier=s1&description=x", "image");
    twice.none("DELETE", "/customers/c-1/identifications/A-1/scans/s1");
    twice.none("DELETE", "/customers/c-1/identifications/A-1");
    twice.image("/customers/c-1/portrait", "portrait");
    twice.none("DELETE", "/customers/c-1/portrait");
}

fn identity(twice: &Twice) {
    let permission =
        json!({ "permittableEndpointGroupIdentifier": "identity__v1__users", "allowedOperations": ["READ"] });
    let role = json!({ "identifier": "desk", "permissions": [permission] });
    twice.json("POST", "/roles", role.clone());
    twice.json("PUT", "/roles/desk", role);
    twice.none("DELETE", "/roles/desk");
    let group = json!({ "identifier": "g1", "permittables": [] });
    twice.json("POST", "/permittablegroups", group.clone());
    twice.json("PUT", "/permittablegroups/g1", group);
    twice.none("DELETE", "/permittablegroups/g1");
    twice.json(
        "POST",
        "/users",
        json!({ "identifier": "esi", "role": "clerk", "password": "blue kettle 7" }),
    );
    twice.json("PUT", "/users/esi/roleIdentifier", json!({ "identifier": "teller" }));
    twice.json("PUT", "/users/esi/password", json!({ "password": "green kettle 7" }));
    twice.world.try_login("esi", "green kettle 7").is(200);
    let sessions = twice.world.get("/users/esi/sessions").is(200).json();
    twice.none("DELETE", &format!("/users/esi/sessions/{}", sessions[0]["identifier"].as_str().unwrap()));
    twice.none("DELETE", "/users/esi/sessions");
    let key = json!({ "publicKeyMod": 123, "publicKeyExp": 3 });
    twice.json("PUT", "/applications/crm-v1/signatures/2031-05-06T10_11_12", key);
    twice.json("POST", "/applications/crm-v1/permissions", permission.clone());
    twice.json("PUT", "/applications/crm-v1/permissions/identity__v1__users", permission);
    twice.none("DELETE", "/applications/crm-v1/permissions/identity__v1__users");
    let set = json!({ "identifier": "door", "permittableEndpointGroupIdentifiers": [] });
    twice.json("POST", "/applications/crm-v1/callendpointset", set.clone());
    twice.json("PUT", "/applications/crm-v1/callendpointset/door", set);
    twice.none("DELETE", "/applications/crm-v1/callendpointset/door");
    twice.none("DELETE", "/applications/crm-v1/signatures/2031-05-06T10_11_12");
    twice.none("DELETE", "/applications/crm-v1");
    twice.none("DELETE", "/users/esi");
}

fn deposits(twice: &Twice) {
    twice.json(
        "POST",
        "/actions",
        json!({ "identifier": "Extra", "name": "Extra", "transactionType": "cdpt" }),
    );
    twice.json("POST", "/definitions", product());
    twice.json("PUT", "/definitions/saver", json!({ "identifier": "saver", "name": "Saver 2" }));
    twice.json("POST", "/definitions/saver/commands", json!({ "action": "DEACTIVATE" }));
    twice.none("DELETE", "/definitions/saver");
    twice.world.post("/definitions", product().to_string()).is(202);
}

fn tellers(twice: &Twice) {
    twice.world.post("/offices", r#"{"identifier":"accra","name":"Accra"}"#).is(202);
    twice.world.post("/customers", r#"{"identifier":"c-1"}"#).is(202);
    let at = "/offices/accra/teller";
    twice.json("POST", at, teller("T1"));
    let mut change = teller("T1");
    change["cashdrawLimit"] = json!(2000);
    twice.json("PUT", "/offices/accra/teller/T1", change);
    twice.json("POST", at, teller("T2"));
    twice.none("DELETE", "/offices/accra/teller/T2");
    let open = json!({ "action": "OPEN", "adjustment": "DEBIT", "amount": 500, "assignedEmployeeIdentifier": "emp1" });
    twice.json("POST", "/offices/accra/teller/T1/commands", open);
    twice.json("POST", "/teller/T1/drawer", json!({ "employeeIdentifier": "emp1", "password": PIN }));
    let account = json!({ "customerIdentifier": "c-1", "productIdentifier": "saver" });
    // The number that a dry run was given is not used up.
    let made = twice.json("POST", "/instances", account).header("location");
    assert!(made.ends_with(".00001"), "{made}");
    let account = made.trim_start_matches("/instances/").to_owned();
    twice.json("PUT", &made, json!({ "accountIdentifier": account, "beneficiaries": ["Kojo"] }));
    let request = Counter::request("ACCO", &account, "200");
    let quote = twice.json("POST", "/teller/T1/transactions", request).json();
    let transaction = quote["tellerTransactionIdentifier"].as_str().unwrap();
    twice.none("POST", &format!("/teller/T1/transactions/{transaction}?command=CONFIRM&charges=excluded"));
    twice.none("POST", &format!("/teller/T1/transactions/{transaction}/receipt"));
    twice.none("POST", &format!("/teller/T1/transactions/{transaction}/receipt"));
    twice.none("POST", &format!("{made}?command=TRANSACTION"));
    twice.none("POST", "/teller/T1?command=PAUSE");
    twice.json("POST", "/offices/accra/teller/T1/denominations", json!({ "countedTotal": 705 }));
    twice.json("POST", "/offices/accra/days/2031-05-06", json!({ "leaveOpen": true }));
}

fn interest(twice: &Twice) {
    twice.json("POST", "/teller/T1/drawer", json!({ "employeeIdentifier": "emp1", "password": PIN }));
    for (identifier, kind) in [("gain", "SAVINGS"), ("shares", "SHARE")] {
        let mut product = plain_product(identifier, "USD", 2);
        (product["type"], product["interest"]) = (json!(kind), json!(36.5));
        twice.world.post("/definitions", product.to_string()).is(202);
        let command = format!("/definitions/{identifier}/commands");
        twice.world.post(&command, r#"{"action":"ACTIVATE"}"#).is(202);
    }
    let account = json!({ "customerIdentifier": "c-2", "productIdentifier": "gain" });
    let made = twice.world.post("/instances", account.to_string()).is(202).header("location");
    let mut request = Counter::request("ACCO", made.trim_start_matches("/instances/"), "1000");
    request["productIdentifier"] = json!("gain");
    let quote = twice.world.post("/teller/T1/transactions", request.to_string()).is(200).json();
    let transaction = quote["tellerTransactionIdentifier"].as_str().unwrap();
    twice.world.post(&format!("/teller/T1/transactions/{transaction}?command=CONFIRM"), "").is(202);
    twice.world.clock.advance(86_400);
    twice.json("POST", "/interest/runs", json!({}));
    twice.json("POST", &format!("{made}/interest"), json!({ "action": "PAY" }));
    let due = json!({ "year": 2031, "month": 5, "day": 6 });
    twice.json("POST", "/definitions/shares/dividends", json!({ "dueDate": due, "dividendRate": 5 }));
}

fn messages(twice: &Twice) {
    for kind in gateways::KINDS {
        twice.send("POST", kind.path, "application/json", kind.new.as_bytes());
        twice.send("PUT", kind.path, "application/json", kind.change.as_bytes());
        twice.none("DELETE", &format!("{}/main", kind.path));
    }
    let webhook = json!({ "identifier": "sync", "url": "https://example.org/", "state": "PAUSED" });
    twice.json("POST", "/events/subscriptions", webhook);
    twice.json("PUT", "/events/subscriptions/sync", json!({ "kinds": ["customer"] }));
    twice.json("PUT", "/events/subscriptions/sync/position", json!({ "position": 1 }));
    twice.none("DELETE", "/events/subscriptions/sync");
    let one = json!({ "method": "POST", "path": "/customers", "body": { "identifier": "c-9" } });
    twice.json("POST", "/batch", json!({ "operations": [one] }));
}

/// Rows that other tests look at.
const ELSEWHERE: &[&str] = &[
    "CreateToken",
    "DeleteCurrentToken",
    "DeleteTokens",
    "SetConsent",
    "BeginSecondFactor",
    "EnableSecondFactor",
    "DeleteSecondFactor",
];

#[test]
fn a_dry_run_of_every_change_leaves_no_byte_and_the_change_a_record() {
    // Nearly all the time goes into waiting for files at rest, so each group has a store of its own.
    let groups: [&[fn(&Twice)]; 4] =
        [&[organisation], &[identity], &[deposits, tellers, interest], &[messages]];
    let walk = |parts: &[fn(&Twice)]| {
        let world = World::with(in_folder);
        let twice =
            Twice { world, count: RefCell::default(), seen: RefCell::default(), trail: Witness::default() };
        parts.iter().for_each(|part| part(&twice));
        twice.seen.into_inner()
    };
    let seen: BTreeSet<_> = std::thread::scope(|scope| {
        let walks = groups.map(|parts| scope.spawn(move || walk(parts)));
        walks.into_iter().flat_map(|walked| walked.join().unwrap()).collect()
    });
    // A test message leaves the daemon; `a_dry_run_sends_no_message` looks at that.
    let tried = rows().filter(|row| !row.method.reads() && !row.path.ends_with("/test"));
    for row in tried.filter(|row| !ELSEWHERE.contains(&row.name)) {
        assert!(
            seen.contains(row.name),
            "{} was not tried: add a request to the function above that walks through its nouns",
            row.name
        );
    }
}

#[test]
fn a_dry_run_is_refused_for_the_same_reasons() {
    let world = World::start();
    world.post("/customers", r#"{"identifier":"c-1"}"#).is(202);
    dry(&world, "POST", "/customers", "{").refused(400, "malformed_body");
    dry(&world, "POST", "/customers", r#"{"identifier":" "}"#).fields(&["/identifier blank"]);
    dry(&world, "POST", "/customers", r#"{"identifier":"c-1"}"#).refused(409, "identifier_taken");
    dry(&world, "PUT", "/customers/none", r#"{"identifier":"none"}"#).refused(404, "customer_not_found");
    let guarded = World::guarded();
    dry(&guarded, "POST", "/customers", "{}").refused(401, "unauthenticated");
    let nobody = guarded.user("nobody", "no-such-role");
    let request = guarded.request("POST", "/customers").bearer_auth(&nobody.token).header("dry-run", "true");
    guarded.send(request.body("{}")).refused(403, "forbidden");
}

#[test]
fn what_might_be_meant_as_a_dry_run_is_not_carried_out() {
    let world = World::start();
    for value in ["True", "1", "yes", "", "true, true"] {
        let request = world.request("POST", "/customers").header("dry-run", value);
        world.send(request.body(r#"{"identifier":"c-1"}"#)).refused(400, "invalid_parameter");
    }
    let twice = world.request("POST", "/customers").header("dry-run", "true").header("dry-run", "true");
    world.send(twice.body(r#"{"identifier":"c-1"}"#)).refused(400, "invalid_parameter");
    world.get("/customers/c-1").refused(404, "customer_not_found");
    let earnest =
        world.request("POST", "/customers").header("dry-run", "false").body(r#"{"identifier":"c-1"}"#);
    assert_eq!(world.send(earnest).is(202).header("dry-run"), "");
}

#[test]
fn there_is_no_dry_run_of_a_login() {
    let world = World::guarded();
    let login = r#"{"grant_type":"password","username":"admin","password":"blue kettle 7"}"#;
    dry(&world, "POST", "/token", login).refused(400, "no_dry_run");
    let admin = world.login("admin");
    let request =
        world.request("DELETE", "/token/_current").bearer_auth(&admin.token).header("dry-run", "true");
    world.send(request).is(200);
    assert!(admin.lives());
}

#[test]
fn a_dry_run_counts_a_wrong_drawer_password_all_the_same() {
    let counter = Counter::start();
    counter.open("T1", "emp1", "500");
    let wrong = json!({ "employeeIdentifier": "emp1", "password": "0000" }).to_string();
    for _ in 0..5 {
        dry(&counter.world, "POST", "/teller/T1/drawer", wrong.clone()).refused(403, "wrong_drawer_password");
    }
    counter.try_unlock("T1", "emp1", PIN).refused(429, "too_many_attempts");
}

#[test]
fn a_dry_run_sends_no_message() {
    let world = World::start();
    let port = crate::support::servers::closed_port().to_string();
    let email =
        json!({ "identifier": "main", "host": "localhost", "port": port, "username": "bank@example.org" });
    world.post("/configuration/email", email.to_string()).is(201);
    let message = r#"{"to":"efua@example.org","text":"Dear customer"}"#;
    let path = "/configuration/email/main/test";
    assert_eq!(dry(&world, "POST", path, message).is(204).header("dry-run"), "true");
    dry(&world, "POST", "/configuration/email/none/test", message).refused(404, "configuration_not_found");
    world.post(path, message).refused(502, "gateway_failed");
}

#[test]
fn a_dry_run_of_a_batch_returns_the_result_of_each_operation() {
    let world = World::start();
    let customer = |identifier: &str| json!({ "method": "POST", "path": "/customers", "body": { "identifier": identifier } });
    let read = json!({ "method": "GET", "path": "/customers/c-1" });
    let batch = json!({ "operations": [customer("c-1"), customer("c-1"), read] });
    let seen = dry(&world, "POST", "/batch", batch.to_string()).is(200).json();
    let statuses: Vec<_> = (0..3).map(|i| seen["results"][i]["status"].clone()).collect();
    assert_eq!(statuses, [202, 409, 200]);
    world.get("/customers/c-1").refused(404, "customer_not_found");
}

#[test]
fn a_dry_run_of_what_was_done_already_says_that_it_was_one() {
    let world = World::start();
    let customer = |identifier: &str| json!({ "identifier": identifier });
    let operation = json!({ "method": "POST", "path": "/customers", "body": customer("c-2") });
    for (path, body) in [
        ("/customers", customer("c-1")),
        ("/batch", json!({ "operations": [operation] })),
        ("/interest/runs", json!({})),
    ] {
        let send = |marks: &[&str]| {
            let request = world.request("POST", path).header("idempotency-key", path.replace('/', "k"));
            let request = request.header("content-type", "application/json").body(body.to_string());
            world.send(marks.iter().fold(request, |request, mark| request.header(*mark, "true")))
        };
        let first = send(&[]);
        assert!(first.status < 300 && first.header("dry-run").is_empty(), "{path}");
        let again = send(&["dry-run", "existing-only"]);
        for header in ["idempotency-replayed", "dry-run", "existing-only"] {
            assert_eq!(
                (again.status, again.header(header).as_str()),
                (first.status, "true"),
                "{path} {header}"
            );
        }
    }
}
