//! Columns of gateways.

use super::{View, column, moment};

pub const EMAIL_GATEWAY: View = View {
    plural: "e-mail gateways",
    id: "/identifier",
    state: "/state",
    columns: &[
        column("identifier", "/identifier", 0),
        column("host", "/host", 0),
        column("port", "/port", 1),
        column("protocol", "/protocol", 2),
        column("username", "/username", 3),
        column("password", "/app_password", 4),
        column("smtp-auth", "/smtp_auth", 5),
        column("start-tls", "/start_tls", 6),
        column("state", "/state", 0),
    ],
};

pub const SMS_GATEWAY: View = View {
    plural: "SMS gateways",
    id: "/identifier",
    state: "/state",
    columns: &[
        column("identifier", "/identifier", 0),
        column("account-sid", "/account_sid", 1),
        column("auth-token", "/auth_token", 3),
        column("sender-number", "/sender_number", 2),
        column("state", "/state", 0),
    ],
};

/// Test messages.
pub const GATEWAY_TEST: View = View {
    plural: "test messages",
    id: "/identifier",
    state: "",
    columns: &[
        column("identifier", "/identifier", 0),
        column("to", "/to", 0),
        moment("sent", "/sentOn", 2),
        column("answer", "/gatewayAnswer", 1),
        column("message", "/messageIdentifier", 3),
    ],
};
