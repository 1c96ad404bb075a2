//! Guides, which are written in Markdown, as texts for a terminal.

use super::wrap::fill;
use crate::output::called;

/// The text of a guide. No line is longer than `width` but those of its blocks, which are copied whole.
pub fn plain(guide: &str, width: u16) -> String {
    let width = usize::from(width);
    let mut out = String::new();
    let mut paragraph = String::new();
    let mut block = false;
    for line in guide.lines() {
        let stands_alone = ["```", "#", "|", "<!--", "- "].iter().any(|mark| line.starts_with(mark));
        if block || line.is_empty() || stands_alone {
            flush(&mut out, &mut paragraph, width);
        }
        if line.starts_with("```") {
            block = !block;
        } else if block {
            out.push_str(format!("  {line}").trim_end());
            out.push('\n');
        } else if line.is_empty() {
            if !out.ends_with("\n\n") {
                out.push('\n');
            }
        } else if let Some(heading) = line.strip_prefix('#') {
            fill(&mut out, "", &words(heading.trim_start_matches('#')).to_uppercase(), width);
        } else if let Some(row) = line.strip_prefix('|') {
            table_row(&mut out, row, width);
        } else if !line.starts_with("<!--") {
            paragraph.push_str(line);
            paragraph.push(' ');
        }
    }
    flush(&mut out, &mut paragraph, width);
    out
}

/// Appends what has gathered: a paragraph, or a point of a list.
fn flush(out: &mut String, paragraph: &mut String, width: usize) {
    let text = words(&std::mem::take(paragraph));
    match text.strip_prefix("- ") {
        Some(point) => fill(out, "- ", point, width),
        None => fill(out, "", &text, width),
    }
}

/// The first cell of a row, and below it the others; a row that only rules or is empty is left out.
fn table_row(out: &mut String, row: &str, width: usize) {
    let cells: Vec<_> = row.trim_end_matches('|').split(" | ").map(str::trim).collect();
    if row.starts_with("--") || cells[1..].iter().all(|cell| cell.is_empty()) {
        return;
    }
    for (cell, indent) in cells.iter().zip(std::iter::once("  ").chain(std::iter::repeat("      "))) {
        fill(out, indent, &words(cell), width);
    }
}

/// A text without the marks of Markdown; a link to another guide says how to read it here.
fn words(text: &str) -> String {
    let text = text.replace(['`'], "").replace("**", "");
    let mut out = String::new();
    let mut rest = text.as_str();
    while let Some((before, name, target, after)) = link(rest) {
        out.push_str(before);
        out.push_str(name);
        match target.strip_suffix(".md") {
            Some(guide) if !guide.contains('/') => {
                out.push_str(&format!(" ({} help {guide})", called::name()))
            }
            _ if target.starts_with("https:") => out.push_str(&format!(" ({target})")),
            _ => {}
        }
        rest = after;
    }
    out + rest
}

/// The first link of a text: the text before it, its words, its target, and the text after it.
fn link(text: &str) -> Option<(&str, &str, &str, &str)> {
    let middle = text.find("](")?;
    let start = text[..middle].rfind('[')?;
    let end = middle + text[middle..].find(')')?;
    Some((&text[..start], &text[start + 1..middle], &text[middle + 2..end], &text[end + 1..]))
}

#[cfg(test)]
mod tests {
    use super::plain;

    #[test]
    fn a_guide_reads_like_a_text_and_its_blocks_stay_as_they_are() {
        let guide = "# A day\n\nOpen `desk-1`, see\n[the rest](month-end.md).\n\n<!-- file: a -->\n```sh\n# no   heading\n\
                     ```\n\n| to | |\n|---|---|\n| close it | `mfa teller close` |\n\n- one\n- [two](https://e.org)\n";
        let text = "A DAY\n\nOpen desk-1, see the rest (mfa help\nmonth-end).\n\n  # no   heading\n\n  close it\n      \
                    mfa teller close\n\n- one\n- two (https://e.org)\n";
        assert_eq!(plain(guide, 36), text);
    }
}
