//! Bytes as hexadecimal digits.

use std::fmt::Write as _;

/// Bytes as lower-case hexadecimal digits, two for each byte.
pub fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}
