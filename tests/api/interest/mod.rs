pub mod bank;
mod closing;
mod dividends;
mod model;
mod planted;
mod runs;
mod scheduled;
