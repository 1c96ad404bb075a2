//! What is kept of requests and failed logins: nothing from which a secret could be guessed (`identity.md`
//! section 13, keyed repetition).

use crate::support::counter::{Counter, PIN};
use crate::support::guarded::PASSWORD;
use crate::support::stored::{at_rest, forms, holds, open};
use crate::support::world::{Seen, World};
use mfa_daemon::rotate_key;
use mfa_daemon::store::engine::{Range, Space};
use mfa_daemon::store::record::{Record, key};
use mfa_daemon::store::records::{IDEMPOTENCY, SECRETS, StoreSecret, StoredAttempts};
use mfa_shared::time::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

fn keyed(world: &World, method: &str, path: &str, key: &str, body: &Value) -> Seen {
    world.send(world.request(method, path).header("idempotency-key", key).body(body.to_string()))
}

fn replayed(seen: &Seen) -> bool {
    seen.header("idempotency-replayed") == "true"
}

/// Every value of a space of the stopped store.
fn values(world: &mut World, space: Space) -> Vec<Value> {
    world.stop();
    let store = open(world.config(), world.clock.clone());
    world.block_on(async move {
        let read = move |tx: &mut mfa_daemon::store::Tx<'_>| tx.scan(space, &Range::prefix(&[]), false, 1000);
        let pairs = store.read(true, read).await.unwrap();
        store.close().await;
        pairs.iter().map(|(_, value)| serde_json::from_slice(value).unwrap()).collect()
    })
}

#[test]
fn a_repetition_with_another_secret_is_another_request() {
    let world = World::start();
    let user =
        |role: &str, password: &str| json!({ "identifier": "anna", "role": role, "password": password });
    let reused = |seen: Seen| {
        seen.refused(422, "idempotency_key_reused");
    };
    let post = |body: &Value| keyed(&world, "POST", "/users", "k1", body);
    assert!(!replayed(&post(&user("clerk", "first password")).is(202)));
    assert!(replayed(&post(&user("clerk", "first password")).is(202)));
    reused(post(&user("clerk", "another password")));
    reused(post(&user("teller", "first password")));
    let email = json!({ "identifier": "main", "host": "h", "port": "25" });
    world.post("/configuration/email", email.to_string()).is(201);
    let change = |secret: Value| json!({ "identifier": "main", "port": "26", "app_password": secret });
    let put = |body: Value| keyed(&world, "PUT", "/configuration/sms", "k2", &body);
    put(change(json!("tulip"))).is(202);
    assert!(replayed(&put(change(json!("tulip"))).is(202)));
    for other in [json!("rose"), Value::Null, json!("")] {
        reused(put(change(other)));
    }
    let shown = world.get("/configuration/email/main").is(200).json();
    assert_eq!(shown["app_password"], "tulip");
}

#[test]
fn a_batch_with_another_secret_is_another_request() {
    let world = World::start();
    let batch = |password: &str| {
        let user = json!({ "identifier": "anna", "role": "clerk", "password": password });
        json!({ "operations": [{ "method": "post", "path": "/identity/v1/users/?a=b", "body": user }] })
    };
    let post = |password: &str| keyed(&world, "POST", "/batch", "k1", &batch(password));
    assert!(!replayed(&post("first password").is(200)));
    assert!(replayed(&post("first password").is(200)));
    post("another password").refused(422, "idempotency_key_reused");
}

#[test]
fn refusals_remembered_with_batches_are_bounded_and_repetitions_go_on() {
    // A second has room for a byte.
    let world = World::with(|config| config.remembered_bytes = 86_400);
    let batch = |name: &str, changes: usize, refusals: usize| {
        let numbers = (0..changes).chain(std::iter::repeat_n(0, refusals));
        let customer = |number| {
            json!({ "method": "POST", "path": "/customers",
            "body": { "identifier": format!("{name}-{number}") } })
        };
        json!({ "operations": numbers.map(customer).collect::<Vec<_>>() }).to_string()
    };
    // By the first daemon: each counts by itself.
    let send = |key: Option<&str>, body: &str| {
        let request = world.request_at(0, "POST", "/batch").header("content-type", "application/json");
        let request = key.into_iter().fold(request, |request, key| request.header("idempotency-key", key));
        world.send(request.body(body.to_owned()))
    };
    // What is changed has room by itself, with some refusals beside it.
    for number in 0..4 {
        let name = format!("import-{number}");
        send(Some(&name), &batch(&name, 60, 30)).is(200);
    }
    let first = send(Some("k0"), &batch("k0", 1, 60)).is(200);
    let mut refused = None;
    for number in 1..9 {
        let name = format!("k{number}");
        let seen = send(Some(&name), &batch(&name, 1, 60));
        if seen.status != 200 {
            refused = Some((name, seen));
            break;
        }
    }
    let (name, seen) = refused.unwrap();
    let wait: i64 = seen.header("retry-after").parse().unwrap();
    seen.refused(429, "too_many_requests");
    world.get(&format!("/customers/{name}-0")).refused(404, "customer_not_found");
    let again = send(Some("k0"), &batch("k0", 1, 60)).is(200);
    assert!(replayed(&again) && again.body == first.body);
    let tried = world.request_at(0, "POST", "/batch").header("idempotency-key", &name);
    world.send(tried.header("dry-run", "true").body(batch(&name, 1, 60))).is(200);
    send(None, &batch("k-without", 1, 60)).is(200);
    world.clock.advance(wait);
    assert!(!replayed(&send(Some(&name), &batch(&name, 1, 60)).is(200)));
}

#[test]
fn a_known_key_opens_no_drawer_for_a_wrong_password() {
    let counter = Counter::start();
    counter.open("T1", "emp1", "100");
    let unlock = |password: &str| {
        let body = json!({ "employeeIdentifier": "emp1", "password": password });
        keyed(&counter.world, "POST", "/teller/T1/drawer", "k1", &body)
    };
    unlock(PIN).is(200);
    unlock("0000").refused(422, "idempotency_key_reused");
}

#[test]
fn what_is_kept_of_a_password_is_a_hash_under_the_key_file() {
    let mut world = World::start();
    let user = json!({ "identifier": "anna", "role": "clerk", "password": "first password" });
    world.post("/users", user.to_string()).is(202);
    let change = json!({ "password": "blue kettle 7" });
    keyed(&world, "PUT", "/users/anna/password", "k1", &change).is(202);
    let kept = values(&mut world, IDEMPOTENCY);
    let hash = kept[0]["request"].as_str().unwrap();
    let (name, hash) = hash.split_once(':').unwrap();
    let keys = std::fs::read_to_string(&world.config().secret_key_file).unwrap();
    assert!(keys.contains(name), "the key is the one of the key file");
    assert_eq!(values(&mut world, SECRETS), [Value::Null; 0], "no key is kept in the store");
    // The same request under another key file has another hash.
    world.stop();
    world.block_on(rotate_key(world.config())).unwrap();
    world.restart();
    keyed(&world, "PUT", "/users/anna/password", "k2", &change).is(202);
    let kept = values(&mut world, IDEMPOTENCY);
    assert!(!kept[1]["request"].as_str().unwrap().ends_with(hash), "{kept:?}");
}

#[test]
fn repetitions_and_locks_are_known_after_a_change_of_key() {
    let mut world = World::guarded();
    let admin = world.login("admin").token;
    let create = |world: &World| {
        let body = json!({ "identifier": "anna", "role": "clerk", "password": "first password" });
        let request = world.request("POST", "/users").bearer_auth(&admin).header("idempotency-key", "k1");
        world.send(request.body(body.to_string())).is(202)
    };
    assert!(!replayed(&create(&world)));
    for _ in 0..5 {
        world.try_login("olga", "a wrong password").refused(401, "login_failed");
    }
    world.stop();
    world.block_on(rotate_key(world.config())).unwrap();
    world.restart();
    assert!(replayed(&create(&world)));
    world.try_login("olga", PASSWORD).refused(429, "too_many_attempts");
    world.clock.advance(61);
    world.try_login("olga", PASSWORD).is(200);
    // What is left is the count of the address, which a login from there does not end.
    let left = values(&mut world, StoredAttempts::SPACE);
    assert_eq!(left.len(), 1, "{left:?}");
    assert_eq!((left[0]["failures"].as_array().unwrap().len(), &left[0]["locks"]), (5, &json!(0)));
}

#[test]
fn a_password_typed_as_a_user_name_is_not_in_the_store() {
    const TYPED: &str = "my-blue.kettle_77";
    let mut world = World::guarded();
    for name in [TYPED, "kettle & co 78 !"] {
        for _ in 0..5 {
            world.try_login(name, "x").refused(401, "login_failed");
        }
    }
    world.restart();
    world.try_login(TYPED, "x").refused(429, "too_many_attempts");
    for (name, bytes) in world.block_on(at_rest(world.config())) {
        for form in [forms(TYPED), forms("kettle & co 78 !")].concat() {
            assert!(!holds(&bytes, &form), "{name} shows {}", String::from_utf8_lossy(&form));
        }
    }
}

/// A remembered request as earlier programs kept it.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Old {
    caller: String,
    key: String,
    request: String,
    at: Timestamp,
    status: u16,
    content_type: Option<String>,
    headers: Vec<(String, String)>,
    body: String,
}

impl Record for Old {
    const SPACE: Space = IDEMPOTENCY;
    fn key(&self) -> Vec<u8> {
        key(&[&self.caller, &self.key])
    }
    fn index(&self) -> Vec<(Space, Vec<u8>)> {
        Vec::new()
    }
}

#[test]
fn what_an_earlier_program_kept_is_removed_at_the_start() {
    let mut world = World::guarded();
    world.stop();
    let store = open(world.config(), world.clock.clone());
    world.block_on(async move {
        let plant = |tx: &mut mfa_daemon::store::Tx<'_>| {
            let now = tx.now();
            let name = StoreSecret::IDEMPOTENCY.to_owned();
            tx.put(&StoreSecret { name, secret: "5eedfeed".repeat(8) })?;
            for number in 0..1500 {
                tx.put(&Old {
                    caller: "admin".to_owned(),
                    key: format!("k{number}"),
                    request: "ab".repeat(32),
                    at: now,
                    status: 202,
                    content_type: None,
                    headers: Vec::new(),
                    body: String::new(),
                })?;
            }
            for name in ["olga", &format!("~{}", "cd".repeat(32))] {
                let (failures, locks) = (Vec::new(), 1);
                let locked_until = Some(now.plus_seconds(60));
                let (name, forgotten_from) = (name.to_owned(), now.plus_seconds(86_400));
                tx.put(&StoredAttempts { name, failures, locks, locked_until, forgotten_from })?;
            }
            Ok(())
        };
        store.write("plant", plant).await.unwrap();
        store.close().await;
    });
    world.restart();
    world.try_login("olga", PASSWORD).refused(429, "too_many_attempts");
    assert_eq!(values(&mut world, SECRETS), [Value::Null; 0]);
    assert_eq!(values(&mut world, IDEMPOTENCY), [Value::Null; 0]);
    let names: Vec<_> = values(&mut world, StoredAttempts::SPACE);
    let [left] = names.as_slice() else { panic!("{names:?}") };
    assert!(left["name"].as_str().unwrap().contains(':'), "{left}");
}
