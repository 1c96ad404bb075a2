//! A conversation with a mail server, as it is handed to lettre.
//!
//! lettre parses a whole reply anew at each of its lines, and goes on for as long as bytes are at hand. So it
//! gets one byte at a time and in turn with other tasks, which lets time limits fire, and no endless replies.

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

/// A conversation over a connection, in clear or encrypted.
pub struct Talk<S> {
    stream: Arc<Mutex<S>>,
    /// What is read before anything of the connection.
    first: &'static [u8],
    lines: usize,
}

impl<S> Talk<S> {
    /// A conversation that begins with the greeting of the server.
    pub fn new(stream: S) -> Self {
        Self::lent(&Arc::new(Mutex::new(stream)))
    }

    /// The same over a connection that is still needed once lettre has ended. As nothing but whole lines was
    /// read, nothing that the server says after it is lost, or mistaken for what it said before.
    pub fn lent(stream: &Arc<Mutex<S>>) -> Self {
        Self { stream: stream.clone(), first: b"", lines: 0 }
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
        let mut byte = [0];
        let mut part = ReadBuf::new(&mut byte[..buf.remaining().min(1)]);
        match this.first.split_first() {
            Some((first, rest)) => {
                part.put_slice(&[*first]);
                this.first = rest;
            }
            None => ready!(Pin::new(&mut *this.stream()).poll_read(cx, &mut part))?,
        }
        proceeds.made_progress();
        this.lines += usize::from(part.filled() == b"\n");
        buf.put_slice(part.filled());
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
}
