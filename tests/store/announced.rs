//! What is announced to PostgreSQL before it is read takes few messages, and who follows its journal comes to the end
//! however much others have written. These tests need `MFA_TEST_POSTGRES`.

use super::postgres::fresh;
use super::rehearsed::round_trips;
use crate::support::stored::ask;
use mfa_daemon::clock::Clock;
use mfa_daemon::domain::search::{Kind, Phrase};
use mfa_daemon::search::Search;
use mfa_daemon::store::Store;
use mfa_daemon::store::engine::Engine;
use mfa_daemon::store::postgres::{Options, Postgres};
use mfa_daemon::store::records::{CUSTOMERS, OFFICES, SPACES};
use mfa_shared::api::customers::Customer;
use serde_json::json;
use std::sync::Arc;
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
    let begin = runtime.block_on(engine.changed_since(None, 0, &[])).unwrap().upto;
    // As others write while a daemon is cut off: the first and the last of them are of the space.
    let others = format!(
        "insert into stored_journal
         select {begin} + n, now(), 'ada', 'r', array[case when n in (1, 45000) then {} else {} end]::smallint[],
             array[decode(to_hex(1000000 + n), 'escape')], array['x'::bytea]
         from generate_series(1, 45000) n",
        CUSTOMERS.id, OFFICES.id,
    );
    runtime.block_on(ask(&address, &others));
    runtime.block_on(ask(&address, "update stored_form set journal_base = journal_base + 50000"));
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
                let page = runtime.block_on(engine.changed_since(Some(from), 1_000, &[CUSTOMERS])).unwrap();
                (page.keys.into_iter().map(|(_, key)| key).collect::<Vec<_>>(), page.upto, page.more)
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
