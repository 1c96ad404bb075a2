//! The words of a gateway, made fit to be passed on: no secret, no control characters, not too long.

use crate::domain::gateway::WORDS_MAX;
use crate::secret::Secret;
use base64::Engine;
use base64::engine::general_purpose::{GeneralPurpose, STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use mfa_shared::identifier::is_control;
use std::ops::Range;
use zeroize::Zeroizing;

/// Shown in place of a secret.
const COVER: &str = "***";
/// A shorter piece of Base64 occurs in other words by chance.
const PIECE_MIN: usize = 4;
/// Longest way to write a character of HTML by its number.
const ENTITY_MAX: usize = 12;
/// How often escapes are undone: an answer may be a text within JSON within JSON.
const ESCAPED_MAX: usize = 3;

/// Covers a secret wherever a gateway repeats it.
#[derive(Default)]
pub struct Mask(Vec<Zeroizing<Vec<u8>>>);

impl Mask {
    /// Covers the secret in every form in which it is sent.
    pub fn new(name: &str, secret: &Secret) -> Self {
        let clear = secret.expose();
        if clear.is_empty() {
            return Self::default();
        }
        // A form has a plus for a space.
        let mut forms = vec![clear.to_owned(), clear.replace(' ', "+")];
        for code in [&STANDARD_NO_PAD, &URL_SAFE_NO_PAD] {
            // A short secret has too little Base64 of its own, so what it is sent in is covered whole, too.
            forms.push(code.encode(clear));
            forms.push(code.encode(format!("\0{name}\0{clear}")));
            forms.push(code.encode(format!("{name}:{clear}")));
            forms.extend((0..3).map(|before| piece(code, before, clear)).filter(|p| p.len() >= PIECE_MIN));
        }
        let forms = forms.into_iter().map(Zeroizing::new);
        let forms = forms.map(|form| Zeroizing::new(form.bytes().filter(|byte| !is_space(*byte)).collect()));
        Self(forms.filter(|form: &Zeroizing<Vec<u8>>| !form.is_empty()).collect())
    }

    /// The words as they may be passed on.
    pub fn clean(&self, words: &str) -> String {
        let mut covered = vec![false; words.len()];
        // The secret may be escaped, or broken into the lines of a reply.
        let mut copy = Traced::of(words);
        for _ in 0..=ESCAPED_MAX {
            copy.0.retain(|(byte, _)| !is_space(*byte));
            self.find(&copy, |range| covered[range].fill(true));
            copy = copy.undone();
        }
        let mut out = String::new();
        let mut before = false;
        for (at, c) in words.char_indices() {
            match (covered[at], before) {
                (true, false) => out.push_str(COVER),
                (true, true) => {}
                (false, _) => out.push(if is_control(c) { ' ' } else { c }),
            }
            before = covered[at];
        }
        cut(out.trim())
    }

    /// Finds where the secret comes from.
    fn find(&self, copy: &Traced, mut found: impl FnMut(Range<usize>)) {
        let bytes: Vec<u8> = copy.0.iter().map(|(byte, _)| *byte).collect();
        for form in &self.0 {
            for start in (0..bytes.len()).filter(|start| bytes[*start..].starts_with(form)) {
                // What fills up the Base64 of a secret belongs to it.
                let end = start + form.len();
                let filling = bytes[end..].iter().take_while(|byte| **byte == b'=').count();
                found(copy.place(start..end + filling));
            }
        }
    }
}

fn is_space(byte: u8) -> bool {
    byte.is_ascii_whitespace() || byte.is_ascii_control()
}

/// The bytes of a text, each with the place where it comes from.
struct Traced(Vec<(u8, Range<usize>)>);

impl Traced {
    fn of(text: &str) -> Self {
        Self(text.bytes().enumerate().map(|(at, byte)| (byte, at..at + 1)).collect())
    }

    /// Where bytes, at least one, come from.
    fn place(&self, bytes: Range<usize>) -> Range<usize> {
        self.0[bytes.start].1.start..self.0[bytes.end - 1].1.end
    }

    /// The same with one level of escapes undone.
    fn undone(&self) -> Self {
        let mut undone = Vec::with_capacity(self.0.len());
        let bytes: Vec<u8> = self.0.iter().map(|(byte, _)| *byte).collect();
        let mut at = 0;
        while at < bytes.len() {
            if let Some((means, length)) = escape(&bytes[at..]) {
                let place = self.place(at..at + length);
                undone.extend(means.into_iter().map(|byte| (byte, place.clone())));
                at += length;
            } else {
                undone.push(self.0[at].clone());
                at += 1;
            }
        }
        Self(undone)
    }
}

/// What the escape with which a text begins means, and its length: that of a URL, of JSON, or of HTML.
fn escape(text: &[u8]) -> Option<(Vec<u8>, usize)> {
    match (text.first()?, text.get(1)?) {
        (b'%', _) => Some((vec![u8::try_from(hexadecimal(text.get(1..3)?)?).ok()?], 3)),
        (b'\\', b'u') => {
            let unit = |at: usize| {
                let digits = text.get(at..at + 6)?.strip_prefix(b"\\u")?;
                u16::try_from(hexadecimal(digits)?).ok()
            };
            let c = char::decode_utf16([unit(0)?].into_iter().chain(unit(6))).next()?.ok()?;
            Some((c.to_string().into_bytes(), 6 * c.len_utf16()))
        }
        // Space, as those are that JSON has letters for.
        (b'\\', b'b' | b'f' | b'n' | b'r' | b't') => Some((Vec::new(), 2)),
        (b'\\', escaped) if escaped.is_ascii_punctuation() => Some((vec![*escaped], 2)),
        (b'&', _) => {
            let end = text.iter().take(ENTITY_MAX).position(|byte| *byte == b';')?;
            Some((entity(&text[1..end])?.to_string().into_bytes(), end + 1))
        }
        _ => None,
    }
}

/// What a character of HTML is that is written by its name or number.
fn entity(name: &[u8]) -> Option<char> {
    match name {
        b"amp" => Some('&'),
        b"lt" => Some('<'),
        b"gt" => Some('>'),
        b"quot" => Some('"'),
        b"apos" => Some('\''),
        [b'#', b'x' | b'X', digits @ ..] => char::from_u32(hexadecimal(digits)?),
        [b'#', digits @ ..] => char::from_u32(std::str::from_utf8(digits).ok()?.parse().ok()?),
        _ => None,
    }
}

fn hexadecimal(digits: &[u8]) -> Option<u32> {
    let digits = std::str::from_utf8(digits).ok()?;
    u32::from_str_radix(digits, 16).ok().filter(|_| digits.bytes().all(|digit| digit.is_ascii_hexdigit()))
}

/// The part of the Base64 of a longer text that depends on the secret alone, when `before` bytes of the text
/// precede it in its group of three.
fn piece(code: &GeneralPurpose, before: usize, clear: &str) -> String {
    let text = code.encode([vec![0; before].as_slice(), clear.as_bytes()].concat());
    let from = (before * 8).div_ceil(6);
    let to = (before + clear.len()) * 8 / 6;
    text.get(from..to).unwrap_or_default().to_owned()
}

fn cut(words: &str) -> String {
    match words.char_indices().nth(WORDS_MAX) {
        Some((at, _)) => words[..at].to_owned(),
        None => words.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use base64::engine::general_purpose::STANDARD;
    use proptest::prelude::*;

    fn mask() -> Mask {
        Mask::new("bank", &Secret::new("s3cr\"t wörd"))
    }

    #[test]
    fn a_secret_is_covered_in_every_form() {
        for said in ["s3cr\"t wörd", "s3cr\\\"t wörd", "s3cr%22t%20w%C3%B6rd"] {
            assert_eq!(mask().clean(&format!("no <{said}> here")), "no <***> here");
        }
        for sent in ["s3cr\"t wörd", "\0bank\0s3cr\"t wörd", "bank:s3cr\"t wörd"] {
            let words = mask().clean(&format!("no {} here", STANDARD.encode(sent)));
            assert!(words.starts_with("no ***") && words.len() < 15, "{words}");
        }
    }

    #[test]
    fn a_secret_is_covered_however_its_characters_are_written() {
        let secret = "s3/cr\"t wörd&𝄞";
        let all = |write: fn(char) -> String| secret.chars().map(write).collect::<String>();
        let units = |c: char| -> String {
            c.encode_utf16(&mut [0; 2]).iter().map(|unit| format!("\\u{unit:04x}")).collect()
        };
        for said in [
            r#"s3/cr\"t wörd&𝄞"#,
            r#"s3\/cr\"t wörd\u0026𝄞"#,
            r#"s3\/cr\"t w\u00f6rd&\ud834\udd1e"#,
            r#"s3\/cr\"t w\u00F6rd&\uD834\uDD1E"#,
            r#"s3\\\/cr\\\"t w\\u00f6rd&𝄞"#,
            "s3%2fcr%22t%20w%c3%b6rd%26%f0%9d%84%9e",
            "s3/cr%22t%20w%C3%B6rd%26%F0%9D%84%9E",
            "s3%2Fcr%22t+w%C3%B6rd%26%F0%9D%84%9E",
            "s3%252Fcr%2522t%2520w%25C3%25B6rd%2526%25F0%259D%2584%259E",
            "s3/cr&quot;t wörd&amp;𝄞",
            "s3&#47;cr&#34;t&#32;w&#xf6;rd&#x26;&#x1D11E;",
            "s3/cr\"t wö rd&𝄞",
            "s3/cr\"t\r\nwörd&𝄞",
            "s3/cr%2\r\n2t wörd&𝄞",
            &all(units),
            &all(|c| format!("&#{};", u32::from(c))),
        ] {
            let words = Mask::new("bank", &Secret::new(secret)).clean(&format!("no <{said}> here"));
            assert_eq!(words, "no <***> here", "{said}");
        }
        // Base64 with a slash, and what fills it up.
        for said in ["Pz8/eA==", r"Pz8\/eA==", "Pz8%2feA%3d%3D", "Pz8_eA", "Pz8/\r\neA=="] {
            let words = Mask::new("bank", &Secret::new("???x")).clean(&format!("no <{said}> here"));
            assert_eq!(words, "no <***> here", "{said}");
        }
    }

    #[test]
    fn what_is_no_secret_and_no_whole_escape_is_left() {
        for said in [r"100 % of \", r"a\u00f b\ud834 c\ud834\u0041", "%f %ö1 %+1", "&amp &#xx; &;", "&", r"\"]
        {
            assert_eq!(mask().clean(said), said);
        }
    }

    #[test]
    fn words_lose_control_characters_and_are_cut_after_masking_the_secret() {
        assert_eq!(mask().clean("a\r\nb\u{0}c\u{9f}\t"), "a  b c");
        assert_eq!(mask().clean(&"ä".repeat(1001)), "ä".repeat(1000));
        let words = mask().clean(&format!("{}{}", "x".repeat(995), "s3cr\"t wörd"));
        assert_eq!(words, format!("{}***", "x".repeat(995)));
        assert_eq!(Mask::new("a", &Secret::new("")).clean("as it is"), "as it is");
        assert_eq!(Mask::new("a", &Secret::new("aa")).clean("aaa b aa"), "*** b ***");
    }

    proptest! {
        #[test]
        fn base64_of_any_text_with_the_secret_does_not_show_it(
            before in "\\PC{0,20}", secret in "[ -~]{9,40}", after in "\\PC{0,20}"
        ) {
            let sent = STANDARD.encode(format!("{before}{secret}{after}"));
            let words = Mask::new("bank", &Secret::new(&secret)).clean(&sent);
            let pieces = words.split("***").flat_map(|piece| (0..4).map(move |skip| (piece, skip)));
            for (piece, skip) in pieces {
                let Some(piece) = piece.trim_end_matches('=').get(skip..) else { continue };
                let whole = &piece[..piece.len() / 4 * 4];
                let clear = STANDARD.decode(whole).unwrap_or_default();
                let clear = String::from_utf8_lossy(&clear).into_owned();
                let known = format!("{before}{after}");
                let shows = (0..secret.len() - 5).any(|at| {
                    let part = &secret[at..at + 6];
                    clear.contains(part) && !known.contains(part)
                });
                prop_assert!(!shows, "{clear}");
            }
        }
    }
}
