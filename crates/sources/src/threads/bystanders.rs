//! Threads of programs that are not the workload, while the recorder's governor has them left out.
//!
//! Where a command or another process is the workload, whoever is not descended from it is left out. Where everything is recorded alike, nobody is
//! less of interest than others: then all are read less often. The kernel goes on counting, so nothing of the time between is lost.

use crate::Thinning;
use crate::stacks::descendants;
use host::Host;
use std::collections::HashSet;

/// The processes are listed at one read in so many: processes that came since are taken for the workload's.
const LISTED: u32 = 5;

/// Of so many reads one is done where there is no workload.
const READ: u32 = 5;

/// Who is left out.
pub(super) struct Bystanders {
    thinning: Thinning,
    reads: u32,
    /// `None` where nobody is.
    left_out: Option<HashSet<u32>>,
}

impl Bystanders {
    pub fn new(thinning: Thinning) -> Self {
        Bystanders { thinning, reads: 0, left_out: None }
    }

    /// Begins a read. Whether it is to be done.
    pub fn begin(&mut self, host: &Host) -> bool {
        let workload = self.thinning.without_bystanders_of();
        let number = self.reads;
        self.reads = if workload.is_some() { number.wrapping_add(1) } else { 0 };
        match workload {
            None => self.left_out = None,
            Some(0) => return number % READ == READ - 1,
            Some(workload) if number.is_multiple_of(LISTED) || self.left_out.is_none() => {
                let mut all = Vec::new();
                // Where /proc cannot be listed, nobody is left out.
                let _ = host.numbers_in("/proc", &mut all);
                let of_workload = descendants(host, &[workload]);
                let others = all.into_iter().filter_map(|pid| u32::try_from(pid).ok());
                self.left_out = Some(others.filter(|pid| !of_workload.contains(pid)).collect());
            }
            Some(_) => {}
        }
        true
    }

    /// Whether a process is left out.
    pub fn has(&self, pid: u32) -> bool {
        self.left_out.as_ref().is_some_and(|left_out| left_out.contains(&pid))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Degrees;

    #[test]
    fn who_is_not_descended_from_the_workload_is_left_out() {
        let (host, thinning) = (Host::live(), Thinning::default());
        let mut bystanders = Bystanders::new(thinning.clone());
        let own = std::process::id();
        assert!(bystanders.begin(&host) && !bystanders.has(1));
        thinning.workload(own);
        thinning.set(Degrees { bystanders: true, ..Degrees::default() });
        assert!(bystanders.begin(&host) && bystanders.has(1) && !bystanders.has(own) && !bystanders.has(u32::MAX));
        thinning.set(Degrees::default());
        assert!(bystanders.begin(&host) && !bystanders.has(1));
    }

    #[test]
    fn without_a_workload_all_are_read_less_often() {
        let (host, thinning) = (Host::live(), Thinning::default());
        let mut bystanders = Bystanders::new(thinning.clone());
        thinning.set(Degrees { bystanders: true, ..Degrees::default() });
        let done: Vec<u32> = (1..=10).filter(|_| bystanders.begin(&host)).collect();
        assert_eq!(done, [5, 10]);
        assert!(!bystanders.has(1));
        thinning.set(Degrees::default());
        assert!((0..3).all(|_| bystanders.begin(&host)));
    }
}
