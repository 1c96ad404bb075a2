//! Addresses of services that the daemon calls: `http:` or `https:`, a host, no name or password.

/// The parts of an address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServiceAddress {
    /// Whether it begins with `https:`.
    pub tls: bool,
    /// Host; that of an IPv6 address stands in brackets.
    pub host: String,
    /// Port.
    pub port: u16,
    /// Path and query.
    pub path: String,
}

impl ServiceAddress {
    /// Splits an address; `None` where it is no `http:` or `https:` address of a host.
    pub fn parse(address: &str) -> Option<Self> {
        Self::parse_around(address, "")
    }

    /// The same where `place` may stand in path and query, to be replaced.
    pub fn parse_around(address: &str, place: &str) -> Option<Self> {
        let (scheme, rest) = address.split_once("://")?;
        let tls = match scheme.to_ascii_lowercase().as_str() {
            "https" => true,
            "http" => false,
            _ => return None,
        };
        let cut = rest.find(['/', '?']).unwrap_or(rest.len());
        let (authority, path) = rest.split_at(cut);
        let (host, port) = match authority.rsplit_once(':') {
            Some((host, port)) if !port.contains(']') => (host, port.parse().ok()?),
            _ => (authority, if tls { 443 } else { 80 }),
        };
        let good_host = !host.is_empty()
            && (host.starts_with('[') == host.ends_with(']'))
            && host.bytes().all(|b| b.is_ascii_alphanumeric() || b".-_[]:".contains(&b));
        let plain = if place.is_empty() { path.to_owned() } else { path.replace(place, "") };
        let good_path = plain.bytes().all(|b| b.is_ascii_graphic() && !b"{}#\"<>\\^`|".contains(&b));
        let slash = if path.starts_with('/') { "" } else { "/" };
        (good_host && good_path && port > 0).then(|| Self {
            tls,
            host: host.to_owned(),
            port,
            path: format!("{slash}{path}"),
        })
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
