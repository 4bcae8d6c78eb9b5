//! `record --detach`: the recorder goes on in the background, in a session of its own, once it is sure that it can record.

use anyhow::{Context, Result};
use files::{Aside, Rules};
use std::fs::OpenOptions;
use std::io::{Read, Write};
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};

/// The file that takes what a recorder in the background says.
pub(crate) fn log_of(recording: &Path) -> PathBuf {
    let mut name = recording.as_os_str().to_owned();
    name.push(".log");
    PathBuf::from(name)
}

/// A log replaces that of the recording before.
const LOG: Rules<'static> = Rules { replace: true, recording: false, inputs: &[], result: false, durable: false };

/// Whether the log can be written, before anything else is.
///
/// # Errors
/// What lies there, where it is no file.
pub(crate) fn check(recording: &Path) -> Result<()> {
    let path = log_of(recording);
    files::check(&path, &LOG).with_context(|| path.display().to_string())
}

/// The process in the background, which still has its caller's standard error.
pub(crate) struct Away {
    ready: std::io::PipeWriter,
}

/// Goes on in another process. The one that was called waits until that is [`Away::ready`], prints its process id and ends; where it ends
/// before, so does the caller, with its exit code. To be called before any thread is started.
///
/// # Errors
/// Where there can be no other process.
pub(crate) fn leave() -> Result<Away> {
    let (mut reader, ready) = std::io::pipe().context("--detach")?;
    // SAFETY: no thread has been started, so the child may do what any program may.
    let child = unsafe { libc::fork() };
    if child < 0 {
        return Err(std::io::Error::last_os_error()).context("--detach: no further process can be started");
    }
    if child > 0 {
        drop(ready);
        let mut word = Vec::new();
        if reader.read_to_end(&mut word).is_ok() && !word.is_empty() {
            println!("{child}");
            std::process::exit(0);
        }
        let mut status = 0;
        // SAFETY: the status is ours.
        unsafe { libc::waitpid(child, &raw mut status, 0) };
        std::process::exit(if libc::WIFEXITED(status) { libc::WEXITSTATUS(status) } else { 1 });
    }
    drop(reader);
    // SAFETY: plain system call. A child leads no group, so it succeeds.
    unsafe { libc::setsid() };
    Ok(Away { ready })
}

impl Away {
    /// Lets go of the caller: standard input is empty from here on, and what is said goes to the log beside the recording.
    ///
    /// # Errors
    /// Where the log cannot be written.
    pub(crate) fn ready(mut self, recording: &Path) -> Result<()> {
        let path = log_of(recording);
        let log = Aside::create(&path, &LOG).and_then(|log| log.place(&LOG));
        let log = log.with_context(|| path.display().to_string())?;
        let nothing = OpenOptions::new().read(true).open("/dev/null").context("/dev/null")?;
        for (from, to) in [(&nothing, 0), (&log, 1), (&log, 2)] {
            // SAFETY: both are open; the number that it becomes is that of a standard stream.
            unsafe { libc::dup2(from.as_raw_fd(), to) };
        }
        // Whoever waits no longer does not matter.
        let _ = self.ready.write_all(b"ready");
        Ok(())
    }
}
