//! Networks, and which addresses have no particular owner: those of this machine and of private networks.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::str::FromStr;

/// The bits of an IPv6 address that one network has, and with it one client.
const NETWORK: u128 = !(u64::MAX as u128);

/// What counts as one client: an IPv4 address, or a network of IPv6.
pub fn client_of(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(v6) if !v6.is_loopback() => Ipv6Addr::from_bits(v6.to_bits() & NETWORK).into(),
        other => other,
    }
}

/// All addresses that begin with the same bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Network {
    address: IpAddr,
    bits: u32,
}

impl Network {
    /// A network; its address is taken as it is.
    const fn new(address: IpAddr, bits: u32) -> Self {
        Self { address, bits }
    }

    /// The addresses of this machine.
    pub const LOOPBACK: [Self; 2] =
        [Self::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 8), Self::new(IpAddr::V6(Ipv6Addr::LOCALHOST), 128)];

    /// Whether an address belongs to it.
    pub fn contains(&self, address: IpAddr) -> bool {
        match (self.address, address.to_canonical()) {
            (IpAddr::V4(own), IpAddr::V4(other)) => {
                let differ = own.to_bits() ^ other.to_bits();
                differ.checked_shr(32 - self.bits).unwrap_or(0) == 0
            }
            (IpAddr::V6(own), IpAddr::V6(other)) => {
                let differ = own.to_bits() ^ other.to_bits();
                differ.checked_shr(128 - self.bits).unwrap_or(0) == 0
            }
            _ => false,
        }
    }
}

impl FromStr for Network {
    type Err = ();

    /// `10.0.0.0/8`, or one address.
    fn from_str(text: &str) -> Result<Self, ()> {
        let (address, bits) = match text.split_once('/') {
            Some((address, bits)) => (address, Some(bits.parse::<u32>().map_err(|_| ())?)),
            None => (text, None),
        };
        let address = address.parse::<IpAddr>().map_err(|_| ())?;
        let longest = if address.is_ipv4() { 32 } else { 128 };
        let bits = bits.unwrap_or(longest);
        (bits <= longest).then_some(Self { address, bits }).ok_or(())
    }
}

impl fmt::Display for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.address, self.bits)
    }
}

/// Networks whose addresses mean this machine, the nets around it, many machines at once, or nothing.
const PRIVATE: &[(&str, &str)] = &[
    ("0.0.0.0/8", "this machine"),
    ("10.0.0.0/8", "private"),
    ("100.64.0.0/10", "shared by the customers of a provider"),
    ("127.0.0.0/8", "loopback"),
    ("169.254.0.0/16", "link-local"),
    ("172.16.0.0/12", "private"),
    ("192.0.0.0/24", "of protocols"),
    ("192.168.0.0/16", "private"),
    ("198.18.0.0/15", "of measurements"),
    ("224.0.0.0/4", "multicast"),
    ("240.0.0.0/4", "reserved"),
    ("::/96", "this machine, and IPv4 in an old form"),
    ("64:ff9b:1::/48", "of a translator to IPv4 in the nets around it"),
    ("fc00::/7", "private"),
    ("fe80::/10", "link-local"),
    ("fec0::/10", "site-local"),
    ("ff00::/8", "multicast"),
];

/// Whether an address can be a machine anywhere in the Internet. One that carries an IPv4 address is judged
/// by that one.
pub fn is_public(address: IpAddr) -> bool {
    let address = match address.to_canonical() {
        IpAddr::V6(address) => carried(address).map_or(IpAddr::V6(address), IpAddr::V4),
        address => address,
    };
    let networks = PRIVATE.iter().filter_map(|(network, _)| network.parse::<Network>().ok());
    !networks.into_iter().any(|network| network.contains(address))
}

/// The IPv4 address to which NAT64 and 6to4 lead.
fn carried(address: Ipv6Addr) -> Option<Ipv4Addr> {
    let pair = |high: u16, low: u16| Ipv4Addr::from_bits(u32::from(high) << 16 | u32::from(low));
    match address.segments() {
        [0x64, 0xff9b, 0, 0, 0, 0, high, low] => Some(pair(high, low)),
        [0x2002, high, low, ..] => Some(pair(high, low)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_this_machine_and_of_private_nets_are_not_public() {
        for text in [
            "0.0.0.0",
            "127.0.0.1",
            "127.9.9.9",
            "10.1.2.3",
            "172.31.255.255",
            "192.168.1.1",
            "169.254.169.254",
            "100.100.100.200",
            "224.0.0.1",
            "255.255.255.255",
            "::",
            "::1",
            "::ffff:10.0.0.1",
            "fd00::1",
            "fe80::1",
            "ff02::1",
            "64:ff9b::7f00:1",
            "64:ff9b:1::a00:1",
            "2002:a00:1::",
        ] {
            assert!(!is_public(text.parse().unwrap()), "{text}");
        }
        for text in
            ["1.1.1.1", "172.32.0.1", "192.169.0.1", "100.128.0.1", "2001:4860::1", "64:ff9b::101:101"]
        {
            assert!(is_public(text.parse().unwrap()), "{text}");
        }
        assert!(PRIVATE.iter().all(|(network, _)| network.parse::<Network>().is_ok()));
    }

    #[test]
    fn a_network_is_read_and_contains_what_begins_like_it() {
        let contains = |network: &str, address: &str| {
            network.parse::<Network>().unwrap().contains(address.parse().unwrap())
        };
        assert!(contains("10.0.0.0/8", "10.255.0.1") && !contains("10.0.0.0/8", "11.0.0.1"));
        assert!(contains("10.1.2.3", "10.1.2.3") && !contains("10.1.2.3", "10.1.2.4"));
        assert!(contains("0.0.0.0/0", "9.9.9.9") && !contains("0.0.0.0/0", "::1"));
        assert!(contains("::1", "::1") && contains("fd00::/8", "fd12::1") && contains("::/0", "fe80::1"));
        assert!(contains("127.0.0.0/8", "::ffff:127.0.0.1"));
        for bad in ["", "10.0.0.0/33", "10.0.0/8", "::/129", "10.0.0.0/", "10.0.0.0/-1", "localhost"] {
            assert!(bad.parse::<Network>().is_err(), "{bad}");
        }
    }
}
