//! What the machine did beside a trial: CPU time that the hypervisor gave to others, and that other programs used.

use super::process;
use host::Host;
use std::time::Instant;

/// The parts of the CPUs' time that were stolen, and that others used.
pub(super) type Aside = Option<(f64, f64)>;

/// The time from here on.
pub(super) struct Beside {
    host: Host,
    began: Instant,
    before: Option<Stat>,
    used: f64,
}

impl Beside {
    pub(super) fn begin() -> Beside {
        let host = Host::at("/");
        let before = Stat::read(&host);
        Beside { host, began: Instant::now(), before, used: process::used_by_children() }
    }

    /// How long it has lasted.
    pub(super) fn seconds(&self) -> f64 {
        self.began.elapsed().as_secs_f64()
    }

    /// What the machine did meanwhile beside the processes that were started and have ended.
    pub(super) fn end(&self) -> Aside {
        let own = process::used_by_children() - self.used;
        self.before.zip(Stat::read(&self.host)).and_then(|(a, b)| a.until(&b, own))
    }
}

/// CPU time of the whole machine since boot, in ticks (proc_stat(5)).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Stat {
    all: f64,
    busy: f64,
    stolen: f64,
}

impl Stat {
    /// Reads it; `None` where there is none.
    fn read(host: &Host) -> Option<Stat> {
        let text = host.read("/proc/stat").ok()?;
        Stat::parse(&String::from_utf8_lossy(text.as_ref()))
    }

    fn parse(text: &str) -> Option<Stat> {
        let line = text.lines().find_map(|line| line.strip_prefix("cpu "))?;
        let of: Vec<f64> = line.split_whitespace().map_while(|word| word.parse().ok()).collect();
        let [user, nice, system, idle, iowait, irq, softirq, stolen] = *of.first_chunk()?;
        let busy = user + nice + system + irq + softirq;
        Some(Stat { all: busy + idle + iowait + stolen, busy, stolen })
    }

    /// Between this and a later one: the parts of the CPUs' time that were stolen, and that others used, when the trial's own
    /// processes used so many seconds of it. `None` where no time passed.
    fn until(&self, later: &Stat, own: f64) -> Option<(f64, f64)> {
        let all = later.all - self.all;
        let part = |ticks: f64| (ticks / all).clamp(0.0, 1.0);
        let own = own * rustix::param::clock_ticks_per_second() as f64;
        (all > 0.0).then(|| (part(later.stolen - self.stolen), part(later.busy - self.busy - own)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_others_used_is_what_is_left() {
        let a = Stat::parse("cpu  100 0 50 1000 10 0 5 20 0 0\ncpu0 1 2 3\n").unwrap();
        let b = Stat::parse("cpu  300 0 150 1080 10 0 5 40 0 0\n").unwrap();
        // 400 ticks passed, 300 of them busy and 20 stolen; our own used 2 s, 200 ticks of a hundredth of a second.
        let (stolen, others) = a.until(&b, 200.0 / rustix::param::clock_ticks_per_second() as f64).unwrap();
        assert!((stolen - 0.05).abs() < 1e-9 && (others - 0.25).abs() < 1e-9, "{stolen} {others}");
        assert_eq!(a.until(&a, 0.0), None);
        assert_eq!(Stat::parse("cpu 1 2\n"), None);
        assert_eq!(Stat::parse(""), None);
    }
}
