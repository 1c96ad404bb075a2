use super::*;
use proptest::prelude::*;

const COLUMN: &str = "surname";
/// Terms with less than four bytes, which are in no index, and longer ones.
const TERMS: &str = "[abc]|c-1|ö|ss|ß|i|x|\n|-3|c-[0-9]{2}|öse|gros|groß|u kon|amadou koné|amadon|";

fn row(id: u8, name: &str, group: u8, columns: usize) -> Row {
    let identifier = format!("c-{id}");
    let key = if name.is_empty() { SortKey::Null } else { SortKey::Text(name.to_owned()) };
    Row { texts: texts([Some(identifier.as_str()), Some(name)]), identifier, group, keys: vec![key; columns] }
}

#[derive(Debug, Clone)]
enum Step {
    /// Records that are put or removed together.
    Apply(Vec<(u8, Option<(String, u8)>)>),
    AddColumn,
    Compact,
}

fn step() -> impl Strategy<Value = Step> {
    let name = prop_oneof!["[ab]{0,2}", "Ama|ama|ÖSE|öse|Groß|GROSS|İ|Amadou Koné"];
    let put = (name, 0u8..3).prop_map(Some);
    let change = (0u8..40, prop_oneof![4 => put, 1 => Just(None)]);
    prop_oneof![
        8 => proptest::collection::vec(change, 1..30).prop_map(Step::Apply),
        1 => Just(Step::AddColumn),
        1 => Just(Step::Compact),
    ]
}

/// What a plain look at all records finds.
fn plain(all: &BTreeMap<String, (String, u8)>, wanted: &Wanted<'_>) -> Found {
    let key = |name: &String| match wanted.column {
        None => SortKey::Null,
        Some(_) if name.is_empty() => SortKey::Null,
        Some(_) => SortKey::Text(name.clone()),
    };
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
    ) {
        let (mut shelf, mut all) = (Shelf::default(), BTreeMap::new());
        for step in steps {
            match step {
                Step::Apply(changes) => {
                    let columns = shelf.columns().len();
                    let last: BTreeMap<_, _> = changes.into_iter().collect();
                    for (id, put) in &last {
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
                Step::AddColumn => {
                    let key = |(id, (name, _)): (&String, &(String, u8))| {
                        let key = if name.is_empty() { SortKey::Null } else { SortKey::Text(name.clone()) };
                        (id.clone(), key)
                    };
                    shelf.add_column(COLUMN, all.iter().map(key).collect());
                }
                Step::Compact => shelf.compact(),
            }
            prop_assert_eq!(shelf.records(), all.len());
        }
        for column in [None, Some(COLUMN)] {
            let term = term.as_deref();
            let wanted = Wanted { column, descending, group, term, passed, size };
            let expected = shelf.has(column).then(|| plain(&all, &wanted));
            prop_assert_eq!(shelf.page(&wanted), expected, "{:?}", wanted);
        }
    }
}

#[test]
fn only_so_many_columns_are_kept() {
    let mut shelf = Shelf::default();
    shelf.apply(vec![("c-1".to_owned(), Some(row(1, "a", 0, 0)))]);
    for name in ["a", "b", "c", "d", "e"] {
        shelf.add_column(name, BTreeMap::new());
    }
    assert_eq!(shelf.columns(), ["b", "c", "d", "e"]);
}
