//! A configuration of each kind of gateway: how it is created, and changed.

/// A kind of gateway.
pub struct Kind {
    /// The path of its configurations.
    pub path: &'static str,
    /// The configuration `main`.
    pub new: &'static str,
    /// A change of it.
    pub change: &'static str,
}

/// Every kind.
pub const KINDS: [Kind; 2] = [
    Kind {
        path: "/configuration/email",
        new: r#"{"identifier":"main","host":"mail.example.org","port":"587","app_password":"word"}"#,
        change: r#"{"identifier":"main","port":"465"}"#,
    },
    Kind {
        path: "/configuration/sms",
        new: r#"{"identifier":"main","auth_token":"word","account_sid":"AC0123","sender_number":"Bank"}"#,
        change: r#"{"identifier":"main","sender_number":"Bank2"}"#,
    },
];
