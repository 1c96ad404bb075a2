//! Sends endpoints to the daemon. Nothing else in the command line speaks HTTP.

mod answer;
mod batch;
pub mod bearer;
pub mod clock;
mod connect;
mod dangling;
mod doubt;
mod dry_run;
mod duplicates;
mod greeting;
pub mod idempotency;
mod image;
pub mod keys;
mod limits;
pub mod logins;
mod raw;
mod references;
mod request;
mod stream;
pub mod trace;
mod trust;

use crate::failure::{Failure, Outcome, next_step};
use bytes::Bytes;
use connect::{is_limited, is_of_daemon, root, unreachable};
use dangling::Noted;
use doubt::{Doubt, Sent, is_lost};
use idempotency::Keys;
use image::upload;
use limits::{ANSWER_MIB_MAX, ERROR_MIB_MAX, Unread};
use mfa_shared::endpoint::{Endpoint, Meta, Method, path_params, percent_encode, render};
use mfa_shared::fault::Problem;
use mfa_shared::wire::Outgoing;
use request::{DRY_RUN, Manner, Parcel, Request};
use reqwest::header::*;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, Instant};

pub use answer::Reply;
pub use batch::{Way, operation};
pub use connect::{check_address, too_late};
pub use dangling::Dangling;
pub use greeting::host_and_port;
pub use image::Facts;
pub use limits::IMAGE_MIB_MAX;
pub use raw::RawReply;
pub use references::{Asking, Asks, References};
pub use stream::{Download, Stream};
pub use trust::Trust;

/// How requests are sent.
#[derive(Debug, Clone, Default)]
pub struct Client {
    /// Address of the daemon, without a slash at the end.
    pub url: String,
    /// The profile whose logins are used; empty for none.
    pub profile: String,
    /// How often a request is repeated.
    pub retries: u32,
    /// Longest wait for one answer.
    pub timeout: Duration,
    /// Shows the traffic on stderr.
    pub traced: bool,
    /// Prints on stderr the line of curl that sends the same; the command that prints the token for it.
    pub curl: Option<String>,
    /// The file of the image that is sent, for that line.
    pub file: Option<String>,
    /// Prints on stderr what was sent and how long the answer took.
    pub verbose: bool,
    /// The keys of the changes of this command.
    pub keys: Keys,
    /// The changes that were sent.
    pub sent: Arc<Sent>,
    /// An access token that was given for this command, in place of that of the last login.
    pub token: Option<String>,
    /// The variable that was to give one and is empty.
    pub empty_token: Option<String>,
    /// A login that has ended is not refreshed: what is given up after a moment would lose the new tokens,
    /// and the spent one that comes again ends the session.
    pub leaves_login: bool,
    /// Secrets may go to another machine in clear.
    pub insecure: bool,
    /// Whose certificates count.
    pub trust: Trust,
    /// Changes are only tried.
    pub dry_run: bool,
    /// What is done about changes that name what does not exist.
    pub references: References,
    /// Missing records that they named.
    noted: Arc<Mutex<Noted>>,
    /// Made at the first request, so that commands without one start at once.
    http: OnceLock<reqwest::Client>,
}

/// A row of the endpoint table with the parameters of its path.
pub type At<'a> = (&'static Meta, &'a [&'a str]);

/// The header by which it knows a repeated request.
const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");

impl Client {
    /// A client of the daemon at an address.
    pub fn new(url: &str, retries: u32, timeout: Duration, traced: bool) -> Self {
        let url = url.trim_end_matches('/').to_owned();
        Self { url, retries, timeout, traced, ..Self::default() }
    }

    pub async fn send<E: Endpoint>(&self, endpoint: &E, body: &E::Body) -> Outcome<Reply> {
        self.answered(Request::new(endpoint, body)).await
    }

    /// Sends a row of the endpoint table.
    pub async fn send_row(&self, at: At<'_>, outgoing: Outgoing) -> Outcome<Reply> {
        self.answered(Request::of_row(at, outgoing)).await
    }

    /// As [`Client::send`], for an endpoint whose answer reports the result of its dry run.
    pub async fn send_telling<E: Endpoint>(&self, endpoint: &E, body: &E::Body) -> Outcome<Reply> {
        self.answered(Request { reports: true, ..Request::new(endpoint, body) }).await
    }

    /// Sends a change that is made only if the record still has the tag.
    pub async fn send_if(&self, at: At<'_>, outgoing: Outgoing, tag: Option<&str>) -> Outcome<Reply> {
        let mut request = Request::of_row(at, outgoing);
        if let Some(tag) = tag {
            request.headers.insert(IF_MATCH, header(tag)?);
        }
        self.answered(request).await
    }

    /// Sends a request and reads its answer to the end. A dry run that goes well ends the command.
    async fn answered(&self, request: Request<'_>) -> Outcome<Reply> {
        let meta = request.meta;
        let params = request.params.clone();
        let reports = request.reports;
        let (text, mut reply) = self.heard(request).await?;
        reply.value = answer::value(meta.answer.kind, &text).ok_or_else(|| self.misread(&reply))?;
        if self.dry_run && !meta.method.reads() && !reports {
            let path = render(meta.path, &params);
            return Err(dry_run::would_be_accepted(meta.method.as_str(), &path, reply.location));
        }
        Ok(reply)
    }

    /// Sends a request and reads the text of its answer, unless it is refused; and what its headers say.
    async fn heard(&self, mut request: Request<'_>) -> Outcome<(String, Reply)> {
        let meta = request.meta;
        let params = request.params.clone();
        let tries = self.dry_run && !meta.method.reads();
        if tries {
            request.headers.insert(DRY_RUN, HeaderValue::from_static("true"));
        }
        let response = self.request(request).await?;
        let doubt = response.extensions().get::<Doubt>().copied();
        let tried = response.headers().contains_key(DRY_RUN);
        let is_of_daemon = is_of_daemon(&response);
        let reply = Reply { doubt, ..Reply::begun(response.headers()) };
        let read = self.text(response).await;
        let (status, text) = read.map_err(|failure| self.broken_off(doubt, failure))?;
        match (200..300).contains(&status) {
            true if !is_of_daemon => Err(self.doubting(doubt, Failure::status(status, &self.url))),
            true if tries && !tried => Err(dry_run::ignored(&self.url)),
            true => Ok((text, reply)),
            false => Err(self.doubting(doubt, self.refused(meta, &params, status, &text))),
        }
    }

    /// The answer to a request, before its body is read; what is no answer of a read is refused.
    async fn accepted(&self, request: Request<'_>) -> Outcome<reqwest::Response> {
        let (meta, params) = (request.meta, request.params.clone());
        let response = self.request(request).await?;
        if response.status().as_u16() == 200 && is_of_daemon(&response) {
            return Ok(response);
        }
        let (status, text) = self.text(response).await?;
        Err(self.refused(meta, &params, status, &text))
    }

    /// Sends a request with the token of the caller.
    async fn request(&self, mut request: Request<'_>) -> Outcome<reqwest::Response> {
        if !request.meta.is_public()
            && let Some(token) = self.bearer().await?
        {
            // The token itself is not repeated: messages go into logs.
            let value = header(&format!("Bearer {token}")).map_err(|_| not_a_token())?;
            request.headers.insert(AUTHORIZATION, value);
        }
        self.exchange(request).await
    }

    /// Sends a request of the endpoint table.
    pub(crate) async fn exchange(&self, request: Request<'_>) -> Outcome<reqwest::Response> {
        let Request { meta, params, outgoing, headers, head_only, manner, .. } = request;
        let url = self.address(meta, &params, &outgoing.query)?;
        let method = match meta.method {
            Method::Get if head_only => reqwest::Method::HEAD,
            Method::Get => reqwest::Method::GET,
            Method::Post => reqwest::Method::POST,
            Method::Put => reqwest::Method::PUT,
            Method::Delete => reqwest::Method::DELETE,
        };
        let body = outgoing.body.map(|(kind, bytes)| (kind.into_owned(), bytes));
        self.deliver(Parcel { method, url, headers, body, manner }).await
    }

    /// Sends a parcel, with retries where they may help, always with the same key.
    async fn deliver(&self, parcel: Parcel) -> Outcome<reqwest::Response> {
        let parcel = self.heed(parcel).await?;
        let changes = parcel.changes();
        let Parcel { method, url, mut headers, body, manner } = parcel;
        let Manner { keyed, parts_keyed, once, bulk, flows, watch, printed, .. } = manner;
        if body.is_some() || headers.contains_key(AUTHORIZATION) {
            self.check_wire()?;
        }
        if keyed && !method.is_safe() {
            headers.insert(IDEMPOTENCY_KEY, header(&self.keys.next())?);
        }
        let is_keyed = parts_keyed || headers.contains_key(IDEMPOTENCY_KEY);
        let mut doubt = Doubt::of(changes, is_keyed);
        if let Some((kind, _)) = &body {
            headers.insert(CONTENT_TYPE, header(kind)?);
        }
        let bytes = body.map(|(_, bytes)| Bytes::from(bytes));
        if let Some(token) = &self.curl {
            // A line that is pasted twice is meant twice, unless the user chose the key.
            let given = self.keys.are_given();
            let headers = pairs(&headers).filter(|(name, _)| given || IDEMPOTENCY_KEY != *name).collect();
            let method = method.as_str();
            let (body, file) = (printed.as_deref().or(bytes.as_deref()), self.file.as_deref());
            trace::line(&trace::Line { method, url: &url, headers, body, file, token }.text());
        }
        let (http, patience) = self.way(watch.is_some(), bytes.as_ref().map_or(0, Bytes::len))?;
        let mut tries = 0;
        loop {
            let mut request = http.request(method.clone(), &url).headers(headers.clone());
            request = match (&bytes, &watch) {
                (Some(bytes), Some(watch)) => upload(request, bytes, watch).timeout(patience),
                (Some(bytes), None) => request.body(bytes.clone()),
                (None, _) => request,
            };
            if self.traced {
                trace::request(method.as_str(), &url, pairs(&headers), bytes.as_deref());
            }
            let sent = Instant::now();
            let answer = self.noting(changes, is_keyed, self.answer(request, flows)).await;
            doubt.iter_mut().for_each(|doubt| doubt.note(&answer));
            self.trace(method.as_str(), &url, &answer, sent.elapsed());
            let again = if once && is_lost(&answer) { None } else { self.wait(&answer, tries, bulk) };
            match (again, answer) {
                (Some(wait), answer) => {
                    tries += u32::from(!is_limited(&answer));
                    tokio::time::sleep(wait).await;
                }
                (_, Ok(mut response)) => {
                    doubt.map(|doubt| response.extensions_mut().insert(doubt));
                    self.check_heeded(&headers, &response)?;
                    self.note_answer(response.headers(), bytes.as_deref());
                    return Ok(response);
                }
                (_, Err(error)) => {
                    return Err(self.doubting(doubt, unreachable(&self.url, patience, &error)));
                }
            }
        }
    }

    /// One answer to a request, to its end unless it flows.
    async fn answer(
        &self,
        request: reqwest::RequestBuilder,
        flows: bool,
    ) -> Result<reqwest::Response, reqwest::Error> {
        let mut response = request.send().await?;
        if !flows {
            limits::early(&mut response, self.timeout).await?;
        }
        Ok(response)
    }

    fn trace(
        &self,
        method: &str,
        url: &str,
        answer: &Result<reqwest::Response, reqwest::Error>,
        took: Duration,
    ) {
        if self.verbose {
            let outcome =
                answer.as_ref().map_or_else(root, |response| response.status().as_u16().to_string());
            trace::line(&format!("{method} {url}: {outcome}, {} ms", took.as_millis()));
        }
        if self.traced
            && let Ok(response) = answer
        {
            trace::answer(response.status().as_u16(), pairs(response.headers()));
        }
    }

    fn address(&self, meta: &Meta, params: &[&str], query: &[(&'static str, String)]) -> Outcome<String> {
        // An empty segment or `..` would make this the address of another record.
        if let Some(bad) = params.iter().find(|param| matches!(**param, "" | "." | "..")) {
            return Err(Failure::usage(format!("\"{bad}\" is not an identifier")));
        }
        let mut url = format!("{}{}", self.url, render(meta.path, params));
        for (i, (name, value)) in query.iter().enumerate() {
            url.push(if i == 0 { '?' } else { '&' });
            url.push_str(&format!("{name}={}", percent_encode(value)));
        }
        Ok(url)
    }

    /// The status of an answer, and its body.
    pub async fn text(&self, mut response: reqwest::Response) -> Outcome<(u16, String)> {
        let status = response.status().as_u16();
        let max = if status < 400 { ANSWER_MIB_MAX } else { ERROR_MIB_MAX };
        let bytes = limits::whole(&mut response, max, self.timeout).await.map_err(|unread| match unread {
            Unread::TooLong => {
                Failure::status(status, &self.url).adding(&format!(" with more than {max} MiB"))
            }
            Unread::TooSlow => too_late(&self.url, self.timeout),
            Unread::Broken(error) => unreachable(&self.url, self.timeout, &error),
        })?;
        let text = String::from_utf8(bytes)
            .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned());
        if self.traced {
            trace::body("<", text.as_bytes());
        }
        Ok((status, text))
    }

    /// The failure of a request whose answer is none that a daemon gives.
    fn misread(&self, reply: &Reply) -> Failure {
        self.broken_off(reply.doubt, Failure::status(200, &self.url))
    }

    fn refused(&self, meta: &Meta, params: &[&str], status: u16, text: &str) -> Failure {
        let Ok(problem) = serde_json::from_str::<Problem>(text) else {
            return Failure::status(status, &self.url);
        };
        let failure = Failure::problem(problem);
        let hint = next_step::filled(&failure.hint, &failure.message, meta.path, params);
        let failure = failure.hint(hint);
        failure.of_path(path_params(meta.path).zip(params.iter().map(|param| (*param).to_owned())).collect())
    }
}

fn not_a_token() -> Failure {
    Failure::usage("the access token has a character that no token has")
        .hint("is there a line end or a space in MFA_TOKEN? a file is read without them: MFA_TOKEN_FILE")
}

fn header(text: &str) -> Outcome<HeaderValue> {
    HeaderValue::from_str(text).map_err(|_| Failure::usage(format!("\"{text}\" is not allowed in a header")))
}

fn pairs(headers: &HeaderMap) -> impl Iterator<Item = (&str, &str)> {
    headers.iter().map(|(name, value)| (name.as_str(), value.to_str().unwrap_or("?")))
}
