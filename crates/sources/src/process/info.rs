//! What a process is: command line, program, user, control group. Read from `/proc` when a process is first seen, and again when
//! something says that it changed.

use super::tables::PROCESS_INFO;
use super::track::Sample;
use crate::{mask, parse};
use host::Host;
use model::{NULL, Out};
use std::collections::HashMap;

/// The longest command line that is kept, bytes.
const LONGEST: usize = 4096;

/// What tells that a process changed: any of these differs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mark {
    /// Another value after each exec.
    pub exec: i64,
    /// User, or [`NULL`] where the reader does not know.
    pub uid: i64,
    /// Control group, or [`NULL`] where the reader does not know.
    pub cgroup: i64,
}

#[derive(Debug)]
struct Info {
    start: i64,
    mark: Mark,
    name: Vec<u8>,
    /// The row: pid, start, name, parent, command, executable, uid, cgroup, CPUs allowed.
    cells: [i64; 9],
    seen: u64,
}

/// The properties of all processes.
#[derive(Debug, Default)]
pub struct Infos {
    unmasked: bool,
    known: HashMap<i64, Info>,
    buffer: Vec<u8>,
    read: u64,
}

impl Infos {
    /// Properties of no process yet; `unmasked` keeps what looks like a secret in command lines.
    pub fn new(unmasked: bool) -> Self {
        Infos { unmasked, ..Infos::default() }
    }

    /// Begins a read.
    pub fn begin(&mut self) {
        self.read += 1;
    }

    /// Puts out the row of a process. `name` is its whole name; `again` asks to read again what
    /// may change without a sign: the control group and the CPUs that it may run on.
    pub fn put(&mut self, host: &Host, sample: &Sample, name: &[u8], mark: Mark, again: bool, out: &mut Out<'_>) {
        let known = self.known.get(&sample.pid).filter(|i| i.start == sample.start && i.mark == mark);
        let fresh = known.is_none_or(|i| !sample.kernel_thread && i.name != name);
        let pid = sample.pid;
        let changing = if fresh {
            let user = !sample.kernel_thread;
            let [uid, cpus] = if user || mark.uid == NULL { self.status(host, pid) } else { [NULL; 2] };
            let cells = [
                pid,
                sample.start,
                out.passing_bytes(name),
                sample.parent,
                if user { self.command(host, pid, out) } else { NULL },
                if user { executable(host, pid, out) } else { NULL },
                if mark.uid == NULL { uid } else { mark.uid },
                self.cgroup(host, pid, out),
                cpus,
            ];
            let info = Info { start: sample.start, mark, name: name.to_vec(), cells, seen: 0 };
            self.known.insert(pid, info);
            [cells[7], cells[8]]
        } else if again && !sample.kernel_thread {
            let [_, cpus] = self.status(host, pid);
            [self.cgroup(host, pid, out), cpus]
        } else {
            [NULL; 2]
        };
        let Some(info) = self.known.get_mut(&pid) else { return };
        info.seen = self.read;
        info.cells[3] = sample.parent;
        for (cell, value) in info.cells.iter_mut().skip(7).zip(changing).filter(|(_, value)| *value != NULL) {
            *cell = value;
        }
        out.row(PROCESS_INFO, &info.cells);
    }

    /// Lets go of processes that this read did not find.
    pub fn sweep(&mut self) {
        let read = self.read;
        self.known.retain(|_, info| info.seen == read);
    }

    fn command(&mut self, host: &Host, pid: i64, out: &mut Out<'_>) -> i64 {
        // A process may end at any time, and a zombie has no command line: both are no error.
        if host.read_into(&format!("/proc/{pid}/cmdline"), &mut self.buffer).is_err() || self.buffer.is_empty() {
            return NULL;
        }
        let mut line = mask::command_line(&self.buffer, self.unmasked);
        if line.len() > LONGEST {
            let end = (0..=LONGEST).rev().find(|&at| line.is_char_boundary(at)).unwrap_or(0);
            line.truncate(end);
            line.push('…');
        }
        out.passing(&line)
    }

    /// The user, and how many CPUs the first thread may run on.
    fn status(&mut self, host: &Host, pid: i64) -> [i64; 2] {
        if host.read_into(&format!("/proc/{pid}/status"), &mut self.buffer).is_err() {
            return [NULL; 2];
        }
        let line = |name: &[u8]| parse::lines(&self.buffer).find_map(|line| line.strip_prefix(name));
        let uid = line(b"Uid:").map_or(NULL, |rest| parse::words(rest).number());
        [uid, line(b"Cpus_allowed:").and_then(bits).unwrap_or(NULL)]
    }

    fn cgroup(&mut self, host: &Host, pid: i64, out: &mut Out<'_>) -> i64 {
        if host.read_into(&format!("/proc/{pid}/cgroup"), &mut self.buffer).is_err() {
            return NULL;
        }
        cgroup_path(&self.buffer).map_or(NULL, |path| out.passing_bytes(path))
    }
}

/// Bits that are set in a mask of hexadecimal digits, in groups with commas between them: proc_pid_status(5).
fn bits(mask: &[u8]) -> Option<i64> {
    let digits = mask.trim_ascii().iter().filter(|&&c| c != b',');
    let set: Option<u32> = digits.map(|&c| char::from(c).to_digit(16).map(u32::count_ones)).sum();
    set.filter(|n| *n > 0).map(i64::from)
}

fn executable(host: &Host, pid: i64, out: &mut Out<'_>) -> i64 {
    use std::os::unix::ffi::OsStrExt;
    match host.link(&format!("/proc/{pid}/exe")) {
        Ok(path) => out.passing_bytes(path.as_os_str().as_bytes()),
        Err(_) => NULL,
    }
}

/// The path of the group in `/proc/PID/cgroup`, whose lines are `hierarchy:controllers:path` (cgroups(7)): of the hierarchy that has the
/// cpu controller, else of version 2, which names no controllers.
fn cgroup_path(content: &[u8]) -> Option<&[u8]> {
    let mut unified = None;
    for line in parse::lines(content) {
        let mut parts = line.splitn(3, |&b| b == b':');
        let (Some(_), Some(controllers), Some(path)) = (parts.next(), parts.next(), parts.next()) else { continue };
        if controllers.split(|&b| b == b',').any(|c| c == b"cpu") {
            return Some(path);
        }
        if controllers.is_empty() {
            unified = Some(path);
        }
    }
    unified
}

#[cfg(test)]
mod tests {
    use super::{bits, cgroup_path};

    #[test]
    fn cpus_are_counted() {
        assert_eq!([bits(b"\t3"), bits(b"\tff,00000001\n"), bits(b"\t00"), bits(b"x")], [Some(2), Some(9), None, None]);
    }

    #[test]
    fn the_group_of_the_cpu_controller_wins() {
        assert_eq!(cgroup_path(b"0::/user.slice/a:b\n"), Some(&b"/user.slice/a:b"[..]));
        assert_eq!(cgroup_path(b"4:memory:/m\n2:cpu,cpuacct:/c\n0::/u\n"), Some(&b"/c"[..]));
        assert_eq!(cgroup_path(b"4:memory:/m\n0::/u\n"), Some(&b"/u"[..]));
        assert_eq!(cgroup_path(b"nonsense\n"), None);
    }
}
