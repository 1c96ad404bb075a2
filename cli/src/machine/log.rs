//! The log of the daemon, on stderr. A thread of its own writes the lines of requests, which may be thousands
//! a second, many at once: no request waits for the disk, or for the line of another one. Whatever else is
//! logged is out before work goes on, behind all lines that came before it.

mod file;

use crate::command::cx::Cx;
use crate::failure::{Failure, Outcome};
use file::LogFile;
use mfa_daemon::LOG_OF_REQUESTS;
use std::io::{self, ErrorKind, IsTerminal, Write, stderr};
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError, mpsc};
use std::thread::{self, Thread};
use std::time::Duration;
use tracing::{Level, Metadata};
use tracing_subscriber::fmt::MakeWriter;

pub use file::{former, log_file};

/// Time in which lines gather before they are written.
const GATHER: Duration = Duration::from_millis(2);
/// Bytes of lines that wait. Who adds one beyond them waits until all are written.
const WAITING_BYTES_MAX: usize = 256 * 1024;

/// Time for what waits when the process ends: who reads the log may have been stopped.
const END_WITHIN: Duration = Duration::from_secs(1);
/// How often a reader that takes nothing at the moment is tried again.
const TRIES: usize = 500;

/// What this process logs.
static LOG: Log = Log::new();

/// Begins to log, as the settings say. Where stderr is the log file of a daemon in the background, that file
/// is kept from growing for ever.
pub fn to_stderr(cx: &Cx, of_background: Option<PathBuf>) -> Outcome {
    let level: Level = cx.settings.parse("log", None)?;
    let colour = stderr().is_terminal() && cx.out.screen.stderr_colour;
    if let Some(file) = of_background.and_then(LogFile::of_stderr) {
        LOG.file.get_or_init(|| file);
    }
    LOG.begin().map_err(|error| Failure::local(format!("the log cannot be written: {error}")))?;
    let log = tracing_subscriber::fmt().with_writer(&LOG).with_max_level(level);
    // It fails only where a log has been set up already, which none of the callers does.
    let _ = match cx.settings.get("log_format").0 {
        "text" => log.with_ansi(colour).try_init(),
        "json" => log.json().flatten_event(true).with_current_span(false).with_span_list(false).try_init(),
        other => return Err(Failure::usage(format!("log_format is \"{other}\" and must be text or json"))),
    };
    Ok(())
}

/// Writes what waits, before the process ends.
pub fn end() {
    if LOG.writer.get().is_none() {
        return;
    }
    let (written, all) = mpsc::channel();
    let write = move || {
        LOG.write_out(&mut stderr());
        let _ = written.send(());
    };
    if thread::Builder::new().spawn(write).is_ok() {
        let _ = all.recv_timeout(END_WITHIN);
    }
}

/// Lines that wait, and the thread that writes them.
#[derive(Debug)]
struct Log {
    waiting: Mutex<Vec<u8>>,
    /// Held while lines are written, so that they stay in order. Between writes its bytes are empty.
    writing: Mutex<Vec<u8>>,
    writer: OnceLock<Thread>,
    /// The file to which it goes, if that is to be bounded.
    file: OnceLock<LogFile>,
}

impl Log {
    const fn new() -> Self {
        Self {
            waiting: Mutex::new(Vec::new()),
            writing: Mutex::new(Vec::new()),
            writer: OnceLock::new(),
            file: OnceLock::new(),
        }
    }

    fn begin(&'static self) -> io::Result<()> {
        let writer = thread::Builder::new().name("log".to_owned()).spawn(move || {
            loop {
                thread::park();
                thread::sleep(GATHER);
                self.write_out(&mut stderr());
            }
        })?;
        self.writer.get_or_init(|| writer.thread().clone());
        Ok(())
    }

    /// Adds a line; whether there is room for more.
    fn add(&self, line: &[u8]) -> bool {
        let (first, room) = {
            let mut waiting = lock(&self.waiting);
            let first = waiting.is_empty();
            waiting.extend_from_slice(line);
            (first, waiting.len() < WAITING_BYTES_MAX)
        };
        if let Some(writer) = self.writer.get().filter(|_| first) {
            writer.unpark();
        }
        room
    }

    /// Writes all lines that were added before.
    fn write_out(&self, to: &mut impl Write) {
        let mut lines = lock(&self.writing);
        std::mem::swap(&mut *lines, &mut *lock(&self.waiting));
        write_lines(&lines, to);
        lines.clear();
        // What fails cannot be logged here.
        let _ = self.file.get().map(LogFile::bound);
    }
}

/// Writes lines. One that cannot be written is left out, since there is no place to say so; those behind it
/// are written where they can be.
fn write_lines(lines: &[u8], to: &mut impl Write) {
    let (mut left, mut tries) = (lines, TRIES);
    while !left.is_empty() {
        match to.write(left) {
            Ok(written) if written > 0 => left = &left[written..],
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) if error.kind() == ErrorKind::WouldBlock && tries > 0 => {
                tries -= 1;
                thread::sleep(GATHER);
            }
            _ => {
                let end = left.iter().position(|byte| *byte == b'\n');
                left = &left[end.map_or(left.len(), |end| end + 1)..];
            }
        }
    }
}

fn lock(bytes: &Mutex<Vec<u8>>) -> MutexGuard<'_, Vec<u8>> {
    bytes.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Takes one line.
#[derive(Debug)]
struct Line {
    may_wait: bool,
}

impl<'a> MakeWriter<'a> for &'static Log {
    type Writer = Line;

    fn make_writer(&'a self) -> Line {
        Line { may_wait: false }
    }

    fn make_writer_for(&'a self, meta: &Metadata<'_>) -> Line {
        Line { may_wait: meta.target() == LOG_OF_REQUESTS }
    }
}

impl Write for Line {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        let room = LOG.add(line);
        if !(self.may_wait && room) {
            LOG.write_out(&mut stderr());
        }
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_many_threads_come_out_once_whole_and_in_order() {
        const THREADS: usize = 4;
        const LINES: usize = 5_000;
        let (log, out) = (Log::new(), Mutex::new(Vec::new()));
        thread::scope(|scope| {
            for thread in 0..THREADS {
                let (log, out) = (&log, &out);
                scope.spawn(move || {
                    for line in 0..LINES {
                        let room = log.add(format!("{thread} {line}\n").as_bytes());
                        if !room || line % 700 == thread {
                            log.write_out(&mut Shared(out));
                        }
                    }
                });
            }
        });
        log.write_out(&mut Shared(&out));
        let out = String::from_utf8(out.into_inner().unwrap()).unwrap();
        let mut next = [0; THREADS];
        for line in out.lines() {
            let (thread, line) = line.split_once(' ').unwrap();
            let thread: usize = thread.parse().unwrap();
            assert_eq!(line.parse(), Ok(next[thread]));
            next[thread] += 1;
        }
        assert_eq!(next, [LINES; THREADS]);
    }

    #[test]
    fn who_adds_a_line_to_many_that_wait_is_told_to_write_them() {
        let log = Log::new();
        let line = [b'x'; 1024];
        let added = (1..).find(|_| !log.add(&line)).unwrap();
        assert_eq!(added, WAITING_BYTES_MAX / line.len());
        log.write_out(&mut io::sink());
        assert!(log.add(&line));
    }

    #[test]
    fn a_line_that_cannot_be_written_takes_no_other_with_it() {
        /// Takes eight bytes at a time, nothing at first, and none of a line that is too long.
        #[derive(Default)]
        struct Narrow(Vec<u8>, usize);
        impl Write for Narrow {
            fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
                self.1 += 1;
                if self.1 < 3 {
                    return Err(ErrorKind::WouldBlock.into());
                }
                if bytes.starts_with(b"long") {
                    return Err(ErrorKind::StorageFull.into());
                }
                self.0.extend_from_slice(&bytes[..bytes.len().min(8)]);
                Ok(bytes.len().min(8))
            }

            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        let mut to = Narrow::default();
        write_lines(b"line 01\nlong line\nline 02\nlong, without an end", &mut to);
        assert_eq!(String::from_utf8(to.0).unwrap(), "line 01\nline 02\n");
    }

    /// A log that many threads write to.
    struct Shared<'a>(&'a Mutex<Vec<u8>>);

    impl Write for Shared<'_> {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            lock(self.0).write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
}
