//! The holder: a small process that holds what must be let go by somebody alive.
//!
//! The kernel takes the breakpoint of a probe (uprobe) out of a program's code when its event is closed, in the thread that closes it, and gives up where
//! that thread is being killed: the breakpoint stays. A process that ends kills its threads, so a recorder cannot close probes by ending, and one that is
//! killed cannot close them at all. So the holder opens them and closes them. It has no part in a recording, nobody's signals end it, and when it sees that
//! the recorder is gone it closes what is left, passes on what the command still writes, and ends.
//!
//! After a probe was closed, the holder compares the code of the process with its file.

#[cfg(target_os = "linux")]
mod serve;
#[cfg(all(test, target_os = "linux"))]
mod tests;
#[cfg(target_os = "linux")]
mod text;
#[cfg(target_os = "linux")]
mod wire;

#[cfg(target_os = "linux")]
pub use here::*;
#[cfg(not(target_os = "linux"))]
pub use nowhere::*;

/// The name of the holder's process, as /proc/PID/comm has it.
pub const NAME: &str = model::HOLDER;

#[cfg(target_os = "linux")]
mod here {
    use super::serve::serve;
    use super::wire;
    use crate::perf::{self, Attributes};
    use model::Unavailable;
    use rustix::net::sockopt::Timeout;
    use std::fs::File;
    use std::io::{self, Read};
    use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
    use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
    use std::sync::{Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
    use std::time::{Duration, Instant};

    /// It answers within this, unless somebody has stopped it.
    const ANSWERS: Duration = Duration::from_secs(10);
    /// Threads that hold probes let them go within this time.
    const LET_GO: Duration = Duration::from_secs(3);
    /// And the kernel takes them out within this; for each some tenths of a second are usual.
    const TAKEN_OUT: Duration = Duration::from_secs(20);
    /// Then the holder ends.
    const ENDS: Duration = Duration::from_secs(1);

    static HOLDER: OnceLock<Holder> = OnceLock::new();

    /// What the holder is asked for. It comes as its bytes: there are none between its fields.
    #[repr(C)]
    #[derive(Clone, Copy, Debug, Default)]
    pub(super) struct Request {
        pub what: u32,
        /// The thread whose code it is.
        pub thread: i32,
        /// The number that the recorder gives to a probe.
        pub number: u64,
        /// Where in the file the instruction is.
        pub offset: u64,
        pub attributes: Attributes,
    }

    /// Opens a probe in a file, that runs a program: descriptors of both. The answer is an error number, or 0.
    pub(super) const RUN: u32 = 1;
    /// Opens a probe in a file. Its event comes with the answer.
    pub(super) const OPEN: u32 = 2;
    /// Closes a probe. There is no answer.
    pub(super) const CLOSE: u32 = 3;
    /// Closes a pipe when no probe is being closed any more.
    pub(super) const SETTLE: u32 = 4;
    /// Closes all probes, says through a pipe where a breakpoint has stayed, and [`DONE`].
    pub(super) const LEAVE: u32 = 5;
    /// Passes on what comes out of a pipe to another file once the recorder is gone.
    pub(super) const OUTPUT: u32 = 6;

    /// The last line of what it says.
    pub(super) const DONE: &str = "done";

    impl Request {
        fn bytes(&self) -> &[u8] {
            // SAFETY: plain numbers without a gap between them, for as long as they are borrowed.
            unsafe { std::slice::from_raw_parts((&raw const *self).cast(), size_of::<Request>()) }
        }

        pub(super) fn of(bytes: &[u8; size_of::<Request>()]) -> Request {
            // SAFETY: any bytes are such numbers.
            unsafe { bytes.as_ptr().cast::<Request>().read_unaligned() }
        }
    }

    /// The holder as the recorder sees it.
    #[derive(Debug)]
    struct Holder {
        socket: OwnedFd,
        pid: libc::pid_t,
        /// One asks at a time.
        asking: Mutex<()>,
        numbers: AtomicU64,
        /// Nothing is opened any more.
        over: AtomicBool,
        /// It did not answer once.
        is_gone: AtomicBool,
        /// Output is left to it.
        passes_on: AtomicBool,
        open: Mutex<usize>,
        closed: Condvar,
    }

    /// A probe. The breakpoint is taken out when it is dropped, after everything that was made of its event.
    #[derive(Debug)]
    pub struct Probe {
        number: u64,
    }

    /// Lets go of everything when it is dropped: see [`start`].
    #[derive(Debug)]
    #[must_use = "everything is let go when it is dropped"]
    pub struct Holding(());

    /// Starts the holder of this process. To be called before any thread is started. What comes back is to outlive all that opens probes: when it is
    /// dropped, what is attached to programs is detached, waited for and checked, in half a minute at most; what could not be done is said on standard
    /// error.
    ///
    /// # Errors
    /// Where there can be no other process. Then no probe is opened.
    pub fn start() -> io::Result<Holding> {
        start_within(ANSWERS)
    }

    /// The same, with another time for an answer.
    pub(super) fn start_within(answers: Duration) -> io::Result<Holding> {
        if HOLDER.get().is_some() {
            return Ok(Holding(()));
        }
        let (ours, theirs) = wire::pair()?;
        // A holder that was stopped answers nobody, and must not keep anybody.
        for way in [Timeout::Recv, Timeout::Send] {
            rustix::net::sockopt::set_socket_timeout(&ours, way, Some(answers))?;
        }
        let recorder =
            rustix::process::pidfd_open(rustix::process::getpid(), rustix::process::PidfdFlags::empty()).ok();
        // SAFETY: no thread has been started, so the child may do what any program may.
        let pid = unsafe { libc::fork() };
        if pid < 0 {
            return Err(io::Error::last_os_error());
        }
        if pid == 0 {
            drop(ours);
            serve(theirs, recorder);
        }
        let holder = Holder {
            socket: ours,
            pid,
            asking: Mutex::default(),
            numbers: AtomicU64::new(1),
            over: AtomicBool::new(false),
            is_gone: AtomicBool::new(false),
            passes_on: AtomicBool::new(false),
            open: Mutex::new(0),
            closed: Condvar::new(),
        };
        let _ = HOLDER.set(holder);
        Ok(Holding(()))
    }

    /// The holder's process; `None` where there is none. It is no part of what is recorded.
    pub fn process() -> Option<u32> {
        HOLDER.get().map(|holder| holder.pid as u32)
    }

    /// Has the holder pass on what comes out of `from` to `to` once this process is gone, however it came to its end, until nobody writes any more.
    ///
    /// # Errors
    /// Where there is no holder.
    pub fn pass_on(from: impl AsFd, to: impl AsFd) -> io::Result<()> {
        let holder = HOLDER.get().ok_or(io::ErrorKind::NotFound)?;
        let request = Request { what: OUTPUT, ..Request::default() };
        wire::send(&holder.socket, request.bytes(), &[from.as_fd(), to.as_fd()])
    }

    /// Says that output is left for it to pass on: it will not end with this process.
    pub fn leave_output() {
        if let Some(holder) = HOLDER.get() {
            holder.passes_on.store(true, Ordering::Relaxed);
        }
    }

    /// Opens a probe at an instruction of a thread (0: the calling one), by its place in a file. `attributes` are those of [`perf::probe`].
    pub(crate) fn open(
        file: &File,
        offset: u64,
        thread: i32,
        attributes: Attributes,
    ) -> Result<(Probe, OwnedFd), Unavailable> {
        let (probe, event) = ask(OPEN, &[file.as_fd()], offset, thread, attributes)?;
        Ok((probe, event.ok_or_else(|| Unavailable::failed("the holder of probes gave none"))?))
    }

    /// Has a program run at an instruction.
    #[cfg(feature = "bpf")]
    pub(crate) fn run(
        file: &File,
        offset: u64,
        thread: i32,
        attributes: Attributes,
        program: BorrowedFd<'_>,
    ) -> Result<Probe, Unavailable> {
        ask(RUN, &[file.as_fd(), program], offset, thread, attributes).map(|(probe, _)| probe)
    }

    fn ask(
        what: u32,
        descriptors: &[BorrowedFd<'_>],
        offset: u64,
        thread: i32,
        attributes: Attributes,
    ) -> Result<(Probe, Option<OwnedFd>), Unavailable> {
        let none = "there is no process that would take probes out again: none is put in";
        let holder = HOLDER.get().ok_or_else(|| Unavailable::failed(none))?;
        let number = holder.numbers.fetch_add(1, Ordering::Relaxed);
        // SAFETY: gives a number.
        let thread = if thread == 0 { unsafe { libc::gettid() } } else { thread };
        let request = Request { what, thread, number, offset, attributes };
        let asking = lock(&holder.asking);
        if holder.over.load(Ordering::Relaxed) {
            return Err(Unavailable::not_applicable("the recording ends"));
        }
        let gone =
            || Unavailable::failed(format!("process {}, which takes probes out again, does not answer", holder.pid));
        if holder.is_gone.load(Ordering::Relaxed) {
            return Err(gone());
        }
        let mut answer = [0; 4];
        let answered = wire::send(&holder.socket, request.bytes(), descriptors)
            .and_then(|()| wire::receive(&holder.socket, &mut answer));
        let mut events = match answered {
            Ok((4, events)) => events,
            // What it answers later would be taken for the answer to the next question.
            _ => {
                holder.is_gone.store(true, Ordering::Relaxed);
                return Err(gone());
            }
        };
        // Counted before another thread may think that there are none.
        let failed = i32::from_ne_bytes(answer);
        if failed != 0 {
            return Err(perf::unavailable(&io::Error::from_raw_os_error(failed)));
        }
        *lock(&holder.open) += 1;
        drop(asking);
        Ok((Probe { number }, events.pop()))
    }

    impl Drop for Probe {
        fn drop(&mut self) {
            let Some(holder) = HOLDER.get() else { return };
            let request = Request { what: CLOSE, number: self.number, ..Request::default() };
            // A holder that has ended holds nothing.
            let _ = wire::send(&holder.socket, request.bytes(), &[]);
            *lock(&holder.open) -= 1;
            holder.closed.notify_all();
        }
    }

    /// Waits until the probes that were dropped are out.
    #[cfg(feature = "bpf")]
    pub(crate) fn settle() {
        if let Some(holder) = HOLDER.get() {
            let _ = holder.wait_for(SETTLE, TAKEN_OUT);
        }
    }

    impl Holder {
        /// Waits until it has done something, and what it says then.
        ///
        /// # Errors
        /// `TimedOut` where it is still at it; anything else where it is gone.
        fn wait_for(&self, what: u32, longest: Duration) -> io::Result<String> {
            let (mut told, tells) = io::pipe()?;
            let request = Request { what, ..Request::default() };
            wire::send(&self.socket, request.bytes(), &[tells.as_fd()])?;
            drop(tells);
            let (begin, mut said) = (Instant::now(), Vec::new());
            loop {
                let left = longest.checked_sub(begin.elapsed()).ok_or(io::ErrorKind::TimedOut)?;
                let mut entry = libc::pollfd { fd: told.as_raw_fd(), events: libc::POLLIN, revents: 0 };
                // SAFETY: one entry, which is alive during the call.
                if unsafe { libc::poll(&raw mut entry, 1, left.as_millis() as _) } <= 0 {
                    continue;
                }
                let mut buffer = [0; 4096];
                match told.read(&mut buffer)? {
                    0 => return String::from_utf8(said).map_err(io::Error::other),
                    count => said.extend_from_slice(buffer.get(..count).unwrap_or_default()),
                }
            }
        }

        /// Has everything let go. What could not be done, in words.
        fn leave(&self) -> Vec<String> {
            if self.over.swap(true, Ordering::Relaxed) {
                return Vec::new();
            }
            // Who is about to open one has done so.
            drop(lock(&self.asking));
            let begin = Instant::now();
            let mut open = lock(&self.open);
            while *open > 0 && begin.elapsed() < LET_GO {
                let left = LET_GO.saturating_sub(begin.elapsed());
                open = self.closed.wait_timeout(open, left).map_or_else(|e| e.into_inner().0, |(open, _)| open);
            }
            drop(open);
            let mut words = Vec::new();
            match self.wait_for(LEAVE, TAKEN_OUT) {
                Ok(said) if said.lines().last() == Some(DONE) => {
                    words.extend(said.lines().filter(|line| *line != DONE).map(str::to_owned));
                }
                // One that had nothing to hold did no harm by its end.
                _ if self.numbers.load(Ordering::Relaxed) == 1 => {}
                Err(why) if why.kind() == io::ErrorKind::TimedOut => words.push(format!(
                    "probes in programs were not taken out within {} s: process {} goes on with that",
                    TAKEN_OUT.as_secs(),
                    self.pid
                )),
                Ok(_) | Err(_) => words.push(format!(
                    "process {}, which takes probes out of programs, was ended: whether all are out was not checked",
                    self.pid
                )),
            }
            // It ends when nobody can ask it for anything any more. Its end is waited for, so that nothing of a recording outlives it.
            let _ = rustix::net::shutdown(&self.socket, rustix::net::Shutdown::Write);
            let begin = Instant::now();
            // SAFETY: it is a child that nobody else waits for; how it ended is not asked for.
            while words.is_empty()
                && !self.passes_on.load(Ordering::Relaxed)
                && unsafe { libc::waitpid(self.pid, std::ptr::null_mut(), libc::WNOHANG) } == 0
                && begin.elapsed() < ENDS
            {
                std::thread::sleep(Duration::from_millis(1));
            }
            words
        }
    }

    impl Drop for Holding {
        fn drop(&mut self) {
            for why in HOLDER.get().map(Holder::leave).unwrap_or_default() {
                // Nobody has to be there to read it.
                let _ = io::Write::write_all(&mut io::stderr(), format!("twinscope: {why}\n").as_bytes());
            }
        }
    }

    fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
        mutex.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Nothing is recorded there.
#[cfg(not(target_os = "linux"))]
mod nowhere {
    use crate::perf::Attributes;
    use model::Unavailable;
    use std::fs::File;
    use std::io;
    use std::os::fd::{AsFd, OwnedFd};

    /// A probe.
    #[derive(Debug)]
    pub struct Probe(());

    /// What lets go of everything.
    #[derive(Debug)]
    pub struct Holding(());

    /// Starts nothing.
    ///
    /// # Errors
    /// None.
    pub fn start() -> io::Result<Holding> {
        Ok(Holding(()))
    }

    /// There is none.
    pub fn process() -> Option<u32> {
        None
    }

    /// Passes on nothing.
    ///
    /// # Errors
    /// Always.
    pub fn pass_on(_from: impl AsFd, _to: impl AsFd) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// There is none.
    pub fn leave_output() {}

    pub(crate) fn open(_: &File, _: u64, _: i32, _: Attributes) -> Result<(Probe, OwnedFd), Unavailable> {
        Err(Unavailable::not_applicable("probes are of Linux"))
    }
}
