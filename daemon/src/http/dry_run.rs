//! `Dry-Run: true`: the whole operation is carried out and taken back. Nothing is written, nothing is sent.

use super::reply::Reply;
use mfa_shared::fault::{self, Fault};
use warp::http::HeaderMap;

/// Name of the header, in the request and in the answer.
const HEADER: &str = "dry-run";

/// Whether a request asks for a dry run. What cannot be understood is refused: it might be meant as one.
pub fn asked(headers: &HeaderMap) -> Result<bool, Fault> {
    switch(headers, HEADER, "Dry-Run")
}

/// Whether a header is there that is true or false.
pub(super) fn switch(headers: &HeaderMap, name: &str, title: &str) -> Result<bool, Fault> {
    let mut given = headers.get_all(name).iter();
    let Some(value) = given.next() else { return Ok(false) };
    match (given.next(), value.as_bytes()) {
        (None, b"true") => Ok(true),
        (None, b"false") => Ok(false),
        _ => {
            let detail = format!("the header {title} must be given once, as true or false");
            Err(Fault::new(fault::INVALID_PARAMETER, detail))
        }
    }
}

/// Says in an answer that nothing was changed.
pub fn mark(reply: &mut Reply) {
    reply.headers.push((HEADER.to_owned(), "true".to_owned()));
}
