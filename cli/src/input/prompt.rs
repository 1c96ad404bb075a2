//! Questions, which are asked only where a user can answer.

use crate::failure::{Failure, Outcome, codes};
use crate::output::{ByKey, Lent, escaped_lines};
use crate::words::quoted;
use mfa_shared::fault::exit;
use std::io::{ErrorKind, IsTerminal, Write, stderr, stdin};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::oneshot;

/// Whether and how questions are asked.
#[derive(Debug, Clone)]
pub struct Prompt {
    /// Every confirmation is answered with yes.
    pub yes: bool,
    /// Nothing may be asked.
    pub no_input: bool,
    /// Where it happens, as questions say it: `at http://127.0.0.1:6320`, or `in /var/lib/mfa/store`.
    pub place: String,
    /// Whether the identifier of what is destroyed there must always be typed.
    pub protected: bool,
    /// The identifier that was typed on the command line already.
    pub confirmed: Option<String>,
    /// What handles the signals that end a command.
    pub interrupts: Interrupts,
}

/// A Ctrl-C, SIGTERM or SIGHUP ends the process, unless a question or a piece of work takes it because
/// something must be undone first.
#[derive(Debug, Clone, Default)]
pub struct Interrupts(Arc<Mutex<Option<oneshot::Sender<Outcome>>>>);

impl Interrupts {
    fn slot(&self) -> MutexGuard<'_, Option<oneshot::Sender<Outcome>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether something has handled the signal that just came, which ends the command with this exit code.
    pub fn are_taken(&self, exit: i32) -> bool {
        let failure = interrupted("interrupted, nothing was done").exit(exit);
        self.slot().take().is_some_and(|answer| answer.send(Err(failure)).is_ok())
    }

    /// Does work that such a signal ends; the process ends only after the work was dropped.
    pub async fn taken_by<T>(&self, work: impl Future<Output = Outcome<T>>) -> Outcome<T> {
        let (answer, answered) = oneshot::channel();
        *self.slot() = Some(answer);
        let done = tokio::select! {
            // Finished work counts, whatever signal came meanwhile.
            biased;
            done = work => done,
            answer = answered => {
                let exit = answer.ok().and_then(Outcome::err).map_or(exit::INTERRUPTED, |taken| taken.exit);
                Err(interrupted("interrupted").exit(exit))
            }
        };
        self.slot().take();
        done
    }
}

/// The result of a command that was ended by Ctrl-C.
pub fn interrupted(what: &str) -> Failure {
    Failure::new(codes::INTERRUPTED, what)
}

impl Prompt {
    /// The same for work on the store itself, of which no daemon knows.
    pub fn in_store(&self, store: &str) -> Self {
        Self { place: format!("in {store}"), ..self.clone() }
    }

    /// Whether a question would reach a user.
    pub fn can_ask(&self) -> bool {
        !self.no_input && stdin().is_terminal() && stderr().is_terminal()
    }

    pub fn confirm(&self, what: &str) -> Outcome {
        if self.yes {
            return Ok(());
        }
        let answer = self.ask(&format!("{what} [y/N] "), "--yes")?;
        if matches!(answer.to_ascii_lowercase().as_str(), "y" | "yes") { Ok(()) } else { Err(declined()) }
    }

    /// Asks for a yes; Ctrl-C is an answer, after which the caller can undo what was begun.
    pub async fn confirm_or_interrupted(&self, what: &str) -> Outcome {
        let (answer, answered) = oneshot::channel();
        *self.interrupts.slot() = Some(answer);
        let prompt = self.clone();
        let what = what.to_owned();
        // A thread of its own, which is never joined: after a Ctrl-C it still reads the terminal.
        std::thread::spawn(move || {
            let said = prompt.confirm(&what);
            if let Some(answer) = prompt.interrupts.slot().take() {
                let _ = answer.send(said);
            }
        });
        answered.await.unwrap_or_else(|_| Err(declined()))
    }

    /// Asks before something is destroyed: for a yes, or where the profile is protected for its identifier.
    pub fn before_destroying(&self, what: &str, identifier: &str) -> Outcome {
        if self.protected || self.confirmed.is_some() {
            self.confirm_typed(what, identifier)
        } else {
            self.confirm(&format!("{what} {}?", self.place))
        }
    }

    /// Asks before something ends that cannot simply be resumed. Without a way to ask it proceeds, since
    /// scripts end things at night; not so in a protected profile.
    pub fn before_ending(&self, what: &str, identifier: &str) -> Outcome {
        if self.can_ask() || self.protected || self.confirmed.is_some() {
            self.before_destroying(what, identifier)
        } else {
            Ok(())
        }
    }

    /// Whether a question about destroying something would be asked.
    pub fn must_ask(&self) -> bool {
        self.protected || self.confirmed.is_some() || !self.yes
    }

    /// Asks for an identifier to be typed before something is destroyed that others depend on.
    pub fn confirm_typed(&self, what: &str, identifier: &str) -> Outcome {
        match &self.confirmed {
            Some(typed) if typed == identifier => return Ok(()),
            Some(typed) => {
                let why = format!("--confirm names \"{typed}\", and this is about \"{identifier}\"");
                return Err(Failure::usage(why).hint("look again at what would be destroyed"));
            }
            None if self.yes && !self.protected => return Ok(()),
            None => {}
        }
        let flag =
            if self.protected { format!("--confirm {}", quoted(identifier)) } else { "--yes".to_owned() };
        let question = format!("{what} {}\ntype {identifier} to go on: ", self.place);
        if self.ask(&question, &flag)? == identifier { Ok(()) } else { Err(declined()) }
    }

    /// Reads a new secret, typed twice; `flag` is what supplies it without a question.
    pub fn new_secret(&self, what: &str, flag: &str) -> Outcome<String> {
        self.check(flag)?;
        let first = hidden(&format!("{what}: "))?;
        if hidden(&format!("{what} again: "))? != first {
            return Err(Failure::new(codes::ENTRIES_DIFFER, "the two entries differ"));
        }
        Ok(first)
    }

    /// Reads a secret that the user knows.
    pub fn secret(&self, what: &str, flag: &str) -> Outcome<String> {
        self.check(flag)?;
        hidden(&format!("{what}: "))
    }

    /// Asks for a text; an empty line takes the default, and Ctrl-D gives up.
    pub fn ask_or(&self, what: &str, default: &str) -> Outcome<String> {
        self.check("")?;
        let answer = self.line(&format!("{what} [{default}]: "))?.ok_or_else(declined)?;
        Ok(if answer.is_empty() { default.to_owned() } else { answer })
    }

    /// Asks for a text; an empty line gives up. `flag` is what supplies it without a question.
    pub fn text(&self, question: &str, flag: &str) -> Outcome<String> {
        let answer = self.ask(question, flag)?;
        if answer.is_empty() { Err(declined()) } else { Ok(answer) }
    }

    fn ask(&self, question: &str, flag: &str) -> Outcome<String> {
        self.check(flag)?;
        Ok(self.line(question)?.unwrap_or_default())
    }

    /// Asks for a line; nothing where Ctrl-D ended the input.
    pub fn line(&self, question: &str) -> Outcome<Option<String>> {
        // Questions may show stored text.
        let _ = write!(stderr(), "{}", escaped_lines(question));
        let _ = stderr().flush();
        let mut line = String::new();
        let read = stdin().read_line(&mut line);
        let bytes =
            read.map_err(|error| Failure::local(format!("cannot read from the terminal: {error}")))?;
        if bytes == 0 {
            // Ctrl-D ends no line, and what follows is not part of the question.
            let _ = writeln!(stderr());
            return Ok(None);
        }
        Ok(Some(line.trim().to_owned()))
    }

    /// Refuses if no question can be asked; `flag` is what answers without a question.
    pub fn check(&self, flag: &str) -> Outcome {
        if self.can_ask() {
            return Ok(());
        }
        let why = match self.no_input {
            true => "questions are switched off",
            false if stderr().is_terminal() => "standard input is no terminal",
            false => "there is no terminal",
        };
        Err(Failure::new(codes::INPUT_NEEDED, format!("{flag} is needed: {why}"))
            .hint(format!("give {flag}")))
    }
}

fn hidden(question: &str) -> Outcome<String> {
    let lent = Lent::begin();
    let _by_key = ByKey::without_signals();
    rpassword::prompt_password(escaped_lines(question)).map_err(|error| match error.kind() {
        ErrorKind::Interrupted => {
            lent.for_good();
            interrupted("interrupted")
        }
        _ => Failure::local(format!("cannot read from the terminal: {error}")),
    })
}

/// The result of a command that was not confirmed.
pub fn declined() -> Failure {
    Failure::new(codes::DECLINED, "nothing was done")
}
