//! The other side of gateways and of the store: real servers, and servers that misbehave.

mod certificates;
mod http;
mod mail;
mod postgres;
mod receiver;
mod relay;

pub use certificates::{Authority, Files};
pub use http::SmsService;
pub use mail::MailServer;
pub use postgres::PostgresServer;
pub use receiver::{Came, Receiver, Treat, answer};
pub use relay::{Mode, Relay};

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::SeqCst;
use std::thread;
use std::time::Duration;

/// What a server that misbehaves does next.
#[derive(Debug, Clone)]
pub enum Step {
    /// Says this.
    Say(&'static str),
    /// Says what may be no text.
    Bytes(&'static [u8]),
    /// Says this so many times.
    Flood(&'static str, usize),
    /// Waits for a line.
    Hear,
    /// Says nothing more, and keeps the connection until the client gives up.
    Hang,
    /// Says nothing until the test lets it go on.
    Until(Arc<AtomicBool>),
}

/// A server that does these steps with each connection and then ends it; its port.
pub fn scripted(steps: &[Step]) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let steps = steps.to_vec();
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let steps = steps.clone();
            thread::spawn(move || act(stream, &steps));
        }
    });
    port
}

fn act(mut stream: TcpStream, steps: &[Step]) {
    let mut lines = BufReader::new(stream.try_clone().unwrap());
    for step in steps {
        let done = match step {
            Step::Say(words) => stream.write_all(words.as_bytes()),
            Step::Bytes(bytes) => stream.write_all(bytes),
            Step::Flood(words, count) => (0..*count).try_for_each(|_| stream.write_all(words.as_bytes())),
            Step::Until(go_on) => {
                while !go_on.load(SeqCst) {
                    thread::sleep(Duration::from_millis(5));
                }
                Ok(())
            }
            Step::Hear => lines.read_line(&mut String::new()).map(|_| ()),
            Step::Hang => {
                // The client gives up, which ends the reading.
                stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
                lines.read_to_end(&mut Vec::new()).map(|_| ())
            }
        };
        if done.is_err() {
            return;
        }
    }
}

/// A port on which nothing listens.
pub fn closed_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}
