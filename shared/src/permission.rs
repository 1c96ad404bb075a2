//! What a user may do: operations on the endpoints of a permittable group. Contract: `identity.md`
//! section 8.

use crate::node::Node;
use crate::rule::*;
use crate::{object, words};
use serde_json::Value;

words! {
    /// What a permission allows on the endpoints of its group.
    pub enum Operation {
        /// GET and HEAD.
        Read = "READ",
        /// POST and PUT.
        Change = "CHANGE",
        /// DELETE.
        Delete = "DELETE",
    }
}

object! {
    /// What may be done on the endpoints of a permittable group.
    pub struct Permission {
        /// The permittable group; it need not exist yet.
        permittable_endpoint_group_identifier: String = required(id(32)),
        /// READ, CHANGE, DELETE; in an answer each at most once, in this order.
        allowed_operations: Vec<Operation> = required(OperationSet),
    }
}

/// A set of operations: repeats count once, and the order is fixed.
#[derive(Debug, Clone, Copy)]
pub struct OperationSet;

impl Rule for OperationSet {
    type Out = Vec<Operation>;
    fn check(&self, node: &Node, at: &mut Checks) -> Option<Vec<Operation>> {
        let mut operations = list(word::<Operation>(), usize::MAX).check(node, at)?;
        operations.sort_unstable();
        operations.dedup();
        Some(operations)
    }
    fn schema(&self) -> Value {
        // Not `uniqueItems`: what is given twice is taken as given once.
        list(word::<Operation>(), usize::MAX).schema()
    }
}
