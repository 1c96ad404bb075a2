//! Proofs of the engine.

mod world;

mod basics;
