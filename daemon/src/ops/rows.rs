//! Lists that are plain arrays: every record in the order of its key, or of an index. The whole array is
//! read in the transaction of its request; as lines it is read chunk by chunk, and never as a whole.

use super::list::{Cursor, List, bytes_of};
use super::listing::json;
use crate::store::Tx;
use crate::store::engine::{Range, Space};
use crate::store::record::{Record, prefix};
use crate::store::tx::decode;
use mfa_shared::fault::Fault;
use serde::Serialize;
use std::fmt;
use std::sync::Arc;

/// Records that are read in one transaction.
const CHUNK_RECORDS: usize = 500;

type Keep<R> = Box<dyn Fn(&R) -> bool + Send + Sync>;
type Show<R, T> = fn(&mut Tx<'_>, R) -> Result<T, Fault>;
/// Keys of records, with their bytes where these are here.
type Found = Vec<(Vec<u8>, Option<Vec<u8>>)>;
/// The stored bytes of a record as the list shows it, if it does.
type Element<'e> = dyn Fn(&mut Tx<'_>, &[u8]) -> Result<Option<Vec<u8>>, Fault> + 'e;

/// A plain list of the records `R`, shown as `T`.
pub struct Rows<R, T> {
    walk: Walk,
    keep: Option<Keep<R>>,
    show: Show<R, T>,
}

/// Which records, and in which order.
#[derive(Debug)]
struct Walk {
    source: Source,
    newest_first: bool,
    /// Where the records are.
    space: Space,
    /// Showing a record also reads the records with its key in these spaces.
    beside: Vec<Space>,
}

/// Where the elements come from.
#[derive(Debug)]
enum Source {
    /// A range of a space; the bytes of an entry before the key of its record, where it is an index.
    Range(Space, Range, Option<usize>),
    /// The records with these keys.
    Keys(Arc<Vec<Vec<u8>>>),
    /// They are here already.
    Here(Vec<Vec<u8>>),
}

impl<R, T> fmt::Debug for Rows<R, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Rows").field("newest_first", &self.walk.newest_first).finish_non_exhaustive()
    }
}

impl<R: Record, T: Serialize> Rows<R, T> {
    fn new(source: Source, show: Show<R, T>) -> Self {
        let walk = Walk { source, newest_first: false, space: R::SPACE, beside: Vec::new() };
        Self { walk, keep: None, show }
    }

    /// Every record whose key has these parts and more.
    pub fn all(parts: &[&str], show: Show<R, T>) -> Self {
        Self::new(Source::Range(R::SPACE, Range::prefix(&prefix(parts)), None), show)
    }

    /// Every record of a range of keys.
    pub fn within(range: Range, show: Show<R, T>) -> Self {
        Self::new(Source::Range(R::SPACE, range, None), show)
    }

    /// Every record that an index has under these parts.
    pub fn indexed(index: Space, parts: &[&str], show: Show<R, T>) -> Self {
        let under = prefix(parts);
        Self::new(Source::Range(index, Range::prefix(&under), Some(under.len())), show)
    }

    /// The records with these keys, in their order.
    pub fn keyed(keys: Vec<Vec<u8>>, show: Show<R, T>) -> Self {
        Self::new(Source::Keys(Arc::new(keys)), show)
    }

    /// These elements, which are few.
    pub fn these(elements: &[T], show: Show<R, T>) -> Self {
        Self::new(Source::Here(elements.iter().map(json).collect()), show)
    }

    /// Only the records that pass.
    pub fn only(mut self, keep: impl Fn(&R) -> bool + Send + Sync + 'static) -> Self {
        self.keep = Some(Box::new(keep));
        self
    }

    /// The last one first.
    pub fn newest_first(mut self) -> Self {
        self.walk.newest_first = true;
        self
    }

    /// Showing a record also reads the `A` with the same key.
    pub fn beside<A: Record>(mut self) -> Self {
        self.walk.beside.push(A::SPACE);
        self
    }

    fn element(&self, tx: &mut Tx<'_>, stored: &[u8]) -> Result<Option<Vec<u8>>, Fault> {
        let record = decode::<R>(R::SPACE, stored)?;
        if self.keep.as_ref().is_some_and(|keep| !keep(&record)) {
            return Ok(None);
        }
        Ok(Some(json(&(self.show)(tx, record)?)))
    }
}

impl<R: Record, T: Serialize + Send + Sync> List for Rows<R, T> {
    fn page(&self, tx: &mut Tx<'_>) -> Result<Vec<u8>, Fault> {
        self.walk.page(tx, &|tx, stored| self.element(tx, stored))
    }

    fn begin(&self, tx: &mut Tx<'_>) -> Result<Cursor, Fault> {
        if let Source::Keys(keys) = &self.walk.source {
            tx.limits.answer_grows(bytes_of(keys))?;
        }
        Ok(Cursor::Start)
    }

    fn lines(&self, tx: &mut Tx<'_>, cursor: Cursor) -> Result<(Vec<u8>, Cursor), Fault> {
        self.walk.lines(tx, cursor, &|tx, stored| self.element(tx, stored))
    }
}

impl Walk {
    fn page(&self, tx: &mut Tx<'_>, element: &Element<'_>) -> Result<Vec<u8>, Fault> {
        let mut out = b"[".to_vec();
        let mut cursor = Cursor::Start;
        while !matches!(cursor, Cursor::End) {
            let (elements, next) = self.step(tx, cursor, element)?;
            tx.limits.answer_grows(elements.iter().map(Vec::len).sum())?;
            for element in elements {
                if out.len() > 1 {
                    out.push(b',');
                }
                out.extend_from_slice(&element);
            }
            cursor = next;
        }
        out.push(b']');
        Ok(out)
    }

    fn lines(
        &self,
        tx: &mut Tx<'_>,
        cursor: Cursor,
        element: &Element<'_>,
    ) -> Result<(Vec<u8>, Cursor), Fault> {
        let (elements, next) = self.step(tx, cursor, element)?;
        let line = |element: Vec<u8>| [element, b"\n".to_vec()].concat();
        Ok((elements.into_iter().flat_map(line).collect(), next))
    }

    /// The next elements, and the cursor after them.
    fn step(
        &self,
        tx: &mut Tx<'_>,
        cursor: Cursor,
        element: &Element<'_>,
    ) -> Result<(Vec<Vec<u8>>, Cursor), Fault> {
        let (pairs, next) = match &self.source {
            Source::Here(elements) => return Ok((elements.clone(), Cursor::End)),
            Source::Keys(all) => {
                let at = if let Cursor::Keys(_, at) = cursor { at } else { 0 };
                let upto = at.saturating_add(CHUNK_RECORDS).min(all.len());
                let next = if upto < all.len() { Cursor::Keys(all.clone(), upto) } else { Cursor::End };
                let keys = all.get(at..upto).unwrap_or_default();
                tx.expect(self.space, keys)?;
                (keys.iter().map(|key| (key.clone(), None)).collect(), next)
            }
            Source::Range(space, range, passed) => {
                self.ranged(tx, (*space, range.clone(), *passed), cursor)?
            }
        };
        let mut elements = Vec::with_capacity(pairs.len());
        for (key, bytes) in pairs {
            let stored = if bytes.is_some() { bytes } else { tx.value(self.space, &key)? };
            if let Some(stored) = stored {
                elements.extend(element(tx, &stored)?);
            }
        }
        Ok((elements, next))
    }

    /// The next records of a range of a space, and the cursor after them.
    fn ranged(
        &self,
        tx: &mut Tx<'_>,
        (space, range, passed): (Space, Range, Option<usize>),
        cursor: Cursor,
    ) -> Result<(Found, Cursor), Fault> {
        let range = match cursor {
            Cursor::Walk(next) if self.newest_first => Range { to: Some(next), ..range },
            Cursor::Walk(next) => Range { from: next, ..range },
            _ => range,
        };
        let pairs = tx.scan(space, &range, self.newest_first, CHUNK_RECORDS)?;
        let next = match pairs.last() {
            Some((last, _)) if pairs.len() == CHUNK_RECORDS => {
                Cursor::Walk(if self.newest_first { last.clone() } else { [last.as_slice(), &[0]].concat() })
            }
            _ => Cursor::End,
        };
        let key_of = |entry: &[u8]| entry.get(passed.unwrap_or_default()..).unwrap_or_default().to_vec();
        let keys: Vec<_> = pairs.iter().map(|(entry, _)| key_of(entry)).collect();
        for space in passed.map(|_| self.space).iter().chain(&self.beside) {
            tx.expect(*space, &keys)?;
        }
        let value = |value: Vec<u8>| Some(value).filter(|_| passed.is_none());
        let pairs = keys.into_iter().zip(pairs.into_iter().map(|(_, bytes)| value(bytes))).collect();
        Ok((pairs, next))
    }
}

/// Records that [`each`] reads in one step.
const EACH_STEP: usize = 256;

/// Looks at every record of a kind, in the order of their keys.
pub fn each<R: Record>(
    tx: &mut Tx<'_>,
    look: &mut dyn FnMut(&mut Tx<'_>, R) -> Result<(), Fault>,
) -> Result<(), Fault> {
    each_beside(tx, &mut |_, _| Ok(()), look)
}

/// What announces what is read beside records.
pub type Announce<'a, R> = dyn FnMut(&mut Tx<'_>, &[R]) -> Result<(), Fault> + 'a;

/// The same, where each look reads more: `announce` says what, for many records at once, so that a database
/// is not asked for one after the other.
pub fn each_beside<R: Record>(
    tx: &mut Tx<'_>,
    announce: &mut Announce<'_, R>,
    look: &mut dyn FnMut(&mut Tx<'_>, R) -> Result<(), Fault>,
) -> Result<(), Fault> {
    let mut range = Range::prefix(&[]);
    loop {
        let pairs = tx.scan(R::SPACE, &range, false, EACH_STEP)?;
        let records =
            pairs.iter().map(|(_, value)| decode(R::SPACE, value)).collect::<Result<Vec<R>, _>>()?;
        announce(tx, &records)?;
        for record in records {
            look(tx, record)?;
        }
        match pairs.into_iter().last() {
            // The next key is the last one with the smallest byte behind it.
            Some((last, _)) => range.from = [last, vec![0]].concat(),
            None => return Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ops::ledger::tests::memory::Memory;
    use crate::store::record::key;
    use crate::store::records::{StoredUser, USERS_BY_ROLE};

    const USERS: usize = 1_203;

    fn store() -> Memory {
        let mut store = Memory::new();
        let user = |number: usize| StoredUser {
            role_before: None,
            identifier: format!("u{number:04}"),
            role: if number.is_multiple_of(2) { "even" } else { "odd" }.to_owned(),
            must_change_password: false,
            logged_in: false,
            second_factor: false,
            tokens_ended: None,
        };
        store.write(|tx| (0..USERS).try_for_each(|number| tx.put(&user(number)))).unwrap();
        store
    }

    fn name(_: &mut Tx<'_>, user: StoredUser) -> Result<String, Fault> {
        Ok(user.identifier)
    }

    /// The lines of a stream, chunk by chunk.
    fn chunks(store: &mut Memory, rows: &Rows<StoredUser, String>) -> Vec<Vec<String>> {
        let mut cursor = Cursor::Start;
        let mut chunks = Vec::new();
        while !matches!(cursor, Cursor::End) {
            let (lines, next) = store.read(|tx| rows.lines(tx, cursor.clone()));
            let lines = String::from_utf8(lines).unwrap();
            chunks.push(lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect());
            cursor = next;
        }
        chunks
    }

    #[test]
    fn lines_come_in_chunks_and_are_those_of_the_array_in_its_order() {
        let mut store = store();
        let all = || Rows::<StoredUser, String>::all(&[], name);
        let by_role = || Rows::<StoredUser, String>::indexed(USERS_BY_ROLE, &["odd"], name);
        let even = |user: &StoredUser| user.role == "even";
        // Keys of which no record is left are passed over.
        let keys: Vec<_> = (201..USERS + 7).map(|number| key(&[&format!("u{number:04}")])).collect();
        for (rows, count) in [
            (all(), USERS),
            (all().newest_first(), USERS),
            (all().only(even), 602),
            (by_role(), 601),
            (by_role().newest_first(), 601),
            (by_role().only(even), 0),
            (Rows::keyed(keys.clone(), name), 1_002),
            (Rows::keyed(keys.clone(), name).only(even), 501),
            (Rows::keyed(Vec::new(), name), 0),
        ] {
            let array: Vec<String> = serde_json::from_slice(&store.read(|tx| rows.page(tx))).unwrap();
            assert_eq!(array.len(), count, "{rows:?}");
            let chunks = chunks(&mut store, &rows);
            assert!(chunks.iter().all(|chunk| chunk.len() <= CHUNK_RECORDS));
            assert_eq!(chunks.concat(), array, "{rows:?}");
            let ascends = array.is_sorted();
            assert_eq!(ascends, !rows.walk.newest_first || count == 0, "{rows:?}");
        }
    }

    #[test]
    fn whole_chunks_end_a_list_without_an_empty_line() {
        let mut store = store();
        for number in 1_000..USERS {
            let user: StoredUser = store.read(|tx| tx.get(&[&format!("u{number:04}")])).unwrap();
            store
                .write(|tx| {
                    tx.remove(&user);
                    Ok(())
                })
                .unwrap();
        }
        let sizes: Vec<_> = chunks(&mut store, &Rows::all(&[], name)).iter().map(Vec::len).collect();
        assert_eq!(sizes, [500, 500, 0]);
        let none = Rows::<StoredUser, String>::all(&["nobody"], name);
        assert_eq!(store.read(|tx| none.page(tx)), b"[]");
        assert_eq!(chunks(&mut store, &none).concat(), Vec::<String>::new());
    }
}
