//! A relay before a server: it loses connections, falls silent, or cuts one at the very moment of a commit.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

/// What the relay does with what comes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Mode {
    /// Hands it on.
    Pass,
    /// Ends every connection, old and new ones.
    Away,
    /// Keeps connections and hands nothing on.
    Frozen,
    /// Cuts the connection on which something with this marker is committed, once: before the server sees
    /// the commit, or when it has answered that it is done.
    Cut { marker: &'static str, answered: bool },
}

/// A relay; it ends with the test.
pub struct Relay {
    pub port: u16,
    mode: Arc<Mutex<Mode>>,
    open: Arc<Mutex<Vec<TcpStream>>>,
}

const COMMIT: &[u8] = b"commit\0";
/// The server's answers to a commit: it is done, or it lost against another transaction and is sent again.
const DONE: &[u8] = b"COMMIT\0";
const LOST: &[u8] = b"ROLLBACK\0";

impl Relay {
    /// A relay before a server.
    pub fn before(server: SocketAddr) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let relay = Self { port, mode: Arc::new(Mutex::new(Mode::Pass)), open: Arc::default() };
        let (mode, open) = (relay.mode.clone(), relay.open.clone());
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                if *mode.lock().unwrap() == Mode::Away {
                    continue;
                }
                let Ok(server) = TcpStream::connect(server) else { continue };
                for stream in [&client, &server] {
                    stream.set_nodelay(true).unwrap();
                    open.lock().unwrap().push(stream.try_clone().unwrap());
                }
                let cut = Arc::default();
                let up = Pipe { from: client, to: server, mode: mode.clone(), cut };
                let down = up.back();
                thread::spawn(move || up.run(Pipe::goes_up));
                thread::spawn(move || down.run(Pipe::comes_down));
            }
        });
        relay
    }

    /// Changes what it does.
    pub fn set(&self, mode: Mode) {
        let ends = mode == Mode::Away;
        *self.mode.lock().unwrap() = mode;
        if ends {
            for stream in self.open.lock().unwrap().drain(..) {
                let _ = stream.shutdown(Shutdown::Both);
            }
        }
    }
}

/// One direction of a connection.
struct Pipe {
    from: TcpStream,
    to: TcpStream,
    mode: Arc<Mutex<Mode>>,
    /// The answer to the commit is waited for, and is the end.
    cut: Arc<AtomicBool>,
}

impl Pipe {
    fn back(&self) -> Self {
        let (from, to) = (self.to.try_clone().unwrap(), self.from.try_clone().unwrap());
        Self { from, to, mode: self.mode.clone(), cut: self.cut.clone() }
    }

    /// Hands pieces on until `hear` says that it is over.
    fn run(mut self, hear: fn(&mut Self, &[u8], &mut Vec<u8>) -> bool) {
        let (mut piece, mut seen) = ([0; 65_536], Vec::new());
        while let Ok(count @ 1..) = self.from.read(&mut piece) {
            while *self.mode.lock().unwrap() == Mode::Frozen {
                thread::sleep(Duration::from_millis(5));
            }
            if !hear(&mut self, &piece[..count], &mut seen) {
                break;
            }
        }
        let _ = self.from.shutdown(Shutdown::Both);
        let _ = self.to.shutdown(Shutdown::Both);
    }

    fn goes_up(&mut self, piece: &[u8], seen: &mut Vec<u8>) -> bool {
        let mode = self.mode.lock().unwrap().clone();
        if let Mode::Cut { marker, answered } = mode {
            seen.extend_from_slice(piece);
            if holds(piece, COMMIT) {
                let marked = holds(&std::mem::take(seen), marker.as_bytes());
                if marked && !answered {
                    *self.mode.lock().unwrap() = Mode::Pass;
                    return false;
                }
                self.cut.store(marked, SeqCst);
            }
        }
        self.to.write_all(piece).is_ok()
    }

    /// Keeps an answer back until it is known whether it is the last one of the connection.
    fn comes_down(&mut self, piece: &[u8], seen: &mut Vec<u8>) -> bool {
        seen.extend_from_slice(piece);
        if self.cut.load(SeqCst) {
            if holds(seen, DONE) {
                *self.mode.lock().unwrap() = Mode::Pass;
                return false;
            }
            if !holds(seen, LOST) {
                return true;
            }
            self.cut.store(false, SeqCst);
        }
        self.to.write_all(&std::mem::take(seen)).is_ok()
    }
}

fn holds(bytes: &[u8], part: &[u8]) -> bool {
    bytes.windows(part.len()).any(|window| window == part)
}
