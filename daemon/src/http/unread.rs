//! Answers that their clients have not read yet. A client may read as slowly as `pace.rs` allows, for hours;
//! so what waits in memory for all of them together has a bound, and who would exceed it is refused.

use super::reply::{Content, Reply};
use bytes::Bytes;
use mfa_shared::fault::{self, Fault};
use std::sync::Arc;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// What is counted in, and what is smaller is not counted at all: it fits into the buffers of a connection.
const UNIT_BYTES: usize = 64 * 1024;
/// What may wait together. A single answer that is larger is the only one, then.
const BYTES_MAX: usize = 256 * 1024 * 1024;
const UNITS_MAX: usize = BYTES_MAX / UNIT_BYTES;
const RETRY_AFTER_S: u32 = 2;

/// The room for answers that are not read yet.
#[derive(Debug)]
pub struct Unread(Arc<Semaphore>);

impl Default for Unread {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(UNITS_MAX)))
    }
}

/// Bytes that take room until the last of them is sent.
struct Held {
    bytes: Bytes,
    _room: OwnedSemaphorePermit,
}

impl AsRef<[u8]> for Held {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

impl Unread {
    /// The answer to a read, which takes room until it is sent; refused where there is none.
    pub fn hold(&self, reply: Reply) -> Result<Reply, Fault> {
        let bytes = match &reply.content {
            Content::Bytes(bytes) if bytes.len() >= UNIT_BYTES => bytes.clone(),
            _ => return Ok(reply),
        };
        let units = bytes.len().div_ceil(UNIT_BYTES).min(UNITS_MAX);
        let room =
            u32::try_from(units).ok().and_then(|units| self.0.clone().try_acquire_many_owned(units).ok());
        let Some(room) = room else {
            let detail = "the answers that clients have not read yet take all the memory there is for them; \
                          send this request again soon, or ask for smaller pages";
            return Err(Fault::new(fault::UNAVAILABLE, detail).retry_after(RETRY_AFTER_S));
        };
        Ok(Reply { content: Content::Bytes(Bytes::from_owner(Held { bytes, _room: room })), ..reply })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reply(bytes: usize) -> Reply {
        Reply::json(vec![b' '; bytes])
    }

    #[test]
    fn answers_take_room_until_they_are_sent_and_small_ones_none() {
        let unread = Unread::default();
        let half = unread.hold(reply(BYTES_MAX / 2)).unwrap();
        let other = unread.hold(reply(BYTES_MAX / 2)).unwrap();
        assert_eq!(unread.hold(reply(UNIT_BYTES)).unwrap_err().kind, fault::UNAVAILABLE);
        assert_eq!(unread.hold(reply(UNIT_BYTES - 1)).unwrap().bytes().len(), UNIT_BYTES - 1);
        // Whoever sends takes it in pieces.
        let Content::Bytes(mut left) = half.content else { panic!("it has bytes") };
        let mut sent = left.split_to(UNIT_BYTES);
        drop(left);
        assert!(unread.hold(reply(UNIT_BYTES)).is_err(), "a piece of it is still there");
        sent.clear();
        drop(sent);
        assert_eq!(unread.hold(reply(BYTES_MAX / 2)).unwrap().bytes().len(), BYTES_MAX / 2);
        drop(other);
        assert_eq!(unread.hold(reply(BYTES_MAX + 1)).unwrap().bytes().len(), BYTES_MAX + 1);
    }
}
