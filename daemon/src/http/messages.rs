//! Test messages that are under way. Each waits for a name server and a receiver, up to half a minute, and
//! anybody who may send them could have thousands of them wait, on threads that others need.

use super::places::{Full, Place, Places};
use mfa_shared::fault::{self, Fault};

/// How many may be under way at once, and how many of one caller.
const AT_ONCE: usize = 32;
const OF_CALLER: usize = 4;
/// Seconds after which another one may be tried.
const RETRY_SECONDS: u32 = 5;

/// The callers whose messages are under way.
#[derive(Debug, Default)]
pub struct Messages(Places<String>);

impl Messages {
    /// Lets one more of a caller begin, unless too many are under way.
    pub fn begin(&self, caller: &str) -> Result<Place<String>, Fault> {
        self.0.take(caller.to_owned(), OF_CALLER, AT_ONCE).map_err(|full| {
            let many = match full {
                Full::OfHolder => format!("{OF_CALLER} test messages of yours are"),
                Full::OfAll => format!("{AT_ONCE} test messages are"),
            };
            let detail = format!("{many} under way; send this one when one of them has ended");
            Fault::new(fault::UNAVAILABLE, detail).retry_after(RETRY_SECONDS)
        })
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
        assert!(messages.begin("ama").is_ok() && messages.0.are_free());
    }
}
