//! A real terminal, for what only happens with a user at one: tmux, with a shell and `mfa` in its path.

use crate::support::world::World;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// Longest wait for something to appear.
const WAIT_SECONDS_MAX: u64 = 30;
/// Longest wait for a change of the screen after a line was typed; some lines change nothing.
const ECHO_TIME_MAX: Duration = Duration::from_secs(5);

/// A terminal of a given width.
pub struct Terminal {
    dir: TempDir,
}

impl Terminal {
    /// A terminal in the home of a world; `variables` come on top of its environment.
    pub fn start(world: &World, columns: u16, variables: &[(&str, &str)]) -> Self {
        let terminal = Self { dir: TempDir::with_prefix("mfa-terminal-").unwrap() };
        let program = Path::new(env!("CARGO_BIN_EXE_mfa")).parent().unwrap();
        let environment = world.mfa(&[]);
        let mut command = terminal.tmux();
        command.args(["new-session", "-d", "-x", &columns.to_string(), "-y", "50", "env", "-i"]);
        for (name, value) in environment.get_envs() {
            let (name, value) = (name.to_str().unwrap(), value.unwrap_or_default().to_str().unwrap());
            let path = format!("{}:{value}", program.display());
            command.arg(format!("{name}={}", if name == "PATH" { &path } else { value }));
        }
        let set = |name: &str| variables.iter().any(|(other, _)| *other == name);
        let usual = [("TERM", "screen-256color"), ("LC_ALL", "C.UTF-8"), ("PS1", "$ ")];
        for (name, value) in usual.iter().filter(|(name, _)| !set(name)).chain(variables) {
            command.arg(format!("{name}={value}"));
        }
        let done = command.args(["sh"]).current_dir(world.dir.path()).status();
        let done = done.unwrap_or_else(|error| panic!("tmux is needed for this test: {error}"));
        assert!(done.success(), "tmux does not start");
        terminal.wait_for("$ ");
        terminal
    }

    /// tmux on a socket of this terminal's own.
    fn tmux(&self) -> Command {
        let mut command = Command::new("tmux");
        command.env_remove("TMUX").args(["-u", "-f", "/dev/null", "-S"]).arg(self.dir.path().join("socket"));
        command
    }

    /// Types text as it is and then the return key, and waits until the screen shows any of it, so that what
    /// was there before is not taken for the answer.
    pub fn type_line(&self, text: &str) {
        let before = self.screen();
        if !text.is_empty() {
            self.keys(text);
        }
        self.press("Enter");
        let typed = Instant::now();
        while self.screen() == before && typed.elapsed() < ECHO_TIME_MAX {
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Waits for a question and answers it with a line.
    #[track_caller]
    pub fn answer(&self, question: &str, text: &str) {
        self.wait_for(question);
        self.type_line(text);
    }

    /// Types text and leaves it there.
    pub fn keys(&self, text: &str) {
        assert!(self.tmux().args(["send-keys", "-l", text]).status().unwrap().success());
    }

    /// Presses a key by its name, such as `C-c`.
    pub fn press(&self, key: &str) {
        assert!(self.tmux().args(["send-keys", key]).status().unwrap().success());
    }

    /// What is on the screen, without the empty lines at its end.
    pub fn screen(&self) -> String {
        self.capture(&[])
    }

    /// The same with the sequences of colour.
    pub fn coloured(&self) -> String {
        self.capture(&["-e"])
    }

    fn capture(&self, more: &[&str]) -> String {
        let shown = self.tmux().args(["capture-pane", "-p"]).args(more).output().unwrap();
        let text = String::from_utf8(shown.stdout).unwrap();
        let lines: Vec<_> = text.trim_end().lines().map(str::trim_end).collect();
        lines.join("\n")
    }

    /// Waits until the screen ends with a text, and returns the screen.
    #[track_caller]
    pub fn wait_for(&self, end: &str) -> String {
        self.wait_for_any(&[end])
    }

    /// Waits until the screen ends with one of several texts, and returns the screen.
    #[track_caller]
    pub fn wait_for_any(&self, ends: &[&str]) -> String {
        let started = Instant::now();
        loop {
            let screen = self.screen();
            if ends.iter().any(|end| screen.trim_end().ends_with(end.trim_end())) {
                return screen;
            }
            assert!(started.elapsed().as_secs() < WAIT_SECONDS_MAX, "{ends:?} does not appear:\n{screen}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Runs a line of the shell on an empty screen and returns the screen when it has ended.
    #[track_caller]
    pub fn run(&self, line: &str) -> String {
        assert!(self.tmux().args(["send-keys", "-R", ";", "clear-history"]).status().unwrap().success());
        self.type_line(&format!("{line}; echo exit $?"));
        let started = Instant::now();
        loop {
            let screen = self.screen();
            let ended = screen.lines().rev().nth(1).is_some_and(|line| line.starts_with("exit "));
            if ended && screen.ends_with('$') {
                return screen;
            }
            assert!(started.elapsed().as_secs() < WAIT_SECONDS_MAX, "{line} does not end:\n{screen}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let _ = self.tmux().arg("kill-server").status();
    }
}
