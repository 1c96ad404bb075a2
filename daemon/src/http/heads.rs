//! Requests that give the length of their body twice. HTTP lets `Transfer-Encoding` win over
//! `Content-Length`, and hyper drops the latter unseen, and the second of two lengths; but a proxy that takes
//! the other one sees other requests than this daemon. So the bytes of a connection are looked at as they
//! arrive, head by head.
//!
//! Bytes that are not plain HTTP are left to hyper, which refuses it: the look ends there, and a request that
//! hyper takes is never called ambiguous because of what came before it.

use std::io;
use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// Bytes of a line that are kept: enough for every name and number that counts.
const LINE_KEPT: usize = 96;
const BOTH: &str = "the request has both Content-Length and Transfer-Encoding";
const TWO: &str = "the request has two Content-Length headers";

/// Which request of a connection is ambiguous, counted from 0, and why. Nothing is read behind it.
#[derive(Debug, Default)]
pub struct Ambiguous(OnceLock<(usize, &'static str)>);

impl Ambiguous {
    /// Why this request is, if it is.
    pub fn why(&self, request: usize) -> Option<&'static str> {
        self.0.get().filter(|(number, _)| *number == request).map(|(_, why)| *why)
    }
}

/// A connection of HTTP/1.1 whose requests are followed.
#[derive(Debug)]
pub struct Watched<I> {
    io: I,
    heads: Heads,
    ambiguous: Arc<Ambiguous>,
}

impl<I> Watched<I> {
    /// Nothing has come yet.
    pub fn new(io: I) -> Self {
        Self { io, heads: Heads::default(), ambiguous: Arc::default() }
    }

    /// Which of its requests gives the length of its body twice.
    pub fn ambiguous(&self) -> Arc<Ambiguous> {
        self.ambiguous.clone()
    }
}

impl<I: AsyncRead + Unpin> AsyncRead for Watched<I> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let read = Pin::new(&mut self.io).poll_read(cx, buffer);
        let Self { heads, ambiguous, .. } = &mut *self;
        heads.look(&buffer.filled()[before..], ambiguous);
        read
    }
}

impl<I: AsyncWrite + Unpin> AsyncWrite for Watched<I> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.io).poll_write(cx, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.io).poll_write_vectored(cx, slices)
    }

    fn is_write_vectored(&self) -> bool {
        self.io.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_shutdown(cx)
    }
}

/// Follows the requests of one connection.
#[derive(Debug, Default)]
pub struct Heads {
    at: At,
    /// The request that is being read.
    request: usize,
    /// Whether its first line is behind.
    begun: bool,
    length: Option<u64>,
    /// Whether its length is something that cannot be followed.
    unclear: bool,
    chunked: bool,
    line: Vec<u8>,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum At {
    /// In the lines of a head.
    #[default]
    Head,
    /// In a body, with so many bytes to come.
    Body(u64),
    /// In the line that says how long a chunk is.
    Size,
    /// In a chunk and its line end, with so many bytes to come.
    Chunk(u64),
    /// In the lines after the last chunk.
    Trailers,
    /// What comes is not looked at.
    Over,
}

impl Heads {
    /// Looks at bytes as they arrive.
    pub fn look(&mut self, mut bytes: &[u8], ambiguous: &Ambiguous) {
        while !bytes.is_empty() {
            match self.at {
                At::Over => return,
                At::Body(left) | At::Chunk(left) => {
                    let taken = usize::try_from(left).unwrap_or(usize::MAX).min(bytes.len());
                    bytes = &bytes[taken..];
                    let left = left - taken as u64;
                    self.at = match self.at {
                        At::Body(_) if left == 0 => self.next_request(),
                        At::Chunk(_) if left == 0 => At::Size,
                        At::Body(_) => At::Body(left),
                        _ => At::Chunk(left),
                    };
                }
                At::Head | At::Size | At::Trailers => {
                    let end = bytes.iter().position(|byte| *byte == b'\n');
                    let piece = &bytes[..end.unwrap_or(bytes.len())];
                    let room = LINE_KEPT.saturating_sub(self.line.len());
                    self.line.extend_from_slice(&piece[..piece.len().min(room)]);
                    let Some(end) = end else { return };
                    bytes = &bytes[end + 1..];
                    let line = std::mem::take(&mut self.line);
                    self.at = self.line(line.strip_suffix(b"\r").unwrap_or(&line), ambiguous);
                    self.line = line;
                    self.line.clear();
                }
            }
        }
    }

    fn next_request(&mut self) -> At {
        let line = std::mem::take(&mut self.line);
        *self = Self { request: self.request + 1, line, ..Self::default() };
        At::Head
    }

    fn line(&mut self, line: &[u8], ambiguous: &Ambiguous) -> At {
        match self.at {
            At::Head if !self.begun => {
                // Empty lines before a request mean nothing; after CONNECT there need be no more requests.
                self.begun = !line.is_empty();
                if line.starts_with(b"CONNECT ") { At::Over } else { At::Head }
            }
            At::Head if line.is_empty() => match (self.length, self.chunked) {
                _ if self.unclear => At::Over,
                (_, true) => At::Size,
                (None | Some(0), false) => self.next_request(),
                (Some(length), false) => At::Body(length),
            },
            At::Head => self.header(line, ambiguous),
            At::Size => match size(line) {
                Some(0) => At::Trailers,
                Some(size) => size.checked_add(2).map_or(At::Over, At::Chunk),
                None => At::Over,
            },
            At::Trailers if line.is_empty() => self.next_request(),
            at => at,
        }
    }

    fn header(&mut self, line: &[u8], ambiguous: &Ambiguous) -> At {
        let Some(colon) = line.iter().position(|byte| *byte == b':') else {
            // A name that is longer than what is kept, or no header at all.
            return if line.len() < LINE_KEPT - 1 { At::Over } else { At::Head };
        };
        let name = &line[..colon];
        let value = &line[colon + 1..];
        let mut twice = None;
        if name.eq_ignore_ascii_case(b"transfer-encoding") {
            self.chunked = true;
        } else if name.eq_ignore_ascii_case(b"content-length") {
            let length = number(value.trim_ascii(), 10).filter(|_| line.len() < LINE_KEPT - 1);
            twice = self.length.map(|_| TWO);
            self.unclear |= length.is_none();
            self.length = Some(length.unwrap_or_default());
        }
        if self.chunked && self.length.is_some() {
            twice = Some(BOTH);
        }
        match twice {
            None => At::Head,
            Some(why) => {
                // The look ends with the first one, so this is never set before.
                let _ = ambiguous.0.set((self.request, why));
                At::Over
            }
        }
    }
}

fn size(line: &[u8]) -> Option<u64> {
    let digits = line.split(|byte| *byte == b';').next().unwrap_or_default();
    number(digits.trim_ascii(), 16)
}

fn number(digits: &[u8], radix: u32) -> Option<u64> {
    let plain = digits.iter().all(u8::is_ascii_hexdigit);
    u64::from_str_radix(std::str::from_utf8(digits).ok().filter(|_| plain)?, radix).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The ambiguous request of these bytes, whatever the pieces in which they arrive.
    fn found(bytes: &str) -> Option<usize> {
        let in_pieces = |size: usize| {
            let mut heads = Heads::default();
            let ambiguous = Ambiguous::default();
            bytes.as_bytes().chunks(size).for_each(|piece| heads.look(piece, &ambiguous));
            (0..20).find(|request| ambiguous.why(*request).is_some())
        };
        let whole = in_pieces(bytes.len());
        for size in 1..40 {
            assert_eq!(in_pieces(size), whole, "in pieces of {size}: {bytes}");
        }
        whole
    }

    const ENCODED: &str =
        "POST /a HTTP/1.1\r\nContent-Length: 5\r\nX: y\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n";
    const TURNED: &str = "POST /a HTTP/1.1\nTRANSFER-ENCODING:chunked\nCONTENT-LENGTH:5\n\n0\r\n\r\n";

    const TWICE: &str = "POST /a HTTP/1.1\r\nContent-Length: 5\r\nX: y\r\ncontent-length:5\r\n\r\nabcde";

    #[test]
    fn a_request_with_two_lengths_is_found_whatever_comes_before_it() {
        let before = [
            "",
            "\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: x\r\n\r\n",
            "POST / HTTP/1.1\r\nContent-Length: 0\r\n\r\n",
            "POST / HTTP/1.1\r\ncontent-length:  32 \r\n\r\nContent-Length: 1\r\n\r\nGET / \r\n\r\n\r",
            "POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n1a;x=y\r\n\r\n\r\nabcdefghijklmnopqrstuv\r\n\
             0\r\nX: y\r\n\r\n",
        ];
        for text in before {
            let requests = usize::from(text.contains("HTTP"));
            for ambiguous in [ENCODED, TURNED, TWICE] {
                assert_eq!(found(&format!("{text}{ambiguous}")), Some(requests), "{text}");
                let rest = "GET / HTTP/1.1\r\n\r\n";
                assert_eq!(found(&format!("{rest}{text}{ambiguous}{ENCODED}")), Some(requests + 1), "{text}");
            }
        }
        let long = "x".repeat(5000);
        let after = format!("GET /{long} HTTP/1.1\r\n{long}: {long}\r\nX: {long}\r\n\r\n{ENCODED}");
        assert_eq!(found(&after), Some(1));
        let padded = format!("Content-Length:{:>200}", 5);
        let chunked = "Transfer-Encoding: chunked";
        for (one, other) in [(padded.as_str(), chunked), (chunked, padded.as_str())] {
            assert_eq!(found(&format!("POST / HTTP/1.1\r\n{one}\r\n{other}\r\n\r\n")), Some(0));
        }
    }

    #[test]
    fn what_is_said_once_or_in_a_body_is_not_ambiguous() {
        let one = ENCODED.replace("Content-Length", "Content-Length-X");
        let in_body = format!("POST / HTTP/1.1\r\nContent-Length: {}\r\n\r\n{ENCODED}", ENCODED.len());
        let in_chunk = format!(
            "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n{:x}\r\n{ENCODED}\r\n0\r\n\r\n",
            ENCODED.len()
        );
        let own = "GET / HTTP/1.1\r\nContent-Length: 2\r\n\r\nxxPOST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n";
        for text in [one.as_str(), &in_body, &in_chunk, own] {
            assert_eq!(found(text), None, "{text}");
        }
        // What hyper refuses ends the look.
        for text in ["POST / HTTP/1.1\r\nContent-Length: 1x\r\n\r\n", "\0\u{1}\r\nnot a header\r\n\r\n"] {
            assert_eq!(found(&format!("{text}{ENCODED}")), None, "{text}");
        }
    }
}
