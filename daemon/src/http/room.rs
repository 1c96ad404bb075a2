//! Room in memory for what clients leave unfinished: in all, and of each client a part of it.

use crate::domain::network::client_of;
use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What may be taken together, and by one client beside something else of it. A single piece may be larger,
/// but of all room a client takes its part at most, or one large answer would leave none to anybody else.
pub const BYTES_MAX: usize = 256 * 1024 * 1024;
/// The part of one client.
pub const OF_CLIENT_MAX: usize = BYTES_MAX / 8;

/// What is taken, in bytes.
#[derive(Debug, Default)]
struct All {
    bytes: usize,
    clients: HashMap<IpAddr, usize>,
}

/// The room.
#[derive(Debug, Clone, Default)]
pub struct Room(Arc<Mutex<All>>);

/// Whose room is full.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Full {
    /// That of the client.
    OfClient,
    /// That of all.
    OfAll,
}

/// A part of the room, until it is dropped.
#[derive(Debug)]
pub struct Taken {
    room: Room,
    client: IpAddr,
    bytes: usize,
}

impl Room {
    fn all(&self) -> MutexGuard<'_, All> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes so many bytes for what comes from, or goes to, an address.
    pub fn take(&self, from: IpAddr, bytes: usize) -> Result<Taken, Full> {
        let mut taken = Taken { room: self.clone(), client: client_of(from), bytes: 0 };
        taken.grow(bytes)?;
        Ok(taken)
    }

    /// Whether nobody has taken anything.
    #[cfg(test)]
    pub fn is_free(&self) -> bool {
        let all = self.all();
        all.bytes == 0 && all.clients.is_empty()
    }
}

impl Taken {
    /// Takes more.
    pub fn grow(&mut self, bytes: usize) -> Result<(), Full> {
        let mut all = self.room.all();
        let own = all.clients.get(&self.client).copied().unwrap_or_default();
        if own != self.bytes && own + bytes > OF_CLIENT_MAX {
            return Err(Full::OfClient);
        }
        let more = counted(own + bytes) - counted(own);
        if all.bytes + more > BYTES_MAX {
            return Err(Full::OfAll);
        }
        all.bytes += more;
        all.clients.insert(self.client, own + bytes);
        self.bytes += bytes;
        Ok(())
    }

    /// Gives back all but so many bytes.
    pub fn shrink_to(&mut self, bytes: usize) {
        let back = self.bytes.saturating_sub(bytes);
        let mut all = self.room.all();
        let own = all.clients.get(&self.client).copied().unwrap_or_default();
        let left = own.saturating_sub(back);
        all.bytes = all.bytes.saturating_sub(counted(own) - counted(left));
        if left == 0 {
            all.clients.remove(&self.client);
        } else {
            all.clients.insert(self.client, left);
        }
        self.bytes -= back;
    }
}

/// What a client that has taken so much takes of the room of all.
fn counted(own: usize) -> usize {
    own.min(OF_CLIENT_MAX)
}

impl Drop for Taken {
    fn drop(&mut self) {
        self.shrink_to(0);
    }
}
