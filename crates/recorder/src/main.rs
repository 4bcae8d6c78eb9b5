//! The recorder alone: a small static program that can be copied to any host. What it records is read with `twinscope`.

#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

use clap::{Parser, Subcommand};
use std::process::ExitCode;

/// Records a Linux system at almost no cost. Read the recordings with `twinscope report`, `compare` and `sql`.
#[derive(Debug, Parser)]
#[command(name = "twinscope-recorder", version)]
struct Arguments {
    /// The mode of files that are written, such as 0644; by default only their owner may read them
    #[arg(long, global = true, value_name = "MODE", value_parser = recorder::mode())]
    mode: Option<u32>,

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
    /// Show what triggers can ask for, or when they would have fired in a recording
    Triggers(recorder::Triggers),
    /// Show what can be read here, what can't, and why
    Sources(recorder::SourcesArgs),
    /// Write a finished recording to standard output
    Send(recorder::Send),
    /// Have the recorder of a file finish it, and wait until it has
    Stop(recorder::Stop),
    /// Delete a recording and what lies beside it, once it was sent
    #[command(hide = true)]
    Drop(recorder::Drop),
    /// For each line of standard input, say the nanoseconds since 1970
    #[command(hide = true)]
    Clock,
    /// Do nothing for so long, or until a signal: in a container from which recordings are fetched
    #[command(hide = true)]
    Hold(recorder::Hold),
}

fn main() -> ExitCode {
    recorder::begin_program("twinscope-recorder");
    let arguments = Arguments::parse();
    arguments.mode.into_iter().for_each(files::set_mode);
    let done = match arguments.command {
        Command::Record(options) => recorder::record(&options, None).map(|ended| ended.code),
        Command::Mark(options) => recorder::mark(&options).map(|()| 0),
        Command::Snapshot(options) => recorder::snapshot(&options).map(|path| {
            println!("{}", path.display());
            0
        }),
        Command::Triggers(options) => recorder::replay(&options).map(|()| 0),
        Command::Sources(options) => recorder::list(&options),
        Command::Send(options) => recorder::send(&options),
        Command::Stop(options) => recorder::stop(&options).map(|()| 0),
        Command::Drop(options) => recorder::drop_recording(&options).map(|()| 0),
        Command::Clock => recorder::clock().map(|()| 0),
        Command::Hold(options) => {
            recorder::hold(&options);
            Ok(0)
        }
    };
    match done {
        Ok(code) => ExitCode::from(code),
        Err(error) => {
            eprintln!("twinscope-recorder: {}", model::clean_lines(&format!("{error:#}")).replace('\n', "\n  "));
            ExitCode::from(if error.is::<recorder::Usage>() { 2 } else { 1 })
        }
    }
}
