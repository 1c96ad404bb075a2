//! What every list can do, whatever its records are: show a page, or stream all of it as lines.

use crate::domain::shelf::{Found, Order, OtherKeys, Shelf};
use crate::store::Tx;
use mfa_shared::fault::{Fault, INVALID_PARAMETER};
use std::ops::Range;
use std::sync::{Arc, PoisonError, RwLock};

/// A list, whatever its records are.
pub trait List: Send + Sync {
    /// Whether a shelf knows its order.
    fn is_shelved(&self) -> bool {
        false
    }
    /// The column that sorts it, if it is not the first one.
    fn column(&self) -> Option<&str> {
        None
    }
    /// The records of the page, where a shelf has the order of its column.
    fn find(&self, _: &Shelf) -> Option<Found> {
        None
    }
    /// Whether a shelf is asked for the order of its stream.
    fn is_ordered(&self) -> bool {
        false
    }
    /// The order of its stream, where a shelf has that of its column.
    fn order(&self, _: &Shelf, _: &OtherKeys) -> Option<Order> {
        None
    }
    /// The keys of records that may have had others at the moment that its stream shows.
    fn other_keys(&self, _: &mut Tx<'_>) -> Result<OtherKeys, Fault> {
        Ok(OtherKeys::new())
    }
    /// The page that was asked for, in its envelope.
    fn page(&self, tx: &mut Tx<'_>) -> Result<Vec<u8>, Fault>;
    /// Where its stream begins without a shelf. What it keeps in memory to its end takes room of the answer.
    fn begin(&self, _: &mut Tx<'_>) -> Result<Cursor, Fault> {
        Ok(Cursor::Start)
    }
    /// The next records, one a line, and the cursor after them.
    fn lines(&self, tx: &mut Tx<'_>, cursor: Cursor) -> Result<(Vec<u8>, Cursor), Fault>;
}

/// The position of a stream.
#[derive(Debug, Clone, Default)]
pub enum Cursor {
    /// Before its first record.
    #[default]
    Start,
    /// Before the key at this place.
    Keys(Arc<Vec<Vec<u8>>>, usize),
    /// Before the record at this place.
    Order(Arc<Ordered>, usize),
    /// Before the next entry in the order of the store, or in that order from its end.
    Walk(Vec<u8>),
    /// Before the record at this place of a chunk that ended early, as its records are long; behind it this.
    Left(Arc<Vec<Vec<u8>>>, usize, Box<Cursor>),
    /// Before the next of these numbers.
    Span(Range<u64>),
    /// Behind its last record.
    End,
}

/// A chunk of a stream ends behind the record with which it has so many bytes.
pub const CHUNK_BYTES: usize = 128 * 1024;
/// Most bytes of a page: half of what one client may leave unread.
const PAGE_BYTES_MAX: usize = 16 * 1024 * 1024;

/// The elements of a page, as they are shown.
#[derive(Debug, Default)]
pub struct Shown {
    /// In their order.
    pub elements: Vec<Vec<u8>>,
    bytes: usize,
}

impl Shown {
    /// Adds one; refused where the page becomes too long.
    pub fn push(&mut self, element: Vec<u8>) -> Result<(), Fault> {
        self.bytes += element.len();
        if self.bytes > PAGE_BYTES_MAX {
            let detail = format!(
                "a page has at most {PAGE_BYTES_MAX} bytes, and {} of these records have more: ask for fewer \
                 with size, or for lines (Accept: application/x-ndjson)",
                self.elements.len() + 1
            );
            return Err(Fault::new(INVALID_PARAMETER, detail));
        }
        self.elements.push(element);
        Ok(())
    }
}

/// The order of a stream, and the shelf on which its records are.
#[derive(Debug)]
pub struct Ordered {
    shelf: Arc<RwLock<Shelf>>,
    order: Order,
}

impl Ordered {
    /// An order that was taken from a shelf.
    pub fn new(shelf: Arc<RwLock<Shelf>>, order: Order) -> Self {
        Self { shelf, order }
    }

    /// Number of records.
    pub fn records(&self) -> usize {
        self.order.records()
    }

    /// Bytes in memory.
    pub fn bytes(&self) -> usize {
        self.order.bytes()
    }

    /// The identifiers of the records of a part, as far as they are still there.
    pub fn names(&self, part: Range<usize>) -> Vec<String> {
        self.shelf.read().unwrap_or_else(PoisonError::into_inner).names(&self.order, part)
    }
}

/// Bytes that keys take in memory.
pub fn bytes_of(keys: &[Vec<u8>]) -> usize {
    keys.iter().map(|key| size_of::<Vec<u8>>() + key.capacity()).sum()
}
