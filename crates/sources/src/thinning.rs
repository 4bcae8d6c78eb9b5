//! What the recorder's governor has collectors leave out, and what hooks take of the programs that they watch: the one thing that the two share.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};

/// How much of what is costly is recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Degrees {
    /// Of so many stacks one is taken.
    pub stacks: u32,
    /// Of so many bursts of samples of instructions one is taken; 0: none.
    pub instructions: u32,
    /// Whether threads of programs that are not the workload are left out.
    pub bystanders: bool,
    /// Of so many reads of the sources one is made. The recorder's loop obeys it, no collector.
    pub reads: u32,
}

impl Default for Degrees {
    fn default() -> Self {
        Degrees { stacks: 1, instructions: 1, bystanders: false, reads: 1 }
    }
}

impl Degrees {
    /// What they are of, in the order of the fields, which is that in which a governor thins.
    pub const NAMES: [&'static str; 4] = ["stacks", "instructions", "threads of bystanders", "reads"];
}

#[derive(Debug)]
struct Inner {
    stacks: AtomicU32,
    instructions: AtomicU32,
    bystanders: AtomicBool,
    /// The process that the recording is about; 0: none.
    workload: AtomicU32,
    /// Nanoseconds.
    hooks: AtomicU64,
}

/// The degrees in force. Cheap to clone; all clones are one. Who does not ask for them records all.
#[derive(Clone, Debug)]
pub struct Thinning(Arc<Inner>);

impl Default for Thinning {
    fn default() -> Self {
        Thinning(Arc::new(Inner {
            stacks: AtomicU32::new(1),
            instructions: AtomicU32::new(1),
            bystanders: AtomicBool::new(false),
            workload: AtomicU32::new(0),
            hooks: AtomicU64::new(0),
        }))
    }
}

impl Thinning {
    /// Puts degrees into force.
    pub fn set(&self, degrees: Degrees) {
        self.0.stacks.store(degrees.stacks.max(1), Ordering::Relaxed);
        self.0.instructions.store(degrees.instructions, Ordering::Relaxed);
        self.0.bystanders.store(degrees.bystanders, Ordering::Relaxed);
    }

    /// Says which process is the workload: it and its descendants are no bystanders.
    pub fn workload(&self, pid: u32) {
        self.0.workload.store(pid, Ordering::Relaxed);
    }

    /// Of so many stacks one is to be taken.
    pub fn stacks(&self) -> u32 {
        self.0.stacks.load(Ordering::Relaxed)
    }

    /// Whether the burst of this number is to be taken.
    pub fn takes_burst(&self, number: i64) -> bool {
        match self.0.instructions.load(Ordering::Relaxed) {
            0 => false,
            one_in => number % i64::from(one_in) == 0,
        }
    }

    /// The workload, where threads of others are to be left out; 0 in it where everything is the workload, or nothing.
    pub fn without_bystanders_of(&self) -> Option<u32> {
        self.0.bystanders.load(Ordering::Relaxed).then(|| self.0.workload.load(Ordering::Relaxed))
    }

    /// Adds what hooks took of the programs that they watch, nanoseconds.
    pub fn spent(&self, nanoseconds: u64) {
        self.0.hooks.fetch_add(nanoseconds, Ordering::Relaxed);
    }

    /// What hooks that know what they cost took so far, nanoseconds.
    pub fn hooks(&self) -> u64 {
        self.0.hooks.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_share_what_is_in_force() {
        let thinning = Thinning::default();
        let copy = thinning.clone();
        assert!(copy.stacks() == 1 && (1..9).all(|number| copy.takes_burst(number)));
        assert_eq!(copy.without_bystanders_of(), None);
        thinning.workload(7);
        thinning.set(Degrees { stacks: 4, instructions: 3, bystanders: true, reads: 1 });
        assert_eq!((copy.stacks(), copy.without_bystanders_of()), (4, Some(7)));
        assert_eq!((1..=6).filter(|&number| copy.takes_burst(number)).collect::<Vec<_>>(), [3, 6]);
        thinning.set(Degrees { instructions: 0, ..Degrees::default() });
        assert!(!(1..9).any(|number| copy.takes_burst(number)));
        copy.spent(5);
        assert_eq!(thinning.hooks(), 5);
    }
}
