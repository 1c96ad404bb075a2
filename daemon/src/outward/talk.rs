//! A conversation with a mail server, as it is handed to lettre.
//!
//! lettre parses a whole reply anew at each of its lines, and goes on for as long as bytes are at hand. So it
//! gets one byte at a time and in turn with other tasks, which lets time limits fire, and no endless replies.
//!
//! It also cannot parse a reply that is a code without text, which RFC 5321 section 4.2 allows: such a code
//! gets the space that may stand behind it.

use lettre::transport::smtp::client::AsyncTokioStream;
use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, ready};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::task::coop::poll_proceed;

/// Most lines that are read from a mail server, which says some twenty.
const LINES_MAX: usize = 1_000;
/// Digits of the code of a reply.
const CODE_DIGITS: usize = 3;

/// A conversation over a connection, in clear or encrypted.
pub struct Talk<S> {
    stream: Arc<Mutex<S>>,
    /// What is read before anything of the connection.
    first: &'static [u8],
    lines: usize,
    /// The digits with which the line began, until something else comes.
    digits: Option<usize>,
    /// Whether a space was put before a CR, which comes next.
    owes_cr: bool,
}

impl<S> Talk<S> {
    /// A conversation that begins with the greeting of the server.
    pub fn new(stream: S) -> Self {
        Self::lent(&Arc::new(Mutex::new(stream)))
    }

    /// The same over a connection that is still needed once lettre has ended. As nothing but whole lines was
    /// read, nothing that the server says after it is lost, or mistaken for what it said before.
    pub fn lent(stream: &Arc<Mutex<S>>) -> Self {
        Self { stream: stream.clone(), first: b"", lines: 0, digits: Some(0), owes_cr: false }
    }

    /// A conversation that goes on with EHLO: the server does not greet again after STARTTLS, but lettre
    /// waits for that.
    pub fn greeted(stream: S) -> Self {
        Self { first: b"220 encrypted\r\n", ..Self::new(stream) }
    }

    fn stream(&self) -> MutexGuard<'_, S> {
        self.stream.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<S: AsyncRead + Unpin> Talk<S> {
    /// The next byte; none at the end.
    fn poll_byte(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<Option<u8>>> {
        if std::mem::take(&mut self.owes_cr) {
            return Poll::Ready(Ok(Some(b'\r')));
        }
        let byte = match self.first.split_first() {
            Some((first, rest)) => {
                self.first = rest;
                *first
            }
            None => {
                let mut byte = [0];
                let mut part = ReadBuf::new(&mut byte);
                ready!(Pin::new(&mut *self.stream()).poll_read(cx, &mut part))?;
                let Some(byte) = part.filled().first() else { return Poll::Ready(Ok(None)) };
                *byte
            }
        };
        self.owes_cr = byte == b'\r' && self.digits == Some(CODE_DIGITS);
        self.digits = match byte {
            b'\n' => Some(0),
            b'0'..=b'9' => self.digits.map(|digits| digits + 1),
            _ => None,
        };
        Poll::Ready(Ok(Some(if self.owes_cr { b' ' } else { byte })))
    }
}

/// The end of what is read from one mail server.
#[derive(Debug)]
struct TooManyLines;

impl fmt::Display for TooManyLines {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "it sent more than {LINES_MAX} lines, which no mail server does")
    }
}

impl std::error::Error for TooManyLines {}

impl<S> fmt::Debug for Talk<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Talk").finish_non_exhaustive()
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Talk<S> {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let proceeds = ready!(poll_proceed(cx));
        if this.lines > LINES_MAX {
            return Poll::Ready(Err(io::Error::other(TooManyLines)));
        }
        if buf.remaining() > 0
            && let Some(byte) = ready!(this.poll_byte(cx))?
        {
            this.lines += usize::from(byte == b'\n');
            buf.put_slice(&[byte]);
        }
        proceeds.made_progress();
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Talk<S> {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut *self.stream()).poll_write(cx, bytes)
    }
    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut *self.stream()).poll_flush(cx)
    }
    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut *self.stream()).poll_shutdown(cx)
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin + Send> AsyncTokioStream for Talk<S> {
    fn peer_addr(&self) -> io::Result<SocketAddr> {
        // lettre itself does not ask.
        Err(io::ErrorKind::Unsupported.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;
    use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, BufReader};

    #[tokio::test]
    async fn an_endless_reply_ends_and_says_why() {
        let mut lines = BufReader::new(Talk::new(tokio::io::repeat(b'\n'))).lines();
        for _ in 0..=LINES_MAX {
            lines.next_line().await.unwrap();
        }
        let why = lines.next_line().await.unwrap_err().to_string();
        assert_eq!(why, "it sent more than 1000 lines, which no mail server does");
    }

    #[tokio::test]
    async fn a_reader_of_bytes_that_are_all_at_hand_meets_its_time_limit() {
        let bytes = vec![b'a'; 8 << 20];
        let mut much = Talk::new(bytes.as_slice());
        let read = async { while much.read_u8().await.is_ok() {} };
        assert!(tokio::time::timeout(Duration::from_millis(50), read).await.is_err());
    }

    #[tokio::test]
    async fn what_comes_after_a_line_is_left_to_whom_the_connection_goes_back() {
        let stream = Arc::new(Mutex::new(&b"220 go\r\nsecret"[..]));
        BufReader::new(Talk::lent(&stream)).read_line(&mut String::new()).await.unwrap();
        assert_eq!(*stream.lock().unwrap(), b"secret");
        let mut whole = String::new();
        Talk::greeted(&b"250 ok"[..]).read_to_string(&mut whole).await.unwrap();
        assert_eq!(whole, "220 encrypted\r\n250 ok");
    }

    #[tokio::test]
    async fn a_code_without_text_gets_a_space_and_nothing_else_does() {
        for (said, heard) in [
            ("250\r\n354\r\n", "250 \r\n354 \r\n"),
            ("250-\r\n250\r\n", "250-\r\n250 \r\n"),
            ("250 ok\r\n250 \r\n", "250 ok\r\n250 \r\n"),
            ("25\r\n2500\r\n250\n", "25\r\n2500\r\n250\n"),
            ("250 250\r\n a250\r\n\r250\r\n", "250 250\r\n a250\r\n\r250\r\n"),
            ("250", "250"),
        ] {
            let mut whole = String::new();
            Talk::new(said.as_bytes()).read_to_string(&mut whole).await.unwrap();
            assert_eq!(whole, heard);
        }
    }
}
