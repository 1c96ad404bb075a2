//! Chance that can be repeated: everything follows from one seed.

use crate::support::stored::postgres;
use std::collections::VecDeque;

/// Names the seed with which a history is played again.
const SEED: &str = "MFA_TEST_INTEREST_SEED";
/// The last events that a failure shows.
const SHOWN: usize = 60;

/// A source of numbers, and what was made of them. A panic prints both.
pub struct Chance {
    test: &'static str,
    seed: u64,
    state: u64,
    noted: VecDeque<String>,
}

impl Chance {
    /// The seed that was asked for; else the given one.
    pub fn new(test: &'static str, seed: u64) -> Self {
        let seed = asked().unwrap_or(seed);
        Self { test, seed, state: seed, noted: VecDeque::new() }
    }

    fn next(&mut self) -> u64 {
        // SplitMix64.
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.state ^ (self.state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below this one.
    pub fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.next() % end as u64).unwrap()
    }

    /// A number from the first to the last one.
    pub fn from(&mut self, first: i64, last: i64) -> i64 {
        first + i64::try_from(self.next() % u64::try_from(last - first + 1).unwrap()).unwrap()
    }

    /// True once in so many times.
    pub fn once_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }

    pub fn one<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len())]
    }

    /// Notes what happens.
    pub fn note(&mut self, what: String) {
        if self.noted.len() == SHOWN {
            self.noted.pop_front();
        }
        self.noted.push_back(what);
    }
}

impl Drop for Chance {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.noted.iter().for_each(|event| eprintln!("{event}"));
            let start = if postgres().is_some() { "tests/postgres.sh run " } else { "" };
            eprintln!("to repeat: {SEED}={} {start}cargo test --test mfa -- {}", self.seed, self.test);
        }
    }
}

/// The seed of the history that is to be played again.
pub fn asked() -> Option<u64> {
    std::env::var(SEED).ok().map(|seed| seed.parse().unwrap())
}

/// A seed that differs at every run, of a long history or a short one.
pub fn any_seed(long: bool) -> u64 {
    let mut bytes = [0; 8];
    getrandom::fill(&mut bytes).unwrap();
    u64::from_be_bytes(bytes) & !1 | u64::from(long)
}

/// Whether the history of a seed is a long one.
pub fn is_long(seed: u64) -> bool {
    asked().unwrap_or(seed) % 2 == 1
}
