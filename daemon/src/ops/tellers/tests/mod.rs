mod branch;
mod check;
