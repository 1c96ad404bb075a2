//! `mfa check ledger` on doctored reports of days, with each engine.

use crate::support::counter::Counter;
use crate::support::stored;
use crate::support::world::World;
use mfa_daemon::Check;
use mfa_daemon::ops::days::check_days;
use mfa_daemon::store::records::DayMark;
use mfa_daemon::store::{Store, Tx};
use mfa_shared::amount::Amount;
use mfa_shared::api::days::OfficeDay;
use mfa_shared::fault::Fault;

/// A stopped daemon whose office has ended two days.
struct Days {
    world: World,
    store: Store,
}

impl Days {
    fn start() -> Self {
        let counter = Counter::active("500");
        counter.close("T1").is(202);
        for date in ["2031-05-05", "2031-05-06"] {
            counter.world.post(&format!("/offices/accra/days/{date}"), "").is(202);
        }
        let mut world = counter.world;
        world.stop();
        assert_eq!(world.check(&[Check::Ledger]), [""; 0]);
        let store = stored::open(world.config(), world.clock.clone());
        Self { world, store }
    }

    /// A finding that begins with this text appears after an alteration, which is then undone.
    #[track_caller]
    fn finds(&self, alter: fn(&mut Tx<'_>) -> Result<(), Fault>, expected: &str) {
        let found = self.store.write("doctor", move |tx| {
            tx.set_dry_run();
            alter(tx)?;
            check_days(tx)
        });
        let found = self.world.block_on(found).unwrap();
        let lines: Vec<_> = found.iter().map(|found| format!("{} {}", found.subject, found.detail)).collect();
        assert!(lines.iter().any(|line| line.starts_with(expected)), "{expected}: {lines:?}");
    }
}

fn day(tx: &mut Tx<'_>, number: usize) -> OfficeDay {
    tx.all::<OfficeDay>(&["accra"]).unwrap().remove(number - 1)
}

#[test]
fn a_report_of_a_day_that_was_altered_or_removed_is_found() {
    let days = Days::start();
    days.finds(
        |tx| {
            let report = day(tx, 1);
            tx.remove(&report);
            Ok(())
        },
        "day 2031-05-06 of office accra has number 2, and 1 is due",
    );
    days.finds(
        |tx| {
            let report = day(tx, 2);
            tx.remove(&report);
            Ok(())
        },
        "office accra has ended 2 days, and 1 are kept",
    );
    days.finds(
        |tx| {
            let mark = tx.get::<DayMark>(&["accra"])?.unwrap();
            tx.remove(&mark);
            Ok(())
        },
        "office accra has reports of days, and no record of how far they reach",
    );
    days.finds(
        |tx| {
            let mut report = day(tx, 2);
            report.sessions[0].cash_on_hand = Amount::parse("0.01").unwrap();
            tx.put(&report)
        },
        "day 2031-05-06 of office accra differs from day report 1 of teller T1",
    );
    days.finds(
        |tx| {
            let mut report = day(tx, 2);
            report.covers_from = report.covers_from.plus_seconds(1);
            tx.put(&report)
        },
        "day 2031-05-06 of office accra does not begin where the report before it has ended",
    );
    days.finds(
        |tx| {
            let mut report = day(tx, 2);
            report.total_debit = report.total_debit.plus(Amount::parse("0.01").unwrap());
            tx.put(&report)
        },
        "day 2031-05-06 of office accra has debits of 500.01",
    );
    days.world.block_on(days.store.close());
}
