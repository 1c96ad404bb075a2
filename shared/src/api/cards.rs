//! Identification cards of customers. Contract: `customers.md` section 6.

use crate::kind::Kind;
use crate::object::nested;
use crate::rule::*;
use crate::time::{Date, Timestamp};
use crate::wire::{Accepted, Array, Json, Nothing};
use crate::{endpoints, object};

/// In a path the number is percent-encoded, so a slash does no harm.
const fn number() -> Text {
    line(32).not_blank().no_step()
}

object! {
    /// The last day on which a card is good.
    pub struct ExpirationDate then exists {
        /// Year.
        year: i64 = required(integer(1000, 9999)),
        /// Month, 1 to 12.
        month: i64 = required(integer(1, 12)),
        /// Day, 1 to 31.
        day: i64 = required(integer(1, 31)),
    }

    /// An identification card as every read shows it.
    pub struct Card {
        /// What kind of card.
        r#type as "type": String = required(line(128).not_blank()),
        /// Unique over the cards of all customers; never changes.
        number: String = required(number()),
        /// The last day on which the card is good.
        expiration_date: ExpirationDate = required(nested()),
        /// Who issued it.
        issuer: Option<String> = optional(line(256)),
        /// Who recorded it.
        created_by: String = required(line(256)),
        /// When it was recorded.
        created_on: Timestamp = required(timestamp()),
        /// Who changed it or its scans last.
        last_modified_by: Option<String> = optional(line(256)),
        /// When it or its scans were changed last.
        last_modified_on: Option<Timestamp> = optional(timestamp()),
    }

    /// A new or changed identification card. On a change null clears the issuer.
    pub struct CardInput {
        /// What kind of card.
        r#type as "type": String = required(line(128).not_blank()),
        /// Unique over the cards of all customers; never changes.
        number: String = required(number()),
        /// The last day on which the card is good; it may be over.
        expiration_date: ExpirationDate = required(nested()),
        /// Who issued it.
        issuer: Option<String> = optional(line(256)),
    }
}

fn exists(date: &ExpirationDate, at: &mut Checks) -> Option<()> {
    match Date::new(date.year, date.month, date.day) {
        Some(_) => Some(()),
        None => at.refuse("impossible_date", "must be a date of the calendar"),
    }
}

/// Its kind of record.
pub const KINDS: &[Kind] = &[Kind::of("card", "/customers/{}/identifications/{}", "number", "GetCard")];

endpoints! {
    application "customer-v1";
    /// Record an identification card of a customer.
    CreateCard { customer } Post "/customers/{customer}/identifications" Json<CardInput> => Accepted;
    /// List the identification cards of a customer in the order in which they were recorded.
    ListCards { customer } Get "/customers/{customer}/identifications" Nothing => Array<Card>;
    /// Read an identification card.
    GetCard { customer, card } Get "/customers/{customer}/identifications/{card}" Nothing => Json<Card>,
        tag GetCard;
    /// Change the type, the expiration date or the issuer of an identification card.
    UpdateCard { customer, card } Put "/customers/{customer}/identifications/{card}" Json<CardInput>
        => Accepted, tag GetCard;
    /// Remove an identification card with its scans.
    DeleteCard { customer, card } Delete "/customers/{customer}/identifications/{card}" Nothing => Accepted,
        tag GetCard;
}
