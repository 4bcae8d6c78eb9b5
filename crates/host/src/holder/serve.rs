//! What the holder does.

use super::NAME;
use super::here::{CLOSE, DONE, LEAVE, OPEN, OUTPUT, RUN, Request, SETTLE};
use super::text::{Instruction, again};
use super::wire;
use crate::perf::{self, Attributes};
use std::collections::HashMap;
use std::fs::File;
use std::io::{self, PipeWriter, Read, Write};
use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::fs::MetadataExt;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

/// To close a probe takes the kernel some tenths of a second, in which it waits: this many are closed at once.
const CLOSING: usize = 16;
/// When the recorder closes its end it is about to be gone: so long that is waited for, ms.
const GONE: i32 = 2000;
/// Where its descriptors are: those after them are closed.
const SOCKET: i32 = 3;
const RECORDER: i32 = 4;

/// The whole life of the holder, in the child of a fork.
pub(super) fn serve(socket: OwnedFd, recorder: Option<OwnedFd>) -> ! {
    let served = std::panic::catch_unwind(|| {
        let (socket, recorder) = alone(socket, recorder)?;
        hold(&socket, recorder.as_ref());
        io::Result::Ok(())
    });
    // SAFETY: ends the process, without what its parent wanted done at its own end.
    unsafe { libc::_exit(i32::from(!matches!(served, Ok(Ok(()))))) }
}

/// Leaves everything that would end it with others, or hold something of theirs: signals, session, files, folder.
fn alone(socket: OwnedFd, recorder: Option<OwnedFd>) -> io::Result<(OwnedFd, Option<OwnedFd>)> {
    // SAFETY: system calls that take numbers and a text that ends with a zero.
    unsafe {
        libc::setsid();
        for signal in [
            libc::SIGINT,
            libc::SIGTERM,
            libc::SIGHUP,
            libc::SIGQUIT,
            libc::SIGPIPE,
            libc::SIGUSR1,
            libc::SIGUSR2,
            libc::SIGALRM,
            libc::SIGTSTP,
            libc::SIGXCPU,
            libc::SIGXFSZ,
        ] {
            libc::signal(signal, libc::SIG_IGN);
        }
    }
    let _ = rustix::thread::set_name(&std::ffi::CString::new(NAME)?);
    let _ = std::env::set_current_dir("/");
    // Where memory runs out the recorder is what may be killed. Without the right to say so it is as likely as others.
    let spared = File::options().write(true).open("/proc/self/oom_score_adj");
    let _ = spared.and_then(|mut file| file.write_all(b"-1000"));
    let nothing = File::options().read(true).write(true).open("/dev/null")?;
    // Their own numbers may be among those that they are to get: copies are far above.
    let far = |fd: &OwnedFd| rustix::io::fcntl_dupfd_cloexec(fd, 64);
    let copies = (far(&socket)?, recorder.as_ref().map(far).transpose()?);
    // From here on their own numbers may be other descriptors', which must not be closed for them.
    std::mem::forget((socket, recorder));
    let (socket, recorder) = copies;
    // SAFETY: descriptors that are open; the new numbers belong to nobody else in this process, whose other descriptors are not used any more.
    unsafe {
        for standard in 0..3 {
            libc::dup2(nothing.as_raw_fd(), standard);
        }
        libc::dup3(socket.as_raw_fd(), SOCKET, libc::O_CLOEXEC);
        if let Some(recorder) = &recorder {
            libc::dup3(recorder.as_raw_fd(), RECORDER, libc::O_CLOEXEC);
        }
        let is_there = recorder.is_some();
        std::mem::forget((socket, recorder, nothing));
        let first = if is_there { RECORDER + 1 } else { SOCKET + 1 };
        if libc::syscall(libc::SYS_close_range, first, u32::MAX, 0) < 0 {
            // Before Linux 5.9.
            let most = libc::sysconf(libc::_SC_OPEN_MAX).clamp(64, 1 << 20) as i32;
            for number in first..most {
                libc::close(number);
            }
        }
        Ok((OwnedFd::from_raw_fd(SOCKET), is_there.then(|| OwnedFd::from_raw_fd(RECORDER))))
    }
}

/// A probe that is open.
struct Held {
    event: OwnedFd,
    at: At,
}

/// A place in a file: device, inode, offset.
type At = (u64, u64, u64);

/// A place in the code of a process where a probe has been.
struct Place {
    process: i32,
    code: File,
    offset: u64,
    attributes: Attributes,
    instruction: Instruction,
}

/// Places where probes are, and how many are open in their file there.
#[derive(Default)]
struct Use {
    open: usize,
    places: Vec<Place>,
}

#[derive(Default)]
struct State {
    closing: usize,
    uses: HashMap<At, Use>,
    /// Where a breakpoint was found that should have gone.
    doubtful: Vec<Place>,
}

/// What threads share.
#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until fewer than so many are being closed.
    fn wait_below(&self, most: usize) -> MutexGuard<'_, State> {
        let waited = self.changed.wait_while(self.lock(), |state| state.closing >= most);
        waited.unwrap_or_else(PoisonError::into_inner)
    }
}

/// Serves until the recorder is gone, and then lets everything go.
fn hold(socket: &OwnedFd, recorder: Option<&OwnedFd>) {
    let shared = Arc::new(Shared::default());
    let mut held = HashMap::new();
    let (mut outputs, mut has_left) = (Vec::new(), false);
    let mut bytes = [0; size_of::<Request>()];
    while let Ok((count, descriptors)) = wire::receive(socket, &mut bytes)
        && count > 0
    {
        let (request, mut descriptors) = (Request::of(&bytes), descriptors.into_iter());
        match request.what {
            OPEN | RUN => {
                let opened = match descriptors.next() {
                    Some(code) => open(&shared, &request, File::from(code), descriptors.next()),
                    None => Err(io::ErrorKind::InvalidInput.into()),
                };
                let failed = opened.as_ref().err().map_or(0, |error| error.raw_os_error().unwrap_or(libc::EINVAL));
                let event = opened.as_ref().ok().filter(|_| request.what == OPEN).map(|held| held.event.as_fd());
                // Where nobody waits for the answer any more, it is held until that is noticed.
                let _ = wire::send(socket, &failed.to_ne_bytes(), event.as_slice());
                held.extend(opened.ok().map(|opened| (request.number, opened)));
            }
            CLOSE => held.remove(&request.number).into_iter().for_each(|held| close(&shared, held)),
            SETTLE | LEAVE => {
                let leaves = request.what == LEAVE;
                has_left |= leaves;
                if leaves {
                    held.drain().for_each(|(_, held)| close(&shared, held));
                }
                let (shared, told) = (Arc::clone(&shared), descriptors.next().map(PipeWriter::from));
                let thread = std::thread::Builder::new();
                // Where there can be no thread the pipe is closed, without a word.
                let _ = thread.spawn(move || settle(&shared, leaves, told));
            }
            OUTPUT => outputs.extend(descriptors.next().zip(descriptors.next())),
            _ => {}
        }
    }
    // While the recorder's threads end they still hold events, and read output. One that has let go of all is waiting for this process.
    if let Some(recorder) = recorder.filter(|_| !has_left) {
        let mut entry = libc::pollfd { fd: recorder.as_raw_fd(), events: libc::POLLIN, revents: 0 };
        // SAFETY: one entry, which is alive during the call.
        unsafe { libc::poll(&raw mut entry, 1, GONE) };
    }
    let passing: Vec<Option<JoinHandle<()>>> = outputs
        .into_iter()
        .map(|(from, to)| std::thread::Builder::new().spawn(move || pass_on(File::from(from), File::from(to))).ok())
        .collect();
    held.drain().for_each(|(_, held)| close(&shared, held));
    settle(&shared, true, None);
    passing.into_iter().flatten().for_each(|thread| drop(thread.join()));
}

fn open(shared: &Shared, request: &Request, code: File, program: Option<OwnedFd>) -> io::Result<Held> {
    let event = event(request.attributes, &code, request.thread)?;
    let about = code.metadata()?;
    let at = (about.dev(), about.ino(), request.offset);
    // From here on it is told apart from a breakpoint that has stayed.
    let mut state = shared.lock();
    let here = state.uses.entry(at).or_default();
    here.open += 1;
    if let Some(process) = process_of(request.thread)
        && here.places.iter().all(|place| place.process != process)
        && let Some(instruction) = Instruction::of(process, &code, request.offset)
        && let Some(code) = again(&code)
    {
        let (offset, attributes) = (request.offset, request.attributes);
        here.places.push(Place { process, code, offset, attributes, instruction });
    }
    drop(state);
    let held = Held { event, at };
    if let Some(program) = program {
        // SAFETY: they take a descriptor's number, and none.
        let runs = unsafe {
            libc::ioctl(held.event.as_raw_fd(), perf::IOC_SET_BPF as _, program.as_raw_fd()) >= 0
                && libc::ioctl(held.event.as_raw_fd(), perf::IOC_ENABLE as _, 0) >= 0
        };
        if !runs {
            let error = io::Error::last_os_error();
            take_out(shared, held);
            return Err(error);
        }
    }
    Ok(held)
}

/// The process that a thread is of: threads come and go, and its code stays.
fn process_of(thread: i32) -> Option<i32> {
    let status = std::fs::read_to_string(format!("/proc/{thread}/status")).ok()?;
    status.lines().find_map(|line| line.strip_prefix("Tgid:")?.trim().parse().ok())
}

/// A new event at an instruction.
fn event(attributes: Attributes, code: &File, thread: i32) -> io::Result<OwnedFd> {
    let path = perf::path_of(code).map_err(|_| io::ErrorKind::InvalidInput)?;
    Attributes { config1: path.as_ptr() as u64, ..attributes }.open(thread, -1)
}

/// Closes a probe in a thread.
fn close(shared: &Arc<Shared>, held: Held) {
    shared.wait_below(CLOSING).closing += 1;
    let of_thread = Arc::clone(shared);
    let held = Arc::new(Mutex::new(Some(held)));
    let taken = Arc::clone(&held);
    let done = move |shared: &Shared, held: &Mutex<Option<Held>>| {
        if let Some(held) = held.lock().unwrap_or_else(PoisonError::into_inner).take() {
            take_out(shared, held);
        }
        shared.lock().closing -= 1;
        shared.changed.notify_all();
    };
    let small = std::thread::Builder::new().stack_size(128 << 10);
    // Where there can be no thread it is closed here.
    if small.spawn(move || done(&of_thread, &taken)).is_err() {
        done(shared, &held);
    }
}

/// Closes a probe; where it was the last one there, looks whether its breakpoint is gone.
fn take_out(shared: &Shared, held: Held) {
    let Held { event, at } = held;
    drop(event);
    let mut state = shared.lock();
    let Some(here) = state.uses.get_mut(&at) else { return };
    here.open -= 1;
    if here.open > 0 {
        return;
    }
    let places = state.uses.remove(&at).unwrap_or_default().places;
    drop(state);
    let stayed: Vec<Place> = places.into_iter().filter(Place::stays).collect();
    shared.lock().doubtful.extend(stayed);
}

impl Place {
    /// Whether a breakpoint is there. One that the kernel has forgotten goes with another one that is put there and taken out.
    fn stays(&self) -> bool {
        self.instruction.has_breakpoint() && {
            drop(event(self.attributes, &self.code, self.process));
            self.instruction.has_breakpoint()
        }
    }
}

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let path = std::fs::read_link(format!("/proc/self/fd/{}", self.code.as_raw_fd())).unwrap_or_default();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let name: String = name.chars().filter(|c| !c.is_control()).collect();
        let (process, offset) = (self.process, self.offset);
        write!(
            f,
            "process {process}: a breakpoint is still in its code, at {name}+{offset:#x}: another program may have put it \
             there; where none has, restart the process"
        )
    }
}

/// Waits until nothing is being closed; where all are to be out, says which are not.
fn settle(shared: &Shared, all: bool, told: Option<PipeWriter>) {
    let mut state = shared.wait_below(1);
    if !all {
        return;
    }
    let mut stayed = std::mem::take(&mut state.doubtful);
    drop(state);
    stayed.retain(Place::stays);
    if let Some(mut told) = told {
        let lines: String = stayed.iter().map(|place| format!("{place}\n")).collect();
        let _ = told.write_all(format!("{lines}{DONE}\n").as_bytes());
    }
}

/// Passes on what comes out of a pipe, until nobody writes any more.
fn pass_on(mut from: File, to: File) {
    let (mut buffer, mut to) = (vec![0; 64 << 10], Some(to));
    loop {
        match from.read(&mut buffer) {
            Ok(0) => break,
            Ok(count) => {
                let bytes = buffer.get(..count).unwrap_or_default();
                // Where nobody reads it, who writes it is still not disturbed.
                if to.as_mut().is_some_and(|to| to.write_all(bytes).is_err()) {
                    to = None;
                }
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => break,
        }
    }
}
