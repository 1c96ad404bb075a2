//! Sessions of a user: the logins that go on, and what applications do in the user's name. Contract:
//! `identity.md` section 13.

use crate::fault::Fault;
use crate::kind::{Kind, ShownBy};
use crate::query::{ParamDoc, Parameters, Params, bad};
use crate::rule::*;
use crate::time::Timestamp;
use crate::wire::{Accepted, Array, Nothing, Query};
use crate::{endpoints, object};
use serde_json::json;

object! {
    /// A session of a user.
    pub struct UserSession {
        /// What it is ended by; no token.
        identifier: String = required(line(64)),
        /// When it began.
        created_on: Timestamp = required(timestamp()),
        /// When it was used last, to the minute.
        last_used_on: Timestamp = required(timestamp()),
        /// Address from which it began.
        origin: Option<String> = optional(line(64)),
        /// The application that acts for the user in it; null for a login.
        application: Option<String> = optional(line(64)),
        /// When it ends.
        expires_on: Timestamp = required(timestamp()),
        /// Whether it is the session of this request.
        current: bool = required(flag()),
    }
}

/// Which sessions stay.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ExceptQuery {
    /// Whether the session of this request stays.
    pub current: bool,
}

impl Parameters for ExceptQuery {
    fn read(params: &Params) -> Result<Self, Fault> {
        match params.one("except")? {
            None => Ok(Self::default()),
            Some("current") => Ok(Self { current: true }),
            Some(other) => Err(bad("except", other, "current")),
        }
    }

    fn write(&self) -> Vec<(&'static str, String)> {
        if self.current { vec![("except", "current".to_owned())] } else { Vec::new() }
    }

    fn docs() -> Vec<ParamDoc> {
        let doc = "current: the session of this request stays.";
        vec![ParamDoc {
            name: "except",
            doc,
            required: false,
            schema: json!({ "type": "string", "enum": ["current"] }),
        }]
    }
}

/// Its kind of record.
pub const KINDS: &[Kind] = &[Kind {
    name: "session",
    path: "/users/{}/sessions/{}",
    named_by: "",
    shown_by: ShownBy::List("ListUserSessions"),
}];

endpoints! {
    application "identity-v1";
    /// List the sessions of a user, the newest first.
    ListUserSessions { user } Get "/users/{user}/sessions" Nothing => Array<UserSession>;
    /// End a session of a user.
    EndUserSession { user, session } Delete "/users/{user}/sessions/{session}" Nothing => Accepted;
    /// End all sessions of a user.
    EndUserSessions { user } Delete "/users/{user}/sessions" Query<ExceptQuery> => Accepted;
}
