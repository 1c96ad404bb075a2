//! Who follows the journal of an engine gets the keys of the spaces that it names.

use super::conformance::{BEFORE, BEHIND, SPACES, THINGS, change, open};
use mfa_daemon::store::engine::{Followed, Space};
use std::time::{Duration, Instant};

/// On a server that others use, a transaction of theirs holds back for a moment what was committed since it
/// began.
fn wait_until(is_there: impl Fn() -> bool) {
    let until = Instant::now() + Duration::from_secs(10);
    while !is_there() && Instant::now() < until {
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn the_journal_is_followed_by_the_keys_of_some_spaces() {
    let store = open();
    let since = |after: Option<&Followed>, limit: usize, spaces: &[Space]| {
        store.runtime.block_on(store.engine.changed_since(after.cloned(), limit, spaces)).unwrap()
    };
    let put_since = |after: u64, limit: usize| {
        store.runtime.block_on(store.engine.put_since(THINGS, after, limit)).unwrap()
    };
    let begin = since(None, 0, &[]).followed;
    let wait_for = |keys: usize| {
        wait_until(|| {
            let all = since(Some(&begin), 1_000, SPACES);
            all.keys.len() == keys && since(Some(&all.followed), 1_000, SPACES).keys.is_empty()
        });
    };
    let (things, behind) =
        (|key: u8| change(THINGS, [key], Some(b"1")), |key: u8| change(BEHIND, [key], None));
    store.put((0..200).map(|key| change(BEFORE, [key], Some(&[key; 100]))).collect());
    store.put([2, 4].map(|key: u8| change(BEHIND, [key], Some(b"1"))).to_vec());
    store.put(vec![things(1), behind(2)]);
    store.put(vec![change(THINGS, [1], None), things(3), change(BEFORE, [1], None)]);
    store.put(vec![behind(4)]);
    store.put(vec![change(THINGS, [3], None)]);
    wait_for(200 + 2 + 2 + 3 + 1 + 1);
    let key = |space: Space, key: u8| (space, vec![key]);
    let all = since(Some(&begin), 1_000, SPACES);
    assert_eq!((all.keys.len(), all.more), (200 + 2 + 2 + 3 + 1 + 1, false));
    let some = since(Some(&begin), 1_000, &[BEHIND, THINGS]);
    let there = [key(BEHIND, 2), key(BEHIND, 4)];
    let changed =
        [key(THINGS, 1), key(BEHIND, 2), key(THINGS, 1), key(THINGS, 3), key(BEHIND, 4), key(THINGS, 3)];
    let wanted = [&there[..], &changed].concat();
    let sorted = |mut keys: Vec<(Space, Vec<u8>)>| {
        keys.sort();
        keys
    };
    assert_eq!(sorted(some.keys), sorted(wanted.clone()));
    assert_eq!(some.followed.next, all.followed.next);
    // What did not change goes on to the end all the same.
    let none = since(Some(&all.followed), 1_000, &[BEHIND]);
    assert_eq!((none.keys.len(), none.followed.next, none.more), (0, all.followed.next, false));
    store.put(vec![things(5)]);
    wait_for(200 + 2 + 2 + 3 + 1 + 1 + 1);
    assert!(since(Some(&all.followed), 1_000, &[BEHIND]).followed.next > all.followed.next);
    // In pages of one commit everything comes once more, in the same order.
    let (mut found, mut from) = (Vec::new(), begin.clone());
    loop {
        let page = since(Some(&from), 1, &[BEHIND, THINGS]);
        found.extend(page.keys);
        from = page.followed;
        if !page.more {
            break;
        }
    }
    assert_eq!(sorted(found), sorted([&wanted[..], &[key(THINGS, 5)]].concat()));
    if !store.engine.is_shared() {
        return;
    }
    // Only what was put, but the place of every commit that changed the space.
    let begin = begin.place();
    let put = put_since(begin, 1_000);
    let keys: Vec<_> = put.commits.iter().map(|(_, keys)| keys.clone()).collect();
    assert_eq!(keys, [vec![vec![1]], vec![vec![3]], vec![], vec![vec![5]]]);
    assert!(put.upto >= put.commits[3].0 && !put.more);
    let first = put_since(begin, 1);
    assert_eq!((first.commits.len(), first.upto, first.more), (1, put.commits[0].0, true));
    assert_eq!(put_since(put.upto, 1_000).commits, []);
}
