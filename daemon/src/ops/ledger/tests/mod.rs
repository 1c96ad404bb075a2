mod histories;
mod memory;
mod posting;
