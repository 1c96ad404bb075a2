//! Which module names which: the paths of the code, followed to the file that declares what they name.

use super::source::{Named, named};
use super::sources;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// A module, as its path: the crate's folder first.
pub type Module = Vec<String>;

/// The folders of the crates, and the names by which others know them.
const CRATES: [(&str, &str); 3] = [("shared", "mfa_shared"), ("daemon", "mfa_daemon"), ("cli", "mfa")];

/// The module of a file; none for tests.
fn module(file: &str) -> Option<Module> {
    let (folder, rest) = file.strip_suffix(".rs")?.split_once("/src/")?;
    let mut path = vec![folder.to_owned()];
    path.extend(rest.split('/').map(str::to_owned));
    if path.iter().any(|part| part == "tests" || part.ends_with("_tests")) {
        return None;
    }
    if matches!(path.last()?.as_str(), "mod" | "lib" | "main") {
        path.pop();
    }
    Some(path)
}

/// The code of a crate: its modules, and what each shows under another name.
struct Read {
    named: BTreeMap<Module, Vec<Named>>,
    shown: HashMap<(Module, String), Module>,
}

impl Read {
    /// A path as written, from the crate on; none where it leads out of the house.
    fn absolute(&self, from: &Module, path: &[String]) -> Option<Module> {
        let first = path.first()?.as_str();
        if let Some((folder, _)) = CRATES.iter().find(|(_, name)| *name == first) {
            return Some([&[(*folder).to_owned()], &path[1..]].concat());
        }
        match first {
            "crate" => Some([&from[..1], &path[1..]].concat()),
            "self" | "super" => {
                let mut base = from.clone();
                let steps = path.iter().take_while(|part| matches!(part.as_str(), "self" | "super"));
                for step in steps.clone() {
                    if step == "super" {
                        base.pop();
                    }
                }
                Some([&base, &path[steps.count()..]].concat())
            }
            _ => {
                let child = [from.as_slice(), &path[..1]].concat();
                self.named.contains_key(&child).then(|| [from.as_slice(), path].concat())
            }
        }
    }

    /// The module that declares what a path names, through what others show under another name.
    fn declares(&self, path: &Module, depth: usize) -> Option<Module> {
        let length = (1..=path.len()).rev().find(|n| self.named.contains_key(&path[..*n]))?;
        let module = path[..length].to_vec();
        let shown = path.get(length).and_then(|name| self.shown.get(&(module.clone(), name.clone())));
        match shown {
            Some(shown) if depth < 8 => {
                self.declares(&[shown.as_slice(), &path[length + 1..]].concat(), depth + 1)
            }
            _ => Some(module),
        }
    }

    fn arrows_of(&self, from: &Module, named: &[Named]) -> BTreeSet<Module> {
        let imports: HashMap<_, _> =
            named.iter().filter_map(|n| n.alias.as_ref().map(|alias| (alias, &n.path))).collect();
        let mut found = BTreeSet::new();
        for Named { path, alias, shown } in named {
            let import = imports.get(&path[0]).filter(|_| alias.is_none());
            let path = import.map_or_else(|| path.clone(), |import| [import.as_slice(), &path[1..]].concat());
            let Some(to) = self.absolute(from, &path).and_then(|path| self.declares(&path, 0)) else {
                continue;
            };
            // A module that shows what is below it only says where that is.
            let is_front = *shown && to.starts_with(from);
            if to != *from && to[0] == from[0] && !is_front {
                found.insert(to);
            }
        }
        found
    }
}

/// What each module names of its own crate.
pub fn arrows() -> BTreeMap<Module, BTreeSet<Module>> {
    let mut read = Read { named: BTreeMap::new(), shown: HashMap::new() };
    for (file, text) in sources() {
        if let Some(module) = module(&file) {
            // A macro is known in the whole crate by its name alone.
            for (at, mark) in text.match_indices("macro_rules! ") {
                let name = text[at + mark.len()..].split(' ').next().unwrap_or_default();
                read.shown.insert((module[..1].to_vec(), name.to_owned()), module.clone());
            }
            read.named.insert(module, named(&text));
        }
    }
    for (module, named) in &read.named {
        for Named { path, alias, .. } in named.iter().filter(|named| named.shown) {
            if let (Some(path), Some(alias)) = (read.absolute(module, path), alias) {
                read.shown.insert((module.clone(), alias.clone()), path);
            }
        }
    }
    read.named.iter().map(|(from, named)| (from.clone(), read.arrows_of(from, named))).collect()
}
