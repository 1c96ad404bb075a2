//! The house stays in order: sizes, layers, words. The lists of exceptions may only shrink.

mod arrows;
mod imports;
mod rooms;
mod source;

use std::path::{Path, PathBuf};

/// Most lines of a file, of a function, and most characters of a line.
const FILE_LINES_MAX: usize = 450;
const FUNCTION_LINES_MAX: usize = 70;
const LINE_CHARACTERS_MAX: usize = 110;

/// Files that are longer, or hold a longer function.
const LONGER: &[&str] = &[
    // The endpoint table is one list with a line for each row.
    "daemon/src/http/table.rs",
];

/// Who may not name what: a folder, and the words that no line of code in it holds.
const LAYERS: &[(&str, &[&str])] = &[
    ("shared/src", &["warp::", "hyper::", "reqwest", "sled::", "clap::", "tokio::", "SystemTime"]),
    ("daemon/src/domain", &["crate::store", "crate::http", "crate::ops", "tokio::", "warp::", "sled::"]),
    ("daemon/src/store", &["warp::", "crate::ops", "crate::http"]),
    ("daemon/src/ops", &["warp::", "sled::", "hyper::", "crate::http", "async ", ".await", "postgres"]),
    ("daemon/src/http", &["sled::", "crate::store::embedded", "crate::store::postgres"]),
    // A paper knows nothing of the daemon and of the time, so the same paper is the same file.
    ("cli/src/paper", &["crate::nouns", "crate::verbs", "crate::client", "SystemTime", "reqwest"]),
    ("cli/src/command", &["reqwest", "comfy_table", "println!", "http://"]),
    ("cli/src/nouns", &["reqwest", "comfy_table", "println!", "http://"]),
    ("cli/src/verbs", &["reqwest", "comfy_table", "println!", "http://"]),
    ("cli/src/machine", &["reqwest", "comfy_table", "println!", "http://"]),
    ("cli/src/tree", &["reqwest", "comfy_table", "println!", "http://"]),
    ("daemon/src", &["clap::", "reqwest::Client::new"]),
];

/// The one file of each kind that may do what the rest of its folder may not.
const ALLOWED: &[(&str, &str)] = &[("cli/src/machine/background.rs", "http://")];

/// Words that hide what a thing is.
const VAGUE: &[&str] = &["manager", "helper", "util", "utils"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

fn sources() -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut folders: Vec<_> = ["shared/src", "daemon/src", "cli/src", "tests"].map(|f| root().join(f)).into();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == "rs") {
                let name = path.strip_prefix(root()).unwrap().to_string_lossy().into_owned();
                found.push((name, std::fs::read_to_string(path).unwrap()));
            }
        }
    }
    assert!(found.len() > 30, "the sources were not found");
    found
}

#[test]
fn files_functions_and_lines_stay_short() {
    let mut long = Vec::new();
    for (name, text) in sources() {
        let lines: Vec<&str> = text.lines().collect();
        if lines.len() > FILE_LINES_MAX && !LONGER.contains(&name.as_str()) {
            long.push(format!("{name} has {} lines", lines.len()));
        }
        let tests = if name.starts_with("tests/") || name.contains("/tests/") {
            0
        } else {
            lines.iter().position(|line| *line == "#[cfg(test)]").unwrap_or(lines.len())
        };
        for (i, line) in lines.iter().enumerate() {
            // In tests the formatter keeps the code short; what is longer there is a text as it is sent.
            if line.chars().count() > LINE_CHARACTERS_MAX && i < tests {
                long.push(format!("{name}:{} has {} characters", i + 1, line.chars().count()));
            }
        }
        for (start, length) in functions(&lines) {
            if length > FUNCTION_LINES_MAX && !LONGER.contains(&name.as_str()) {
                long.push(format!("{name}:{} is a function of {length} lines", start + 1));
            }
        }
    }
    assert!(
        long.is_empty(),
        "{}\nA file has at most {FILE_LINES_MAX} lines, a function {FUNCTION_LINES_MAX}, a line \
         {LINE_CHARACTERS_MAX} characters: give a part that is about one thing its own file or function",
        long.join("\n")
    );
}

/// Where each function starts, and how many lines it has, by the layout of rustfmt.
fn functions(lines: &[&str]) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    for (start, line) in lines.iter().enumerate() {
        let code = line.trim_start();
        let is_function =
            ["fn ", "pub fn ", "async fn ", "pub async fn ", "pub(crate) fn ", "pub(super) fn "]
                .iter()
                .any(|word| code.starts_with(word));
        let signature_end = lines[start..].iter().find(|l| l.ends_with(['{', ';', '}']));
        if is_function && signature_end.is_some_and(|l| l.ends_with('{')) {
            let end = format!("{}}}", &line[..line.len() - code.len()]);
            if let Some(length) = lines[start..].iter().position(|l| **l == end) {
                found.push((start, length + 1));
            }
        }
    }
    found
}

#[test]
fn a_layer_names_only_what_it_may() {
    let mut broken = Vec::new();
    for (name, text) in sources() {
        // Unit tests of a layer may set up what the layer itself does not know.
        let code = text.split("#[cfg(test)]\nmod tests").next().unwrap_or_default();
        for (folder, words) in LAYERS.iter().filter(|(folder, _)| name.starts_with(&format!("{folder}/"))) {
            for word in *words {
                let line = code.lines().position(|l| l.contains(word) && !l.trim_start().starts_with("//"));
                let allowed = ALLOWED.iter().any(|(file, w)| name.starts_with(file) && w == word);
                if let Some(line) = line.filter(|_| !allowed) {
                    broken.push(format!("{name}:{}: {folder} names {word}", line + 1));
                }
            }
        }
    }
    assert!(
        broken.is_empty(),
        "{}\n\"Who may name whom\" in ARCHITECTURE.md says what each layer may use: move the code to the layer \
         that may, and let it give values to this one",
        broken.join("\n")
    );
}

#[test]
fn no_name_hides_what_a_thing_is() {
    let mut vague = Vec::new();
    for (name, text) in sources() {
        for (i, line) in text.lines().enumerate() {
            let code = line.split("//").next().unwrap_or_default();
            let declares =
                ["fn ", "struct ", "enum ", "trait ", "mod "].iter().any(|word| code.contains(word));
            let words = code.split(|c: char| !c.is_ascii_alphanumeric()).map(str::to_ascii_lowercase);
            if declares
                && words.into_iter().any(|word| VAGUE.contains(&word.as_str()))
                && !name.ends_with("tidy.rs")
            {
                vague.push(format!("{name}:{}: {}", i + 1, line.trim()));
            }
        }
    }
    assert!(vague.is_empty(), "{}\nSay what it does or holds instead", vague.join("\n"));
}
