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

use std::io::{Error, Result, Write};
use std::path::Path;
use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let done = match words.as_slice() {
        ["run", result, command, rest @ ..] => run(Path::new(result), command, rest),
        ["host", dir, cpus, lines, processes] => size(cpus, lines, processes).and_then(|s| keep_moving(dir, s)),
        ["recording", file, dir, cpus, lines, processes, seconds] => size(cpus, lines, processes)
            .and_then(|s| made::make(Path::new(file), Path::new(dir), s, number(seconds)? as u64)),
        ["served", address] => undisturbed::served(address),
        ["loss", phases] => undisturbed::loss(Path::new(phases)),
        _ => Err(Error::other("usage: bench run | host | served | loss | recording …; see the top of its source")),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("bench: {error}");
            ExitCode::FAILURE
        }
    }
}

fn number(word: &str) -> Result<usize> {
    word.parse().map_err(|_| Error::other(format!("{word}: not a number")))
}

fn size(cpus: &str, lines: &str, processes: &str) -> Result<simulated::Size> {
    Ok(simulated::Size { cpus: number(cpus)?, lines: number(lines)?, processes: number(processes)? })
}

/// Moves the host on once a second.
fn keep_moving(dir: &str, size: simulated::Size) -> Result<()> {
    let mut host = simulated::Simulated::create(Path::new(dir), size)?;
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
fn run(result: &Path, command: &str, rest: &[&str]) -> Result<()> {
    let start = Instant::now();
    let child = Command::new(command).args(rest).spawn()?;
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
