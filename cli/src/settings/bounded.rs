//! Files that are read whole, each up to a limit: a device without an end would take all memory.

use std::fs::File;
use std::io::{BufRead, Error, ErrorKind, Read, Result, stdin};
use std::path::Path;

/// Most bytes of a secret: a password, a token, a key.
pub const SECRET_BYTES_MAX: u64 = 64 * KIB;
/// Most bytes of a document, such as the body of a request. No daemon holds more for one client.
pub const DOCUMENT_BYTES_MAX: u64 = 32 * KIB * KIB;
/// Most bytes of records that are sent in many requests and are read whole before.
pub const RECORDS_BYTES_MAX: u64 = 256 * KIB * KIB;
/// Most bytes of a line or a row, where a file is read one by one.
pub const LINE_BYTES_MAX: u64 = 32 * KIB * KIB;

const KIB: u64 = 1024;

/// Reads a file of text.
pub fn text(file: impl AsRef<Path>, bytes_max: u64) -> Result<String> {
    text_of(File::open(file)?, bytes_max)
}

/// The same for what the user named, where `-` is standard input.
pub fn given(file: &str, bytes_max: u64) -> Result<String> {
    if file == "-" { text_of(stdin().lock(), bytes_max) } else { text(file, bytes_max) }
}

/// Reads a file.
pub fn bytes(file: impl AsRef<Path>, bytes_max: u64) -> Result<Vec<u8>> {
    bytes_of(File::open(file)?, bytes_max)
}

/// Reads the rest of something as text.
pub fn text_of(reader: impl Read, bytes_max: u64) -> Result<String> {
    let bytes = bytes_of(reader, bytes_max)?;
    String::from_utf8(bytes).map_err(|_| Error::new(ErrorKind::InvalidData, "it is not UTF-8"))
}

fn bytes_of(reader: impl Read, bytes_max: u64) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    reader.take(bytes_max + 1).read_to_end(&mut bytes)?;
    check(&bytes, bytes_max, "it has")?;
    Ok(bytes)
}

/// Reads on up to the end of a line, and returns how many bytes that was.
pub fn line(reader: &mut impl BufRead, line: &mut Vec<u8>) -> Result<usize> {
    let read = reader.take(LINE_BYTES_MAX + 1).read_until(b'\n', line)?;
    check(line, LINE_BYTES_MAX, "a line has")?;
    Ok(read)
}

fn check(bytes: &[u8], bytes_max: u64, has: &str) -> Result<()> {
    if bytes.len() as u64 > bytes_max { Err(too_large(has, bytes_max)) } else { Ok(()) }
}

/// The failure of what is larger than it may be.
pub fn too_large(has: &str, bytes_max: u64) -> Error {
    let (number, unit) = match bytes_max / KIB {
        kib if kib < KIB => (kib, "KiB"),
        kib => (kib / KIB, "MiB"),
    };
    Error::new(ErrorKind::FileTooLarge, format!("{has} more than {number} {unit}, which is the limit"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_read_up_to_its_limit_and_no_further() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), "x".repeat(2048)).unwrap();
        assert_eq!(text(file.path(), 2048).unwrap().len(), 2048);
        let refused = text(file.path(), 1024).unwrap_err();
        assert_eq!(refused.to_string(), "it has more than 1 KiB, which is the limit");
        assert_eq!(bytes("/dev/zero", 3 << 20).unwrap_err().kind(), ErrorKind::FileTooLarge);
    }
}
