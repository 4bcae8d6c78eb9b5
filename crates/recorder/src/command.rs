//! The workload under test: starts the command, passes its output on while keeping the tail, and says how it ended. What still comes when this program is
//! gone, however that ended, is passed on by the holder: nobody who writes is hurt.

use crate::progress::Progress;
use crate::work::Counter;
use crate::{last, signals};
use host::Placement;
use model::{Exit, Output, Usage};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::time::{ClockId, clock_gettime};
use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};
use std::io::{PipeReader, PipeWriter, Read, Write};
use std::mem::MaybeUninit;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Of each output stream, so many last bytes are kept.
const TAIL: usize = 8 << 10;

/// The streams end, or the threads that read them, within so long.
const PATIENCE: Duration = Duration::from_millis(200);

/// Exit code where a command is not there.
const NOT_FOUND: u8 = 127;

/// Exit code where a command is there and cannot be started.
pub(crate) const NOT_STARTED: u8 = 126;

/// One output stream that passes through: the thread that copies it, and its tail.
type Stream = (JoinHandle<()>, Arc<Mutex<VecDeque<u8>>>);

/// Why `program` cannot be started, with the exit code that `env` and the shells have for it (POSIX, "Shell Command Language", 2.8.2). Looked
/// for as execvp(3) does, before anything is written: a misspelt command must not cost an older recording.
pub(crate) fn refused(program: &OsStr) -> Option<(u8, &'static str)> {
    let candidates: Vec<PathBuf> = if program.as_encoded_bytes().contains(&b'/') {
        vec![program.into()]
    } else {
        let path = std::env::var_os("PATH").unwrap_or_else(|| "/bin:/usr/bin".into());
        std::env::split_paths(&path).map(|folder| folder.join(program)).collect()
    };
    let mut found = false;
    for candidate in candidates {
        if let Ok(there) = std::fs::metadata(&candidate) {
            if there.is_file() && rustix::fs::access(&candidate, rustix::fs::Access::EXEC_OK).is_ok() {
                return None;
            }
            found = true;
        }
    }
    Some(if found { (NOT_STARTED, "is no program that you may run") } else { (NOT_FOUND, "no such program") })
}

/// The exit code of this program for an end of the command: that of the shells.
pub(crate) fn code(exit: Exit) -> u8 {
    match exit {
        Exit::Code(code) => code as u8,
        Exit::Signal(signal) => 128u8.saturating_add(signal as u8),
    }
}

/// A command that was started.
#[derive(Debug)]
pub(crate) struct Workload {
    child: Child,
    streams: Vec<Stream>,
    /// Its end is that of the threads that read them.
    reading: Option<PipeWriter>,
    /// Somebody still writes when all is over.
    pub(crate) is_passed_on: bool,
    counter: Option<Arc<Counter>>,
    /// When it had joined its control groups, CLOCK_MONOTONIC in nanoseconds; `None` where it has none.
    pub(crate) joined: Option<u64>,
    pub(crate) ended: Option<(Exit, Usage)>,
}

impl Workload {
    /// Starts `command` there. Its streams pass through this program unless `untouched`. `marks` is where it may write marks.
    pub(crate) fn start(
        command: &[OsString],
        placement: Placement,
        untouched: bool,
        marks: Option<&Path>,
        counter: Option<Arc<Counter>>,
        progress: &Arc<Progress>,
    ) -> std::io::Result<Self> {
        let (program, arguments) = command.split_first().ok_or(std::io::ErrorKind::InvalidInput)?;
        let mut builder = Command::new(program);
        builder.args(arguments);
        if let Some(marks) = marks {
            builder.env("TWINSCOPE_MARK", marks);
        }
        let (over, reading) = std::io::pipe()?;
        let mut streams = Vec::new();
        if !untouched {
            let (out, writes) = std::io::pipe()?;
            builder.stdout(writes);
            let (err, writes) = std::io::pipe()?;
            builder.stderr(writes);
            // Where there is no holder, a command that outlives this program finds nobody who reads.
            let _ = host::holder::pass_on(&out, std::io::stdout());
            let _ = host::holder::pass_on(&err, std::io::stderr());
            streams.push(pass_on(out, over.try_clone()?, std::io::stdout(), counter.clone(), Arc::clone(progress)));
            streams.push(pass_on(err, over, std::io::stderr(), counter.clone(), Arc::clone(progress)));
        }
        // To join a control group can take milliseconds, which are none of the command's time: it says when it had.
        let told = if placement.is_empty() { None } else { Some(std::io::pipe()?) };
        let (mut joined, tells) = told.map_or((None, None), |(told, tells)| (Some(told), Some(tells)));
        // SAFETY: only what the child itself may use is changed between fork and exec, by system calls alone.
        unsafe {
            builder.pre_exec(move || {
                signals::unblock();
                host::restore_open_files();
                placement.enter()?;
                if let Some(tells) = &tells {
                    let now = clock_gettime(ClockId::Monotonic);
                    let now = now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64;
                    rustix::io::write(tells, &now.to_ne_bytes())?;
                }
                Ok(())
            });
        }
        let child = builder.spawn()?;
        last::started(child.id());
        // The end that tells goes with the builder, so that this cannot wait for ever.
        drop(builder);
        let joined = joined.as_mut().and_then(|told| {
            let mut bytes = [0; 8];
            told.read_exact(&mut bytes).ok().map(|()| u64::from_ne_bytes(bytes))
        });
        Ok(Workload { child, streams, reading: Some(reading), is_passed_on: false, counter, joined, ended: None })
    }

    /// The command's process id.
    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Passes a signal on.
    pub(crate) fn signal(&self, signal: i32) {
        if self.ended.is_none() {
            // SAFETY: plain system call; the child was not waited for, so the number is still its own.
            unsafe { libc::kill(self.child.id() as libc::pid_t, signal) };
        }
    }

    /// Whether the command has ended; if so, [`Workload::ended`] says how.
    pub(crate) fn poll(&mut self) -> bool {
        if self.ended.is_some() {
            return true;
        }
        let mut status = 0;
        let mut usage = MaybeUninit::<libc::rusage>::zeroed();
        // SAFETY: both pointers are valid for the call; a zeroed rusage is valid.
        let (pid, usage) = unsafe {
            let pid = libc::wait4(self.child.id() as libc::pid_t, &mut status, libc::WNOHANG, usage.as_mut_ptr());
            (pid, usage.assume_init())
        };
        if pid == 0 {
            return false;
        }
        let exit = match pid {
            // Someone else waited for it; how it ended is not known.
            -1 => Exit::Code(0),
            _ if libc::WIFSIGNALED(status) => Exit::Signal(libc::WTERMSIG(status)),
            _ => Exit::Code(libc::WEXITSTATUS(status)),
        };
        last::ended(code(exit));
        let seconds = |t: libc::timeval| t.tv_sec as f64 + t.tv_usec as f64 / 1e6;
        let usage = Usage {
            user: seconds(usage.ru_utime),
            system: seconds(usage.ru_stime),
            max_rss: usage.ru_maxrss.saturating_mul(1024),
            minor_faults: usage.ru_minflt,
            major_faults: usage.ru_majflt,
            in_blocks: usage.ru_inblock,
            out_blocks: usage.ru_oublock,
            voluntary_switches: usage.ru_nvcsw,
            involuntary_switches: usage.ru_nivcsw,
        };
        self.ended = Some((exit, usage));
        true
    }

    fn wait_for_streams(&self) {
        let begin = Instant::now();
        while self.streams.iter().any(|(thread, _)| !thread.is_finished()) && begin.elapsed() < PATIENCE {
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    /// The tails of its output. Waits for the streams to end only if the command has, and then only a moment: a daemon that it left
    /// behind may hold them open for ever. From here on the holder passes on what comes.
    pub(crate) fn output(&mut self) -> Option<Output> {
        if self.streams.is_empty() {
            return None;
        }
        if self.ended.is_some() {
            self.wait_for_streams();
        }
        self.is_passed_on = self.streams.iter().any(|(thread, _)| !thread.is_finished());
        self.reading = None;
        if self.is_passed_on {
            // What they have read is passed on before what the holder reads.
            self.wait_for_streams();
            host::holder::leave_output();
        }
        if let Some(counter) = &self.counter {
            counter.end();
        }
        let mut tails = self.streams.iter().map(|(_, tail)| {
            let tail = tail.lock().unwrap_or_else(|e| e.into_inner());
            let bytes: Vec<u8> = tail.iter().copied().collect();
            String::from_utf8_lossy(&bytes).into_owned()
        });
        Some(Output { stdout: tails.next().unwrap_or_default(), stderr: tails.next().unwrap_or_default() })
    }
}

/// Copies a stream to one of ours in a thread, until it or `over` ends, keeping its tail and counting work.
fn pass_on(
    mut from: PipeReader,
    over: PipeReader,
    mut to: impl Write + Send + 'static,
    counter: Option<Arc<Counter>>,
    progress: Arc<Progress>,
) -> Stream {
    let kept = Arc::new(Mutex::new(VecDeque::with_capacity(TAIL)));
    let tail = Arc::clone(&kept);
    let thread = std::thread::spawn(move || {
        let mut buffer = vec![0; 64 << 10];
        loop {
            // Looked at first: what is read from here on would be nobody's.
            let mut either = [PollFd::new(&from, PollFlags::IN), PollFd::new(&over, PollFlags::IN)];
            let waited = poll(&mut either, None);
            if waited.is_ok() && either.iter().skip(1).any(|over| !over.revents().is_empty()) {
                break;
            }
            let count = match from.read(&mut buffer) {
                Ok(0) => break,
                Ok(count) => count,
                Err(e) if e.kind() == std::io::ErrorKind::Interrupted => continue,
                Err(_) => break,
            };
            let bytes = buffer.get(..count).unwrap_or_default();
            // Where nobody reads our output any more, the command is still recorded.
            let _ = progress.clear_for(|| to.write_all(bytes).and_then(|()| to.flush()));
            if let Some(counter) = &counter {
                counter.feed(bytes);
            }
            let mut tail = tail.lock().unwrap_or_else(|e| e.into_inner());
            let bytes = bytes.get(bytes.len().saturating_sub(TAIL)..).unwrap_or_default();
            let over = (tail.len() + bytes.len()).saturating_sub(TAIL);
            tail.drain(..over);
            tail.extend(bytes);
        }
    });
    (thread, kept)
}
