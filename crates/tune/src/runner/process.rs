//! Processes of a trial: started in a group of their own, ended with it when time is up or somebody wants to stop.

use host::Placement;
use std::collections::BTreeMap;
use std::fs::File;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// What is asked whether it ended this often.
const POLL: Duration = Duration::from_millis(10);

/// Who was asked to end has this long for it.
const GRACE: Duration = Duration::from_secs(10);

/// How a process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ended {
    /// By itself.
    Status(ExitStatus),
    /// It ran too long.
    TimedOut,
    /// Somebody wants to stop.
    Stopped,
}

impl Ended {
    /// Why this is no success; `None` where it is one.
    pub(crate) fn failure(self) -> Option<String> {
        match self {
            Ended::Status(status) if status.success() => None,
            Ended::Status(status) => Some(match (status.code(), status.signal()) {
                (Some(code), _) => format!("exit code {code}"),
                (None, Some(signal)) => format!("ended by signal {signal}"),
                (None, None) => "how it ended is not known".into(),
            }),
            Ended::TimedOut => Some("it took too long and was ended".into()),
            Ended::Stopped => Some("the session was stopped".into()),
        }
    }
}

/// How to start a process.
pub(crate) struct Start<'a> {
    /// The program and its arguments.
    pub words: &'a [String],
    /// Where.
    pub dir: &'a Path,
    /// Variables of the environment beside ours.
    pub env: &'a BTreeMap<String, String>,
    /// The CPUs that it may use; all where there are none.
    pub cpus: &'a [usize],
    /// Files of control groups that it joins.
    pub joins: &'a [PathBuf],
    /// What it reads.
    pub input: Option<&'a Path>,
    /// Where its standard output and its errors go.
    pub output: Option<(&'a Path, &'a Path)>,
}

/// Runs it to its end.
///
/// # Errors
/// Why it could not be started.
pub(crate) fn run(start: &Start, timeout: Duration, stop: &AtomicBool) -> Result<Ended, String> {
    let mut child = spawn(start)?;
    let started = Instant::now();
    loop {
        if let Some(status) = child.try_wait().map_err(|e| e.to_string())? {
            return Ok(Ended::Status(status));
        }
        let ended = match (stop.load(Ordering::Relaxed), started.elapsed() > timeout) {
            (true, _) => Ended::Stopped,
            (_, true) => Ended::TimedOut,
            _ => {
                std::thread::sleep(POLL);
                continue;
            }
        };
        end(&mut child);
        return Ok(ended);
    }
}

/// A process that runs beside; it ends when this is dropped.
#[derive(Debug)]
pub(crate) struct Service(Child);

impl Service {
    /// Starts it.
    ///
    /// # Errors
    /// Why it could not be started.
    pub(crate) fn start(start: &Start) -> Result<Service, String> {
        spawn(start).map(Service)
    }

    /// Its process.
    pub(crate) fn pid(&self) -> u32 {
        self.0.id()
    }

    /// How it ended, where it did.
    pub(crate) fn ended(&mut self) -> Option<String> {
        let status = self.0.try_wait().ok().flatten()?;
        Some(Ended::Status(status).failure().unwrap_or("exit code 0".into()))
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        end(&mut self.0);
    }
}

fn spawn(start: &Start) -> Result<Child, String> {
    let (program, arguments) = start.words.split_first().ok_or("no command")?;
    let mut command = Command::new(program);
    command.args(arguments).current_dir(start.dir).envs(start.env).process_group(0);
    let opened = |path: &Path| File::open(path).map_err(|e| format!("{}: {e}", path.display()));
    let created = |path: &Path| files::start_over(path).map_err(|e| format!("{}: {e}", path.display()));
    command.stdin(start.input.map(opened).transpose()?.map_or(Stdio::null(), Stdio::from));
    if let Some((out, err)) = start.output {
        command.stdout(created(out)?).stderr(created(err)?);
    } else {
        command.stdout(Stdio::null()).stderr(Stdio::null());
    }
    let placement = Placement::new(start.joins, start.cpus).map_err(|e| e.to_string())?;
    let parent = std::process::id() as libc::pid_t;
    // SAFETY: between fork and exec only system calls are made, on memory that was there before.
    unsafe {
        command.pre_exec(move || {
            // When this program is killed, its trial must not run on; nor begin, where it was killed since the fork.
            #[cfg(target_os = "linux")]
            libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGTERM);
            if libc::getppid() != parent {
                return Err(std::io::ErrorKind::NotFound.into());
            }
            placement.enter()
        });
    }
    command.spawn().map_err(|e| format!("{program} in {}: {e}", start.dir.display()))
}

/// Ends a process and its group: asks first.
pub(super) fn end(child: &mut Child) {
    let group = -(child.id() as libc::pid_t);
    // SAFETY: takes numbers. The child was not waited for, so its number is still its own.
    unsafe { libc::kill(child.id() as libc::pid_t, libc::SIGTERM) };
    let asked = Instant::now();
    while asked.elapsed() < GRACE {
        match child.try_wait() {
            Ok(None) => std::thread::sleep(POLL),
            _ => break,
        }
    }
    // SAFETY: as above; what is left of the group has no other use.
    unsafe { libc::kill(group, libc::SIGKILL) };
    // It is gone, or its end is nobody's concern.
    let _ = child.wait();
}

/// CPU seconds of all processes that were started and waited for, and of those that they waited for.
pub(super) fn used_by_children() -> f64 {
    // SAFETY: fills a structure of numbers.
    let usage = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        libc::getrusage(libc::RUSAGE_CHILDREN, &raw mut usage);
        usage
    };
    let seconds = |t: libc::timeval| t.tv_sec as f64 + t.tv_usec as f64 / 1e6;
    seconds(usage.ru_utime) + seconds(usage.ru_stime)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sh(script: &str, timeout: Duration, stop: bool) -> Result<Ended, String> {
        let words = ["sh", "-c", script].map(str::to_owned);
        let env = BTreeMap::from([("GREETING".to_owned(), "hello".to_owned())]);
        let start =
            Start { words: &words, dir: Path::new("/"), env: &env, cpus: &[], joins: &[], input: None, output: None };
        run(&start, timeout, &AtomicBool::new(stop))
    }

    #[test]
    fn processes_end_one_way_or_the_other() {
        let long = Duration::from_secs(60);
        assert_eq!(sh("test $GREETING = hello", long, false).unwrap().failure(), None);
        assert_eq!(sh("exit 3", long, false).unwrap().failure().as_deref(), Some("exit code 3"));
        assert_eq!(sh("kill -9 $$", long, false).unwrap().failure().as_deref(), Some("ended by signal 9"));
        assert_eq!(sh("sleep 60", Duration::from_millis(50), false), Ok(Ended::TimedOut));
        assert_eq!(sh("sleep 60", long, true), Ok(Ended::Stopped));
        let words = ["/no/such/program".to_owned()];
        let env = BTreeMap::new();
        let start =
            Start { words: &words, dir: Path::new("/"), env: &env, cpus: &[], joins: &[], input: None, output: None };
        assert!(run(&start, long, &AtomicBool::new(false)).unwrap_err().contains("/no/such/program"));
    }
}
