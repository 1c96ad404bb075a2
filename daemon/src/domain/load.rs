//! How many requests may wait at once, so that those that are let in are answered soon, and the others are
//! refused at once.
//!
//! A request waits for as long as those before it take. So the number that may be there is the pace at which
//! requests end, while there are always some to work on, times the longest acceptable wait. While there is
//! less to do than could be done, the pace says nothing, and a burst is let in.

use std::time::Duration;

/// The longest that a request should wait.
const WAIT_MAX: Duration = Duration::from_millis(500);
/// Requests that are always let in: a hundred people at the same moment never notice this.
pub const ALWAYS: u64 = 128;
/// Requests that are always let in while there is less to do than could be done.
pub const BURST: u64 = 512;
/// Requests that must be there all the time for the pace to say what can be done.
const BUSY: u64 = 32;
/// For so long ends are counted before they make a pace.
const WINDOW: Duration = Duration::from_millis(250);

/// The requests of a kind.
#[derive(Debug, Default)]
pub struct Load {
    /// Requests that were let in and have not ended.
    running: u64,
    /// When this window began, from any fixed moment.
    since: Duration,
    /// The fewest requests in this window, and those that ended in it.
    fewest: u64,
    ended: u64,
    /// Whether there was always something to do in the last window.
    busy: bool,
    /// Requests that ended in a second when there was.
    pace: u64,
}

impl Load {
    /// How many may be there.
    fn limit(&self) -> u64 {
        let wait = u64::try_from(WAIT_MAX.as_millis()).unwrap_or(u64::MAX);
        (self.pace.saturating_mul(wait) / 1_000).max(if self.busy { ALWAYS } else { BURST })
    }

    /// Whether one more request is let in. Each that is must end.
    pub fn enter(&mut self, now: Duration) -> bool {
        self.look(now);
        let enters = self.running < self.limit();
        self.running += u64::from(enters);
        enters
    }

    /// A request that was let in has ended.
    pub fn end(&mut self, now: Duration) {
        self.running = self.running.saturating_sub(1);
        self.ended += 1;
        self.fewest = self.fewest.min(self.running);
        self.look(now);
    }

    /// Ends the window when its time is over.
    fn look(&mut self, now: Duration) {
        let took = now.saturating_sub(self.since);
        if took < WINDOW {
            return;
        }
        let millis = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
        let seen = self.ended.saturating_mul(1_000) / millis.max(1);
        let was_busy = std::mem::replace(&mut self.busy, self.fewest >= BUSY);
        if self.busy {
            // Groups of writes end together, so one window alone says too much or too little.
            self.pace = if was_busy { (3 * self.pace + seen) / 4 } else { seen };
        }
        (self.since, self.fewest, self.ended) = (now, self.running, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::VecDeque;

    const MILLI: Duration = Duration::from_millis(1);

    /// One who answers in turn, `each` requests in every `every` milliseconds.
    struct Server {
        load: Load,
        now: Duration,
        waiting: VecDeque<Duration>,
        waits: Vec<Duration>,
        refused: u64,
        each: u64,
        every: u64,
    }

    impl Server {
        fn new(each: u64, every: u64) -> Self {
            let load = Load::default();
            let now = Duration::from_secs(1_000);
            Self { load, now, waiting: VecDeque::new(), waits: Vec::new(), refused: 0, each, every }
        }

        /// So many milliseconds, in each of which `come` requests come.
        fn run(&mut self, millis: u64, come: u64) {
            (self.waits, self.refused) = (Vec::new(), 0);
            for milli in 0..millis {
                for _ in 0..come {
                    if self.load.enter(self.now) {
                        self.waiting.push_back(self.now)
                    } else {
                        self.refused += 1
                    }
                }
                self.now += MILLI;
                if (milli + 1).is_multiple_of(self.every) {
                    for _ in 0..self.each {
                        let Some(came) = self.waiting.pop_front() else { break };
                        self.load.end(self.now);
                        self.waits.push(self.now - came);
                    }
                }
            }
        }

        fn longest_of_99_in_100(&mut self) -> Duration {
            self.waits.sort();
            self.waits[self.waits.len() * 99 / 100]
        }
    }

    #[test]
    fn at_four_times_what_can_be_done_nearly_all_of_it_is_done_and_soon() {
        for (each, every) in [(10, 1), (1, 1), (4, 1), (20, 10), (500, 50), (60, 100)] {
            let mut server = Server::new(each, every);
            let come = (4 * each).div_ceil(every);
            server.run(20_000, come);
            let best = 20_000 / every * each;
            let done = server.waits.len() as u64;
            assert!(done * 100 >= best * 95, "{each} in {every} ms: {done} of {best}");
            let longest = server.longest_of_99_in_100();
            assert!(longest <= Duration::from_secs(1), "{each} in {every} ms: {longest:?}");
            assert!(server.refused * 100 > done * 200, "{each} in {every} ms: {}", server.refused);
        }
    }

    #[test]
    fn what_can_be_done_is_let_in_and_so_is_a_burst_behind_a_quiet_time() {
        let mut server = Server::new(5, 1);
        server.run(10_000, 4);
        assert_eq!(server.refused, 0);
        // A request now and then, for a minute.
        for _ in 0..60 {
            server.run(999, 0);
            server.run(1, 1);
        }
        server.run(1, BURST - 1);
        assert_eq!(server.refused, 0);
        server.run(10_000, 4);
        assert_eq!(server.refused, 0);
    }

    #[test]
    fn a_stalled_load_admits_the_minimum_and_recovers_by_itself() {
        let mut server = Server::new(5, 1);
        server.run(5_000, 5);
        server.run(2_000, 20);
        (server.each, server.every) = (0, 1);
        server.run(10_000, 5);
        let before = server.waiting.len();
        server.run(10_000, 5);
        assert_eq!((server.waiting.len(), server.waits.len()), (before, 0), "nothing comes in");
        (server.each, server.every) = (5, 1);
        server.run(3_000, 4);
        server.run(3_000, 4);
        assert_eq!(server.refused, 0);
    }

    #[test]
    fn a_few_that_take_long_say_nothing_of_the_others() {
        let mut load = Load::default();
        for _ in 0..BUSY - 1 {
            assert!(load.enter(Duration::ZERO));
        }
        for second in 1..600 {
            let now = Duration::from_secs(second);
            for _ in 0..200 {
                assert!(load.enter(now), "second {second}");
            }
            for _ in 0..200 {
                load.end(now + Duration::from_millis(5));
            }
        }
    }
}
