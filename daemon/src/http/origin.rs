//! The origin of a request, by its headers (`decisions.md` section 11).
//!
//! Without access control nothing but the address keeps strangers out, and a web page in a browser on this
//! machine reaches that address, too: by a request across sites, or by a name of its own that it lets point
//! to this machine. A browser says the first in `Origin` and the second in `Host`.

use super::state::State;
use crate::config::Auth;
use mfa_shared::fault::{self, Fault};
use mfa_shared::identifier::shown;
use std::net::{IpAddr, Ipv6Addr};
use warp::http::HeaderMap;
use warp::http::header::{HOST, HeaderValue, ORIGIN};

/// Refuses a request of another site, where access control is off.
pub fn check(state: &State, headers: &HeaderMap) -> Result<(), Fault> {
    if state.config.auth == Auth::On {
        return Ok(());
    }
    let text = |value: &HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
    if let Some(host) = headers.get(HOST).map(text).filter(|host| !is_loopback(host)) {
        let detail = format!("Host {} is not this machine", shown(&host));
        return Err(Fault::new(fault::FORBIDDEN_ORIGIN, detail));
    }
    let known = |origin: &String| state.config.cors_origins.contains(origin);
    match headers.get_all(ORIGIN).iter().map(text).find(|origin| !known(origin)) {
        Some(origin) => {
            let detail = format!(
                "Origin {} is not among cors_origins; add it there if its pages are yours",
                shown(&origin)
            );
            Err(Fault::new(fault::FORBIDDEN_ORIGIN, detail))
        }
        None => Ok(()),
    }
}

/// Whether the headers of a request say that it was sent to this machine, and not by a web page.
pub fn is_here(headers: &HeaderMap) -> bool {
    let names_us = |host: &HeaderValue| host.to_str().is_ok_and(is_loopback);
    !headers.contains_key(ORIGIN) && headers.get(HOST).is_none_or(names_us)
}

/// Whether a host, with or without a port, is this machine.
fn is_loopback(host: &str) -> bool {
    let name = match host.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((address, rest)) => {
            let is_port = rest.strip_prefix(':').is_none_or(is_number);
            return is_port
                && (rest.is_empty() || rest.starts_with(':'))
                && address.parse::<Ipv6Addr>().is_ok_and(|address| address.is_loopback());
        }
        None => match host.rsplit_once(':') {
            Some((name, port)) if is_number(port) => name,
            Some(_) => return false,
            None => host,
        },
    };
    name.eq_ignore_ascii_case("localhost")
        || name.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

fn is_number(port: &str) -> bool {
    port.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::is_loopback;

    #[test]
    fn a_host_is_this_machine_only_by_name_or_address() {
        for host in ["localhost", "LOCALHOST:6320", "127.0.0.1", "127.8.9.1:80", "[::1]", "[::1]:6320"] {
            assert!(is_loopback(host), "{host}");
        }
        for host in [
            "",
            "evil.example",
            "localhost.evil.example",
            "127.0.0.1.evil.example:6320",
            "10.0.0.1",
            "[::2]",
            "[::1]evil.example",
            "localhost:evil",
            "::1",
            "0x7f.1",
            "127.0.0.1@evil.example",
        ] {
            assert!(!is_loopback(host), "{host}");
        }
    }
}
