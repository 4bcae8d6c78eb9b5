//! Recordings for agents: a server of the Model Context Protocol over standard input and output (docs/mcp.md). Its tools give the answers that the
//! commands give, from the same code, in pieces that fit into the context of a language model.
//!
//! What an agent may do is bounded here, not by the agent: tools read only, and only below the folders that were named; those that record or measure
//! exist only where they were allowed; a statement of SQL has a time and a memory limit; names from recordings are data, without characters that hide
//! or forge text.

#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

mod answer;
mod args;
mod lines;
mod place;
mod server;
mod tools;

pub use answer::MOST_BYTES;
pub use place::PlaceError;
pub use server::Server;
pub use tools::sql::{MOST_ROWS, MOST_TIME};

use std::path::PathBuf;

/// What a server may do.
#[derive(Clone, Debug)]
pub struct Options {
    /// The folders below which it reads, and into the first of which it records.
    pub folders: Vec<PathBuf>,
    /// Tools that do more than read.
    pub allowed: Vec<Allowed>,
    /// The program that records and measures.
    pub program: PathBuf,
}

/// A tool that does more than read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Allowed {
    /// Record what runs on this machine.
    Record,
    /// Check and measure this machine.
    Doctor,
}

/// Why the server ended.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A folder cannot be served.
    #[error(transparent)]
    Place(#[from] PlaceError),
    /// The runtime that waits for messages could not be set up.
    #[error("the server could not be set up: {0}")]
    SetUp(std::io::Error),
    /// What came over standard input was not the beginning of the protocol.
    #[error("no MCP client speaks on standard input: {0}")]
    NoClient(String),
    /// The task that serves failed.
    #[error("the server failed: {0}")]
    Failed(String),
}

/// Serves the client on standard input and output until it closes them.
///
/// # Errors
/// Where a folder is not there, or no client speaks.
pub fn serve(options: &Options) -> Result<(), Error> {
    let server = Server::new(options)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(Error::SetUp)?;
    let served = runtime.block_on(server::run(server));
    // A question that is still being answered has nobody left to answer to.
    runtime.shutdown_background();
    served
}
