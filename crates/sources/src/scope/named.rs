//! Processes by the name of their program.

use crate::process::stat::Stat;
use host::Host;
use std::collections::HashMap;
use std::path::Path;

/// A process that has the name that was asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Named {
    /// Its number.
    pub pid: u32,
    /// Its command line, arguments separated by blanks; its name in brackets where it has none.
    pub command: String,
}

/// The kernel keeps so many bytes of a thread's name (`TASK_COMM_LEN` less the NUL; include/linux/sched.h).
const MOST_NAME: usize = 15;

/// The processes whose name, program or first argument is `name`, by number. Of a process and those that it started only the first is there: it stands for its
/// descendants. The kernel's threads, zombies and this process are not.
pub fn named(host: &Host, name: &str) -> Vec<Named> {
    let mut numbers = Vec::new();
    // Where /proc cannot be listed there is no process.
    let _ = host.numbers_in("/proc", &mut numbers);
    let own = i64::from(std::process::id());
    let mut parents = HashMap::new();
    let mut found = Vec::new();
    for pid in numbers.into_iter().filter(|pid| host.is_fixture() || *pid != own) {
        // One that has just ended is none.
        let Ok(stat) = host.read(&format!("/proc/{pid}/stat")) else { continue };
        let Some(stat) = Stat::parse(&stat) else { continue };
        parents.insert(pid, stat.parent);
        if stat.kernel_thread || has_ended(&stat) {
            continue;
        }
        let arguments = host.read(&format!("/proc/{pid}/cmdline")).unwrap_or_default();
        let words: Vec<String> = arguments
            .split(|byte| *byte == 0)
            .map(|word| String::from_utf8_lossy(word).into_owned())
            .filter(|word| !word.is_empty())
            .collect();
        let is_it = |path: &Path| path.file_name().is_some_and(|file| file == name);
        let is_named = stat.comm == name.as_bytes().get(..MOST_NAME).unwrap_or(name.as_bytes());
        if is_named
            || words.first().is_some_and(|word| is_it(Path::new(word)))
            || host.link(&format!("/proc/{pid}/exe")).is_ok_and(|program| is_it(&program))
        {
            let command =
                if words.is_empty() { format!("[{}]", String::from_utf8_lossy(stat.comm)) } else { words.join(" ") };
            found.push((pid, command));
        }
    }
    let has_found_ancestor = |pid: i64| {
        let mut at = pid;
        // A chain of parents is no longer than there are processes.
        for _ in 0..parents.len() {
            let Some(parent) = parents.get(&at).copied() else { return false };
            if found.iter().any(|(other, _)| *other == parent) {
                return true;
            }
            at = parent;
        }
        false
    };
    let mut first: Vec<Named> = found
        .iter()
        .filter(|(pid, _)| !has_found_ancestor(*pid))
        .filter_map(|(pid, command)| Some(Named { pid: u32::try_from(*pid).ok()?, command: command.clone() }))
        .collect();
    first.sort_by_key(|process| process.pid);
    first
}

/// When a process or thread began, ticks since boot, which tells it from a later one of its number; `None` where it is not there, or has ended and its
/// parent has not yet waited for it.
pub fn began(host: &Host, pid: u32) -> Option<i64> {
    let stat = host.read(&format!("/proc/{pid}/stat")).ok()?;
    Stat::parse(&stat).filter(|stat| !has_ended(stat)).map(|stat| stat.start)
}

/// Whether it is a zombie, or being removed (proc_pid_stat(5)).
fn has_ended(stat: &Stat<'_>) -> bool {
    matches!(stat.state, b'Z' | b'X')
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A `/proc` with processes: number, parent, state, name, command line.
    fn host(processes: &[(u32, u32, char, &str, &str)]) -> (tempfile::TempDir, Host) {
        let folder = tempfile::tempdir().unwrap();
        for (pid, parent, state, comm, command) in processes {
            let own = folder.path().join(format!("proc/{pid}"));
            std::fs::create_dir_all(&own).unwrap();
            let rest = "0 ".repeat(48);
            std::fs::write(own.join("stat"), format!("{pid} ({comm}) {state} {parent} {rest}\n")).unwrap();
            std::fs::write(own.join("cmdline"), command.replace(' ', "\0") + "\0").unwrap();
        }
        let host = Host::fixture(folder.path());
        (folder, host)
    }

    #[test]
    fn a_program_is_found_by_its_name_and_stands_for_what_it_started() {
        let (_folder, host) = host(&[
            (1, 0, 'S', "init", "/sbin/init"),
            (10, 1, 'S', "nginx", "nginx: master process /usr/sbin/nginx"),
            (11, 10, 'S', "nginx", "nginx: worker process"),
            (12, 11, 'S', "nginx", "nginx: helper"),
            (20, 1, 'S', "redis) R 1 (x", "/usr/bin/redis-server *:6379"),
            (30, 1, 'Z', "gone", ""),
            (40, 1, 'S', "a-very-long-nam", "/opt/a-very-long-name-of-a-program -x"),
            (50, 1, 'S', "worker", "/opt/one/worker --port 1"),
            (51, 1, 'S', "worker", "/opt/two/worker --port 2"),
        ]);
        let pids = |name: &str| named(&host, name).into_iter().map(|process| process.pid).collect::<Vec<_>>();
        assert_eq!(pids("nginx"), [10], "the workers are its descendants");
        assert_eq!(pids("redis-server"), [20], "by its first argument");
        assert_eq!(pids("a-very-long-name-of-a-program"), [40]);
        assert_eq!(pids("worker"), [50, 51]);
        assert_eq!(named(&host, "worker")[1].command, "/opt/two/worker --port 2");
        assert_eq!((began(&host, 10), began(&host, 30), began(&host, 31)), (Some(0), None, None));
        assert!(pids("gone").is_empty() && pids("ngin").is_empty() && pids("").is_empty());
    }
}
