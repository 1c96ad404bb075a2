//! Proofs of the engine.

mod script;
mod sim;
mod world;

mod basics;
mod crash;
mod failing;
