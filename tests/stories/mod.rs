//! Whole pieces of work, as the people who do them would.

mod first_day;
mod onboarding;
mod secrets;
