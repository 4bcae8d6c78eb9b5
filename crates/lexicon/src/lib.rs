//! Which functions play which role: one list for the recorder, the budget of lost time, the report and the causes.
//!
//! There is no way but a list of names to tell a lock from a queue, or a logger from a formatter. It lives in `lexicon/*.toml`, one file a family of
//! libraries or run-time systems: exact names or patterns with `*`, case-sensitive and bound at both ends, each with its source and a stack that tests
//! it. Who asks for a role asks here; nobody else compares names of functions.

#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

pub mod call;
mod find;
mod name;
mod own;
#[cfg(test)]
mod read;
mod role;
#[cfg(test)]
mod tests;
pub mod wait;

pub use find::{Found, find, roles, roles_of_thread};
pub use name::plain;
pub use own::{Nearness, nearness, running, waiting};
pub use role::{Role, Roles};
