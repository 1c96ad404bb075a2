//! Webhooks: where events may be delivered to, how they are signed, and when they are retried. Contract:
//! `audit.md` section 4.

use super::gateway::{Limits, bare};
use super::network::{Network, is_public};
use crate::secret::Secret;
use base64::Engine;
use base64::alphabet::STANDARD;
use base64::engine::general_purpose::STANDARD as BASE64;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use hmac::{Hmac, KeyInit, Mac};
use mfa_shared::address::ServiceAddress;
use mfa_shared::api::webhooks::SECRET_PREFIX;
use mfa_shared::time::Timestamp;
use sha2::{Digest, Sha256};
use std::net::{IpAddr, Ipv4Addr};

/// The setting that names networks of this machine and of private nets.
pub const PRIVATE_SETTING: &str = "webhook_private_addresses";

/// Pauses before a failed delivery is tried again, in seconds; the last one holds from then on.
const PAUSES: [i64; 6] = [5, 30, 2 * 60, 10 * 60, 60 * 60, 3 * 60 * 60];
/// A delivery that fails for so long is given up, in seconds.
const GIVEN_UP_AFTER: i64 = 3 * 24 * 60 * 60;

/// Where events may be delivered to, by the settings.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Receivers {
    /// Whether they may travel unencrypted.
    pub plaintext: bool,
    /// Networks of this machine and of private nets in which receivers may be.
    pub private: Vec<Network>,
}

impl Receivers {
    /// The parts of an address, if events may be delivered there; else why not. Whether a name leads to an
    /// address that is allowed is known only when it is called.
    pub fn allow(&self, url: &str) -> Result<ServiceAddress, String> {
        let Some(address) = ServiceAddress::parse(url) else {
            return Err("must be an https: address".to_owned());
        };
        if !address.tls && !self.plaintext {
            return Err("must be an https: address; http: needs the setting webhook_plaintext".to_owned());
        }
        let host = bare(&address.host);
        let literal = match host.parse::<IpAddr>() {
            Ok(literal) => Some(literal),
            Err(_) => is_localhost(host).then_some(IpAddr::V4(Ipv4Addr::LOCALHOST)),
        };
        match literal {
            Some(literal) if !self.reach(literal) => Err(format!(
                "must not be an address of this machine or of a private network; the setting \
                 {PRIVATE_SETTING} names the networks that are allowed"
            )),
            _ => Ok(address),
        }
    }

    fn reach(&self, address: IpAddr) -> bool {
        is_public(address) || self.private.iter().any(|network| network.contains(address))
    }
}

/// Whether a name means this machine, whatever a name server says.
fn is_localhost(host: &str) -> bool {
    let host = host.trim_end_matches('.').to_ascii_lowercase();
    host == "localhost" || host.ends_with(".localhost")
}

/// Events that are to be delivered.
#[derive(Debug)]
pub struct Message {
    /// The receiver.
    pub to: ServiceAddress,
    /// The limits of the delivery.
    pub limits: Limits,
    /// The key of its signature.
    pub secret: Secret,
    /// Its name; each try has the same.
    pub id: String,
    /// When it is sent.
    pub at: Timestamp,
    /// The events.
    pub body: Vec<u8>,
}

/// The name of a delivery. Moving the position back sends the same events under other names, because a
/// receiver may drop what it has received already.
pub fn message_id(subscription: &str, created: Timestamp, moved: u64, first: i64, last: i64) -> String {
    let named = format!("{subscription}\0{}\0{moved}\0{first}\0{last}", created.millis());
    let digest = Sha256::digest(named.as_bytes());
    let digits: String = digest.iter().take(16).map(|byte| format!("{byte:02x}")).collect();
    format!("msg_{digits}")
}

/// The header `webhook-signature`.
#[expect(clippy::expect_used, reason = "a key may have any length")]
pub fn signature(secret: &Secret, id: &str, seconds: i64, body: &[u8]) -> String {
    let mut mac = Hmac::<Sha256>::new_from_slice(&key(secret)).expect("a key may have any length");
    mac.update(format!("{id}.{seconds}.").as_bytes());
    mac.update(body);
    format!("v1,{}", BASE64.encode(mac.finalize().into_bytes()))
}

/// The bytes of a secret, whose form was checked when it was given.
fn key(secret: &Secret) -> Vec<u8> {
    let mode = GeneralPurposeConfig::new()
        .with_decode_padding_mode(DecodePaddingMode::Indifferent)
        .with_decode_allow_trailing_bits(true);
    let text = secret.expose();
    let digits = text.strip_prefix(SECRET_PREFIX).unwrap_or(text);
    GeneralPurpose::new(&STANDARD, mode).decode(digits).unwrap_or_else(|_| digits.as_bytes().to_vec())
}

/// A new secret of these bytes.
pub fn secret(bytes: [u8; 32]) -> Secret {
    Secret::new(&format!("{SECRET_PREFIX}{}", BASE64.encode(bytes)))
}

/// When a delivery that has failed so often, for the first time at `since`, is tried again; `None` when it is
/// given up.
pub fn next_try(failures: u64, since: Timestamp, now: Timestamp) -> Option<Timestamp> {
    if since.plus_seconds(GIVEN_UP_AFTER) <= now {
        return None;
    }
    let at = usize::try_from(failures.saturating_sub(1)).unwrap_or(usize::MAX).min(PAUSES.len() - 1);
    Some(now.plus_seconds(PAUSES[at]))
}

/// Whether a time for the next try is later than any plan says: the clock was set back since.
pub fn is_beyond_plan(next: Timestamp, now: Timestamp) -> bool {
    PAUSES.last().is_some_and(|longest| now.plus_seconds(*longest) < next)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_try_that_a_clock_of_the_future_planned_does_not_wait_for_it() {
        let now = Timestamp::from_millis(0);
        let planned = next_try(9, now, now).unwrap();
        assert!(!is_beyond_plan(planned, now) && is_beyond_plan(planned.plus_seconds(1), now));
    }

    #[test]
    fn a_failed_delivery_is_retried_by_plan_and_given_up_after_three_days() {
        let since = Timestamp::from_millis(0);
        let mut now = since;
        let mut failures = 0;
        let mut pauses = Vec::new();
        loop {
            failures += 1;
            let Some(next) = next_try(failures, since, now) else { break };
            pauses.push((next.millis() - now.millis()) / 1000);
            now = next;
        }
        assert_eq!(pauses[..7], [5, 30, 120, 600, 3600, 10_800, 10_800]);
        assert!(pauses[7..].iter().all(|pause| *pause == 10_800));
        let days_3 = 3 * 24 * 3600;
        let last = now.millis() / 1000;
        assert!((days_3..days_3 + 10_800).contains(&last), "{last}");
    }

    #[test]
    fn addresses_of_this_machine_and_of_private_nets_need_the_setting() {
        let strict = Receivers::default();
        let open = Receivers { plaintext: true, private: vec!["127.0.0.0/8".parse().unwrap()] };
        for (url, by_default, with_settings) in [
            ("https://example.org/x", true, true),
            ("http://example.org/x", false, true),
            ("https://localhost", false, true),
            ("https://LOCALHOST.:8443/", false, true),
            ("https://api.localhost/", false, true),
            ("https://127.1.2.3/", false, true),
            ("https://[::ffff:127.0.0.1]/", false, true),
            ("https://[::1]/", false, false),
            ("https://10.0.0.1/", false, false),
            ("https://169.254.169.254/latest", false, false),
            ("https://224.0.0.1/", false, false),
            ("https://93.184.216.34/", true, true),
        ] {
            assert_eq!(strict.allow(url).is_ok(), by_default, "{url}");
            assert_eq!(open.allow(url).is_ok(), with_settings, "{url}");
        }
    }

    /// The example of the specification's own libraries.
    #[test]
    fn a_signature_is_that_of_the_specification() {
        let secret = Secret::new("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw");
        let signed =
            signature(&secret, "msg_p5jXN8AQM9LWM0D4loKWxJek", 1_614_265_330, br#"{"test": 2432232314}"#);
        assert_eq!(signed, "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
    }

    #[test]
    fn each_try_has_the_same_name_and_another_move_another() {
        let at = Timestamp::from_millis(1);
        let id = message_id("hook", at, 0, 1, 7);
        assert_eq!(id, message_id("hook", at, 0, 1, 7));
        assert_ne!(id, message_id("hook", at, 1, 1, 7));
        assert_ne!(id, message_id("hook", at, 0, 1, 8));
        assert!(!id.contains('.') && id.len() == 36, "{id}");
    }
}
