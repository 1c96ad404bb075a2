//! The rules of the institution as pure functions: they take values and return values, and know neither
//! store nor network nor the time of day.

pub mod access;
pub mod assertion;
pub mod bootstrap;
pub mod lockout;
pub mod password;
pub mod permission;
pub mod privilege;
pub mod rsa;
pub mod token;
