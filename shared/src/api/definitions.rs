//! Product definitions. Contract: `deposits.md` section 2.

use crate::words;

words! {
    /// What kind of product it is.
    pub enum ProductType {
        /// A current account.
        Checking = "CHECKING",
        /// A savings account.
        Savings = "SAVINGS",
        /// Shares of the members.
        Share = "SHARE",
    }
}
