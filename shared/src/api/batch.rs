//! Many operations in one request.
//!
//! A batch is one transaction. A refused operation leaves nothing behind and the others go on; with `atomic`
//! the first refusal takes everything back. Operations are carried out in their order, each sees what those
//! before it did, and each is permitted or not by what the caller holds when the batch begins.

use crate::node::Node;
use crate::object::nested;
use crate::rule::*;
use crate::wire::Json;
use crate::{endpoints, object, words};

/// Most operations of a batch.
pub const OPERATIONS_MAX: usize = 1_000;
/// Most operations of a batch that carry a password, each of which takes long to hash.
pub const PASSWORDS_MAX: usize = 100;
/// Most dangling references that the answer to one change names.
pub const DANGLING_MAX: usize = 20;
/// Possible duplicates that a result names.
pub const DUPLICATES_MAX: usize = 5;
/// Most bytes that the operations of a batch may read in all.
pub const ANSWER_BYTES_MAX: usize = 4 * 1024 * 1024;

words! {
    /// Method of an operation.
    pub enum OperationMethod {
        /// Reads.
        Get = "GET",
        /// Creates or commands.
        Post = "POST",
        /// Changes.
        Put = "PUT",
        /// Removes.
        Delete = "DELETE",
    }
}

object! {
    /// One operation of a batch: a request to any endpoint with a JSON body or none.
    pub struct Operation {
        /// Its method.
        method: OperationMethod = required(word()),
        /// Its path, encoded as in a request of its own, with the query string if there is one.
        path: String = required(line(8192).not_blank()),
        /// Its JSON body.
        body: Option<Node> = optional(any()),
        /// Its `Idempotency-Key`.
        idempotency_key: Option<String> = optional(line(1024)),
        /// Its `If-Match`.
        if_match: Option<String> = optional(line(8192)),
    }

    /// Operations that travel together.
    pub struct Batch {
        /// Whether the first refusal takes everything back.
        atomic: bool = or(flag(), false),
        /// The operations, in the order in which they are carried out.
        operations: Vec<Operation> = required(list(nested(), OPERATIONS_MAX)),
    }

    /// What became of one operation.
    pub struct OperationResult {
        /// The status that a request of its own would have been answered with.
        status: i64 = required(integer(100, 599)),
        /// The `Location` of the answer.
        location: Option<String> = optional(line(8192)),
        /// The `ETag` of the answer.
        etag: Option<String> = optional(line(64)),
        /// Whether this is the first answer to a repeated idempotency key.
        replayed: bool = required(flag()),
        /// Fields of its body, as JSON pointers, that name records which do not exist; at most 20.
        dangling_references: Option<Vec<String>> = optional(list(line(8192), DANGLING_MAX)),
        /// Customers who may be the same person as the new one; at most 5, for callers who may read them.
        possible_duplicates: Option<Vec<String>> = optional(list(line(32), DUPLICATES_MAX)),
        /// The body of the answer.
        body: Option<Node> = optional(any()),
        /// Why it was refused, as the body of a failure says it.
        problem: Option<Node> = optional(any()),
    }

    /// What became of a batch.
    pub struct BatchResult {
        /// The results, in the order of the operations.
        results: Vec<OperationResult> = required(list(nested(), OPERATIONS_MAX)),
    }
}

endpoints! {
    application "admin-v1";
    /// Carry out many operations in one request, each with a result of its own, or all of them or none.
    SendBatch {} Post "/batch" Json<Batch> => Json<BatchResult>;
}
