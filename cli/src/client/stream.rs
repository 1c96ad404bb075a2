//! Answers that are not one JSON value: lists that arrive record by record, texts, and files that arrive
//! piece by piece.

use super::limits::RECORD_MIB_MAX;
use super::request::Request;
use super::{At, Client, connect};
use crate::failure::{Failure, Outcome, codes};
use bytes::Bytes;
use mfa_shared::api::backup::FileBytes;
use mfa_shared::endpoint::Endpoint;
use mfa_shared::wire::{Body, NDJSON_TYPE, Nothing, Outgoing};
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderValue};

/// A list that arrives record by record.
pub struct Stream {
    response: reqwest::Response,
    buffer: Vec<u8>,
    /// Bytes of it that hold no end of a line.
    looked: usize,
    url: String,
    count: u64,
}

impl Client {
    /// Sends a list endpoint and takes its records as they come.
    pub async fn stream<E: Endpoint>(&self, endpoint: &E, body: &E::Body) -> Outcome<Stream> {
        self.stream_row((&E::META, &endpoint.params()), body.write()).await
    }

    /// The same for a row of the endpoint table.
    pub async fn stream_row(&self, at: At<'_>, outgoing: Outgoing) -> Outcome<Stream> {
        let mut request = Request::of_row(at, outgoing);
        request.headers.insert(ACCEPT, HeaderValue::from_static(NDJSON_TYPE));
        let response = self.accepted(request.flowing()).await?;
        let kind = response.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
        if !kind.is_some_and(|kind| kind.starts_with(NDJSON_TYPE)) {
            return Err(Failure::unexpected(&self.url, "with something else than a list"));
        }
        Ok(Stream { response, buffer: Vec::new(), looked: 0, url: self.url.clone(), count: 0 })
    }

    /// Sends an endpoint whose answer is a text, and takes it as it comes.
    pub async fn plain_text<E: Endpoint>(&self, endpoint: &E, body: &E::Body) -> Outcome<String> {
        Ok(self.heard(Request::new(endpoint, body)).await?.0)
    }
}

impl Stream {
    /// The next record, as the text of its line.
    pub async fn next(&mut self) -> Outcome<Option<String>> {
        loop {
            let new = self.buffer[self.looked..].iter().position(|byte| *byte == b'\n');
            if let Some(end) = new.map(|new| self.looked + new) {
                let line: Vec<u8> = self.buffer.drain(..=end).collect();
                self.looked = 0;
                self.count += 1;
                let line = String::from_utf8(line).map_err(|_| self.broken("it is not UTF-8"))?;
                return Ok(Some(line.trim_end().to_owned()));
            }
            self.looked = self.buffer.len();
            if self.looked > RECORD_MIB_MAX << 20 {
                let what = format!("with a record of more than {RECORD_MIB_MAX} MiB");
                return Err(Failure::unexpected(&self.url, &what));
            }
            match self.response.chunk().await {
                Ok(Some(bytes)) => self.buffer.extend_from_slice(&bytes),
                Ok(None) if self.buffer.is_empty() => return Ok(None),
                Ok(None) => return Err(self.broken("the last record is cut")),
                Err(error) => return Err(self.broken(&connect::root(&error))),
            }
        }
    }

    fn broken(&self, why: &str) -> Failure {
        let message = format!("the list from {} broke off after {} records: {why}", self.url, self.count);
        Failure::new(codes::LIST_BROKEN, message).hint("repeat the command")
    }
}

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
        let response = self.accepted(Request::new(endpoint, &Nothing).flowing()).await?;
        Ok(Download { response, url: self.url.clone() })
    }
}

impl Download {
    /// The next bytes. The end of the stream does not mean that all have arrived: the file has to say so.
    pub async fn next(&mut self) -> Outcome<Option<Bytes>> {
        self.response.chunk().await.map_err(|error| {
            let message = format!("what {} sent broke off: {}", self.url, connect::root(&error));
            Failure::new(codes::DOWNLOAD_BROKEN, message)
                .hint("the log of the daemon says why; then repeat the command")
        })
    }
}
