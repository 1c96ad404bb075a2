//! Where the pages of a paper end.

use crate::paper::lines::{Block, Line};

/// The lines of each page. A block stays on one page if it is no longer than one; its heading is repeated if
/// it begins a page.
pub fn broken(
    blocks: &[Block],
    height: &dyn Fn(&Line) -> u32,
    room: &dyn Fn(usize) -> u32,
) -> Vec<Vec<Line>> {
    let tall = |lines: &[Line]| lines.iter().map(height).sum::<u32>();
    let mut pages: Vec<Vec<Line>> = vec![Vec::new()];
    let mut used = 0;
    for block in blocks {
        let page = pages.len() - 1;
        let begins = pages[page].is_empty();
        if !begins && used + tall(&block.lines) > room(page) {
            pages.push(Vec::new());
            used = 0;
        }
        let page = pages.len() - 1;
        if pages[page].is_empty() {
            if block.lines.iter().all(|line| *line == Line::Space) {
                continue;
            }
            if let Some(head) = &block.head {
                used += tall(head);
                pages[page].extend(head.iter().cloned());
            }
        }
        for line in &block.lines {
            // Only where the block alone is longer than a page.
            if used + height(line) > room(pages.len() - 1) && !pages[pages.len() - 1].is_empty() {
                pages.push(Vec::new());
                used = 0;
            }
            used += height(line);
            let page = pages.len() - 1;
            pages[page].push(line.clone());
        }
    }
    if pages.len() > 1 && pages.last().is_some_and(Vec::is_empty) {
        pages.pop();
    }
    pages
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::paper::lines::{Piece, Style};
    use std::rc::Rc;

    fn line(text: &str) -> Line {
        Line::Texts(vec![Piece { x: 0, text: text.to_owned(), style: Style::Plain }])
    }

    fn text(line: &Line) -> String {
        match line {
            Line::Texts(pieces) => pieces[0].text.clone(),
            other => format!("{other:?}"),
        }
    }

    /// The texts of pages of three lines.
    fn pages(blocks: &[Block]) -> Vec<String> {
        let broken = broken(blocks, &|_| 1, &|_| 3);
        broken.iter().map(|page| page.iter().map(text).collect::<Vec<_>>().join(" ")).collect()
    }

    #[test]
    fn a_block_stays_on_one_page_and_its_head_is_repeated() {
        let head = Some(Rc::new(vec![line("head")]));
        let block = |texts: &[&str]| Block {
            lines: texts.iter().map(|text| line(text)).collect(),
            head: head.clone(),
        };
        let first = Block::of(vec![line("head"), line("a")]);
        assert_eq!(pages(&[first, block(&["b1", "b2"]), block(&["c"])]), ["head a", "head b1 b2", "head c"]);
    }

    #[test]
    fn a_block_longer_than_a_page_goes_on_and_loses_no_line() {
        let long = Block::of(["a", "b", "c", "d", "e", "f", "g"].map(line).to_vec());
        assert_eq!(pages(&[Block::of(vec![line("x")]), long]), ["x", "a b c", "d e f", "g"]);
        // Where not even a line has room, each page takes one.
        let two = [Block::of(vec![line("a"), line("b")])];
        assert_eq!(broken(&two, &|_| 5, &|_| 3).len(), 2);
    }

    #[test]
    fn space_is_left_out_where_a_page_begins() {
        let blocks =
            [vec![line("a"), line("b"), line("c")], vec![Line::Space], vec![line("d")]].map(Block::of);
        assert_eq!(pages(&blocks), ["a b c", "d"]);
        assert_eq!(pages(&[]), [""]);
    }
}
