//! A thread that looks at the memory of programs between the reads of a source, some dozens of times a second, and why it may find nothing there.

use crate::memory::Trouble;
use crate::stacks::Stacks;
use host::wake::{Bell, Passing};
use model::Unavailable;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// What such a thread does, and what it shares with the reads.
pub(crate) trait Look: Default + Send + 'static {
    /// Of the thread.
    const NAME: &'static str;

    /// Looks at all whose turn it is. When the next round is. `came` says that a thread came by one of the places that were waited for.
    fn round(looker: &Looker<Self>, stacks: &Stacks, came: bool) -> Next;
}

/// When the next round is.
#[derive(Debug, Default)]
pub(crate) struct Next {
    /// Not before.
    pub least: Duration,
    /// Then as soon as a thread comes by one of these places.
    pub passings: Vec<Arc<Passing>>,
    /// At the latest.
    pub most: Duration,
}

impl From<Duration> for Next {
    fn from(after: Duration) -> Self {
        Next { least: after, passings: Vec::new(), most: after }
    }
}

/// The thread, and what it found.
#[derive(Debug)]
pub(crate) struct Looker<L> {
    found: Mutex<L>,
    closed: AtomicBool,
    bell: Bell,
}

impl<L> Looker<L> {
    /// What it shares with the reads.
    pub fn found(&self) -> MutexGuard<'_, L> {
        self.found.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Ends the thread with it.
#[derive(Debug)]
pub(crate) struct Looking<L: Look> {
    looker: Arc<Looker<L>>,
    stacks: Stacks,
    running: bool,
}

impl<L: Look> Looking<L> {
    /// Without a thread yet.
    pub fn new(stacks: Stacks) -> Self {
        let looker = Looker { found: Mutex::default(), closed: AtomicBool::new(false), bell: Bell::default() };
        Looking { looker: Arc::new(looker), stacks, running: false }
    }

    /// Starts the thread, if that has not been done.
    pub fn begin(&mut self) {
        if !self.running {
            let (looker, stacks) = (Arc::clone(&self.looker), self.stacks.clone());
            let thread = std::thread::Builder::new().name(L::NAME.into());
            self.running = thread.spawn(move || run(&looker, &stacks)).is_ok();
        }
    }

    /// What the thread shares with the reads.
    pub fn found(&self) -> MutexGuard<'_, L> {
        self.looker.found()
    }

    /// Of the programs that are looked at.
    pub fn stacks(&self) -> &Stacks {
        &self.stacks
    }
}

impl<L: Look> Drop for Looking<L> {
    fn drop(&mut self) {
        self.looker.closed.store(true, Ordering::Relaxed);
        self.looker.bell.ring();
    }
}

fn run<L: Look>(looker: &Looker<L>, stacks: &Stacks) {
    let is_open = || !looker.closed.load(Ordering::Relaxed);
    let mut came = false;
    while is_open() {
        let next = L::round(looker, stacks, came);
        let begin = Instant::now();
        let left = |of: Duration| of.saturating_sub(begin.elapsed());
        while is_open() && !left(next.least).is_zero() {
            looker.bell.wait(&[], left(next.least));
        }
        // One that came by before is seen at once.
        came = false;
        while is_open() && !came && !left(next.most).is_zero() {
            came = looker.bell.wait(&next.passings, left(next.most));
        }
    }
}

/// Why a look was in vain.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Why {
    /// The process has ended, or runs another program.
    Gone,
    Denied,
    /// Any other reason.
    Words(String),
}

impl From<Trouble> for Why {
    fn from(trouble: Trouble) -> Self {
        match trouble {
            Trouble::Gone => Why::Gone,
            Trouble::Denied => Why::Denied,
        }
    }
}

impl Why {
    /// What to say of it, where `what` of a process was looked for; nothing of a process that has ended.
    pub fn said(self, pid: u32, what: &str) -> Option<Unavailable> {
        match self {
            Why::Gone => None,
            Why::Denied => {
                let why = format!("process {pid}: {what}: its memory may not be read");
                let remedy = "root, or CAP_SYS_PTRACE and kernel.yama.ptrace_scope below 3";
                Some(Unavailable::denied(why).remedy(remedy))
            }
            Why::Words(words) => Some(Unavailable::absent(format!("process {pid}: {what}: {words}"))),
        }
    }
}
