//! The certificates that a daemon shows, read without trusting them: nothing is sent but the greeting.

use super::trust::by_itself;
use super::{Client, check_address};
use crate::failure::{Failure, Outcome, codes};
use rustls::ClientConnection;
use rustls::pki_types::{CertificateDer, ServerName};
use std::net::{TcpStream, ToSocketAddrs};
use std::sync::Arc;

/// The port of `https:`.
const PORT: u16 = 443;

/// The host and the port of an `https:` address.
pub fn host_and_port(url: &str) -> Outcome<(String, u16)> {
    check_address(url)?;
    let address = reqwest::Url::parse(url).ok().filter(|address| address.scheme() == "https");
    let refused = || {
        Failure::usage(format!("{url} speaks no TLS, so it shows no certificate"))
            .hint("give an https: address")
    };
    let address = address.ok_or_else(refused)?;
    let host = address.host_str().unwrap_or_default().trim_matches(['[', ']']).to_owned();
    Ok((host, address.port().unwrap_or(PORT)))
}

impl Client {
    /// The certificates that are shown at an address, the one of the host first.
    pub fn certificates(&self, url: &str) -> Outcome<Vec<CertificateDer<'static>>> {
        let (host, port) = host_and_port(url)?;
        let unreachable =
            |why: String| Failure::new(codes::UNREACHABLE, format!("cannot reach {url}: {why}"));
        let timeout = self.timeout;
        let mut last = format!("{host} has no address");
        let addresses =
            (host.as_str(), port).to_socket_addrs().map_err(|error| unreachable(error.to_string()))?;
        let mut socket = None;
        for address in addresses {
            match TcpStream::connect_timeout(&address, timeout) {
                Ok(connected) => {
                    socket = Some(connected);
                    break;
                }
                Err(error) => last = error.to_string(),
            }
        }
        let mut socket = socket.ok_or_else(|| unreachable(last))?;
        let failed = |error: std::io::Error| unreachable(format!("it speaks no TLS: {error}"));
        socket.set_read_timeout(Some(timeout)).map_err(failed)?;
        socket.set_write_timeout(Some(timeout)).map_err(failed)?;
        let name = ServerName::try_from(host.clone());
        let name = name.map_err(|_| Failure::usage(format!("{host} is not a host name")))?;
        let mut connection = ClientConnection::new(Arc::new(by_itself(None).with_no_client_auth()), name)
            .map_err(|error| Failure::local(format!("cannot set up TLS: {error}")))?;
        while connection.is_handshaking() {
            // A daemon that asks for a certificate refuses afterwards; what it shows it has shown by then.
            match connection.complete_io(&mut socket) {
                Ok(_) => {}
                Err(_) if connection.peer_certificates().is_some() => break,
                Err(error) => return Err(failed(error)),
            }
        }
        let shown = connection.peer_certificates().unwrap_or_default();
        Ok(shown.iter().map(|certificate| certificate.clone().into_owned()).collect())
    }
}
