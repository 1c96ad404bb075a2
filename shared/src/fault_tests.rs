//! The table of faults is in order.

use super::*;

#[test]
fn each_code_is_once_in_the_table_and_is_a_slug() {
    let mut codes: Vec<_> = TABLE.iter().map(|k| k.code).collect();
    codes.sort_unstable();
    let count = codes.len();
    codes.dedup();
    assert_eq!(codes.len(), count);
    for kind in TABLE {
        assert!(kind.code.bytes().all(|b| b.is_ascii_lowercase() || b == b'_'), "{}", kind.code);
        assert!((400..=503).contains(&kind.status) && !kind.title.is_empty());
        assert_eq!(find(kind.code), Some(*kind));
    }
}

#[test]
fn exit_codes_stand_once_and_in_order() {
    assert!(exit::TABLE.windows(2).all(|w| w[0].0 < w[1].0));
}
