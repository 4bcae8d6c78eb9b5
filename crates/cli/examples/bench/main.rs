//! Helper of `scripts/bench.sh`: what a shell cannot measure or make.
//!
//! - `bench run RESULT COMMAND ARGS…` runs a command and appends its cost to the file RESULT
//! - `bench host DIR CPUS LINES PROCESSES` makes a large host's `/proc` and `/sys` in DIR and keeps it moving until killed
//! - `bench served ADDRESS` prints how many requests an nginx has served, ten times a second
//! - `bench loss PHASES` compares a service's pace with something beside it to that without
//! - `bench recording FILE.twin DIR CPUS LINES PROCESSES SECONDS` records such a host in the time that writing takes

mod made;
mod random;
mod simulated;
mod undisturbed;

use clap::Parser;
use simulated::{Simulated, Size};
use std::io::{Error, Result, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};

/// Helper of scripts/bench.sh: what a shell cannot measure or make
#[derive(Parser)]
enum Task {
    /// Run a command and append its cost to the file RESULT
    Run {
        #[arg(value_parser = recorder::output())]
        result: PathBuf,
        #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true)]
        command: Vec<String>,
    },
    /// Make a large host's /proc and /sys in DIR and keep it moving until killed
    Host {
        #[arg(value_parser = recorder::output())]
        dir: PathBuf,
        #[command(flatten)]
        size: Size,
    },
    /// Record such a host in the time that writing takes
    Recording {
        #[arg(value_name = "FILE.twin", value_parser = recorder::output())]
        file: PathBuf,
        #[arg(value_parser = recorder::output())]
        dir: PathBuf,
        #[command(flatten)]
        size: Size,
        seconds: u64,
    },
    /// Print how many requests an nginx has served, ten times a second
    Served { address: String },
    /// Compare a service's pace while something else runs with its pace alone
    Loss { phases: PathBuf },
}

fn main() -> ExitCode {
    let done = match Task::parse() {
        Task::Run { result, command } => run(&result, &command),
        Task::Host { dir, size } => keep_moving(&dir, size),
        Task::Recording { file, dir, size, seconds } => made::make(&file, &dir, size, seconds),
        Task::Served { address } => undisturbed::served(&address),
        Task::Loss { phases } => undisturbed::loss(&phases),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("bench: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Moves the host on once a second.
fn keep_moving(dir: &Path, size: Size) -> Result<()> {
    let mut host = Simulated::create(dir, size)?;
    println!("ready");
    std::io::stdout().flush()?;
    let start = Instant::now();
    for second in 1.. {
        // Half a second beside the recorder's ticks, so that it seldom sees a file while that is written.
        let next = Duration::from_millis(second * 1000 + 500);
        std::thread::sleep(next.saturating_sub(start.elapsed()));
        host.step()?;
    }
    Ok(())
}

/// Appends "CPU seconds, wall seconds, largest RSS in KiB, exit status", separated by tabs. The CPU time is that of the command, all its
/// threads, and the children that it waited for.
fn run(result: &Path, command: &[String]) -> Result<()> {
    let start = Instant::now();
    let child = Command::new(&command[0]).args(&command[1..]).spawn()?;
    let mut status = 0;
    // SAFETY: a rusage is plain numbers, for which zero is a value.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: both point to live variables; the child is ours and nobody else waits for it.
    if unsafe { libc::wait4(child.id() as libc::pid_t, &mut status, 0, &mut usage) } < 0 {
        return Err(Error::last_os_error());
    }
    let wall = start.elapsed().as_secs_f64();
    let seconds = |t: libc::timeval| t.tv_sec as f64 + t.tv_usec as f64 / 1e6;
    let code = if libc::WIFEXITED(status) { libc::WEXITSTATUS(status) } else { 128 + libc::WTERMSIG(status) };
    let mut file = std::fs::File::options().create(true).append(true).open(result)?;
    writeln!(file, "{:.4}\t{wall:.4}\t{}\t{code}", seconds(usage.ru_utime) + seconds(usage.ru_stime), usage.ru_maxrss)
}
