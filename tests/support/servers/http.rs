//! A mock SMS service.

use super::certificates::Files;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::sync::{Arc, Mutex};
use std::thread;

/// A service that gives every request the same answer and keeps the requests.
pub struct SmsService {
    pub port: u16,
    asked: Arc<Mutex<Vec<String>>>,
}

impl SmsService {
    /// A service with an answer, in clear or with a certificate.
    pub fn start(answer: &str, files: Option<&Files>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let asked = Arc::new(Mutex::new(Vec::new()));
        let config = files.map(encryption);
        let (answer, kept) = (answer.replace('\n', "\r\n"), asked.clone());
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                match &config {
                    None => serve(stream, &answer, &kept),
                    Some(config) => {
                        let connection = ServerConnection::new(config.clone()).unwrap();
                        serve(StreamOwned::new(connection, stream), &answer, &kept)
                    }
                };
            }
        });
        Self { port, asked }
    }

    /// The requests so far.
    pub fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }
}

fn encryption(files: &Files) -> Arc<ServerConfig> {
    let certificates = CertificateDer::pem_file_iter(&files.certificate).unwrap().map(Result::unwrap);
    let key = PrivateKeyDer::from_pem_file(&files.key).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    let config = builder.unwrap().with_no_client_auth().with_single_cert(certificates.collect(), key);
    Arc::new(config.unwrap())
}

/// Reads one request with its body, keeps it, answers, and ends the connection. Whoever has the answer finds the
/// request among those that were kept.
fn serve(stream: impl Read + Write, answer: &str, kept: &Mutex<Vec<String>>) -> Option<()> {
    let mut stream = BufReader::new(stream);
    let mut request = String::new();
    while !request.ends_with("\r\n\r\n") {
        if stream.read_line(&mut request).ok()? == 0 {
            return None;
        }
    }
    let length = request.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse::<usize>().unwrap())
    });
    let mut body = vec![0; length.unwrap_or(0)];
    stream.read_exact(&mut body).ok()?;
    request.push_str(&String::from_utf8(body).unwrap());
    kept.lock().unwrap().push(request);
    let out = stream.get_mut();
    out.write_all(answer.as_bytes()).ok()?;
    out.flush().ok()
}
