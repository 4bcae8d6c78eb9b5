//! `twinscope mcp`: recordings for agents.

use anyhow::{Context, Result};
use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// A tool that does more than read.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Allowed {
    /// Record what runs on this machine
    Record,
    /// Check and measure this machine
    Doctor,
}

/// Serve recordings to agents.
#[derive(Args, Debug)]
pub struct Mcp {
    /// A folder with recordings or summaries; nothing outside is read; may be given several times
    #[arg(long, required = true, num_args = 1.., value_name = "DIR")]
    dir: Vec<PathBuf>,

    /// Tools that do more than read; recordings go into the first folder
    #[arg(long, value_enum, value_delimiter = ',', value_name = "TOOLS")]
    allow: Vec<Allowed>,
}

/// Serves until the client ends.
pub fn mcp(options: &Mcp) -> Result<u8> {
    let allowed = options.allow.iter().map(|tool| match tool {
        Allowed::Record => ::mcp::Allowed::Record,
        Allowed::Doctor => ::mcp::Allowed::Doctor,
    });
    let program = std::env::current_exe().context("the path of this program")?;
    ::mcp::serve(&::mcp::Options { folders: options.dir.clone(), allowed: allowed.collect(), program })?;
    Ok(0)
}
