mod memory;
mod posting;
