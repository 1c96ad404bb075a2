use super::*;
use crate::clock::Clock;
use crate::domain::shelf::Wanted;
use crate::store::Tx;
use crate::store::embedded::{Embedded, Options};
use crate::store::records::StoredOffice;
use serde_json::json;
use std::sync::mpsc;
use std::thread::{self, JoinHandle};
use tempfile::TempDir;

const SOON: Duration = Duration::from_secs(5);
const A_MOMENT: Duration = Duration::from_millis(100);

fn store() -> (Store, Arc<Shelves>, TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let engine = Embedded::open(Options::new(folder.path().join("data"))).unwrap();
    (Store::new(engine, Clock::system(), false), Arc::default(), folder)
}

/// Gives the office a name.
async fn name(store: &Store, name: &str) {
    let office: StoredOffice = serde_json::from_value(json!({
        "identifier": "north", "name": name,
        "audit": { "createdBy": "test", "createdOn": "2026-01-01T00:00:00.000Z" },
    }))
    .unwrap();
    store.write("test", move |tx: &mut Tx<'_>| tx.put(&office)).await.unwrap();
}

/// How many offices have a name, as far as the shelf has followed.
fn named(shelves: &Shelves, name: &str) -> usize {
    let term = Some(name);
    let wanted = Wanted { column: None, descending: false, group: None, term, passed: 0, size: 10 };
    shelves.reading(Noun::Offices).page(&wanted).unwrap().total
}

/// Looks at the offices, as lists do, until the sender is dropped, or for some seconds.
fn look(shelves: &Shelves) -> (mpsc::Sender<()>, JoinHandle<()>) {
    let shelf = shelves.of(Noun::Offices).shelf.clone();
    let ((end, ends), (begun, begins)) = (mpsc::channel(), mpsc::channel());
    let looking = thread::spawn(move || {
        let _shelf = shelf.read().unwrap();
        begun.send(()).unwrap();
        let _ = ends.recv_timeout(2 * SOON);
    });
    begins.recv().unwrap();
    (end, looking)
}

#[tokio::test]
async fn a_list_waits_for_no_order_but_its_own() {
    let (store, shelves, _folder) = store();
    let customers = shelves.of(Noun::Customers);
    // The order of the customers is being made, for as long as this lasts.
    let making = customers.followed.lock().await;
    let ready = |noun| tokio::time::timeout(SOON, shelves.ready(&store, noun, None));
    assert!(ready(Noun::Offices).await.unwrap().unwrap().is_some());
    let waits = tokio::time::timeout(A_MOMENT, shelves.ready(&store, Noun::Customers, None));
    assert!(waits.await.is_err());
    drop(making);
    assert!(ready(Noun::Customers).await.unwrap().unwrap().is_some());
    store.close().await;
}

#[tokio::test]
async fn an_order_that_waits_for_those_who_look_at_it_holds_up_nothing_else() {
    let (store, shelves, _folder) = store();
    shelves.follow(&store, Noun::Offices).await.unwrap();
    name(&store, "first").await;
    let (end, looking) = look(&shelves);
    let (own, other) = (shelves.clone(), store.clone());
    let following = tokio::spawn(async move { own.follow(&other, Noun::Offices).await });
    // All of this test is one thread.
    tokio::time::sleep(A_MOMENT).await;
    assert!(!following.is_finished());
    drop(end);
    following.await.unwrap().unwrap();
    assert_eq!(named(&shelves, "first"), 1);
    looking.join().unwrap();
    store.close().await;
}

#[tokio::test]
async fn what_a_list_that_was_given_up_has_read_never_replaces_what_came_later() {
    let (store, shelves, _folder) = store();
    name(&store, "zeroth").await;
    shelves.follow(&store, Noun::Offices).await.unwrap();
    name(&store, "first").await;
    let (end, looking) = look(&shelves);
    let given_up = tokio::time::timeout(A_MOMENT, shelves.ready(&store, Noun::Offices, None)).await;
    assert!(given_up.is_err());
    name(&store, "second").await;
    let waits = tokio::time::timeout(A_MOMENT, shelves.ready(&store, Noun::Offices, None)).await;
    assert!(waits.is_err(), "the one before has not come to its end");
    drop(end);
    tokio::time::timeout(SOON, shelves.ready(&store, Noun::Offices, None)).await.unwrap().unwrap();
    assert_eq!(["zeroth", "first", "second"].map(|name| named(&shelves, name)), [0, 0, 1]);
    looking.join().unwrap();
    store.close().await;
}

#[tokio::test]
async fn a_record_that_cannot_be_read_leaves_the_orders_of_other_nouns() {
    let (store, shelves, _folder) = store();
    // Customers are followed before offices.
    let broken = |tx: &mut Tx<'_>| {
        tx.put_line::<mfa_shared::api::customers::Customer>(b"c-1".to_vec(), b"{".to_vec());
        Ok(())
    };
    store.write("test", broken).await.unwrap();
    name(&store, "first").await;
    assert!(shelves.follow_all(&store, None).await.is_err());
    assert_eq!(named(&shelves, "first"), 1);
    store.close().await;
}
