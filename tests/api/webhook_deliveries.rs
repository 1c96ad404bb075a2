//! Deliveries of webhooks: `audit.md` section 4.

use super::webhooks::{open, shown, subscribe};
use crate::support::run::run;
use crate::support::served::{Home, Served};
use crate::support::servers::{Came, Receiver, Treat, answer};
use crate::support::stored;
use crate::support::world::World;
use mfa_daemon::store::Tx;
use mfa_daemon::store::records::StoredSubscription;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

pub fn create(world: &World, id: &str) {
    world.post("/customers", json!({ "identifier": id }).to_string()).is(202);
}

/// Waits until something holds.
pub fn until<T>(mut look: impl FnMut() -> Option<T>) -> T {
    let end = Instant::now() + Duration::from_secs(30);
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(Instant::now() < end, "it does not come about");
        sleep(Duration::from_millis(30));
    }
}

pub fn deliveries(world: &World, id: &str) -> Vec<Value> {
    world.get(&format!("/events/subscriptions/{id}/deliveries")).is(200).json().as_array().unwrap().clone()
}

/// The verifier of the specification's authors, from PyPI.
fn verifier() -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("standardwebhooks-1.1.0");
    if !folder.join("standardwebhooks").exists() {
        let requirements = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/support/servers/webhooks.txt");
        let mut pip = Command::new("python3");
        pip.args([
            "-m",
            "pip",
            "install",
            "--quiet",
            "--no-deps",
            "--require-hashes",
            "-r",
            requirements,
            "-t",
        ]);
        let installed = pip.arg(&folder).output().unwrap();
        assert!(installed.status.success(), "{}", String::from_utf8_lossy(&installed.stderr));
    }
    folder
}

fn python(script: &str, arguments: &[&str]) -> Command {
    let mut python = Command::new("python3");
    python.args(["-c", script]).args(arguments).env("PYTHONPATH", verifier());
    python
}

#[test]
fn the_reference_library_verifies_a_delivery_and_not_an_altered_one() {
    let (world, receiver) = (open(), Receiver::start(&[]));
    world.to_present();
    let secret = subscribe(&world, "sync", &receiver, json!({}))["secret"].as_str().unwrap().to_owned();
    create(&world, "c-1");
    let came = &receiver.wait(1)[0];
    assert_eq!((came.path.as_str(), came.header("content-type")), ("/hook", "application/json"));
    let script = "import sys, json; from standardwebhooks.webhooks import Webhook\n\
                  names = ['webhook-id', 'webhook-timestamp', 'webhook-signature']\n\
                  said = Webhook(sys.argv[1]).verify(sys.argv[2], dict(zip(names, sys.argv[3:])))\n\
                  print(said['events'][0]['resource'])";
    let headers = ["webhook-id", "webhook-timestamp", "webhook-signature"].map(|name| came.header(name));
    let verify = |body: &str| {
        let arguments = [&[secret.as_str(), body], headers.as_slice()].concat();
        python(script, &arguments).output().unwrap()
    };
    let good = verify(&came.body);
    assert_eq!(String::from_utf8_lossy(&good.stdout), "customer/c-1\n", "{good:?}");
    let bad = verify(&came.body.replace("c-1", "c-2"));
    assert!(String::from_utf8_lossy(&bad.stderr).contains("No matching signature"), "{bad:?}");
}

#[test]
fn what_happens_is_delivered_in_order_and_nothing_twice() {
    let (mut world, receiver) = (open(), Receiver::start(&[]));
    create(&world, "c-0");
    subscribe(&world, "sync", &receiver, json!({ "kinds": ["customer"] }));
    for n in 1..=130 {
        create(&world, &format!("c-{n}"));
        if n == 60 {
            world.post("/offices", r#"{"identifier":"ho","name":"Head"}"#).is(202);
            world.restart();
        }
    }
    let numbers = receiver.taken_events(130);
    assert!(numbers.windows(2).all(|pair| pair[0] < pair[1]), "{numbers:?}");
    let reported: Vec<_> = receiver.taken().iter().flat_map(Came::resources).collect();
    let expected: Vec<_> = (1..=130).map(|n| format!("customer/c-{n}")).collect();
    assert_eq!(reported, expected);
    assert!(receiver.came().iter().all(|came| came.sequences().len() <= 100));
    let last = *numbers.last().unwrap();
    until(|| (shown(&world, "sync")["position"].as_u64() >= Some(last)).then_some(()));
    let tried = deliveries(&world, "sync");
    assert_eq!(tried[0]["outcome"], "DELIVERED");
    assert_eq!((&tried[0]["status"], &tried[0]["lastSequence"]), (&json!(204), &json!(last)), "{tried:?}");
}

#[test]
fn what_is_not_taken_is_tried_again_with_the_same_name_by_the_plan() {
    let refusals = [
        answer(500, "not now"),
        Treat::Cut,
        Treat::Answer(
            "HTTP/1.1 302 X\r\nlocation: http://127.0.0.1:1/\r\ncontent-length: 0\r\n\r\n".to_owned(),
        ),
        answer(404, ""),
        Treat::Answer("not HTTP at all\r\n\r\n".to_owned()),
        answer(503, ""),
        answer(500, ""),
    ];
    let (world, receiver) = (open(), Receiver::start(&refusals));
    subscribe(&world, "sync", &receiver, json!({}));
    create(&world, "c-1");
    for (tries, pause) in [5, 30, 120, 600, 3_600, 10_800, 10_800].into_iter().enumerate() {
        receiver.wait(tries + 1);
        let tried =
            until(|| deliveries(&world, "sync").into_iter().next().filter(|d| d["number"] == tries + 1));
        assert_eq!(tried["outcome"], "FAILED");
        let seconds = |name: &str| {
            mfa_shared::time::Timestamp::parse(tried[name].as_str().unwrap()).unwrap().millis() / 1000
        };
        assert_eq!(seconds("nextTryOn") - seconds("triedOn"), pause, "{tried}");
        assert_eq!(shown(&world, "sync")["failures"], tries + 1);
        // What happens meanwhile waits its turn.
        create(&world, &format!("c-{}", tries + 2));
        world.clock.advance(pause - 1);
        sleep(Duration::from_millis(800));
        assert_eq!(receiver.came().len(), tries + 1, "it was tried before its time");
        world.clock.advance(1);
    }
    let came = receiver.wait(8);
    for again in &came[1..8] {
        assert_eq!((again.header("webhook-id"), &again.body), (came[0].header("webhook-id"), &came[0].body));
    }
    assert_ne!(came[0].header("webhook-timestamp"), came[7].header("webhook-timestamp"));
    let numbers = receiver.events(8 + 7);
    assert_eq!(came[0].resources(), ["customer/c-1"]);
    assert!(numbers[7..].windows(2).all(|pair| pair[0] < pair[1]), "{numbers:?}");
    let statuses: Vec<_> = deliveries(&world, "sync").iter().map(|d| d["status"].clone()).rev().collect();
    let expected =
        [json!(500), Value::Null, json!(302), json!(404), Value::Null, json!(503), json!(500), json!(204)];
    assert_eq!(statuses[..8], expected);
    assert_eq!(shown(&world, "sync")["failures"], 0);
}

#[test]
fn after_three_days_a_delivery_is_given_up_and_the_trail_says_so() {
    let refusals: Vec<_> = (0..40).map(|_| answer(500, "<b>no</b>")).collect();
    let (world, receiver) = (open(), Receiver::start(&refusals));
    subscribe(&world, "sync", &receiver, json!({}));
    create(&world, "c-1");
    let paused = until(|| {
        let now = shown(&world, "sync");
        if now["state"] == "PAUSED" {
            return Some(now);
        }
        if !now["failures"].is_null() && now["failures"].as_u64() == Some(receiver.came().len() as u64) {
            world.clock.advance(10_800);
        }
        None
    });
    let reason = paused["reason"].as_str().unwrap();
    assert!(reason.contains("in three days") && reason.contains("500 <b>no</b>"), "{reason}");
    let trail = world.get("/audit?operation=DeliverWebhook&outcome=FAILED").is(200).json();
    assert_eq!(trail["totalElements"], 1, "{trail}");
    assert_eq!(trail["records"][0]["resource"], "webhook/sync");
    let tries = receiver.came().len();
    world.clock.advance(100_000);
    sleep(Duration::from_millis(800));
    assert_eq!(receiver.came().len(), tries, "what is paused is not delivered");
    // The receiver is repaired, and the delivery resumes.
    let gone = Receiver::start(&[]);
    world
        .put("/events/subscriptions/sync", json!({ "url": gone.url(), "state": "ACTIVE" }).to_string())
        .is(202);
    assert_eq!(gone.wait(1)[0].resources()[0], "customer/c-1");
    assert_eq!(shown(&world, "sync")["reason"], Value::Null);
}

#[test]
fn a_receiver_that_hangs_holds_up_no_other() {
    let (world, slow, quick) = (open(), Receiver::start(&[Treat::Hang]), Receiver::start(&[]));
    subscribe(&world, "slow", &slow, json!({}));
    subscribe(&world, "quick", &quick, json!({ "kinds": ["customer"] }));
    create(&world, "c-1");
    slow.wait(1);
    let began = Instant::now();
    create(&world, "c-2");
    quick.events(2);
    assert!(began.elapsed() < Duration::from_secs(15), "{:?}", began.elapsed());
    let tried = until(|| deliveries(&world, "slow").into_iter().next());
    assert!(tried["detail"].as_str().unwrap().contains("within 20 seconds"), "{tried}");
}

#[test]
fn a_delivery_whose_daemon_was_killed_comes_again_with_the_same_events_and_name() {
    let (home, receiver) = (Home::new(), Receiver::start(&[Treat::Hang]));
    let start = || {
        let mut daemon = home.mfa(&["daemon", "run", "--auth", "off", "--listen", "127.0.0.1:0"]);
        daemon.env("MFA_WEBHOOK_PLAINTEXT", "true").env("MFA_WEBHOOK_PRIVATE_ADDRESSES", "127.0.0.0/8");
        Served::start(daemon)
    };
    let post = |daemon: &Served, path: &str, fields: &[&str]| {
        let fields = fields.iter().flat_map(|field| ["-F", field]);
        let command = ["api", "POST", path, "--url", &daemon.url].into_iter().chain(fields);
        run(home.mfa(&command.collect::<Vec<_>>())).ok();
    };
    let daemon = start();
    let url = format!("url={}", receiver.url());
    post(&daemon, "/events/subscriptions", &["identifier=sync", &url]);
    post(&daemon, "/customers", &["identifier=c-1"]);
    receiver.wait(1);
    // Whether it was taken is not known any more when more has happened.
    post(&daemon, "/customers", &["identifier=c-2"]);
    daemon.kill();
    let daemon = start();
    let events = receiver.events(3);
    assert!(events[0] == events[1] && events[1] < events[2], "{events:?}");
    let came = receiver.came();
    assert_eq!(came[1].header("webhook-id"), came[0].header("webhook-id"));
    assert_eq!(came[1].body, came[0].body);
    daemon.end();
}

#[test]
fn a_delivery_keeps_its_name_and_plan_behind_hundreds_of_events_that_do_not_concern_it() {
    let refusals: Vec<_> = (0..3).map(|_| answer(500, "not now")).collect();
    let (world, receiver) = (open(), Receiver::start(&refusals));
    subscribe(&world, "sync", &receiver, json!({ "kinds": ["office"] }));
    world.put("/events/subscriptions/sync", r#"{"state":"PAUSED"}"#).is(202);
    let customer = |n: usize| {
        let body = json!({ "identifier": format!("c-{n}") });
        json!({ "method": "POST", "path": "/customers", "body": body })
    };
    for part in 0..3 {
        let list: Vec<_> = (part * 500..(part + 1) * 500).map(customer).collect();
        world.post("/batch", json!({ "operations": list }).to_string()).is(200);
    }
    world.post("/offices", r#"{"identifier":"north","name":"North"}"#).is(202);
    world.put("/events/subscriptions/sync", r#"{"state":"ACTIVE"}"#).is(202);
    for (tries, pause) in [5, 30, 120].into_iter().enumerate() {
        receiver.wait(tries + 1);
        until(|| (shown(&world, "sync")["failures"] == tries + 1).then_some(()));
        // What happens meanwhile waits its turn.
        let office = json!({ "identifier": format!("o-{tries}"), "name": "Other" });
        world.post("/offices", office.to_string()).is(202);
        world.clock.advance(pause);
    }
    let came = receiver.wait(4);
    for again in &came[1..4] {
        assert_eq!((again.header("webhook-id"), &again.body), (came[0].header("webhook-id"), &came[0].body));
    }
}

#[test]
fn moving_back_sends_the_same_events_under_another_name() {
    let (world, receiver) = (open(), Receiver::start(&[]));
    subscribe(&world, "sync", &receiver, json!({ "kinds": ["customer"] }));
    create(&world, "c-1");
    let first = receiver.wait(1)[0].clone();
    until(|| (shown(&world, "sync")["position"].as_u64() >= Some(first.sequences()[0])).then_some(()));
    let back = json!({ "position": first.sequences()[0] - 1 }).to_string();
    world.put("/events/subscriptions/sync/position", back).is(202);
    let again = receiver.wait(2)[1].clone();
    assert_eq!(again.body, first.body);
    assert_ne!(again.header("webhook-id"), first.header("webhook-id"));
    // Forward, past what has happened while it was paused.
    world.put("/events/subscriptions/sync", r#"{"state":"PAUSED"}"#).is(202);
    create(&world, "c-2");
    let last = until(|| {
        let events = world.get("/events?kind=customer").is(200).json();
        let last = events.as_array().unwrap().last().unwrap().clone();
        (last["resource"] == "customer/c-2").then(|| last["sequence"].clone())
    });
    world.put("/events/subscriptions/sync/position", json!({ "position": last }).to_string()).is(202);
    world.put("/events/subscriptions/sync", r#"{"state":"ACTIVE"}"#).is(202);
    create(&world, "c-3");
    assert_eq!(receiver.wait(3)[2].resources(), ["customer/c-3"]);
}

#[test]
fn a_name_that_leads_to_a_forbidden_address_is_not_called() {
    // Its form is that of any name: where it leads is known only when it is called.
    let receiver = Receiver::start(&[]);
    let world = World::with(|config| config.webhook_plaintext = true);
    let host = "ip6-localhost";
    let url = format!("http://{host}:{}/hook", receiver.port);
    let body = json!({ "identifier": "sync", "url": url }).to_string();
    world.post("/events/subscriptions", body).is(200);
    let refused = world.post("/events/subscriptions/sync/test", "").refused(502, "gateway_failed").json();
    assert_eq!(refused["stage"], "connect");
    create(&world, "c-1");
    let tried = until(|| deliveries(&world, "sync").into_iter().next());
    assert_eq!((&tried["outcome"], &tried["status"]), (&json!("FAILED"), &Value::Null));
    assert!(receiver.came().is_empty());
}

#[test]
fn a_test_sends_one_event_numbered_0_and_answers_as_a_gateway_does() {
    let (world, receiver) = (open(), Receiver::start(&[answer(202, "thank you"), answer(500, "broken")]));
    subscribe(&world, "sync", &receiver, json!({ "state": "PAUSED" }));
    let reported = world.post("/events/subscriptions/sync/test", "").is(200).json();
    let names: Vec<_> = reported.as_object().unwrap().keys().cloned().collect();
    assert_eq!(names, ["identifier", "to", "sentOn", "gatewayAnswer", "messageIdentifier"]);
    assert_eq!(reported["gatewayAnswer"], "202 thank you");
    let came = receiver.wait(1);
    assert_eq!((came[0].sequences(), came[0].resources()), (vec![0], vec!["webhook/sync".to_owned()]));
    assert_eq!(reported["messageIdentifier"], came[0].header("webhook-id"));
    let refused = world.post("/events/subscriptions/sync/test", "").refused(502, "gateway_failed").json();
    assert_eq!((&refused["stage"], &refused["gatewayCode"]), (&json!("send"), &json!(500)));
    assert!(refused["detail"].as_str().unwrap().contains("500 broken"), "{refused}");
    assert_eq!(deliveries(&world, "sync"), Vec::<Value>::new());
    let failed = world.get("/audit?operation=TestSubscription&outcome=FAILED").is(200).json();
    assert_eq!(failed["totalElements"], 1, "{failed}");
}

#[test]
fn events_of_a_busy_time_come_together() {
    let (world, receiver) = (open(), Receiver::start(&[]));
    subscribe(&world, "sync", &receiver, json!({ "kinds": ["customer"] }));
    let (began, mut created) = (Instant::now(), 0);
    while began.elapsed() < Duration::from_secs(2) {
        created += 1;
        create(&world, &format!("c-{created}"));
    }
    receiver.events(created);
    let deliveries = receiver.came().iter().filter(|came| came.sequences().len() < 100).count();
    let most = began.elapsed().as_millis() / 100 + 1;
    assert!(deliveries as u128 <= most, "{created} events in {deliveries} deliveries");
}

#[test]
fn a_webhook_whose_secret_does_not_open_is_paused_until_it_has_another() {
    let (mut world, receiver) = (open(), Receiver::start(&[]));
    subscribe(&world, "sync", &receiver, json!({}));
    subscribe(&world, "other", &receiver, json!({ "state": "PAUSED" }));
    world.stop();
    world.block_on(async {
        let store = stored::open(world.config(), world.clock.clone());
        let swap = |tx: &mut Tx<'_>| {
            let mut sync: StoredSubscription = tx.get(&["sync"])?.unwrap();
            let other: StoredSubscription = tx.get(&["other"])?.unwrap();
            sync.secret = other.secret;
            tx.put(&sync)
        };
        store.write("tamper", swap).await.unwrap();
        store.close().await;
    });
    world.restart();
    create(&world, "c-1");
    let paused = until(|| Some(shown(&world, "sync")).filter(|now| now["state"] == "PAUSED"));
    let reason = paused["reason"].as_str().unwrap();
    assert!(reason.starts_with("its secret cannot be read") && reason.contains("resume"), "{reason}");
    sleep(Duration::from_millis(800));
    let trail = world.get("/audit?operation=DeliverWebhook&outcome=FAILED").is(200).json();
    assert_eq!(trail["totalElements"], 1, "{trail}");
    assert_eq!((&trail["records"][0]["resource"], receiver.came().len()), (&json!("webhook/sync"), 0));
    let change = json!({ "secret": "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "state": "ACTIVE" });
    world.put("/events/subscriptions/sync", change.to_string()).is(202);
    until(|| receiver.taken().iter().flat_map(Came::resources).find(|name| name == "customer/c-1"));
    assert_eq!(shown(&world, "sync")["reason"], Value::Null);
}

#[test]
fn of_two_daemons_the_other_one_delivers_when_one_is_gone() {
    let (mut world, receiver) = (open(), Receiver::start(&[]));
    if world.config().store.postgres().is_none() {
        return;
    }
    subscribe(&world, "sync", &receiver, json!({ "kinds": ["customer"] }));
    for n in 0..40 {
        create(&world, &format!("c-{n}"));
    }
    receiver.events(40);
    world.stop_one();
    for n in 40..60 {
        create(&world, &format!("c-{n}"));
    }
    let numbers = receiver.events(60);
    assert!(numbers.windows(2).all(|pair| pair[0] < pair[1]), "{numbers:?}");
    assert_eq!(numbers.len(), 60);
}

#[test]
fn the_receiver_of_the_guide_with_the_library_hears_of_a_new_customer() {
    let guide = include_str!("../../docs/guides/webhooks-and-events.md");
    let scripts: Vec<_> =
        guide.split("```python\n").skip(1).map(|s| s.split("```").next().unwrap()).collect();
    let script = scripts.iter().find(|script| script.contains("standardwebhooks")).unwrap();
    let world = open();
    world.to_present();
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let url = format!("http://127.0.0.1:{port}/");
    let body = json!({ "identifier": "sync", "url": url, "kinds": ["customer"] }).to_string();
    let made = world.post("/events/subscriptions", body).is(200).json();
    let mut receiver = python(script, &[&port.to_string()]);
    let secret = made["secret"].as_str().unwrap();
    let mut receiver = receiver.env("WEBHOOK_SECRET", secret).stdout(Stdio::piped()).spawn().unwrap();
    create(&world, "c-1");
    // The first try may come before the receiver listens.
    sleep(Duration::from_millis(1500));
    world.clock.advance(6);
    let mut line = String::new();
    std::io::BufRead::read_line(&mut std::io::BufReader::new(receiver.stdout.take().unwrap()), &mut line)
        .unwrap();
    let _ = receiver.kill();
    let _ = receiver.wait();
    assert_eq!(line, "CreateCustomer customer/c-1\n");
}
