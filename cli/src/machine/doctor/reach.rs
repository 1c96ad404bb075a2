//! How the daemon is reached, and where it logs.

use super::Finding::{self, Failure, Fine, Warning};
use super::{AS_DAEMON, Seen, is_hidden};
use crate::machine::daemon::look::{self, FilesSeen};
use crate::machine::log::log_file;
use crate::moment::now_seconds;
use crate::settings::files::folder_of;
use crate::words::{quoted, quoted_path};
use rustix::fs::{Access, access};
use rustix::process::geteuid;
use std::fs::{self, File, OpenOptions};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;

/// The files in which Linux lists the sockets of TCP.
const SOCKETS: [&str; 2] = ["/proc/net/tcp", "/proc/net/tcp6"];
/// How long before its end a certificate is warned about.
const CERTIFICATE_WARN_SECONDS: i64 = 21 * 86_400;
/// The state of a socket that listens, as these files write it.
const LISTENS: &str = "0A";

/// The port of the daemon, where its address is one of this machine.
pub(super) fn port_here(seen: &Seen<'_>) -> Option<u16> {
    let (host, port) = seen.url.split_once("://")?.1.rsplit_once(':')?;
    let host = host.trim_matches(['[', ']']);
    let is_here = host == "localhost" || host.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback());
    port.parse().ok().filter(|_| is_here)
}

/// Whether the daemon can be reached from other machines: by the socket, however it was started, or by the
/// setting with which it would be started.
pub(super) fn listen(seen: &Seen<'_>) -> Option<Finding> {
    let set = seen.cx.settings.parse::<SocketAddr>("listen", None).ok()?;
    let port = port_here(seen).filter(|_| seen.answers.is_some());
    let open = port.and_then(|port| listeners(port).into_iter().find(|ip| !ip.to_canonical().is_loopback()));
    let why = "other machines reach it, and what they send is not encrypted";
    let other = open.or_else(|| Some(set.ip()).filter(|ip| !ip.is_loopback()));
    if let (Some(ip), true) = (other, seen.url.starts_with("https:")) {
        return Some(Fine(format!("other machines reach the daemon at {ip}, and speak TLS to it")));
    }
    Some(match (open, port) {
        (Some(ip), Some(port)) => {
            let found = format!("the daemon listens on {}: {why}", SocketAddr::new(ip, port));
            let mend =
                format!("keep it here, behind a proxy for TLS: mfa daemon restart --listen 127.0.0.1:{port}");
            Warning(found, mend)
        }
        _ if !set.ip().is_loopback() => {
            let allowed =
                if seen.cx.settings.get("plaintext").0 == "true" { ", as plaintext allows" } else { "" };
            let found = format!("the setting listen is {set}{allowed}: {why}");
            Warning(found, "see where it is set, and change it: mfa config view --origin".to_owned())
        }
        _ => Fine("only this machine reaches the daemon".to_owned()),
    })
}

/// Whether the daemon can use its certificate, and for how long.
pub(super) fn certificate(seen: &Seen<'_>) -> Option<Finding> {
    let (files, looked) = look::certificate(seen.cx, &seen.flags)?;
    let renew = || {
        let folder = folder_of(&files.certificate);
        // The authority of a service is root's, and its key is for root alone.
        let of_other = fs::metadata(folder).is_ok_and(|facts| facts.uid() != geteuid().as_raw());
        let sudo = if of_other { "sudo " } else { "" };
        let folder = quoted_path(folder);
        format!("replace it; one of mfa's own: {sudo}mfa tls generate --renew --out {folder} --name HOST")
    };
    let facts = match looked {
        Ok(facts) => facts,
        Err(_) if is_hidden(File::open(&files.key)) => {
            let found =
                format!("{} is not readable for this user, so it was not checked", files.key.display());
            return Some(Warning(found, AS_DAEMON.to_owned()));
        }
        Err(why) => return Some(Failure(why, "see how it is set up: mfa help tls".to_owned())),
    };
    if fs::metadata(&files.key).is_ok_and(|key| key.permissions().mode() & 0o077 != 0) {
        let key = files.key.display();
        let found = format!("the private key {key} is open to other users of this machine");
        return Some(Failure(found, format!("chmod 600 {}", quoted_path(&files.key))));
    }
    let left = facts.not_after.millis() / 1000 - now_seconds();
    let until = format!("the certificate for {} is valid until {}", facts.names.join(", "), facts.not_after);
    Some(match left {
        i64::MIN..0 => Failure(format!("the certificate ended on {}", facts.not_after), renew()),
        _ if left < CERTIFICATE_WARN_SECONDS => Warning(until, renew()),
        _ => Fine(until),
    })
}

/// The addresses on which a process listens at a port; empty where the system does not say.
fn listeners(port: u16) -> Vec<IpAddr> {
    let texts = SOCKETS.iter().filter_map(|file| fs::read_to_string(file).ok());
    texts.flat_map(|text| text.lines().filter_map(|line| listener(line, port)).collect::<Vec<_>>()).collect()
}

fn listener(line: &str, port: u16) -> Option<IpAddr> {
    let mut words = line.split_whitespace().skip(1);
    let (address, at) = words.next()?.split_once(':')?;
    if words.nth(1)? != LISTENS || u16::from_str_radix(at, 16).ok()? != port {
        return None;
    }
    // Each four bytes are one number in the order of the machine.
    let part = |i: usize| Some(u32::from_str_radix(address.get(8 * i..8 * i + 8)?, 16).ok()?.to_ne_bytes());
    match address.len() {
        8 => Some(IpAddr::V4(Ipv4Addr::from(part(0)?))),
        _ => {
            let mut bytes = [0; 16];
            for (i, four) in bytes.chunks_mut(4).enumerate() {
                four.copy_from_slice(&part(i)?);
            }
            Some(IpAddr::V6(Ipv6Addr::from(bytes)))
        }
    }
}

/// Whether the system lets the daemon open as many files as its connections and its store need.
pub(super) fn files(seen: &Seen<'_>) -> Option<Finding> {
    if !seen.on_machine {
        return None;
    }
    let FilesSeen { limit, connections, wanted, of_daemon } =
        look::files(seen.cx, &seen.flags, &seen.folder)?;
    // A service has limits of its own, which a shell does not know.
    let who = match (of_daemon, seen.answers.is_some()) {
        (true, _) => "the daemon",
        (false, true) => "the limit of the daemon cannot be seen here; one that is started from this shell",
        (false, false) => "a daemon that is started from this shell",
    };
    let Some(limit) = limit else {
        let found = format!("{who} may open any number of files, and serves {wanted} connections at once");
        return Some(Fine(found));
    };
    Some(if connections < wanted {
        Warning(
            format!(
                "{who} may open {limit} files, so it serves {connections} connections at once and not \
                 {wanted}"
            ),
            "raise the limit, then restart the daemon: ulimit -n 8192, mfa daemon restart; of a service \
             LimitNOFILE=8192 in the unit, sudo systemctl restart mfa"
                .to_owned(),
        )
    } else {
        Fine(format!("{who} may open {limit} files, enough for {wanted} connections at once"))
    })
}

/// The command that makes room for a file where something else is.
fn aside(place: &Path) -> String {
    format!("put it aside: mv {} {}", quoted_path(place), quoted(&format!("{}.old", place.display())))
}

/// Whether a daemon in the background could write its log.
pub(super) fn log(seen: &Seen<'_>) -> Option<Finding> {
    let file = log_file(port_here(seen)?).ok()?;
    let shown = file.display();
    let failed =
        |error: std::io::Error, mend| Failure(format!("cannot write the log {shown}: {error}"), mend);
    Some(match fs::metadata(&file) {
        Ok(facts) if !facts.is_file() => Failure(format!("the log {shown} is not a file"), aside(&file)),
        Ok(_) => match OpenOptions::new().append(true).open(&file) {
            Ok(_) => Fine(format!("{shown} can be written")),
            Err(error) => failed(error, format!("chmod u+w {}", quoted_path(&file))),
        },
        Err(_) => {
            let folder = file.ancestors().skip(1).find(|folder| folder.exists())?;
            match access(folder, Access::WRITE_OK) {
                Ok(()) if folder.is_dir() => Fine(format!("{shown} can be written")),
                Ok(()) => Failure(
                    format!("cannot write the log {shown}: {} is not a folder", folder.display()),
                    aside(folder),
                ),
                Err(error) => failed(error.into(), format!("chmod u+rwx {}", quoted_path(folder))),
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(target_endian = "little")]
    fn who_listens_on_a_port_is_read_from_the_list_of_sockets() {
        let line = |address: &str, state: &str| {
            format!("   0: {address}:18B0 00000000:0000 {state} 00000000:00000000 0")
        };
        assert_eq!(listener(&line("0100007F", "0A"), 6320), Some("127.0.0.1".parse().unwrap()));
        assert_eq!(listener(&line("00000000", "0A"), 6320), Some("0.0.0.0".parse().unwrap()));
        assert_eq!(
            listener(&line("00000000000000000000000001000000", "0A"), 6320),
            Some("::1".parse().unwrap())
        );
        assert_eq!(listener(&line("00000000", "01"), 6320), None, "a connection listens to nobody");
        assert_eq!(listener(&line("00000000", "0A"), 6321), None);
        assert_eq!(listener("  sl  local_address rem_address   st", 6320), None);
    }
}
