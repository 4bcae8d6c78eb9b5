//! Processes of a trial: started in a group of their own, ended with it when time is up or somebody wants to stop.

use std::collections::BTreeMap;
use std::fs::File;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
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
    let created = |path: &Path| File::create(path).map_err(|e| format!("{}: {e}", path.display()));
    command.stdin(start.input.map(opened).transpose()?.map_or(Stdio::null(), Stdio::from));
    if let Some((out, err)) = start.output {
        command.stdout(created(out)?).stderr(created(err)?);
    } else {
        command.stdout(Stdio::null()).stderr(Stdio::null());
    }
    let set = cpu_set(start.cpus);
    // SAFETY: between fork and exec only system calls are made, on memory that was there before.
    unsafe {
        command.pre_exec(move || {
            // When this program is killed, its trial must not run on.
            libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGTERM);
            if let Some(set) = &set
                && libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), set) != 0
            {
                return Err(std::io::Error::last_os_error());
            }
            Ok(())
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

fn cpu_set(cpus: &[usize]) -> Option<libc::cpu_set_t> {
    if cpus.is_empty() {
        return None;
    }
    // SAFETY: a set of bits; all zero is the empty set.
    let mut set: libc::cpu_set_t = unsafe { std::mem::zeroed() };
    for cpu in cpus.iter().filter(|cpu| **cpu < libc::CPU_SETSIZE as usize) {
        // SAFETY: the number is within the set.
        unsafe { libc::CPU_SET(*cpu, &mut set) };
    }
    Some(set)
}

/// A list of CPUs: `0-1,4`.
///
/// # Errors
/// That it is none.
pub(crate) fn cpus(list: &str) -> Result<Vec<usize>, String> {
    let wrong = || format!("cpus {list:?}: a list such as 0-1,4");
    let mut all = Vec::new();
    for part in list.split(',') {
        let (from, to) = part.split_once('-').unwrap_or((part, part));
        let [from, to] = [from, to].map(|n| n.trim().parse::<usize>());
        let (from, to) = (from.map_err(|_| wrong())?, to.map_err(|_| wrong())?);
        if from > to || to >= libc::CPU_SETSIZE as usize {
            return Err(wrong());
        }
        all.extend(from..=to);
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sh(script: &str, timeout: Duration, stop: bool) -> Result<Ended, String> {
        let words = ["sh", "-c", script].map(str::to_owned);
        let env = BTreeMap::from([("GREETING".to_owned(), "hello".to_owned())]);
        let start = Start { words: &words, dir: Path::new("/"), env: &env, cpus: &[], input: None, output: None };
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
        let start = Start { words: &words, dir: Path::new("/"), env: &env, cpus: &[], input: None, output: None };
        assert!(run(&start, long, &AtomicBool::new(false)).unwrap_err().contains("/no/such/program"));
    }

    #[test]
    fn lists_of_cpus() {
        assert_eq!(cpus("0-2,5"), Ok(vec![0, 1, 2, 5]));
        for wrong in ["", "x", "2-1", "0-99999", "1,"] {
            assert!(cpus(wrong).is_err(), "{wrong}");
        }
    }
}
