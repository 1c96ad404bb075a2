//! The clock of the daemon, as far as it can be seen from here.

use crate::client::Client;
use crate::client::image::moment;
use crate::client::request::Request;
use crate::failure::Outcome;
use mfa_shared::api::system::GetVersion;
use mfa_shared::wire::Nothing;
use reqwest::header::DATE;

impl Client {
    /// The daemon's time in seconds since the start of 1970, if it says.
    pub async fn clock_seconds(&self) -> Outcome<Option<i64>> {
        let response = self.exchange(Request::new(&GetVersion {}, &Nothing)).await?;
        let date = response.headers().get(DATE).and_then(|value| value.to_str().ok());
        Ok(date.and_then(moment).map(|moment| moment.millis() / 1000))
    }
}
