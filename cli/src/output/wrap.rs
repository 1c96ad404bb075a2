//! Texts in the width of a terminal.
//!
//! In a help text a line that begins with a space is not joined with others: a command line, or a word and,
//! after two spaces, what it means. Consecutive lines that begin with a letter are one paragraph.

use super::called;
use unicode_width::UnicodeWidthStr;

/// The text with no line longer than `width` columns, but for command lines, which are copied whole.
pub fn wrapped(text: &str, width: u16) -> String {
    let width = usize::from(width);
    let mut out = String::new();
    let mut paragraph = String::new();
    for line in text.lines() {
        if !line.is_empty() && !line.starts_with(' ') {
            paragraph.push_str(line);
            paragraph.push(' ');
            continue;
        }
        fill(&mut out, "", &std::mem::take(&mut paragraph), width);
        match explained(line) {
            Some((head, meaning)) => fill(&mut out, head, meaning, width),
            None => {
                out.push_str(line);
                out.push('\n');
            }
        }
    }
    fill(&mut out, "", &paragraph, width);
    out
}

/// A message whose lines end between words and are no longer than `width` columns; the first begins behind a
/// label of `before`. A command stays whole, because it is copied, and so does a line that begins with a
/// space.
pub fn message(text: &str, before: usize, width: u16) -> String {
    let width = usize::from(width);
    let mut out = String::new();
    for (number, line) in text.split('\n').enumerate() {
        if number > 0 {
            out.push('\n');
        }
        if line.starts_with(' ') {
            out.push_str(line);
            continue;
        }
        let mut column = if number == 0 { before } else { 0 };
        for (place, word) in unbroken(line).into_iter().enumerate() {
            let length = word.width();
            if place > 0 && column + 1 + length > width {
                out.push('\n');
                column = 0;
            } else if place > 0 {
                out.push(' ');
                column += 1;
            }
            out.push_str(word);
            column += length;
        }
    }
    out
}

/// The words of a line; a command, up to the mark that ends it, is one of them.
fn unbroken(line: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut begun = None;
    let mut at = 0;
    for word in line.split(' ') {
        let end = at + word.len();
        let command = word.trim_start_matches(['(', '"']) == called::name();
        let start = begun.unwrap_or(at);
        begun =
            (command || begun.is_some()).then_some(start).filter(|_| !word.ends_with([';', ',', ':', ')']));
        if begun.is_none() {
            found.push(&line[start..end]);
        }
        at = end + 1;
    }
    found.extend(begun.map(|start| &line[start..]));
    found
}

/// A line of a list: what is explained with the blanks after it, and what it means.
fn explained(line: &str) -> Option<(&str, &str)> {
    let indent = line.len() - line.trim_start().len();
    let gap = indent + line[indent..].find("  ")?;
    let meaning = line[gap..].trim_start();
    Some((&line[..line.len() - meaning.len()], meaning))
}

/// Appends words after `head`, and the further lines below the first word.
pub fn fill(out: &mut String, head: &str, words: &str, width: usize) {
    let indent = head.chars().count();
    let mut column = 0;
    for word in words.split_whitespace() {
        let length = word.chars().count();
        if column == 0 {
            out.push_str(head);
            column = indent;
        } else if column + 1 + length > width {
            out.push('\n');
            out.extend(std::iter::repeat_n(' ', indent));
            column = indent;
        } else {
            out.push(' ');
            column += 1;
        }
        out.push_str(word);
        column += length;
    }
    if column > 0 {
        out.push('\n');
    }
}

#[cfg(test)]
mod tests {
    use super::message;

    #[test]
    fn a_message_is_broken_between_words_and_never_within_a_command() {
        let text =
            "there is no account \"c-001\" at this daemon: mfa accounts list --customer c-001; or ask again";
        assert_eq!(
            message(text, 7, 40),
            "there is no account \"c-001\" at\nthis daemon:\nmfa accounts list --customer c-001; or\nask again"
        );
        let long = "list them: mfa accounts list --customer c-001 --columns account,balance";
        assert_eq!(message(long, 6, 40), long.replacen(": mfa", ":\nmfa", 1));
        for whole in
            ["", "short", "two\n  lines  with   places, the second of which is longer than it may be"]
        {
            assert_eq!(message(whole, 0, 40), whole);
        }
    }

    #[test]
    fn a_line_of_exactly_the_width_is_not_broken() {
        assert_eq!(message("ab cdé", 0, 6), "ab cdé");
        assert_eq!(message("ab cdé", 1, 6), "ab\ncdé");
        assert_eq!(message("abcdefghijkl x", 0, 6), "abcdefghijkl\nx");
    }
}
