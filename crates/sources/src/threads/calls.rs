//! System calls in which threads block, and what each waits for (syscalls(2)). The kernel-side program gets the classes by number.

/// What a blocked call waits for; `enum class` of ledger.h, in its order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Class {
    /// What its descriptor is: a socket, a pipe, a file.
    Descriptor = 1,
    Network,
    Sleep,
    Idle,
    /// Its third argument is a time in milliseconds, negative for none.
    Poll,
    /// Its third argument points to a time, or is null.
    Ppoll,
    /// Its fifth argument points to a time, or is null: microseconds in the one, nanoseconds in the other.
    Select,
    Pselect,
    Futex,
    /// A semaphore: a lock to some, a queue to others.
    Undecided,
    Lock,
    Disk,
    /// Its fourth argument is a time in milliseconds, or points to one.
    Epoll,
    Epoll2,
}

macro_rules! calls {
    ($($class:ident: $($name:ident = $number:ident),+;)+) => {
        &[$($((libc::$number, stringify!($name), Class::$class)),+),+]
    };
}

static CALLS: &[(libc::c_long, &str, Class)] = calls! {
    Descriptor: read = SYS_read, write = SYS_write, readv = SYS_readv, writev = SYS_writev, pread64 = SYS_pread64,
        pwrite64 = SYS_pwrite64, preadv = SYS_preadv, pwritev = SYS_pwritev, preadv2 = SYS_preadv2,
        pwritev2 = SYS_pwritev2, sendfile = SYS_sendfile, splice = SYS_splice, tee = SYS_tee, vmsplice = SYS_vmsplice,
        getdents64 = SYS_getdents64, ftruncate = SYS_ftruncate, fallocate = SYS_fallocate,
        copy_file_range = SYS_copy_file_range;
    Network: recvfrom = SYS_recvfrom, sendto = SYS_sendto, recvmsg = SYS_recvmsg, sendmsg = SYS_sendmsg,
        recvmmsg = SYS_recvmmsg, sendmmsg = SYS_sendmmsg, connect = SYS_connect, shutdown = SYS_shutdown;
    Sleep: nanosleep = SYS_nanosleep, clock_nanosleep = SYS_clock_nanosleep;
    Idle: accept = SYS_accept, accept4 = SYS_accept4, wait4 = SYS_wait4, waitid = SYS_waitid, rt_sigtimedwait = SYS_rt_sigtimedwait,
        rt_sigsuspend = SYS_rt_sigsuspend, msgrcv = SYS_msgrcv, mq_timedreceive = SYS_mq_timedreceive,
        io_uring_enter = SYS_io_uring_enter;
    Epoll: epoll_pwait = SYS_epoll_pwait;
    Epoll2: epoll_pwait2 = SYS_epoll_pwait2;
    Ppoll: ppoll = SYS_ppoll;
    Pselect: pselect6 = SYS_pselect6;
    Futex: futex = SYS_futex;
    Undecided: semop = SYS_semop, semtimedop = SYS_semtimedop;
    Lock: flock = SYS_flock, fcntl = SYS_fcntl;
    Disk: fsync = SYS_fsync, fdatasync = SYS_fdatasync, sync = SYS_sync, syncfs = SYS_syncfs, msync = SYS_msync,
        sync_file_range = SYS_sync_file_range, io_getevents = SYS_io_getevents;
};

/// Calls that only this machine has beside newer ones.
#[cfg(target_arch = "x86_64")]
static OLDER: &[(libc::c_long, &str, Class)] = calls! {
    Idle: pause = SYS_pause;
    Epoll: epoll_wait = SYS_epoll_wait;
    Poll: poll = SYS_poll;
    Select: select = SYS_select;
};
#[cfg(not(target_arch = "x86_64"))]
static OLDER: &[(libc::c_long, &str, Class)] = &[];

/// `CALLS` of ledger.h.
const MOST: usize = 512;

fn all() -> impl Iterator<Item = &'static (libc::c_long, &'static str, Class)> {
    CALLS.iter().chain(OLDER)
}

/// The class of each call, by number; 0 for calls that are not known to block.
pub(super) fn classes() -> [u8; MOST] {
    let mut classes = [0; MOST];
    for (number, _, class) in all() {
        if let Some(place) = usize::try_from(*number).ok().and_then(|number| classes.get_mut(number)) {
            *place = *class as u8;
        }
    }
    classes
}

/// The name of a call that is known to block.
pub(super) fn name(number: i32) -> Option<&'static str> {
    all().find(|(n, _, _)| *n == libc::c_long::from(number)).map(|(_, name, _)| *name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_have_classes_and_names() {
        let classes = classes();
        assert_eq!(classes.get(libc::SYS_futex as usize), Some(&(Class::Futex as u8)));
        assert_eq!(classes.get(libc::SYS_io_getevents as usize), Some(&(Class::Disk as u8)));
        assert_eq!(name(libc::SYS_nanosleep as i32), Some("nanosleep"));
        assert_eq!(name(-1), None);
    }
}
