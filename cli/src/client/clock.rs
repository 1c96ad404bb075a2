//! The clock of the daemon, as far as it can be seen from here.

use crate::client::{Client, Request};
use crate::failure::Outcome;
use mfa_shared::api::system::GetVersion;
use mfa_shared::wire::Nothing;
use std::time::UNIX_EPOCH;

impl Client {
    /// The daemon's time in seconds since the start of 1970, if it says.
    pub async fn clock_seconds(&self) -> Outcome<Option<i64>> {
        let response = self.exchange(Request::new(&GetVersion {}, &Nothing)).await?;
        let date = response.headers().get("date").and_then(|value| value.to_str().ok());
        let time = date.and_then(|text| httpdate::parse_http_date(text).ok());
        let seconds = time.and_then(|time| time.duration_since(UNIX_EPOCH).ok()).map(|d| d.as_secs());
        Ok(seconds.and_then(|seconds| i64::try_from(seconds).ok()))
    }
}
