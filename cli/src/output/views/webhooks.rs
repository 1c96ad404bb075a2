//! Columns of webhooks.

use super::{View, WIDE, amount, column, moment};

pub const WEBHOOK: View = View::of("webhooks").state("/state").columns(&[
    column("identifier", "/identifier", 0),
    column("url", "/url", 0),
    column("kinds", "/kinds", 2),
    column("state", "/state", 0),
    amount("position", "/position", 3),
    amount("failures", "/failures", 1),
    column("reason", "/reason", 4),
    column("created-by", "/createdBy", 5),
    moment("created", "/createdOn", WIDE),
]);

/// A webhook with its secret, as its creation shows it.
pub const WEBHOOK_CREATED: View = View {
    columns: &[
        column("identifier", "/identifier", 0),
        column("url", "/url", 1),
        column("kinds", "/kinds", 2),
        column("state", "/state", 1),
        column("secret", "/secret", 0),
    ],
    ..WEBHOOK
};

/// Tries of deliveries.
pub const DELIVERY: View = View::of("deliveries").id("/webhookIdentifier").state("/outcome").columns(&[
    amount("number", "/number", 0),
    moment("time", "/triedOn", 0),
    column("outcome", "/outcome", 0),
    amount("status", "/status", 1),
    amount("events", "/events", 2),
    amount("from", "/firstSequence", 3),
    amount("to", "/lastSequence", 3),
    moment("next-try", "/nextTryOn", 2),
    column("detail", "/detail", 4),
    column("webhook-id", "/webhookIdentifier", WIDE),
]);
