//! Programs that scripts start, and their end: each script has a process group of its own and a deadline, and what left its group is
//! found below this process, which adopts orphans.

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, WaitOptions, kill_process, kill_process_group, pidfd_open};
use std::collections::BTreeMap;
use std::os::fd::OwnedFd;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, ExitStatus};
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::time::{Duration, Instant};

/// Set by a signal: what runs is ended, and the program with it.
static STOP: AtomicBool = AtomicBool::new(false);
static SIGNAL: AtomicI32 = AtomicI32::new(0);

/// How long until a request to stop is seen.
const TICK: Duration = Duration::from_millis(50);

/// How long what was killed has to be gone.
const GONE: Duration = Duration::from_secs(5);

extern "C" fn stop(signal: libc::c_int) {
    SIGNAL.store(signal, Ordering::Relaxed);
    STOP.store(true, Ordering::Relaxed);
}

/// From here on Ctrl-C and its like end what runs first; a second one ends this program at once. Orphans become its children.
///
/// # Errors
/// What the system says.
pub(crate) fn begin() -> std::io::Result<()> {
    for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP] {
        // SAFETY: the handler stores two numbers only.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = stop as extern "C" fn(libc::c_int) as libc::sighandler_t;
            action.sa_flags = libc::SA_RESETHAND;
            libc::sigaction(signal, &raw const action, std::ptr::null_mut());
        }
    }
    rustix::process::set_child_subreaper(Some(rustix::process::getpid()))?;
    Ok(())
}

/// The exit code of a program that a signal asked to stop.
pub(crate) fn stopped() -> Option<u8> {
    STOP.load(Ordering::Relaxed).then(|| 128u8.saturating_add(SIGNAL.load(Ordering::Relaxed) as u8))
}

/// Why something could not be done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Failed {
    /// A signal asked to stop.
    Stopped,
    /// This takes too long; trying again would take as long.
    Late(String),
    /// Something else, in a line.
    Why(String),
}

impl Failed {
    /// In a line.
    pub(crate) fn why(&self) -> &str {
        match self {
            Failed::Stopped => "stopped",
            Failed::Late(why) | Failed::Why(why) => why,
        }
    }
}

impl From<std::io::Error> for Failed {
    fn from(why: std::io::Error) -> Self {
        Failed::Why(why.to_string())
    }
}

impl From<anyhow::Error> for Failed {
    fn from(why: anyhow::Error) -> Self {
        Failed::Why(format!("{why:#}"))
    }
}

/// Waits a little; ends early where a signal asks to stop.
///
/// # Errors
/// [`Failed::Stopped`].
pub(crate) fn pause(time: Duration) -> Result<(), Failed> {
    let until = Instant::now() + time;
    loop {
        if stopped().is_some() {
            return Err(Failed::Stopped);
        }
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Ok(());
        }
        std::thread::sleep(left.min(TICK));
    }
}

/// The end of a process, which can be waited for.
pub(crate) struct End(OwnedFd);

impl End {
    /// Of this process. `None` where it is gone.
    pub(crate) fn of(pid: u32) -> Option<Self> {
        pidfd_open(Pid::from_raw(pid as i32)?, PidfdFlags::empty()).ok().map(End)
    }

    /// Waits for one of these for so long; returns the place of the first that has ended.
    pub(crate) fn wait(ends: &[&End], time: Duration) -> Option<usize> {
        let mut waits: Vec<PollFd<'_>> = ends.iter().map(|end| PollFd::new(&end.0, PollFlags::IN)).collect();
        // A signal ends the wait early, which is looked at by who asks.
        poll(&mut waits, Timespec::try_from(time).ok().as_ref()).ok()?;
        waits.iter().position(|wait| !wait.revents().is_empty())
    }
}

/// A script that runs, in a process group of its own. Dropped before its end it is killed with its group.
pub(crate) struct Running {
    child: Child,
    end: Option<End>,
    ended: bool,
}

impl Running {
    /// Starts it.
    ///
    /// # Errors
    /// What the system says.
    pub(crate) fn start(command: &mut Command) -> Result<Self, Failed> {
        let child = command.process_group(0).spawn().map_err(|why| {
            Failed::Why(format!("{} cannot be started: {why}", command.get_program().to_string_lossy()))
        })?;
        Ok(Running { end: End::of(child.id()), child, ended: false })
    }

    /// Its process.
    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Its end, to wait for together with others.
    pub(crate) fn end(&self) -> Option<&End> {
        self.end.as_ref()
    }

    /// How it ended, where it has.
    pub(crate) fn ended(&mut self) -> Option<ExitStatus> {
        let status = self.child.try_wait().ok().flatten();
        self.ended |= status.is_some();
        status
    }

    /// Waits until it has ended by itself. Where a signal asks to stop, or at its deadline, it is ended.
    ///
    /// # Errors
    /// [`Failed::Stopped`] and [`Failed::Late`].
    pub(crate) fn wait(&mut self, limit: Duration, grace: Duration) -> Result<ExitStatus, Failed> {
        let until = Instant::now() + limit;
        loop {
            if let Some(status) = self.ended() {
                return Ok(status);
            }
            let left = until.saturating_duration_since(Instant::now());
            let why = match left.is_zero() {
                _ if stopped().is_some() => Failed::Stopped,
                true => Failed::Late(format!("it did not end in {} s", limit.as_secs())),
                false => {
                    match &self.end {
                        Some(end) => drop(End::wait(&[end], left.min(TICK))),
                        None => std::thread::sleep(left.min(TICK)),
                    }
                    continue;
                }
            };
            self.finish(grace);
            return Err(why);
        }
    }

    /// Ends it: its group is asked to, and killed when it still runs after a while.
    pub(crate) fn finish(&mut self, grace: Duration) {
        let Some(group) = Pid::from_raw(self.child.id() as i32) else { return };
        if self.ended().is_none() {
            let _ = kill_process_group(group, Signal::TERM);
            match &self.end {
                Some(end) => drop(End::wait(&[end], grace)),
                None => std::thread::sleep(grace),
            }
        }
        // Others of the group may outlive the first.
        let _ = kill_process_group(group, Signal::KILL);
        if !self.ended {
            let _ = self.child.wait();
            self.ended = true;
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if !self.ended {
            self.finish(Duration::ZERO);
        }
    }
}

/// How a script ended, in words.
pub(crate) fn status_in_words(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("exit code {code}"),
        (None, Some(signal)) => format!("signal {signal}"),
        _ => status.to_string(),
    }
}

/// A process below this one.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Below {
    pid: i32,
    comm: String,
    is_dead: bool,
}

/// All processes below one, by `/proc`.
fn below(of: i32) -> Vec<Below> {
    let mut children: BTreeMap<i32, Vec<Below>> = BTreeMap::new();
    for entry in std::fs::read_dir("/proc").into_iter().flatten().flatten() {
        let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse().ok()) else { continue };
        let Ok(stat) = std::fs::read_to_string(entry.path().join("stat")) else { continue };
        if let Some((parent, of)) = parse_stat(pid, &stat) {
            children.entry(parent).or_default().push(of);
        }
    }
    let (mut found, mut next) = (Vec::new(), vec![of]);
    while let Some(parent) = next.pop() {
        for child in children.remove(&parent).unwrap_or_default() {
            next.push(child.pid);
            found.push(child);
        }
    }
    found
}

/// A line of `/proc/PID/stat`: the parent, and the process. Its name may hold anything.
fn parse_stat(pid: i32, stat: &str) -> Option<(i32, Below)> {
    let (comm, rest) = stat.split_once('(')?.1.rsplit_once(')')?;
    let mut words = rest.split_whitespace();
    let state = words.next()?;
    let parent = words.next()?.parse().ok()?;
    Some((parent, Below { pid, comm: comm.to_owned(), is_dead: matches!(state, "Z" | "X") }))
}

/// Ends all processes below this one, whatever group they are in: they are asked to, and killed when they still run after a while. No
/// [`Running`] may be left.
///
/// # Errors
/// Where some do not end: their names.
pub(crate) fn sweep(grace: Duration) -> Result<(), Failed> {
    let own = rustix::process::getpid().as_raw_nonzero().get();
    let from = Instant::now();
    let mut asked = false;
    loop {
        // Children of this process, which orphans are, stay until someone asks how they ended.
        while let Ok(Some(_)) = rustix::process::wait(WaitOptions::NOHANG) {}
        let left = below(own);
        let alive: Vec<&Below> = left.iter().filter(|process| !process.is_dead).collect();
        if left.is_empty() {
            return Ok(());
        }
        let time = from.elapsed();
        if time > grace + GONE {
            let names: Vec<String> =
                alive.iter().map(|process| format!("{} ({})", process.comm, process.pid)).collect();
            return Err(Failed::Why(format!("what it started does not end: {}", names.join(", "))));
        }
        if !asked || time > grace {
            let signal = if asked { Signal::KILL } else { Signal::TERM };
            for pid in alive.iter().filter_map(|process| Pid::from_raw(process.pid)) {
                let _ = kill_process(pid, signal);
            }
            asked = true;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_processes_may_hold_anything() {
        let of = |stat| parse_stat(7, stat).map(|(parent, of)| (parent, of.comm, of.is_dead));
        assert_eq!(of("7 (a) S 1 7 7 0"), Some((1, "a".into(), false)));
        assert_eq!(of("7 (b) (c) R) Z 12 7"), Some((12, "b) (c) R".into(), true)));
        assert_eq!(of("7 (a"), None);
    }

    #[test]
    fn a_script_that_hangs_is_ended_with_its_group() {
        let mut command = Command::new("bash");
        command.args(["-c", "trap '' TERM; sleep 1000 & wait; wait"]);
        let mut running = Running::start(&mut command).unwrap();
        let pid = running.pid() as i32;
        let why = running.wait(Duration::from_millis(200), Duration::from_millis(100)).unwrap_err();
        assert!(matches!(why, Failed::Late(_)));
        assert!(running.ended);
        assert!(below(pid).iter().all(|process| process.is_dead), "{:?}", below(pid));
    }
}
