//! The recorder alone: a small static program that can be copied to any host. What it records is read with `twinscope`.

use clap::{Parser, Subcommand};
use std::process::ExitCode;

/// Records a Linux system at almost no cost. Read the recordings with `twinscope report`, `compare` and `sql`.
#[derive(Debug, Parser)]
#[command(name = "twinscope-recorder", version)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Record this system, and a command if one is given
    Record(Box<recorder::Record>),
    /// Put a mark into a running recording
    Mark(recorder::Mark),
    /// Save what a running recorder holds to a file; it goes on recording
    Snapshot(recorder::Snapshot),
    /// Show what can be read here, what can't, and why
    Sources(recorder::SourcesArgs),
}

fn main() -> ExitCode {
    recorder::begin_program("twinscope-recorder");
    let done = match Arguments::parse().command {
        Command::Record(options) => recorder::record(&options, None),
        Command::Mark(options) => recorder::mark(&options).map(|()| 0),
        Command::Snapshot(options) => recorder::snapshot(&options).map(|path| {
            println!("{}", path.display());
            0
        }),
        Command::Sources(options) => recorder::list(&options),
    };
    match done {
        Ok(code) => ExitCode::from(code),
        Err(error) => {
            eprintln!("twinscope-recorder: {error:#}");
            ExitCode::from(if error.is::<recorder::Usage>() { 2 } else { 1 })
        }
    }
}
