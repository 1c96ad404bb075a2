mod histories;
pub(in crate::ops) mod memory;
mod moment;
mod numbers;
pub(in crate::ops) mod posting;
