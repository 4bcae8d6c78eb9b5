//! The lists themselves: each entry does what it says, on the stacks that it gives.

use crate::read::{Entry, Kind, read};
use crate::role::Roles;
use crate::wait::{Wait, is_for_lock, of_stack};
use crate::{find, roles, roles_of_thread};
use std::collections::BTreeSet;

include!(concat!(env!("OUT_DIR"), "/files.rs"));

fn entries() -> Vec<Entry> {
    FILES.iter().flat_map(|(name, text)| read(name, text).unwrap()).collect()
}

/// A module that a pattern of modules takes.
fn module(entry: &Entry) -> String {
    entry.modules.first().map_or_else(String::new, |pattern| pattern.replace('*', ""))
}

fn roles_in(entry: &Entry, frame: &str) -> Roles {
    match entry.kind {
        Kind::Kernel => roles(frame, "[kernel]", "kernel"),
        Kind::User => roles(frame, &module(entry), "native"),
        Kind::Thread => roles_of_thread(frame),
    }
}

#[test]
fn each_entry_takes_its_stacks_and_leaves_the_others() {
    let mut wrong = Vec::new();
    for entry in entries() {
        let matches = |stack: &String| stack.split(';').any(|frame| roles_in(&entry, frame).has(entry.role));
        wrong.extend(
            entry.stacks.iter().filter(|s| !matches(s)).map(|s| format!("{}: {s}: no {}", entry.at, entry.role)),
        );
        wrong.extend(entry.not.iter().filter(|s| matches(s)).map(|s| format!("{}: {s}: is {}", entry.at, entry.role)));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_role_is_played() {
    let played: BTreeSet<_> = entries().iter().map(|entry| entry.role).collect();
    let missing: Vec<_> = crate::Role::ALL.iter().filter(|role| !played.contains(role)).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn names_that_only_sound_alike_have_no_role() {
    for name in [
        "org.apache.spark.storage.BlockManager.get",
        "MutexMap::get",
        "app::Spinner::draw",
        "isPinned",
        "validate_transaction",
        "second_pass",
        "ParkingService::find",
        "std_dev",
        "lock_step_render",
        "sleepy_hollow",
        "Logarithm::of",
        "yieldToMaturity",
    ] {
        assert!(roles(name, "/usr/bin/app", "native").is_empty(), "{name}: {}", roles(name, "/usr/bin/app", "native"));
    }
}

#[test]
fn case_and_underscores_count() {
    let is = |name: &str| !roles(name, "", "native").is_empty();
    assert!(
        is("pthread_mutex_lock")
            && !is("PTHREAD_MUTEX_LOCK")
            && !is("pthread-mutex-lock")
            && !is("xpthread_mutex_lock")
    );
}

#[test]
fn the_kernel_is_not_the_program() {
    let name = "mutex_lock";
    assert!(roles(name, "[kernel]", "kernel").has(crate::Role::KernelLock));
    assert!(!roles(name, "/bin/app", "native").has(crate::Role::KernelLock));
}

#[test]
fn a_lock_of_python_is_told_from_what_else_is_made_of_one() {
    let taken = "__futex_abstimed_wait_common PyThread_acquire_lock_timed acquire_timed lock_PyThread_acquire_lock cfunction_call";
    let of = |way: &str, file: &str| {
        let taken = taken.split(' ').map(|name| find(name, "/usr/lib/libpython3.11.so.1.0", "native"));
        of_stack(taken.chain([find(way, file, "python")]))
    };
    assert_eq!(of("book", "/srv/shop/stock.py"), Wait::Lock(crate::wait::PYTHON_LOCK));
    assert_eq!(of("Condition.wait", "/usr/lib/python3.11/threading.py"), Wait::Idle, "for its turn, or an event");
    let machine = taken.split(' ').chain(["_PyEval_EvalFrameDefault", "_PyEval_Vector"]);
    let machine = of_stack(machine.map(|name| find(name, "/usr/lib/libpython3.11.so.1.0", "native")));
    assert_eq!(machine, Wait::Idle, "functions of Python are not known");
    let own = "take_gil PyEval_RestoreThread acquire_timed lock_PyThread_acquire_lock";
    let own = own.split(' ').map(|name| find(name, "/usr/lib/libpython3.11.so.1.0", "native"));
    assert_eq!(of_stack(own), Wait::Lock("gil"));
}

#[test]
fn the_code_that_waits_decides() {
    let of =
        |names: &str| of_stack(names.split(' ').map(|name| find(name, "/usr/lib/jvm/lib/server/libjvm.so", "native")));
    let c = |names: &str| of_stack(names.split(' ').map(|name| find(name, "/usr/bin/app", "native")));
    assert_eq!(c("__lll_lock_wait ___pthread_mutex_lock worker"), Wait::Lock("pthread mutex"));
    assert_eq!(c("__lll_lock_wait_private malloc worker"), Wait::Lock("malloc"));
    assert_eq!(c("__futex_abstimed_wait_common pthread_cond_wait@@GLIBC_2.3.2 worker"), Wait::Idle);
    // A condition variable has to take its mutex again.
    assert_eq!(c("__lll_lock_wait __pthread_mutex_cond_lock pthread_cond_wait worker"), Wait::Lock("pthread mutex"));
    // A monitor is made of condition variables.
    let park = "__futex_abstimed_wait_common pthread_cond_wait PlatformEvent::park";
    assert_eq!(of(&format!("{park} ObjectMonitor::EnterI ObjectMonitor::enter")), Wait::Lock("monitor"));
    assert_eq!(of(&format!("{park} ObjectMonitor::wait JVM_MonitorWait")), Wait::Idle);
    // A lock of java.util.concurrent is a queue of threads that are parked; so are others that are no locks.
    let park = "pthread_cond_wait Parker::park Unsafe_Park jdk.internal.misc.Unsafe.park";
    let queue = "java.util.concurrent.locks.AbstractQueuedSynchronizer";
    let lock = Wait::Lock(crate::wait::JAVA_LOCK);
    assert_eq!(of(&format!("{park} {queue}.acquire Cache.get")), lock);
    assert_eq!(of(&format!("{park} Interpreter java.util.concurrent.locks.ReentrantLock.lock Cache.get")), lock);
    assert_eq!(of(&format!("{park} {queue}.acquire {queue}$ConditionObject.await Pool.run")), lock);
    assert_eq!(of(&format!("{park} {queue}$ConditionObject.await Pool.run")), Wait::Idle);
    assert_eq!(of(&format!("{park} {queue}.acquire java.util.concurrent.CountDownLatch.await Main.all")), Wait::Idle);
    assert_eq!(of(&format!("{park} java.util.concurrent.SynchronousQueue.take Main.all")), Wait::Idle);
    assert_eq!(of(&format!("{park} Pool.run")), Wait::Idle);
    assert_eq!(of("LinuxWaitBarrier::wait SafepointSynchronize::block"), Wait::Idle);
    assert_eq!(of("pthread_cond_timedwait JavaThread::sleep JVM_Sleep"), Wait::Sleep);
    assert_eq!(
        of("pthread_mutex_lock Mutex::lock_without_safepoint_check CodeCache::allocate"),
        Wait::Lock("jvm mutex")
    );
    assert_eq!(c("runtime.futex runtime.futexsleep runtime.lock2 runtime.schedule"), Wait::Lock("go runtime"));
    assert_eq!(c("runtime.futex.abi0 runtime.futexsleep runtime.notesleep runtime.mPark runtime.stopm"), Wait::Idle);
    assert_eq!(
        c("runtime.futex runtime.futexsleep runtime.notetsleep_internal runtime.notetsleep runtime.sysmon"),
        Wait::Idle
    );
    for mutex in ["std::sys::sync::mutex::futex::Mutex", "<std::sys::sync::mutex::futex::Mutex>"] {
        assert_eq!(c(&format!("syscall {mutex}::lock_contended main")), Wait::Lock("rust mutex"));
    }
    assert_eq!(c("syscall std::sys::sync::condvar::futex::Condvar::wait main"), Wait::Idle);
    assert_eq!(c("syscall std::thread::park app::Pool::next"), Wait::Idle);
    assert_eq!(c("__new_sem_wait_slow64 PGSemaphoreLock LWLockAcquire"), Wait::Lock("lwlock"));
    assert_eq!(c("__new_sem_wait_slow64 sem_wait next_job"), Wait::Idle);
    // A task's lock, in a pool whose threads wait for tasks otherwise; and what only sounds like a lock.
    let pool = "core::ops::function::FnOnce::call_once tokio::runtime::blocking::pool::Inner::run";
    assert_eq!(c(&format!("std::sys::sync::mutex::futex::Mutex::lock_contended {pool}")), Wait::Lock("rust mutex"));
    assert_eq!(c(&format!("std::sys::sync::condvar::futex::Condvar::wait {pool}")), Wait::Idle);
    assert_eq!(c("syscall core::ops::function::FnOnce::call_once main"), Wait::Unknown);
    assert_eq!(c("pthread_cond_timedwait take_gil PyEval_RestoreThread"), Wait::Lock("gil"));
    assert_eq!(c("std::__atomic_wait_address_v std::latch::wait main"), Wait::Idle);
    assert_eq!(c("syscall something main"), Wait::Unknown);
    assert_eq!(c(""), Wait::Unknown);
}

#[test]
fn locks_that_are_waited_for_in_other_calls() {
    let of = |names: &str| {
        is_for_lock(names.split(' ').map(|name| find(name, "/usr/lib/postgresql/bin/postgres", "native")))
    };
    assert!(of("epoll_wait WaitEventSetWait WaitLatch ProcSleep LockAcquireExtended"));
    assert!(!of("clock_nanosleep pg_usleep vacuum_delay_point"));
    assert!(!of("epoll_wait WaitEventSetWait WaitLatch secure_read"));
    assert!(!of("recv fetch with_lock ProcSleep"), "it does something else while it holds the lock's code");
    assert!(!of("read fread"), "a stream's lock is taken while it reads");
}
