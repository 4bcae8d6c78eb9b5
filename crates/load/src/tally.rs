//! What one thread counted.

use crate::Errors;
use hdrhistogram::Histogram;

/// Longest time that is told apart, nanoseconds: a day, the longest time-out.
const LONGEST: u64 = 86_400_000_000_000;

/// Times in nanoseconds, to three digits (HdrHistogram).
#[derive(Clone, Debug)]
pub(crate) struct Spread(Histogram<u64>);

impl Default for Spread {
    fn default() -> Self {
        Spread(Histogram::new_with_bounds(1, LONGEST, 3).expect("1 to LONGEST, and 3 of at most 5 digits, are allowed"))
    }
}

impl Spread {
    pub(crate) fn record(&mut self, nanoseconds: u64) {
        self.0.saturating_record(nanoseconds.min(LONGEST));
    }

    pub(crate) fn histogram(&self) -> &Histogram<u64> {
        &self.0
    }

    fn add(&mut self, other: &Spread) {
        // All have the same bounds, so none is too small for another's times.
        let added = self.0.add(&other.0);
        debug_assert!(added.is_ok());
    }
}

/// Counts of one thread, of requests that were due in the window unless it says otherwise.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tally {
    /// Requests that were due.
    pub due: u64,
    /// Answered whole, with a status below 400.
    pub done: u64,
    /// Requests of any time that were answered so within the window.
    pub done_within: u64,
    /// Requests of any time that were sent or given up within the window; what CPU time is divided by.
    pub begun_within: u64,
    /// From when it was due to the end of the answer, or until it was given up because of the time-out.
    pub latency: Spread,
    /// From when the client began with it, of those that are done.
    pub service: Spread,
    /// From when it was due until the client began with it, or, where all connections were busy by then, until the client took notice.
    pub late: Spread,
    /// Requests that are not done, by kind.
    pub errors: Errors,
    /// Requests that were neither done nor failed when the run was interrupted.
    pub unfinished: u64,
    /// Connections that were opened again in the window.
    pub reconnects: u64,
    /// Bytes received in the window.
    pub received: u64,
    /// Length of the window, nanoseconds.
    pub window: u64,
    /// CPU time in the window, nanoseconds.
    pub cpu: u64,
    /// Whether it was interrupted.
    pub interrupted: bool,
    /// Why connections could not be opened for lack of something of the client's own: ports, files, memory.
    pub lacking: Option<String>,
}

impl Tally {
    /// Adds what another thread counted at the same time.
    pub(crate) fn add(&mut self, other: &Tally) {
        self.due += other.due;
        self.done += other.done;
        self.done_within += other.done_within;
        self.begun_within += other.begun_within;
        self.latency.add(&other.latency);
        self.service.add(&other.service);
        self.late.add(&other.late);
        self.errors.add(&other.errors);
        self.unfinished += other.unfinished;
        self.reconnects += other.reconnects;
        self.received += other.received;
        self.window = self.window.max(other.window);
        self.cpu += other.cpu;
        self.interrupted |= other.interrupted;
        self.lacking = self.lacking.take().or_else(|| other.lacking.clone());
    }
}
