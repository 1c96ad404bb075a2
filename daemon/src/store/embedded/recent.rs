//! The keys that recent commits changed, in memory. Lists and searches ask for them before each answer;
//! without them each would read the journal from the last known place, up to a mebibyte. Nobody asks for most
//! spaces: only those that were asked for once are kept, so that some seconds of an import have room.

use crate::store::engine::{Changed, Followed, Range, Space};
use crate::store::layer::Layer;
use std::collections::VecDeque;

/// The most keys and groups that are kept; the oldest are dropped first.
const KEPT_MAX: usize = 1 << 16;

/// The keys that a group of commits changed.
#[derive(Debug)]
struct Group {
    last: u64,
    keys: Box<[(Space, Vec<u8>)]>,
}

impl Group {
    /// How much of [`KEPT_MAX`] it takes.
    fn kept(&self) -> usize {
        1 + self.keys.len()
    }
}

/// The keys that recent groups of commits changed, oldest first.
#[derive(Debug, Default)]
pub(super) struct Recent {
    groups: VecDeque<Group>,
    /// The commit before the first of the groups, once there was one.
    before: Option<u64>,
    kept: usize,
    /// The spaces that were asked for, each with the last commit whose keys of it were not kept.
    asked: Vec<(Space, u64)>,
}

impl Recent {
    /// Adds the group of the commits from `first` to `last`.
    pub(super) fn note(&mut self, first: u64, last: u64, changes: &Layer) {
        let all = Range::prefix(b"");
        let of = |space: Space| changes.range(space, &all).map(move |(key, _)| (space, key.clone()));
        let keys = self.asked.iter().flat_map(|(space, _)| of(*space));
        let group = Group { last, keys: keys.collect() };
        self.before.get_or_insert(first.saturating_sub(1));
        self.kept += group.kept();
        self.groups.push_back(group);
        while self.kept > KEPT_MAX {
            let Some(oldest) = self.groups.pop_front() else { break };
            self.kept -= oldest.kept();
            self.before = Some(oldest.last);
        }
    }

    /// The keys of some spaces changed after a commit, up to the last published one, in whole groups of about
    /// `limit` commits; `None` if some of them are not kept. From now on they are.
    pub(super) fn since(
        &mut self,
        after: u64,
        published: u64,
        limit: usize,
        spaces: &[Space],
    ) -> Option<Changed> {
        let not_kept = spaces.iter().map(|space| self.not_kept(*space)).max();
        if not_kept > Some(after) || self.before.is_none_or(|before| after < before) {
            return None;
        }
        let start = self.groups.partition_point(|group| group.last <= after);
        let groups = self.groups.iter().skip(start).take_while(|group| group.last <= published);
        let (mut keys, mut upto) = (Vec::new(), after);
        for group in groups {
            if upto - after >= limit as u64 {
                break;
            }
            keys.extend(group.keys.iter().filter(|(space, _)| spaces.contains(space)).cloned());
            upto = group.last;
        }
        Some(Changed { keys, followed: Followed::upto(upto), more: upto < published })
    }

    /// The last commit whose keys of a space are not kept.
    fn not_kept(&mut self, space: Space) -> u64 {
        if let Some((_, last)) = self.asked.iter().find(|(asked, _)| *asked == space) {
            return *last;
        }
        let last = self.groups.back().map(|group| group.last).or(self.before).unwrap_or(0);
        self.asked.push((space, last));
        last
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::engine::Change;
    use proptest::prelude::*;

    const SPACE: Space = Space { id: 7, name: "things" };

    /// As it is once somebody has asked for what is noted afterwards.
    fn asked() -> Recent {
        let mut recent = Recent::default();
        assert!(recent.since(0, 0, 1, &[SPACE]).is_none());
        recent
    }

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
            let (mut recent, mut lasts, mut last) = (asked(), Vec::new(), first - 1);
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
                prop_assert!(changed.more == (changed.followed.place() < published) && (changed.followed.place() > at || !changed.more));
                at = changed.followed.place();
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
        let mut recent = asked();
        let many: Vec<u64> = (1..KEPT_MAX as u64 / 2).collect();
        for group in 1..=3 {
            recent.note(group, group, &layer(&many));
        }
        assert!(recent.since(0, 3, 10, &[SPACE]).is_none());
        assert_eq!(recent.since(1, 3, 10, &[SPACE]).map(|changed| changed.keys.len()), Some(2 * many.len()));
        // One group alone that is larger than all that may be kept.
        recent.note(4, 4, &layer(&(0..=KEPT_MAX as u64).collect::<Vec<_>>()));
        assert!(recent.since(3, 4, 10, &[SPACE]).is_none());
        assert_eq!(recent.since(4, 4, 10, &[SPACE]).map(|changed| changed.keys.len()), Some(0));
    }
    #[test]
    fn a_space_is_kept_from_the_first_time_that_it_is_asked_for() {
        const OTHER: Space = Space { id: 8, name: "other things" };
        let mut recent = asked();
        let both = || {
            let mut both = layer(&[1]);
            both.put(Change { space: OTHER, key: b"key".to_vec(), value: None });
            both
        };
        recent.note(1, 1, &both());
        assert_eq!(recent.since(0, 1, 10, &[SPACE]).unwrap().keys.len(), 1);
        // One group is noted, and not published yet, when it is asked for.
        recent.note(2, 2, &both());
        assert!(recent.since(1, 1, 10, &[OTHER, SPACE]).is_none());
        assert!(recent.since(1, 2, 10, &[OTHER]).is_none());
        recent.note(3, 3, &both());
        let changed = recent.since(2, 3, 10, &[SPACE, OTHER]).unwrap();
        assert_eq!((changed.keys.len(), changed.followed.place()), (2, 3));
        assert_eq!(recent.since(0, 3, 10, &[SPACE]).unwrap().keys.len(), 3);
    }

    #[test]
    fn groups_without_keys_that_are_asked_for_are_dropped_as_well() {
        let mut recent = Recent::default();
        for group in 1..=KEPT_MAX as u64 + 5 {
            recent.note(group, group, &layer(&[group]));
        }
        assert_eq!((recent.groups.len(), recent.before), (KEPT_MAX, Some(5)));
    }
}
