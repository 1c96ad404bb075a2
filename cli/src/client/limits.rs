//! How long answers may be. What is longer comes from no daemon, and would take all memory.

/// Mebibytes that a refusal may have.
pub const ERROR_MIB_MAX: usize = 1;
/// Mebibytes that an answer may have which is read as a whole.
pub const ANSWER_MIB_MAX: usize = 256;
/// Mebibytes that a record of a list may have.
pub const RECORD_MIB_MAX: usize = 16;
/// Mebibytes that an image may have.
pub const IMAGE_MIB_MAX: usize = 64;

/// Reads an answer to its end; nothing where it is longer than so many mebibytes.
pub async fn whole(response: &mut reqwest::Response, max: usize) -> Result<Option<Vec<u8>>, reqwest::Error> {
    let fits = |length: usize| length <= max << 20;
    if !response.content_length().is_none_or(|length| usize::try_from(length).is_ok_and(fits)) {
        return Ok(None);
    }
    let mut bytes = Vec::new();
    while let Some(piece) = response.chunk().await? {
        if !fits(bytes.len() + piece.len()) {
            return Ok(None);
        }
        bytes.extend_from_slice(&piece);
    }
    Ok(Some(bytes))
}
