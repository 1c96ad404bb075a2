//! Random bytes of the operating system, for identifiers and secrets.

use crate::hex::hexadecimal;

/// Random bytes. A system without a source of them cannot run this program, so that is a panic.
#[expect(clippy::expect_used, reason = "the operating system gives random bytes")]
pub fn bytes<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).expect("the operating system gives random bytes");
    bytes
}

/// Random bytes as hexadecimal digits, two for each byte.
pub fn hex<const N: usize>() -> String {
    hexadecimal(&bytes::<N>())
}
