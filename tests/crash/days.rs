//! Days that end while the daemon is killed again and again: numbers have no gaps, and each day ends once.

use super::{Process, client, folder, random};
use crate::support::counter::Counter;
use crate::support::world::World;
use mfa_daemon::{Check, Config, StorePlace};
use std::time::Duration;

/// Kills of a run, and days that end between two of them at most.
const KILLS: usize = 8;
/// Time from a start to the next kill at most.
const LOAD_MS: u64 = 120;

#[test]
fn ends_of_days_survive_kills_without_a_gap_between_their_numbers() {
    let (_kept, home) = folder();
    let data = home.join("data");
    let stored_there = |config: &mut Config| {
        (config.data_dir, config.store) = (data.clone(), StorePlace::Embedded);
        config.secret_key_file = home.join("data.key");
    };
    let counter = Counter::with(World::with(stored_there));
    counter.open("T1", "emp1", "5");
    counter.close("T1").is(202);
    let mut date = counter.world.clock.now().day();
    drop(counter);
    // The clock of a process is that of this machine, which must be behind the days that end.
    for _ in 0..6 {
        date = date.plus_months(-24);
    }
    let first = date;
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let http = client();
        for _ in 0..KILLS {
            let process = Process::start(&home, &data, &http).await;
            let kill_after = Duration::from_millis(20 + random(LOAD_MS));
            let url = process.url.clone();
            let work = async {
                loop {
                    let path = format!("{url}/offices/accra/days/{date}");
                    let sent = http.post(path).header("idempotency-key", date.to_string()).send().await;
                    let Ok(answer) = sent else { return };
                    assert_eq!(answer.status().as_u16(), 202, "{date}");
                    date = date.next();
                }
            };
            let _ = tokio::time::timeout(kill_after, work).await;
            process.kill();
        }
    });
    assert!(date > first, "days ended between the kills");
    let mut world = World::with(stored_there);
    let listed = world.get("/offices/accra/days").is(200).json();
    let (mut day, mut count) = (first, 0);
    for (report, number) in listed.as_array().unwrap().iter().zip(1..) {
        assert_eq!((&report["number"], report["date"].as_str()), (&number.into(), Some(&*day.to_string())));
        (day, count) = (day.next(), number);
    }
    // The last one may have ended without its answer being received.
    assert!(day == date || day == date.next(), "{day} {date}");
    world.stop();
    assert_eq!(world.check(&[Check::Store, Check::Ledger]), Vec::<String>::new());
    println!("{KILLS} kills, {count} days ended");
}
