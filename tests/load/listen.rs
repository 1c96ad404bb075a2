//! Listens to the events of daemons over many connections that end at random, for the benchmark `events`:
//!
//! ```text
//! listen LISTENERS AFTER EVENTS FILE ADDRESS ...
//! ```
//!
//! Each listener hears so many events of customers after number AFTER, each time from any of the daemons, breaks off
//! after some of them, in the middle of what has arrived, and goes on behind the last one that it has heard. Every
//! listener must hear the same numbers in the same order: these are written to the file, one in a line. The output
//! says when all are connected, and at the end how often they have connected and how late they heard what was done,
//! in milliseconds. The first listener that hears something else ends the program.

use jiff::Timestamp;
use std::fs;
use std::io::{self, BufRead, BufReader, Write};
use std::net::TcpStream;
use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Barrier, PoisonError, RwLock};
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// The stack of a listener; there are thousands of them.
const STACK: usize = 128 * 1024;
/// How many times a listener connects, on average.
const CONNECTIONS_EACH: u64 = 6;
/// One event of so many says how late it was heard.
const SAMPLED: usize = 100;
/// So long a listener waits for the next event.
const PATIENCE: Duration = Duration::from_secs(120);

/// What all listeners share.
struct Agreed {
    addresses: Vec<String>,
    after: u64,
    events: usize,
    /// The numbers that were heard, in their order; the fastest listener says them first.
    numbers: RwLock<Vec<u64>>,
    connected: Barrier,
    connections: AtomicU64,
}

/// Numbers by chance, by xorshift.
struct Chance(u64);

impl Chance {
    fn below(&mut self, below: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % below
    }
}

impl Agreed {
    /// Compares an event with what the others have heard at the same place.
    fn hear(&self, place: usize, number: u64) -> Result<(), String> {
        let known = |numbers: &Vec<u64>| numbers.get(place).copied();
        let heard = known(&self.numbers.read().unwrap_or_else(PoisonError::into_inner));
        let expected = heard.unwrap_or_else(|| {
            let mut numbers = self.numbers.write().unwrap_or_else(PoisonError::into_inner);
            known(&numbers).unwrap_or_else(|| {
                numbers.push(number);
                number
            })
        });
        if expected == number {
            return Ok(());
        }
        Err(format!("event {place} is number {number}, and others have heard number {expected} there"))
    }

    /// Opens a stream behind an event.
    fn connect(&self, chance: &mut Chance, after: u64) -> io::Result<BufReader<TcpStream>> {
        let address = &self.addresses[chance.below(self.addresses.len() as u64) as usize];
        let mut stream = TcpStream::connect(address)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        // With 1.0 the stream arrives as it is, without the sizes of its chunks.
        write!(
            stream,
            "GET /events?kind=customer HTTP/1.0\r\nhost: localhost\r\naccept: text/event-stream\r\n\
             last-event-id: {after}\r\n\r\n"
        )?;
        let mut reader = BufReader::new(stream);
        let mut line = String::new();
        reader.read_line(&mut line)?;
        if line.split(' ').nth(1) != Some("200") {
            return Err(io::Error::other(format!("a stream was answered with {line:?}")));
        }
        while line != "\r\n" {
            line.clear();
            reader.read_line(&mut line)?;
        }
        self.connections.fetch_add(1, Relaxed);
        Ok(reader)
    }
}

/// Milliseconds since an event happened.
fn late(data: &str) -> Option<i64> {
    let (_, rest) = data.split_once("\"occurredOn\":\"")?;
    let happened: Timestamp = rest.split_once('"')?.0.parse().ok()?;
    Some(Timestamp::now().as_millisecond() - happened.as_millisecond())
}

/// Hears all events; how late some of them were.
fn listen(agreed: &Agreed, mut chance: Chance) -> Result<Vec<i64>, String> {
    let (mut heard, mut last, mut lags) = (0, agreed.after, Vec::new());
    let broken = |heard: usize, error: io::Error| format!("after {heard} events: {error}");
    let mut reader = agreed.connect(&mut chance, last).map_err(|error| broken(heard, error))?;
    agreed.connected.wait();
    loop {
        let wanted = 1 + chance.below(2 * agreed.events as u64 / CONNECTIONS_EACH) as usize;
        let until = agreed.events.min(heard + wanted);
        let mut line = String::new();
        let mut number = None;
        while heard < until {
            line.clear();
            if reader.read_line(&mut line).map_err(|error| broken(heard, error))? == 0 {
                return Err(broken(heard, io::Error::other("the stream ended")));
            }
            if let Some(id) = line.trim_end().strip_prefix("id: ") {
                number = id.parse::<u64>().ok();
            } else if line.starts_with("data: ")
                && let Some(number) = number.take()
            {
                agreed.hear(heard, number)?;
                (heard, last) = (heard + 1, number);
                if heard.is_multiple_of(SAMPLED) {
                    lags.extend(late(&line));
                }
            }
        }
        if heard == agreed.events {
            return Ok(lags);
        }
        reader = agreed.connect(&mut chance, last).map_err(|error| broken(heard, error))?;
    }
}

fn run() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    let [listeners, after, events, file, addresses @ ..] = arguments.as_slice() else {
        return Err("usage: listen LISTENERS AFTER EVENTS FILE ADDRESS ...".into());
    };
    let listeners: usize = listeners.parse()?;
    let agreed = Agreed {
        addresses: addresses.to_vec(),
        after: after.parse()?,
        events: events.parse()?,
        numbers: RwLock::default(),
        connected: Barrier::new(listeners + 1),
        connections: AtomicU64::new(0),
    };
    let seed = SystemTime::now().duration_since(UNIX_EPOCH)?.as_nanos() as u64 | 1;
    let mut lags = thread::scope(|scope| {
        let mut running = Vec::new();
        for number in 0..listeners as u64 {
            let chance = Chance(seed.wrapping_mul(2 * number + 1));
            let one = || {
                listen(&agreed, chance).unwrap_or_else(|error| {
                    eprintln!("listen: {error}");
                    std::process::exit(1);
                })
            };
            running.push(thread::Builder::new().stack_size(STACK).spawn_scoped(scope, one)?);
        }
        agreed.connected.wait();
        writeln!(io::stdout(), "connected")?;
        let begun = Instant::now();
        let all: Vec<i64> = running.into_iter().filter_map(|one| one.join().ok()).flatten().collect();
        writeln!(io::stdout(), "heard {:.2}", begun.elapsed().as_secs_f64())?;
        Ok::<_, io::Error>(all)
    })?;
    lags.sort_unstable();
    let share = |hundredths: usize| lags.get(lags.len() * hundredths / 100).copied().unwrap_or(0);
    let mut out = io::stdout();
    writeln!(out, "connections {}", agreed.connections.load(Relaxed))?;
    writeln!(out, "late {} {} {}", share(50), share(99), lags.last().unwrap_or(&0))?;
    let numbers = agreed.numbers.into_inner().unwrap_or_else(PoisonError::into_inner);
    let lines: String = numbers.iter().map(|number| format!("{number}\n")).collect();
    Ok(fs::write(file, lines)?)
}

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("listen: {error}");
            ExitCode::FAILURE
        }
    }
}
