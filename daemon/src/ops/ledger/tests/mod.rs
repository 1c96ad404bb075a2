pub mod memory;
mod posting;
