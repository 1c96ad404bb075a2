//! Answers of the daemon whose type is not known beforehand.

use super::{Output, escaped, write_out};
use crate::failure::{Failure, Outcome};
use crate::output::{Format, views};
use serde_json::Value;

impl Output {
    /// Prints JSON as JSON, unless another format was asked for.
    pub fn show_json(&self, value: &Value) -> Outcome {
        match self.format {
            Format::Table | Format::Wide => self.print_json(value),
            Format::Tsv if !self.format_asked => self.print_json(value),
            _ => self.show(&views::ANSWER, value),
        }
    }

    fn print_json(&self, value: &Value) -> Outcome {
        match &self.jq {
            Some(expression) => self.express(expression, value),
            None => self.page(&(self.json(value) + "\n")),
        }
    }

    /// Prints text as it came; on a terminal with its control characters escaped.
    pub fn text(&self, text: &str) -> Outcome {
        if self.screen.stdout_is_terminal {
            self.page(&text.lines().map(|line| escaped(line) + "\n").collect::<String>())
        } else {
            self.page(text)
        }
    }

    /// Writes bytes that are not text, unless stdout is a terminal.
    pub fn bytes(&self, bytes: &[u8]) -> Outcome {
        if self.screen.stdout_is_terminal {
            return Err(Failure::usage("the answer is not text").hint("redirect it: > FILE"));
        }
        write_out(bytes)
    }
}
