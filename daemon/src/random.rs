//! Random bytes of the operating system, for identifiers and secrets.

use crate::hex::hexadecimal;
use mfa_shared::time::Timestamp;

/// Random bytes. A system without a source of them cannot run this program, so that is a panic.
#[expect(clippy::expect_used, reason = "the operating system gives random bytes")]
pub fn bytes<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).expect("the operating system gives random bytes");
    bytes
}

/// Whether the lot falls on this one, as it does on one of so many.
pub fn is_one_of(many: u8) -> bool {
    bytes::<1>()[0].is_multiple_of(many)
}

/// Random bytes as hexadecimal digits, two for each byte.
pub fn hex<const N: usize>() -> String {
    hexadecimal(&bytes::<N>())
}

/// The same behind a moment, in twelve digits: names that sort by it. What is made together is then stored
/// together; names by chance alone would each change another page of an index, however large it has grown.
pub fn hex_at<const N: usize>(moment: Timestamp) -> String {
    // The last six bytes reach to the year 10889.
    hexadecimal(&moment.millis().max(0).to_be_bytes()[2..]) + &hex::<N>()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_behind_a_moment_sort_by_it_and_differ_within_it() {
        let at = |millis| hex_at::<6>(Timestamp::from_millis(millis));
        let moments = [0, 1, 0xffff, 0x1_0000, 1_800_000_000_000, Timestamp::from_millis(i64::MAX).millis()];
        let names = moments.map(at);
        assert!(names.is_sorted());
        assert!(names.iter().all(|name| name.len() == 24), "{names:?}");
        assert!(names[4].starts_with("01a3185c5000"), "{}", names[4]);
        assert_ne!(at(5), at(5));
        assert!(at(-1).starts_with("000000000000"));
    }
}
