//! Runs `mfa` and looks at what it leaves: exit code, stdout, stderr.

use serde_json::Value;
use std::io::Write;
use std::process::{Command, Output, Stdio};

/// What a run left.
#[derive(Debug)]
pub struct Ran {
    pub exit: i32,
    pub out: String,
    pub err: String,
}

/// Runs a command to its end.
pub fn run(mut command: Command) -> Ran {
    left(command.output().unwrap())
}

/// The same command with SIGHUP as given, `default` or `ignore`: who runs the tests may have it ignored.
pub fn with_hangup(how: &str, command: &Command) -> Command {
    let mut env = Command::new("env");
    env.arg(format!("--{how}-signal=HUP")).arg(command.get_program()).args(command.get_args());
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => env.env(name, value),
            None => env.env_remove(name),
        };
    }
    command.get_current_dir().into_iter().for_each(|folder| {
        env.current_dir(folder);
    });
    env
}

/// Runs a command with a text on standard input.
pub fn run_with(mut command: Command, input: &str) -> Ran {
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    left(child.wait_with_output().unwrap())
}

/// What a command has left that was begun by a test itself.
pub fn left(output: Output) -> Ran {
    let Output { status, stdout, stderr } = output;
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    Ran { exit: status.code().unwrap_or(-1), out: text(stdout), err: text(stderr) }
}

impl Ran {
    /// Asserts that a run succeeded, and returns its output.
    #[track_caller]
    pub fn ok(self) -> String {
        assert_eq!(self.exit, 0, "{}", self.err);
        self.out
    }

    /// Asserts that a run succeeded, and returns its output as JSON.
    #[track_caller]
    pub fn json(self) -> Value {
        let out = self.ok();
        serde_json::from_str(&out).unwrap_or_else(|e| panic!("{e}: {out}"))
    }

    /// Asserts the exit code of a run with nothing on stdout, and returns its stderr.
    #[track_caller]
    pub fn fails(self, exit: i32) -> String {
        assert_eq!(self.exit, exit, "{}", self.err);
        assert_eq!(self.out, "");
        self.err
    }

    /// Asserts the exit code of a run and one line of JSON on stderr, and returns its error.
    #[track_caller]
    pub fn fails_in_json(self, exit: i32) -> Value {
        let said = self.fails(exit);
        assert_eq!(said.lines().count(), 1, "{said}");
        let error = serde_json::from_str::<Value>(&said).unwrap()["error"].clone();
        assert_eq!(error["exit"], exit, "{said}");
        for property in ["code", "exit", "status", "message", "hint", "field", "requestId"] {
            assert!(error.get(property).is_some(), "{property} is missing: {said}");
        }
        error
    }
}
