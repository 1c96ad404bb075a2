//! Ends the connection of an answer that its client does not take. A body that ends, or fails, does not: what
//! was sent before is still waiting to be taken, and the body is not asked for more.

use std::sync::{Arc, OnceLock};
use tokio::sync::Notify;
use warp::reply::Response;

/// Ends a connection; it travels with the answer as an extension.
#[derive(Debug, Clone, Default)]
pub(super) struct Cut(Arc<OnceLock<Arc<Notify>>>);

impl Cut {
    /// Ends the connection.
    pub(super) fn now(&self) {
        if let Some(connection) = self.0.get() {
            connection.notify_one();
        }
    }

    /// Has an answer end this connection.
    pub(super) fn connect(answer: &Response, connection: &Arc<Notify>) {
        if let Some(Self(slot)) = answer.extensions().get() {
            slot.get_or_init(|| connection.clone());
        }
    }
}
