//! Addresses of services that the daemon calls: `http:` or `https:`, a host, no name or password.

use url::Url;

/// Longest url of a receiver, in characters.
pub const URL_LENGTH_MAX: usize = 2048;

/// The parts of an address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServiceAddress {
    /// Whether it begins with `https:`.
    pub tls: bool,
    /// Host; an IPv6 address is in brackets.
    pub host: String,
    /// Port.
    pub port: u16,
    /// Path and query.
    pub path: String,
}

impl ServiceAddress {
    /// Reads an address; `None` where it is not an `http:` or `https:` address of a host.
    pub fn parse(address: &str) -> Option<Self> {
        Self::parse_around(address, "")
    }

    /// The same where path and query may contain `place`, to be replaced.
    ///
    /// The host is read as browsers and proxies read it, by the crate `url`, since it decides where a secret
    /// goes. Nothing is accepted that this crate would drop, decode or read as the start of something else.
    pub fn parse_around(address: &str, place: &str) -> Option<Self> {
        let (scheme, rest) = address.split_once("://")?;
        let tls = match scheme.to_ascii_lowercase().as_str() {
            "https" => true,
            "http" => false,
            _ => return None,
        };
        let cut = rest.find(['/', '?']).unwrap_or(rest.len());
        let (authority, path) = rest.split_at(cut);
        let good_authority = !authority.is_empty()
            && !authority.ends_with(':')
            && authority.bytes().all(|b| b.is_ascii_alphanumeric() || b".-_[]:".contains(&b));
        let plain = if place.is_empty() { path.to_owned() } else { path.replace(place, "") };
        let good_path = plain.bytes().all(|b| b.is_ascii_graphic() && !b"{}#\"<>\\^`|".contains(&b));
        if !good_authority || !good_path {
            return None;
        }
        let read = Url::parse(&format!("{scheme}://{authority}")).ok()?;
        let host = read.host_str()?.to_owned();
        let port = read.port_or_known_default().filter(|port| *port > 0)?;
        let slash = if path.starts_with('/') { "" } else { "/" };
        Some(Self { tls, host, port, path: format!("{slash}{path}") })
    }

    /// Host and port as the header `Host` has them.
    pub fn authority(&self) -> String {
        let usual = if self.tls { 443 } else { 80 };
        if self.port == usual { self.host.clone() } else { format!("{}:{}", self.host, self.port) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_a_scheme_a_host_and_a_path() {
        let parts = |text| ServiceAddress::parse(text).map(|a| (a.tls, a.authority(), a.port, a.path));
        let good =
            |tls, authority: &str, port, path: &str| Some((tls, authority.to_owned(), port, path.to_owned()));
        for (text, expected) in [
            ("https://example.org", good(true, "example.org", 443, "/")),
            ("HTTPS://example.org:8443/a?b=c", good(true, "example.org:8443", 8443, "/a?b=c")),
            ("http://[::1]/x", good(false, "[::1]", 80, "/x")),
            ("https://example.org?a", good(true, "example.org", 443, "/?a")),
            ("ftp://example.org/x", None),
            ("https://user:word@example.org/", None),
            ("https://example.org:443@evil.example/", None),
            ("https:///x", None),
            ("https://example.org:0/", None),
            ("https://example.org:70000/", None),
            ("https://example.org:/", None),
            ("https://example.org:+80/", None),
            ("https:example.org", None),
            ("https:/example.org", None),
            ("https:\\\\example.org", None),
            ("https://exam%70le.org", None),
            ("https://ex\u{e4}mple.org", None),
            (" https://example.org", None),
            ("https://exam\nple.org", None),
            ("https://example.org ", None),
            ("https://@example.org", None),
            ("https://a:b:80", None),
            ("https://[::1", None),
            ("https://[zz]/", None),
            ("https://256.1.1.1/", None),
            ("https://1.2.3.4.5/", None),
            ("https://Bank.Example/a/../%41@b", good(true, "bank.example", 443, "/a/../%41@b")),
            ("https://under_score.example", good(true, "under_score.example", 443, "/")),
            ("https://127.1/", good(true, "127.0.0.1", 443, "/")),
            ("http://0x7f000001:81/", good(false, "127.0.0.1:81", 81, "/")),
            ("http://[0:0::1]:80/", good(false, "[::1]", 80, "/")),
            ("https://example.org/a b", None),
            ("https://example.org/{x}", None),
            ("https://example.org/#x", None),
            ("example.org", None),
        ] {
            assert_eq!(parts(text), expected, "{text}");
        }
        assert!(ServiceAddress::parse_around("https://example.org/{x}/y", "{x}").is_some());
    }
}
