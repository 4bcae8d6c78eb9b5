//! A client that asks an HTTP/1.1 server at a constant rate, whether it answers or not, and measures how long each request took from when it
//! was due. So a server that stands still for a while does not vanish from the figures, as it does where a client waits for an answer before
//! it asks again. The client measures itself as well, and says where it, and not the server, is what was measured.
//!
//! [`Options`] say what is asked, [`run`] does it, and [`Outcome`] is what came of it, in seconds and counts.

#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

mod answer;
mod epoll;
mod error;
mod limits;
mod net;
mod options;
mod outcome;
mod processor;
mod request;
mod run;
mod schedule;
mod tally;
#[cfg(test)]
mod testing;
mod url;
mod worker;

pub use answer::{Answer, Broken};
pub use error::Error;
pub use options::{Arrivals, MOST_CONNECTIONS, Options};
pub use outcome::{Errors, Outcome, Own, Times};
pub use processor::cpus;
pub use run::{run, run_until};
pub use url::Url;
