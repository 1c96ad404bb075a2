//! Where each text goes on a paper. All measures are those of a [`Ruler`]: columns of a text, or hundredths
//! of a point of a page.

use super::letterhead::Letterhead;
use super::{Paper, Part, table};
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

/// A line of a paper.
#[derive(Debug, Clone, PartialEq)]
pub enum Line {
    /// Texts side by side.
    Texts(Vec<Piece>),
    /// A rule from edge to edge.
    Rule,
    /// A line to sign on, from one place to another.
    Signature(Vec<Piece>, Vec<(u32, u32)>),
    /// Some space.
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

/// The place of each text of a paper, all but its footer.
pub fn lay_out(paper: &Paper, ruler: &dyn Ruler) -> Vec<Block> {
    let mut blocks = vec![Block::of(heading(paper, ruler))];
    for part in &paper.parts {
        blocks.push(Block::of(vec![Line::Space]));
        match part {
            Part::Facts(facts) => blocks.extend(pairs(facts, ruler)),
            Part::Table(shown) => blocks.extend(table::lay_out(shown, ruler)),
            Part::Totals(totals) => {
                let lines =
                    totals.iter().flat_map(|(name, value)| total(name, value, 0, Style::Strong, ruler));
                blocks.push(Block::of(lines.collect()));
            }
            Part::Signatures(names) => blocks.push(Block::of(signatures(names, ruler))),
        }
    }
    blocks
}

/// The lines at the foot.
pub fn footer(letterhead: &Letterhead, ruler: &dyn Ruler) -> Vec<Line> {
    letterhead.footer.iter().flat_map(|line| left(line, 0, ruler.line(), Style::Fine, ruler)).collect()
}

/// The institution, and what the paper is.
fn heading(paper: &Paper, ruler: &dyn Ruler) -> Vec<Line> {
    let width = ruler.line();
    let Letterhead { institution, lines: letterhead, .. } = &paper.letterhead;
    let mut lines = Vec::new();
    let mut add = |text: &String, style| {
        if !text.is_empty() {
            lines.extend(left(text, 0, width, style, ruler));
        }
    };
    add(institution, Style::Strong);
    letterhead.iter().for_each(|line| add(line, Style::Plain));
    add(&paper.office, Style::Plain);
    if !lines.is_empty() {
        lines.push(Line::Space);
    }
    let mark = paper.mark.unwrap_or_default();
    let marked = ruler.text(mark, Style::Title);
    let room = if mark.is_empty() { width } else { width.saturating_sub(marked + ruler.gap()) };
    let mut title = left(&paper.headline(), 0, room, Style::Title, ruler);
    if let Some(Line::Texts(pieces)) = title.first_mut().filter(|_| !mark.is_empty()) {
        pieces.push(Piece { x: width.saturating_sub(marked), text: mark.to_owned(), style: Style::Title });
    }
    lines.extend(title);
    lines
}

/// Names, with their values beside them.
fn pairs(facts: &[(&'static str, String)], ruler: &dyn Ruler) -> Vec<Block> {
    let widest = facts.iter().map(|(name, _)| ruler.text(name, Style::Plain)).max().unwrap_or_default();
    let x = widest + ruler.gap();
    let line = ruler.line();
    let room = line.saturating_sub(x);
    let pair = |(name, value): &(&'static str, String)| {
        let name = Piece { x: 0, text: (*name).to_owned(), style: Style::Plain };
        let longest = value.split(' ').map(|word| ruler.text(word, Style::Plain)).max().unwrap_or_default();
        if longest > room && longest <= line {
            // A word such as a reference is read and typed as a whole, so it goes below its name.
            let below = left(value, line - longest, longest, Style::Plain, ruler);
            return Block::of([vec![Line::Texts(vec![name])], below].concat());
        }
        let mut lines = left(value, x, room, Style::Plain, ruler);
        if let Some(Line::Texts(pieces)) = lines.first_mut() {
            pieces.insert(0, name);
        }
        Block::of(lines)
    };
    facts.iter().map(pair).collect()
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

/// Lines to sign on: side by side if they fit.
fn signatures(names: &[&'static str], ruler: &dyn Ruler) -> Vec<Line> {
    let line = ruler.line();
    let gap = ruler.gap();
    let each = line / u32::try_from(names.len()).unwrap_or(1).max(1);
    let wide = |name: &str| ruler.text(name, Style::Plain) + gap;
    let fits = names.iter().all(|name| each >= wide(name) + 2 * ruler.narrow());
    let mut lines = vec![Line::Space];
    let mut pieces = Vec::new();
    let mut rules = Vec::new();
    let mut x = 0;
    let room = if fits { each } else { line };
    for name in names {
        pieces.push(Piece { x, text: (*name).to_owned(), style: Style::Plain });
        rules.push((x + wide(name), x + room - gap));
        if fits {
            x += each;
            continue;
        }
        lines.push(Line::Signature(std::mem::take(&mut pieces), std::mem::take(&mut rules)));
        lines.push(Line::Space);
    }
    if fits {
        lines.push(Line::Signature(pieces, rules));
    }
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
