//! The roles that code can play, each with its name and what it means. Shared with the build script, which checks the lists against it.

use std::fmt;

macro_rules! roles {
    ($($role:ident $name:literal $meaning:literal)*) => {
        /// What a function is for, as far as questions about performance go.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u8)]
        pub enum Role {
            $(#[doc = $meaning] $role,)*
        }

        impl Role {
            /// All of them, in the order in which they are documented.
            pub const ALL: &'static [Role] = &[$(Role::$role,)*];

            /// Its name in the lists, in SQL and in causes: `lock.wait`.
            pub const fn name(self) -> &'static str {
                match self { $(Role::$role => $name,)* }
            }

            /// What it means, in one line.
            pub const fn meaning(self) -> &'static str {
                match self { $(Role::$role => $meaning,)* }
            }
        }
    };
}

roles! {
    LockTake "lock.take" "takes a lock: what a program calls to enter a critical section, a once-only initialiser included"
    LockWait "lock.wait" "the slow path of a lock: a thread in it waits, or spins, because another holds the lock"
    LockRelease "lock.release" "gives a lock back, and wakes who waits for it"
    LockTry "lock.try" "takes a lock only where it is free"
    Condvar "condvar" "waits for a condition variable"
    Wake "wake" "wakes threads that wait: signals, broadcasts, unparks, posts"
    Semaphore "semaphore" "waits for a semaphore"
    Park "park" "parks the thread until another one unparks it: what locks, queues and condition variables are made of"
    Meeting "meeting" "waits for other threads to come along: a barrier, a latch, a join"
    QueueWait "queue.wait" "waits for work: a channel, a queue of tasks, an idle worker of a pool"
    Futex "futex" "on the way into futex(2), whatever that is for"
    Sleep "sleep" "asked to sleep for a time"
    Poll "poll" "waits for one of several events: files, sockets, timers"
    Spin "spin" "waits in a loop without giving up the CPU: pause, yield, back-off"
    Atomic "atomic" "reads or exchanges one word of memory that threads share"
    GcWork "gc.work" "collects garbage: marks, copies, sweeps, also on behalf of an allocation"
    GcAsk "gc.ask" "asks for a garbage collection"
    GcStop "gc.stop" "waits for a garbage collection, or an operation of the virtual machine, to be done"
    Safepoint "safepoint" "is stopped, or stops, at a safepoint of a virtual machine"
    VmOperation "vm.operation" "an operation for which a virtual machine stops its threads: dumps of stacks, deoptimisation"
    Jit "jit" "compiles code at run time"
    Interpreter "interpreter" "interprets byte code"
    Runtime "runtime" "a language's run-time system, whose callers say more about a wait"
    Scheduler "scheduler" "a run-time system's scheduler of goroutines, tasks or fibres looks for the next one"
    Housekeeping "housekeeping" "threads of a run-time system that look after it from time to time"
    Entry "entry" "where threads and programs begin"
    Library "library" "the C library, the C++ library or the dynamic linker: callers say more"
    Standard "standard" "the standard library of a language, where it is a part of the program: callers say more about a wait"
    ClassLibrary "class.library" "the class library of a language of the Java virtual machine: callers say more about what it allocates"
    Log "log" "writes a log"
    Format "format" "turns values into text"
    Stdio "stdio" "buffered input and output of a language's library"
    Alloc "alloc" "allocates memory or gives it back"
    Copy "copy" "copies, moves, fills or compares memory"
    Clock "clock" "reads a clock"
    Serialise "serialise" "turns data structures into bytes or text, or back"
    Compress "compress" "compresses or expands data"
    Crypto "crypto" "encrypts, signs or hashes data: TLS, digests"
    Flush "flush" "makes written data durable: fsync and what waits for it"
    Process "process" "begins or ends a process: fork, exec, the dynamic linker at work, exit"
    Signal "signal" "delivers a signal, or returns from its handler"
    KernelEntry "kernel.entry" "the kernel's door: into a system call and out of it"
    KernelReturn "kernel.return" "the way back to the program, where the kernel switches threads, or a thread's first steps"
    KernelSwitch "kernel.switch" "gives up the CPU: the scheduler, and what leads into it"
    KernelWake "kernel.wake" "the kernel wakes a thread"
    KernelFutex "kernel.futex" "the kernel's side of futex(2)"
    KernelSleep "kernel.sleep" "the kernel's side of a sleep for a time"
    KernelPoll "kernel.poll" "the kernel's side of poll, select and epoll_wait"
    KernelFault "kernel.fault" "a page fault"
    KernelInterrupt "kernel.interrupt" "an interrupt, or a softirq on its way out"
    KernelLock "kernel.lock" "a contended mutex, semaphore or spin lock of the kernel"
    KernelLockTake "kernel.lock-take" "takes a lock of the kernel, which may be free"
    KernelMmLock "kernel.mm-lock" "takes the lock of a process's address space, or changes the address space under it"
    KernelPageCache "kernel.page-cache" "reads files through the page cache"
    KernelDisk "kernel.disk" "file systems and block devices"
    KernelReclaim "kernel.reclaim" "finds memory to free"
    KernelMemcg "kernel.memcg" "frees memory because a control group is at its limit"
    KernelCompact "kernel.compact" "moves memory to make room for huge pages"
    KernelSwap "kernel.swap" "swaps memory out or in"
    KernelNuma "kernel.numa" "moves memory between NUMA nodes"
    KernelTlb "kernel.tlb" "makes CPUs forget translations of addresses"
    KernelIpi "kernel.ipi" "has other CPUs run a function, and waits for them"
    KernelTimer "kernel.timer" "timers: expiry, and what they run"
    KernelMigrate "kernel.migrate" "moves threads between CPUs"
    KernelRoom "kernel.room" "waits until the other side of a pipe or socket takes data"
    KernelTracing "kernel.tracing" "eBPF programs and trace points: the cost of looking on, this recorder's too"
    KernelSocket "kernel.socket" "sockets and protocols"
    KernelPipe "kernel.pipe" "pipes"
}

impl Role {
    /// The role of a name.
    pub fn parse(name: &str) -> Option<Role> {
        Self::ALL.iter().copied().find(|role| role.name() == name)
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A set of roles.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Roles(u128);

// Each has its bit.
const _: () = assert!(Role::ALL.len() <= 128);

impl Roles {
    /// No role at all.
    pub const NONE: Roles = Roles(0);

    /// The set of these.
    pub const fn of(roles: &[Role]) -> Roles {
        let (mut bits, mut at) = (0_u128, 0);
        while at < roles.len() {
            bits |= 1 << roles[at] as u8;
            at += 1;
        }
        Roles(bits)
    }

    /// The set with these bits, as the build script wrote them.
    #[allow(dead_code, reason = "the build script, which shares this file, does not read them")]
    pub(crate) const fn from_bits(bits: u128) -> Roles {
        Roles(bits)
    }

    /// Its bits.
    #[allow(dead_code, reason = "the library, which shares this file, does not write them")]
    pub(crate) const fn bits(self) -> u128 {
        self.0
    }

    /// Whether a role is among them.
    pub const fn has(self, role: Role) -> bool {
        self.0 & (1 << role as u8) != 0
    }

    /// Whether both have one in common.
    pub const fn any(self, of: Roles) -> bool {
        self.0 & of.0 != 0
    }

    /// Both together.
    #[must_use]
    pub const fn with(self, more: Roles) -> Roles {
        Roles(self.0 | more.0)
    }

    /// Whether there is none.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The roles of it, in the order of [`Role::ALL`].
    pub fn iter(self) -> impl Iterator<Item = Role> {
        Role::ALL.iter().copied().filter(move |role| self.has(*role))
    }
}

/// As SQL has them: `;gc.work;lock.wait;`, and nothing where there is none.
impl fmt::Display for Roles {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for role in self.iter() {
            write!(f, ";{role}")?;
        }
        if self.is_empty() { Ok(()) } else { f.write_str(";") }
    }
}
