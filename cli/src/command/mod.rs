//! What a command is: what it is given, what a verb and a noun are, and the shapes that verbs share.

pub mod change;
pub mod cx;
pub mod edit;
pub mod flags;
pub mod globals;
pub mod guide;
pub mod images;
pub mod lists;
pub mod money;
pub mod noun;
pub mod prefix;
pub mod records;
pub mod sends;
pub mod verb;
