//! What a command is doing, while that takes longer than a second: one line on a terminal that is written anew, and gone when it is done.
//! Nothing where standard error is no terminal, or one that cannot go back in its line.

use crate::text::{clean, cut, is_quiet};
use std::io::Write;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// What is done sooner shows nothing.
const SOON: Duration = Duration::from_secs(1);

/// So often the line is written anew.
const EVERY: Duration = Duration::from_millis(250);

/// Characters of the line.
const WIDTH: usize = 118;

/// The line. It is removed when this is dropped: before anything else is printed.
pub(crate) struct Progress {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

struct Shared {
    what: String,
    /// How many there are to do, of things that are called so; 0 where that is not known.
    of: (usize, &'static str),
    done: AtomicUsize,
    over: Mutex<bool>,
    ended: Condvar,
}

impl Progress {
    /// Begins to show `what` is being done: "explaining slow.twin".
    pub(crate) fn new(what: &str) -> Self {
        Self::of(what, 0, "")
    }

    /// The same with how much of it is done: of so many things that are called `things`.
    pub(crate) fn of(what: &str, count: usize, things: &'static str) -> Self {
        let shared = Arc::new(Shared {
            what: clean(what),
            of: (count, things),
            done: AtomicUsize::new(0),
            over: Mutex::new(false),
            ended: Condvar::new(),
        });
        let showing = Arc::clone(&shared);
        let begin = || std::thread::Builder::new().name("progress".into()).spawn(move || showing.show()).ok();
        let thread = if recorder::can_rewrite() && !is_quiet() { begin() } else { None };
        Progress { shared, thread }
    }

    /// One more is done.
    pub(crate) fn done(&self) {
        self.shared.done.fetch_add(1, Ordering::Relaxed);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(thread) = self.thread.take() {
            *self.shared.over.lock().unwrap_or_else(PoisonError::into_inner) = true;
            self.shared.ended.notify_all();
            // It only draws: if it failed, nothing is to be removed.
            let _ = thread.join();
        }
    }
}

impl Shared {
    fn show(&self) {
        let began = Instant::now();
        let (mut wait, mut drawn) = (SOON, String::new());
        let mut over = self.over.lock().unwrap_or_else(PoisonError::into_inner);
        while !*over {
            let (again, waited) = self.ended.wait_timeout(over, wait).unwrap_or_else(PoisonError::into_inner);
            over = again;
            if !*over && waited.timed_out() {
                let line = self.line(began.elapsed());
                if line != drawn {
                    draw(&line);
                }
                (wait, drawn) = (EVERY, line);
            }
        }
        if !drawn.is_empty() {
            draw("");
        }
    }

    fn line(&self, elapsed: Duration) -> String {
        let seconds = elapsed.as_secs();
        match self.of {
            (0, _) => cut(&format!("{} · {seconds} s", self.what), WIDTH),
            (of, things) => {
                let done = self.done.load(Ordering::Relaxed).min(of);
                cut(&format!("{} · {done} of {of} {things} · {seconds} s", self.what), WIDTH)
            }
        }
    }
}

fn draw(line: &str) {
    let mut out = std::io::stderr().lock();
    // A terminal that is gone is no reason to stop.
    let _ = write!(out, "\r\x1b[K{line}");
    let _ = out.flush();
}

/// Recordings by the names of their files, for a line: the first two, and how many more.
pub(crate) fn names<P: AsRef<std::path::Path>>(paths: &[P]) -> String {
    let name = |path: &P| path.as_ref().file_name().unwrap_or_default().to_string_lossy().into_owned();
    let shown: Vec<String> = paths.iter().take(2).map(name).collect();
    match paths.len() {
        0..=2 => shown.join(" and "),
        more => format!("{} and {} more", shown.join(", "), more - shown.len()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_say_how_much_is_done() {
        let progress = Progress::of("reducing", 3, "recordings");
        progress.done();
        assert_eq!(progress.shared.line(Duration::from_secs(2)), "reducing · 1 of 3 recordings · 2 s");
        assert_eq!(
            Progress::new("explaining\u{1b} a").shared.line(SOON),
            format!("{} · 1 s", clean("explaining\u{1b} a"))
        );
        assert_eq!(names(&["d/a.twin", "b.twin", "c.twin", "d.twin"]), "a.twin, b.twin and 2 more");
    }
}
