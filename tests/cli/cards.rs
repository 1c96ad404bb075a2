//! Cards that are over: people are warned of them, programs have the date.

use crate::support::run::run;
use crate::support::sample::sample;
use crate::support::world::World;
use mfa_shared::time::{Timestamp, Zone};
use std::time::UNIX_EPOCH;

#[test]
fn people_are_warned_of_cards_that_are_over() {
    let world = World::start();
    sample(&world);
    let create = |number: &str, expires: &str| {
        let line = ["cards", "create", "c-002", number, "-t", "Passport", "-e", expires, "-o", "table"];
        run(world.mfa(&line))
    };
    let warning = "warning: card P-OLD of customer c-002 expired on 2019-02-28; record the new one: \
        mfa cards create c-002 NUMBER --type TYPE --expires DATE\n";
    let ran = create("P-OLD", "2019-02-28");
    assert_eq!(ran.err, warning);
    ran.ok();
    let ran = create("P-NEW", "2999-12-31");
    assert_eq!(ran.err, "");
    ran.ok();
    for line in
        [&["cards", "list", "c-002"][..], &["cards", "get", "c-002", "P-OLD"], &["customers", "get", "c-002"]]
    {
        for (format, expected) in [("table", warning), ("wide", warning), ("json", ""), ("tsv", "")] {
            let ran = run(world.mfa(&[line, &["-o", format]].concat()));
            assert_eq!(ran.err, expected, "{line:?} {format}");
            ran.ok();
        }
    }
    let ran = run(world.mfa(&["cards", "get", "c-002", "P-NEW", "-o", "table"]));
    assert_eq!(ran.err, "");
}

#[test]
fn a_card_is_good_on_its_last_day_as_the_calendar_on_the_wall_shows_it() {
    let world = World::start();
    sample(&world);
    // Far to the west it is still the day that is over far to the east.
    let (west, east) = ("Etc/GMT+12", "Etc/GMT-14");
    let since = UNIX_EPOCH.elapsed().unwrap().as_millis();
    let now = Timestamp::from_millis(i64::try_from(since).unwrap());
    let last = Zone::named(west).unwrap().day(now).to_string();
    run(world.mfa(&["cards", "create", "c-002", "P-1", "-t", "Passport", "-e", &last])).ok();
    let found = |zone: &str| {
        let mut command = world.mfa(&["cards", "list", "c-002", "-o", "table"]);
        command.env("MFA_TIME_ZONE", zone);
        run(command).err
    };
    assert_eq!(found(west), "");
    assert!(found(east).contains(&format!("expired on {last}")));
}
