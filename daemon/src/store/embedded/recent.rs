//! The keys that recent commits changed, in memory. Lists and searches ask for them before each answer;
//! without them each would read the journal from the last known place, up to a mebibyte.

use crate::store::engine::{Changed, Space};
use crate::store::layer::Layer;
use std::collections::VecDeque;

/// The most keys that are kept; the oldest are dropped first.
const KEYS_MAX: usize = 1 << 16;

/// The keys that a group of commits changed.
#[derive(Debug)]
struct Group {
    last: u64,
    keys: Box<[(Space, Vec<u8>)]>,
}

/// The keys that recent groups of commits changed, oldest first.
#[derive(Debug, Default)]
pub(super) struct Recent {
    groups: VecDeque<Group>,
    /// The commit before the first of the groups, once there was one.
    before: Option<u64>,
    keys: usize,
}

impl Recent {
    /// Adds the group of the commits from `first` to `last`.
    pub(super) fn note(&mut self, first: u64, last: u64, changes: &Layer) {
        let keys: Box<[_]> = changes.iter().map(|(space, key, _)| (space, key.clone())).collect();
        self.before.get_or_insert(first.saturating_sub(1));
        self.keys += keys.len();
        self.groups.push_back(Group { last, keys });
        while self.keys > KEYS_MAX {
            let Some(oldest) = self.groups.pop_front() else { break };
            self.keys -= oldest.keys.len();
            self.before = Some(oldest.last);
        }
    }

    /// The keys of some spaces changed after a commit, up to the last published one, in whole groups of about
    /// `limit` commits; `None` if some of them were dropped.
    pub(super) fn since(
        &self,
        after: u64,
        published: u64,
        limit: usize,
        spaces: &[Space],
    ) -> Option<Changed> {
        if self.before.is_none_or(|before| after < before) {
            return None;
        }
        let start = self.groups.partition_point(|group| group.last <= after);
        let groups = self.groups.iter().skip(start).take_while(|group| group.last <= published);
        let mut changed = Changed { upto: after, ..Changed::default() };
        for group in groups {
            if changed.upto - after >= limit as u64 {
                break;
            }
            changed.keys.extend(group.keys.iter().filter(|(space, _)| spaces.contains(space)).cloned());
            changed.upto = group.last;
        }
        changed.more = changed.upto < published;
        Some(changed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::engine::Change;
    use proptest::prelude::*;

    const SPACE: Space = Space { id: 7, name: "things" };

    fn layer(keys: &[u64]) -> Layer {
        let mut layer = Layer::default();
        for key in keys {
            layer.put(Change { space: SPACE, key: key.to_be_bytes().to_vec(), value: None });
        }
        layer
    }

    proptest! {
        #[test]
        fn a_follower_gets_every_key_that_was_published_after_its_place(
            first in 1u64..50, groups in proptest::collection::vec(1u64..5, 0..30), limit in 1usize..6,
            unpublished in 0usize..3, start in 0u64..80,
        ) {
            let (mut recent, mut lasts, mut last) = (Recent::default(), Vec::new(), first - 1);
            for count in groups {
                // Each commit changes the key that is its sequence.
                recent.note(last + 1, last + count, &layer(&(last + 1..=last + count).collect::<Vec<_>>()));
                last += count;
                lasts.push(last);
            }
            lasts.truncate(lasts.len() - unpublished.min(lasts.len()));
            let published = lasts.last().copied().unwrap_or(first - 1);
            let after = start.min(published);
            let mut at = after;
            let mut seen = Vec::new();
            loop {
                let Some(changed) = recent.since(at, published, limit, &[SPACE]) else {
                    prop_assert!(at < first - 1 || last == first - 1);
                    return Ok(());
                };
                seen.extend(changed.keys.iter().map(|(_, key)| u64::from_be_bytes(key[..].try_into().unwrap())));
                prop_assert!(changed.more == (changed.upto < published) && (changed.upto > at || !changed.more));
                at = changed.upto;
                if !changed.more {
                    break;
                }
            }
            prop_assert!(after >= first - 1);
            prop_assert!((after + 1..=published).all(|key| seen.contains(&key)));
            prop_assert!(seen.iter().all(|key| *key <= published));
        }
    }

    #[test]
    fn the_oldest_keys_are_dropped_first_and_are_then_unknown() {
        let mut recent = Recent::default();
        let many: Vec<u64> = (0..KEYS_MAX as u64 / 2).collect();
        for group in 1..=3 {
            recent.note(group, group, &layer(&many));
        }
        assert!(recent.since(0, 3, 10, &[SPACE]).is_none());
        assert_eq!(recent.since(1, 3, 10, &[SPACE]).map(|changed| changed.keys.len()), Some(2 * many.len()));
        // One group alone that is larger than all that may be kept.
        recent.note(4, 4, &layer(&(0..=KEYS_MAX as u64).collect::<Vec<_>>()));
        assert!(recent.since(3, 4, 10, &[SPACE]).is_none());
        assert_eq!(recent.since(4, 4, 10, &[SPACE]).map(|changed| changed.keys.len()), Some(0));
    }
}
