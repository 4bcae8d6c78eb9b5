//! Many hosts at once: threads that take the next one, and tries that are repeated after a while that no two hosts share.

use crate::Failure;
use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// Further tries of what fails.
const AGAIN: u32 = 2;

/// The first wait before a further try; the next is twice as long. Each is between half of it and one and a half.
const WAIT: Duration = Duration::from_secs(1);

/// Does something for all of these, so many at once. `told` hears how many are done.
pub(crate) fn each(numbers: &[usize], at_once: usize, told: &(dyn Fn(usize) + Sync), what: &(dyn Fn(usize) + Sync)) {
    let (next, done) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let work = || {
        while let Some(number) = numbers.get(next.fetch_add(1, Ordering::Relaxed)) {
            what(*number);
            told(done.fetch_add(1, Ordering::Relaxed) + 1);
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..at_once.clamp(1, numbers.len().max(1)) {
            // Where there can be no further thread, those that there are do it.
            if std::thread::Builder::new().stack_size(512 << 10).spawn_scoped(scope, work).is_err() {
                work();
                break;
            }
        }
    });
}

/// A number from 0 to 1 that nobody can foretell.
pub(crate) fn chance() -> f64 {
    (RandomState::new().build_hasher().finish() >> 11) as f64 / (1_u64 << 53) as f64
}

/// Tries something until it succeeds, fails for good, or fails for the third time; not beyond `limit`.
pub(crate) fn tries<T>(
    limit: Instant,
    stop: Option<&AtomicBool>,
    mut attempt: impl FnMut() -> Result<T, Failure>,
) -> Result<T, Failure> {
    let mut wait = WAIT;
    for number in 0.. {
        let failure = match attempt() {
            Ok(done) => return Ok(done),
            Err(failure) => failure,
        };
        let pause = wait.mul_f64(0.5 + chance());
        wait *= 2;
        let is_stopped = || stop.is_some_and(|stop| stop.load(Ordering::Relaxed));
        if !failure.again || number >= AGAIN || Instant::now() + pause >= limit || is_stopped() {
            let times = if number == 0 { String::new() } else { format!(" (tried {} times)", number + 1) };
            return Err(Failure { why: failure.why + &times, ..failure });
        }
        let end = Instant::now() + pause;
        while Instant::now() < end && !is_stopped() {
            std::thread::sleep(Duration::from_millis(50).min(end.saturating_duration_since(Instant::now())));
        }
    }
    Err(Failure::stopped())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Mutex;

    #[test]
    fn all_are_done_once() {
        let done = Mutex::new(Vec::new());
        let last = AtomicUsize::new(0);
        each(
            &[3, 1, 4, 15, 9],
            3,
            &|n| {
                last.fetch_max(n, Ordering::Relaxed);
            },
            &|n| done.lock().unwrap().push(n),
        );
        let mut done = done.into_inner().unwrap();
        done.sort_unstable();
        assert_eq!((done, last.into_inner()), (vec![1, 3, 4, 9, 15], 5));
        each(&[], 3, &|_| (), &|_| ());
    }

    #[test]
    fn what_may_succeed_is_tried_again() {
        let limit = Instant::now() + Duration::from_secs(60);
        let mut count = 0;
        let mut fail = |again: bool| {
            count = 0;
            let failed = tries::<()>(limit, None, || {
                count += 1;
                Err(Failure { step: "look", why: "no".into(), again })
            });
            (count, failed.unwrap_err().why)
        };
        assert_eq!(fail(false), (1, "no".into()));
        assert_eq!(fail(true), (3, "no (tried 3 times)".into()));
        let begun = Instant::now();
        let failed = tries::<()>(begun, None, || Err(Failure { step: "look", why: "no".into(), again: true }));
        assert!(failed.is_err() && begun.elapsed() < Duration::from_millis(400), "not beyond the limit");
    }
}
