//! Draws the lines of a paper on its pages.

use super::font::Used;
use super::sheet::{Letters, is_bold};
use crate::paper::lines::{Line, Piece, Ruler, Style};
use pdf_writer::{Content, Name, Str};

/// The fonts as pages name them.
pub const REGULAR: Name<'static> = Name(b"R");
pub const BOLD: Name<'static> = Name(b"B");

/// One hundredth of a point.
const UNIT: f32 = 0.01;
/// How thick a rule is.
const THICK: f32 = 40.0;

/// Draws on one page after the other.
pub struct Pen<'a> {
    ruler: &'a Letters<'a>,
    height: u32,
    /// The letters that were drawn.
    pub regular: Used<'a>,
    pub bold: Used<'a>,
    content: Content,
    /// How far below the upper edge the next line begins.
    y: u32,
}

impl<'a> Pen<'a> {
    /// For the pages of a paper.
    pub fn new(ruler: &'a Letters<'a>, regular: Used<'a>, bold: Used<'a>) -> Self {
        Self { ruler, height: 0, regular, bold, content: Content::new(), y: 0 }
    }

    /// Begins a page of a height.
    pub fn begin(&mut self, height: u32) {
        self.height = height;
        self.content = Content::new();
        self.content.transform([UNIT, 0.0, 0.0, UNIT, 0.0, 0.0]).set_line_width(THICK);
        self.y = self.ruler.sheet.margin;
    }

    /// Ends a page, and returns what was drawn.
    pub fn end(&mut self) -> Vec<u8> {
        std::mem::replace(&mut self.content, Content::new()).finish().into_vec()
    }

    /// Draws above a page what it is a page of.
    pub fn running(&mut self, institution: &str, headline: &str) {
        let top = self.y;
        let line = self.ruler.line();
        let piece = |x, text: &str| Piece { x, text: text.to_owned(), style: Style::Fine };
        let mut pieces = vec![piece(0, headline)];
        let wide = |text: &str| self.ruler.text(text, Style::Fine);
        if wide(headline) + wide(institution) + self.ruler.gap() <= line {
            pieces.push(piece(line - wide(institution), institution));
        }
        self.line(&Line::Texts(pieces));
        self.line(&Line::Rule);
        self.y = top + self.ruler.sheet.running();
    }

    /// Draws at the lower edge of a page its foot, and which page it is.
    pub fn foot(&mut self, lines: &[Line], number: &str) {
        let (sheet, top) = (self.ruler.sheet, self.y);
        let x = self.ruler.line().saturating_sub(self.ruler.text(number, Style::Fine));
        let number = Line::Texts(vec![Piece { x, text: number.to_owned(), style: Style::Fine }]);
        let tall = sheet.all_tall(lines) + sheet.tall(&number) + sheet.tall(&Line::Rule);
        self.y = self.height.saturating_sub(sheet.margin + tall);
        self.line(&Line::Rule);
        lines.iter().for_each(|line| self.line(line));
        self.line(&number);
        self.y = top;
    }

    /// Draws a line, and goes below it.
    pub fn line(&mut self, line: &Line) {
        let tall = self.ruler.sheet.tall(line);
        match line {
            Line::Texts(pieces) => pieces.iter().for_each(|piece| self.piece(piece, tall)),
            Line::Rule => self.rule(0, self.ruler.line(), tall / 2),
            Line::Signature(pieces, rules) => {
                pieces.iter().for_each(|piece| self.piece(piece, tall));
                rules.iter().for_each(|(start, end)| self.rule(*start, *end, tall * 5 / 7));
            }
            Line::Space => {}
        }
        self.y += tall;
    }

    /// Draws a text on the base line of a line of a height.
    fn piece(&mut self, piece: &Piece, tall: u32) {
        let size = self.ruler.sheet.letters(piece.style);
        let (x, y) = self.place(piece.x, tall * 5 / 7);
        let (name, used) =
            if is_bold(piece.style) { (BOLD, &mut self.bold) } else { (REGULAR, &mut self.regular) };
        let letters = used.encoded(&piece.text);
        self.content.begin_text().set_font(name, size as f32).next_line(x, y);
        self.content.show(Str(&letters)).end_text();
    }

    fn rule(&mut self, start: u32, end: u32, below: u32) {
        let ((left, y), (right, _)) = (self.place(start, below), self.place(end, below));
        self.content.move_to(left, y).line_to(right, y).stroke();
    }

    /// A place of the page; its origin is the lower left corner.
    fn place(&self, x: u32, below: u32) -> (f32, f32) {
        let y = self.height.saturating_sub(self.y + below);
        // Whole numbers of this size are exact.
        ((self.ruler.sheet.margin + x) as f32, y as f32)
    }
}
