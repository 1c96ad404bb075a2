//! Pages of long lists: by the numbers in memory they are those of a walk, and cost what they show.

use super::memory::Memory;
use super::posting::{amount, entry};
use crate::domain::numbers::{ListNumbers, ListOf};
use crate::ops::Caller;
use crate::ops::ledger::*;
use crate::ops::list::List;
use crate::store::Tx;
use mfa_shared::api::ledger::AccountRole::{Drawer, OverShort, Vault};
use mfa_shared::api::ledger::*;
use mfa_shared::fault::{Fault, UNAVAILABLE};
use mfa_shared::query::{Parameters, Params};
use mfa_shared::wire::Query;
use proptest::prelude::*;
use std::sync::{Arc, LazyLock};

const ACCOUNTS: [(&str, AccountRole); 3] = [("drawer", Drawer), ("vault", Vault), ("odd", OverShort)];
const TYPES: [&str; 3] = ["CDPT", "CWDL", "DAJT"];

fn store() -> Memory {
    let mut store = Memory::new();
    let name = |tx: &mut Tx<'_>| {
        ACCOUNTS.iter().try_for_each(|(account, role)| name_account(tx, "/field", account, *role))
    };
    store.write(name).unwrap();
    store
}

/// Two days of lists that are long enough to be worth keeping.
static LONG: LazyLock<Memory> = LazyLock::new(|| {
    let mut store = store();
    for _ in 0..2 {
        let post = |at| [(at % 7) as u8, (at % 5) as u8, 0];
        store.write(|tx| (0..900).try_for_each(|at| posting(tx, post(at)))).unwrap();
        store.now = store.now.plus_seconds(86_400);
    }
    store
});

/// Posts an entry of a type on two accounts, one of them perhaps twice.
fn posting(tx: &mut Tx<'_>, [r#type, debited, twice]: [u8; 3]) -> Result<(), Fault> {
    let (from, role) = ACCOUNTS[usize::from(debited) % 3];
    let (to, other) = ACCOUNTS[(usize::from(debited) + 1) % 3];
    let mut lines = vec![debit(from, role, amount("2"))];
    match twice % 2 {
        0 => lines.push(credit(to, other, amount("2"))),
        _ => lines.extend([credit(to, other, amount("1")), credit(to, other, amount("1"))]),
    }
    post(tx, entry(TYPES[usize::from(r#type) % 3], lines)).map(drop)
}

/// A page, as the endpoint of a path shows it.
fn page(tx: &mut Tx<'_>, path: &str) -> Result<String, Fault> {
    let (place, query) = path.split_once('?').unwrap_or((path, ""));
    let params = Params::parse(query);
    let bytes = match place {
        "journal" => {
            list_journal(tx, &Caller::guest(), &ListJournal {}, &Query(JournalQuery::read(&params)?))?
                .page(tx)
        }
        account => {
            let at = ListAccountEntries { account: account.to_owned() };
            list_account_entries(tx, &Caller::guest(), &at, &Query(EntryQuery::read(&params)?))?.page(tx)
        }
    };
    Ok(String::from_utf8(bytes?).unwrap())
}

fn path() -> impl Strategy<Value = String> {
    let place = prop_oneof![
        3 => proptest::sample::select(vec!["drawer?", "vault?", "odd?"]).prop_map(str::to_owned),
        1 => Just("journal?".to_owned()),
        2 => proptest::sample::select(TYPES.to_vec()).prop_map(|t| format!("journal?type={t}&")),
        2 => Just("journal?account=vault&".to_owned()),
        1 => Just("journal?account=drawer&type=CWDL&".to_owned()),
    ];
    let dates = proptest::option::of((6u8..14, 0u8..4));
    (place, any::<bool>(), 0u32..60, 1u32..30, dates).prop_map(|(place, descending, index, size, dates)| {
        let order = if descending { "DESC" } else { "ASC" };
        let dates = dates.map_or_else(String::new, |(first, more)| {
            format!("&dateRange=2031-05-{first:02}..2031-05-{:02}", first + more)
        });
        format!("{place}pageIndex={index}&size={size}&sortDirection={order}{dates}")
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 10, max_shrink_iters: 200, ..ProptestConfig::default() })]
    #[test]
    fn a_page_by_the_numbers_in_memory_is_that_of_a_walk(
        rounds in proptest::collection::vec(
            (proptest::collection::vec(any::<[u8; 3]>(), 1..200), proptest::collection::vec(path(), 6)), 1..7,
        ),
        // Little room: few lists, which are not known up to their ends.
        room in prop_oneof![Just(17_000), Just(30_000), Just(1_000_000)],
    ) {
        let (mut store, numbers) = (LONG.clone(), Arc::new(ListNumbers::with_room(room)));
        for (postings, paths) in rounds {
            store.write(|tx| postings.into_iter().try_for_each(|of| posting(tx, of))).unwrap();
            for path in paths {
                let by_numbers = store.read_with(&numbers, |tx| page(tx, &path));
                prop_assert_eq!(by_numbers, store.read(|tx| page(tx, &path)), "{}", path);
            }
            store.now = store.now.plus_seconds(86_400);
        }
    }
}

#[test]
fn once_a_list_is_known_every_page_of_it_costs_what_it_shows() {
    let mut store = store();
    let numbers = Arc::new(ListNumbers::default());
    store.write(|tx| (0..6_000).try_for_each(|_| posting(tx, [0, 0, 0]))).unwrap();
    let mut cost = |path: &str, more: u8| {
        store.write(|tx| (0..more).try_for_each(|_| posting(tx, [0, 0, 0]))).unwrap();
        store.looked_at = 0;
        store.read_with(&numbers, |tx| page(tx, path));
        store.looked_at
    };
    for place in ["drawer?", "journal?type=CDPT&", "journal?account=vault&"] {
        let first = cost(&format!("{place}size=20"), 0);
        assert!(first > 6_000, "{place} is walked once: {first}");
        for rest in [
            "size=20",
            "size=20&pageIndex=290",
            "size=20&sortDirection=DESC",
            "dateRange=2031-05-06..2031-05-06",
        ] {
            let cost = cost(&format!("{place}{rest}"), 5);
            assert!(cost < 120, "{place}{rest} costs {cost}");
        }
    }
}

#[test]
fn days_that_begin_late_are_walked_once_and_what_precedes_them_is_not() {
    let mut store = store();
    let numbers = Arc::new(ListNumbers::default());
    let mut cost = |paths: &[String], more: usize, later: i64| {
        store.now = store.now.plus_seconds(later);
        store.write(|tx| (0..more).try_for_each(|_| posting(tx, [0, 0, 0]))).unwrap();
        store.looked_at = 0;
        paths.iter().for_each(|path| drop(store.read_with(&numbers, |tx| page(tx, path))));
        store.looked_at
    };
    cost(&[], 6_000, 0);
    cost(&[], 3_000, 86_400);
    for place in ["drawer?", "journal?type=CDPT&", "journal?account=vault&"] {
        let path = |rest: &str| vec![format!("{place}size=20&{rest}")];
        let day = path("dateRange=2031-05-07..2031-05-07");
        let first = cost(&day, 0, 0);
        assert!((3_000..3_200).contains(&first), "{place} is walked from the day on: {first}");
        for rest in ["&pageIndex=140", "&sortDirection=DESC", "&sortDirection=DESC&pageIndex=3"] {
            let cost = cost(&[format!("{}{rest}", day[0])], 5, 0);
            assert!(cost < 140, "{place}{rest} of a day that goes on costs {cost}");
        }
        assert!(cost(&path(""), 0, 0) > 6_000, "the whole list is another one");
        let cost = cost(&day, 5, 0);
        assert!(cost < 140, "{place} costs {cost}");
    }
}

#[test]
fn what_a_list_has_no_room_for_is_walked_at_each_page() {
    let mut store = store();
    let numbers = Arc::new(ListNumbers::with_room(53_400));
    store.write(|tx| (0..6_000).try_for_each(|_| posting(tx, [0, 0, 0]))).unwrap();
    let mut cost = |path: &str| {
        store.looked_at = 0;
        store.read_with(&numbers, |tx| page(tx, path));
        store.looked_at
    };
    assert!(cost("drawer?size=20") > 6_000);
    for path in ["drawer?size=20", "drawer?size=20&sortDirection=DESC", "drawer?size=20&pageIndex=290"] {
        let cost = cost(path);
        assert!((2_500..3_200).contains(&cost), "{path} costs {cost}");
    }
}

#[test]
fn a_walk_of_another_holds_up_those_who_ask_for_the_same_list_and_nobody_else() {
    let mut store = LONG.clone();
    let numbers = Arc::new(ListNumbers::default());
    let vault = ListOf::Lines("vault".to_owned()).into();
    let walked = numbers.making().try_lock(&vault).unwrap();
    let mut page = |path: &str| {
        let now = store.now;
        page(&mut Tx::new(&mut store, now, false).with_numbers(numbers.clone()), path)
    };
    assert_eq!(page("vault?size=20").unwrap_err().kind, UNAVAILABLE);
    for path in
        ["drawer?size=1", "journal?account=vault&size=1", "vault?size=1&dateRange=2031-05-07..2031-05-07"]
    {
        page(path).unwrap();
    }
    drop(walked);
    page("vault?size=20").unwrap();
}

#[test]
fn the_entries_of_a_walk_are_announced_and_what_it_found_is_kept_when_it_breaks_off() {
    let mut store = store();
    let numbers = Arc::new(ListNumbers::default());
    store.write(|tx| (0..6_000).try_for_each(|at| posting(tx, [(at % 2) as u8, 0, 0]))).unwrap();
    let path = "journal?account=vault&type=CDPT&size=20";
    (store.looked_at, store.ends_at) = (0, 9_000);
    let now = store.now;
    page(&mut Tx::new(&mut store, now, false).with_numbers(numbers.clone()), path).unwrap_err();
    (store.looked_at, store.unannounced, store.ends_at) = (0, 0, usize::MAX);
    store.read_with(&numbers, |tx| page(tx, path));
    // A line and an entry for each of those that the first walk did not come to.
    assert!((1_000..5_000).contains(&store.looked_at), "{}", store.looked_at);
    assert!(store.unannounced < 50, "{}", store.unannounced);
}
