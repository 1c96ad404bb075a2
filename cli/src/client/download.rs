//! Files that arrive piece by piece.

use super::{Client, Request, connect};
use crate::failure::{Failure, Outcome};
use bytes::Bytes;
use mfa_shared::endpoint::Endpoint;
use mfa_shared::fault::exit;
use mfa_shared::wire::{FileBytes, Nothing};

/// A file that arrives.
pub struct Download {
    response: reqwest::Response,
    url: String,
}

impl Client {
    /// Begins to read a file.
    pub async fn download<E>(&self, endpoint: &E) -> Outcome<Download>
    where
        E: Endpoint<Body = Nothing, Answer = FileBytes>,
    {
        let response = self.request(Request::new(endpoint, &Nothing)).await?;
        if response.status().as_u16() == 200 {
            return Ok(Download { response, url: self.url.clone() });
        }
        let (status, text) = self.text(response).await?;
        Err(self.refused(&E::META, &endpoint.params(), status, &text))
    }
}

impl Download {
    /// The next bytes. That none follow does not say that all have arrived: the file has to tell.
    pub async fn next(&mut self) -> Outcome<Option<Bytes>> {
        self.response.chunk().await.map_err(|error| {
            let message = format!("what {} sent broke off: {}", self.url, connect::root(&error));
            Failure::new("download_broken", exit::FAILURE, message)
                .hint("the log of the daemon says why; then repeat the command")
        })
    }
}
