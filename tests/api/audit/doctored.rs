//! A trail that was doctored in the store itself, with everything else put right again.

use crate::support::stored::open;
use crate::support::world::World;
use mfa_daemon::store::Tx;
use mfa_daemon::store::record::numbered;
use mfa_daemon::store::records::{AuditEnd, AuditIndexed, AuditList, StoredAudit};
use mfa_daemon::{Check, Clock};
use mfa_shared::fault::Fault;
use serde_json::json;
use std::time::Duration;

fn record(tx: &mut Tx<'_>, number: u64) -> Result<StoredAudit, Fault> {
    Ok(tx.at::<StoredAudit>(&numbered(&[], number))?.unwrap())
}

/// What the check of a store finds after this change to it.
fn found(world: &mut World, doctor: fn(&mut Tx<'_>) -> Result<(), Fault>) -> Vec<String> {
    let config = world.config().clone();
    world.block_on(async {
        let store = open(&config, Clock::system());
        store.write("tamper", doctor).await.unwrap();
        store.close().await;
    });
    world.check(&[Check::Store])
}

/// Stops the daemon when it has put all of the trail into its lists, which it does beside serving.
fn stop_when_listed(world: &mut World) {
    let is_listed = |tx: &mut Tx<'_>| {
        let end = tx.get::<AuditEnd>(AuditEnd::KEY)?.map(|end| end.sequence);
        Ok(tx.get::<AuditIndexed>(AuditIndexed::KEY)?.map(|indexed| indexed.sequence) == end)
    };
    world.stop();
    let config = world.config().clone();
    while !world.block_on(async {
        let store = open(&config, Clock::system());
        let listed = store.read(true, is_listed).await.unwrap();
        store.close().await;
        listed
    }) {
        world.restart();
        std::thread::sleep(Duration::from_millis(300));
        world.stop();
    }
}

/// A stopped daemon with six customers, whose records of the trail are in its lists.
fn listed() -> World {
    let mut world = World::start();
    for number in 1..=6 {
        world.post("/customers", json!({ "identifier": format!("c-{number}") }).to_string()).is(202);
    }
    world.get("/audit/head").is(200);
    stop_when_listed(&mut world);
    world
}

#[test]
fn lists_of_the_trail_that_differ_from_its_records_are_found_and_named() {
    let mut world = listed();
    let listed = found(&mut world, |tx| {
        let mut list: AuditList = tx.at(&numbered(&["a guest"], 0))?.unwrap();
        list.sequences.remove(3);
        tx.add(&list);
        Ok(())
    });
    assert!(listed.iter().any(|line| line.contains("lists of the audit trail")), "{listed:?}");
    let elsewhere = found(&mut world, |tx| {
        // As many as there were, but the last one names a record of another actor.
        let mut list: AuditList = tx.at(&numbered(&["a guest"], 0))?.unwrap();
        list.sequences.push(99);
        tx.add(&list);
        Ok(())
    });
    let named = "list a guest of the audit trail - names record 99, which does not belong there";
    assert!(elsewhere.iter().any(|line| line == named), "{elsewhere:?}");
    // Back to what it was; then a place of one customer stands in the list of another.
    found(&mut world, |tx| {
        let mut list: AuditList = tx.at(&numbered(&["a guest"], 0))?.unwrap();
        list.sequences = (1..=6).collect();
        tx.add(&list);
        Ok(())
    });
    let exchange = |tx: &mut Tx<'_>| {
        let list = |customer: u8| numbered(&[&format!("r customer/c-{customer}")], 0);
        let (mut one, mut two): (AuditList, AuditList) =
            (tx.at(&list(1))?.unwrap(), tx.at(&list(2))?.unwrap());
        std::mem::swap(&mut one.sequences, &mut two.sequences);
        tx.add(&one);
        tx.add(&two);
        Ok(())
    };
    let exchanged = found(&mut world, exchange);
    let wrong = exchanged.iter().filter(|line| line.contains("which does not belong there")).count();
    assert_eq!(wrong, 2, "{exchanged:?}");
    assert!(exchanged.iter().any(|line| line.contains("name other records than they must")), "{exchanged:?}");
    assert_eq!(found(&mut world, exchange), [""; 0]);
}

#[test]
fn each_thing_that_was_done_to_the_trail_is_found_and_named() {
    let mut world = listed();
    assert_eq!(world.check(&[Check::Store]), Vec::<String>::new());
    let altered = found(&mut world, |tx| {
        let StoredAudit(mut record) = record(tx, 2)?;
        record.actor = "ghost".to_owned();
        tx.add(&StoredAudit(record));
        Ok(())
    });
    assert!(
        altered.iter().any(|line| line.contains("audit record 2") && line.contains("altered")),
        "{altered:?}"
    );
    let mended = found(&mut world, |tx| {
        let StoredAudit(mut record) = record(tx, 2)?;
        record.actor = "guest".to_owned();
        tx.add(&StoredAudit(record));
        Ok(())
    });
    assert_eq!(mended, Vec::<String>::new());
    let swap = |tx: &mut Tx<'_>| {
        let (StoredAudit(mut three), StoredAudit(mut four)) = (record(tx, 3)?, record(tx, 4)?);
        std::mem::swap(&mut three.sequence, &mut four.sequence);
        tx.add(&StoredAudit(three));
        tx.add(&StoredAudit(four));
        Ok(())
    };
    let swapped = found(&mut world, swap);
    assert!(swapped.iter().any(|line| line.contains("audit record 3")), "{swapped:?}");
    assert!(!found(&mut world, swap).iter().any(|line| line.contains("audit record")));
    let inserted = found(&mut world, |tx| {
        // A second record 4, and everything behind it one further, to the end.
        let end: AuditEnd = tx.get(AuditEnd::KEY)?.unwrap();
        for number in (4..=end.sequence).rev() {
            let StoredAudit(mut moved) = record(tx, number)?;
            moved.sequence = moved.sequence.map(|sequence| sequence + 1);
            tx.add(&StoredAudit(moved));
        }
        tx.add(&AuditEnd { sequence: end.sequence + 1, ..end });
        Ok(())
    });
    let named =
        [5, 4].map(|number| inserted.iter().any(|line| line.contains(&format!("audit record {number}"))));
    assert_eq!(named, [true, false], "{inserted:?}");
    let removed = found(&mut world, |tx| record(tx, 5).map(|five| tx.remove(&five)));
    assert!(
        removed.iter().any(|line| line.contains("audit record 5") && line.contains("missing")),
        "{removed:?}"
    );
    let beheaded = found(&mut world, |tx| {
        let end: AuditEnd = tx.get(AuditEnd::KEY)?.unwrap();
        tx.add(&AuditEnd { hash: "0".repeat(64), ..end });
        Ok(())
    });
    assert!(beheaded.iter().any(|line| line.contains("is recorded as the last one")), "{beheaded:?}");
}
