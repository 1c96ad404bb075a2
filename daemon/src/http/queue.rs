//! A queue that a stranger cannot fill for others: each address has its turn after every other one, few
//! pieces of one address wait, and each kind of work has a lane of its own (`identity.md` section 13).

use crate::domain::network::client_of;
use std::collections::{HashMap, VecDeque};
use std::net::IpAddr;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// Pieces of work that may wait in a lane. A password takes tens of milliseconds.
const WAITING_MAX: usize = 64;

/// Which queue a piece of work waits in. The lanes take turns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lane {
    /// Logins, which anyone may try.
    Logins,
    /// Assertions of applications, each of which costs little.
    Assertions,
    /// Drawers that are unlocked.
    Drawers,
    /// New passwords of callers who may set them.
    Passwords,
}

const LANES: usize = 4;

impl Lane {
    /// Pieces of one address that may wait. The tellers of a branch may all come from the address of its
    /// proxy. Callers who set passwords were let in before, but one of them may not keep all others from it.
    pub fn of_address_max(self) -> usize {
        match self {
            Self::Logins => 4,
            Self::Assertions | Self::Drawers => 16,
            Self::Passwords => WAITING_MAX / 2,
        }
    }
}

/// Why a piece of work may not wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refused {
    /// The lane is full.
    Full,
    /// The address has enough in it.
    Address,
}

/// The queue of all lanes.
#[derive(Debug)]
pub struct Queue<J> {
    state: Mutex<State<J>>,
    wake: Condvar,
}

#[derive(Debug)]
struct State<J> {
    lanes: [Waiting<J>; LANES],
    /// The lane that is served next, if something waits in it.
    turn: usize,
    closed: bool,
}

#[derive(Debug)]
struct Waiting<J> {
    /// The addresses with work, each once, the next one first.
    turns: VecDeque<IpAddr>,
    work: HashMap<IpAddr, VecDeque<J>>,
    count: usize,
}

impl<J> Default for Waiting<J> {
    fn default() -> Self {
        Self { turns: VecDeque::new(), work: HashMap::new(), count: 0 }
    }
}

impl<J> Default for Queue<J> {
    fn default() -> Self {
        let lanes = std::array::from_fn(|_| Waiting::default());
        let state = State { lanes, turn: 0, closed: false };
        Self { state: Mutex::new(state), wake: Condvar::new() }
    }
}

impl<J> Waiting<J> {
    fn push(&mut self, from: IpAddr, max: usize, job: J) -> Result<(), Refused> {
        let own = self.work.entry(from).or_default();
        if own.len() >= max {
            return Err(Refused::Address);
        }
        if self.count >= WAITING_MAX {
            if own.is_empty() {
                self.work.remove(&from);
            }
            return Err(Refused::Full);
        }
        if own.is_empty() {
            self.turns.push_back(from);
        }
        own.push_back(job);
        self.count += 1;
        Ok(())
    }

    fn pop(&mut self) -> Option<J> {
        let from = self.turns.pop_front()?;
        let own = self.work.get_mut(&from)?;
        let job = own.pop_front()?;
        self.count -= 1;
        if own.is_empty() {
            self.work.remove(&from);
        } else {
            self.turns.push_back(from);
        }
        Some(job)
    }
}

impl<J> Queue<J> {
    fn state(&self) -> MutexGuard<'_, State<J>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Has a piece of work wait, unless too much waits already.
    pub fn push(&self, lane: Lane, from: IpAddr, job: J) -> Result<(), Refused> {
        self.state().lanes[lane as usize].push(client_of(from), lane.of_address_max(), job)?;
        self.wake.notify_one();
        Ok(())
    }

    /// The next piece of work, when there is one; none once the queue is closed. The lanes take turns.
    pub fn next(&self) -> Option<J> {
        let mut state = self.state();
        loop {
            if state.closed {
                return None;
            }
            for step in 0..LANES {
                let lane = (state.turn + step) % LANES;
                if let Some(job) = state.lanes[lane].pop() {
                    state.turn = lane + 1;
                    return Some(job);
                }
            }
            state = self.wake.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Closes the queue; anyone who waits for work learns of it.
    pub fn close(&self) {
        self.state().closed = true;
        self.wake.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Lane::{Drawers, Logins, Passwords};

    fn address(last: u8) -> IpAddr {
        [192, 0, 2, last].into()
    }

    #[test]
    fn addresses_and_lanes_take_turns() {
        let queue = Queue::default();
        for number in 0..4 {
            queue.push(Logins, address(1), format!("stranger {number}")).unwrap();
        }
        queue.push(Logins, address(2), "ama".to_owned()).unwrap();
        queue.push(Drawers, address(1), "drawer 0".to_owned()).unwrap();
        queue.push(Drawers, address(1), "drawer 1".to_owned()).unwrap();
        let order: Vec<_> = (0..7).map(|_| queue.next().unwrap()).collect();
        let expected =
            ["stranger 0", "drawer 0", "ama", "drawer 1", "stranger 1", "stranger 2", "stranger 3"];
        assert_eq!(order, expected);
        queue.close();
        assert_eq!(queue.next(), None);
    }

    #[test]
    fn few_of_an_address_wait_and_a_full_lane_leaves_the_other_one_open() {
        let queue = Queue::default();
        for _ in 0..Logins.of_address_max() {
            queue.push(Logins, address(0), ()).unwrap();
        }
        assert_eq!(queue.push(Logins, address(0), ()), Err(Refused::Address));
        let one_network = |last: u16| IpAddr::from([0x2001, 0xdb8, 0, 0, 0, 0, 0, last]);
        for last in 0..4 {
            queue.push(Logins, one_network(last), ()).unwrap();
        }
        assert_eq!(
            queue.push(Logins, one_network(9), ()),
            Err(Refused::Address),
            "one network is one client"
        );
        for number in 8..WAITING_MAX {
            queue.push(Logins, address(u8::try_from(number).unwrap()), ()).unwrap();
        }
        assert_eq!(queue.push(Logins, address(200), ()), Err(Refused::Full));
        queue.push(Drawers, address(200), ()).unwrap();
        for _ in 0..Passwords.of_address_max() {
            queue.push(Passwords, address(200), ()).unwrap();
        }
        assert_eq!(queue.push(Passwords, address(200), ()), Err(Refused::Address));
        queue.push(Passwords, address(201), ()).unwrap();
        queue.next().unwrap();
        queue.push(Logins, address(200), ()).unwrap();
    }
}
