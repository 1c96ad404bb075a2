//! A view with changes on top that are not written yet, which can be undone up to a mark.

use super::engine::View;
use super::keys::{Change, Pair, Range, Space};
use super::layer::{Layer, Staged};
use mfa_shared::fault::Fault;

/// A view with changes on top that are not written yet.
pub struct Overlay<'a> {
    base: &'a mut dyn View,
    layer: Layer,
    /// What was staged before at each place that has changed since the mark.
    undo: Option<Vec<Noted>>,
    /// Bytes that were read and staged so far, also those that were undone.
    handled: usize,
}

/// A place and what was staged there.
type Noted = (Space, Vec<u8>, Option<Staged>);

fn bytes_of((key, value): &Pair) -> usize {
    key.len() + value.len()
}

impl std::fmt::Debug for Overlay<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Overlay").field("changes", &self.layer.len()).finish_non_exhaustive()
    }
}

impl<'a> Overlay<'a> {
    /// Nothing changed yet.
    pub fn new(base: &'a mut dyn View) -> Self {
        Self::over(base, Layer::default())
    }

    /// These changes so far.
    pub fn over(base: &'a mut dyn View, layer: Layer) -> Self {
        Self { base, layer, undo: None, handled: 0 }
    }

    /// Stages a change.
    pub fn stage(&mut self, change: Change) {
        self.handled += change.value.as_ref().map_or(0, Vec::len);
        let noted = self.undo.is_some().then(|| (change.space, change.key.clone()));
        let before = self.layer.put(change);
        if let (Some(undo), Some((space, key))) = (&mut self.undo, noted) {
            undo.push((space, key, before));
        }
    }

    /// Marks the point to which [`Overlay::undo`] goes back.
    pub fn mark(&mut self) {
        self.undo = Some(Vec::new());
    }

    /// Undoes what was staged since the mark.
    pub fn undo(&mut self) {
        for (space, key, before) in self.undo.take().into_iter().flatten().rev() {
            match before {
                Some(value) => drop(self.layer.put(Change { space, key, value })),
                None => self.layer.forget(space, &key),
            }
        }
    }

    /// Bytes of all values that were read and staged, each as often as it was.
    pub fn handled(&self) -> usize {
        self.handled
    }

    /// Bytes of what is staged.
    pub fn bytes(&self) -> usize {
        self.layer.bytes()
    }

    /// Everything staged.
    pub fn into_layer(self) -> Layer {
        self.layer
    }

    /// Everything staged, in key order.
    pub fn into_changes(self) -> Vec<Change> {
        self.layer.into_changes().collect()
    }
}

impl View for Overlay<'_> {
    fn get(&mut self, space: Space, key: &[u8]) -> Result<Option<Vec<u8>>, Fault> {
        let found = match self.layer.get(space, key) {
            Some(staged) => staged.clone(),
            None => self.base.get(space, key)?,
        };
        self.handled += found.as_ref().map_or(0, Vec::len);
        Ok(found)
    }

    fn scan(&mut self, space: Space, range: &Range, reverse: bool, limit: usize) -> Result<Vec<Pair>, Fault> {
        let base = &mut *self.base;
        let mut below = |range: &Range, limit: usize| base.scan(space, range, reverse, limit);
        let found = self.layer.scan(space, range, reverse, limit, &mut below)?;
        self.handled += found.iter().map(bytes_of).sum::<usize>();
        Ok(found)
    }

    fn expect(&mut self, space: Space, keys: &[Vec<u8>]) -> Result<(), Fault> {
        self.base.expect(space, keys)
    }

    fn expect_places(&mut self, places: &[(Space, Vec<u8>)]) -> Result<(), Fault> {
        self.base.expect_places(places)
    }

    fn expect_ranges(&mut self, ranges: &[(Space, Range)]) -> Result<bool, Fault> {
        self.base.expect_ranges(ranges)
    }

    fn put_after(&mut self, space: Space, after: u64, limit: usize) -> Result<Option<Vec<Pair>>, Fault> {
        self.base.put_after(space, after, limit)
    }

    fn lasts(&mut self, space: Space, ranges: &[Range]) -> Result<Option<Vec<Option<Pair>>>, Fault> {
        let found = if self.layer.touches(&[space]) { None } else { self.base.lasts(space, ranges)? };
        self.handled += found.iter().flatten().flatten().map(bytes_of).sum::<usize>();
        Ok(found)
    }

    fn let_go(&mut self) {
        self.base.let_go();
    }

    fn watched(&self) -> &'static [Space] {
        self.base.watched()
    }

    fn is_rehearsal(&self) -> bool {
        self.base.is_rehearsal()
    }

    fn holds_object(&mut self, hash: &str) -> Result<bool, Fault> {
        self.base.holds_object(hash)
    }

    /// Staged changes are counted only when they are written, so the version is unknown until then.
    fn version(&mut self) -> Option<u64> {
        if self.layer.touches(self.base.watched()) { None } else { self.base.version() }
    }
}

#[cfg(test)]
pub(in crate::store) mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    const SPACE: Space = Space { id: 7, name: "things" };

    /// One space.
    #[derive(Clone)]
    pub(in crate::store) struct Map(pub(in crate::store) BTreeMap<Vec<u8>, Vec<u8>>);

    impl View for Map {
        fn get(&mut self, _: Space, key: &[u8]) -> Result<Option<Vec<u8>>, Fault> {
            Ok(self.0.get(key).cloned())
        }
        fn scan(&mut self, _: Space, r: &Range, reverse: bool, limit: usize) -> Result<Vec<Pair>, Fault> {
            let inside = |k: &&Vec<u8>| **k >= r.from && r.to.as_ref().is_none_or(|to| *k < to);
            let pairs = self.0.iter().filter(|(k, _)| inside(k)).map(|(k, v)| (k.clone(), v.clone()));
            Ok(if reverse { pairs.rev().take(limit).collect() } else { pairs.take(limit).collect() })
        }
    }

    fn key() -> impl Strategy<Value = Vec<u8>> {
        proptest::collection::vec(prop_oneof![Just(0u8), Just(b'a'), Just(b'b'), Just(0xff)], 0..3)
    }

    proptest! {
        #[test]
        fn staged_changes_look_as_if_they_were_written(
            base in proptest::collection::btree_map(key(), key(), 0..12),
            staged in proptest::collection::vec((key(), proptest::option::of(key())), 0..8),
            taken_back in proptest::collection::vec((key(), proptest::option::of(key())), 0..4),
            prefix in key(), reverse: bool, limit in 0usize..6,
        ) {
            let mut below = Map(base.clone());
            let mut overlay = Overlay::new(&mut below);
            let mut expected = Map(base);
            for (key, value) in staged {
                overlay.stage(Change { space: SPACE, key: key.clone(), value: value.clone() });
                match value {
                    Some(value) => expected.0.insert(key, value),
                    None => expected.0.remove(&key),
                };
            }
            overlay.mark();
            for (key, value) in taken_back {
                overlay.stage(Change { space: SPACE, key, value });
            }
            overlay.undo();
            let range = Range::prefix(&prefix);
            prop_assert_eq!(
                overlay.scan(SPACE, &range, reverse, limit).unwrap(),
                expected.scan(SPACE, &range, reverse, limit).unwrap()
            );
            prop_assert_eq!(overlay.get(SPACE, &prefix).unwrap(), expected.get(SPACE, &prefix).unwrap());
        }
    }
}
