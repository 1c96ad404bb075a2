//! Assertions of applications. The factors of the key are Mersenne primes, so no one can take it for a
//! secret.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use num_bigint::BigUint;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

/// DER of SHA-256 before a digest.
const SHA256_PREFIX: &[u8] = b"\x30\x31\x30\x0d\x06\x09\x60\x86\x48\x01\x65\x03\x04\x02\x01\x05\x00\x04\x20";

/// A key pair.
pub struct Key {
    modulus: BigUint,
    private: BigUint,
}

impl Key {
    /// A key whose modulus is the product of 2^p - 1 for these p.
    pub fn new(primes: &[u32]) -> Self {
        let one = || BigUint::from(1u8);
        let prime = |p: &u32| (one() << *p) - one();
        let totient: BigUint = primes.iter().map(|p| prime(p) - one()).product();
        let private = BigUint::from(65_537u32).modinv(&totient).unwrap();
        Self { modulus: primes.iter().map(prime).product(), private }
    }

    /// The body with which an application registers it.
    pub fn public(&self) -> String {
        format!("{{\"publicKeyMod\":{},\"publicKeyExp\":65537}}", self.modulus)
    }

    /// A signed assertion.
    pub fn sign(&self, kid: &str, claims: &Value) -> String {
        let encode = |bytes: &[u8]| URL_SAFE_NO_PAD.encode(bytes);
        let header = json!({ "alg": "RS256", "kid": kid }).to_string();
        let signed = format!("{}.{}", encode(header.as_bytes()), encode(claims.to_string().as_bytes()));
        let length = usize::try_from(self.modulus.bits().div_ceil(8)).unwrap();
        let digest = [SHA256_PREFIX, &Sha256::digest(signed.as_bytes())].concat();
        let mut block = vec![0, 1];
        block.resize(length - digest.len() - 1, 0xff);
        block.push(0);
        block.extend(digest);
        let signature = BigUint::from_bytes_be(&block).modpow(&self.private, &self.modulus).to_bytes_be();
        let signature = [vec![0; length - signature.len()], signature].concat();
        format!("{signed}.{}", encode(&signature))
    }
}
