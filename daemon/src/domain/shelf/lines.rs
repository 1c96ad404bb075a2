//! The texts in which a term is looked for, one record behind the other.

use crate::domain::blocks::Blocks;
use memchr::{memchr, memmem};

/// Ends the texts of a record, and parts them: no text of a record has such characters.
const END: u8 = b'\n';
const PART: char = '\u{1f}';
/// Lines that count no more and are always left.
const DEAD_LINES_MIN: usize = 10_000;

/// Texts as a shelf holds them.
pub fn texts<'t>(all: impl IntoIterator<Item = Option<&'t str>>) -> String {
    let mut lowered = String::new();
    for (number, text) in all.into_iter().flatten().enumerate() {
        if number > 0 {
            lowered.push(PART);
        }
        lower_into(&mut lowered, text);
    }
    lowered
}

/// A text in which the case of letters makes no difference. Each letter is changed by itself, so that a part
/// of a text is a part of it afterwards: a sigma has the same form wherever it stands.
pub fn lower(text: &str) -> String {
    let mut lowered = String::with_capacity(text.len());
    lower_into(&mut lowered, text);
    lowered
}

fn lower_into(lowered: &mut String, text: &str) {
    if text.is_ascii() {
        let start = lowered.len();
        lowered.push_str(text);
        lowered[start..].make_ascii_lowercase();
        return;
    }
    let letters = text.chars().flat_map(char::to_lowercase);
    lowered.extend(letters.map(|c| if c == 'ς' { 'σ' } else { c }));
}

/// A line for each slot.
#[derive(Debug, Default)]
pub(super) struct Lines {
    text: Vec<u8>,
    /// Where each line begins, and which slot it belongs to; a line that no longer counts belongs to none.
    lines: Vec<(usize, Option<u32>)>,
    dead_lines: usize,
    blocks: Blocks,
}

impl Lines {
    /// Bytes in memory.
    pub(super) fn bytes(&self) -> usize {
        let lines = self.lines.capacity() * size_of::<(usize, Option<u32>)>();
        self.text.capacity() + lines + self.blocks.bytes()
    }

    /// Whether it is worth while to compact them.
    pub(super) fn are_mostly_dead(&self) -> bool {
        self.dead_lines > DEAD_LINES_MIN.max(self.lines.len() / 2)
    }

    /// The texts of a line.
    pub(super) fn text(&self, line: usize) -> &[u8] {
        let rest = &self.text[self.lines[line].0..];
        &rest[..memchr(END, rest).unwrap_or(rest.len())]
    }

    /// Writes the line of a slot; its number.
    pub(super) fn write(&mut self, slot: u32, texts: &str) -> usize {
        let start = self.text.len();
        self.lines.push((start, Some(slot)));
        self.text.extend_from_slice(texts.as_bytes());
        self.text.push(END);
        self.blocks.push(&self.text[start..]);
        self.lines.len() - 1
    }

    /// Makes a line count no more.
    pub(super) fn strike(&mut self, line: usize) {
        self.lines[line].1 = None;
        self.dead_lines += 1;
    }

    /// Leaves out the lines that count no more, and says where those of slots are then.
    pub(super) fn compact(&mut self, mut moved: impl FnMut(u32, usize)) {
        let text = std::mem::take(&mut self.text);
        let lines = std::mem::take(&mut self.lines);
        self.dead_lines = 0;
        self.blocks = Blocks::default();
        self.text.reserve(text.len());
        for (start, slot) in lines {
            let Some(slot) = slot else { continue };
            let rest = &text[start..];
            let length = memchr(END, rest).map_or(rest.len(), |end| end + 1);
            moved(slot, self.lines.len());
            self.lines.push((self.text.len(), Some(slot)));
            self.text.extend_from_slice(&rest[..length]);
            self.blocks.push(&rest[..length]);
        }
    }

    /// The first line from `line` on that begins behind a place. Hits come in the order of the lines, most of
    /// them near the one before, so the steps grow from there.
    fn line_behind(&self, line: usize, place: usize) -> usize {
        let rest = &self.lines[line..];
        let mut upto = 1;
        while rest.get(upto - 1).is_some_and(|(start, _)| *start <= place) {
            upto *= 2;
        }
        let from = upto / 2;
        let rest = &rest[from..upto.min(rest.len())];
        line + from + rest.partition_point(|(start, _)| *start <= place)
    }

    /// The slots of which a text contains a term, as their lines follow each other. Only the blocks of lines
    /// are scanned that may contain it; of a term of less than four bytes, all of them.
    pub(super) fn containing(&self, term: &str) -> Vec<u32> {
        let mut found = Vec::new();
        if term.bytes().any(|byte| byte == END || byte == PART as u8) {
            return found;
        }
        let finder = memmem::Finder::new(term.as_bytes());
        let mut line = 0;
        for block in self.blocks.of(&[term], 0..self.text.len()) {
            let mut from = block.start;
            while let Some(at) = self.text.get(from..block.end).and_then(|rest| finder.find(rest)) {
                line = self.line_behind(line, from + at);
                found.extend(self.lines[line - 1].1);
                from = self.lines.get(line).map_or(self.text.len(), |(start, _)| *start);
            }
        }
        found
    }
}
