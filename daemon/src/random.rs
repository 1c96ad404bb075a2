//! Random bytes of the operating system, for identifiers and secrets.

use crate::hex::hexadecimal;
use mfa_shared::time::Timestamp;
use std::cell::RefCell;

/// Bytes that a thread asks the system for at once, of which it makes names.
const DRAWN_BYTES: usize = 512;

thread_local! {
    /// Bytes for names, and how many of them have been used.
    static DRAWN: RefCell<([u8; DRAWN_BYTES], usize)> =
        const { RefCell::new(([0; DRAWN_BYTES], DRAWN_BYTES)) };
}

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

/// A name: random bytes as hexadecimal digits, two for each byte. It is no secret: its bytes may have been in
/// memory for long, since asking the system for those of each name takes longer than all else about it.
pub fn hex<const N: usize>() -> String {
    const { assert!(N <= DRAWN_BYTES, "a name is short") };
    DRAWN.with_borrow_mut(|(drawn, used)| {
        if *used + N > drawn.len() {
            (*drawn, *used) = (bytes(), 0);
        }
        let name = &drawn[*used..*used + N];
        *used += N;
        hexadecimal(name)
    })
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
    fn names_of_many_threads_differ() {
        let draw = || (0..1000).map(|_| hex::<16>()).chain((0..7).map(|_| hex::<512>())).collect::<Vec<_>>();
        let threads = [(); 4].map(|()| std::thread::spawn(draw));
        let names: Vec<_> = threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect();
        let distinct: std::collections::HashSet<_> = names.iter().collect();
        assert_eq!(distinct.len(), names.len());
        assert!(names.iter().all(|name| [32, 1024].contains(&name.len())));
    }

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
