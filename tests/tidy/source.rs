//! Reads Rust as far as the house needs it: the code without comments, texts and tests, and the paths in it.

/// A path in code, and whether a `pub use` shows it under another name.
#[derive(Debug)]
pub struct Named {
    /// Its segments, as written.
    pub path: Vec<String>,
    /// The name under which a `use` makes it known.
    pub alias: Option<String>,
    /// Whether it is a `pub use`.
    pub shown: bool,
}

/// The words of the code: identifiers, `::`, and single signs.
fn words(text: &str) -> Vec<String> {
    let all: Vec<char> = text.chars().collect();
    let at = |i: usize| all.get(i).copied().unwrap_or('\n');
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let mut found = Vec::new();
    let mut i = 0;
    while i < all.len() {
        match all[i] {
            '/' if at(i + 1) == '/' => i += all[i..].iter().take_while(|c| **c != '\n').count(),
            '/' if at(i + 1) == '*' => i = block_comment_end(&all, i),
            '"' => i = text_end(&all, i),
            '\'' if at(i + 1) == '\\' => i += 3 + all[i + 3..].iter().take_while(|c| **c != '\'').count(),
            '\'' if at(i + 2) == '\'' => i += 3,
            'r' | 'b' if raw_text_end(&all, i).is_some() => i = raw_text_end(&all, i).unwrap(),
            ':' if at(i + 1) == ':' => {
                found.push("::".to_owned());
                i += 2;
            }
            c if is_word(c) => {
                let word: String = all[i..].iter().take_while(|c| is_word(**c)).collect();
                i += word.chars().count();
                found.push(word);
            }
            c => {
                if !c.is_whitespace() {
                    found.push(c.to_string());
                }
                i += 1;
            }
        }
    }
    found
}

fn block_comment_end(all: &[char], start: usize) -> usize {
    let end = all[start..].windows(2).position(|pair| pair == ['*', '/']);
    end.map_or(all.len(), |end| start + end + 2)
}

fn text_end(all: &[char], start: usize) -> usize {
    let mut i = start + 1;
    while i < all.len() && all[i] != '"' {
        i += if all[i] == '\\' { 2 } else { 1 };
    }
    i + 1
}

/// Where a text such as `r#"..."#` that begins here ends.
fn raw_text_end(all: &[char], start: usize) -> Option<usize> {
    let is_start = start == 0 || !(all[start - 1].is_alphanumeric() || all[start - 1] == '_');
    let after = if all[start] == 'b' && all.get(start + 1) == Some(&'r') { start + 2 } else { start + 1 };
    if !is_start || (all[start] == 'b' && after == start + 1) {
        return None;
    }
    let signs = all[after..].iter().take_while(|c| **c == '#').count();
    if all.get(after + signs) != Some(&'"') {
        return None;
    }
    let close: Vec<char> = std::iter::once('"').chain(std::iter::repeat_n('#', signs)).collect();
    let end = all[after + signs + 1..].windows(signs + 1).position(|part| part == close)?;
    Some(after + signs + 1 + end + signs + 1)
}

/// Leaves out what follows `#[cfg(test)]`, to its end.
fn without_tests(words: Vec<String>) -> Vec<String> {
    let mark = ["#", "[", "cfg", "(", "test", ")", "]"];
    let mut kept = Vec::new();
    let mut rest = words.into_iter().peekable();
    while let Some(word) = rest.next() {
        kept.push(word);
        if kept.ends_with(&mark.map(str::to_owned)) {
            let mut depth = 0;
            for word in rest.by_ref() {
                match word.as_str() {
                    "(" | "[" | "{" => depth += 1,
                    ")" | "]" | "}" => depth -= 1,
                    _ => {}
                }
                if depth == 0 && matches!(word.as_str(), "}" | ";") {
                    break;
                }
            }
        }
    }
    kept
}

/// Every path that a file names, in `use` and elsewhere, outside its tests.
pub fn named(text: &str) -> Vec<Named> {
    let words = without_tests(words(text));
    let mut found = Vec::new();
    let mut i = 0;
    while i < words.len() {
        let before = if i == 0 { ";" } else { words[i - 1].as_str() };
        if words[i] == "use" && matches!(before, ";" | "}" | "{" | "]" | ")" | "pub") {
            let shown = matches!(before, ")" | "pub");
            i = tree(&words, i + 1, &[], shown, &mut found);
        } else if before != "::" && is_name(&words[i]) && words.get(i + 1).is_some_and(|w| w == "::") {
            let mut path = vec![words[i].clone()];
            while words.get(i + 1).is_some_and(|w| w == "::") && words.get(i + 2).is_some_and(|w| is_name(w))
            {
                path.push(words[i + 2].clone());
                i += 2;
            }
            found.push(Named { path, alias: None, shown: false });
            i += 1;
        } else {
            i += 1;
        }
    }
    found
}

fn is_name(word: &str) -> bool {
    word.starts_with(|c: char| c.is_alphabetic() || c == '_')
}

/// Reads the tree of a `use` from a place on; returns the place behind it.
fn tree(words: &[String], from: usize, above: &[String], shown: bool, found: &mut Vec<Named>) -> usize {
    let mut path = above.to_vec();
    let mut alias = None;
    let mut i = from;
    while i < words.len() {
        match words[i].as_str() {
            "{" => {
                i += 1;
                while words[i] != "}" {
                    i = tree(words, i, &path, shown, found);
                    i += usize::from(words[i] == ",");
                }
                return i + 1;
            }
            "," | "}" | ";" => break,
            "as" => {
                alias = Some(words[i + 1].clone());
                i += 1;
            }
            "::" => {}
            word => path.push(word.to_owned()),
        }
        i += 1;
    }
    if path.last().is_some_and(|last| last == "self") && path.len() > 1 {
        path.pop();
    }
    let alias = alias.or_else(|| path.last().cloned());
    found.push(Named { path, alias, shown });
    i
}

#[test]
fn the_reader_sees_paths_and_no_comments_texts_or_tests() {
    let text = r##"
        //! use crate::a;
        use super::b::{self, C, d::{E as F}};
        pub(crate) use g::H;
        fn f<'a>(x: &'a str) -> char { crate::i::j(r#"crate::k"#, "crate::l", '"', b'\'', C::new()) }
        #[cfg(test)]
        mod tests { use crate::m; }
        /* crate::n */ fn o() { p::q::<r::s>() }
    "##;
    let seen: Vec<_> = named(text).into_iter().map(|n| n.path.join("::")).collect();
    let paths =
        ["super::b", "super::b::C", "super::b::d::E", "g::H", "crate::i::j", "C::new", "p::q", "r::s"];
    assert_eq!(seen, paths);
}
