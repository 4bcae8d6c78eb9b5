//! `/proc/PID/stat` and its like (proc_pid_stat(5)): one line whose second field, the name, is in parentheses and may hold anything, also
//! parentheses, spaces and line ends. The fields after it are counted from the last parenthesis.

use crate::parse;
use model::NULL;

/// Nanoseconds of a clock tick (`USER_HZ`).
pub const TICK: i64 = 10_000_000;
/// Flag of kernel threads, `PF_KTHREAD` of include/linux/sched.h.
pub const PF_KTHREAD: i64 = 0x0020_0000;

/// The fields that are used, in the kernel's units; [`NULL`] where the line is too short.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stat<'a> {
    /// Name.
    pub comm: &'a [u8],
    /// State letter.
    pub state: u8,
    /// Field 4.
    pub parent: i64,
    /// Whether field 9 has [`PF_KTHREAD`].
    pub kernel_thread: bool,
    /// Fields 10 and 12: faults without and with I/O.
    pub faults: [i64; 2],
    /// Fields 11 and 13: those of children that were waited for.
    pub children_faults: [i64; 2],
    /// Fields 14 and 15: user and system time, ticks.
    pub times: [i64; 2],
    /// Fields 16 and 17: those of children that were waited for.
    pub children_times: [i64; 2],
    /// Field 18.
    pub priority: i64,
    /// Field 19.
    pub nice: i64,
    /// Field 20.
    pub threads: i64,
    /// Field 22: ticks since boot.
    pub start: i64,
    /// Field 23: bytes.
    pub size: i64,
    /// Field 24: pages.
    pub rss: i64,
    /// Field 39.
    pub cpu: i64,
    /// Field 48: address of the arguments, another one after each exec; 0 where it may not be seen.
    pub arguments: i64,
}

impl<'a> Stat<'a> {
    /// Reads the line; `None` where it is no such line, or ends before the start time.
    pub fn parse(line: &'a [u8]) -> Option<Self> {
        let open = memchr::memchr(b'(', line)?;
        let close = memchr::memrchr(b')', line)?;
        let comm = line.get(open + 1..close)?;
        let mut words = parse::words(line.get(close + 1..)?.trim_ascii());
        let state = *words.next()?.first()?;
        // Fields 4 to 48.
        let mut fields = [NULL; 45];
        parse::fill(&mut words, &mut fields);
        let field = |number: usize| fields.get(number - 4).copied().unwrap_or(NULL);
        if field(22) == NULL {
            return None;
        }
        Some(Stat {
            comm,
            state,
            parent: field(4),
            kernel_thread: field(9) != NULL && field(9) & PF_KTHREAD != 0,
            faults: [field(10), field(12)],
            children_faults: [field(11), field(13)],
            times: [field(14), field(15)],
            children_times: [field(16), field(17)],
            priority: field(18),
            nice: field(19),
            threads: field(20),
            start: field(22),
            size: field(23),
            rss: field(24),
            cpu: field(39),
            arguments: field(48),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const REST: &str = "S 1 5 5 0 -1 4194560 100 7 3 2 11 12 13 14 20 -5 4 0 999 8192000 250 18446744073709551615 1 1 0 0 0 0 0 0 0 0 0 0 17 3 0 0 0 0 0 1 2 3 4096 5 6 7 0";

    #[test]
    fn the_name_may_hold_anything() {
        for name in ["cat", "a) R 1 (b", "x\ny", "", ") ) )", "sd-pam)"] {
            let line = format!("42 ({name}) {REST}\n");
            let stat = Stat::parse(line.as_bytes()).unwrap();
            assert_eq!(stat.comm, name.as_bytes());
            assert_eq!((stat.state, stat.parent, stat.start, stat.rss), (b'S', 1, 999, 250));
            assert_eq!((stat.faults, stat.children_faults), ([100, 3], [7, 2]));
            assert_eq!((stat.times, stat.children_times), ([11, 12], [13, 14]));
            assert_eq!((stat.nice, stat.threads, stat.cpu, stat.arguments), (-5, 4, 3, 4096));
        }
        let line = [b"7 (\xff\xfe) ", REST.as_bytes()].concat();
        assert_eq!(Stat::parse(&line).unwrap().comm, b"\xff\xfe");
    }

    #[test]
    fn no_such_line() {
        for line in ["", "42", "42 (a", "42 a) S", "42 )(", "42 (a)", "42 (a) S 1 2 3"] {
            assert_eq!(Stat::parse(line.as_bytes()), None, "{line}");
        }
    }

    proptest! {
        #[test]
        fn nothing_panics(bytes: Vec<u8>, name: Vec<u8>) {
            let _ = Stat::parse(&bytes);
            let line = [b"1 (", name.as_slice(), b") ", REST.as_bytes()].concat();
            prop_assert_eq!(Stat::parse(&line).unwrap().comm, name.as_slice());
        }
    }
}
