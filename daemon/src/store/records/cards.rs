//! Identification cards.

use super::{CARDS, CARDS_BY_NUMBER};
use crate::store::engine::Space;
use crate::store::record::{Record, key, numbered};
use mfa_shared::api::cards::Card;
use serde::{Deserialize, Serialize};

/// An identification card of a customer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StoredCard {
    /// The customer.
    pub customer: String,
    /// Its place among the cards of the customer, from 1.
    pub place: u64,
    /// The card as reads show it.
    pub card: Card,
}

impl Record for StoredCard {
    const SPACE: Space = CARDS;
    fn key(&self) -> Vec<u8> {
        numbered(&[&self.customer], self.place)
    }
    fn index(&self) -> Vec<(Space, Vec<u8>)> {
        vec![(CARDS_BY_NUMBER, key(&[&self.card.number]))]
    }
}
