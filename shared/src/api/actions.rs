//! Actions tie the charges of a product to a type of transaction. Contract: `deposits.md` section 1.

use crate::kind::{Kind, ShownBy};
use crate::rule::*;
use crate::wire::{Accepted, Array, Json, Nothing};
use crate::{endpoints, object};

object! {
    /// An action: it ties a charge of a product to a type of transaction. It never changes.
    pub struct Action {
        /// Unique over all actions.
        identifier: String = required(id(32)),
        /// Name.
        name: String = required(line(256).not_blank()),
        /// Description.
        description: Option<String> = optional(text(2048)),
        /// The type of transaction to which charges with this action apply, in any letter case.
        transaction_type: String = required(id(32)),
    }
}

/// Its kind of record.
pub const KINDS: &[Kind] = &[Kind {
    name: "action",
    path: "/actions/{}",
    named_by: "identifier",
    shown_by: ShownBy::List("ListActions"),
}];

endpoints! {
    application "deposit-v1";
    /// Create an action.
    CreateAction {} Post "/actions" Json<Action> => Accepted;
    /// List all actions in the order of their creation.
    ListActions {} Get "/actions" Nothing => Array<Action>;
}
