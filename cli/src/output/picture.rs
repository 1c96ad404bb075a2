//! A picture drawn in the terminal: two dots in each character, one above the other.

use super::Screen;
use std::fmt::Write as _;
use std::io::Cursor;

/// Most dots of a picture, which limits its memory.
const DOTS_MAX: usize = 64_000_000;
/// Columns where no terminal reports its width.
const COLUMNS_DEFAULT: u16 = 80;
/// Lines of the terminal that stay free for the prompt.
const LINES_FREE: usize = 2;
/// From dark to bright, without colour.
const RAMP: &[u8; 10] = b" .:-=+*#%@";

type Dot = [u8; 3];

/// A picture as rows of dots.
#[derive(Debug, PartialEq)]
struct Picture {
    width: usize,
    dots: Vec<Dot>,
}

/// How many colours there are.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Colours {
    None,
    Few,
    All,
}

/// The lines that show an image, or why it cannot be shown.
pub fn draw(image: &[u8], screen: &Screen) -> Result<String, String> {
    let colours = match std::env::var("COLORTERM").as_deref() {
        _ if !screen.stdout_colour => Colours::None,
        Ok("truecolor" | "24bit") => Colours::All,
        _ => Colours::Few,
    };
    let width = if screen.width == u16::MAX { COLUMNS_DEFAULT } else { screen.width };
    let height = screen.lines.saturating_sub(LINES_FREE).max(1).saturating_mul(2);
    Ok(decode(image)?.fit(width.into(), height).lines(colours))
}

fn decode(image: &[u8]) -> Result<Picture, String> {
    if image.starts_with(b"\x89PNG") { png(image) } else { jpeg(image) }
}

fn check(width: usize, height: usize) -> Result<(), String> {
    match width.checked_mul(height) {
        Some(1..=DOTS_MAX) => Ok(()),
        _ => Err(format!("it has {width} x {height} dots")),
    }
}

fn png(image: &[u8]) -> Result<Picture, String> {
    let mut decoder = png::Decoder::new(Cursor::new(image));
    decoder.set_transformations(png::Transformations::normalize_to_color8());
    let mut reader = decoder.read_info().map_err(|error| error.to_string())?;
    check(reader.info().width as usize, reader.info().height as usize)?;
    let mut bytes = vec![0; reader.output_buffer_size().ok_or("it is too large")?];
    let frame = reader.next_frame(&mut bytes).map_err(|error| error.to_string())?;
    let channels = frame.color_type.samples();
    let dots = bytes[..frame.buffer_size()].chunks_exact(channels).map(|dot| match *dot {
        [grey] => [grey; 3],
        [grey, alpha] => [over_white(grey, alpha); 3],
        [red, green, blue] => [red, green, blue],
        [red, green, blue, alpha, ..] => [red, green, blue].map(|part| over_white(part, alpha)),
        [] => [0; 3],
    });
    Ok(Picture { width: frame.width as usize, dots: dots.collect() })
}

/// What is transparent shows paper.
fn over_white(part: u8, alpha: u8) -> u8 {
    let (part, alpha) = (u16::from(part), u16::from(alpha));
    // At most 255 * 255 / 255.
    u8::try_from((part * alpha + 255 * (255 - alpha)) / 255).unwrap_or(255)
}

fn jpeg(image: &[u8]) -> Result<Picture, String> {
    use zune_jpeg::zune_core::{bytestream::ZCursor, colorspace::ColorSpace, options::DecoderOptions};
    let options = DecoderOptions::default().jpeg_set_out_colorspace(ColorSpace::RGB);
    let mut decoder = zune_jpeg::JpegDecoder::new_with_options(ZCursor::new(image), options);
    decoder.decode_headers().map_err(|error| error.to_string())?;
    let (width, height) = decoder.dimensions().unwrap_or_default();
    check(width, height)?;
    let bytes = decoder.decode().map_err(|error| error.to_string())?;
    let dots = bytes.chunks_exact(3).map(|dot| [dot[0], dot[1], dot[2]]).collect();
    Ok(Picture { width, dots })
}

impl Picture {
    fn height(&self) -> usize {
        self.dots.len() / self.width
    }

    /// The same picture with no more dots than these in either direction; each is the mean of what it covers.
    fn fit(&self, width_max: usize, height_max: usize) -> Self {
        let width = self.width;
        let height = self.height();
        // The narrower of the two decides.
        let by_width = width_max * height <= height_max.saturating_mul(width);
        let (most, full) = if by_width { (width_max, width) } else { (height_max, height) };
        let most = most.min(full);
        let (columns, rows) = ((width * most / full).max(1), (height * most / full).max(1));
        let span = |i: usize, parts: usize, full: usize| i * full / parts..((i + 1) * full).div_ceil(parts);
        let mut dots = Vec::with_capacity(columns * rows);
        for row in 0..rows {
            for column in 0..columns {
                let mut sums = [0_usize; 3];
                let mut count = 0;
                for y in span(row, rows, height) {
                    for x in span(column, columns, width) {
                        let dot = self.dots[y * width + x];
                        sums.iter_mut().zip(dot).for_each(|(sum, part)| *sum += usize::from(part));
                        count += 1;
                    }
                }
                // A mean of bytes is a byte.
                dots.push(sums.map(|sum| u8::try_from(sum / count).unwrap_or(255)));
            }
        }
        Self { width: columns, dots }
    }

    fn lines(&self, colours: Colours) -> String {
        let mut text = String::new();
        let rows: Vec<&[Dot]> = self.dots.chunks(self.width).collect();
        for pair in rows.chunks(2) {
            let mut before = None;
            for (column, upper) in pair[0].iter().enumerate() {
                let lower = pair.get(1).map(|row| row[column]);
                if colours == Colours::None {
                    text.push(shade(*upper, lower.unwrap_or(*upper)));
                    continue;
                }
                if before.replace((*upper, lower)) != Some((*upper, lower)) {
                    paint(&mut text, 38, *upper, colours);
                    if let Some(lower) = lower {
                        paint(&mut text, 48, lower, colours);
                    }
                }
                text.push('▀');
            }
            text.push_str(if colours == Colours::None { "\n" } else { "\x1b[0m\n" });
        }
        text
    }
}

fn shade(upper: Dot, lower: Dot) -> char {
    // The eye takes green for brighter than red, and red for brighter than blue.
    let light =
        |[red, green, blue]: Dot| (usize::from(red) * 3 + usize::from(green) * 6 + usize::from(blue)) / 10;
    let light = (light(upper) + light(lower)) / 2;
    char::from(RAMP[light * (RAMP.len() - 1) / 255])
}

/// Sets the colour in front (38) or behind (48).
fn paint(text: &mut String, place: u8, [red, green, blue]: Dot, colours: Colours) {
    // Writing to a string cannot fail.
    let _ = match colours {
        Colours::All => write!(text, "\x1b[{place};2;{red};{green};{blue}m"),
        _ => {
            let step = |part: u8| usize::from(part) * 5 / 255;
            let colour = 16 + 36 * step(red) + 6 * step(green) + step(blue);
            write!(text, "\x1b[{place};5;{colour}m")
        }
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows of grey dots.
    fn grey(rows: &[&[u8]]) -> Picture {
        Picture { width: rows[0].len(), dots: rows.concat().iter().map(|grey| [*grey; 3]).collect() }
    }

    #[test]
    fn a_picture_keeps_its_shape_and_never_grows() {
        let wide = Picture { width: 200, dots: vec![[9; 3]; 200 * 100] };
        for (space, size) in
            [((80, 48), (80, 40)), ((80, 20), (40, 20)), ((400, 400), (200, 100)), ((1, 1), (1, 1))]
        {
            let fitted = wide.fit(space.0, space.1);
            assert_eq!((fitted.width, fitted.height()), size, "{space:?}");
            assert!(fitted.dots.iter().all(|dot| *dot == [9; 3]));
        }
        let line = Picture { width: 1000, dots: vec![[1; 3]; 1000] };
        assert_eq!((line.fit(10, 10).width, line.fit(10, 10).height()), (10, 1));
    }

    #[test]
    fn a_dot_is_the_mean_of_what_it_covers() {
        let fitted = grey(&[&[0, 100], &[100, 200]]).fit(1, 1);
        assert_eq!(fitted, grey(&[&[100]]));
        assert_eq!(grey(&[&[0, 50, 100], &[0, 50, 100], &[0, 50, 100]]).fit(3, 9).dots.len(), 9);
    }

    #[test]
    fn two_dots_share_a_character() {
        let picture = grey(&[&[0, 255], &[0, 255], &[255, 255]]);
        assert_eq!(picture.lines(Colours::None), " @\n@@\n");
        let black = "\x1b[38;2;0;0;0m\x1b[48;2;0;0;0m▀";
        let white = "\x1b[38;2;255;255;255m\x1b[48;2;255;255;255m▀\x1b[0m\n";
        let last = "\x1b[38;2;255;255;255m▀▀\x1b[0m\n";
        assert_eq!(picture.lines(Colours::All), format!("{black}{white}{last}"));
        assert!(picture.lines(Colours::Few).starts_with("\x1b[38;5;16m\x1b[48;5;16m▀\x1b[38;5;231m"));
    }

    #[test]
    fn a_broken_picture_says_why() {
        for bytes in
            [&b""[..], b"x", b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff\xe0", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"]
        {
            assert!(!decode(bytes).unwrap_err().is_empty());
        }
        assert!(check(100_000, 100_000).is_err() && check(0, 5).is_err() && check(usize::MAX, 3).is_err());
    }
}
