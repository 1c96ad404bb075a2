pub mod bank;
mod closing;
mod cut_short;
mod dividends;
mod listed;
mod model;
mod planted;
mod runs;
mod scheduled;
