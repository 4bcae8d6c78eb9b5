//! What a JVM may lack of what is told of others, in words.

use model::Unavailable;

/// What it lacks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Lack {
    /// Its memory may not be read.
    Memory,
    /// It has no counters.
    Counters,
    /// The symbol table of its library, and why that is not there.
    Symbols(String),
    /// It keeps only sums of its safepoints.
    Safepoints,
}

impl Lack {
    /// What to say of it, and of which item.
    pub fn said(self, pid: u32) -> (&'static str, Unavailable) {
        match self {
            Lack::Memory => {
                let why =
                    format!("process {pid}: the memory of its JVM may not be read: only its counters, from their file");
                let remedy = "root, or CAP_SYS_PTRACE, or kernel.yama.ptrace_scope=0 for processes of the same user";
                ("jvm_safepoint", Unavailable::denied(why).remedy(remedy))
            }
            Lack::Counters => {
                let why = format!(
                    "process {pid}: its JVM was started with -XX:-UsePerfData: no heap, no causes of collections"
                );
                ("jvm_heap", Unavailable::absent(why).remedy("start it without -XX:-UsePerfData"))
            }
            Lack::Symbols(why) => {
                let why = format!(
                    "process {pid}: {why}: when pauses begin is estimated, what they were for, deoptimizations and compile \
                     queues are missing"
                );
                let remedy = "a JDK whose libjvm.so has its symbol table, or the file with its debug symbols";
                ("jvm_safepoint", Unavailable::absent(why).remedy(remedy))
            }
            Lack::Safepoints => {
                let why = format!("process {pid}: its JVM keeps only sums of its safepoints, as up to JDK 12");
                ("jvm_safepoint.operation", Unavailable::absent(why).remedy("JDK 13 or later"))
            }
        }
    }
}
