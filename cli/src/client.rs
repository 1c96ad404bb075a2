//! Sends endpoints to the daemon. Nothing else in the command line speaks HTTP.

use crate::failure::{Failure, Outcome};
use crate::trace;
use mfa_shared::endpoint::{Endpoint, Meta, Method, percent_encode, segments};
use mfa_shared::fault::Problem;
use mfa_shared::wire::{Body, NDJSON_TYPE, Outgoing};
use reqwest::header::*;
use serde_json::Value;
use std::cell::{Cell, OnceCell};
use std::time::{Duration, Instant};

/// Longest time that a daemon may ask to wait before a request is repeated.
const RETRY_AFTER_SECONDS_MAX: u64 = 5;
/// What to do about a certificate that is not trusted.
const UNTRUSTED_HINT: &str = "correct the address, or add the certificate's authority to this machine's";
/// Longest wait for a connection.
const CONNECT_SECONDS_MAX: u64 = 10;

/// How requests are sent.
#[derive(Debug)]
pub struct Client {
    /// Address of the daemon, without a slash at the end.
    pub url: String,
    /// How often a request is repeated.
    pub retries: u32,
    /// Longest wait for one answer.
    pub timeout: Duration,
    /// Shows the traffic on stderr.
    pub traced: bool,
    /// Tells on stderr what was sent and how long the answer took.
    pub verbose: bool,
    /// The key that was given for this command.
    pub idempotency_key: Option<String>,
    /// How many changes were sent; each has a key of its own.
    pub changes: Cell<u32>,
    /// An access token that was given for this command, in place of that of the last login.
    pub token: Option<String>,
    /// Made at the first request, so that commands without one start at once.
    http: OnceCell<reqwest::Client>,
}

/// What the daemon answered.
#[derive(Debug)]
pub struct Reply {
    /// The body; `null` where there is none.
    pub value: Value,
    /// The tag of the representation, for a change that must not meet another one.
    pub tag: Option<String>,
    /// The address of the record that was made.
    pub location: Option<String>,
}

/// A list that arrives record by record.
pub struct Stream {
    response: reqwest::Response,
    buffer: Vec<u8>,
    url: String,
    count: u64,
}

impl Client {
    /// A client of the daemon at an address.
    pub fn new(url: &str, retries: u32, timeout: Duration, traced: bool) -> Self {
        let url = url.trim_end_matches('/').to_owned();
        Self {
            url,
            retries,
            timeout,
            traced,
            verbose: false,
            idempotency_key: None,
            changes: Cell::new(0),
            token: None,
            http: OnceCell::new(),
        }
    }

    /// The same client that gives up sooner and does not repeat.
    pub fn hasty(&self, timeout: Duration) -> Self {
        let token = self.token.clone();
        Self { token, ..Self::new(&self.url, 0, timeout, self.traced) }
    }

    /// The same client that waits longer and does not repeat, for what should not happen twice by itself.
    pub fn patient(&self, timeout: Duration) -> Self {
        let mut client = Self::new(&self.url, 0, timeout.max(self.timeout), self.traced);
        (client.verbose, client.idempotency_key) = (self.verbose, self.idempotency_key.clone());
        client
    }

    /// Sends an endpoint.
    pub async fn send<E: Endpoint>(&self, endpoint: &E, body: &E::Body) -> Outcome<Reply> {
        self.send_if(endpoint, body, None).await
    }

    /// Sends a change that is made only if the record still has the tag.
    pub async fn send_if<E: Endpoint>(
        &self,
        endpoint: &E,
        body: &E::Body,
        tag: Option<&str>,
    ) -> Outcome<Reply> {
        let mut headers = HeaderMap::new();
        if let Some(tag) = tag {
            headers.insert(IF_MATCH, header(tag)?);
        }
        let response = self.request(&E::META, &endpoint.params(), body.write(), headers).await?;
        let given = |name| response.headers().get(name).and_then(|v| v.to_str().ok()).map(str::to_owned);
        let (tag, location) = (given(ETAG), given(LOCATION));
        let (status, text) = self.text(response).await?;
        if (200..300).contains(&status) {
            let value = if text.is_empty() { Ok(Value::Null) } else { serde_json::from_str(&text) };
            let value = value.map_err(|_| Failure::status(status, &self.url))?;
            return Ok(Reply { value, tag, location });
        }
        Err(self.refused(&E::META, &endpoint.params(), status, &text))
    }

    /// Sends a list endpoint and takes its records as they come.
    pub async fn stream<E: Endpoint>(&self, endpoint: &E, body: &E::Body) -> Outcome<Stream> {
        let mut headers = HeaderMap::new();
        headers.insert(ACCEPT, HeaderValue::from_static(NDJSON_TYPE));
        let response = self.request(&E::META, &endpoint.params(), body.write(), headers).await?;
        let status = response.status().as_u16();
        if status == 200 {
            return Ok(Stream { response, buffer: Vec::new(), url: self.url.clone(), count: 0 });
        }
        let (status, text) = self.text(response).await?;
        Err(self.refused(&E::META, &endpoint.params(), status, &text))
    }

    /// Sends a request with the token of the caller.
    async fn request(
        &self,
        meta: &'static Meta,
        params: &[&str],
        outgoing: Outgoing,
        mut headers: HeaderMap,
    ) -> Outcome<reqwest::Response> {
        let public = ["CreateToken", "GetLive", "GetReady", "GetVersion"].contains(&meta.name);
        if !public && let Some(token) = self.bearer().await? {
            headers.insert(AUTHORIZATION, header(&format!("Bearer {token}"))?);
        }
        self.exchange(meta, params, outgoing, headers).await
    }

    /// Sends a request, again and again where that may help, always with the same key.
    pub async fn exchange(
        &self,
        meta: &'static Meta,
        params: &[&str],
        outgoing: Outgoing,
        mut headers: HeaderMap,
    ) -> Outcome<reqwest::Response> {
        let url = self.address(meta, params, &outgoing.query)?;
        let method = match meta.method {
            Method::Get => reqwest::Method::GET,
            Method::Post => reqwest::Method::POST,
            Method::Put => reqwest::Method::PUT,
            Method::Delete => reqwest::Method::DELETE,
        };
        if !meta.method.reads() {
            let key = self.key_of(meta);
            headers.insert(HeaderName::from_static("idempotency-key"), header(&key)?);
        }
        if let Some((kind, _)) = &outgoing.body {
            headers.insert(CONTENT_TYPE, header(kind)?);
        }
        let bytes = outgoing.body.map(|(_, bytes)| bytes);
        let mut tries = 0;
        loop {
            let mut request = self.http()?.request(method.clone(), &url).headers(headers.clone());
            if let Some(bytes) = &bytes {
                request = request.body(bytes.clone());
            }
            if self.traced {
                trace::request(meta.method, &url, pairs(&headers), bytes.as_deref());
            }
            let sent = Instant::now();
            let answer = request.send().await;
            self.tell(meta.method, &url, &answer, sent.elapsed());
            let wait = match &answer {
                Ok(response) if response.status().as_u16() < 500 => None,
                Ok(response) => Some(asked_wait(response.headers())),
                Err(error) if error.is_builder() => None,
                Err(_) => Some(backoff(tries)),
            };
            match (wait, answer) {
                (Some(wait), _) if tries < self.retries && wait.as_secs() <= RETRY_AFTER_SECONDS_MAX => {
                    tokio::time::sleep(wait.max(backoff(tries))).await;
                    tries += 1;
                }
                (_, Ok(response)) => return Ok(response),
                (_, Err(error)) => return Err(unreachable(&self.url, self.timeout, &error)),
            }
        }
    }

    fn tell(
        &self,
        method: Method,
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
        // An empty segment or a step would make this the address of something else.
        if let Some(bad) = params.iter().find(|param| matches!(**param, "" | "." | "..")) {
            return Err(Failure::usage(format!("\"{bad}\" is no identifier")));
        }
        let mut url = format!("{}{}", self.url, mfa_shared::endpoint::render(meta.path, params));
        for (i, (name, value)) in query.iter().enumerate() {
            url.push(if i == 0 { '?' } else { '&' });
            url.push_str(&format!("{name}={}", percent_encode(value)));
        }
        Ok(url)
    }

    /// The status of an answer, and its body.
    pub async fn text(&self, response: reqwest::Response) -> Outcome<(u16, String)> {
        let status = response.status().as_u16();
        let text = response.text().await.map_err(|error| unreachable(&self.url, self.timeout, &error))?;
        if self.traced {
            trace::body("<", text.as_bytes());
        }
        Ok((status, text))
    }

    fn refused(&self, meta: &Meta, params: &[&str], status: u16, text: &str) -> Failure {
        let Ok(problem) = serde_json::from_str::<Problem>(text) else {
            return Failure::status(status, &self.url);
        };
        // `office_not_found` is about the `{office}` of the path.
        let names = segments(meta.path).filter_map(|s| s.strip_prefix('{')?.strip_suffix('}'));
        let missing = problem.code.strip_suffix("_not_found").map(str::to_owned);
        let found = missing.and_then(|noun| names.zip(params).find(|(name, _)| *name == noun));
        let failure = Failure::problem(problem);
        match found {
            Some((noun, identifier)) => failure.missing(noun, identifier),
            None => failure,
        }
    }

    fn http(&self) -> Outcome<&reqwest::Client> {
        if let Some(client) = self.http.get() {
            return Ok(client);
        }
        let url = reqwest::Url::parse(&self.url).ok().filter(|url| url.has_host());
        let bad = || Failure::usage(format!("\"{}\" is no address of a daemon", self.url));
        let hint = "an address is like http://127.0.0.1:6320; it is set by --url or MFA_URL";
        let url = url.ok_or_else(|| bad().hint(hint))?;
        let builder = reqwest::Client::builder()
            .user_agent(concat!("mfa/", env!("CARGO_PKG_VERSION")))
            .redirect(reqwest::redirect::Policy::none())
            .connect_timeout(self.timeout.min(Duration::from_secs(CONNECT_SECONDS_MAX)))
            .read_timeout(self.timeout);
        // A proxy of the environment does not lead to this machine.
        let near = url.host_str().is_some_and(|host| matches!(host, "localhost" | "127.0.0.1" | "[::1]"));
        let builder = if near { builder.no_proxy() } else { builder };
        let client = tls(builder, &url).build();
        let client = client.map_err(|error| Failure::local(format!("cannot set up TLS: {error}")))?;
        Ok(self.http.get_or_init(|| client))
    }
}

/// Reading the machine's certificates takes longer than everything else, so plain HTTP goes without.
fn tls(builder: reqwest::ClientBuilder, url: &reqwest::Url) -> reqwest::ClientBuilder {
    let provider = rustls::crypto::ring::default_provider();
    if url.scheme() == "https" {
        // It fails only where a provider is installed already, which serves as well.
        let _ = provider.install_default();
        return builder;
    }
    let config = rustls::ClientConfig::builder_with_provider(provider.into())
        .with_safe_default_protocol_versions()
        // The provider is rustls's own and speaks the default versions.
        .expect("default versions")
        .with_root_certificates(rustls::RootCertStore::empty())
        .with_no_client_auth();
    builder.tls_backend_preconfigured(config)
}

impl Stream {
    /// The next record, as the text of its line.
    pub async fn next(&mut self) -> Outcome<Option<String>> {
        loop {
            if let Some(end) = self.buffer.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = self.buffer.drain(..=end).collect();
                self.count += 1;
                let line = String::from_utf8(line).map_err(|_| self.broken("it is not UTF-8"))?;
                return Ok(Some(line.trim_end().to_owned()));
            }
            match self.response.chunk().await {
                Ok(Some(bytes)) => self.buffer.extend_from_slice(&bytes),
                Ok(None) if self.buffer.is_empty() => return Ok(None),
                Ok(None) => return Err(self.broken("the last record is cut")),
                Err(error) => return Err(self.broken(&root(&error))),
            }
        }
    }

    fn broken(&self, why: &str) -> Failure {
        let message = format!("the list from {} broke off after {} records: {why}", self.url, self.count);
        Failure::new("list_broken", mfa_shared::fault::exit::FAILURE, message).hint("repeat the command")
    }
}

fn header(text: &str) -> Outcome<HeaderValue> {
    HeaderValue::from_str(text).map_err(|_| Failure::usage(format!("\"{text}\" cannot stand in a header")))
}

fn pairs(headers: &HeaderMap) -> impl Iterator<Item = (&str, &str)> {
    headers.iter().map(|(name, value)| (name.as_str(), value.to_str().unwrap_or("?")))
}

fn backoff(tries: u32) -> Duration {
    Duration::from_millis(100 * 3_u64.pow(tries.min(4)))
}

fn asked_wait(headers: &HeaderMap) -> Duration {
    let seconds = headers.get(RETRY_AFTER).and_then(|value| value.to_str().ok()?.parse().ok());
    Duration::from_secs(seconds.unwrap_or(0))
}

/// Why no answer came, by the first cause that says something to a person.
fn unreachable(url: &str, timeout: Duration, error: &reqwest::Error) -> Failure {
    let mut certificate = None;
    let mut refused = false;
    let mut unknown_name = false;
    let mut cause: Option<&(dyn std::error::Error + 'static)> = Some(error);
    while let Some(error) = cause {
        let mut io = error.downcast_ref::<std::io::Error>();
        while let Some(outer) = io {
            refused |= outer.kind() == std::io::ErrorKind::ConnectionRefused;
            // An input error hides what it carries from `source`, so it is taken apart here.
            let inner = outer.get_ref();
            certificate = certificate.or_else(|| inner?.downcast_ref::<rustls::Error>());
            io = inner.and_then(|inner| inner.downcast_ref());
        }
        certificate = certificate.or(error.downcast_ref::<rustls::Error>());
        unknown_name |= error.to_string() == "dns error";
        cause = error.source();
    }
    let (why, hint) = match certificate {
        Some(rustls::Error::InvalidCertificate(why)) => {
            (format!("its certificate is not trusted: {}", distrust(why)), UNTRUSTED_HINT)
        }
        _ if unknown_name => ("no such host".to_owned(), "correct the address: --url or MFA_URL"),
        _ if refused => ("the connection was refused".to_owned(), "start it: mfa daemon start"),
        _ if error.is_timeout() => {
            (format!("no answer within {} s", timeout.as_secs()), "is it running? mfa daemon status")
        }
        _ => (root(error), "is it running? mfa daemon status"),
    };
    let message = format!("cannot reach the daemon at {url}: {why}");
    Failure::new("daemon_unreachable", mfa_shared::fault::exit::UNREACHABLE, message).hint(hint)
}

fn distrust(why: &rustls::CertificateError) -> &'static str {
    use rustls::CertificateError::*;
    match why {
        Expired | ExpiredContext { .. } => "it has expired",
        NotValidYet | NotValidYetContext { .. } => "it is not valid yet; is the clock right?",
        Revoked => "it has been revoked",
        UnknownIssuer => "this machine does not know its authority",
        NotValidForName | NotValidForNameContext { .. } => "it is for another host",
        _ => "it is not one for a server",
    }
}

/// The innermost cause, which is the one that says what happened.
fn root(error: &reqwest::Error) -> String {
    let mut cause: &dyn std::error::Error = error;
    while let Some(inner) = cause.source() {
        cause = inner;
    }
    cause.to_string()
}
