//! `Existing-Only: true`: a change that names a record which does not exist is refused, in the transaction
//! that would make it. A batch has it for all of its operations.

use super::dry_run::switch;
use super::reply::Reply;
use mfa_shared::fault::Fault;
use warp::http::HeaderMap;

/// Name of the header, in the request and in the answer.
const HEADER: &str = "existing-only";

/// Whether a request asks for it. What cannot be understood is refused: it might be meant as that.
pub fn asked(headers: &HeaderMap) -> Result<bool, Fault> {
    switch(headers, HEADER, "Existing-Only")
}

/// Says in an answer that it was heard.
pub fn mark(reply: &mut Reply) {
    reply.headers.push((HEADER.to_owned(), "true".to_owned()));
}
