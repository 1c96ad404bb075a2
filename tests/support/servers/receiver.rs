//! A receiver of webhooks that handles each delivery as instructed, and keeps what came.

use serde_json::Value;
use std::collections::{HashSet, VecDeque};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::SeqCst;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

/// What a receiver does with a delivery.
#[derive(Debug, Clone)]
pub enum Treat {
    /// Answers with this head and body.
    Answer(String),
    /// Does so once the test lets it.
    Late(Arc<AtomicBool>, String),
    /// Says nothing, and keeps the connection.
    Hang,
    /// Ends the connection.
    Cut,
}

/// A delivery as it came.
#[derive(Debug, Clone)]
pub struct Came {
    pub path: String,
    pub headers: Vec<(String, String)>,
    pub body: String,
}

impl Came {
    pub fn header(&self, name: &str) -> &str {
        let found = self.headers.iter().find(|(own, _)| own.eq_ignore_ascii_case(name));
        found.map_or("", |(_, value)| value)
    }

    /// The numbers of the events.
    pub fn sequences(&self) -> Vec<u64> {
        let body: Value = serde_json::from_str(&self.body).unwrap();
        body["events"].as_array().unwrap().iter().map(|event| event["sequence"].as_u64().unwrap()).collect()
    }

    /// What the events are about.
    pub fn resources(&self) -> Vec<String> {
        let body: Value = serde_json::from_str(&self.body).unwrap();
        let of = |event: &Value| event["resource"].as_str().unwrap_or_default().to_owned();
        body["events"].as_array().unwrap().iter().map(of).collect()
    }
}

pub struct Receiver {
    pub port: u16,
    came: Arc<Mutex<Vec<Came>>>,
    treats: Arc<Mutex<VecDeque<Treat>>>,
}

/// An answer with a status and a body.
pub fn answer(status: u16, body: &str) -> Treat {
    let length = body.len();
    Treat::Answer(format!("HTTP/1.1 {status} X\r\ncontent-length: {length}\r\n\r\n{body}"))
}

impl Receiver {
    /// One that takes everything, once it has handled the first deliveries as instructed.
    pub fn start(first: &[Treat]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let (came, treats) = (Arc::default(), Arc::new(Mutex::new(first.iter().cloned().collect())));
        let receiver = Self { port, came, treats };
        let (came, treats) = (receiver.came.clone(), receiver.treats.clone());
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (came, treats) = (came.clone(), treats.clone());
                thread::spawn(move || serve(stream, &came, &treats));
            }
        });
        receiver
    }

    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}/hook", self.port)
    }

    /// The deliveries so far.
    pub fn came(&self) -> Vec<Came> {
        self.came.lock().unwrap().clone()
    }

    /// Waits until so many deliveries have come.
    pub fn wait(&self, count: usize) -> Vec<Came> {
        let until = Instant::now() + Duration::from_secs(30);
        loop {
            let came = self.came();
            if came.len() >= count {
                return came;
            }
            assert!(Instant::now() < until, "only {} of {count} deliveries came", came.len());
            thread::sleep(Duration::from_millis(20));
        }
    }

    /// What came, once for each name: a daemon that stops between a delivery and its note sends it again under
    /// the same one, and receivers know it by that.
    pub fn taken(&self) -> Vec<Came> {
        let mut names = HashSet::new();
        self.came().into_iter().filter(|came| names.insert(came.header("webhook-id").to_owned())).collect()
    }

    /// Waits until the deliveries have brought so many events; their numbers in the order in which they came.
    pub fn events(&self, count: usize) -> Vec<u64> {
        numbers(count, || self.came())
    }

    /// The same without what came again.
    pub fn taken_events(&self, count: usize) -> Vec<u64> {
        numbers(count, || self.taken())
    }
}

fn numbers(count: usize, deliveries: impl Fn() -> Vec<Came>) -> Vec<u64> {
    let until = Instant::now() + Duration::from_secs(20);
    loop {
        let numbers: Vec<_> = deliveries().iter().flat_map(Came::sequences).collect();
        if numbers.len() >= count {
            return numbers;
        }
        assert!(Instant::now() < until, "only {} of {count} events came: {numbers:?}", numbers.len());
        thread::sleep(Duration::from_millis(50));
    }
}

fn serve(stream: TcpStream, came: &Mutex<Vec<Came>>, treats: &Mutex<VecDeque<Treat>>) -> Option<()> {
    let mut stream = BufReader::new(stream);
    let (mut line, mut headers) = (String::new(), Vec::new());
    stream.read_line(&mut line).ok()?;
    let path = line.split(' ').nth(1)?.to_owned();
    loop {
        let mut header = String::new();
        stream.read_line(&mut header).ok()?;
        let Some((name, value)) = header.trim_end().split_once(": ") else { break };
        headers.push((name.to_owned(), value.to_owned()));
    }
    let length = headers.iter().find(|(name, _)| name.eq_ignore_ascii_case("content-length"));
    let mut body = vec![0; length.map_or(0, |(_, value)| value.parse().unwrap())];
    stream.read_exact(&mut body).ok()?;
    let treat = treats.lock().unwrap().pop_front();
    came.lock().unwrap().push(Came { path, headers, body: String::from_utf8(body).unwrap() });
    match treat.unwrap_or_else(|| answer(204, "")) {
        Treat::Answer(text) => stream.get_mut().write_all(text.as_bytes()).ok(),
        Treat::Late(go_on, text) => {
            while !go_on.load(SeqCst) {
                thread::sleep(Duration::from_millis(5));
            }
            stream.get_mut().write_all(text.as_bytes()).ok()
        }
        Treat::Hang => {
            thread::sleep(Duration::from_secs(120));
            None
        }
        Treat::Cut => None,
    }
}
