//! Verification of RSA signatures (RFC 8017 section 8.2.2, PKCS #1 v1.5).
//!
//! The contract takes keys of 2,048 to 16,384 bits with an odd exponent of at most 64 bits. The libraries
//! that verify with a given modulus and exponent stop at 8,192 bits, or have no stable release without an
//! open advisory. Verifying touches public values only, so its time leaks nothing, and it is one power and
//! one comparison: the expected block is written out and compared whole, never parsed.

use mfa_shared::amount::BigInteger;
use mfa_shared::api::applications::Signature;
use num_bigint::BigUint;
use sha2::{Digest, Sha256, Sha512};

/// Bits of the smallest modulus that may sign.
pub const MODULUS_BITS_MIN: u64 = 2048;
/// Bits of the largest modulus that may sign.
pub const MODULUS_BITS_MAX: u64 = 16_384;
/// Decimal digits of the largest modulus; a longer number is refused without being read.
const MODULUS_DIGITS_MAX: usize = 4933;
/// The smallest exponent that may sign.
const EXPONENT_MIN: u64 = 3;

/// The hash that a signature signs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Algorithm {
    /// RSA with SHA-256.
    Rs256,
    /// RSA with SHA-512.
    Rs512,
}

/// DER of the algorithm before the digest (RFC 8017 section 9.2, note 1).
const SHA256_PREFIX: &[u8] = b"\x30\x31\x30\x0d\x06\x09\x60\x86\x48\x01\x65\x03\x04\x02\x01\x05\x00\x04\x20";
const SHA512_PREFIX: &[u8] = b"\x30\x51\x30\x0d\x06\x09\x60\x86\x48\x01\x65\x03\x04\x02\x03\x05\x00\x04\x40";

impl Algorithm {
    /// The block that a key of so many bytes signs for a message.
    fn block(self, message: &[u8], length: usize) -> Vec<u8> {
        let (prefix, digest) = match self {
            Self::Rs256 => (SHA256_PREFIX, Sha256::digest(message).to_vec()),
            Self::Rs512 => (SHA512_PREFIX, Sha512::digest(message).to_vec()),
        };
        let mut block = vec![0, 1];
        // The smallest modulus leaves room for many more than the eight bytes of padding that there must be.
        block.resize(length.saturating_sub(prefix.len() + digest.len() + 1), 0xff);
        block.push(0);
        block.extend_from_slice(prefix);
        block.extend_from_slice(&digest);
        block
    }
}

/// A public key that is strong enough to sign in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PublicKey {
    modulus: BigUint,
    exponent: u64,
    /// Where a product is folded: the bits of the modulus and half as many again.
    fold: u64,
    /// What two to the power of `fold` leaves when the modulus divides it.
    folded: BigUint,
    /// Two to the power of `fold` and two more, divided by the modulus.
    inverse: BigUint,
}

fn modulus(value: &BigInteger) -> Option<BigUint> {
    let digits = value.as_str();
    let short = digits.len() <= MODULUS_DIGITS_MAX;
    short.then(|| BigUint::parse_bytes(digits.as_bytes(), 10)).flatten()
}

/// Bits of a window of an exponent.
const WINDOW: u32 = 4;

/// Some bits of an exponent: an odd digit below, and the zeros above it.
struct Window {
    digit: usize,
    squarings: u32,
}

/// An odd exponent in windows from its lowest bit on: at most 16 for 64 bits, whatever their pattern is.
fn windows(mut exponent: u64) -> Vec<Window> {
    let mut found = Vec::new();
    while exponent > 0 {
        let above = exponent >> WINDOW;
        let zeros = if above == 0 { 0 } else { above.trailing_zeros() };
        let digit = (exponent % (1 << WINDOW)) as usize;
        found.push(Window { digit, squarings: WINDOW + zeros });
        exponent = above >> zeros;
    }
    found
}

impl PublicKey {
    /// The key of an application; `None` where it is too weak or too large to sign in.
    pub fn new(stored: &Signature) -> Option<Self> {
        // Checking a signature takes one step for each bit of the exponent, so a long one would cost seconds.
        let exponent = stored.public_key_exp.as_str().parse::<u64>().ok()?;
        if exponent < EXPONENT_MIN || exponent.is_multiple_of(2) {
            return None;
        }
        let modulus = modulus(&stored.public_key_mod)?;
        let sized = (MODULUS_BITS_MIN..=MODULUS_BITS_MAX).contains(&modulus.bits());
        (sized && modulus.bit(0)).then(|| {
            let fold = modulus.bits() + modulus.bits() / 2;
            let two_to = |bits: u64| BigUint::from(1u8) << bits;
            let (folded, inverse) = (two_to(fold) % &modulus, two_to(fold + 2) / &modulus);
            Self { modulus, exponent, fold, folded, inverse }
        })
    }

    /// Whether the signature of the message is right.
    pub fn verify(&self, algorithm: Algorithm, message: &[u8], signature: &[u8]) -> bool {
        let length = usize::try_from(self.modulus.bits().div_ceil(8)).unwrap_or(usize::MAX);
        if signature.len() != length {
            return false;
        }
        let signature = BigUint::from_bytes_be(signature);
        if signature >= self.modulus {
            return false;
        }
        self.power(&signature) == BigUint::from_bytes_be(&algorithm.block(message, length))
    }

    /// The signature to the power of the exponent, window by window. Odd powers are made only up to the
    /// largest that a window asks for: most exponents are 65,537, which needs the first alone.
    fn power(&self, base: &BigUint) -> BigUint {
        let times = |a: &BigUint, b: &BigUint| self.remainder(a * b);
        let windows = windows(self.exponent);
        let largest = windows.iter().map(|window| window.digit).max().unwrap_or(1);
        let mut odd = vec![base.clone()];
        if largest > 1 {
            let square = times(base, base);
            for place in 0..largest / 2 {
                odd.push(times(&odd[place], &square));
            }
        }
        windows.iter().rev().fold(BigUint::from(1u8), |power, window| {
            let raised = (0..window.squarings).fold(power, |power, _| times(&power, &power));
            times(&raised, &odd[window.digit / 2])
        })
    }

    /// What is left of a number below the square of the modulus. Its upper quarter is folded onto the rest;
    /// Barrett's reduction does what remains by two multiplications with an inverse that is worked out
    /// once. Together they cost a fraction of the library's division.
    fn remainder(&self, number: BigUint) -> BigUint {
        let bits = self.modulus.bits();
        let upper = &number >> self.fold;
        let lower = number - (&upper << self.fold);
        // At most two bits longer than the place of the fold.
        let number = upper * &self.folded + lower;
        let quotient = ((&number >> (bits - 1)) * &self.inverse) >> (self.fold + 3 - bits);
        let mut left = number - quotient * &self.modulus;
        // The quotient may be too small by two at most.
        while left >= self.modulus {
            left -= &self.modulus;
        }
        left
    }
}

/// Keys for tests. Their factors are Mersenne primes, so no one can mistake them for secrets.
#[cfg(test)]
pub mod mersenne {
    use super::*;

    /// A key whose modulus is the product of 2^p - 1 for these p; it has exactly as many bits as their sum.
    #[derive(Debug, Clone)]
    pub struct Key {
        modulus: BigUint,
        totient: BigUint,
        exponent: BigUint,
    }

    fn big(value: u32) -> BigUint {
        BigUint::from(value)
    }

    impl Key {
        /// The key with the ordinary exponent.
        pub fn new(primes: &[u32]) -> Self {
            let prime = |p: &u32| (big(1) << *p) - big(1);
            let modulus = primes.iter().map(prime).product();
            let totient = primes.iter().map(|p| prime(p) - big(1)).product();
            Self { modulus, totient, exponent: big(65_537) }
        }

        /// The same key with another exponent.
        pub fn exponent(mut self, exponent: u32) -> Self {
            self.exponent = big(exponent);
            self
        }

        /// The public half, as an application registers it.
        pub fn public(&self) -> Signature {
            let digits = |n: &BigUint| BigInteger::parse(&n.to_string()).unwrap();
            Signature { public_key_mod: digits(&self.modulus), public_key_exp: digits(&self.exponent) }
        }

        /// Signs a message.
        pub fn sign(&self, algorithm: Algorithm, message: &[u8]) -> Vec<u8> {
            let length = usize::try_from(self.modulus.bits().div_ceil(8)).unwrap();
            let block = BigUint::from_bytes_be(&algorithm.block(message, length));
            let private = self.exponent.modinv(&self.totient).unwrap();
            let signature = block.modpow(&private, &self.modulus).to_bytes_be();
            [vec![0; length - signature.len()], signature].concat()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::mersenne::Key;
    use super::*;

    /// Sums to 2,048.
    const SMALLEST: &[u32] = &[1279, 607, 127, 19, 13, 3];

    #[test]
    fn a_signature_fits_its_key_message_and_algorithm_only() {
        for (primes, algorithm) in [
            (SMALLEST, Algorithm::Rs256),
            (&[2203, 2281], Algorithm::Rs512),
            (&[4253, 4423], Algorithm::Rs256),
        ] {
            let key = Key::new(primes);
            let public = PublicKey::new(&key.public()).unwrap();
            let signature = key.sign(algorithm, b"hello");
            assert!(public.verify(algorithm, b"hello", &signature));
            assert!(!public.verify(algorithm, b"hellp", &signature));
            let other = if algorithm == Algorithm::Rs256 { Algorithm::Rs512 } else { Algorithm::Rs256 };
            assert!(!public.verify(other, b"hello", &signature));
            for place in [0, signature.len() / 2, signature.len() - 1] {
                let mut bent = signature.clone();
                bent[place] ^= 1;
                assert!(!public.verify(algorithm, b"hello", &bent));
            }
            let longer = [&[0], signature.as_slice()].concat();
            assert!(!public.verify(algorithm, b"hello", &longer));
            assert!(!public.verify(algorithm, b"hello", &signature[1..]));
            assert!(!public.verify(algorithm, b"hello", &[]));
            assert!(!public.verify(algorithm, b"hello", &vec![0xff; signature.len()]));
        }
    }

    #[test]
    fn a_key_signs_in_from_2048_to_16384_bits_with_an_odd_exponent_from_3_on() {
        for (primes, usable) in [
            (&[1279, 607, 127, 31, 3][..], false),
            (SMALLEST, true),
            (&[11213, 4423, 607, 127, 7, 5, 2], true),
            (&[11213, 4423, 607, 127, 13, 2], false),
        ] {
            let bits = primes.iter().sum::<u32>();
            assert_eq!(PublicKey::new(&Key::new(primes).public()).is_some(), usable, "{bits} bits");
        }
        for (exponent, usable) in [(1, false), (2, false), (3, true), (4, false), (5, true), (65_537, true)] {
            let key = Key::new(SMALLEST).exponent(exponent).public();
            assert_eq!(PublicKey::new(&key).is_some(), usable, "exponent {exponent}");
        }
    }

    #[test]
    fn an_exponent_of_more_than_64_bits_is_refused() {
        let with = |exponent: &str| {
            let public_key_exp = BigInteger::parse(exponent).unwrap();
            PublicKey::new(&Signature { public_key_exp, ..Key::new(SMALLEST).public() })
        };
        assert!(with("18446744073709551615").is_some(), "64 bits");
        assert!(with("18446744073709551617").is_none(), "65 bits");
        let modulus = Key::new(SMALLEST).public().public_key_mod;
        assert!(with(modulus.as_str()).is_none(), "as long as the modulus");
        assert!(with(&"7".repeat(4000)).is_none(), "longer than the modulus");
    }

    proptest::proptest! {
        #![proptest_config(proptest::test_runner::Config::with_cases(60))]

        #[test]
        fn the_power_is_that_of_the_library(
            modulus in proptest::collection::vec(proptest::num::u8::ANY, 256..300),
            base in proptest::collection::vec(proptest::num::u8::ANY, 1..256),
            exponent in proptest::sample::select(vec![3, 5, 65_537, (1 << 32) + 1, u64::MAX, 0x8765_4321_0fed_cba9]),
        ) {
            let odd = BigUint::from_bytes_be(&[&[0x80], &modulus[..], &[1]].concat());
            let digits = |n: &BigUint| BigInteger::parse(&n.to_string()).unwrap();
            let key = PublicKey::new(&Signature {
                public_key_mod: digits(&odd),
                public_key_exp: BigInteger::parse(&exponent.to_string()).unwrap(),
            });
            let (key, base) = (key.unwrap(), BigUint::from_bytes_be(&base));
            proptest::prop_assert_eq!(key.power(&base), base.modpow(&BigUint::from(exponent), &odd));
        }
    }

    #[test]
    fn a_remainder_is_that_of_the_division_at_the_edges_too() {
        for primes in [SMALLEST, &[2203, 2281], &[11213, 4423, 607, 127, 7, 5, 2]] {
            let key = PublicKey::new(&Key::new(primes).public()).unwrap();
            let n = key.modulus.clone();
            let one = BigUint::from(1u8);
            let largest = &n - &one;
            for number in [BigUint::from(0u8), one.clone(), n.clone(), &n * &largest, &largest * &largest] {
                for near in [number.clone(), number.clone() + &one, number.clone() + &largest] {
                    if near < &n * &n {
                        assert_eq!(key.remainder(near.clone()), near % &n);
                    }
                }
            }
        }
    }
}
