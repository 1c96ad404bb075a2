//! Answers that their clients have not read yet. A client may read as slowly as `pace.rs` allows, for hours;
//! so what waits in memory for all of them together has a bound, and who would exceed it is refused.

use super::reply::{Content, Reply};
use crate::domain::network::client_of;
use bytes::Bytes;
use mfa_shared::fault::{self, Fault};
use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};

/// What is smaller is not counted: it fits into the buffers of a connection.
const COUNTED_BYTES: usize = 64 * 1024;
/// What may wait together, and of one client beside something else of it. A single answer may be larger.
const BYTES_MAX: usize = 256 * 1024 * 1024;
const OF_CLIENT_MAX: usize = BYTES_MAX / 8;
const RETRY_AFTER_S: u32 = 2;

/// What is not read yet, in bytes: in all, and of each client.
#[derive(Debug, Default)]
struct Waiting {
    all: usize,
    clients: HashMap<IpAddr, usize>,
}

/// The room for answers that are not read yet.
#[derive(Debug, Default)]
pub struct Unread(Arc<Mutex<Waiting>>);

/// Bytes that take room until the last of them is sent.
struct Held {
    bytes: Bytes,
    client: IpAddr,
    waiting: Arc<Mutex<Waiting>>,
}

impl AsRef<[u8]> for Held {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.all = waiting.all.saturating_sub(self.bytes.len());
        if let Some(own) = waiting.clients.get_mut(&self.client) {
            *own = own.saturating_sub(self.bytes.len());
            if *own == 0 {
                waiting.clients.remove(&self.client);
            }
        }
    }
}

impl Unread {
    /// The answer to a read of an address, which takes room until it is sent; refused where there is none.
    pub fn hold(&self, reply: Reply, from: IpAddr) -> Result<Reply, Fault> {
        let bytes = match &reply.content {
            Content::Bytes(bytes) if bytes.len() >= COUNTED_BYTES => bytes.clone(),
            _ => return Ok(reply),
        };
        let client = client_of(from);
        let mut waiting = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let own = waiting.clients.get(&client).copied().unwrap_or_default();
        let fits = |held: usize, max: usize| held == 0 || held + bytes.len() <= max;
        if !fits(own, OF_CLIENT_MAX) || !fits(waiting.all, BYTES_MAX) {
            let whose = if fits(own, OF_CLIENT_MAX) { "clients have" } else { "your address has" };
            let detail = format!(
                "the answers that {whose} not read yet take all the memory there is for them; send this \
                 request again soon, or ask for smaller pages"
            );
            return Err(Fault::new(fault::UNAVAILABLE, detail).retry_after(RETRY_AFTER_S));
        }
        waiting.all += bytes.len();
        waiting.clients.insert(client, own + bytes.len());
        drop(waiting);
        let held = Held { bytes, client, waiting: self.0.clone() };
        Ok(Reply { content: Content::Bytes(Bytes::from_owner(held)), ..reply })
    }
}

#[cfg(test)]
mod tests {
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
        assert_eq!(unread.0.lock().unwrap().all, 0);
        assert!(unread.0.lock().unwrap().clients.is_empty());
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
