//! The words of a gateway, made fit to be passed on: no secret, no control characters, not too long.

use crate::domain::gateway::WORDS_MAX;
use crate::secret::Secret;
use base64::Engine;
use base64::engine::general_purpose::{GeneralPurpose, STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use mfa_shared::endpoint::percent_encode;
use mfa_shared::identifier::is_control;
use zeroize::Zeroizing;

/// Shown in place of a secret.
const COVER: &str = "***";
/// A shorter piece of Base64 occurs in other words by chance.
const PIECE_MIN: usize = 4;

/// Covers a secret wherever a gateway repeats it.
#[derive(Default)]
pub struct Mask(Vec<Zeroizing<String>>);

impl Mask {
    /// Covers the secret in every form in which it is sent or could be repeated.
    pub fn new(name: &str, secret: &Secret) -> Self {
        let clear = secret.expose();
        if clear.is_empty() {
            return Self::default();
        }
        let mut forms = vec![clear.to_owned(), percent_encode(clear)];
        if let Ok(json) = serde_json::to_string(clear) {
            forms.push(json.trim_matches('"').to_owned());
        }
        for code in [&STANDARD_NO_PAD, &URL_SAFE_NO_PAD] {
            // A short secret has too little Base64 of its own, so what it is sent in is covered whole, too.
            forms.push(code.encode(clear));
            forms.push(code.encode(format!("\0{name}\0{clear}")));
            forms.push(code.encode(format!("{name}:{clear}")));
            forms.extend((0..3).map(|before| piece(code, before, clear)).filter(|p| p.len() >= PIECE_MIN));
        }
        Self(forms.into_iter().filter(|form| !form.is_empty()).map(Zeroizing::new).collect())
    }

    /// The words as they may be passed on.
    pub fn clean(&self, words: &str) -> String {
        let mut covered = vec![false; words.len()];
        for form in &self.0 {
            for start in (0..words.len()).filter(|at| words.is_char_boundary(*at)) {
                if words[start..].starts_with(form.as_str()) {
                    // What fills up the Base64 of a secret belongs to it.
                    let end = start + form.len();
                    let filling = words[end..].bytes().take_while(|byte| *byte == b'=').count();
                    covered[start..end + filling].fill(true);
                }
            }
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
