//! Which record comes before which: those that are named before those that name them.

use super::files::{Document, Name};
use crate::failure::{Failure, Outcome, codes};
use std::collections::HashMap;

/// How far a document has been examined.
#[derive(Clone, Copy, PartialEq)]
enum Seen {
    Not,
    /// It is on the way that is being followed.
    OnTheWay,
    /// Its layer is known.
    Layer(usize),
}

struct Order<'d> {
    documents: &'d [Document],
    places: HashMap<Name, usize>,
    seen: Vec<Seen>,
    way: Vec<usize>,
}

/// The layer of each document: it names only those of layers below.
pub fn layers(documents: &[Document]) -> Outcome<Vec<usize>> {
    let places = documents.iter().enumerate().map(|(i, document)| (document.name(), i)).collect();
    let mut order = Order { documents, places, seen: vec![Seen::Not; documents.len()], way: Vec::new() };
    (0..documents.len()).map(|i| order.layer(i)).collect()
}

impl Order<'_> {
    fn layer(&mut self, i: usize) -> Outcome<usize> {
        match self.seen[i] {
            Seen::Layer(layer) => return Ok(layer),
            Seen::OnTheWay => return Err(self.circle(i)),
            Seen::Not => {}
        }
        self.seen[i] = Seen::OnTheWay;
        self.way.push(i);
        let mut layer = 0;
        for (_, name) in self.documents[i].references() {
            if let Some(below) = self.places.get(&name).copied() {
                layer = layer.max(self.layer(below)? + 1);
            }
        }
        self.way.pop();
        self.seen[i] = Seen::Layer(layer);
        Ok(layer)
    }

    fn circle(&self, i: usize) -> Failure {
        let begin = self.way.iter().position(|on| *on == i).unwrap_or_default();
        let named = |i: &usize| format!("{} ({})", self.documents[*i].title(), self.documents[*i].place);
        let names: Vec<_> = self.way[begin..].iter().chain([&i]).map(named).collect();
        let what = format!("records name each other in a circle: {}", names.join(" -> "));
        Failure::new(codes::CIRCULAR_REFERENCES, what).hint("take one of these references away")
    }
}
