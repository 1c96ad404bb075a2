//! Codes of an authenticator (RFC 6238): SHA-1, six digits, steps of 30 seconds. Contract: `identity.md`
//! section 13.

use mfa_shared::endpoint::percent_encode;
use mfa_shared::time::Timestamp;
use ring::hmac::{HMAC_SHA1_FOR_LEGACY_USE_ONLY, Key, sign};

/// Bytes of a secret: 160 bits.
pub const SECRET_BYTES: usize = 20;
/// Recovery codes that are given at once.
pub const RECOVERY_CODES: usize = 10;
/// Random bytes of a recovery code.
pub const RECOVERY_BYTES: usize = 10;
const STEP_MILLIS: i64 = 30_000;
const DIGITS: usize = 6;
const BASE32: &[u8; 32] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

/// Bytes in base32 (RFC 4648) without padding.
pub fn base32(bytes: &[u8]) -> String {
    let mut text = String::new();
    for chunk in bytes.chunks(5) {
        let mut block = [0; 5];
        block[..chunk.len()].copy_from_slice(chunk);
        let number = block.iter().fold(0_u64, |number, byte| number << 8 | u64::from(*byte));
        for letter in 0..(chunk.len() * 8).div_ceil(5) {
            text.push(char::from(BASE32[(number >> (35 - 5 * letter)) as usize & 31]));
        }
    }
    text
}

/// The bytes of a text in base32; `None` if it is not base32.
pub fn from_base32(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    let mut number = 0_u32;
    let mut bits = 0;
    for letter in text.bytes() {
        let value = BASE32.iter().position(|known| *known == letter)?;
        number = number << 5 | u32::try_from(value).ok()?;
        bits += 5;
        if bits >= 8 {
            bits -= 8;
            bytes.push(u8::try_from(number >> bits & 0xff).ok()?);
        }
    }
    Some(bytes)
}

/// The address that an authenticator reads from a picture.
pub fn uri(user: &str, secret: &str) -> String {
    let user = percent_encode(user);
    format!("otpauth://totp/mfa:{user}?secret={secret}&issuer=mfa&algorithm=SHA1&digits=6&period=30")
}

/// The step in which a moment is.
fn step(moment: Timestamp) -> u64 {
    u64::try_from(moment.millis().div_euclid(STEP_MILLIS)).unwrap_or(0)
}

/// The code of a step.
fn code(secret: &[u8], step: u64) -> String {
    let tag = sign(&Key::new(HMAC_SHA1_FOR_LEGACY_USE_ONLY, secret), &step.to_be_bytes());
    let hash = tag.as_ref();
    let at = usize::from(hash[hash.len() - 1] & 15);
    let number = u32::from_be_bytes([hash[at], hash[at + 1], hash[at + 2], hash[at + 3]]) & 0x7fff_ffff;
    format!("{:06}", number % 1_000_000)
}

/// The code that an authenticator shows at a moment.
pub fn step_code(secret: &[u8], moment: Timestamp) -> String {
    code(secret, step(moment))
}

/// The step whose code was typed, if it is the present one or its neighbour and later than the last one that
/// was used.
pub fn used_step(secret: &[u8], typed: &str, now: Timestamp, last_used: Option<u64>) -> Option<u64> {
    let typed: String = typed.chars().filter(|c| !c.is_whitespace()).collect();
    if typed.len() != DIGITS || !typed.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let now = step(now);
    let steps = now.saturating_sub(1)..=now + 1;
    let mut found = steps.filter(|step| last_used.is_none_or(|last| *step > last));
    found.find(|step| code(secret, *step) == typed)
}

/// A recovery code as it is shown: `abcdefgh-ijklmnop`.
pub fn recovery_code(bytes: [u8; RECOVERY_BYTES]) -> String {
    let text = base32(&bytes).to_lowercase();
    format!("{}-{}", &text[..8], &text[8..])
}

/// A recovery code as it is compared: people leave out the hyphen, and type capitals.
pub fn recovery_text(typed: &str) -> String {
    typed.chars().filter(|c| c.is_ascii_alphanumeric()).map(|c| c.to_ascii_lowercase()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_those_of_rfc_6238() {
        for (seconds, expected) in [
            (59, "287082"),
            (1_111_111_109, "081804"),
            (1_111_111_111, "050471"),
            (1_234_567_890, "005924"),
            (2_000_000_000, "279037"),
            (20_000_000_000, "353130"),
        ] {
            let moment = Timestamp::from_millis(seconds * 1000);
            assert_eq!(code(b"12345678901234567890", step(moment)), expected, "{seconds}");
        }
    }

    #[test]
    fn base32_is_that_of_rfc_4648_and_comes_back() {
        for (bytes, text) in [
            ("", ""),
            ("f", "MY"),
            ("fo", "MZXQ"),
            ("foo", "MZXW6"),
            ("foob", "MZXW6YQ"),
            ("fooba", "MZXW6YTB"),
        ] {
            assert_eq!(base32(bytes.as_bytes()), text);
            assert_eq!(from_base32(text).unwrap(), bytes.as_bytes());
        }
        assert_eq!(base32(&[0xff; SECRET_BYTES]).len(), 32);
        assert_eq!(from_base32("MZXW6YT1"), None);
    }

    #[test]
    fn a_code_is_good_for_its_step_and_the_neighbours_and_once() {
        let secret = b"12345678901234567890";
        let at = |step: i64| Timestamp::from_millis(step * STEP_MILLIS + 7_000);
        let typed = code(secret, 100);
        for (now, last, expected) in [
            (98, None, None),
            (99, None, Some(100)),
            (100, None, Some(100)),
            (101, None, Some(100)),
            (102, None, None),
            (100, Some(99), Some(100)),
            (100, Some(100), None),
            (100, Some(101), None),
        ] {
            assert_eq!(used_step(secret, &typed, at(now), last), expected, "{now} {last:?}");
        }
        assert_eq!(used_step(secret, &format!("{} {}", &typed[..3], &typed[3..]), at(100), None), Some(100));
        assert_eq!(used_step(secret, &typed[..5], at(100), None), None);
    }

    #[test]
    fn a_recovery_code_is_compared_as_people_type_it() {
        let shown = recovery_code([7; RECOVERY_BYTES]);
        assert_eq!((shown.len(), shown.chars().nth(8)), (17, Some('-')));
        assert_eq!(recovery_text(&shown.to_uppercase().replace('-', " ")), recovery_text(&shown));
    }
}
