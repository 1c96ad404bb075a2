//! Sends prepared requests over many connections and prints how long each took, for the benchmarks of `tests/load`:
//!
//! ```text
//! drive ADDRESS CONNECTIONS SECONDS RATE FILE
//! ```
//!
//! Each line of the file is a request: kind, method, path and body (it may be empty), separated by tabs. With RATE 0
//! a connection sends the next request as soon as it has its answer. Otherwise so many requests a second are due at
//! moments set beforehand, whether earlier ones are answered or not. A line of the output is the kind of a request,
//! the status of its answer (0 if the connection was closed first), and the microseconds to the last byte of it: from
//! the moment at which the request was due, and from that at which it was sent.

use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, Read, Write};
use std::net::TcpStream;
use std::process::ExitCode;
use std::sync::Mutex;
use std::thread;
use std::time::{Duration, Instant};

/// The requests that are left, and when the next one is due.
struct Queue {
    lines: io::Lines<BufReader<File>>,
    begun: Instant,
    gap: Duration,
    sent: u32,
}

/// A request and the moment at which it is due.
struct Request {
    due: Instant,
    kind: String,
    text: String,
}

impl Queue {
    fn next(&mut self, until: Instant) -> io::Result<Option<Request>> {
        let due = if self.gap.is_zero() { Instant::now() } else { self.begun + self.gap * self.sent };
        if due >= until || Instant::now() >= until {
            return Ok(None);
        }
        let line = self.lines.next().ok_or_else(|| io::Error::other("too few requests for so long"))??;
        self.sent += 1;
        let mut parts = line.splitn(4, '\t');
        let mut part = || parts.next().unwrap_or_default();
        let (kind, method, path, body) = (part().to_owned(), part(), part(), part());
        let content = match method {
            "GET" => String::new(),
            _ => format!("content-type: application/json\r\ncontent-length: {}\r\n", body.len()),
        };
        let text = format!("{method} {path} HTTP/1.1\r\nhost: localhost\r\n{content}\r\n{body}");
        Ok(Some(Request { due, kind, text }))
    }
}

/// What became of a request.
struct Answered {
    kind: String,
    status: String,
    due: Duration,
    sent: Duration,
}

/// The status of a request whose connection was closed before it was answered.
const CLOSED: &str = "0";

/// Reads one answer to its last byte; returns its status, and whether the daemon closes the connection then.
fn answer(stream: &mut TcpStream, seen: &mut Vec<u8>) -> io::Result<(String, bool)> {
    seen.clear();
    let mut arrived = [0; 65_536];
    loop {
        let count = stream.read(&mut arrived)?;
        if count == 0 {
            return Err(io::Error::other("the daemon closed a connection"));
        }
        seen.extend_from_slice(&arrived[..count]);
        let Some(end) = seen.windows(4).position(|four| four == b"\r\n\r\n") else { continue };
        let head = String::from_utf8_lossy(&seen[..end]).to_ascii_lowercase();
        let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
        let length: usize = length.and_then(|length| length.parse().ok()).unwrap_or(0);
        if seen.len() >= end + 4 + length {
            let status = head.split(' ').nth(1).unwrap_or_default();
            return Ok((status.to_owned(), head.contains("\r\nconnection: close")));
        }
    }
}

fn connected(address: &str) -> io::Result<TcpStream> {
    let stream = TcpStream::connect(address)?;
    stream.set_nodelay(true)?;
    Ok(stream)
}

/// Sends requests over one connection, one after the other, until no more are due.
fn connection(address: &str, queue: &Mutex<Queue>, until: Instant) -> io::Result<Vec<Answered>> {
    let mut stream = connected(address)?;
    let (mut all, mut seen) = (Vec::new(), Vec::new());
    loop {
        let next = queue.lock().map_err(|_| io::Error::other("another connection failed"))?.next(until)?;
        let Some(Request { due, kind, text }) = next else { return Ok(all) };
        thread::sleep(due.saturating_duration_since(Instant::now()));
        let sent = Instant::now();
        let answered = stream.write_all(text.as_bytes()).and_then(|()| answer(&mut stream, &mut seen));
        let (status, closes) = answered.unwrap_or_else(|_| (CLOSED.to_owned(), true));
        all.push(Answered { kind, status, due: due.elapsed(), sent: sent.elapsed() });
        if closes {
            stream = connected(address)?;
        }
    }
}

fn run() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    let [address, connections, seconds, rate, file] = arguments.as_slice() else {
        return Err("usage: drive ADDRESS CONNECTIONS SECONDS RATE FILE".into());
    };
    let (connections, seconds, rate): (usize, u64, u64) =
        (connections.parse()?, seconds.parse()?, rate.parse()?);
    let begun = Instant::now();
    let gap = Duration::from_nanos(1_000_000_000_u64.checked_div(rate).unwrap_or(0));
    let queue = Mutex::new(Queue { lines: BufReader::new(File::open(file)?).lines(), begun, gap, sent: 0 });
    let until = begun + Duration::from_secs(seconds);
    let all = thread::scope(|scope| {
        let running: Vec<_> =
            (0..connections).map(|_| scope.spawn(|| connection(address, &queue, until))).collect();
        let ended = running
            .into_iter()
            .map(|one| one.join().map_err(|_| io::Error::other("a connection panicked"))?);
        ended.collect::<io::Result<Vec<_>>>()
    })?;
    let mut out = BufWriter::new(io::stdout().lock());
    for Answered { kind, status, due, sent } in all.into_iter().flatten() {
        writeln!(out, "{kind}\t{status}\t{}\t{}", due.as_micros(), sent.as_micros())?;
    }
    Ok(out.flush()?)
}

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("drive: {error}");
            ExitCode::FAILURE
        }
    }
}
