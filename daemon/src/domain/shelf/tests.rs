use super::*;
use proptest::prelude::*;
use std::collections::BTreeSet;
use std::sync::RwLock;

const COLUMN: &str = "surname";
/// Terms with less than four bytes, which are in no index, and longer ones.
const TERMS: &str = "[abc]|c-1|ö|ss|ß|i|x|\n|-3|c-[0-9]{2}|öse|gros|groß|u kon|amadou koné|amadon|";

fn row(id: u8, name: &str, group: u8, columns: usize) -> Row {
    let identifier = format!("c-{id}");
    let texts = texts([Some(identifier.as_str()), Some(name)]);
    Row { texts, identifier, group, keys: vec![key(name); columns] }
}

#[derive(Debug, Clone)]
enum Step {
    /// Records that are put or removed together.
    Apply(Vec<(u8, Option<(String, u8)>)>),
    /// The keys of a column are read and sorted.
    MakeColumn,
    /// The column is brought up to date and kept.
    KeepColumn,
    Compact,
    /// An order is taken.
    Take,
}

fn step() -> impl Strategy<Value = Step> {
    let name = prop_oneof!["[ab]{0,2}", "Ama|ama|ÖSE|öse|Groß|GROSS|İ|Amadou Koné"];
    let put = (name, 0u8..3).prop_map(Some);
    let change = (0u8..40, prop_oneof![4 => put, 1 => Just(None)]);
    prop_oneof![
        8 => proptest::collection::vec(change, 1..30).prop_map(Step::Apply),
        2 => Just(Step::MakeColumn),
        2 => Just(Step::KeepColumn),
        1 => Just(Step::Compact),
        1 => Just(Step::Take),
    ]
}

/// The key of a name.
fn key(name: &str) -> SortKey {
    if name.is_empty() { SortKey::Null } else { SortKey::Text(name.to_owned()) }
}

/// The whole list instead of a page.
fn whole<'w>(wanted: &Wanted<'w>) -> Wanted<'w> {
    Wanted { passed: 0, size: usize::MAX, ..*wanted }
}

fn names(found: &Found) -> Vec<String> {
    found.records.iter().map(|(name, _)| name.clone()).collect()
}

/// What a plain look at all records finds.
fn plain(all: &BTreeMap<String, (String, u8)>, wanted: &Wanted<'_>) -> Found {
    let key = |name: &String| wanted.column.map_or(SortKey::Null, |_| key(name));
    let matches = |id: &String, name: &String| {
        wanted.term.is_none_or(|term| id.to_lowercase().contains(term) || name.to_lowercase().contains(term))
    };
    let mut found: Vec<_> = all
        .iter()
        .filter(|(id, (name, group))| wanted.group.is_none_or(|wanted| wanted == *group) && matches(id, name))
        .map(|(id, (name, _))| (id.clone(), key(name)))
        .collect();
    match (wanted.column, wanted.descending) {
        (None, true) => found.reverse(),
        (None, false) => {}
        (Some(_), false) => found.sort_by(|a, b| a.1.cmp(&b.1)),
        (Some(_), true) => found.sort_by(|a, b| b.1.cmp(&a.1)),
    }
    let total = found.len();
    Found { records: found.into_iter().skip(wanted.passed).take(wanted.size).collect(), total }
}

/// A shelf, and beside it what is to be found there.
#[derive(Default)]
struct Trial {
    shelf: RwLock<Shelf>,
    all: BTreeMap<String, (String, u8)>,
    /// A column that was made, and what was changed since.
    made: Option<(NewColumn, BTreeSet<String>)>,
    /// An order, what was in it, and what was removed since.
    taken: Option<(Order, Vec<String>, BTreeSet<String>)>,
}

impl Trial {
    fn take(&mut self, step: Step, wanted: &Wanted<'_>) {
        match step {
            Step::Apply(changes) => self.apply(changes.into_iter().collect()),
            Step::MakeColumn => {
                let keys = self.all.iter().map(|(id, (name, _))| (id.clone(), key(name)));
                let made = NewColumn::of(&self.shelf, COLUMN, keys.collect());
                self.made = Some((made, BTreeSet::new()));
            }
            Step::KeepColumn => {
                let Some((made, changed)) = self.made.take() else { return };
                let key = |id: &String| self.all.get(id).map_or(SortKey::Null, |(name, _)| key(name));
                let keys = changed.into_iter().map(|id| (id.clone(), key(&id))).collect();
                let shelf = self.shelf.get_mut().unwrap();
                let column = shelf.fitted(made, keys);
                shelf.keep(column);
            }
            Step::Take => {
                let wanted = Wanted { column: None, term: None, ..*wanted };
                let order = self.shelf.get_mut().unwrap().order(&wanted, &OtherKeys::new()).unwrap();
                self.taken = Some((order, names(&plain(&self.all, &whole(&wanted))), BTreeSet::new()));
            }
            Step::Compact => self.shelf.get_mut().unwrap().compact(),
        }
        assert_eq!(self.shelf.get_mut().unwrap().records(), self.all.len());
    }

    fn apply(&mut self, changes: BTreeMap<u8, Option<(String, u8)>>) {
        let shelf = self.shelf.get_mut().unwrap();
        let columns = shelf.columns().len();
        let mut rows = Vec::new();
        for (number, put) in changes {
            let id = format!("c-{number}");
            self.made.iter_mut().for_each(|(_, changed)| _ = changed.insert(id.clone()));
            rows.push((id.clone(), put.as_ref().map(|(name, group)| row(number, name, *group, columns))));
            match put {
                Some(put) => _ = self.all.insert(id, put),
                None => {
                    self.all.remove(&id);
                    self.taken.iter_mut().for_each(|(_, _, removed)| _ = removed.insert(id.clone()));
                }
            }
        }
        shelf.apply(rows);
    }

    /// The order of a list is what a plain look at records with these keys finds.
    fn compare_order(&self, all: &BTreeMap<String, (String, u8)>, others: &OtherKeys, wanted: &Wanted<'_>) {
        let shelf = self.shelf.read().unwrap();
        let in_parts =
            |order: Order| [0..7, 7..order.records()].map(|part| shelf.names(&order, part)).concat();
        let expected = shelf.has(wanted.column).then(|| names(&plain(all, &whole(wanted))));
        assert_eq!(shelf.order(wanted, others).map(in_parts), expected, "{wanted:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]
    #[test]
    fn every_page_and_every_order_is_what_a_plain_look_finds(
        steps in proptest::collection::vec(step(), 1..12),
        term in proptest::option::of(TERMS),
        passed in 0usize..20, size in 1usize..12, descending: bool,
        group in proptest::option::of(0u8..4),
        others in proptest::collection::btree_map(0u8..40, proptest::option::of("[ab]{0,2}"), 0..12),
    ) {
        let asked = Wanted { column: None, descending, group, term: term.as_deref(), passed, size };
        let mut trial = Trial::default();
        steps.into_iter().for_each(|step| trial.take(step, &asked));
        for column in [None, Some(COLUMN)] {
            let wanted = Wanted { column, ..asked };
            let shelf = trial.shelf.read().unwrap();
            for wanted in [wanted, Wanted { group: None, term: None, ..whole(&wanted) }] {
                let expected = shelf.has(column).then(|| plain(&trial.all, &wanted));
                prop_assert_eq!(shelf.page(&wanted), expected, "{:?}", wanted);
            }
            trial.compare_order(&trial.all, &OtherKeys::new(), &wanted);
        }
        // Of some records the order has other keys, or it does not have them.
        let mut all = trial.all.clone();
        let is_gone =
            |id: &String| others.iter().any(|(other, key)| key.is_none() && *id == format!("c-{other}"));
        all.retain(|id, _| !is_gone(id));
        for (id, name) in &others {
            let had = all.get_mut(&format!("c-{id}")).into_iter();
            had.zip(name).for_each(|(had, name)| had.0.clone_from(name));
        }
        let others = others.iter().map(|(id, name)| (format!("c-{id}"), name.as_deref().map(key))).collect();
        trial.compare_order(&all, &others, &Wanted { column: Some(COLUMN), term: None, ..asked });
        if let Some((order, mut was, removed)) = trial.taken {
            let mut seen = trial.shelf.read().unwrap().names(&order, 0..usize::MAX);
            seen.retain(|name| !removed.contains(name));
            was.retain(|name| !removed.contains(name));
            prop_assert_eq!(seen, was);
        }
    }
}

#[test]
fn an_order_takes_four_bytes_for_a_record() {
    let mut shelf = Shelf::default();
    shelf.apply((0..=255).map(|id| (format!("c-{id}"), Some(row(id, "", id % 2, 0)))).collect());
    let wanted = Wanted { column: None, descending: true, group: Some(1), term: None, passed: 0, size: 1 };
    let order = shelf.order(&wanted, &OtherKeys::new()).unwrap();
    assert_eq!((order.records(), order.bytes()), (128, 512));
}

#[test]
fn a_page_from_the_end_begins_and_ends_anywhere_in_runs_of_equal_keys_of_any_length() {
    // Runs of 1, 2, 3 and so on to 21.
    let keys = (1u32..22).flat_map(|run| std::iter::repeat_n(format!("{run:02}"), run as usize));
    let all: BTreeMap<_, _> =
        keys.zip(0u8..).map(|(key, id)| (format!("c-{}", id.wrapping_mul(101)), (key, 0))).collect();
    let mut shelf = Shelf::default();
    shelf.apply(all.keys().map(|id| (id.clone(), Some(row(id[2..].parse().unwrap(), "", 0, 0)))).collect());
    let shelf = RwLock::new(shelf);
    let column = all.iter().map(|(id, (name, _))| (id.clone(), key(name))).collect();
    let column = shelf.read().unwrap().fitted(NewColumn::of(&shelf, COLUMN, column), BTreeMap::new());
    let mut shelf = shelf.into_inner().unwrap();
    drop(shelf.keep(column));
    let wanted =
        Wanted { column: Some(COLUMN), descending: true, group: None, term: None, passed: 0, size: 0 };
    for passed in 0..=all.len() {
        for size in [0, 1, 2, 20, 21, 40, 400] {
            let wanted = Wanted { passed, size, ..wanted };
            assert_eq!(shelf.page(&wanted).unwrap(), plain(&all, &wanted), "{passed}, {size}");
        }
    }
}

#[test]
fn a_column_is_made_while_others_look_at_the_shelf() {
    let mut shelf = Shelf::default();
    let put = |id: u8, name: &str| (format!("c-{id}"), Some(row(id, name, 0, 0)));
    shelf.apply((1..30).map(|id| put(id, "")).collect());
    let shelf = RwLock::new(shelf);
    let looking = shelf.read().unwrap();
    let keys = BTreeMap::from([("c-7".to_owned(), key("b")), ("c-3".to_owned(), key("a"))]);
    let column = looking.fitted(NewColumn::of(&shelf, COLUMN, keys), BTreeMap::new());
    drop(looking);
    let mut shelf = shelf.into_inner().unwrap();
    shelf.keep(column);
    let wanted =
        Wanted { column: Some(COLUMN), descending: true, group: None, term: None, passed: 0, size: 3 };
    assert_eq!(names(&shelf.page(&wanted).unwrap()), ["c-7", "c-3", "c-1"]);
}

#[test]
fn of_many_columns_the_one_that_was_used_least_lately_goes() {
    let shelf = RwLock::new(Shelf::default());
    let keep = |name: &str| {
        let made = NewColumn::of(&shelf, name, BTreeMap::new());
        let column = shelf.read().unwrap().fitted(made, BTreeMap::new());
        drop(shelf.write().unwrap().keep(column));
    };
    ["a", "b", "c", "d"].into_iter().for_each(keep);
    for name in ["b", "a"] {
        let wanted =
            Wanted { column: Some(name), descending: false, group: None, term: None, passed: 0, size: 1 };
        assert!(shelf.read().unwrap().page(&wanted).is_some());
    }
    keep("e");
    assert_eq!(shelf.read().unwrap().columns(), ["a", "b", "d", "e"]);
    keep("f");
    assert_eq!(shelf.read().unwrap().columns(), ["a", "b", "e", "f"]);
}
