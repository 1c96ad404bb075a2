//! A paper as lines of text: one long page, for printers that cut their own.

use super::Paper;
use super::layout::{footer, lay_out};
use super::lines::{Line, Piece, Ruler, Style};
use unicode_width::UnicodeWidthStr;

/// Columns of letters of one width.
pub struct Columns(pub u32);

/// What ends words in a table of text, and where they are wrapped.
const GAP: u32 = 2;
const NARROW: u32 = 12;

impl Ruler for Columns {
    fn line(&self) -> u32 {
        self.0
    }

    fn text(&self, text: &str, _: Style) -> u32 {
        u32::try_from(text.width()).unwrap_or(u32::MAX / 4)
    }

    fn gap(&self) -> u32 {
        GAP
    }

    fn narrow(&self) -> u32 {
        NARROW
    }
}

/// A paper as lines of so many columns.
pub fn lines(paper: &Paper, columns: u32) -> String {
    let ruler = Columns(columns);
    let mut lines: Vec<_> = lay_out(paper, &ruler).into_iter().flat_map(|block| block.lines).collect();
    let foot = footer(&paper.letterhead, &ruler);
    if !foot.is_empty() {
        lines.extend([Line::Space, Line::Rule]);
        lines.extend(foot);
    }
    lines.iter().map(|line| drawn(line, &ruler).trim_end().to_owned() + "\n").collect()
}

fn drawn(line: &Line, ruler: &Columns) -> String {
    let fill = |text: &mut String, c: char, end: u32| {
        let width = ruler.text(text, Style::Plain);
        text.extend(std::iter::repeat_n(c, end.saturating_sub(width) as usize));
    };
    let mut text = String::new();
    let texts = |text: &mut String, pieces: &[Piece]| {
        for piece in pieces {
            fill(text, ' ', piece.x);
            text.push_str(&piece.text);
        }
    };
    match line {
        Line::Texts(pieces) => texts(&mut text, pieces),
        Line::Rule => fill(&mut text, '-', ruler.0),
        Line::Signature(pieces, rules) => {
            for (piece, (start, end)) in pieces.iter().zip(rules) {
                texts(&mut text, std::slice::from_ref(piece));
                fill(&mut text, ' ', *start);
                fill(&mut text, '_', *end);
            }
        }
        Line::Space => {}
    }
    text
}
