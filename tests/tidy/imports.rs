//! Programs in Python find in each other what they import: the longest of them run in no test.

use super::root;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Every Python file under `tests` by its path without ending, with its text.
fn programs() -> BTreeMap<PathBuf, String> {
    let mut found = BTreeMap::new();
    let mut folders = vec![root().join("tests")];
    while let Some(folder) = folders.pop() {
        for path in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let Ok(text) = std::fs::read_to_string(&path) else { continue };
            if path.extension().is_some_and(|ending| ending == "py")
                || text.starts_with("#!/usr/bin/env python3")
            {
                found.insert(path.with_extension(""), text);
            }
        }
    }
    found
}

/// Whether a line at the top of a module gives it a name.
fn defines(text: &str, name: &str) -> bool {
    let is_word = |character: char| character.is_alphanumeric() || character == '_';
    let has = |part: &str| part.split(|character| !is_word(character)).any(|word| word == name);
    text.lines().filter(|line| !line.starts_with([' ', '#', ')', '}', ']'])).any(|line| {
        let head = match line.split_once(['(', ':']) {
            Some((head, _)) if head.starts_with("def ") || head.starts_with("class ") => head,
            _ if line.starts_with("import ") || line.starts_with("from ") => line,
            _ => line.split_once(" = ").map_or("", |(names, _)| names),
        };
        has(head)
    })
}

#[test]
fn programs_in_python_import_what_is_there() {
    let programs = programs();
    let (mut looked_at, mut missing) = (0, Vec::new());
    for (path, text) in &programs {
        for line in text.lines() {
            let Some((module, names)) =
                line.strip_prefix("from ").and_then(|rest| rest.split_once(" import "))
            else {
                continue;
            };
            // A program that uses the parts of benchmarks puts their folder on its path.
            let parts = text.contains("tests/load").then(|| root().join("tests/load").join(module));
            let of_parts = parts.and_then(|part| programs.get(&part));
            let Some(imported) = programs.get(&path.with_file_name(module)).or(of_parts) else { continue };
            let names = names.split('#').next().unwrap_or_default();
            for name in names.split(',').map(|name| name.trim_matches(['(', ')', ' '])) {
                let name = name.split(" as ").next().unwrap_or_default();
                looked_at += 1;
                if !name.is_empty() && !defines(imported, name) {
                    missing.push(format!("{}: {module} has no {name}", path.display()));
                }
            }
        }
    }
    assert!(looked_at > 40, "{looked_at} imports");
    assert!(missing.is_empty(), "{missing:#?}");
}
