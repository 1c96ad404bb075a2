//! One serializable transaction per request over an engine.

pub mod embedded;
pub mod engine;
