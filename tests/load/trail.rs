//! Fills the audit trail of a store whose daemon is stopped, for the benchmark `history`:
//!
//! ```text
//! trail DATA_DIR RECORDS
//! ```
//!
//! Adds records to the trail, as many as are missing from RECORDS, through the store itself: they are numbered,
//! hashed and put into the lists as those of a daemon are, only many in one transaction. Record n is a change of
//! customer n % (RECORDS / 10) by one of 200 users in request `r-n`.

use mfa_daemon::Clock;
use mfa_daemon::ops::audit::{pieces, put_pieces};
use mfa_daemon::store::embedded::{Embedded, Options};
use mfa_daemon::store::records::AuditEnd;
use mfa_daemon::store::{Store, Tx};
use mfa_shared::api::audit::{AuditChange, AuditRecord};
use mfa_shared::fault::Fault;
use mfa_shared::node::Node;
use std::process::ExitCode;

/// Records of one transaction.
const AT_ONCE: u64 = 1000;
/// Records that are listed in one transaction.
const LISTED: u64 = 4000;
/// Customers, as a part of the records, and users.
const EACH_CUSTOMER: u64 = 10;
const USERS: u64 = 200;

fn record(number: u64, all: u64, tx: &Tx<'_>) -> AuditRecord {
    let customer = format!("c-{}", number % (all / EACH_CUSTOMER).max(1));
    let surname = |at: u64| Some(Node::Text(format!("Mensah-{at}")));
    let change = AuditChange {
        field: "/surname".to_owned(),
        before: surname(number.saturating_sub(1)),
        after: surname(number),
    };
    AuditRecord {
        actor: format!("user-{}", number * 7 % USERS),
        origin: Some("127.0.0.1".to_owned()),
        request_id: format!("r-{number}"),
        method: Some("PUT".to_owned()),
        path: Some(format!("/customers/{customer}")),
        resource: Some(format!("customer/{customer}")),
        status: Some(202),
        changes: vec![change],
        ..AuditRecord::of("UpdateCustomer", tx.now())
    }
}

async fn fill(store: &Store, all: u64) -> Result<(), Fault> {
    let last = |tx: &mut Tx<'_>| Ok(tx.get::<AuditEnd>(AuditEnd::KEY)?.map_or(0, |end| end.sequence));
    let mut from = store.read(false, last).await? + 1;
    while from <= all {
        let upto = all.min(from + AT_ONCE - 1);
        let add = move |tx: &mut Tx<'_>| {
            tx.set_actor("bench");
            (from..=upto).for_each(|number| tx.audit(record(number, all, tx)));
            Ok(())
        };
        store.write("bench", add).await?;
        from = upto + 1;
    }
    while let Some(pieces) = store.read(false, |tx| pieces(tx, LISTED)).await? {
        store.write("bench", move |tx| put_pieces(tx, &pieces)).await?;
    }
    Ok(())
}

fn run() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    let [folder, records] = arguments.as_slice() else {
        return Err("usage: trail DATA_DIR RECORDS".into());
    };
    let records = records.parse()?;
    let engine = Embedded::open(Options::new(folder.clone())).map_err(|error| error.to_string())?;
    let store = Store::new(engine, Clock::system(), false);
    let runtime = tokio::runtime::Runtime::new()?;
    runtime.block_on(async {
        fill(&store, records).await?;
        store.close().await;
        Ok::<_, Fault>(())
    })?;
    Ok(())
}

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("trail: {error}");
            ExitCode::FAILURE
        }
    }
}
