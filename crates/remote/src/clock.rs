//! How far a host's clock is ahead of ours: it is asked some times, and the answer that came soonest counts.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// How often it is asked.
const ROUNDS: usize = 3;

/// A clock that is read in whole seconds only is wrong by half of one at most, nanoseconds.
const HALF_SECOND: i64 = 500_000_000;

pub(crate) fn unix_now() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos() as i64)
}

/// The questions and their answers.
#[derive(Debug, Default)]
pub(crate) struct Clock {
    asked: Option<(Instant, i64)>,
    rounds: usize,
    /// Ahead of ours, by how much that may be wrong, nanoseconds.
    best: Option<(i64, i64)>,
}

impl Clock {
    /// To be called when the host can be asked: what to say to it, nothing where it was asked enough.
    pub(crate) fn ask(&mut self) -> Option<&'static [u8]> {
        self.rounds += 1;
        self.asked = (self.rounds <= ROUNDS).then(|| (Instant::now(), unix_now()));
        self.asked.map(|_| &b"\n"[..])
    }

    /// To be called with its answer, in nanoseconds since 1970.
    pub(crate) fn answered(&mut self, text: &str) {
        let Some((asked, at)) = self.asked.take() else { return };
        let took = asked.elapsed();
        if let Some((ahead, error)) = ahead(text.trim(), at, took)
            && self.best.is_none_or(|(_, best)| error < best)
        {
            self.best = Some((ahead, error));
        }
    }

    /// How far it is ahead, and by how much that may be wrong, nanoseconds.
    pub(crate) fn ahead(&self) -> Option<(i64, i64)> {
        self.best
    }
}

/// `text` is what `date +%s%N` prints; a `date` without `%N`, as busybox has, prints seconds and perhaps a letter.
fn ahead(text: &str, at: i64, took: Duration) -> Option<(i64, i64)> {
    let half = took.as_nanos() as i64 / 2;
    let digits = text.trim_end_matches(|c: char| !c.is_ascii_digit());
    let number: i64 = digits.parse().ok()?;
    let (there, error) = if digits.len() >= 18 {
        (number, half)
    } else {
        (number.checked_mul(1_000_000_000)? + HALF_SECOND, half + HALF_SECOND)
    };
    Some((there.checked_sub(at)?.checked_sub(half)?, error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_answer_that_came_soonest_counts() {
        let ms = |n: u64| Duration::from_millis(n);
        let at = 1_790_000_000_000_000_000;
        assert_eq!(ahead("1790000000060000000", at, ms(20)), Some((50_000_000, 10_000_000)));
        assert_eq!(
            ahead("1790003600N", at, ms(0)),
            Some((3_600_500_000_000, HALF_SECOND)),
            "an hour ahead, seconds only"
        );
        assert_eq!(ahead("1790000000", at, ms(0)), Some((HALF_SECOND, HALF_SECOND)));
        assert_eq!(ahead("99999999999999999999999", at, ms(0)), None);
        assert_eq!(ahead("date: no", at, ms(0)), None);
        let mut clock = Clock::default();
        for wait in [30, 0, 30] {
            assert!(clock.ask().is_some());
            std::thread::sleep(ms(wait));
            clock.answered(&unix_now().to_string());
        }
        assert!(clock.ask().is_none());
        let (ahead, error) = clock.ahead().unwrap();
        assert!(error < 15_000_000 && ahead.abs() <= error + 1_000_000, "{ahead} {error}");
    }
}
