//! Why a command failed, and how that is reported: as two lines for a person, or as one line of JSON.

pub mod codes;
pub mod next_step;

use crate::words::quoted;
use mfa_shared::api::roles::Permission;
use mfa_shared::fault::{self, Fault, Problem, exit};
use mfa_shared::rule::FieldError;
use serde_json::{Value, json};

/// The result of running a command.
pub type Outcome<T = ()> = Result<T, Failure>;

/// Most missing permissions that a hint names.
const NAMED_MAX: usize = 3;

/// A failed command.
#[derive(Debug, Clone)]
pub struct Failure(Box<Parts>);

/// The parts of a [`Failure`].
#[derive(Debug, Clone, Default)]
pub struct Parts {
    /// Stable slug: one of the fault table, or one of the client's own.
    pub code: String,
    /// How the process ends.
    pub exit: i32,
    /// HTTP status, where the daemon answered.
    pub status: Option<u16>,
    pub message: String,
    pub hint: String,
    /// Bad fields of the body.
    pub errors: Vec<FieldError>,
    /// Fields of the body with the flags that give them.
    pub flags: Vec<(String, String)>,
    /// The request that failed, as the daemon logs it.
    pub request_id: Option<String>,
    /// The parameters of the path of the request, for suggestions.
    pub path: Vec<(&'static str, String)>,
    /// The operation for which a batch was refused, counted from 0.
    pub operation: Option<usize>,
    /// Not a failure: a successful dry run ends the command, because the rest needs the change. Holds the
    /// result that it would have had.
    pub dry_run: Option<Value>,
    /// How far the message of a gateway came, and the status with which it was refused.
    pub stage: Option<(String, Option<u16>)>,
    /// Whether the change that failed may have been made.
    pub in_doubt: bool,
    /// Whether no more has failed than to show what was asked for.
    pub unshown: bool,
    /// The key by which the command can be repeated then.
    pub key: Option<String>,
    /// Permissions that the caller lacks.
    pub lacking: Vec<Permission>,
    /// Not a failure: the findings are on stdout, and only the exit code is left to report.
    pub found: bool,
}

impl std::ops::Deref for Failure {
    type Target = Parts;
    fn deref(&self) -> &Parts {
        &self.0
    }
}

impl Failure {
    /// A failure of the client's own.
    pub fn new(kind: &codes::Kind, message: impl Into<String>) -> Self {
        Self::coded(kind.code, kind.exit, message.into())
    }

    /// The same as a refusal of the daemon, of which the client knows without asking it.
    pub fn of(kind: &fault::Kind, message: impl Into<String>) -> Self {
        Self::coded(kind.code, kind.exit(), message.into())
    }

    fn coded(code: &str, exit: i32, message: String) -> Self {
        let (code, message) = (code.to_owned(), without_number(message));
        Self(Box::new(Parts { code, exit, message, ..Parts::default() }))
    }

    /// The command line is wrong.
    pub fn usage(message: impl Into<String>) -> Self {
        Self::new(codes::USAGE, message)
    }

    /// Something on this machine failed: a file, a program.
    pub fn local(message: impl Into<String>) -> Self {
        Self::new(codes::FAILED, message)
    }

    /// What was asked for cannot be shown, whatever was done.
    pub fn unshown(message: impl Into<String>) -> Self {
        Self::local(message).of_output()
    }

    /// The same of what was to be shown, and of nothing else.
    pub fn of_output(mut self) -> Self {
        self.0.unshown = true;
        self
    }

    /// The same of a command that has made its change, and so was not called wrongly.
    pub fn of_no_usage(mut self) -> Self {
        if self.0.exit == exit::USAGE {
            (self.0.code, self.0.exit) = (codes::FAILED.code.to_owned(), codes::FAILED.exit);
        }
        self
    }

    /// The reader of stdout has closed it, as `head` does; nothing is wrong.
    pub fn broken_pipe() -> Self {
        Self::coded("broken_pipe", exit::OK, String::new())
    }

    /// The end of a successful dry run.
    pub fn dry_run(would: Value) -> Self {
        Self(Box::new(Parts { exit: exit::OK, dry_run: Some(would), ..Parts::default() }))
    }

    /// The end of a command that has printed what it found.
    pub fn found(exit: i32) -> Self {
        Self(Box::new(Parts { exit, found: true, ..Parts::default() }))
    }

    /// What the daemon refused.
    pub fn problem(problem: Problem) -> Self {
        let row = fault::find(&problem.code);
        let exit = row.map_or_else(|| exit_of(problem.status), |row| row.exit());
        let step = match problem.code.as_str() {
            code if code == fault::WRONG_STATE.code => next_step::from_state(&problem.detail),
            code if code == fault::IN_USE.code => next_step::from_uses(&problem.detail),
            _ => None,
        };
        let failure = Self(Box::new(Parts {
            code: problem.code,
            exit,
            status: Some(problem.status),
            message: problem.detail,
            hint: match (step.as_deref().unwrap_or(row.map_or("", |row| row.hint)), problem.retry_after) {
                (hint, Some(seconds)) if hint.contains("Retry-After") => {
                    format!("try again in {}", duration(seconds))
                }
                (hint, _) => hint.to_owned(),
            },
            errors: problem.errors,
            request_id: Some(problem.request_id),
            operation: problem.operation,
            stage: problem.stage.map(|stage| (stage, problem.gateway_code.flatten())),
            ..Parts::default()
        }));
        failure.lacking(problem.missing.unwrap_or_default())
    }

    /// A refusal of the daemon that HEAD asked for, which has no body.
    pub fn without_body(status: u16, path: &str) -> Self {
        let what = format!("HEAD {path} was refused with {status}");
        let mut failure = Self::new(codes::REFUSED, what).exit(exit_of(status));
        failure.0.status = Some(status);
        failure.hint(format!("the answer to HEAD does not say why: mfa api GET {}", quoted(path)))
    }

    /// An answer of a status without the body of a problem: not the daemon, or a proxy before it.
    pub fn status(status: u16, url: &str) -> Self {
        // With the exit code of a refusal a script would take this for an answer of the daemon.
        let mut failure = Self::unexpected(url, &status.to_string());
        failure.0.status = Some(status);
        failure
    }

    /// Whether no daemon has answered.
    pub fn is_silence(&self) -> bool {
        self.exit == exit::UNREACHABLE || self.code == codes::UNEXPECTED.code
    }

    /// An answer that holds what no daemon sends.
    pub fn unexpected(url: &str, what: &str) -> Self {
        Self::new(codes::UNEXPECTED, format!("{url} answered {what}"))
            .hint("is this the address of a daemon? it is set by --url or MFA_URL")
    }

    /// The same failure with another exit code.
    pub fn exit(mut self, exit: i32) -> Self {
        self.0.exit = exit;
        self
    }

    /// The same failure with another hint.
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.0.hint = hint.into();
        self
    }

    /// The same failure with the fields that it is about.
    pub fn about(mut self, errors: Vec<FieldError>) -> Self {
        self.0.errors = errors;
        self
    }

    /// The same failure with the flags for its fields, which a person sees beside them.
    pub fn flags(mut self, flags: Vec<(String, String)>) -> Self {
        self.0.flags = flags;
        self
    }

    /// The same failure with a longer message.
    pub fn adding(mut self, more: &str) -> Self {
        self.0.message.push_str(more);
        self
    }

    /// Speaks of the one change that was sent, where it went as an operation of a batch.
    pub fn of_one_change(mut self) -> Self {
        if let Some(operation) = self.0.operation {
            self.0.message = fault::detail_of_operation(operation, &self.0.message).to_owned();
        }
        self
    }

    /// The same failure with the permissions that are lacking, which the hint names.
    pub fn lacking(mut self, permissions: Vec<Permission>) -> Self {
        let shown = |permission: &Permission| {
            let words = permission.allowed_operations.iter().map(|operation| operation.as_str());
            let words: Vec<_> = words.collect();
            format!("{} on {}", words.join(", "), permission.permittable_endpoint_group_identifier)
        };
        let mut names: Vec<_> = permissions.iter().take(NAMED_MAX).map(shown).collect();
        if permissions.len() > NAMED_MAX {
            names.push(format!("{} more", permissions.len() - NAMED_MAX));
        }
        if !names.is_empty() {
            // For a request any one of them is enough; to grant permissions all are needed.
            let joined =
                if self.0.code == fault::FORBIDDEN.code { names.join(" or ") } else { names.join("; ") };
            self.0.hint = format!("{}: {joined}", self.0.hint);
        }
        self.0.lacking = permissions;
        self
    }

    /// The same of a change that may have been made.
    pub fn in_doubt(self) -> Self {
        let mut failure = self.adding("; it is not known whether the change was made");
        failure.0.in_doubt = true;
        failure
    }

    /// The same with the key by which the command can be repeated.
    pub fn of_key(mut self, key: &str) -> Self {
        self.0.key = Some(key.to_owned());
        self
    }

    /// The same about a request with these parameters of its path.
    pub fn of_path(mut self, path: Vec<(&'static str, String)>) -> Self {
        self.0.path = path;
        self
    }

    /// One line of JSON, with the warnings that the command had before it failed.
    pub fn to_json(&self, warnings: &[String]) -> String {
        let hint = (!self.hint.is_empty()).then_some(&self.hint);
        let mut error = json!({
            "code": self.code,
            "exit": self.exit,
            "status": self.status,
            "message": self.message,
            "hint": hint,
            "field": self.errors.first().map(|e| &e.field),
            "requestId": self.request_id,
        });
        if !self.errors.is_empty() {
            error["errors"] = json!(self.errors);
        }
        if let Some((stage, code)) = &self.stage {
            (error["stage"], error["gatewayCode"]) = (json!(stage), json!(code));
        }
        if let Some(key) = &self.key {
            error["idempotencyKey"] = json!(key);
        }
        if !self.lacking.is_empty() {
            error["missing"] = json!(self.lacking);
        }
        if !warnings.is_empty() {
            error["warnings"] = json!(warnings);
        }
        json!({ "error": error }).to_string()
    }

    /// A text with the flag beside the field that it begins with, or that follows `the first: `.
    fn with_flags(&self, text: &str) -> String {
        let at = text.find(": /").map_or(0, |colon| colon + 2);
        let end = text[at..].find(' ').map_or(text.len(), |end| at + end);
        match self.flags.iter().find(|(field, _)| *field == text[at..end]) {
            Some((_, flag)) => format!("{} (--{flag}){}", &text[..end], &text[end..]),
            None => text.to_owned(),
        }
    }

    /// The lines for a person, without colour: each is a label and a text.
    pub fn lines(&self) -> Vec<(&'static str, String)> {
        let mut lines = vec![("error", self.with_flags(&self.message))];
        // One bad field is the message already; several are listed.
        if self.errors.len() > 1 {
            lines.extend(self.errors.iter().map(|e| ("  field", self.with_flags(&e.detail))));
        }
        if let Some((stage, code)) = &self.stage {
            let code = code.map(|code| format!(", status {code}")).unwrap_or_default();
            lines.push(("stage", format!("{}{code}", stage)));
        }
        if !self.hint.is_empty() {
            lines.push(("hint", self.hint.clone()));
        }
        if self.status.is_some_and(|status| status >= 500)
            && let Some(id) = &self.request_id
        {
            lines.push(("request", id.clone()));
        }
        lines
    }
}

/// Seconds as a person says them.
fn duration(seconds: u32) -> String {
    match (seconds / 60, seconds % 60) {
        (0, 1) => "1 second".to_owned(),
        (0, seconds) => format!("{seconds} seconds"),
        (1, 0) => "1 minute".to_owned(),
        (minutes, 0) => format!("{minutes} minutes"),
        (minutes, seconds) => format!("{minutes} min {seconds} s"),
    }
}

/// What the system says of a file, without the number that only programmers know, and without the name of a
/// draft that the user did not name.
fn without_number(message: String) -> String {
    match message.split_once(" (os error ").and_then(|(before, rest)| Some((before, rest.split_once(')')?.1)))
    {
        Some((before, after)) => {
            let draft = after.strip_prefix(" at path \"").and_then(|path| path.split_once('"'));
            format!("{before}{}", draft.map_or(after, |(_, behind)| behind))
        }
        None => message,
    }
}

/// A rule that the client checked before it sent anything; the daemon would have said the same.
impl From<Fault> for Failure {
    fn from(fault: Fault) -> Self {
        Self(Box::new(Parts {
            code: fault.kind.code.to_owned(),
            exit: fault.kind.exit(),
            message: fault.detail.clone(),
            hint: fault.kind.hint.to_owned(),
            errors: fault.errors.clone(),
            ..Parts::default()
        }))
    }
}

/// Writing to stdout failed.
impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Self {
        if error.kind() == std::io::ErrorKind::BrokenPipe {
            return Self::broken_pipe();
        }
        Self::unshown(format!("cannot write the output: {error}"))
    }
}

impl From<csv::Error> for Failure {
    fn from(error: csv::Error) -> Self {
        match error.into_kind() {
            csv::ErrorKind::Io(error) => error.into(),
            other => Self::local(format!("cannot write csv: {other:?}")),
        }
    }
}

/// The exit code of a status whose code this client does not know.
fn exit_of(status: u16) -> i32 {
    match status {
        429 => exit::TOO_MANY_ATTEMPTS,
        404 => exit::NOT_FOUND,
        401 => exit::NOT_LOGGED_IN,
        403 => exit::FORBIDDEN,
        409 | 412 => exit::CONFLICT,
        400..=499 => exit::INVALID,
        _ => exit::FAILURE,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_draft_of_a_file_that_cannot_be_written_is_not_named() {
        let folder = std::path::Path::new("/nonexistent");
        let error = tempfile::NamedTempFile::new_in(folder).unwrap_err();
        let failure = Failure::local(format!("cannot write /nonexistent/x.pdf: {error}; make the folder"));
        assert_eq!(
            failure.message,
            "cannot write /nonexistent/x.pdf: No such file or directory; make the folder"
        );
    }
}
