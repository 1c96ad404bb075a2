//! Two daemons on one database: what one has answered holds for the other one from its next request on, and
//! what both do at the same moment is done once. All tests of the interface run on two daemons, too, when
//! they run on PostgreSQL.

use super::postgres::{column, shared};
use crate::support::guarded::{As, PASSWORD, may};
use crate::support::images::{PORTRAIT, form, hash, part, picture};
use crate::support::served::Served;
use crate::support::stored::{connect, objects};
use crate::support::world::{Seen, World};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;
use std::collections::BTreeSet;
use std::io::Write;
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::time::{Duration, Instant};

fn create(world: &World, identifier: &str) {
    world.post("/customers", json!({ "identifier": identifier, "type": "PERSON" }).to_string()).is(202);
}

#[test]
fn they_create_each_record_once_and_number_without_gaps() {
    const EACH: usize = 25;
    let Some(world) = shared() else { return };
    create(&world, "ann");
    // Every customer twice, once at each daemon, and all at the same time.
    let creates = (0..2 * EACH).map(|i| {
        let body = json!({ "identifier": format!("c{:03}", i / 2), "type": "PERSON" });
        world.request_at(i % 2, "POST", "/customers").body(body.to_string())
    });
    let seen: Vec<_> = world.send_all(creates.collect()).into_iter().map(|seen| seen.status).collect();
    for pair in seen.chunks(2) {
        let pair: BTreeSet<_> = pair.iter().copied().collect();
        assert_eq!(pair, BTreeSet::from([202, 409]), "{seen:?}");
    }
    // A lifecycle in which every step takes the next number of the customer.
    world.post("/customers/ann/commands", r#"{"action":"ACTIVATE"}"#).is(202);
    let mut done = 1;
    for round in 0..6 {
        let action = if round % 2 == 0 { "LOCK" } else { "UNLOCK" };
        let body = json!({ "action": action }).to_string();
        let same =
            (0..4).map(|i| world.request_at(i % 2, "POST", "/customers/ann/commands").body(body.clone()));
        let seen: Vec<_> = world.send_all(same.collect()).into_iter().map(|seen| seen.status).collect();
        assert_eq!(seen.iter().filter(|status| **status == 202).count(), 1, "{seen:?}");
        done += 1;
    }
    let commands = world.get("/customers/ann/commands").is(200).json();
    assert_eq!(commands.as_array().unwrap().len(), done);
}

#[test]
fn a_long_batch_and_short_changes_of_its_records_are_all_done() {
    let Some(world) = shared() else { return };
    create(&world, "ann");
    let put = |surname: &str| json!({ "identifier": "ann", "surname": surname }).to_string();
    let change = json!({ "method": "PUT", "path": "/customers/ann", "body": { "identifier": "ann" } });
    let batch = json!({ "operations": vec![change; 400] }).to_string();
    let (done, short) = (AtomicBool::new(false), |number: usize| {
        let request = world.request_at(0, "PUT", "/customers/ann").body(put(&number.to_string()));
        world.send(request).is(202);
    });
    std::thread::scope(|scope| {
        for writer in 0..4 {
            let (done, short) = (&done, &short);
            scope.spawn(move || (writer..).step_by(4).take_while(|_| !done.load(SeqCst)).for_each(short));
        }
        let sent = world.send(world.request_at(0, "POST", "/batch").body(batch));
        done.store(true, SeqCst);
        let results = sent.is(200).json()["results"].clone();
        assert!(results.as_array().unwrap().iter().all(|result| result["status"] == 202), "{results}");
    });
}

#[test]
fn a_repeated_request_is_known_to_the_other_one() {
    let Some(world) = shared() else { return };
    let body = json!({ "identifier": "ann", "type": "PERSON" }).to_string();
    let send = |daemon: usize| {
        let request = world.request_at(daemon, "POST", "/customers").header("idempotency-key", "k1");
        world.send(request.body(body.clone()))
    };
    assert_eq!(send(0).is(202).header("idempotency-replayed"), "");
    assert_eq!(send(1).is(202).header("idempotency-replayed"), "true");
    // Each of them has committed the answer, so a standby has it whichever was confirmed.
    let put = "select count(*)::text from stored_changes where record->>'key' = 'k1' and not removed";
    assert_eq!(column(&world, put), ["2"]);
    let run = |daemon: usize| {
        let request = world.request_at(daemon, "POST", "/interest/runs").header("idempotency-key", "k3");
        world.send(request.body("{}"))
    };
    assert_eq!([run(0), run(1)].map(|run| run.is(202).header("idempotency-replayed")), ["", "true"]);
    assert_eq!(column(&world, &put.replace("k1", "k3")), ["2"], "an errand");
    let same: Vec<_> = (0..8)
        .map(|i| {
            let request = world.request_at(i % 2, "POST", "/customers").header("idempotency-key", "k2");
            request.body(json!({ "identifier": "ben", "type": "PERSON" }).to_string())
        })
        .collect();
    let replayed = world.send_all(same).into_iter().map(|seen| seen.is(202).header("idempotency-replayed"));
    assert_eq!(replayed.filter(|replayed| replayed != "true").count(), 1);
}

#[test]
fn a_search_at_one_finds_what_the_other_one_has_just_written() {
    let Some(world) = shared() else { return };
    for number in 0..10 {
        let (writer, reader) = (number % 2, (number + 1) % 2);
        let customer = json!({ "identifier": format!("c-{number}"), "surname": format!("Mensah{number}") });
        world.send(world.request_at(writer, "POST", "/customers").body(customer.to_string())).is(202);
        let search = world.request_at(reader, "GET", &format!("/customers?term=mensah{number}"));
        assert_eq!(world.send(search).is(200).json()["totalElements"], 1);
    }
}

fn at(client: &As<'_>, daemon: usize, method: &str, path: &str) -> Seen {
    client.world.send(client.world.request_at(daemon, method, path).bearer_auth(&client.token))
}

#[test]
fn what_ends_a_token_at_one_ends_it_at_the_next_request_at_the_other_one() {
    let Some(address) = super::postgres::fresh() else { return };
    let world = World::guarded_with(|config| config.store = address.into());
    let admin = world.login("admin");
    for round in 0..5 {
        let (one, other) = (round % 2, (round + 1) % 2);
        let user = format!("user{round}");
        let token = world.user(&user, "administrator");
        for daemon in [one, other] {
            at(&token, daemon, "GET", "/token/_current").is(200);
        }
        at(&token, one, "DELETE", "/token/_current").is(200);
        at(&token, other, "GET", "/token/_current").refused(401, "unauthenticated");
        let again = world.login(&user);
        at(&again, other, "GET", "/token/_current").is(200);
        let change = json!({ "identifier": "deactivated" }).to_string();
        let path = format!("/users/{user}/roleIdentifier");
        let request = world.request_at(one, "PUT", &path).bearer_auth(&admin.token).body(change);
        world.send(request).is(202);
        assert!(matches!(at(&again, other, "GET", "/offices").status, 401 | 403));
        world.try_login(&user, PASSWORD).refused(401, "login_failed");
    }
}

#[test]
fn what_a_role_may_do_is_the_same_for_both_at_the_next_request() {
    let Some(address) = super::postgres::fresh() else { return };
    let world = World::guarded_with(|config| config.store = address.into());
    let admin = world.login("admin");
    let clerk = world.user_with("clara", &[may("office__v1__offices", "R")]);
    for round in 0..6 {
        let (one, other) = (round % 2, (round + 1) % 2);
        let letters = if round % 2 == 0 { "C" } else { "R" };
        let role =
            json!({ "identifier": "role-clara", "permissions": [may("office__v1__offices", letters)] });
        at(&clerk, other, "GET", "/offices").is(if letters == "C" { 200 } else { 403 });
        let request = world.request_at(one, "PUT", "/roles/role-clara").bearer_auth(&admin.token);
        world.send(request.body(role.to_string())).is(202);
        at(&clerk, other, "GET", "/offices").is(if letters == "C" { 403 } else { 200 });
    }
}

fn upload(world: &World, daemon: usize, bytes: &[u8]) -> reqwest::RequestBuilder {
    let parts = [part("portrait", Some("image/png"), bytes)];
    let request = world.request_at(daemon, "POST", PORTRAIT);
    request.header("content-type", "multipart/form-data; boundary=b").body(form("b", &parts))
}

#[test]
fn a_portrait_put_at_one_daemon_is_read_and_removed_at_the_other() {
    let Some(world) = shared() else { return };
    create(&world, "c-1");
    for (round, bytes) in [(0, 1), (1, 40_000), (2, 524_288)] {
        let (one, other) = (round % 2, (round + 1) % 2);
        let sent = picture(bytes, 5);
        world.send(upload(&world, one, &sent)).is(202);
        let got = world.send(world.request_at(other, "GET", PORTRAIT)).is(200);
        assert!(got.body == sent);
        assert_eq!(world.block_on(objects(world.config())), [hash(&sent)], "and what it replaced is gone");
    }
    assert_eq!(column(&world, "select length(bytes)::text from stored_objects"), ["524288"]);
    world.send(world.request_at(0, "DELETE", PORTRAIT)).is(202);
    world.send(world.request_at(1, "GET", PORTRAIT)).refused(404, "portrait_not_found");
    assert!(world.block_on(objects(world.config())).is_empty());
}

#[test]
fn no_image_is_removed_that_the_other_one_is_about_to_use() {
    let Some(world) = shared() else { return };
    create(&world, "c-1");
    let sent = picture(20_000, 9);
    for _ in 0..12 {
        // The same bytes are uploaded and removed at both at the same time.
        let requests = (0..8).map(|i| match i % 4 {
            0 | 1 => upload(&world, i % 2, &sent),
            _ => world.request_at(i % 2, "DELETE", PORTRAIT),
        });
        for seen in world.send_all(requests.collect()) {
            // An upload may hear that its image went away under it, and is to be sent again.
            let again = seen.status == 503 && !seen.header("retry-after").is_empty();
            assert!(seen.status == 202 || again, "{}: {}", seen.status, seen.text());
        }
        let there = world.block_on(objects(world.config()));
        let named = column(&world, "select record->'image'->>'sha256' from portraits");
        match world.get(PORTRAIT).status {
            200 => assert_eq!((there, named), (vec![hash(&sent)], vec![hash(&sent)])),
            404 => assert_eq!((there.len(), named.len()), (0, 0)),
            status => panic!("{status}"),
        }
    }
}

#[test]
fn images_that_are_replaced_during_a_backup_of_either_daemon_stay_until_its_end() {
    let Some(world) = shared() else { return };
    create(&world, "c-1");
    let pictures: Vec<_> = (0..5).map(|seed| picture(20_000, seed)).collect();
    let put = |daemon: usize, number: usize| world.send(upload(&world, daemon, &pictures[number])).is(202);
    let there = || world.block_on(objects(world.config())).into_iter().collect::<BTreeSet<_>>();
    let these = |numbers: &[usize]| numbers.iter().map(|n| hash(&pictures[*n])).collect::<BTreeSet<_>>();
    // A transaction of somebody else holds the backup up.
    let address = world.config().store.postgres().unwrap().clone();
    let other = world.block_on(connect(&address));
    world.block_on(other.batch_execute("begin; select pg_current_xact_id()")).unwrap();
    put(0, 0);
    let asked = world.request_at(0, "GET", "/admin/backup");
    let backup = world.spawn(async move { asked.send().await.unwrap().bytes().await.unwrap() });
    let holds = || column(&world, "select record->>'name' from image_holds");
    let deadline = Instant::now() + Duration::from_secs(30);
    while holds().is_empty() {
        assert!(Instant::now() < deadline, "nobody says that a backup is made");
        std::thread::sleep(Duration::from_millis(10));
    }
    put(1, 1);
    put(0, 2);
    assert_eq!(there(), these(&[0, 1, 2]));
    world.block_on(other.batch_execute("commit")).unwrap();
    assert!(world.wait(backup).starts_with(b"mfab/1\n"));
    // Each daemon removes what it had put off.
    let deadline = Instant::now() + Duration::from_secs(60);
    while there() != these(&[2]) {
        assert!(Instant::now() < deadline, "{:?}", there());
        std::thread::sleep(Duration::from_millis(10));
    }
    assert_eq!(holds(), Vec::<String>::new());
    put(1, 3);
    assert_eq!(there(), these(&[3]));
    // One whose daemon has died is over in its time, and goes with the next one.
    let left = "insert into stored_records (spread, space, key, value) values (1, 71, 'x', $1)";
    let past = json!({ "name": "x", "until": "2020-01-01T00:00:00Z" }).to_string().into_bytes();
    world.block_on(other.execute(left, &[&past])).unwrap();
    put(0, 4);
    assert_eq!(there(), these(&[4]));
}

/// Writes customers at a daemon until it is stopped, and returns the identifiers that were acknowledged.
async fn write(http: reqwest::Client, url: String, name: String, stop: Arc<AtomicBool>) -> Vec<String> {
    let mut acknowledged = Vec::new();
    for number in 0.. {
        if stop.load(SeqCst) {
            break;
        }
        let id = format!("{name}-{number}");
        let sent = http.post(format!("{url}/customers")).body(json!({ "identifier": id }).to_string());
        if sent.send().await.is_ok_and(|answer| answer.status() == 202) {
            acknowledged.push(id);
        }
    }
    acknowledged
}

#[test]
fn a_daemon_that_is_frozen_in_its_work_holds_up_no_other() {
    const FREEZES: usize = 8;
    let Some(world) = shared() else { return };
    let third =
        Served::start(world.mfa_on_store(&["daemon", "run", "--listen", "127.0.0.1:0", "--auth", "off"]));
    let pid = Pid::from_raw(i32::try_from(third.pid()).unwrap()).unwrap();
    let stop = Arc::<AtomicBool>::default();
    let writers: Vec<_> = (0..8)
        .map(|w| world.spawn(write(world.http(), third.url.clone(), format!("w{w}"), stop.clone())))
        .collect();
    let mut slowest = Duration::ZERO;
    for freeze in 0..FREEZES {
        std::thread::sleep(Duration::from_millis(150 + 37 * freeze as u64));
        kill_process(pid, Signal::STOP).unwrap();
        let begun = Instant::now();
        for number in 0.. {
            let asked = Instant::now();
            create(&world, &format!("f{freeze}-{number}"));
            slowest = slowest.max(asked.elapsed());
            if begun.elapsed() > Duration::from_secs(2) {
                break;
            }
        }
        kill_process(pid, Signal::CONT).unwrap();
    }
    stop.store(true, SeqCst);
    let acknowledged: Vec<_> = writers.into_iter().flat_map(|writer| world.wait(writer)).collect();
    println!("{FREEZES} freezes, {} acknowledged, slowest of others {slowest:?}", acknowledged.len());
    assert!(acknowledged.len() > FREEZES);
    for id in &acknowledged {
        world.get(&format!("/customers/{id}")).is(200);
    }
}

#[test]
fn half_uploads_of_a_killed_daemon_are_removed_by_the_next_one() {
    let Some(world) = shared() else { return };
    create(&world, "c-1");
    let scratch = world.dir.path().join("scratch");
    std::fs::create_dir(&scratch).unwrap();
    let served = || {
        let mut command = world.mfa_on_store(&["daemon", "run", "--listen", "127.0.0.1:0", "--auth", "off"]);
        Served::start({
            command.env("TMPDIR", &scratch);
            command
        })
    };
    let halves = || {
        let folders = std::fs::read_dir(&scratch).unwrap().map(|folder| folder.unwrap().path());
        folders.flat_map(|folder| std::fs::read_dir(folder).unwrap()).count()
    };
    let killed = served();
    let mut upload = TcpStream::connect(killed.url.trim_start_matches("http://")).unwrap();
    let head = "POST /customers/c-1/portrait HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: 400000\r\n\
                content-type: multipart/form-data; boundary=b\r\n\r\n\
                --b\r\ncontent-disposition: form-data; name=portrait; filename=f\r\ncontent-type: image/png\r\n\r\n";
    upload.write_all(head.as_bytes()).unwrap();
    upload.write_all(&picture(200_000, 3)).unwrap();
    let begun = Instant::now();
    while halves() == 0 {
        assert!(begun.elapsed() < Duration::from_secs(30), "nothing of the upload was written");
        std::thread::sleep(Duration::from_millis(10));
    }
    kill_process(Pid::from_raw(i32::try_from(killed.pid()).unwrap()).unwrap(), Signal::KILL).unwrap();
    // It holds its lock until it is gone.
    drop(killed);
    assert_eq!(halves(), 1);
    let next = served();
    assert_eq!((halves(), std::fs::read_dir(&scratch).unwrap().count()), (0, 1));
    drop(next);
    assert_eq!(std::fs::read_dir(&scratch).unwrap().count(), 0);
}
