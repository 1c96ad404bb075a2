//! Proofs of what only this engine has.
