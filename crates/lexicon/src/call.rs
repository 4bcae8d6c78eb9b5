//! System calls: by the names of the kernel's functions, and in groups by what they are for.

/// The prefixes of the functions that system calls begin with: SYSCALL_DEFINE in include/linux/syscalls.h and arch/*/include/asm/syscall_wrapper.h, and
/// the `ksys_` and `__sys_` functions that most of the work of some is done in.
const PREFIXES: [&str; 7] = ["__x64_sys_", "__arm64_sys_", "__ia32_sys_", "__do_sys_", "__se_sys_", "ksys_", "__sys_"];

/// Functions that calls do nothing but go on to: then the call is on no stack itself (fs/read_write.c, kernel/futex/syscalls.c).
const ONLY: [(&str, &str); 5] = [
    ("do_readv", "readv"),
    ("do_writev", "writev"),
    ("do_preadv", "preadv"),
    ("do_pwritev", "pwritev"),
    ("do_futex", "futex"),
];

/// The system call that a function of the kernel serves, by its plain name.
pub fn of(function: &str) -> Option<&str> {
    let known = PREFIXES.iter().find_map(|prefix| function.strip_prefix(prefix)).map(plain);
    known.or_else(|| ONLY.iter().find(|(name, _)| *name == function).map(|(_, call)| *call))
}

/// A call by one name: `pread64` is pread.
pub fn plain(call: &str) -> &str {
    match call {
        "newfstatat" => "fstatat",
        "newstat" => "stat",
        "newfstat" => "fstat",
        call => call.strip_suffix("64").unwrap_or(call),
    }
}

/// What a group of calls is for, and its calls by their plain names (man-pages, section 2).
pub const GROUPS: [(&str, &[&str]); 10] = [
    ("map", &["mmap", "munmap", "mremap", "brk", "madvise", "process_madvise", "mlock", "munlock"]),
    ("process", &["clone", "clone3", "fork", "vfork", "execve", "execveat", "exit", "exit_group", "wait4", "waitid"]),
    ("sync", &["fsync", "fdatasync", "msync", "sync_file_range", "syncfs", "sync"]),
    ("write", &["write", "writev", "pwrite", "pwritev", "pwritev2"]),
    ("read", &["read", "readv", "pread", "preadv", "preadv2"]),
    ("send", &["send", "sendto", "sendmsg", "sendmmsg", "sendfile"]),
    ("receive", &["recv", "recvfrom", "recvmsg", "recvmmsg"]),
    ("poll", &["poll", "ppoll", "select", "pselect6", "epoll_wait", "epoll_pwait", "epoll_pwait2"]),
    ("clock", &["clock_gettime", "gettimeofday", "time"]),
    ("file", &["unlink", "unlinkat", "rename", "renameat", "renameat2", "ftruncate", "fallocate"]),
];

/// The group of a call, by any of its names: `pwrite64` is of `write`. `None` for calls that are in none.
pub fn group(call: &str) -> Option<&'static str> {
    let call = plain(call);
    GROUPS.iter().find(|(_, calls)| calls.contains(&call)).map(|(name, _)| *name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_have_one_name() {
        for (function, call) in [
            ("__x64_sys_munmap", Some("munmap")),
            ("__x64_sys_pread64", Some("pread")),
            ("__arm64_sys_newfstatat", Some("fstatat")),
            ("ksys_read", Some("read")),
            ("do_writev", Some("writev")),
            ("do_syscall_64", None),
            ("vfs_read", None),
        ] {
            assert_eq!(of(function), call, "{function}");
        }
    }

    #[test]
    fn a_call_is_of_one_group() {
        assert_eq!((group("pwrite64"), group("epoll_wait"), group("futex")), (Some("write"), Some("poll"), None));
        let all: Vec<&str> = GROUPS.iter().flat_map(|(_, calls)| *calls).copied().collect();
        assert!(all.iter().all(|call| all.iter().filter(|other| *other == call).count() == 1));
    }
}
