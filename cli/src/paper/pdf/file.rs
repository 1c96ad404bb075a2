//! The objects of a PDF file.

use super::font::Used;
use super::pen::{BOLD, REGULAR};
use crate::failure::Outcome;
use miniz_oxide::deflate::compress_to_vec_zlib;
use pdf_writer::types::{CidFontType, FontFlags, SystemInfo, UnicodeCmap};
use pdf_writer::{Filter, Finish, Name, Pdf, Rect, Ref, Str, TextStr};

/// Compression level of streams.
const COMPRESSION: u8 = 9;
/// Of which a point has a hundred.
const HUNDREDTHS: u32 = 100;
/// How thick upright strokes are; it matters only to programs that do without the font.
const STROKE: f32 = 80.0;
const IDENTITY: SystemInfo<'static> =
    SystemInfo { registry: Str(b"Adobe"), ordering: Str(b"Identity"), supplement: 0 };

/// The numbers of a font's objects.
#[derive(Clone, Copy)]
struct FontRefs {
    font: Ref,
    letters: Ref,
    descriptor: Ref,
    data: Ref,
    characters: Ref,
}

/// The file of pages of a width, each with its height, that use these fonts.
pub fn written(
    title: &str,
    width: u32,
    contents: Vec<(u32, Vec<u8>)>,
    fonts: [&Used; 2],
) -> Outcome<Vec<u8>> {
    let mut next = Ref::new(1);
    let (catalog, info, tree) = (next.bump(), next.bump(), next.bump());
    let mut font = || FontRefs {
        font: next.bump(),
        letters: next.bump(),
        descriptor: next.bump(),
        data: next.bump(),
        characters: next.bump(),
    };
    let refs = [font(), font()];
    let pages: Vec<_> = contents.iter().map(|_| (next.bump(), next.bump())).collect();
    let mut pdf = Pdf::new();
    let mut root = pdf.catalog(catalog);
    root.pages(tree).lang(TextStr("en"));
    root.viewer_preferences().display_doc_title(true);
    root.finish();
    pdf.document_info(info).title(TextStr(title)).creator(TextStr("mfa"));
    let count = i32::try_from(pages.len()).unwrap_or(i32::MAX);
    pdf.pages(tree).kids(pages.iter().map(|(page, _)| *page)).count(count);
    for ((page, content), (height, drawn)) in pages.iter().zip(contents) {
        let mut page = pdf.page(*page);
        page.parent(tree).media_box(Rect::new(0.0, 0.0, points(width), points(height))).contents(*content);
        page.resources().fonts().pair(REGULAR, refs[0].font).pair(BOLD, refs[1].font);
        page.finish();
        let drawn = compress_to_vec_zlib(&drawn, COMPRESSION);
        pdf.stream(*content, &drawn).filter(Filter::FlateDecode);
    }
    for (refs, used) in refs.into_iter().zip(fonts) {
        embed(&mut pdf, refs, used)?;
    }
    Ok(pdf.finish())
}

/// Writes a font: which letters it has, how wide they are, and which characters they represent.
fn embed(pdf: &mut Pdf, refs: FontRefs, used: &Used) -> Outcome {
    let name = format!("{}+{}", tag(used), used.font.name);
    let name = Name(name.as_bytes());
    let mut font = pdf.type0_font(refs.font);
    font.base_font(name).encoding_predefined(Name(b"Identity-H"));
    font.descendant_font(refs.letters).to_unicode(refs.characters);
    font.finish();
    let mut letters = pdf.cid_font(refs.letters);
    letters.subtype(CidFontType::Type2).base_font(name).system_info(IDENTITY);
    letters.font_descriptor(refs.descriptor).default_width(0.0).cid_to_gid_map_predefined(Name(b"Identity"));
    // Widths are below 2^16, so that each is exact.
    letters.widths().consecutive(0, used.widths().into_iter().map(|width| width as f32));
    letters.finish();
    let face = &used.font.face;
    let corners = face.global_bounding_box();
    let corners = Rect::new(
        f32::from(corners.x_min),
        f32::from(corners.y_min),
        f32::from(corners.x_max),
        f32::from(corners.y_max),
    );
    let mut descriptor = pdf.font_descriptor(refs.descriptor);
    descriptor.name(name).flags(FontFlags::SYMBOLIC).bbox(corners).italic_angle(0.0).stem_v(STROKE);
    descriptor.ascent(f32::from(face.ascender())).descent(f32::from(face.descender()));
    descriptor.cap_height(f32::from(face.capital_height().unwrap_or_default())).font_file2(refs.data);
    descriptor.finish();
    let data = used.subset()?;
    let packed = compress_to_vec_zlib(&data, COMPRESSION);
    let mut stream = pdf.stream(refs.data, &packed);
    stream.pair(Name(b"Length1"), i32::try_from(data.len()).unwrap_or(i32::MAX));
    stream.filter(Filter::FlateDecode);
    stream.finish();
    let mut map = UnicodeCmap::<u16>::new(Name(b"Characters"), IDENTITY);
    used.characters.iter().for_each(|(number, character)| map.pair(*number, *character));
    let map = compress_to_vec_zlib(map.finish().as_slice(), COMPRESSION);
    pdf.cmap(refs.characters, &map).filter(Filter::FlateDecode);
    Ok(())
}

/// Six capitals that distinguish subsets of one font, made of the characters in it.
fn tag(used: &Used) -> String {
    let mix = |mixed: u32, character: &char| (mixed ^ u32::from(*character)).wrapping_mul(16_777_619);
    let mut mixed = used.characters.values().fold(2_166_136_261, mix);
    let mut capital = || {
        let letter = u8::try_from(mixed % 26).unwrap_or_default();
        mixed /= 26;
        char::from(b'A' + letter)
    };
    std::iter::repeat_with(&mut capital).take(6).collect()
}

fn points(hundredths: u32) -> f32 {
    (hundredths / HUNDREDTHS) as f32
}
