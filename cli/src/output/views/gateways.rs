//! Columns of what all gateways have; those of a kind are in its own file, `nouns/gateways/<kind>.rs`.

use super::{View, column, moment};

pub const GATEWAY_TEST: View = View::of("test messages").columns(&[
    column("identifier", "/identifier", 0),
    column("to", "/to", 0),
    moment("sent", "/sentOn", 2),
    column("answer", "/gatewayAnswer", 1),
    column("message", "/messageIdentifier", 3),
]);
