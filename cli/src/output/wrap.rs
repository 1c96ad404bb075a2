//! Help texts in the width of a terminal.
//!
//! In such a text a line that begins with a space is not joined with others: a command line, or a word and,
//! after two spaces, what it means. Consecutive lines that begin with a letter are one paragraph.

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
