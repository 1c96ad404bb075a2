//! The rooms and who may name whom: the drawing in ARCHITECTURE is true, and there is no circle in any folder.

use super::arrows::{Module, arrows};
use super::root;
use std::collections::{BTreeMap, BTreeSet};

/// Where the file of a folder lists the verbs of the files in it and holds what they share, so that each names
/// the other.
const LISTS_VERBS: &str = "cli/";

/// For each room of a folder the rooms that it names.
type Arrows = BTreeMap<String, BTreeSet<String>>;

/// The arrows between the rooms of each folder. A room is a file or a folder; `mod` is the folder's own file.
fn by_folder(all: &BTreeMap<Module, BTreeSet<Module>>) -> BTreeMap<String, Arrows> {
    let mut folders: BTreeMap<String, Arrows> = BTreeMap::new();
    for (from, named) in all {
        for to in named {
            let same = from.iter().zip(to).take_while(|(from, to)| from == to).count();
            let room = |module: &Module| module.get(same).map_or("mod", String::as_str).to_owned();
            let arrows = folders.entry(from[..same].join("/")).or_default();
            arrows.entry(room(from)).or_default().insert(room(to));
        }
    }
    folders
}

/// Whether one room leads to another.
fn leads(arrows: &Arrows, from: &str, to: &str) -> bool {
    let mut seen = BTreeSet::new();
    let mut next = vec![from];
    while let Some(room) = next.pop() {
        for named in arrows.get(room).into_iter().flatten() {
            if named == to {
                return true;
            }
            if seen.insert(named.as_str()) {
                next.push(named);
            }
        }
    }
    false
}

/// The arrows of a folder that are part of a circle.
fn in_circles(arrows: &Arrows) -> Vec<(String, String)> {
    let pairs = arrows.iter().flat_map(|(from, to)| to.iter().map(move |to| (from, to)));
    let closed = pairs.filter(|(from, to)| leads(arrows, to, from));
    closed.map(|(from, to)| (from.clone(), to.clone())).collect()
}

/// The drawing in ARCHITECTURE: for each crate its rooms, line by line from the top.
fn drawing() -> BTreeMap<String, Vec<Vec<String>>> {
    let text = std::fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    let mut crates = BTreeMap::new();
    for block in text.split("```").skip(1).step_by(2) {
        let mut lines = block.lines().skip(1);
        if let Some(folder) = lines.next().and_then(|line| line.strip_suffix("/src")) {
            let rooms = lines.map(|line| line.split_whitespace().map(str::to_owned).collect());
            crates.insert(folder.to_owned(), rooms.collect());
        }
    }
    crates
}

/// The arrows of a crate that lead upward, or to a room of the same line.
fn upward(arrows: &Arrows, lines: &[Vec<String>]) -> Vec<(String, String)> {
    let line = |room: &String| lines.iter().position(|line| line.contains(room));
    let pairs = arrows.iter().flat_map(|(from, to)| to.iter().map(move |to| (from, to)));
    let up = pairs.filter(|(from, to)| line(from) >= line(to));
    up.map(|(from, to)| (from.clone(), to.clone())).collect()
}

#[test]
fn no_circle_and_no_upward_arrow_joins_the_rooms() {
    let drawing = drawing();
    assert!(
        ["shared", "daemon", "cli"].iter().all(|folder| drawing.contains_key(*folder)),
        "the drawings are gone"
    );
    let mut broken = Vec::new();
    for (folder, mut arrows) in by_folder(&arrows()) {
        if folder.starts_with(LISTS_VERBS) {
            for named in arrows.values_mut() {
                named.remove("mod");
            }
        }
        let upward = drawing.get(&folder).map(|lines| upward(&arrows, lines)).unwrap_or_default();
        let upward = upward.iter().map(|(from, to)| format!("{folder}: {from} names {to}, not below it"));
        broken.extend(upward);
        let circles = in_circles(&arrows);
        broken.extend(circles.iter().map(|(from, to)| format!("{folder}: {from} -> {to} in a circle")));
    }
    assert!(
        broken.is_empty(),
        "{}\nA room names only rooms of the lines below its own (\"The rooms\" in ARCHITECTURE.md), and files of \
         one folder name each other in one direction: move what both need to a file below both",
        broken.join("\n")
    );
}

#[test]
fn the_drawing_has_every_room_once() {
    for (folder, lines) in drawing() {
        let mut drawn: Vec<_> = lines.concat();
        drawn.sort();
        let source = root().join(&folder).join("src");
        let entries = std::fs::read_dir(source).unwrap().map(|entry| entry.unwrap().path());
        let entries = entries.filter(|path| path.is_dir() || path.extension().is_some_and(|e| e == "rs"));
        let names = entries.map(|path| path.file_stem().unwrap().to_string_lossy().into_owned());
        let is_room = |name: &String| !matches!(name.as_str(), "lib" | "main") && !name.ends_with("_tests");
        let rooms: BTreeSet<_> = names.filter(is_room).collect();
        assert_eq!(
            drawn,
            rooms.into_iter().collect::<Vec<_>>(),
            "the drawing of {folder}/src under \"The rooms\" in ARCHITECTURE.md has every file and folder once"
        );
    }
}
