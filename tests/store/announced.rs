//! What is announced to PostgreSQL before it is read takes few messages. This test needs `MFA_TEST_POSTGRES`.

use super::postgres::fresh;
use super::rehearsed::round_trips;
use mfa_daemon::clock::Clock;
use mfa_daemon::domain::search::{Kind, Phrase};
use mfa_daemon::search::Search;
use mfa_daemon::store::Store;
use mfa_daemon::store::postgres::{Options, Postgres};
use mfa_daemon::store::records::SPACES;
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
    let search = Search::default();
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
