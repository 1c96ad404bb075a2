//! Reports: their figures are those of a plain sum over the journal and over what was done.

mod books;
mod figures;
mod refusals;
