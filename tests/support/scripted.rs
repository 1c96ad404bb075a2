//! A server whose answers are written down before, for what no daemon says when it is asked to.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread::{self, JoinHandle};

/// Answers each connection with the next of these texts; an empty one closes without an answer. Returns the
/// requests that came.
pub fn server(answers: Vec<String>) -> (String, JoinHandle<Vec<String>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    (url, serve(listener, answers))
}

/// The same at an address that is known already.
pub fn serve(listener: TcpListener, answers: Vec<String>) -> JoinHandle<Vec<String>> {
    thread::spawn(move || {
        let mut seen = Vec::new();
        for answer in answers {
            let (mut stream, _) = listener.accept().unwrap();
            seen.push(request(&mut stream));
            stream.write_all(answer.as_bytes()).unwrap();
        }
        seen
    })
}

/// The whole of the next request: its head, and the body if it says how long that is.
pub fn request(stream: &mut TcpStream) -> String {
    let (mut bytes, mut part) = (Vec::new(), [0; 65536]);
    loop {
        let text = String::from_utf8_lossy(&bytes);
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
            if body.len() >= length.map_or(0, |length| length.parse().unwrap()) {
                return text.into_owned();
            }
        }
        match stream.read(&mut part) {
            Ok(0) | Err(_) => return text.into_owned(),
            Ok(count) => bytes.extend_from_slice(&part[..count]),
        }
    }
}

/// An answer with these header lines, and the one by which a daemon is known.
pub fn answer(status: &str, headers: &[&str], body: &str) -> String {
    let headers: String = headers.iter().map(|header| format!("{header}\r\n")).collect();
    let length = body.len();
    format!(
        "HTTP/1.1 {status}\r\nx-request-id: 1\r\nconnection: close\r\ncontent-length: {length}\r\n{headers}\r\n{body}"
    )
}

/// The key of a request.
pub fn key(request: &str) -> &str {
    let line = request.lines().find_map(|line| line.strip_prefix("idempotency-key: "));
    line.unwrap_or_else(|| panic!("no key: {request}"))
}
