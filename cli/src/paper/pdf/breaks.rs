//! Where the pages of a paper end.

use crate::paper::layout::{Block, Line};

/// The lines of each page. A block stays on one page if it is no longer than one; what it goes under is
/// repeated where it begins a page.
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
