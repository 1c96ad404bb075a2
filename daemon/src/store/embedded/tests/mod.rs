//! Proofs of the engine.

mod script;
mod sim;
mod world;

mod basics;
mod chain;
mod crash;
mod damage;
mod failing;
mod model;
