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

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]
    #[test]
    fn every_page_is_what_a_plain_look_finds(
        steps in proptest::collection::vec(step(), 1..12),
        term in proptest::option::of(TERMS),
        passed in 0usize..20, size in 1usize..12, descending: bool,
        group in proptest::option::of(0u8..4),
        others in proptest::collection::btree_map(0u8..40, proptest::option::of("[ab]{0,2}"), 0..12),
    ) {
        let (mut shelf, mut all) = (RwLock::new(Shelf::default()), BTreeMap::new());
        // A column that is made, and what was changed since.
        let mut made: Option<(NewColumn, BTreeSet<String>)> = None;
        // An order, what was in it, and what of that was removed since.
        let mut taken: Option<(Order, Vec<String>, BTreeSet<String>)> = None;
        for step in steps {
            match step {
                Step::Apply(changes) => {
                    let shelf = shelf.get_mut().unwrap();
                    let columns = shelf.columns().len();
                    let last: BTreeMap<_, _> = changes.into_iter().collect();
                    for (id, put) in &last {
                        if let Some((_, changed)) = &mut made {
                            changed.insert(format!("c-{id}"));
                        }
                        if let (Some((_, _, removed)), None) = (&mut taken, put) {
                            removed.insert(format!("c-{id}"));
                        }
                        match put {
                            Some(put) => all.insert(format!("c-{id}"), put.clone()),
                            None => all.remove(&format!("c-{id}")),
                        };
                    }
                    let changes = last.into_iter().map(|(id, put)| {
                        (format!("c-{id}"), put.map(|(name, group)| row(id, &name, group, columns)))
                    });
                    shelf.apply(changes.collect());
                }
                Step::MakeColumn => {
                    let keys = all.iter().map(|(id, (name, _)): (&String, &(String, u8))| (id.clone(), key(name)));
                    made = Some((NewColumn::of(&shelf, COLUMN, keys.collect()), BTreeSet::new()));
                }
                Step::KeepColumn => {
                    let Some((made, changed)) = made.take() else { continue };
                    let key = |id: String| {
                        let key = all.get(&id).map_or(SortKey::Null, |(name, _)| key(name));
                        (id, key)
                    };
                    let shelf = shelf.get_mut().unwrap();
                    let column = shelf.fitted(made, changed.into_iter().map(key).collect());
                    shelf.keep(column);
                }
                Step::Take => {
                    let shelf = shelf.get_mut().unwrap();
                    let wanted = Wanted { column: None, descending, group, term: None, passed, size };
                    let order = shelf.order(&wanted, &OtherKeys::new()).unwrap();
                    let whole = Wanted { passed: 0, size: usize::MAX, ..wanted };
                    taken = Some((order, names(&plain(&all, &whole)), BTreeSet::new()));
                }
                Step::Compact => shelf.get_mut().unwrap().compact(),
            }
            prop_assert_eq!(shelf.get_mut().unwrap().records(), all.len());
        }
        let shelf = shelf.into_inner().unwrap();
        for column in [None, Some(COLUMN)] {
            let term = term.as_deref();
            let wanted = Wanted { column, descending, group, term, passed, size };
            let whole = Wanted { group: None, term: None, passed: 0, size: usize::MAX, ..wanted };
            for wanted in [wanted, whole] {
                let expected = shelf.has(column).then(|| plain(&all, &wanted));
                prop_assert_eq!(shelf.page(&wanted), expected, "{:?}", wanted);
            }
            let with = |others: &OtherKeys| {
                let order = shelf.order(&wanted, others)?;
                Some([0..7, 7..order.records()].map(|part| shelf.names(&order, part)).concat())
            };
            let whole = Wanted { passed: 0, size: usize::MAX, ..wanted };
            let expected = shelf.has(column).then(|| names(&plain(&all, &whole)));
            prop_assert_eq!(with(&OtherKeys::new()), expected, "{:?}", whole);
            if column.is_some() && term.is_none() {
                let mut all = all.clone();
                for (id, name) in &others {
                    match name {
                        Some(name) => all.entry(format!("c-{id}")).and_modify(|had| had.0.clone_from(name)),
                        None => {
                            all.remove(&format!("c-{id}"));
                            continue;
                        }
                    };
                }
                let others = others.iter().map(|(id, name)| (format!("c-{id}"), name.as_deref().map(key)));
                let expected = shelf.has(column).then(|| names(&plain(&all, &whole)));
                prop_assert_eq!(with(&others.collect()), expected, "{:?}", whole);
            }
        }
        if let Some((order, mut was, removed)) = taken {
            let mut seen = shelf.names(&order, 0..usize::MAX);
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
