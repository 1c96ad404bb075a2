//! Where each text goes on a paper.

use super::letterhead::Letterhead;
use super::lines::{Block, Line, Piece, Ruler, Style, left, total};
use super::{Paper, Part, table};

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
