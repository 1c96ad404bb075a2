//! Answers that their clients have not read yet. A client may read as slowly as `pace.rs` allows, for hours;
//! so what waits in memory for all of them together has a bound, and who would exceed it is refused.

use super::reply::{Content, Reply};
use super::room::{Full, Room, Taken};
use bytes::Bytes;
use mfa_shared::fault::{self, Fault};
use std::net::IpAddr;

/// What is smaller is not counted: it fits into the buffers of a connection.
const COUNTED_BYTES: usize = 64 * 1024;
const RETRY_AFTER_S: u32 = 2;

/// The room for answers that are not read yet.
#[derive(Debug, Default)]
pub struct Unread(Room);

/// Bytes that take room until the last of them is sent.
struct Held {
    bytes: Bytes,
    _taken: Taken,
}

impl AsRef<[u8]> for Held {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

impl Unread {
    /// The answer to a read of an address, which takes room until it is sent; refused where there is none.
    pub fn hold(&self, reply: Reply, from: IpAddr) -> Result<Reply, Fault> {
        let bytes = match &reply.content {
            Content::Bytes(bytes) if bytes.len() >= COUNTED_BYTES => bytes.clone(),
            _ => return Ok(reply),
        };
        let taken = self.0.take(from, bytes.len()).map_err(|full| {
            let whose = if full == Full::OfAll { "clients have" } else { "your address has" };
            let detail = format!(
                "the answers that {whose} not read yet take all the memory there is for them; send this \
                 request again soon, or ask for smaller pages"
            );
            Fault::new(fault::UNAVAILABLE, detail).retry_after(RETRY_AFTER_S)
        })?;
        let held = Held { bytes, _taken: taken };
        Ok(Reply { content: Content::Bytes(Bytes::from_owner(held)), ..reply })
    }
}

#[cfg(test)]
mod tests {
    use super::super::room::{BYTES_MAX, OF_CLIENT_MAX};
    use super::*;

    const MIB: usize = 1024 * 1024;

    fn hold(unread: &Unread, client: u8, bytes: usize) -> Result<Bytes, Fault> {
        let held = unread.hold(Reply::json(vec![b' '; bytes]), IpAddr::from([192, 0, 2, client]))?;
        let Content::Bytes(bytes) = held.content else { panic!("it has bytes") };
        Ok(bytes)
    }

    #[test]
    fn answers_take_room_until_they_are_sent_and_small_ones_none() {
        let unread = Unread::default();
        let mut held: Vec<_> = (0..8).map(|client| hold(&unread, client, OF_CLIENT_MAX).unwrap()).collect();
        assert_eq!(hold(&unread, 9, COUNTED_BYTES).unwrap_err().kind, fault::UNAVAILABLE);
        assert_eq!(hold(&unread, 9, COUNTED_BYTES - 1).unwrap().len(), COUNTED_BYTES - 1);
        // Whoever sends takes it in pieces.
        let mut left = held.pop().unwrap();
        let sent = left.split_to(COUNTED_BYTES);
        drop(left);
        assert!(hold(&unread, 9, COUNTED_BYTES).is_err(), "a piece of it is still there");
        drop(sent);
        assert_eq!(hold(&unread, 9, OF_CLIENT_MAX).unwrap().len(), OF_CLIENT_MAX);
        drop(held);
        assert!(unread.0.is_free());
    }

    #[test]
    fn one_client_takes_its_part_alone_and_one_answer_may_be_larger() {
        let unread = Unread::default();
        let own = hold(&unread, 1, OF_CLIENT_MAX - MIB).unwrap();
        assert!(hold(&unread, 1, 2 * MIB).unwrap_err().detail.contains("your address has"));
        assert_eq!(hold(&unread, 2, 2 * MIB).unwrap().len(), 2 * MIB);
        drop(own);
        let large = hold(&unread, 1, BYTES_MAX + 1).unwrap();
        assert!(hold(&unread, 2, COUNTED_BYTES).unwrap_err().detail.contains("clients have"));
        drop(large);
        assert!(hold(&unread, 2, COUNTED_BYTES).is_ok());
    }
}
