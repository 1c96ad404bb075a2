//! What is announced to PostgreSQL before it is read takes few messages, and who follows its journal comes to the end
//! however much others have written. These tests need `MFA_TEST_POSTGRES`.

use super::postgres::{fresh, shared};
use super::rehearsed::round_trips;
use crate::api::metrics::series;
use crate::support::stored::{ask, connect};
use mfa_daemon::clock::Clock;
use mfa_daemon::domain::search::{Kind, Phrase};
use mfa_daemon::search::Search;
use mfa_daemon::store::Store;
use mfa_daemon::store::engine::{Engine, Followed, Range};
use mfa_daemon::store::postgres::{Options, Postgres};
use mfa_daemon::store::records::{CUSTOMERS, OFFICES, SPACES};
use mfa_shared::api::customers::Customer;
use serde_json::json;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::runtime::Runtime;

fn customer(number: usize, word: &str) -> Customer {
    serde_json::from_value(json!({
        "identifier": format!("c-{number:04}"), "type": "PERSON", "member": false, "surname": word,
        "contactDetails": [], "currentState": "PENDING", "customValues": [],
        "createdBy": "ada", "createdOn": "2026-01-01T00:00:00.000Z",
    }))
    .unwrap()
}

#[test]
fn a_search_follows_hundreds_of_changed_customers_with_a_few_messages() {
    let Some(address) = fresh() else { return };
    let runtime = Runtime::new().unwrap();
    let engine = Arc::new(Postgres::open(Options::new(address, SPACES)).unwrap());
    let store = Store::over(engine.clone(), Clock::system(), false);
    let search = Arc::new(Search::default());
    let find = |word: &str| {
        let phrase = Arc::new(Phrase::parse(word));
        runtime.block_on(search.find(&store, &phrase, &[Kind::Customer], 1_000)).unwrap().0.len()
    };
    assert_eq!(find("ababio"), 0);
    for (word, messages) in [("ababio", 10), ("mensah", 10)] {
        let put = move |tx: &mut mfa_daemon::store::Tx<'_>| {
            (0..200).try_for_each(|number| tx.put(&customer(number, word)))
        };
        runtime.block_on(store.write("test", put)).unwrap();
        let before = round_trips(&engine);
        assert_eq!(find(word), 200);
        let took = round_trips(&engine) - before;
        assert!(took <= messages, "{took} messages");
    }
    assert_eq!(find("ababio"), 0);
    runtime.block_on(store.close());
}

#[test]
fn a_follower_comes_to_the_end_behind_many_commits_that_do_not_concern_it() {
    let Some(address) = fresh() else { return };
    let runtime = Runtime::new().unwrap();
    let engine = Postgres::open(Options::new(address.clone(), SPACES)).unwrap();
    let begin = runtime.block_on(engine.changed_since(None, 0, &[])).unwrap().followed.place();
    // As others write while a daemon is cut off: the first and the last of them are of the space.
    let others = format!(
        "insert into stored_journal
         select {begin} + n, now(), 'ada', 'r', array[case when n in (1, 45000) then {} else {} end]::smallint[],
             array[decode(to_hex(1000000 + n), 'escape')], array['x'::bytea]
         from generate_series(1, 45000) n",
        CUSTOMERS.id, OFFICES.id,
    );
    runtime.block_on(ask(&address, &others));
    runtime.block_on(ask(&address, "update stored_form set journal_start = journal_start + 50000"));
    runtime.block_on(engine.close()).unwrap();
    let engine = Postgres::open(Options::new(address, SPACES)).unwrap();
    for put in [false, true] {
        let (mut found, mut from, mut pages) = (Vec::new(), begin, 0);
        loop {
            pages += 1;
            let (keys, upto, more) = if put {
                let page = runtime.block_on(engine.put_since(CUSTOMERS, from, 1_000)).unwrap();
                (page.commits.into_iter().flat_map(|(_, keys)| keys).collect(), page.upto, page.more)
            } else {
                let page = runtime
                    .block_on(engine.changed_since(Some(Followed::upto(from)), 1_000, &[CUSTOMERS]))
                    .unwrap();
                let keys: Vec<_> = page.keys.into_iter().map(|(_, key)| key).collect();
                (keys, page.followed.place(), page.more)
            };
            found.extend(keys);
            assert!(upto > from || !more, "it does not go on from {from}");
            from = upto;
            if !more {
                break;
            }
        }
        assert_eq!(found, [b"f4241".to_vec(), b"ff208".to_vec()], "put: {put}");
        assert!(pages > 1 && from >= begin + 45_000, "{pages} pages to {from}");
    }
    runtime.block_on(engine.close()).unwrap();
}

#[test]
fn the_last_commit_that_may_still_get_others_before_it_is_named() {
    let Some(address) = fresh() else { return };
    let server = std::env::var("MFA_TEST_POSTGRES").unwrap();
    let runtime = Runtime::new().unwrap();
    let engine = Arc::new(Postgres::open(Options::new(address, SPACES)).unwrap());
    let store = Store::over(engine.clone(), Clock::system(), false);
    let begin = runtime.block_on(engine.last_commit()).unwrap();
    // A transaction under way, whose number is lower than those of all that follow.
    let under_way = runtime.block_on(async {
        let (client, connection) = tokio_postgres::connect(&server, tokio_postgres::NoTls).await.unwrap();
        tokio::spawn(connection);
        client.batch_execute("begin; select pg_current_xact_id()").await.unwrap();
        client
    });
    for number in 0..3 {
        let put = move |tx: &mut mfa_daemon::store::Tx<'_>| tx.put(&customer(number, "mensah"));
        runtime.block_on(store.write("test", put)).unwrap();
    }
    let last = runtime.block_on(engine.last_commit()).unwrap();
    let put = |limit: usize| runtime.block_on(engine.put_since(CUSTOMERS, begin, limit)).unwrap();
    for limit in [100, 3, 1] {
        let put = put(limit);
        assert_eq!((put.commits.len(), put.more, put.unsettled), (0, false, Some(last)), "{limit}");
        assert!(put.upto < last);
    }
    // In a transaction all of them are seen, those of another space not.
    let seen = move |tx: &mut mfa_daemon::store::Tx<'_>| {
        let put = |tx: &mut mfa_daemon::store::Tx<'_>, space, limit| tx.put_after(space, begin, limit);
        let customers = put(tx, CUSTOMERS, 100)?.unwrap();
        let keys: Vec<_> =
            customers.iter().map(|(key, _)| String::from_utf8_lossy(key).into_owned()).collect();
        Ok((keys, put(tx, CUSTOMERS, 2)?.unwrap().len(), put(tx, OFFICES, 100)?.unwrap().len()))
    };
    let (keys, limited, offices) = runtime.block_on(store.read(false, seen)).unwrap();
    assert!(keys.iter().zip(0..).all(|(key, n)| key.starts_with(&format!("c-{n:04}"))), "{keys:?}");
    assert_eq!((keys.len(), limited, offices), (3, 2, 0));
    // An office is no customer.
    let none = runtime.block_on(engine.put_since(OFFICES, begin, 100)).unwrap();
    assert_eq!((none.commits.len(), none.unsettled), (0, None));
    runtime.block_on(under_way.batch_execute("rollback")).unwrap();
    // The transactions of other tests end soon.
    let until = Instant::now() + Duration::from_secs(10);
    while put(100).unsettled.is_some() && Instant::now() < until {
        std::thread::sleep(Duration::from_millis(10));
    }
    let put = put(100);
    assert_eq!((put.commits.len(), put.upto >= last, put.unsettled), (3, true, None));
    runtime.block_on(store.close());
}

#[test]
fn who_follows_sees_each_commit_once_although_somebody_has_a_transaction_open() {
    let Some(address) = fresh() else { return };
    let runtime = Runtime::new().unwrap();
    let engine = Arc::new(Postgres::open(Options::new(address.clone(), SPACES)).unwrap());
    let store = Store::over(engine.clone(), Clock::system(), false);
    let begin = async |sql: &str| {
        let client = connect(&address).await;
        client.batch_execute(&format!("begin; {sql}")).await.unwrap();
        client
    };
    let mut followed = runtime.block_on(store.place()).unwrap();
    // One of another database, perhaps, and one of another daemon, which has written a customer.
    let _foreign = runtime.block_on(begin("select pg_current_xact_id()"));
    let late = format!(
        "insert into stored_journal
         select journal_start + 64 * pg_current_xact_id()::text::bigint, now(), 'ada', 'r', array[{}]::smallint[],
             array['late'::bytea], array['x'::bytea] from stored_form",
        CUSTOMERS.id,
    );
    let other = runtime.block_on(begin(&late));
    let put = |number: usize| {
        let put = move |tx: &mut mfa_daemon::store::Tx<'_>| tx.put(&customer(number, "mensah"));
        runtime.block_on(store.write("test", put)).unwrap();
    };
    let mut follow = |limit: usize| {
        let mut found = Vec::new();
        loop {
            let page = runtime.block_on(store.changed_since(followed.clone(), limit, &[CUSTOMERS])).unwrap();
            found.extend(page.keys.into_iter().map(|(_, key)| String::from_utf8(key).unwrap()));
            followed = page.followed;
            if !page.more {
                return found;
            }
        }
    };
    (0..5).for_each(put);
    let names = |numbers: std::ops::Range<usize>| numbers.map(|n| format!("c-{n:04}")).collect::<Vec<_>>();
    assert_eq!(follow(2), names(0..5));
    assert_eq!(follow(2), [""; 0], "what was seen does not come again");
    (5..8).for_each(put);
    assert_eq!(follow(100), names(5..8));
    runtime.block_on(other.batch_execute("commit")).unwrap();
    put(8);
    assert_eq!(follow(100), ["late", "c-0008"]);
    assert_eq!(follow(100), [""; 0]);
    runtime.block_on(store.close());
}

#[test]
fn the_last_records_of_many_ranges_are_asked_for_together() {
    let Some(address) = fresh() else { return };
    let runtime = Runtime::new().unwrap();
    let engine = Arc::new(Postgres::open(Options::new(address, SPACES)).unwrap());
    let store = Store::over(engine.clone(), Clock::system(), false);
    let put = |tx: &mut mfa_daemon::store::Tx<'_>| {
        (0..300).try_for_each(|number| tx.put(&customer(number, &format!("w{number}"))))
    };
    runtime.block_on(store.write("test", put)).unwrap();
    // Of ten customers each, from its third on; some have none, and one has no key at all.
    let range = |from: usize, to: usize| {
        let key = |number: usize| format!("c-{number:04}").into_bytes();
        Range { from: key(from), to: Some(key(to)) }
    };
    let mut ranges: Vec<_> = (0..40).map(|ten| range(10 * ten + 3, 10 * ten + 10)).collect();
    ranges.push(range(5, 5));
    let names = |found: Vec<Option<Customer>>| -> Vec<_> {
        found.into_iter().map(|customer| customer.map(|customer| customer.identifier)).collect()
    };
    let wanted: Vec<_> = (0..41).map(|ten| (ten < 30).then(|| format!("c-{:04}", 10 * ten + 9))).collect();
    let before = round_trips(&engine);
    let asked = ranges.clone();
    let found = runtime.block_on(store.read(false, move |tx| tx.lasts(&asked))).unwrap();
    assert_eq!(names(found), wanted);
    assert!(round_trips(&engine) - before <= 2, "{} messages", round_trips(&engine) - before);
    // What the transaction itself has written counts, too.
    let found = runtime.block_on(store.write("test", move |tx| {
        tx.put(&customer(388, "mensah"))?;
        tx.lasts(&ranges)
    }));
    assert_eq!(names(found.unwrap())[38], Some("c-0388".to_owned()));
    runtime.block_on(store.close());
}

#[test]
fn a_hundred_listeners_ask_a_database_together() {
    const LISTENERS: usize = 100;
    let Some(world) = shared() else { return };
    let value = |name: &str| {
        let page = world.send(world.request_at(0, "GET", "/metrics")).is(200).text();
        series(&page)[name].parse::<u64>().unwrap()
    };
    let listen = || {
        let request = world.request_at(0, "GET", "/events").header("accept", "text/event-stream");
        world.spawn(async move { request.send().await.unwrap() })
    };
    let streams: Vec<_> = (0..LISTENERS).map(|_| listen()).collect();
    let streams: Vec<_> = streams.into_iter().map(|stream| world.wait(stream)).collect();
    assert!(streams.iter().all(|stream| stream.status() == 200));
    let before = value("mfa_store_round_trips_total");
    std::thread::sleep(Duration::from_secs(3));
    let took = value("mfa_store_round_trips_total") - before;
    assert_eq!(value("mfa_event_listeners"), LISTENERS as u64);
    // Each looks six times in this time whether its token still holds.
    assert!(took < 6 * LISTENERS as u64, "{took} messages");
}
