//! Answers that their clients have not read yet. A client may read as slowly as `pace.rs` allows, for hours;
//! so what waits in memory for all of them together has a bound, and who would exceed it is refused, while a
//! long answer is still coming into being.

use super::body::too_much_read;
use super::reply::{Content, Reply};
use super::room::{Full, Room, Taken};
use crate::ops::list::CHUNK_BYTES;
use crate::store::limits::AnswerRoom;
use bytes::Bytes;
use mfa_shared::fault::{self, Fault};
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What is smaller is not counted: it fits into the buffers of a connection.
const COUNTED_BYTES: usize = 64 * 1024;
/// A chunk of a stream that is smaller is not counted: such as those of records of the usual length, of which
/// thousands of clients may have one each.
const PIECE_BYTES: usize = 2 * CHUNK_BYTES;
const RETRY_AFTER_S: u32 = 2;

/// The room for answers that are not read yet.
#[derive(Debug, Default)]
pub struct Unread(Room);

/// What an answer, or one chunk of a stream, takes of the room, from its first piece on until its last byte
/// is sent.
#[derive(Debug)]
pub struct Growing {
    room: Room,
    from: IpAddr,
    /// What may be read for it.
    most: usize,
    /// What is smaller takes no room.
    counted: usize,
    size: Mutex<Size>,
}

#[derive(Debug, Default)]
struct Size {
    bytes: usize,
    taken: Option<Taken>,
}

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
    /// Room for an answer to an address, for which at most so many bytes are read.
    pub fn begin(&self, from: IpAddr, most: usize) -> Arc<Growing> {
        Arc::new(Growing { room: self.0.clone(), from, most, counted: COUNTED_BYTES, size: Mutex::default() })
    }

    /// The answer to a read of an address, which takes room until it is sent; refused where there is none.
    pub fn hold(&self, reply: Reply, from: IpAddr) -> Result<Reply, Fault> {
        self.begin(from, usize::MAX).hold(reply)
    }
}

impl AnswerRoom for Growing {
    fn grow(&self, bytes: usize) -> Result<(), Fault> {
        self.read_to(self.bytes() + bytes)
    }
}

impl Growing {
    fn size(&self) -> MutexGuard<'_, Size> {
        self.size.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How long the answer is so far.
    pub fn bytes(&self) -> usize {
        self.size().bytes
    }

    /// Takes what an answer for which so many bytes were read needs.
    pub fn read_to(&self, bytes: usize) -> Result<(), Fault> {
        if bytes > self.most { Err(too_much_read(self.most)) } else { self.grow_to(bytes) }
    }

    /// Room for a chunk of so many bytes beside what the answer takes, if there is any.
    pub fn piece(&self, bytes: usize) -> Option<Self> {
        let (room, from) = (self.room.clone(), self.from);
        let piece = Self { room, from, most: usize::MAX, counted: PIECE_BYTES, size: Mutex::default() };
        piece.grow_to(bytes).is_ok().then_some(piece)
    }

    /// Gives back all but so many bytes, where what was read is no part of the answer.
    pub fn shrink_to(&self, bytes: usize) {
        let mut size = self.size();
        size.bytes = size.bytes.min(bytes);
        if bytes < self.counted {
            size.taken = None;
        } else if let Some(taken) = &mut size.taken {
            taken.shrink_to(bytes);
        }
    }

    /// Takes what an answer of so many bytes needs.
    pub fn grow_to(&self, bytes: usize) -> Result<(), Fault> {
        let mut size = self.size();
        let before = if size.taken.is_some() { size.bytes } else { 0 };
        if bytes >= self.counted && bytes > before {
            match &mut size.taken {
                Some(taken) => taken.grow(bytes - before).map_err(no_room)?,
                none => *none = Some(self.room.take(self.from, bytes).map_err(no_room)?),
            }
        }
        size.bytes = size.bytes.max(bytes);
        Ok(())
    }

    /// The whole answer, which takes room until it is sent; refused where there is none.
    pub fn hold(&self, reply: Reply) -> Result<Reply, Fault> {
        self.grow_to(reply.bytes().len())?;
        Ok(self.hold_done(reply))
    }

    /// The whole answer of a request that has changed something: it is never refused.
    pub fn hold_done(&self, reply: Reply) -> Reply {
        // What is sent bit by bit, such as the lines of a list, keeps this value itself.
        let Content::Bytes(bytes) = &reply.content else { return reply };
        let content = Content::Bytes(self.hold_bytes(bytes.clone()));
        Reply { content, ..reply }
    }

    /// What is sent, which takes the room for itself alone until then.
    pub fn hold_bytes(&self, bytes: Bytes) -> Bytes {
        self.shrink_to(bytes.len());
        match self.size().taken.take() {
            Some(taken) => Bytes::from_owner(Held { bytes, _taken: taken }),
            None => bytes,
        }
    }
}

fn no_room(full: Full) -> Fault {
    let whose = if full == Full::OfAll { "clients have" } else { "your address has" };
    let detail = format!(
        "the answers that {whose} not read yet take all the memory there is for them; send this request \
         again soon, or ask for smaller pages or for lines (Accept: application/x-ndjson)"
    );
    Fault::new(fault::UNAVAILABLE, detail).retry_after(RETRY_AFTER_S)
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
        assert!(hold(&unread, 1, COUNTED_BYTES).is_err());
        // It takes its client's part of the room, and not that of the others.
        let others: Vec<_> = (2..9).map(|client| hold(&unread, client, OF_CLIENT_MAX).unwrap()).collect();
        assert!(hold(&unread, 9, COUNTED_BYTES).unwrap_err().detail.contains("clients have"));
        drop(large);
        assert!(hold(&unread, 9, COUNTED_BYTES).is_ok());
        drop(others);
        assert!(unread.0.is_free());
    }

    #[test]
    fn a_chunk_of_a_stream_takes_room_until_it_is_sent_if_it_is_long() {
        let unread = Unread::default();
        let client = |last: u8| unread.begin(IpAddr::from([192, 0, 2, last]), usize::MAX);
        let chunk = |bytes: usize, client: &Growing| {
            let piece = client.piece(0)?;
            piece.grow_to(bytes).ok().map(|()| piece.hold_bytes(Bytes::from(vec![b' '; bytes])))
        };
        let one = client(1);
        let small: Vec<_> = (0..1_000).map(|_| chunk(PIECE_BYTES - 1, &one).unwrap()).collect();
        assert!(unread.0.is_free());
        let long: Vec<_> = std::iter::from_fn(|| chunk(MIB, &one)).take(64).collect();
        assert_eq!(long.len(), OF_CLIENT_MAX / MIB);
        assert!(one.piece(MIB).is_none() && client(2).piece(MIB).is_some());
        drop((small, long));
        assert!(unread.0.is_free() && one.piece(MIB).is_some());
    }

    #[test]
    fn an_answer_takes_room_as_it_grows_and_is_refused_before_it_is_whole() {
        let unread = Unread::default();
        let [one, two] = [1, 2].map(|client| unread.begin(IpAddr::from([192, 0, 2, client]), 2 * BYTES_MAX));
        let others: Vec<_> = (3..10).map(|client| hold(&unread, client, OF_CLIENT_MAX).unwrap()).collect();
        one.grow(COUNTED_BYTES - 1).unwrap();
        assert!(two.grow_to(OF_CLIENT_MAX).is_ok(), "so far it is small");
        two.shrink_to(0);
        one.grow(BYTES_MAX).unwrap();
        assert_eq!(two.grow(COUNTED_BYTES).unwrap_err().kind, fault::UNAVAILABLE);
        assert_eq!(two.bytes(), 0);
        let done = two.hold_done(Reply::json(vec![b' '; MIB]));
        assert_eq!(done.bytes().len(), MIB, "what was done is told in any case");
        let whole = one.hold(Reply::json(vec![b' '; BYTES_MAX + COUNTED_BYTES - 1])).unwrap();
        assert!(two.grow(COUNTED_BYTES).is_err(), "it is not sent yet");
        drop((whole, others));
        assert!(unread.0.is_free());
        two.grow(COUNTED_BYTES).unwrap();
        drop(two);
        assert!(unread.0.is_free(), "an answer that never became whole gives back what it took");
    }

    #[test]
    fn what_is_read_in_vain_takes_no_room_and_there_is_a_most_that_is_read() {
        let unread = Unread::default();
        let room = unread.begin(IpAddr::from([192, 0, 2, 1]), MIB);
        for _ in 0..3 {
            room.grow(MIB - 1).unwrap();
            assert_eq!(room.grow(2).unwrap_err().kind, fault::BODY_TOO_LARGE);
            room.shrink_to(COUNTED_BYTES);
            assert_eq!(room.bytes(), COUNTED_BYTES);
            room.shrink_to(0);
            assert!(unread.0.is_free());
        }
    }
}
