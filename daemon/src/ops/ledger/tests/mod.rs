mod histories;
pub(in crate::ops) mod memory;
mod moment;
pub(in crate::ops) mod posting;
