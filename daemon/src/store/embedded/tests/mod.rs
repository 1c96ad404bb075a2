//! Proofs of the engine.

mod script;
mod sim;
mod world;

mod archived;
mod basics;
mod blocked;
mod chain;
mod checkpoints;
mod crash;
mod damage;
mod failing;
mod large;
mod model;
mod moments;
mod packed;
mod packing;
mod replayed;
mod upgraded;
