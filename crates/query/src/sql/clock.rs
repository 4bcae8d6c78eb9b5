//! How long a statement may run. What a user, an agent or a file of causes asks can be endless.

use rusqlite::Connection;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The time that a statement may take where nobody says.
pub const USUAL_TIME: Duration = Duration::from_secs(60);

/// Instructions of SQLite's machine between two looks at the clock.
const LOOK: i32 = 10_000;

/// The limit of sessions that are opened from now on, nanoseconds.
static LIMIT: AtomicU64 = AtomicU64::new(USUAL_TIME.as_nanos() as u64);

/// Bounds the time of each statement of sessions that are opened from now on, in this process. It counts while SQLite computes, not while
/// somebody reads the rows.
pub fn limit_time(limit: Duration) {
    LIMIT.store(u64::try_from(limit.as_nanos()).unwrap_or(u64::MAX), Ordering::Relaxed);
}

/// Ends statements of a connection that run for too long.
#[derive(Debug)]
pub struct Clock {
    limit: Duration,
    /// Whether the limit is that of the process, which users can raise.
    is_usual: bool,
    running: Arc<Running>,
}

#[derive(Debug, Default)]
struct Running {
    until: Mutex<Option<Instant>>,
    is_over: AtomicBool,
}

impl Clock {
    /// That of a connection.
    ///
    /// # Errors
    /// Where SQLite refuses, which means that memory is short.
    pub(crate) fn new(db: &mut Connection) -> rusqlite::Result<Self> {
        let running = Arc::new(Running::default());
        let looked_at = Arc::clone(&running);
        let is_over = move || {
            let until = *looked_at.until.lock().unwrap_or_else(PoisonError::into_inner);
            let is_over = until.is_some_and(|until| Instant::now() >= until);
            looked_at.is_over.fetch_or(is_over, Ordering::Relaxed);
            is_over
        };
        db.progress_handler(LOOK, Some(is_over))?;
        let limit = Duration::from_nanos(LIMIT.load(Ordering::Relaxed));
        Ok(Clock { limit, is_usual: true, running })
    }

    /// The same with a limit of its own.
    pub fn limit(&mut self, limit: Duration) {
        self.limit = limit;
        self.is_usual = false;
    }

    /// The time of a new statement.
    pub fn whole(&self) -> Duration {
        self.limit
    }

    /// Does a step of a statement that has `left` of its time, and takes from that what the step took.
    pub fn step<T>(&self, left: &mut Duration, work: impl FnOnce() -> T) -> T {
        let set = |until| *self.running.until.lock().unwrap_or_else(PoisonError::into_inner) = until;
        let began = Instant::now();
        self.running.is_over.store(false, Ordering::Relaxed);
        set(began.checked_add(*left));
        let done = work();
        set(None);
        *left = left.saturating_sub(began.elapsed());
        done
    }

    /// In words, where the last step was ended by the limit.
    pub fn said(&self) -> Option<String> {
        let raise = if self.is_usual { ", or raise --time-limit" } else { "" };
        self.running.is_over.load(Ordering::Relaxed).then(|| {
            format!(
                "the statement was stopped after {} s: ask for less, such as one table, fewer rows or a shorter stretch of t{raise}",
                self.limit.as_secs_f64()
            )
        })
    }
}
