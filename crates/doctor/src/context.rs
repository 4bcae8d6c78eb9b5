//! What a check is given, and how busy the machine was with other things meanwhile.

use crate::calls as libc;
use host::Host;
use model::Unavailable;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

/// What a check is given.
#[derive(Clone, Copy, Debug)]
pub struct Context<'a> {
    /// The machine.
    pub host: &'a Host,
    /// The folder whose disk is looked at.
    pub dir: &'a Path,
    /// Fewer rounds: wider spreads, in a fraction of the time.
    pub quick: bool,
    /// Set when the user wants to stop: measurements end early and clean up.
    pub stop: &'a AtomicBool,
}

impl Context<'_> {
    /// Fails where the host is a recording, on which nothing can be measured, and where the user wants to stop.
    pub(crate) fn live(&self) -> Result<(), Unavailable> {
        if self.host.is_fixture() {
            return Err(Unavailable::not_applicable("a recorded host: nothing can be measured on it"));
        }
        self.go_on()
    }

    /// Fails where the user wants to stop.
    pub(crate) fn go_on(&self) -> Result<(), Unavailable> {
        if self.stop.load(Ordering::Relaxed) {
            return Err(Unavailable::failed("stopped"));
        }
        Ok(())
    }

    /// `rounds`, or a third of them where it must be quick.
    pub(crate) fn rounds(&self, rounds: usize) -> usize {
        if self.quick { (rounds / 3).max(3) } else { rounds }
    }
}

/// Ticks of `/proc/stat` (proc(5)): all CPUs together.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Ticks {
    /// All time but idle, waiting for I/O, and stolen; guests are part of user time.
    pub busy: u64,
    pub idle: u64,
    pub steal: u64,
    /// CPUs that are counted.
    pub cpus: usize,
}

impl Ticks {
    pub(crate) fn read(host: &Host) -> Option<Self> {
        let text = host.read_text("/proc/stat").ok()?;
        let line = text.lines().next()?.strip_prefix("cpu ")?;
        let n: Vec<u64> = line.split_ascii_whitespace().filter_map(|w| w.parse().ok()).collect();
        let at = |i: usize| n.get(i).copied().unwrap_or(0);
        let cpus = text.lines().skip(1).take_while(|l| l.starts_with("cpu")).count();
        // No counter reaches half of 64 bits; a file that says so is broken, and must not overflow.
        let sum = |fields: &[usize]| fields.iter().fold(0u64, |all, i| all.saturating_add(at(*i)));
        Some(Ticks { busy: sum(&[0, 1, 2, 5, 6]), idle: sum(&[3, 4]), steal: at(7), cpus })
    }

    fn since(self, before: Ticks) -> Ticks {
        Ticks {
            busy: self.busy.saturating_sub(before.busy),
            idle: self.idle.saturating_sub(before.idle),
            steal: self.steal.saturating_sub(before.steal),
            cpus: self.cpus,
        }
    }
}

/// CPU time that this program has used, seconds.
fn own_time() -> f64 {
    let mut usage = std::mem::MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: the structure is as large as the kernel's; zeroes are valid for it.
    let usage = unsafe {
        libc::getrusage(libc::RUSAGE_SELF, usage.as_mut_ptr());
        usage.assume_init()
    };
    let seconds = |t: libc::timeval| t.tv_sec as f64 + t.tv_usec as f64 / 1e6;
    seconds(usage.ru_utime) + seconds(usage.ru_stime)
}

/// Ticks per second of `/proc/stat` (USER_HZ).
fn hertz() -> f64 {
    rustix::param::clock_ticks_per_second().max(1) as f64
}

/// Of all CPU time: what others used, and what the hypervisor took.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct Others {
    /// CPUs that other programs kept busy, on average.
    pub cpus: f64,
    /// Share of the time in which a CPU wanted to run and was not let by the hypervisor.
    pub steal: f64,
    /// CPUs that are online.
    pub all: usize,
}

/// Looks at the machine before and after a measurement.
#[derive(Debug)]
pub(crate) struct Watch {
    ticks: Option<Ticks>,
    own: f64,
    start: std::time::Instant,
}

/// Ticks are counted at 100 Hz: in less time their rounding would be taken for load.
const LEAST: f64 = 0.05;

impl Watch {
    pub(crate) fn start(host: &Host) -> Self {
        Watch { ticks: Ticks::read(host), own: own_time(), start: std::time::Instant::now() }
    }

    /// What others did since. None where it was too short to tell.
    pub(crate) fn end(&self, host: &Host) -> Option<Others> {
        let seconds = self.start.elapsed().as_secs_f64();
        if seconds < LEAST {
            return None;
        }
        let ticks = Ticks::read(host)?.since(self.ticks?);
        let all = ticks.busy.saturating_add(ticks.idle).saturating_add(ticks.steal);
        let busy = ticks.busy as f64 / hertz() - (own_time() - self.own);
        // A tick each of rounding.
        let busy = (busy - 2.0 / hertz()).max(0.0);
        let wanted = ticks.busy.saturating_add(ticks.steal).max(1) as f64;
        let steal = if all == 0 { 0.0 } else { ticks.steal.saturating_sub(1) as f64 / wanted };
        Some(Others { cpus: busy / seconds, steal, all: ticks.cpus.max(1) })
    }
}

impl Others {
    /// Why a timing taken meanwhile can't be judged. None where it can.
    pub fn disturbed(self) -> Option<String> {
        let cpus = self.all;
        let mut why = Vec::new();
        if self.cpus > 0.15 * cpus.max(1) as f64 {
            why.push(format!("other programs kept {:.1} of {cpus} CPUs busy", self.cpus));
        }
        if self.steal > 0.05 {
            why.push(format!(
                "the hypervisor took {:.0} % of the time in which a CPU wanted to run",
                self.steal * 100.0
            ));
        }
        (!why.is_empty()).then(|| format!("{} meanwhile", why.join(", ")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn load_speaks_against_a_timing() {
        let of = |cpus, steal, all| Others { cpus, steal, all }.disturbed();
        assert_eq!(of(0.0, 0.0, 2), None);
        assert!(of(1.0, 0.0, 2).is_some_and(|w| w.contains("1.0 of 2 CPUs")));
        assert_eq!(of(1.0, 0.0, 64), None);
        assert!(of(0.0, 0.2, 2).is_some_and(|w| w.contains("20 %")));
    }
}
