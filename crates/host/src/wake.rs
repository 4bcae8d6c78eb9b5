//! Waits of this program's threads that something ends: a thread of another program that comes by a place in its code, which the kernel tells by a probe
//! there (uprobe, without eBPF), or another thread of this one. (perf_event_open(2): wakeup_events; Documentation/trace/uprobetracer.rst; eventfd(2).)

use crate::holder::{self, Probe};
use crate::perf::{self, Attributes, Ring};
use model::Unavailable;
#[cfg(target_os = "linux")]
use rustix::event::{EventfdFlags, eventfd};
use std::fs::File;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// Bytes of a ring: records are only counted, so that it never fills between two waits.
const RING: usize = 4096;

/// Where nothing can end a wait from within this program, it ends after so long.
const WITHOUT: Duration = Duration::from_millis(200);

/// A place in the code of a program, by which one of its threads comes now and then.
#[derive(Debug)]
pub struct Passing {
    event: RawFd,
    ring: Mutex<Ring>,
    over: AtomicBool,
    /// Goes after its ring.
    _probe: Probe,
}

impl Passing {
    /// A place in a file of code, for one thread of the program that runs it.
    ///
    /// # Errors
    /// Where the kernel allows no probe there.
    pub fn open(file: &File, offset: u64, thread: u32) -> Result<Self, Unavailable> {
        let thread = i32::try_from(thread).map_err(|_| Unavailable::not_applicable("no such thread"))?;
        // In a union with wakeup_events: each wakes.
        let attributes = Attributes { sample_period: 1, wakeup_watermark: 1, ..perf::probe(offset)? };
        let (probe, event) = holder::open(file, offset, thread, attributes)?;
        let number = event.as_raw_fd();
        let ring = Ring::of(event, 0, RING, 0).map_err(|error| perf::unavailable(&error))?;
        Ok(Passing { event: number, ring: Mutex::new(ring), over: AtomicBool::new(false), _probe: probe })
    }

    /// Whether the thread has ended.
    pub fn is_over(&self) -> bool {
        self.over.load(Ordering::Relaxed)
    }

    /// Forgets that it came by.
    fn drain(&self) {
        let (mut bytes, mut records) = (Vec::new(), Vec::new());
        self.ring.lock().unwrap_or_else(PoisonError::into_inner).drain(&mut bytes, &mut records);
    }
}

/// What ends a wait from within this program.
#[derive(Debug)]
pub struct Bell(Option<OwnedFd>);

impl Default for Bell {
    fn default() -> Self {
        #[cfg(target_os = "linux")]
        return Bell(eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK).ok());
        #[cfg(not(target_os = "linux"))]
        Bell(None)
    }
}

impl Bell {
    /// Ends the wait that goes on, and all to come.
    pub fn ring(&self) {
        if let Some(bell) = &self.0 {
            // It can only be full of rings.
            let _ = rustix::io::write(bell, &1u64.to_ne_bytes());
        }
    }

    /// Waits until it rings, a thread comes by one of these places, or the time is over. Whether one came by.
    pub fn wait(&self, passings: &[Arc<Passing>], longest: Duration) -> bool {
        let longest = if self.0.is_some() { longest } else { longest.min(WITHOUT) };
        let entry = |fd: RawFd| libc::pollfd { fd, events: libc::POLLIN, revents: 0 };
        // A negative descriptor is passed over.
        let mut entries = vec![entry(self.0.as_ref().map_or(-1, AsRawFd::as_raw_fd))];
        entries.extend(passings.iter().map(|passing| entry(if passing.is_over() { -1 } else { passing.event })));
        #[cfg(target_os = "linux")]
        let time = libc::timespec { tv_sec: longest.as_secs() as _, tv_nsec: longest.subsec_nanos().into() };
        // SAFETY: the entries and the time are alive during the call. Descriptors are open: rings are closed by their owner's end only, who is borrowed.
        #[cfg(target_os = "linux")]
        let ready = unsafe { libc::ppoll(entries.as_mut_ptr(), entries.len() as _, &raw const time, std::ptr::null()) };
        // SAFETY: as above.
        #[cfg(not(target_os = "linux"))]
        let ready = unsafe { libc::poll(entries.as_mut_ptr(), entries.len() as _, longest.as_millis() as _) };
        if ready <= 0 {
            return false;
        }
        let mut came = false;
        for (passing, entry) in passings.iter().zip(entries.iter().skip(1)) {
            if entry.revents & libc::POLLIN != 0 {
                passing.drain();
                came = true;
            }
            if entry.revents & (libc::POLLHUP | libc::POLLERR | libc::POLLNVAL) != 0 {
                passing.over.store(true, Ordering::Relaxed);
            }
        }
        came
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Instant;

    #[test]
    fn a_bell_ends_a_wait() {
        let bell = Arc::new(Bell::default());
        let begin = Instant::now();
        assert!(!bell.wait(&[], Duration::from_millis(5)) && begin.elapsed() >= Duration::from_millis(5));
        let other = Arc::clone(&bell);
        let thread = std::thread::spawn(move || other.ring());
        assert!(!bell.wait(&[], Duration::from_secs(60)) && begin.elapsed() < Duration::from_secs(50));
        thread.join().unwrap();
    }

    #[test]
    fn without_a_bell_a_wait_is_short() {
        let begin = Instant::now();
        assert!(!Bell(None).wait(&[], Duration::from_secs(60)) && begin.elapsed() < Duration::from_secs(50));
    }
}
