//! Texts and lines, and how texts are broken into lines. All measures are those of a [`Ruler`]: columns of a
//! text, or hundredths of a point of a page.

use std::rc::Rc;

/// How a text looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    /// As most texts.
    Plain,
    /// Names of columns, sums.
    Strong,
    /// What a paper is.
    Title,
    /// Text at the edges of a page.
    Fine,
}

/// What texts measure on one kind of paper.
pub trait Ruler {
    /// The width of a line.
    fn line(&self) -> u32;
    /// The width of a text.
    fn text(&self, text: &str, style: Style) -> u32;
    /// The space between two columns.
    fn gap(&self) -> u32;
    /// The least width of a column of words that are wrapped.
    fn narrow(&self) -> u32;
}

/// A text and where it begins.
#[derive(Debug, Clone, PartialEq)]
pub struct Piece {
    pub x: u32,
    pub text: String,
    pub style: Style,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Line {
    /// Texts side by side.
    Texts(Vec<Piece>),
    /// A rule from edge to edge.
    Rule,
    /// A line to sign on, from one place to another.
    Signature(Vec<Piece>, Vec<(u32, u32)>),
    Space,
}

/// Lines that stay on one page, and the lines that go above them where they begin one.
#[derive(Debug, Clone)]
pub struct Block {
    pub lines: Vec<Line>,
    pub head: Option<Rc<Vec<Line>>>,
}

impl Block {
    /// Lines that stay together.
    pub fn of(lines: Vec<Line>) -> Self {
        Self { lines, head: None }
    }
}

/// A name, and an amount on the right side: beside it, or below it where both do not fit.
pub fn total(name: &str, value: &str, x: u32, style: Style, ruler: &dyn Ruler) -> Vec<Line> {
    let line = ruler.line();
    let wide = ruler.text(value, style);
    let beside = line.saturating_sub(x + wide + ruler.gap());
    if wide > line {
        return [left(name, x, line - x, style, ruler), left(value, 0, line, style, ruler)].concat();
    }
    let amount = Piece { x: line - wide, text: value.to_owned(), style };
    if beside >= ruler.narrow().min(ruler.text(name, style)) {
        let mut lines = left(name, x, beside, style, ruler);
        if let Some(Line::Texts(pieces)) = lines.last_mut() {
            pieces.push(amount);
        }
        return lines;
    }
    let mut lines = left(name, x, line.saturating_sub(x), style, ruler);
    lines.push(Line::Texts(vec![amount]));
    lines
}

/// Lines of a text that begin at a place and are at most so wide.
pub fn left(text: &str, x: u32, width: u32, style: Style, ruler: &dyn Ruler) -> Vec<Line> {
    let line = |text| Line::Texts(vec![Piece { x, text, style }]);
    wrapped(text, width, style, ruler).into_iter().map(line).collect()
}

/// The lines of a text that are at most so wide; at least one. Only a word that is wider is broken.
pub fn wrapped(text: &str, width: u32, style: Style, ruler: &dyn Ruler) -> Vec<String> {
    let mut lines = Vec::new();
    let mut line = String::new();
    for word in text.split(' ') {
        let longer = if line.is_empty() { word.to_owned() } else { format!("{line} {word}") };
        if ruler.text(&longer, style) <= width {
            line = longer;
            continue;
        }
        if !line.is_empty() {
            lines.push(std::mem::take(&mut line));
        }
        for character in word.chars() {
            line.push(character);
            if ruler.text(&line, style) > width && line.chars().count() > 1 {
                line.pop();
                lines.push(std::mem::replace(&mut line, character.to_string()));
            }
        }
    }
    if !line.is_empty() || lines.is_empty() {
        lines.push(line);
    }
    lines
}
