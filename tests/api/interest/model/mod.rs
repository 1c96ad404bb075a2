//! Random histories against a plain recalculation: every accrual, entry, balance and remainder is equal.
//!
//! `MFA_TEST_ACCOUNT_DAYS` says how many accruals are compared at least; `tests/run fuzz` asks for 100,000. A
//! failure prints the seed with which it can be repeated.

mod calendar;
mod chance;
mod compare;
mod history;
mod killed;
mod plain;
mod run;

use crate::support::stored::postgres;
use crate::support::world::World;
use chance::{Chance, any_seed, asked, is_long};
use history::History;
use serde_json::Value;

/// Accruals that are compared in an ordinary run of the tests.
const ACCOUNT_DAYS: u64 = 4_000;
/// From so many on the histories are long.
const LONG: u64 = 50_000;

/// A value of the wire in 0.00001.
fn hundred_thousandths(of: &Value) -> i128 {
    let text = of.to_string();
    // The sign precedes all digits.
    let (whole, fraction) = text.split_once('.').unwrap_or((&text, ""));
    assert!(fraction.len() <= 5, "{text}");
    format!("{whole}{fraction:0<5}").parse().unwrap()
}

/// So many 0.00001 with this many digits, of which the rest is 0.
fn text_of(parts: i128, scale: u32) -> String {
    let unit = 10_i128.pow(5 - scale);
    assert_eq!(parts % unit, 0, "{parts} has more than {scale} digits");
    let (parts, whole) = (parts / unit, 10_i128.pow(scale));
    let sign = if parts < 0 { "-" } else { "" };
    let (digits, fraction) = (parts.abs() / whole, parts.abs() % whole);
    match scale {
        0 => format!("{sign}{digits}"),
        _ => format!("{sign}{digits}.{fraction:0width$}", width = scale as usize),
    }
}

fn account_days(otherwise: u64) -> u64 {
    std::env::var("MFA_TEST_ACCOUNT_DAYS").map_or(otherwise, |days| days.parse().unwrap())
}

/// A history of one bank; the accruals in it.
fn play(seed: u64) -> u64 {
    let mut chance = Chance::new("api::interest::model::random", seed);
    let world = World::start();
    world.clock.advance(chance.from(0, 700) * 86_400);
    let accounts = chance.below(60) + 20;
    let days = chance.from(30, if is_long(seed) { 400 } else { 120 });
    let mut history = History::begin(world, chance, accounts);
    history.play(days, true);
    history.finish()
}

#[test]
fn random_histories_come_out_as_a_plain_recalculation_says() {
    let wanted = account_days(if postgres().is_some() { ACCOUNT_DAYS / 2 } else { ACCOUNT_DAYS });
    let (mut compared, mut histories) = (0, 0);
    while compared < wanted {
        compared += play(any_seed(wanted >= LONG));
        histories += 1;
        if asked().is_some() {
            break;
        }
    }
    println!("{compared} account-days of {histories} histories are equal");
}
