//! What a refused transaction leaves behind.

use super::postgres::fresh;
use mfa_daemon::clock::Clock;
use mfa_daemon::store::embedded::{self, Embedded};
use mfa_daemon::store::postgres::{Options, Postgres};
use mfa_daemon::store::records::SPACES;
use mfa_daemon::store::{Store, Tx};
use mfa_shared::api::customers::Customer;
use mfa_shared::fault::{self, Fault};
use serde_json::json;
use tokio::runtime::Runtime;

fn customer(name: &str) -> Customer {
    serde_json::from_value(json!({
        "identifier": name, "type": "PERSON", "member": false, "surname": "Mensah",
        "contactDetails": [], "currentState": "PENDING", "customValues": [],
        "createdBy": "ada", "createdOn": "2026-01-01T00:00:00.000Z",
    }))
    .unwrap()
}

fn refuse<T>() -> Result<T, Fault> {
    Err(Fault::new(fault::IDENTIFIER_TAKEN, "refused"))
}

/// Which of the customers are there after a transaction in which the parts of a batch are refused.
fn kept(store: &Store, runtime: &Runtime) -> Vec<&'static str> {
    // A part that keeps something when it is refused takes nothing with it that came before.
    let batch = |tx: &mut Tx<'_>| {
        tx.attempt(|tx| tx.put(&customer("before")))?;
        tx.attempt(|tx| {
            tx.keep_when_refused();
            tx.put(&customer("part"))?;
            refuse()
        })
    };
    assert!(runtime.block_on(store.write::<(), _>("test", batch)).is_err());
    let alone = |tx: &mut Tx<'_>| {
        tx.keep_when_refused();
        tx.put(&customer("alone"))?;
        refuse()
    };
    assert!(runtime.block_on(store.write::<(), _>("test", alone)).is_err());
    let there = |tx: &mut Tx<'_>| {
        let mut there = ["before", "part", "alone"].to_vec();
        there.retain(|name| tx.has::<Customer>(&[name]).unwrap());
        Ok(there)
    };
    runtime.block_on(store.read(false, there)).unwrap()
}

#[test]
fn a_refused_batch_keeps_nothing_of_what_came_before_a_part_that_would_keep_something() {
    let runtime = Runtime::new().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let embedded = Embedded::open(embedded::Options::new(folder.path())).unwrap();
    let mut stores = vec![Store::new(embedded, Clock::system(), false)];
    let postgres = fresh().map(|address| Postgres::open(Options::new(address, SPACES)).unwrap());
    stores.extend(postgres.map(|engine| Store::new(engine, Clock::system(), false)));
    for store in stores {
        assert_eq!(kept(&store, &runtime), ["alone"]);
        runtime.block_on(store.close());
    }
}
