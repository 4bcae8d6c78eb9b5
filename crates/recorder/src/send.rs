//! What brings a recording home from where there is nothing but the recorder: `send` writes it to standard output, `stop` ends its recorder, `clock`
//! tells the time, and `hold` keeps a container alive until the recording was sent.

use crate::away::log_of;
use crate::moment::unix_now;
use crate::options::duration;
use crate::signals::{self, Wake};
use anyhow::{Context, Result, bail};
use clap::Args;
use rustix::process::{Pid, Signal, kill_process};
use std::fs::{self, File};
use std::io::{BufRead, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// The exit code where the recording is still being made: "temporary failure", EX_TEMPFAIL of sysexits(3).
pub const STILL_RECORDING: u8 = 75;

/// The word that begins the line before the bytes of a recording, which then says how many there are.
pub const HEADER: &str = "twinscope-recording";

/// So long a recorder may take to finish its file when it is asked to stop.
const TO_FINISH: Duration = Duration::from_secs(60);

/// Write a finished recording to standard output.
#[derive(Args, Clone, Debug)]
pub struct Send {
    /// The recording; one whose recorder was cut off is finished first
    #[arg(value_name = "FILE.twin")]
    pub file: PathBuf,

    /// Say before it, in a line, how many bytes there are
    #[arg(long)]
    pub header: bool,
}

/// Have the recorder of a file finish it, and wait until it has.
#[derive(Args, Clone, Debug)]
pub struct Stop {
    /// The recording
    #[arg(value_name = "FILE.twin")]
    pub file: PathBuf,
}

/// Delete a recording and what lies beside it, once it was sent.
#[derive(Args, Clone, Debug)]
pub struct Drop {
    /// The recording
    #[arg(value_name = "FILE.twin")]
    pub file: PathBuf,
}

/// Do nothing for so long, or until a signal: what a container does from whose recorder a recording is to be fetched.
#[derive(Args, Clone, Debug)]
pub struct Hold {
    /// How long at most
    #[arg(value_name = "TIME", value_parser = duration)]
    pub time: Duration,
}

/// The processes that record to this file now.
fn recorders_of(file: &Path) -> Vec<Pid> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    pids.filter(|pid| u32::try_from(*pid).is_ok_and(|pid| pid != std::process::id()) && records_to(*pid, file))
        .filter_map(Pid::from_raw)
        .collect()
}

/// Whether a process is a recorder of this file, by its command line. Others, such as `sudo` before it, have the same words.
fn records_to(pid: i32, file: &Path) -> bool {
    let name = fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
    // The holder of a recorder has the same words.
    if !name.starts_with("twinscope") || name.trim_end() == host::holder::NAME {
        return false;
    }
    let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let words: Vec<&[u8]> = line.split(|byte| *byte == 0).collect();
    let from = fs::read_link(format!("/proc/{pid}/cwd")).unwrap_or_default();
    let is_file = |word: &&[u8]| {
        let word = word.strip_prefix(b"--output=").or_else(|| word.strip_prefix(b"-o")).unwrap_or(word);
        from.join(std::ffi::OsStr::from_bytes(word)) == file
    };
    words.get(1) == Some(&&b"record"[..]) && words.iter().skip(2).take_while(|word| **word != b"--").any(is_file)
}

/// `twinscope-recorder send`. Returns the exit code.
///
/// # Errors
/// Where there is no recording, or it cannot be finished or sent.
pub fn send(options: &Send) -> Result<u8> {
    let shown = options.file.display();
    let path = std::path::absolute(&options.file).with_context(|| shown.to_string())?;
    if !recorders_of(&path).is_empty() {
        eprintln!("twinscope-recorder: {shown}: is still being recorded");
        return Ok(STILL_RECORDING);
    }
    let said = || {
        let log = fs::read_to_string(log_of(&path)).unwrap_or_default();
        log.lines()
            .rev()
            .find(|line| !line.trim().is_empty())
            .map_or(String::new(), |line| format!("; its recorder said: {line}"))
    };
    let recording = store::Recording::open(&path).map_err(|why| anyhow::anyhow!("{why}{}", said()))?;
    let unfinished = recording.is_unfinished();
    drop(recording);
    if unfinished {
        store::close(&path)
            .with_context(|| format!("{shown}: its recorder was cut off, and it cannot be finished{}", said()))?;
    }
    let mut file = File::open(&path).with_context(|| shown.to_string())?;
    let size = file.metadata().with_context(|| shown.to_string())?.len();
    let mut out = std::io::stdout().lock();
    if options.header {
        writeln!(out, "{HEADER} {size}").context("standard output")?;
    }
    let sent = std::io::copy(&mut file, &mut out).with_context(|| format!("{shown}: could not be sent"))?;
    out.flush().context("standard output")?;
    if sent != size {
        bail!("{shown}: changed while it was sent");
    }
    Ok(0)
}

/// `twinscope-recorder stop`.
///
/// # Errors
/// Where a recorder may not be stopped, or does not end.
pub fn stop(options: &Stop) -> Result<()> {
    let shown = options.file.display();
    let path = std::path::absolute(&options.file).with_context(|| shown.to_string())?;
    let patience = Instant::now() + TO_FINISH;
    let mut asked: Vec<Pid> = Vec::new();
    loop {
        let running = recorders_of(&path);
        if running.is_empty() {
            return Ok(());
        }
        for pid in running {
            if !asked.contains(&pid) {
                asked.push(pid);
                // One that has just ended is what was asked for.
                let done = kill_process(pid, Signal::TERM)
                    .or_else(|e| if e == rustix::io::Errno::SRCH { Ok(()) } else { Err(e) });
                done.with_context(|| {
                    format!("{shown}: its recorder, process {}, cannot be stopped", pid.as_raw_nonzero())
                })?;
            }
        }
        if Instant::now() > patience {
            bail!("{shown}: its recorder did not end within {} s", TO_FINISH.as_secs());
        }
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// `twinscope-recorder drop`: deletes a recording with its log.
///
/// # Errors
/// Where it is no recording, or cannot be deleted.
pub fn drop_recording(options: &Drop) -> Result<()> {
    let shown = options.file.display();
    if options.file.extension().is_none_or(|end| end != "twin") {
        bail!("{shown}: is no recording");
    }
    fs::remove_file(&options.file).with_context(|| shown.to_string())?;
    for beside in ["-wal", "-shm", ".log"] {
        let mut name = options.file.as_os_str().to_owned();
        name.push(beside);
        // Most are not there.
        let _ = fs::remove_file(name);
    }
    Ok(())
}

/// `twinscope-recorder clock`: for each line of standard input, the nanoseconds since 1970.
///
/// # Errors
/// Where standard input or output fail.
pub fn clock() -> Result<()> {
    println!("twinscope-clock");
    for line in std::io::stdin().lock().lines() {
        line.context("standard input")?;
        println!("twinscope-clock {}", unix_now());
    }
    Ok(())
}

/// `twinscope-recorder hold`.
pub fn hold(options: &Hold) {
    signals::block();
    let end = Instant::now() + options.time;
    loop {
        let left = end.saturating_duration_since(Instant::now());
        if left.is_zero() || matches!(signals::wait(left.as_nanos() as u64), Wake::Stop(_)) {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_recording_is_neither_sent_nor_deleted() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.txt");
        fs::write(&path, "text").unwrap();
        fs::write(log_of(&path), "begun\nNo space left on device\n\n").unwrap();
        let said = send(&Send { file: path.clone(), header: false }).unwrap_err().to_string();
        assert!(said.contains("a.txt") && said.ends_with("its recorder said: No space left on device"), "{said}");
        assert!(drop_recording(&Drop { file: path.clone() }).is_err() && path.exists());
        // Nobody records to it, so nobody has to be stopped.
        stop(&Stop { file: path }).unwrap();
    }
}
