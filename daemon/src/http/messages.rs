//! Test messages that are under way. Each waits for a name server and a receiver, up to half a minute, and
//! anybody who may send them could have thousands of them wait, on threads that others need.

use mfa_shared::fault::{self, Fault};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// How many may be under way at once, and how many of one caller.
const AT_ONCE: usize = 32;
const OF_CALLER: usize = 4;
/// Seconds after which another one may be tried.
const RETRY_SECONDS: u32 = 5;

/// The callers whose messages are under way, each as often as there are some.
#[derive(Debug, Clone, Default)]
pub struct Messages(Arc<Mutex<Vec<String>>>);

/// One of them, until it is dropped.
#[derive(Debug)]
pub struct Message {
    all: Messages,
    caller: String,
}

impl Messages {
    fn under_way(&self) -> MutexGuard<'_, Vec<String>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets one more of a caller begin, unless too many are under way.
    pub fn begin(&self, caller: &str) -> Result<Message, Fault> {
        let mut under_way = self.under_way();
        let own = under_way.iter().filter(|other| *other == caller).count();
        let many = if own >= OF_CALLER {
            format!("{OF_CALLER} test messages of yours are")
        } else if under_way.len() >= AT_ONCE {
            format!("{AT_ONCE} test messages are")
        } else {
            under_way.push(caller.to_owned());
            return Ok(Message { all: self.clone(), caller: caller.to_owned() });
        };
        let detail = format!("{many} under way; send this one when one of them has ended");
        Err(Fault::new(fault::UNAVAILABLE, detail).retry_after(RETRY_SECONDS))
    }
}

impl Drop for Message {
    fn drop(&mut self) {
        let mut under_way = self.all.under_way();
        if let Some(place) = under_way.iter().position(|caller| *caller == self.caller) {
            under_way.swap_remove(place);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_caller_has_a_few_messages_under_way_and_all_together_some_more() {
        let messages = Messages::default();
        let mut held: Vec<_> = (0..OF_CALLER).map(|_| messages.begin("ama").unwrap()).collect();
        let refused = messages.begin("ama").unwrap_err();
        assert_eq!((refused.kind, refused.detail.contains("of yours")), (fault::UNAVAILABLE, true));
        held.extend((held.len()..AT_ONCE).map(|n| messages.begin(&format!("user-{n}")).unwrap()));
        assert!(messages.begin("esi").unwrap_err().detail.starts_with("32 test messages are"));
        held.pop();
        held.push(messages.begin("esi").unwrap());
        drop(held);
        assert!(messages.begin("ama").is_ok() && messages.under_way().is_empty());
    }
}
