//! Keys of applications: made, kept in files, used to sign assertions.
//!
//! Signing is done by `ring`. It makes no keys, and no other library does that has a stable release without
//! an open advisory or is not a second whole library of cryptography; so the primes are searched for here. No
//! one can observe this closely: it happens once, on the machine of the key's owner. The requirements on the
//! primes are from FIPS 186-5, appendix A.1. Written forms of the key are wiped from memory; the numbers used
//! in the calculation cannot be, and go with the process, which ends at once.

use crate::failure::{Failure, Outcome, codes};
use crate::random;
use crate::settings::bounded::SECRET_BYTES_MAX;
use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use num_bigint::BigUint;
use num_integer::lcm;
use ring::rand::SystemRandom;
use ring::rsa::PublicKeyComponents;
use ring::signature::{RSA_PKCS1_SHA256, RsaKeyPair};
use serde_json::{Value, json};
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use zeroize::Zeroizing;

/// Public exponent of every key that is made here.
const EXPONENT: u32 = 65_537;
/// Rounds of the Miller-Rabin test: a composite number passes all of them with a probability below 2^-80.
const ROUNDS: usize = 40;
/// Divisors that rule out most candidates before the test.
const SMALL_PRIMES_MAX: u32 = 2000;

/// Letters in a line of PEM.
const LINE: usize = 64;

/// A public key and the file of its private half.
pub struct Generated {
    /// Modulus in decimal digits.
    pub modulus: String,
    /// The private key as PEM (PKCS #8).
    pub pem: Zeroizing<String>,
}

/// Makes a key of `bits` bits.
pub fn generate(bits: u64) -> Generated {
    let small = small_primes();
    let one = BigUint::from(1u8);
    loop {
        let (p, q) = (prime(bits / 2, &small), prime(bits / 2, &small));
        let (p, q) = if p > q { (p, q) } else { (q, p) };
        if are_near(&p, &q, bits) {
            continue;
        }
        let (below_p, below_q) = (&p - &one, &q - &one);
        let exponent = BigUint::from(EXPONENT);
        let private = exponent.modinv(&lcm(below_p.clone(), below_q.clone()));
        let (Some(private), Some(coefficient)) = (private, q.modinv(&p)) else { continue };
        // A small private exponent could be found from the public key.
        if private <= &one << (bits / 2) {
            continue;
        }
        let modulus = &p * &q;
        let numbers = [
            &modulus,
            &exponent,
            &private,
            &p,
            &q,
            &(&private % &below_p),
            &(&private % &below_q),
            &coefficient,
        ];
        return Generated { modulus: modulus.to_string(), pem: pem(&numbers) };
    }
}

/// Whether the factors of a modulus of `bits` bits are so near to each other that they could be found from
/// it.
fn are_near(p: &BigUint, q: &BigUint, bits: u64) -> bool {
    p - q <= BigUint::from(1u8) << (bits / 2 - 100)
}

fn small_primes() -> Vec<u32> {
    let is_prime = |n: &u32| (2..*n).take_while(|d| d * d <= *n).all(|d| !n.is_multiple_of(d));
    (3..SMALL_PRIMES_MAX).filter(is_prime).collect()
}

fn random(bits: u64) -> BigUint {
    let mut bytes = Zeroizing::new(vec![0; usize::try_from(bits.div_ceil(8)).unwrap_or_default()]);
    random::fill(&mut bytes);
    BigUint::from_bytes_be(&bytes) >> (u64::try_from(bytes.len()).unwrap_or_default() * 8 - bits)
}

/// A prime whose two highest bits are set, so that a product of two has twice as many bits.
fn prime(bits: u64, small: &[u32]) -> BigUint {
    loop {
        let mut candidate = random(bits);
        for bit in [0, bits - 2, bits - 1] {
            candidate.set_bit(bit, true);
        }
        let divided = small.iter().any(|divisor| &candidate % divisor == BigUint::ZERO);
        let coprime = (&candidate - 1u8) % EXPONENT != BigUint::ZERO;
        if !divided && coprime && is_probable_prime(&candidate) {
            return candidate;
        }
    }
}

/// The Miller-Rabin test.
fn is_probable_prime(candidate: &BigUint) -> bool {
    let below = candidate - 1u8;
    let twos = below.trailing_zeros().unwrap_or_default();
    let odd = &below >> twos;
    let one = BigUint::from(1u8);
    (0..ROUNDS).all(|_| {
        let base = random(candidate.bits() - 1) + 2u8;
        let mut power = base.modpow(&odd, candidate);
        if power == one || power == below {
            return true;
        }
        (1..twos).any(|_| {
            power = &power * &power % candidate;
            power == below
        })
    })
}

fn der(tag: u8, content: &[u8]) -> Zeroizing<Vec<u8>> {
    let length = content.len().to_be_bytes();
    let length = &length[length.iter().position(|byte| *byte != 0).unwrap_or(length.len() - 1)..];
    // Allocated in full, so that no shorter copy is left in memory.
    let mut out = Zeroizing::new(Vec::with_capacity(content.len() + 10));
    out.push(tag);
    if content.len() >= 0x80 {
        // The length of a length is below 8.
        out.push(0x80 | u8::try_from(length.len()).unwrap_or_default());
    }
    out.extend_from_slice(length);
    out.extend_from_slice(content);
    out
}

fn integer(number: &BigUint) -> Zeroizing<Vec<u8>> {
    let digits = Zeroizing::new(number.to_bytes_be());
    let sign: &[u8] = if digits[0] >= 0x80 { &[0] } else { &[] };
    der(2, &joined(&[sign, digits.as_slice()]))
}

fn joined(parts: &[&[u8]]) -> Zeroizing<Vec<u8>> {
    Zeroizing::new(parts.concat())
}

fn pem(numbers: &[&BigUint]) -> Zeroizing<String> {
    const RSA: &[u8] = b"\x30\x0d\x06\x09\x2a\x86\x48\x86\xf7\x0d\x01\x01\x01\x05\x00";
    let version = integer(&BigUint::ZERO);
    let numbers: Vec<_> = numbers.iter().map(|number| integer(number)).collect();
    let numbers: Vec<&[u8]> =
        [&version].into_iter().chain(&numbers).map(|number| number.as_slice()).collect();
    let key = der(4, &der(0x30, &joined(&numbers)));
    let text =
        Zeroizing::new(STANDARD.encode(der(0x30, &joined(&[version.as_slice(), RSA, key.as_slice()]))));
    let mut pem = Zeroizing::new(String::with_capacity(text.len() * 2));
    pem.push_str("-----BEGIN PRIVATE KEY-----\n");
    for (i, letter) in text.chars().enumerate() {
        if i > 0 && i.is_multiple_of(LINE) {
            pem.push('\n');
        }
        pem.push(letter);
    }
    pem.push_str("\n-----END PRIVATE KEY-----\n");
    pem
}

/// Writes a key file that only its owner can read, with the name under which the key is registered.
pub fn write(file: &str, application: &str, timestamp: &str, pem: &str) -> Outcome {
    let opened = std::fs::OpenOptions::new().create_new(true).write(true).mode(0o600).open(file);
    let text = Zeroizing::new(format!("Application: {application}\nKey: {timestamp}\n{pem}"));
    let written = opened.and_then(|mut opened| opened.write_all(text.as_bytes()));
    written.map_err(|error| match error.kind() {
        std::io::ErrorKind::AlreadyExists => taken(file),
        _ => Failure::local(format!("cannot write {file}: {error}")),
    })
}

/// Refuses a file that exists already.
pub fn check_free(file: &str) -> Outcome {
    if std::fs::symlink_metadata(file).is_ok() { Err(taken(file)) } else { Ok(()) }
}

fn taken(file: &str) -> Failure {
    Failure::new(codes::FILE_EXISTS, format!("{file} exists"))
        .hint("a key file is never overwritten: give another file")
}

pub struct Key {
    pair: RsaKeyPair,
    /// The application named in the file.
    pub application: Option<String>,
    /// The timestamp under which the key is registered, if the file has it.
    pub timestamp: Option<String>,
}

pub fn read(file: &str) -> Outcome<Key> {
    let text = crate::input::text(file, SECRET_BYTES_MAX)?;
    let bad = |why: &str| Failure::usage(format!("{file} holds no private RSA key that can sign: {why}"));
    let header = |name: &str| {
        text.lines().find_map(|line| Some(line.strip_prefix(name)?.strip_prefix(':')?.trim().to_owned()))
    };
    let (_, rest) = text.split_once("-----BEGIN ").ok_or_else(|| bad("it is not PEM"))?;
    let (kind, rest) = rest.split_once("-----").ok_or_else(|| bad("it is not PEM"))?;
    let body: String = rest.split("-----").next().unwrap_or_default().split_whitespace().collect();
    let bytes = STANDARD.decode(body).map_err(|_| bad("it is not PEM"))?;
    let pair = match kind {
        "PRIVATE KEY" => RsaKeyPair::from_pkcs8(&bytes),
        "RSA PRIVATE KEY" => RsaKeyPair::from_der(&bytes),
        _ => return Err(bad(kind)),
    };
    let pair = pair.map_err(|why| bad(&why.to_string()))?;
    Ok(Key { pair, application: header("Application"), timestamp: header("Key") })
}

impl Key {
    /// Modulus and exponent in decimal digits.
    pub fn public(&self) -> (String, String) {
        let public: PublicKeyComponents<Vec<u8>> = self.pair.public().into();
        let digits = |bytes: &[u8]| BigUint::from_bytes_be(bytes).to_string();
        (digits(&public.n), digits(&public.e))
    }

    /// A signed assertion.
    pub fn assertion(&self, timestamp: &str, claims: &Value) -> Outcome<String> {
        let encode = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
        let signed = format!("{}.{}", encode(&json!({ "alg": "RS256", "kid": timestamp })), encode(claims));
        let mut signature = vec![0; self.pair.public().modulus_len()];
        let done = self.pair.sign(&RSA_PKCS1_SHA256, &SystemRandom::new(), signed.as_bytes(), &mut signature);
        done.map_err(|_| Failure::local("the key cannot sign"))?;
        Ok(format!("{signed}.{}", URL_SAFE_NO_PAD.encode(signature)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_that_is_made_is_written_read_and_signs() {
        let made = generate(2048);
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("key.pem").display().to_string();
        write(&file, "crm-v1", "2031-05-06T10_11_12", &made.pem).unwrap();
        let key = read(&file).unwrap();
        assert_eq!(key.public(), (made.modulus, "65537".to_owned()));
        assert_eq!(key.timestamp.as_deref(), Some("2031-05-06T10_11_12"));
        let assertion = key.assertion("k", &json!({ "iss": "crm-v1" })).unwrap();
        assert_eq!(assertion.split('.').count(), 3);
        assert!(write(&file, "crm-v1", "x", "").is_err(), "a key is never written over");
    }

    #[test]
    fn factors_are_far_enough_from_each_other_or_not() {
        let q: BigUint = BigUint::from(1u8) << 1023u32;
        let away = |distance: BigUint| are_near(&(&q + distance), &q, 2048);
        let limit: BigUint = BigUint::from(1u8) << 924u32;
        assert!(away(BigUint::ZERO) && away(&limit - 1u8) && away(limit.clone()));
        assert!(!away(&limit + 1u8));
    }

    #[test]
    fn a_number_is_a_prime_or_not() {
        let small = small_primes();
        assert_eq!((small[0], small.last()), (3, Some(&1999)));
        for (number, expected) in [(2_147_483_647u64, true), (2_147_483_649, false), (3_215_031_751, false)] {
            assert_eq!(is_probable_prime(&BigUint::from(number)), expected, "{number}");
        }
    }
}
