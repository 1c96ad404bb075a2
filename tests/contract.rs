//! The contract is in the project: each page and section that a comment names is in `docs/contract/`.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

/// The text of each Rust file, without line breaks and the marks of comments, so that a reference may wrap.
fn sources() -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut folders: Vec<_> = ["shared/src", "daemon/src", "cli/src", "tests"].map(|f| root().join(f)).into();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == "rs") {
                let words = fs::read_to_string(&path).unwrap();
                let words = words.split_whitespace().filter(|word| !matches!(*word, "//" | "///" | "//!"));
                found.push((path.display().to_string(), words.collect::<Vec<_>>().join(" ")));
            }
        }
    }
    found
}

/// The name of each page in a text, and the words that follow it.
fn pages(text: &str) -> impl Iterator<Item = (&str, &str)> {
    text.match_indices(".md").filter_map(|(end, _)| {
        let name = text[..end].rsplit(|c: char| !c.is_ascii_lowercase() && c != '-').next()?;
        let rest = &text[end + 3..];
        let is_name = !name.is_empty() && !rest.starts_with(|c: char| c.is_ascii_alphanumeric());
        is_name.then_some((name, rest.trim_start_matches('`')))
    })
}

/// The numbers in `section 4.2` or `sections 1, 3 and 7` at the start of a text.
fn sections(rest: &str) -> Vec<&str> {
    let Some(rest) = rest.strip_prefix(" section") else { return Vec::new() };
    let words = rest.trim_start_matches('s').split([' ', ',']).filter(|word| !word.is_empty());
    words
        .take_while(|word| *word == "and" || *word == "to" || word.starts_with(|c: char| c.is_ascii_digit()))
        .filter(|word| word.starts_with(|c: char| c.is_ascii_digit()))
        .map(|word| {
            let end = word.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(word.len());
            word[..end].trim_end_matches('.')
        })
        .collect()
}

#[test]
fn every_page_and_section_that_a_comment_names_is_in_the_project() {
    let mut missing = BTreeSet::new();
    let mut named = 0;
    for (file, text) in sources() {
        for (page, rest) in pages(&text) {
            let read = |folder| fs::read_to_string(root().join(format!("{folder}/{page}.md"))).ok();
            let Some(contract) = ["docs/contract", "docs/guides", "docs"].into_iter().find_map(read) else {
                missing.insert(format!("{file} names {page}.md"));
                continue;
            };
            named += 1;
            for section in sections(rest) {
                let heading = |line: &str| {
                    let title = line.strip_prefix('#').map(|line| line.trim_start_matches('#').trim_start());
                    title.is_some_and(|title| {
                        let number = title.split(' ').next().unwrap_or_default();
                        number.trim_end_matches('.') == section
                    })
                };
                if !contract.lines().any(heading) {
                    missing.insert(format!("{file} names section {section} of {page}.md"));
                }
            }
        }
    }
    assert!(named > 100, "only {named} references were found");
    assert!(missing.is_empty(), "{}", missing.into_iter().collect::<Vec<_>>().join("\n"));
}
