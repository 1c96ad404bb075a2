//! Connections of each address, so that one client cannot take all of them.

use super::places::{Place, Places};
use crate::domain::network::client_of;
use std::net::{IpAddr, SocketAddr};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use warp::http::HeaderMap;

/// Where proxies write for whom they ask.
const FORWARDED_FOR: &str = "x-forwarded-for";
/// The address of the client: that of the connection, unless it belongs to a proxy that is trusted to name
/// its client. Each proxy appends an address to `X-Forwarded-For`, so the last one that is not a trusted
/// proxy's is what the nearest trusted proxy has seen; anyone can forge what precedes it.
pub fn origin(connection: IpAddr, headers: &HeaderMap, trusted: &[IpAddr]) -> IpAddr {
    let connection = connection.to_canonical();
    if !trusted.contains(&connection) {
        if headers.contains_key(FORWARDED_FOR) {
            warn_of_proxy(connection);
        }
        return connection;
    }
    // Bytes and not texts: what a stranger has written before may not hide what the proxies have appended.
    let given = headers.get_all(FORWARDED_FOR).iter().map(|value| value.as_bytes());
    let hops: Vec<_> = given.flat_map(|value| value.split(|byte| *byte == b',')).collect();
    let mut last = connection;
    for hop in hops.into_iter().rev() {
        let Some(address) = address(hop) else { return last };
        last = address.to_canonical();
        if !trusted.contains(&last) {
            break;
        }
    }
    last
}

/// Says once of this machine, and once of the others, that a proxy seems to be in front and is not trusted.
fn warn_of_proxy(connection: IpAddr) {
    static SAID: [AtomicBool; 2] = [AtomicBool::new(false), AtomicBool::new(false)];
    let said = &SAID[usize::from(connection.is_loopback())];
    if !said.load(Relaxed) && !said.swap(true, Relaxed) {
        tracing::warn!(
            "{connection} names other clients in X-Forwarded-For, which does not count: if it is a proxy of \
             yours, give its address to trusted_proxies; else all of its clients are one address, and too \
             many wrong logins of one of them lock them all out"
        );
    }
}

/// The address that a proxy has written; some write the port as well.
fn address(hop: &[u8]) -> Option<IpAddr> {
    let hop = std::str::from_utf8(hop).ok()?.trim();
    hop.parse().ok().or_else(|| hop.parse::<SocketAddr>().ok().map(|socket| socket.ip()))
}

/// The connections of each address.
#[derive(Debug)]
pub struct Addresses {
    max: usize,
    loopback: usize,
    open: Places<IpAddr>,
}

impl Addresses {
    /// At most `max` for each address, and at least `loopback` for this machine.
    pub fn new(max: usize, loopback: usize) -> Self {
        Self { max, loopback, open: Places::default() }
    }

    /// A place for one more connection of an address, if it may have one.
    pub fn enter(&self, address: IpAddr) -> Option<Place<IpAddr>> {
        let address = client_of(address);
        let max = if address.is_loopback() { self.max.max(self.loopback) } else { self.max };
        self.open.take(address, max, usize::MAX).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use warp::http::HeaderValue;

    #[test]
    fn each_address_has_its_own_number_of_connections() {
        let addresses = Addresses::new(2, 5);
        let enter = |address: &str| addresses.enter(address.parse().unwrap());
        let mut held: Vec<_> = (0..2).map(|_| enter("192.0.2.1").unwrap()).collect();
        assert!(enter("192.0.2.1").is_none());
        assert!(enter("::ffff:192.0.2.1").is_none(), "the same address");
        assert!(enter("192.0.2.2").is_some());
        held.pop();
        held.push(enter("192.0.2.1").unwrap());
        let networks = (enter("2001:db8::1").unwrap(), enter("2001:db8::2").unwrap());
        assert!(enter("2001:db8::3").is_none(), "one network is one client");
        assert!(enter("2001:db8:0:1::3").is_some());
        let here: Vec<_> = (0..5).map(|_| enter("127.0.0.1").unwrap()).collect();
        assert!(enter("127.0.0.1").is_none());
        drop((held, networks, here));
        assert!(addresses.open.are_free());
    }

    #[test]
    fn only_a_trusted_proxy_says_for_whom_it_asks() {
        let trusted: Vec<IpAddr> = ["127.0.0.1", "10.0.0.9"].map(|a| a.parse().unwrap()).into();
        for (connection, forwarded, expected) in [
            ("192.0.2.7", &["203.0.113.5"][..], "192.0.2.7"),
            ("127.0.0.1", &[], "127.0.0.1"),
            ("::ffff:127.0.0.1", &["203.0.113.5"], "203.0.113.5"),
            ("127.0.0.1", &["198.51.100.1, 203.0.113.5"], "203.0.113.5"),
            ("127.0.0.1", &["198.51.100.1", "203.0.113.5"], "203.0.113.5"),
            ("127.0.0.1", &["203.0.113.5, 10.0.0.9"], "203.0.113.5"),
            ("127.0.0.1", &["10.0.0.9"], "10.0.0.9"),
            ("127.0.0.1", &["nonsense"], "127.0.0.1"),
            ("127.0.0.1", &["203.0.113.5, nonsense"], "127.0.0.1"),
            ("127.0.0.1", &["\u{fc}, 203.0.113.5"], "203.0.113.5"),
            ("127.0.0.1", &["203.0.113.5, \u{fc}"], "127.0.0.1"),
            ("127.0.0.1", &["203.0.113.5:40000"], "203.0.113.5"),
            ("127.0.0.1", &["[2001:db8::7]:40000, 10.0.0.9:1"], "2001:db8::7"),
        ] {
            let mut headers = HeaderMap::new();
            for value in forwarded {
                headers.append(FORWARDED_FOR, HeaderValue::from_bytes(value.as_bytes()).unwrap());
            }
            let seen = origin(connection.parse().unwrap(), &headers, &trusted);
            assert_eq!(seen.to_string(), expected, "{connection} {forwarded:?}");
        }
    }
}
