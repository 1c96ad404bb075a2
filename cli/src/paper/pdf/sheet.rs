//! What a page of each size is like, in hundredths of a point.

use super::font::Fonts;
use crate::paper::Size;
use crate::paper::lines::{Line, Ruler, Style};

/// What a page of a size is like. Pages have whole points on each side, as programs that print have them.
#[derive(Debug, Clone, Copy)]
pub struct Sheet {
    /// From edge to edge.
    pub width: u32,
    /// None for a roll, which is cut where its text ends.
    pub height: Option<u32>,
    pub margin: u32,
    plain: u32,
    title: u32,
    fine: u32,
}

/// The longest page that every reader of PDF takes.
pub const LONGEST: u32 = 14_400 * POINT;
/// A point.
const POINT: u32 = 100;

impl Sheet {
    pub fn of(size: Size) -> Self {
        let of = |(width, height), margin, (plain, title, fine)| Self {
            width,
            height,
            margin,
            plain,
            title,
            fine,
        };
        match size {
            Size::A4 => of((59_500, Some(84_200)), 5_100, (950, 1_500, 800)),
            Size::A5 => of((42_000, Some(59_500)), 3_400, (800, 1_200, 700)),
            Size::Roll => of((22_700, None), 1_134, (850, 1_100, 750)),
        }
    }

    /// The size of the letters of a style.
    pub fn letters(&self, style: Style) -> u32 {
        match style {
            Style::Plain | Style::Strong => self.plain,
            Style::Title => self.title,
            Style::Fine => self.fine,
        }
    }

    pub fn tall(&self, line: &Line) -> u32 {
        match line {
            Line::Texts(pieces) => {
                let letters = pieces.iter().map(|piece| self.letters(piece.style)).max();
                letters.unwrap_or(self.plain) * 7 / 5
            }
            Line::Signature(..) => self.plain * 2,
            Line::Rule => self.plain / 2,
            Line::Space => self.plain,
        }
    }

    /// The height of lines below each other.
    pub fn all_tall(&self, lines: &[Line]) -> u32 {
        lines.iter().map(|line| self.tall(line)).sum()
    }

    /// The height of the header on the second and each further page.
    pub fn running(&self) -> u32 {
        self.fine * 7 / 5 + self.plain * 3 / 2
    }

    /// The height of a page for the paper itself; below it are a rule, the foot and the number of the page.
    pub fn room(&self, height: u32, foot: &[Line]) -> u32 {
        (height - 2 * self.margin)
            .saturating_sub(self.all_tall(foot) + self.fine * 7 / 5 + self.plain * 3 / 2)
    }

    /// The height of a roll with these lines, in whole points.
    pub fn as_long_as(&self, lines: &[Line]) -> u32 {
        (self.all_tall(lines) + 2 * self.margin).next_multiple_of(POINT)
    }
}

/// Measures texts in the letters of a sheet.
pub struct Letters<'a> {
    pub fonts: &'a Fonts,
    /// Their sizes.
    pub sheet: Sheet,
}

impl Ruler for Letters<'_> {
    fn line(&self) -> u32 {
        self.sheet.width - 2 * self.sheet.margin
    }

    fn text(&self, text: &str, style: Style) -> u32 {
        let font = if is_bold(style) { &self.fonts.bold } else { &self.fonts.regular };
        font.width(text, self.sheet.letters(style))
    }

    fn gap(&self) -> u32 {
        self.sheet.plain
    }

    fn narrow(&self) -> u32 {
        self.sheet.plain * 6
    }
}

/// Whether a style has bold letters.
pub fn is_bold(style: Style) -> bool {
    matches!(style, Style::Strong | Style::Title)
}
