//! CPUs: which ones a thread runs on, how exact its timers are, and how busy they were.

use crate::Error;
use rustix::thread::{CpuSet, sched_setaffinity};

/// Reads a list of CPUs such as `0`, `2-5` or `0-1,4`. A CPU that is named twice is there once.
///
/// # Errors
/// In words, for anything else.
pub fn cpus(text: &str) -> Result<Vec<usize>, String> {
    let number = |word: &str| {
        let digits = !word.is_empty() && word.bytes().all(|b| b.is_ascii_digit());
        word.parse::<usize>().ok().filter(|&cpu| digits && cpu < CpuSet::MAX_CPU)
    };
    let mut all = Vec::new();
    for word in text.split(',').map(str::trim) {
        let range = match word.split_once('-') {
            Some((first, last)) => number(first).zip(number(last)),
            None => number(word).map(|cpu| (cpu, cpu)),
        };
        let Some((first, last)) = range.filter(|(first, last)| first <= last) else {
            return Err(format!("expected CPUs such as 2, 0-3 or 0,2-3 below {}, not {text:?}", CpuSet::MAX_CPU));
        };
        all.extend(first..=last);
    }
    let mut seen = CpuSet::new();
    all.retain(|&cpu| {
        let new = !seen.is_set(cpu);
        seen.set(cpu);
        new
    });
    Ok(all)
}

/// Ties the calling thread to a CPU.
pub(crate) fn pin(cpu: usize) -> Result<(), Error> {
    let mut set = CpuSet::new();
    if cpu < CpuSet::MAX_CPU {
        set.set(cpu);
    }
    sched_setaffinity(None, &set).map_err(|errno| Error::Cpu { cpu, source: errno.into() })
}

/// Lets timers of the calling thread be as exact as the kernel can: by default it may be 50 µs late, to join them with others
/// (PR_SET_TIMERSLACK of prctl(2)). Threads with a real-time policy are exact anyway.
pub(crate) fn exact_timers() {
    // SAFETY: takes numbers only. It cannot fail; 0 would mean the default.
    unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1 as libc::c_ulong, 0, 0, 0) };
}

/// Ticks of CPUs so far, of `/proc/stat` (proc_stat(5)).
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Ticks(Vec<Of>);

#[derive(Clone, Copy, Debug, PartialEq)]
struct Of {
    cpu: usize,
    busy: u64,
    all: u64,
}

/// Ticks are a hundredth of a second: a CPU must have had as many for its share to mean something.
const LEAST_TICKS: u64 = 50;

impl Ticks {
    /// Of these CPUs; none where the file cannot be read.
    pub(crate) fn read(cpus: &[usize]) -> Self {
        if cpus.is_empty() {
            return Ticks::default();
        }
        Ticks::parse(&std::fs::read_to_string("/proc/stat").unwrap_or_default(), cpus)
    }

    fn parse(text: &str, cpus: &[usize]) -> Self {
        let of = |line: &str| {
            let mut words = line.split_ascii_whitespace();
            let cpu = words.next()?.strip_prefix("cpu")?.parse().ok().filter(|cpu| cpus.contains(cpu))?;
            // user nice system idle iowait irq softirq steal; guests are part of user.
            let fields: Vec<u64> = words.take(8).filter_map(|word| word.parse().ok()).collect();
            let idle = fields.iter().skip(3).take(2).fold(0, |sum: u64, n| sum.saturating_add(*n));
            let all = fields.iter().fold(0, |sum: u64, n| sum.saturating_add(*n));
            Some(Of { cpu, busy: all.saturating_sub(idle), all })
        };
        Ticks(text.lines().filter_map(of).collect())
    }

    /// Share of the time since `before` in which the busiest of them was not idle. None where too little passed.
    pub(crate) fn busiest_since(&self, before: &Ticks) -> Option<f64> {
        let share = |now: &Of| {
            let before = before.0.iter().find(|of| of.cpu == now.cpu)?;
            let all = now.all.saturating_sub(before.all);
            (all >= LEAST_TICKS).then(|| now.busy.saturating_sub(before.busy) as f64 / all as f64)
        };
        self.0.iter().filter_map(share).reduce(f64::max)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn lists_are_read() {
        assert_eq!(cpus("0"), Ok(vec![0]));
        assert_eq!(cpus("2-4, 0,3"), Ok(vec![2, 3, 4, 0]));
        for text in ["", ",", "a", "1-", "-1", "3-1", "0-99999999", "+1", "1-2-3"] {
            assert!(cpus(text).is_err_and(|why| why.contains("such as")), "{text}");
        }
    }

    #[test]
    fn shares_are_those_of_the_busiest() {
        let before = "cpu  9 9 9 9\ncpu0 100 0 100 800 0 0 0 0 0 0\ncpu1 0 0 0 1000 0 0 0 0\nintr 5\n";
        let after = "cpu  9 9 9 9\ncpu0 150 0 120 820 5 5 0 0 0 0\ncpu1 0 0 0 1090 0 0 5 5\n";
        let of = |text, cpus: &[usize]| Ticks::parse(text, cpus);
        let share = |cpus: &[usize]| of(after, cpus).busiest_since(&of(before, cpus));
        assert_eq!(share(&[0, 1]), Some(0.75));
        assert_eq!(share(&[1]), Some(0.1));
        assert_eq!((share(&[7]), of(after, &[1]).busiest_since(&of(after, &[1]))), (None, None));
    }

    #[test]
    fn threads_run_where_they_are_tied() {
        let allowed = rustix::thread::sched_getaffinity(None).unwrap();
        let cpu = (0..CpuSet::MAX_CPU).find(|&cpu| allowed.is_set(cpu)).unwrap();
        std::thread::spawn(move || {
            pin(cpu).unwrap();
            exact_timers();
            // SAFETY: takes no pointers.
            assert_eq!(unsafe { libc::sched_getcpu() }, libc::c_int::try_from(cpu).unwrap());
        })
        .join()
        .unwrap();
        let said = std::thread::spawn(|| pin(CpuSet::MAX_CPU - 1)).join().unwrap().unwrap_err();
        assert!(said.to_string().starts_with("CPU 1023: no thread may run there"), "{said}");
    }

    proptest! {
        #[test]
        fn any_list_is_read_or_refused(text in "[0-9,\\- a]{0,20}") {
            let _ = cpus(&text);
        }
    }
}
