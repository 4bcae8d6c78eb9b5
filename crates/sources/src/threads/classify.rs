//! Lock or idle: what a thread that waits for a futex waits for is told by the code that waits.
//!
//! Three questions. Whether a function that takes a lock of the C library or of a language is innermost: then it is a lock. Else
//! whether a function of a run-time system is on the stack whose purpose is known, for its monitors and queues are made of
//! condition variables. And, where functions have no names, what the futex itself shows.

use super::records::Site;

/// What a wait for a futex is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// For a contended lock, of this kind.
    Lock(&'static str),
    /// For work.
    Idle,
    /// Asked to sleep.
    Sleep,
    Unknown,
}

use Verdict::{Idle, Lock, Sleep, Unknown};

/// How a function's name is compared.
#[derive(Clone, Copy, Debug)]
enum Is {
    /// It is this name.
    Exactly(&'static str),
    /// It begins so.
    Begins(&'static str),
    /// It contains this.
    Contains(&'static str),
}

use Is::{Begins, Contains, Exactly};

/// So many frames are looked at.
pub(super) const DEPTH: usize = 16;
/// Frames from the innermost on in which a run-time system's function is looked for.
const RUNTIME_DEPTH: usize = DEPTH;
/// The same for the C library and lock implementations.
const LIBRARY_DEPTH: usize = 8;

/// The locks of java.util.concurrent.
pub(super) const JAVA_LOCK: &str = "java.util.concurrent";

/// What waits in the same queue of java.util.concurrent as its locks do (AbstractQueuedSynchronizer), but for others to come along.
const JAVA_MEETINGS: [&str; 5] = [
    ".CountDownLatch.",
    ".Semaphore.",
    ".CyclicBarrier.",
    ".Phaser.",
    ".AbstractQueuedSynchronizer.acquireSharedInterruptibly",
];

/// Functions of run-time systems. The innermost that is listed decides.
static RUNTIMES: &[(Is, Verdict)] = &[
    // HotSpot: src/hotspot/share/runtime/{objectMonitor,park,mutex}.cpp, java.util.concurrent. Methods that a JVM compiles have names only after it
    // was asked for them, and those that it interprets never have: of them `explain` finds out later (budget/cells.rs).
    (Contains("ObjectMonitor::enter"), Lock("monitor")),
    (Contains("ObjectMonitor::EnterI"), Lock("monitor")),
    (Contains("ObjectMonitor::ReenterI"), Lock("monitor")),
    (Contains("ObjectMonitor::reenter_internal"), Lock("monitor")),
    (Contains("ObjectMonitor::wait"), Idle),
    (Contains("SharedRuntime::complete_monitor_locking"), Lock("monitor")),
    (Contains("AbstractQueuedSynchronizer$ConditionObject"), Idle),
    (Contains("AbstractQueuedSynchronizer.acquire"), Lock(JAVA_LOCK)),
    (Contains("ReentrantLock.lock"), Lock(JAVA_LOCK)),
    (Contains("ReentrantLock$"), Lock(JAVA_LOCK)),
    (Contains("ReentrantReadWriteLock"), Lock(JAVA_LOCK)),
    (Contains("StampedLock"), Lock(JAVA_LOCK)),
    (Contains("CountDownLatch"), Idle),
    (Contains("BlockingQueue"), Idle),
    (Contains("SynchronousQueue"), Idle),
    (Contains("ForkJoinPool"), Idle),
    (Contains("Mutex::lock_without_safepoint_check"), Lock("jvm mutex")),
    (Contains("Monitor::wait"), Idle),
    (Contains("Thread.sleep"), Sleep),
    (Contains("JVM_Sleep"), Sleep),
    (Contains("JavaThread::sleep"), Sleep),
    (Contains("SafepointSynchronize::block"), Lock("jvm safepoint")),
    // Go: src/runtime/{lock_futex,lock_spinbit,sema,proc}.go. A goroutine's own locks park the goroutine, not the thread.
    (Exactly("runtime.lock2"), Lock("go runtime")),
    (Exactly("runtime.lock"), Lock("go runtime")),
    (Begins("runtime.notesleep"), Idle),
    (Begins("runtime.notetsleep"), Idle),
    (Exactly("runtime.stopm"), Idle),
    (Exactly("runtime.findRunnable"), Idle),
    (Exactly("runtime.usleep"), Sleep),
    // .NET: src/coreclr/vm/{syncblk,threads}.cpp, pal.
    (Contains("AwareLock::Enter"), Lock("monitor")),
    (Contains("ObjHeader::EnterObjMonitor"), Lock("monitor")),
    (Contains("JIT_MonEnter"), Lock("monitor")),
    (Contains("Monitor_Enter"), Lock("monitor")),
    (Contains("SyncBlock::Wait"), Idle),
    (Contains("CrstBase::Enter"), Lock("clr lock")),
    (Contains("LowLevelLifoSemaphore"), Idle),
    // CPython: Python/ceval_gil.c, Python/thread_pthread.h.
    (Exactly("take_gil"), Lock("gil")),
    (Contains("_PyMutex_LockTimed"), Lock("python mutex")),
    (Contains("acquire_timed"), Unknown),
    // V8 and libuv: a worker waits for tasks.
    (Contains("uv__threadpool_work"), Idle),
    (Contains("WorkerThreadsTaskRunner"), Idle),
    (Contains("DelayedTaskQueue"), Idle),
    (Contains("DefaultWorkerThreadsTaskRunner"), Idle),
    // Ruby: thread_pthread.c.
    (Contains("thread_sched_wait_running_turn"), Lock("gvl")),
    (Contains("gvl_acquire"), Lock("gvl")),
    // PostgreSQL: src/backend/storage/lmgr/{lwlock,s_lock,proc}.c, port/posix_sema.c.
    (Exactly("LWLockAcquire"), Lock("lwlock")),
    (Exactly("LWLockAcquireOrWait"), Lock("lwlock")),
    (Exactly("LWLockWaitForVar"), Lock("lwlock")),
    (Exactly("ProcSleep"), Lock("heavyweight lock")),
    (Exactly("ProcArrayGroupClearXid"), Lock("lwlock")),
    // MySQL, InnoDB: storage/innobase/{sync,lock,os}, mysys.
    (Contains("lock_wait_suspend_thread"), Lock("row lock")),
    (Contains("rw_lock_s_lock_spin"), Lock("innodb rwlock")),
    (Contains("rw_lock_x_lock_func"), Lock("innodb rwlock")),
    (Contains("rw_lock_sx_lock_func"), Lock("innodb rwlock")),
    (Contains("TTASEventMutex"), Lock("innodb mutex")),
    (Contains("MDL_wait::timed_wait"), Lock("metadata lock")),
    // RocksDB, LevelDB, abseil, folly, TBB, jemalloc.
    (Contains("WriteThread::AwaitState"), Lock("write group")),
    (Contains("absl::Mutex::Await"), Idle),
    (Contains("absl::CondVar::Wait"), Idle),
    (Contains("absl::Mutex::LockSlow"), Lock("absl::Mutex")),
    (Contains("absl::lts_"), Unknown),
    (Contains("folly::SharedMutexImpl"), Lock("folly::SharedMutex")),
    (Contains("folly::MicroLock"), Lock("folly::MicroLock")),
    (Contains("malloc_mutex_lock_slow"), Lock("jemalloc")),
    (Contains("arena_get2"), Lock("malloc")),
    // Tokio and rayon wait for work by parking.
    (Contains("tokio::runtime::"), Idle),
    (Contains("rayon_core::sleep"), Idle),
    (Contains("crossbeam_channel::"), Idle),
    (Contains("std::sync::mpsc::"), Idle),
    (Contains("std::sync::mpmc::"), Idle),
];

/// The C library, Rust's std and what locks are made of. The innermost that is listed decides.
static LIBRARIES: &[(Is, Verdict)] = &[
    // glibc: nptl/.
    (Contains("pthread_cond_wait"), Idle),
    (Contains("pthread_cond_timedwait"), Idle),
    (Contains("pthread_cond_clockwait"), Idle),
    (Exactly("cnd_wait"), Idle),
    (Exactly("cnd_timedwait"), Idle),
    (Contains("pthread_mutex_cond_lock"), Lock("pthread mutex")),
    (Contains("pthread_mutex_lock"), Lock("pthread mutex")),
    (Contains("pthread_mutex_timedlock"), Lock("pthread mutex")),
    (Contains("pthread_mutex_clocklock"), Lock("pthread mutex")),
    (Exactly("mtx_lock"), Lock("pthread mutex")),
    (Contains("lll_mutex_lock"), Lock("pthread mutex")),
    (Contains("pthread_rwlock_"), Lock("pthread rwlock")),
    (Contains("pthread_barrier_wait"), Idle),
    (Contains("pthread_spin_lock"), Lock("pthread spinlock")),
    (Contains("pthread_join"), Idle),
    (Contains("pthread_timedjoin"), Idle),
    (Contains("pthread_clockjoin"), Idle),
    (Exactly("thrd_join"), Idle),
    (Contains("pthread_once"), Lock("pthread once")),
    (Contains("__libc_malloc"), Lock("malloc")),
    (Contains("__libc_free"), Lock("malloc")),
    (Exactly("malloc"), Lock("malloc")),
    (Exactly("calloc"), Lock("malloc")),
    (Exactly("realloc"), Lock("malloc")),
    (Exactly("free"), Lock("malloc")),
    // Of its several names a function has the plainest: fwrite, not _IO_fwrite.
    (Contains("_IO_"), Lock("stdio")),
    (Exactly("fwrite"), Lock("stdio")),
    (Exactly("fread"), Lock("stdio")),
    (Exactly("puts"), Lock("stdio")),
    (Exactly("fputs"), Lock("stdio")),
    (Exactly("fgets"), Lock("stdio")),
    (Exactly("fflush"), Lock("stdio")),
    (Exactly("fputc"), Lock("stdio")),
    (Exactly("putc"), Lock("stdio")),
    (Exactly("putchar"), Lock("stdio")),
    (Exactly("getc"), Lock("stdio")),
    (Exactly("getline"), Lock("stdio")),
    (Exactly("fclose"), Lock("stdio")),
    // A semaphore is a queue to most; who uses it as a lock is listed above.
    (Begins("sem_wait"), Idle),
    (Begins("sem_timedwait"), Idle),
    (Begins("sem_clockwait"), Idle),
    (Contains("new_sem_wait"), Idle),
    (Contains("gai_suspend"), Idle),
    (Contains("aio_suspend"), Idle),
    // musl.
    (Exactly("__timedwait"), Unknown),
    (Exactly("__lock"), Lock("musl lock")),
    // Rust: library/std/src/sys/sync.
    (Contains("futex::Mutex::lock_contended"), Lock("rust mutex")),
    (Contains("futex::RwLock::read_contended"), Lock("rust rwlock")),
    (Contains("futex::RwLock::write_contended"), Lock("rust rwlock")),
    (Contains("futex::Condvar"), Idle),
    (Contains("futex::Once::call"), Lock("rust once")),
    (Contains("futex::Once::wait"), Lock("rust once")),
    (Contains("JoinInner"), Idle),
    (Contains("thread::park"), Idle),
    (Contains("Parker::park"), Idle),
    (Contains("Condvar::wait"), Idle),
    // parking_lot.
    (Contains("RawMutex::lock_slow"), Lock("parking_lot mutex")),
    (Contains("RawRwLock::lock_"), Lock("parking_lot rwlock")),
    (Contains("RawFairMutex"), Lock("parking_lot mutex")),
    (Contains("parking_lot::condvar"), Idle),
    // C++.
    (Begins("std::condition_variable"), Idle),
    (Contains("std::__atomic_wait"), Idle),
    (Contains("std::counting_semaphore"), Idle),
    (Contains("std::latch::wait"), Idle),
    (Contains("__cxa_guard_acquire"), Lock("c++ guard")),
    // OpenMP: a thread at a barrier waits for the others, not for a lock.
    (Contains("gomp_mutex_lock_slow"), Lock("openmp lock")),
    (Contains("gomp_barrier_wait"), Idle),
    (Contains("gomp_team_barrier_wait"), Idle),
    (Contains("__kmp_suspend"), Idle),
    // Last, for they are what all of these are made of.
    (Contains("lll_lock_wait"), Lock("pthread mutex")),
    (Contains("lll_lock_elision"), Lock("pthread mutex")),
];

fn find(table: &[(Is, Verdict)], functions: &[impl AsRef<str>], depth: usize) -> Option<Verdict> {
    let matches = |is: &Is, name: &str| match is {
        Exactly(whole) => name == *whole,
        Begins(start) => name.starts_with(start),
        Contains(part) => name.contains(part),
    };
    functions
        .iter()
        .take(depth)
        .find_map(|name| {
            // Rust writes `<futex::Mutex>::lock_contended` for what older versions call `futex::Mutex::lock_contended`.
            let name: String = name.as_ref().chars().filter(|c| !matches!(c, '<' | '>')).collect();
            table.iter().find(|(is, _)| matches(is, &name)).map(|(_, verdict)| *verdict)
        })
        .filter(|verdict| *verdict != Unknown)
}

/// What the functions on a user stack, innermost first, say.
pub(super) fn by_stack(functions: &[impl AsRef<str>]) -> Verdict {
    let runtime = find(RUNTIMES, functions, RUNTIME_DEPTH).map(|found| {
        let meets = |name: &str| JAVA_MEETINGS.iter().any(|part| name.contains(part));
        let is_meeting = found == Lock(JAVA_LOCK) && functions.iter().take(RUNTIME_DEPTH).any(|f| meets(f.as_ref()));
        if is_meeting { Idle } else { found }
    });
    match (find(LIBRARIES, functions, LIBRARY_DEPTH), runtime) {
        // A lock that a task takes is a lock, also where the task is run by a pool of threads that wait for work elsewhere.
        (Some(Lock(_)), Some(Lock(better))) => Lock(better),
        (Some(Lock(kind)), _) => Lock(kind),
        (library, runtime) => runtime.or(library).unwrap_or(Unknown),
    }
}

/// `FUTEX_WAIT`, `FUTEX_WAIT_BITSET` and the flags of include/uapi/linux/futex.h.
const WAIT: u32 = 0;
const WAIT_BITSET: u32 = 9;
const PRIVATE: u32 = 0x80;
const COMMAND: u32 = 0x7f;

/// What the futex itself shows, where the stack says nothing.
///
/// - A mutex of glibc, musl and Go waits with FUTEX_WAIT for the value 2, "locked, and others wait" (nptl/lowlevellock.h;
///   Drepper, "Futexes Are Tricky"). glibc writes the owner's thread id behind it.
/// - A thread of Rust that parks waits for the value u32::MAX (library/std/src/sys/sync/thread_parking/futex.rs): channels, scopes and `thread::park` do.
/// - A thread that is joined shows its own id, in memory that the kernel clears: a shared wait for an id of this process.
pub(super) fn by_futex(site: &Site, is_thread: impl Fn(u32) -> bool) -> Verdict {
    let command = site.operation & COMMAND;
    if command == WAIT && site.value == 2 {
        let is_owned = site.owner != 0 && site.owner != site.tid && is_thread(site.owner);
        return Lock(if is_owned { "pthread mutex" } else { "futex" });
    }
    if command == WAIT_BITSET && site.value == u32::MAX && site.operation & PRIVATE != 0 {
        return Idle;
    }
    if (command == WAIT || command == WAIT_BITSET) && site.operation & PRIVATE == 0 && is_thread(site.value) {
        return Idle;
    }
    Unknown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_code_that_waits_decides() {
        let of = |names: &str| by_stack(&names.split(' ').collect::<Vec<_>>());
        assert_eq!(of("__lll_lock_wait ___pthread_mutex_lock worker"), Lock("pthread mutex"));
        assert_eq!(of("__futex_abstimed_wait_common pthread_cond_wait@@GLIBC_2.3.2 worker"), Idle);
        // A monitor is made of condition variables.
        let park = "__futex_abstimed_wait_common pthread_cond_wait PlatformEvent::park";
        assert_eq!(of(&format!("{park} ObjectMonitor::EnterI ObjectMonitor::enter")), Lock("monitor"));
        assert_eq!(of(&format!("{park} ObjectMonitor::wait JVM_MonitorWait")), Idle);
        // A lock of java.util.concurrent is a queue of threads that are parked; so are others that are no locks.
        let park = "pthread_cond_wait Parker::park Unsafe_Park jdk.internal.misc.Unsafe.park";
        let queue = "java.util.concurrent.locks.AbstractQueuedSynchronizer";
        assert_eq!(of(&format!("{park} {queue}.acquire Cache.get")), Lock(JAVA_LOCK));
        assert_eq!(of(&format!("{park} {queue}.acquire {queue}$ConditionObject.await Pool.run")), Lock(JAVA_LOCK));
        assert_eq!(of(&format!("{park} {queue}$ConditionObject.await Pool.run")), Idle);
        assert_eq!(of(&format!("{park} {queue}.acquire java.util.concurrent.CountDownLatch.await Main.all")), Idle);
        assert_eq!(of(&format!("{park} Pool.run")), Idle);
        assert_eq!(of("runtime.futex runtime.futexsleep runtime.lock2 runtime.schedule"), Lock("go runtime"));
        assert_eq!(of("runtime.futex runtime.futexsleep runtime.notesleep runtime.stopm"), Idle);
        assert_eq!(of("syscall std::sys::sync::mutex::futex::Mutex::lock_contended main"), Lock("rust mutex"));
        assert_eq!(of("syscall <std::sys::sync::mutex::futex::Mutex>::lock_contended main"), Lock("rust mutex"));
        assert_eq!(of("syscall std::sys::sync::condvar::futex::Condvar::wait main"), Idle);
        assert_eq!(of("__new_sem_wait_slow64 PGSemaphoreLock LWLockAcquire"), Lock("lwlock"));
        // A task's lock, in a pool whose threads wait for tasks otherwise; and what only sounds like a lock.
        let pool = "core::ops::function::FnOnce::call_once tokio::runtime::blocking::pool::Inner::run";
        assert_eq!(of(&format!("std::sys::sync::mutex::futex::Mutex::lock_contended {pool}")), Lock("rust mutex"));
        assert_eq!(of(&format!("std::sys::sync::condvar::futex::Condvar::wait {pool}")), Idle);
        assert_eq!(of("syscall core::ops::function::FnOnce::call_once main"), Unknown);
        assert_eq!(of("pthread_cond_timedwait take_gil PyEval_RestoreThread"), Lock("gil"));
        assert_eq!(of("syscall something main"), Unknown);
        assert_eq!(of(""), Unknown);
    }

    #[test]
    fn a_futex_tells_a_lock_from_a_thread_that_parks_or_joins() {
        let of = |operation: u32, value: u32| {
            by_futex(&Site { tid: 7, operation, value, ..Site::default() }, |tid| tid == 9)
        };
        assert_eq!(of(WAIT | PRIVATE, 2), Lock("futex"));
        assert_eq!(of(WAIT_BITSET | PRIVATE, u32::MAX), Idle, "Rust's thread::park");
        assert_eq!(of(WAIT_BITSET, 9), Idle, "joins thread 9");
        assert_eq!(of(WAIT_BITSET | PRIVATE, 9), Unknown);
        assert_eq!(of(WAIT | PRIVATE, u32::MAX), Unknown);
    }
}
