//! Which CPUs a thread may use: sched_setaffinity(2). Elsewhere than on Linux, where recordings are only read, it is answered that there is no such call.

#[cfg(target_os = "linux")]
pub use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

#[cfg(not(target_os = "linux"))]
pub use elsewhere::{CpuSet, sched_getaffinity, sched_setaffinity};

#[cfg(not(target_os = "linux"))]
mod elsewhere {
    use rustix::io::Errno;
    use rustix::process::Pid;

    /// A set of CPUs, of which nothing is asked.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct CpuSet;

    impl CpuSet {
        /// How many CPUs a set can hold.
        pub const MAX_CPU: usize = 1024;

        /// The empty set.
        pub fn new() -> Self {
            CpuSet
        }

        /// Takes a CPU into the set.
        pub fn set(&mut self, _cpu: usize) {}

        /// Whether a CPU is in the set.
        pub fn is_set(&self, _cpu: usize) -> bool {
            false
        }
    }

    /// There is no such call.
    ///
    /// # Errors
    /// Always.
    pub fn sched_getaffinity(_thread: Option<Pid>) -> rustix::io::Result<CpuSet> {
        Err(Errno::NOSYS)
    }

    /// There is no such call.
    ///
    /// # Errors
    /// Always.
    pub fn sched_setaffinity(_thread: Option<Pid>, _cpus: &CpuSet) -> rustix::io::Result<()> {
        Err(Errno::NOSYS)
    }
}
