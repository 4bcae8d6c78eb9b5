//! A coarse ledger where eBPF cannot be had: what `/proc` says of the threads that this user may look at.
//!
//! CPU time and waiting for a CPU are exact (`/proc/PID/task/TID/stat` in ticks, `schedstat` in nanoseconds). What is left of the time
//! between two reads goes to the state in which the thread is found at the later one, so it is right on average only over many reads. Locks
//! cannot be told from waits for work: all waits for futexes are `other`.

use super::tables::{STATES, THREAD_TIME, column};
use crate::process::stat::{Stat, TICK};
use crate::scope::Target;
use crate::{Scope, parse};
use host::Host;
use model::{NULL, Out, Unavailable};
use std::collections::{HashMap, HashSet};

/// The most threads that are looked at.
const MOST: usize = 4096;

/// Where the kernel function that a thread waits in says what for, by its beginning (`/proc/PID/wchan`), and the column.
static FUNCTIONS: &[(&str, usize)] = &[
    ("hrtimer_nanosleep", 10),
    ("do_nanosleep", 10),
    ("common_nsleep", 10),
    ("poll_schedule_timeout", column::IDLE),
    ("do_poll", column::IDLE),
    ("do_select", column::IDLE),
    ("ep_poll", column::IDLE),
    ("do_epoll_wait", column::IDLE),
    ("do_wait", column::IDLE),
    ("sigsuspend", column::IDLE),
    ("do_sigtimedwait", column::IDLE),
    ("inet_csk_accept", column::IDLE),
    ("unix_accept", column::IDLE),
    ("pipe_", 8),
    ("anon_pipe_", 8),
    ("sk_wait_data", 7),
    ("unix_stream_", 7),
    ("sk_stream_wait_memory", 7),
    ("__skb_wait_for_more_packets", 7),
    ("io_schedule", 6),
    ("folio_wait_bit", 6),
    ("jbd2_", 6),
    ("blkdev_", 6),
    ("rwsem_", column::LOCK),
    ("__mutex_lock", column::LOCK),
];

/// One thread at the last read.
#[derive(Debug)]
struct Known {
    start: i64,
    /// Time of the last read.
    at: u64,
    /// Tick time of user and kernel, time waited for a CPU.
    used: [i64; 3],
    states: [i64; STATES],
    comm: i64,
    name: i64,
    seen: u64,
}

/// Reads `/proc`.
#[derive(Debug)]
pub(super) struct Coarse {
    target: Target,
    known: HashMap<i64, Known>,
    read: u64,
    buffer: Vec<u8>,
    told: bool,
}

impl Coarse {
    /// Finds out whether there is a `/proc` at all.
    pub fn open(host: &Host, scope: &Scope) -> Result<Self, Unavailable> {
        host.list("/proc")?;
        Ok(Coarse { target: scope.target.clone(), known: HashMap::new(), read: 0, buffer: Vec::new(), told: false })
    }

    /// The processes in scope: their ids and names.
    fn processes(&mut self, host: &Host) -> Result<Vec<(i64, Vec<u8>)>, Unavailable> {
        let mut all = HashMap::new();
        let holder = host::holder::process().map(i64::from);
        for pid in host.list("/proc")?.iter().filter_map(|name| name.parse::<i64>().ok()) {
            if Some(pid) != holder
                && host.read_into(&format!("/proc/{pid}/stat"), &mut self.buffer).is_ok()
                && let Some(stat) = Stat::parse(&self.buffer)
            {
                all.insert(pid, (stat.parent, stat.kernel_thread, stat.comm.to_vec()));
            }
        }
        let own = i64::from(std::process::id());
        let roots: Vec<i64> = match &self.target {
            Target::Everything | Target::Nobody => Vec::new(),
            Target::Children => vec![own],
            Target::Trees(pids) => pids.iter().copied().map(i64::from).collect(),
            Target::Cgroup(path) => {
                let place = crate::scope::Place::find(host, path).map_err(Unavailable::failed)?;
                let inside: HashSet<i64> = place.processes().into_iter().map(i64::from).collect();
                return Ok(all.into_iter().filter(|(pid, _)| inside.contains(pid)).map(|(p, a)| (p, a.2)).collect());
            }
        };
        let everything = roots.is_empty();
        let is_in = |pid: i64| {
            if everything {
                return true;
            }
            let mut at = pid;
            for _ in 0..64 {
                if roots.contains(&at) {
                    return true;
                }
                match all.get(&at) {
                    Some((parent, ..)) => at = *parent,
                    None => return false,
                }
            }
            false
        };
        Ok(all
            .iter()
            .filter(|(pid, (_, kernel, _))| is_in(**pid) && (everything || **pid != own && !kernel))
            .map(|(pid, (.., name))| (*pid, name.clone()))
            .collect())
    }

    /// Reads once.
    pub fn read(&mut self, host: &Host, out: &mut Out<'_>) -> Result<(), Unavailable> {
        self.read += 1;
        let mut processes = self.processes(host)?;
        processes.sort_unstable();
        let mut threads = 0;
        for (pid, name) in &processes {
            let comm = out.bytes(name);
            let mut tids: Vec<i64> = host
                .list(&format!("/proc/{pid}/task"))
                .unwrap_or_default()
                .iter()
                .filter_map(|t| t.parse().ok())
                .collect();
            tids.sort_unstable();
            for tid in tids {
                threads += 1;
                if threads <= MOST {
                    self.thread(host, *pid, tid, comm, out);
                }
            }
        }
        let read = self.read;
        self.known.retain(|_, known| known.seen == read);
        if threads > MOST && !self.told {
            self.told = true;
            let why = format!("there are {threads} threads, of which {MOST} are looked at");
            out.missing("thread_time", Unavailable::failed(why).remedy("a narrower scope, such as --pid"));
        }
        Ok(())
    }

    fn thread(&mut self, host: &Host, pid: i64, tid: i64, comm: i64, out: &mut Out<'_>) {
        let folder = format!("/proc/{pid}/task/{tid}");
        if host.read_into(&format!("{folder}/stat"), &mut self.buffer).is_err() {
            return;
        }
        let Some(stat) = Stat::parse(&self.buffer) else { return };
        let (start, state, times, name) = (stat.start, stat.state, stat.times, out.bytes(stat.comm));
        if matches!(state, b'Z' | b'X') {
            return;
        }
        let waited = match host.read_into(&format!("{folder}/schedstat"), &mut self.buffer) {
            Ok(()) => parse::words(&self.buffer).nth(1).map_or(NULL, parse::number),
            Err(_) => NULL,
        };
        let now = host.now();
        let used = [times[0].saturating_mul(TICK), times[1].saturating_mul(TICK), waited];
        let read = self.read;
        let known = self.known.entry(tid).or_insert_with(|| Known {
            start,
            at: now,
            used,
            states: [0; STATES],
            comm,
            name,
            seen: read,
        });
        if known.start != start {
            *known = Known { start, at: now, used, states: [0; STATES], comm, name, seen: read };
        }
        if (known.comm, known.name) != (comm, name) {
            (known.comm, known.name, known.states) = (comm, name, [0; STATES]);
        }
        known.seen = read;
        let elapsed = i64::try_from(now.saturating_sub(known.at)).unwrap_or(0);
        let mut left = elapsed;
        for (at, place) in [(0, column::USER), (1, column::KERNEL), (2, column::RUNNABLE)] {
            let (before, after) = (known.used.get(at).copied(), used.get(at).copied());
            if let (Some(before), Some(after), Some(sum)) = (before, after, known.states.get_mut(place))
                && before != NULL
                && after != NULL
            {
                // Ticks are counted at once, and may be of the time before.
                let part = after.saturating_sub(before).clamp(0, left);
                *sum = sum.saturating_add(part);
                left -= part;
            }
        }
        let blocked = match state {
            b'R' => column::USER,
            _ => {
                let function = host.read_text(&format!("{folder}/wchan")).unwrap_or_default();
                let found = FUNCTIONS.iter().find(|(start, _)| function.starts_with(start)).map(|(_, column)| *column);
                found.unwrap_or(if state == b'I' { column::IDLE } else { column::OTHER })
            }
        };
        if let Some(sum) = known.states.get_mut(blocked) {
            *sum = sum.saturating_add(left);
        }
        (known.at, known.used) = (now, used);
        let mut row = [NULL; 5 + STATES + 4];
        for (cell, value) in row.iter_mut().zip([pid, tid, start, comm, name].into_iter().chain(known.states)) {
            *cell = value;
        }
        // Neither is told of in /proc.
        for unknown in [column::STOLEN, column::THROTTLED] {
            if let Some(cell) = row.get_mut(5 + unknown) {
                *cell = NULL;
            }
        }
        if used.get(2) == Some(&NULL)
            && let Some(cell) = row.get_mut(5 + column::RUNNABLE)
        {
            *cell = NULL;
        }
        out.row(THREAD_TIME, &row);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::host_of;
    use model::{Rows, Symbols};

    #[test]
    fn what_is_left_goes_to_the_state_that_is_found() {
        let rest = "S 1 5 5 0 -1 4194304 100 7 3 2 11 12 13 14 20 0 1 0 999 8192000 250 0";
        let stat = format!("42 (work er) {rest}\n");
        let (_dir, host) = host_of(&[
            ("/proc/42/stat", &stat),
            ("/proc/42/task/42/stat", &stat),
            ("/proc/42/task/42/schedstat", "230000000 5000000 9\n"),
            ("/proc/42/task/42/wchan", "ep_poll"),
        ]);
        let mut reader = Coarse::open(&host, &Scope::default()).unwrap();
        let (mut symbols, mut coverage, mut facts) = (Symbols::default(), Vec::new(), Vec::new());
        let mut rows = Vec::new();
        for at in [0, 1_000_000_000] {
            host.set_frame(0, at);
            rows = vec![Rows::default(); super::super::tables::TABLES.len()];
            let tables = super::super::tables::TABLES;
            let mut out = Out::new("threads", tables, &mut rows, &mut symbols, &mut coverage, &mut facts);
            reader.read(&host, &mut out).unwrap();
        }
        let row: Vec<i64> = rows[THREAD_TIME].iter().next().unwrap().to_vec();
        assert_eq!(&row[..3], [42, 42, 999]);
        assert_eq!(row[5 + column::IDLE], 1_000_000_000);
        assert_eq!(row[5 + column::STOLEN], NULL);
    }
}
