//! Progress: a client that neither reads nor sends loses its connection, and a slow one keeps it.

use crate::domain::pace::{CREDIT_BYTES, Pace};
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::{Instant, Sleep};

/// How long a client may still keep the daemon waiting. Waiting uses it up, and received bytes restore it.
#[derive(Debug)]
pub struct Patience {
    pace: Pace,
    left: Duration,
    waiting: Option<(Instant, Pin<Box<Sleep>>)>,
}

impl Patience {
    /// All of it.
    pub fn new(pace: Pace) -> Self {
        Self { pace, left: pace.grace, waiting: None }
    }

    /// Notes bytes that went through.
    pub fn moved(&mut self, bytes: u64) {
        if let Some((since, _)) = self.waiting.take() {
            self.left = self.left.saturating_sub(since.elapsed());
        }
        self.left = (self.left + self.pace.worth(bytes.min(CREDIT_BYTES))).min(self.pace.longest());
    }

    /// Ready when the client has kept the daemon waiting for too long.
    pub fn poll_over(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let left = self.left;
        let (_, sleep) =
            self.waiting.get_or_insert_with(|| (Instant::now(), Box::pin(tokio::time::sleep(left))));
        sleep.as_mut().poll(cx)
    }
}

/// A connection whose client must read what it asked for.
#[derive(Debug)]
pub struct Paced<H> {
    socket: TcpStream,
    patience: Patience,
    /// Kept as long as the connection.
    _held: H,
}

impl<H> Paced<H> {
    /// A connection under a pace; `held` goes when it goes.
    pub fn new(socket: TcpStream, pace: Pace, held: H) -> Self {
        Self { socket, patience: Patience::new(pace), _held: held }
    }

    /// The first byte that comes, which stays where it is.
    pub async fn first_byte(&self) -> io::Result<u8> {
        let mut byte = [0];
        match self.socket.peek(&mut byte).await? {
            0 => Err(io::ErrorKind::UnexpectedEof.into()),
            _ => Ok(byte[0]),
        }
    }

    fn written(&mut self, cx: &mut Context<'_>, wrote: Poll<io::Result<usize>>) -> Poll<io::Result<usize>> {
        match wrote {
            Poll::Ready(Ok(bytes)) => self.patience.moved(bytes as u64),
            Poll::Ready(Err(_)) => {}
            Poll::Pending => {
                ready!(self.patience.poll_over(cx));
                return Poll::Ready(Err(io::ErrorKind::TimedOut.into()));
            }
        }
        wrote
    }
}

impl<H: Unpin> AsyncRead for Paced<H> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.socket).poll_read(cx, buffer)
    }
}

impl<H: Unpin> AsyncWrite for Paced<H> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let wrote = Pin::new(&mut self.socket).poll_write(cx, bytes);
        self.written(cx, wrote)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let wrote = Pin::new(&mut self.socket).poll_write_vectored(cx, slices);
        self.written(cx, wrote)
    }

    fn is_write_vectored(&self) -> bool {
        self.socket.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.socket).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.socket).poll_shutdown(cx)
    }
}
