//! Random bytes of the operating system, for passwords, keys and identifiers.

/// Fills `bytes` with random ones. A system without a source of them cannot run this program, so that is a
/// panic.
#[expect(clippy::expect_used, reason = "the operating system gives random bytes")]
pub fn fill(bytes: &mut [u8]) {
    getrandom::fill(bytes).expect("the operating system gives random bytes");
}

pub fn bytes<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    fill(&mut bytes);
    bytes
}
