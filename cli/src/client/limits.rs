//! How long answers may be, and how slowly they may come. What is longer comes from no daemon, and would take
//! all memory; what is slower would keep a script waiting for ever.

use reqwest::{Error, Response};
use std::time::{Duration, Instant};

/// Mebibytes that a refusal may have.
pub const ERROR_MIB_MAX: usize = 1;
/// Mebibytes that an answer may have which is read as a whole.
pub const ANSWER_MIB_MAX: usize = 256;
/// Mebibytes that a record of a list may have.
pub const RECORD_MIB_MAX: usize = 16;
/// Mebibytes that an image may have.
pub const IMAGE_MIB_MAX: usize = 64;

/// Bytes that arrive in a second even on a poor line, as a body does or an answer.
pub const BYTES_A_SECOND: u64 = 4096;

/// Why an answer was not read to its end.
pub enum Unread {
    /// It is longer than it may be.
    TooLong,
    /// It came more slowly than on a poor line.
    TooSlow,
    /// The connection broke off.
    Broken(Error),
}

/// An answer that is longer or slower than it may be.
#[derive(Clone, Copy)]
enum Excess {
    Length,
    Time,
}

impl From<Excess> for Unread {
    fn from(excess: Excess) -> Self {
        match excess {
            Excess::Length => Self::TooLong,
            Excess::Time => Self::TooSlow,
        }
    }
}

/// What was read of an answer before somebody asks for it.
#[derive(Clone)]
struct Early(Result<Vec<u8>, Excess>);

/// Reads an answer to its end before somebody asks for it, so that one which breaks off can be sent again.
pub async fn early(response: &mut Response, within: Duration) -> Result<(), Error> {
    let max = if response.status().as_u16() < 400 { ANSWER_MIB_MAX } else { ERROR_MIB_MAX };
    let read = read(response, max, within).await?;
    response.extensions_mut().insert(Early(read));
    Ok(())
}

/// Reads an answer to its end, of so many mebibytes at most; beside the time that its length takes on a poor
/// line, it has this time in all.
pub async fn whole(response: &mut Response, max: usize, within: Duration) -> Result<Vec<u8>, Unread> {
    let read = match response.extensions_mut().remove::<Early>() {
        Some(Early(read)) => read,
        None => read(response, max, within).await.map_err(Unread::Broken)?,
    };
    let bytes = read?;
    if bytes.len() <= max << 20 { Ok(bytes) } else { Err(Unread::TooLong) }
}

async fn read(
    response: &mut Response,
    max: usize,
    within: Duration,
) -> Result<Result<Vec<u8>, Excess>, Error> {
    let fits = |length: usize| length <= max << 20;
    if !response.content_length().is_none_or(|length| usize::try_from(length).is_ok_and(fits)) {
        return Ok(Err(Excess::Length));
    }
    let began = Instant::now();
    let mut bytes = Vec::new();
    while let Some(piece) = response.chunk().await? {
        if !fits(bytes.len() + piece.len()) {
            return Ok(Err(Excess::Length));
        }
        bytes.extend_from_slice(&piece);
        if began.elapsed() > within + Duration::from_secs(bytes.len() as u64 / BYTES_A_SECOND) {
            return Ok(Err(Excess::Time));
        }
    }
    Ok(Ok(bytes))
}
