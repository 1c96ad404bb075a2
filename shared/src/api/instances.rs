//! Product instances: the accounts of customers. Contract: `deposits.md` section 3.

use crate::words;

words! {
    /// Where an account of a customer stands in its life.
    pub enum InstanceState {
        /// Made, not yet opened.
        Pending = "PENDING",
        /// Open.
        Active = "ACTIVE",
        /// Closed for good.
        Closed = "CLOSED",
    }
}
