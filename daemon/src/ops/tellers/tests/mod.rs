mod branch;
mod check;
mod history;
mod model;
