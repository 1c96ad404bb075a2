mod histories;
pub(in crate::ops) mod memory;
mod moment;
mod posting;
