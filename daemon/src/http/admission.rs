//! Which connections there may be: so many in all, of each address a part of them, the last for this machine,
//! and a few spare ones beyond. Who watches over the daemon is answered there, so that a daemon whose
//! connections are all taken is not restarted as if it were dead; others are refused.

use super::addresses::Addresses;
use super::places::Place;
use crate::config::{CONNECTIONS_SPARE, Config};
use std::net::IpAddr;
use std::sync::Arc;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Connections that are kept for this machine, so that its commands get through while other machines have all
/// the others.
const KEPT_FOR_LOOPBACK: usize = 16;

/// A connection that may be there.
#[derive(Debug)]
pub(super) struct Admitted {
    /// Whether it is one beyond those that are served at once.
    pub(super) spare: bool,
    _permit: OwnedSemaphorePermit,
    _place: Option<Place<IpAddr>>,
}

/// Permits that were there before a client came.
pub(super) type Permits = (Option<OwnedSemaphorePermit>, Option<OwnedSemaphorePermit>);

/// The connections that there may be.
#[derive(Debug)]
pub(super) struct Doors {
    all: Arc<Semaphore>,
    spare: Arc<Semaphore>,
    addresses: Addresses,
    /// How many of them are kept for this machine.
    kept: usize,
}

impl Doors {
    /// All of them, as the settings say.
    pub(super) fn new(config: &Config) -> Self {
        let of_loopback = config.connections_of_loopback.unwrap_or(config.connections_max);
        Self {
            all: Arc::new(Semaphore::new(config.connections_max)),
            spare: Arc::new(Semaphore::new(CONNECTIONS_SPARE)),
            addresses: Addresses::new(config.connections_per_address, of_loopback),
            kept: KEPT_FOR_LOOPBACK.min(config.connections_max / 16),
        }
    }

    /// Waits until there may be one more connection, of those that are served or a spare one.
    pub(super) async fn one_more(&self) -> Permits {
        tokio::select! {
            biased;
            all = self.all.clone().acquire_owned() => (all.ok(), None),
            spare = self.spare.clone().acquire_owned() => (None, spare.ok()),
        }
    }

    /// A place for a connection that was accepted, or why there is none.
    pub(super) fn enter(&self, from: IpAddr, (all, spare): Permits) -> Result<Admitted, String> {
        let full = || format!("{from} has as many connections as one address may have; close some of them");
        let here = from.to_canonical().is_loopback();
        // One may have become free since.
        let all = all.or_else(|| self.all.clone().try_acquire_owned().ok());
        if let Some(permit) = all.filter(|_| here || self.all.available_permits() >= self.kept) {
            let place = self.addresses.enter(from).ok_or_else(full)?;
            return Ok(Admitted { spare: false, _permit: permit, _place: Some(place) });
        }
        let spare = spare.or_else(|| self.spare.clone().try_acquire_owned().ok());
        let permit = spare.ok_or_else(all_taken)?;
        // On this machine one address may have all the others.
        let place = if here { None } else { Some(self.addresses.enter(from).ok_or_else(full)?) };
        Ok(Admitted { spare: true, _permit: permit, _place: place })
    }
}

/// Why others than those who watch over the daemon are refused.
pub(super) fn all_taken() -> String {
    "the daemon has as many connections as it serves at once (connections_max); try again soon".to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn doors(all: usize, kept: usize) -> Doors {
        Doors {
            all: Arc::new(Semaphore::new(all)),
            spare: Arc::new(Semaphore::new(3)),
            addresses: Addresses::new(9, 9),
            kept,
        }
    }

    #[test]
    fn the_last_connections_are_for_this_machine() {
        let doors = doors(2, 1);
        let enter = |from: &str| doors.enter(from.parse().unwrap(), (None, None));
        let first = enter("192.0.2.1").unwrap();
        assert!(!first.spare);
        // The others are answered where they look at the daemon.
        let spare = [enter("192.0.2.1").unwrap(), enter("2001:db8::1").unwrap()];
        assert!(spare.iter().all(|admitted| admitted.spare));
        let last = enter("::ffff:127.0.0.1").unwrap();
        assert!(!last.spare);
        let here = enter("127.0.0.1").unwrap();
        assert!(here.spare && enter("::1").unwrap_err().contains("as it serves at once"));
        drop((first, spare));
        assert!(enter("192.0.2.1").unwrap().spare && !enter("::1").unwrap().spare);
    }

    #[test]
    fn a_spare_connection_is_none_once_another_has_ended() {
        let doors = doors(1, 0);
        let here = "127.0.0.1".parse().unwrap();
        let first = doors.enter(here, (None, None)).unwrap();
        let waiting = (None, doors.spare.clone().try_acquire_owned().ok());
        drop(first);
        assert!(!doors.enter(here, waiting).unwrap().spare);
        assert_eq!(doors.spare.available_permits(), 3);
    }
}
