//! One serializable transaction per request, over one of several engines.

pub mod engine;
