mod branch;
mod history;
mod model;
