use super::*;
use crate::domain::rate::Rates;
use Bucket::{Address, Token, Unauthenticated};

const TWO: Limit = Limit { a_second: 2, seconds: 3 };

fn at(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

#[test]
fn a_bucket_gives_what_it_holds_and_fills_again_evenly() {
    let buckets = Buckets::default();
    let take = |key: &str, millis| buckets.take(Token, &key, TWO, at(millis));
    let left: Vec<_> = (0..6).map(|_| take("a", 1000).unwrap().left).collect();
    assert_eq!(left, [5, 4, 3, 2, 1, 0]);
    let refused = take("a", 1000).unwrap_err();
    assert_eq!((refused.left, refused.reset), (0, at(500)));
    assert_eq!(take("a", 1400).unwrap_err().reset, at(100), "a refusal costs nothing");
    assert_eq!(take("a", 1500).unwrap().left, 0);
    assert_eq!(take("b", 1500).unwrap().left, 5, "another key has a bucket of its own");
    assert_eq!(take("a", 60_000).unwrap().left, 5, "it holds no more than a full one");
}

#[test]
fn operations_beyond_what_is_there_are_waited_for() {
    let buckets = Buckets::default();
    buckets.take(Token, &"a", TWO, at(0)).unwrap();
    buckets.owe(Token, &"a", TWO, 9, at(0));
    let refused = buckets.take(Token, &"a", TWO, at(0)).unwrap_err();
    assert_eq!((refused.seconds(), refused.reset), (3, at(2500)));
    buckets.take(Token, &"a", TWO, at(2500)).unwrap();
}

#[test]
fn headers_say_what_the_draft_of_the_ietf_says() {
    let buckets = Buckets::default();
    let full = buckets.take(Unauthenticated, &"a", TWO, at(0)).unwrap();
    assert_eq!(full.policy(), "\"unauthenticated\";q=6;w=3");
    assert_eq!((full.header().as_str(), full.is_low()), ("\"unauthenticated\";r=5;t=1", false));
    let last = (0..5).map(|_| buckets.take(Unauthenticated, &"a", TWO, at(0)).unwrap()).last().unwrap();
    assert_eq!((last.header().as_str(), last.is_low()), ("\"unauthenticated\";r=0;t=3", true));
}

#[test]
fn a_million_random_keys_take_no_more_memory() {
    let buckets = Buckets::default();
    for key in 0..1_000_000_u32 {
        // A thousand a millisecond: at any moment more buckets are not full than there is room for.
        let _ = buckets.take(Address, &key, TWO, at((key / 1000).into()));
        assert!(key % 4096 != 0 || buckets.count() <= SHARDS * BUCKETS_MAX);
    }
    assert!(buckets.count() <= SHARDS * BUCKETS_MAX, "{}", buckets.count());
    // Slow enough that they fill, the same number leaves next to nothing of the earlier ones.
    let slow = Buckets::default();
    for key in 0..1_000_000_u32 {
        let _ = slow.take(Address, &key, TWO, at(u64::from(key) * 10));
    }
    assert!(slow.count() <= SHARDS * BUCKETS_MAX, "{}", slow.count());
    slow.take(Token, &"live", TWO, at(10_000_000)).unwrap();
    assert!(slow.has(Token, &"live"));
    slow.forget("live");
    assert!(!slow.has(Token, &"live"));
}

#[test]
fn this_machine_is_limited_only_where_a_setting_says_so() {
    let (here, there) = ("127.0.0.1".parse().unwrap(), "192.0.2.1".parse().unwrap());
    let rates = Rates { unauthenticated: Some(5), address: Some(0), ..Rates::default() };
    let limit = |bucket, origin| rates.limit(bucket, origin).map(|limit| limit.quota());
    assert_eq!([limit(Token, here), limit(Token, there)], [None, Some(100_000)]);
    assert_eq!([limit(Unauthenticated, here), limit(Unauthenticated, there)], [Some(50), Some(50)]);
    assert_eq!([limit(Address, here), limit(Address, there)], [None, None], "0 is no limit");
}
