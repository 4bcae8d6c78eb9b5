//! Waits for a machine that does nothing else: what differs between the sides is to be the pair's alone.

use crate::process::{Failed, pause};
use std::time::{Duration, Instant};

/// Others may use so much of the machine.
pub(crate) const QUIET: f64 = 0.1;

/// Times of all CPUs since the machine started, in ticks of the clock.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Ticks {
    busy: f64,
    all: f64,
}

impl Ticks {
    /// As they are now.
    pub(crate) fn now() -> Self {
        std::fs::read_to_string("/proc/stat").ok().and_then(|text| Self::parse(&text)).unwrap_or_default()
    }

    /// user, nice, system, idle, iowait, irq, softirq, steal. What guests use is in user and nice.
    fn parse(text: &str) -> Option<Self> {
        let line = text.lines().next()?.strip_prefix("cpu ")?;
        let numbers: Vec<f64> = line.split_whitespace().take(8).map_while(|word| word.parse().ok()).collect();
        let idle: f64 = numbers.get(3..5)?.iter().sum();
        let all: f64 = numbers.iter().sum();
        Some(Ticks { busy: all - idle, all })
    }

    /// The part of the machine that was used since `before`.
    pub(crate) fn used_since(self, before: Ticks) -> f64 {
        let all = self.all - before.all;
        if all > 0.0 { (self.busy - before.busy) / all } else { 0.0 }
    }
}

/// Waits until others use less than a tenth of the machine, `patience` at most. Returns what they use.
///
/// # Errors
/// [`Failed::Stopped`].
pub(crate) fn wait(patience: Duration) -> Result<f64, Failed> {
    let until = Instant::now() + patience;
    let mut before = Ticks::now();
    loop {
        pause(Duration::from_millis(if patience.is_zero() { 20 } else { 1000 }))?;
        let now = Ticks::now();
        let used = now.used_since(before);
        if used < QUIET || Instant::now() >= until {
            return Ok(used);
        }
        before = now;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_neither_idle_nor_waits_for_a_disk_is_used() {
        let of = |line: &str| Ticks::parse(line).unwrap();
        let before = of("cpu  100 0 50 1000 20 0 5 1 7 0\ncpu0 1 2");
        assert_eq!(before, Ticks { busy: 156.0, all: 1176.0 });
        let now = of("cpu  110 0 55 1070 30 0 5 6 7 0");
        assert!((now.used_since(before) - 0.2).abs() < 1e-9);
        assert_eq!(before.used_since(before), 0.0);
        assert_eq!(Ticks::parse("cpu0 1 2 3 4"), None);
    }
}
