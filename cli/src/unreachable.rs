//! Why no answer came, in words.

use crate::failure::Failure;
use mfa_shared::fault::exit;
use std::time::Duration;

/// What to do about a certificate that is not trusted.
const UNTRUSTED_HINT: &str = "correct the address, or add the certificate's authority to this machine's";

/// Why no answer came, by the first cause that says something to a person.
pub fn unreachable(url: &str, timeout: Duration, error: &reqwest::Error) -> Failure {
    let mut certificate = None;
    let mut refused = false;
    let mut unknown_name = false;
    let mut cause: Option<&(dyn std::error::Error + 'static)> = Some(error);
    while let Some(error) = cause {
        let mut io = error.downcast_ref::<std::io::Error>();
        while let Some(outer) = io {
            refused |= outer.kind() == std::io::ErrorKind::ConnectionRefused;
            // An input error hides what it carries from `source`, so it is taken apart here.
            let inner = outer.get_ref();
            certificate = certificate.or_else(|| inner?.downcast_ref::<rustls::Error>());
            io = inner.and_then(|inner| inner.downcast_ref());
        }
        certificate = certificate.or(error.downcast_ref::<rustls::Error>());
        unknown_name |= error.to_string() == "dns error";
        cause = error.source();
    }
    let (why, hint) = match certificate {
        Some(rustls::Error::InvalidCertificate(why)) => {
            (format!("its certificate is not trusted: {}", distrust(why)), UNTRUSTED_HINT)
        }
        _ if unknown_name => ("no such host".to_owned(), "correct the address: --url or MFA_URL"),
        _ if refused => ("the connection was refused".to_owned(), "start it: mfa daemon start"),
        _ if error.is_timeout() => {
            (format!("no answer within {} s", timeout.as_secs()), "is it running? mfa daemon status")
        }
        _ => (root(error), "is it running? mfa daemon status"),
    };
    let message = format!("cannot reach the daemon at {url}: {why}");
    Failure::new("daemon_unreachable", exit::UNREACHABLE, message).hint(hint)
}

fn distrust(why: &rustls::CertificateError) -> &'static str {
    use rustls::CertificateError::*;
    match why {
        Expired | ExpiredContext { .. } => "it has expired",
        NotValidYet | NotValidYetContext { .. } => "it is not valid yet; is the clock right?",
        Revoked => "it has been revoked",
        UnknownIssuer => "this machine does not know its authority",
        NotValidForName | NotValidForNameContext { .. } => "it is for another host",
        _ => "it is not one for a server",
    }
}

/// The innermost cause, which is the one that says what happened.
pub fn root(error: &reqwest::Error) -> String {
    let mut cause: &dyn std::error::Error = error;
    while let Some(inner) = cause.source() {
        cause = inner;
    }
    cause.to_string()
}
