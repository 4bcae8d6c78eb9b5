//! Control groups: CPU time and throttling, memory, I/O, processes and stalls of each group, from both versions of the interface, also where
//! a host has both.
//!
//! Inside a container the root is the container's own group, as far as its mounts show it. Groups that come and go are found at the next read
//! where the kernel's counts of groups say so, and every ten seconds in any case.

mod group;
mod tables;
mod tree;

use crate::{Pace, Reader, Scope, Source};
use group::{Devices, Group, Reading};
use host::Host;
use model::{Chart, ChartKind, Out, Page, Unavailable};
use tables::{CPU, IO, MEMORY, MEMORY_EVENTS, MEMORY_STAT, PIDS, PRESSURE};
use tree::{Hierarchies, MOST, Tree};

static CHARTS: &[Chart] = &[
    Chart::new(
        "cgroup-cpu",
        Page::Containers,
        ChartKind::Line,
        "CPU time of each control group",
        "CPUs in use, children included. A line that is flat at the group's quota is held back by it: see the throttled time.",
        "cgroup_cpu",
        &["usage"],
    )
    .by(&["path"], 20),
    Chart::new(
        "cgroup-throttled",
        Page::Containers,
        ChartKind::Line,
        "Time that control groups were throttled",
        "Time in each second that threads waited because their group's CPU quota was used up, summed over the CPUs. Anything above zero is latency that idle CPUs could have avoided.",
        "cgroup_cpu",
        &["throttled"],
    )
    .by(&["path"], 20),
    Chart::new(
        "cgroup-memory",
        Page::Containers,
        ChartKind::Line,
        "Memory of each control group",
        "Memory in use, page cache and children included. A line that is flat at its limit reclaims all the time.",
        "cgroup_memory",
        &["current"],
    )
    .by(&["path"], 20),
    Chart::new(
        "cgroup-pressure",
        Page::Containers,
        ChartKind::Line,
        "Stalls of each control group",
        "Share of the time in which at least one thread of the group waited for the resource. It tells whom a shortage hurts.",
        "cgroup_pressure",
        &["some_total"],
    )
    .by(&["path", "resource"], 20),
];

/// Control groups.
pub static SOURCE: Source = Source {
    name: "cgroups",
    title: "control groups and containers",
    documented: "Documentation/admin-guide/cgroup-v2.rst, Documentation/admin-guide/cgroup-v1",
    reads: &[
        "/proc/self/mountinfo",
        "/proc/cgroups",
        "/sys/fs/cgroup/*/cpu.stat",
        "/sys/fs/cgroup/*/memory.current",
        "/sys/fs/cgroup/*/memory.stat",
        "/sys/fs/cgroup/*/io.stat",
        "/sys/fs/cgroup/*/cpu.pressure",
        "/sys/dev/block/*",
    ],
    needs: "",
    pace: Pace::AtLeast(1),
    tables: &[&CPU, &MEMORY, &MEMORY_STAT, &MEMORY_EVENTS, &IO, &PIDS, &PRESSURE],
    charts: CHARTS,
    open: |host, _scope: &Scope| {
        let hierarchies = Hierarchies::find(host)?;
        if hierarchies.roots().is_empty() {
            return Err(Unavailable::not_applicable("/proc/self/mountinfo: no control groups are mounted"));
        }
        Ok(Box::new(Cgroups::new(hierarchies)))
    },
};

/// The most files held open; the others are opened at each read.
const MOST_HELD: usize = 256;

/// Reading takes at most this share of the time; with many groups it is done more rarely.
const ONE_IN: u64 = 2000;

const SECOND: u64 = 1_000_000_000;

struct Cgroups {
    hierarchies: Hierarchies,
    tree: Tree,
    groups: Vec<Group>,
    holdable: usize,
    buffer: Vec<u8>,
    devices: Devices,
    /// The kernel's counts of groups as of the last walk.
    counts: Vec<u8>,
    walk: Timer,
    uses: Timer,
    waits: Timer,
    rest: Timer,
    said: bool,
}

/// When something costly may be done again.
struct Timer {
    every: u64,
    next: u64,
}

impl Timer {
    const fn every(every: u64) -> Self {
        Timer { every, next: 0 }
    }

    fn is_due(&self, now: u64) -> bool {
        now >= self.next
    }

    /// It was done, and it took from `start` to `end`. A tenth of a second is allowed for ticks that come early.
    fn done(&mut self, start: u64, end: u64) {
        let pause = end.saturating_sub(start).saturating_mul(ONE_IN).max(self.every);
        self.next = start + pause.saturating_sub(SECOND / 10);
    }
}

impl Cgroups {
    fn new(hierarchies: Hierarchies) -> Self {
        Cgroups {
            hierarchies,
            tree: Tree::default(),
            groups: Vec::new(),
            holdable: MOST_HELD,
            buffer: Vec::new(),
            devices: Devices::default(),
            counts: Vec::new(),
            walk: Timer::every(10 * SECOND),
            uses: Timer::every(SECOND),
            waits: Timer::every(SECOND),
            rest: Timer::every(10 * SECOND),
            said: false,
        }
    }

    /// Finds the groups there are now.
    fn find_groups(&mut self, host: &Host, out: &mut Out<'_>) {
        let left_out = self.tree.walk(host, &self.hierarchies);
        if left_out > 0 && !std::mem::replace(&mut self.said, true) {
            out.missing(
                "groups",
                Unavailable::not_applicable(format!(
                    "there are more than {MOST} control groups; {left_out} are left out, those deepest in the tree"
                )),
            );
        }
        let mut before = std::mem::take(&mut self.groups);
        for path in &self.tree.paths {
            let group = match before.iter().position(|group| group.path == *path) {
                Some(at) => before.swap_remove(at),
                None => Group::new(path, &self.hierarchies, out),
            };
            self.groups.push(group);
        }
        self.holdable += before.iter().map(Group::held).sum::<usize>();
    }

    /// Whether the kernel's counts of groups have changed. `/proc/cgroups` counts those of version 1, and of version 2 on kernels before 6.14.
    fn counts_changed(&mut self, host: &Host) -> bool {
        let mut now = Vec::new();
        for path in std::iter::once("/proc/cgroups".to_owned())
            .chain(self.hierarchies.v2.iter().map(|root| format!("{root}/cgroup.stat")))
        {
            if host.read_into(&path, &mut self.buffer).is_ok() {
                now.extend_from_slice(&self.buffer);
            }
        }
        std::mem::replace(&mut self.counts, now) != self.counts
    }
}

impl Reader for Cgroups {
    fn read(&mut self, host: &Host, out: &mut Out<'_>) -> Result<(), Unavailable> {
        let start = host.now();
        if !self.uses.is_due(start) {
            // No rows say that nothing was read at this time.
            return Ok(());
        }
        if self.counts_changed(host) || self.walk.is_due(start) {
            self.find_groups(host, out);
            self.walk.done(start, host.now());
        }
        let Cgroups { groups, holdable, buffer, devices, uses, waits, rest, .. } = self;
        let mut with = Reading { host, holdable, buffer };
        if rest.is_due(start) {
            let start = host.now();
            for group in groups.iter_mut() {
                group.read_rest(&mut with, out);
            }
            rest.done(start, host.now());
        } else {
            for group in groups.iter_mut() {
                group.read_first_limits(&mut with);
            }
        }
        let before = host.now();
        let mut found = false;
        for group in groups.iter_mut() {
            found |= group.read_use(&mut with, out);
        }
        uses.done(before, host.now());
        if waits.is_due(start) {
            let start = host.now();
            for group in groups.iter_mut() {
                group.read_waits(&mut with, out, devices);
            }
            waits.done(start, host.now());
        }
        match found {
            true => Ok(()),
            false => Err(Unavailable::absent(format!(
                "{}: neither CPU time nor memory of any control group",
                self.hierarchies.roots().join(", ")
            ))
            .remedy("enable the cpu and memory controllers")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{fixture, host_of, play, survives};

    #[test]
    fn a_hybrid_host_in_two_frames() {
        let played = play(&SOURCE, &fixture("vm-2cpu"), 2).unwrap();
        assert!(played[0].error.is_none());
        // The quota is of the outer group, whose threads are in the inner one.
        let row = played[1].row("cgroup_cpu", "/twinscope-demo ");
        assert!(
            row.starts_with("/twinscope-demo 1799962 ") && row.ends_with(" - 92 81 1271492 0 0 20000 100000 -"),
            "{row}"
        );
        let memory = played[0].row("cgroup_memory", "/twinscope-demo ");
        assert!(memory.contains(" - 99999744 - "), "{memory}");
        assert!(played[0].row("cgroup_pids", "/twinscope-demo ").ends_with(" 1 50 0"));
        let stalls = |frame: usize| played[frame].row("cgroup_pressure", "/twinscope-demo/inner cpu ").to_owned();
        assert_ne!(stalls(0), stalls(1));
        played[0].row("cgroup_memory_stat", "/twinscope-demo/inner anon ");
        played[0].row("cgroup_memory_events", "/twinscope-demo/inner pgfault ");
        assert!(played[1].rows("cgroup_memory_stat").is_empty(), "every ten seconds");
    }

    #[test]
    fn version_2() {
        let played = play(&SOURCE, &fixture("samples-cgroup2"), 1).unwrap();
        assert_eq!(
            played[0].rows("cgroup_cpu"),
            [
                "/ 81234567890 60123456789 21111111101 - - - - - - - - -",
                "/kubepods.slice 40223344551 30112233440 10111111111 0 4012 391 18273645 0 0 - 100000 79"
            ]
        );
        assert_eq!(played[0].rows("cgroup_memory"), ["/kubepods.slice 5368709120 0 8589934592 - 0 6442450944"]);
        assert_eq!(
            played[0].rows("cgroup_io"),
            ["/kubepods.slice 259:0 1459200 314773504 192 353 0 0", "/kubepods.slice 259:1 4096 - 1 - - -"]
        );
        assert_eq!(played[0].row("cgroup_memory_events", "/kubepods.slice oom_kill"), "/kubepods.slice oom_kill 1");
        assert_eq!(played[0].row("cgroup_memory_stat", "/kubepods.slice anon "), "/kubepods.slice anon 4294967296");
        assert_eq!(played[0].row("cgroup_pressure", "/kubepods.slice io "), "/kubepods.slice io 991122 881122");
        assert_eq!(played[0].rows("cgroup_pids"), ["/kubepods.slice 412 - 3"]);
    }

    #[test]
    fn groups_come_and_go() {
        let mounts = "30 25 0:26 / /c rw - cgroup2 cgroup2 rw\n";
        let stat = "usage_usec 1\nuser_usec 1\nsystem_usec 0\n";
        let (dir, host) = host_of(&[
            ("/proc/self/mountinfo", mounts),
            ("/c/cgroup.stat", "nr_descendants 1\n"),
            ("/c/cpu.stat", stat),
            ("/c/a/cpu.stat", stat),
        ]);
        let mut reader = (SOURCE.open)(&host, &Scope::default()).unwrap();
        let mut time = 0;
        let mut read = || {
            time += 1;
            host.set_frame(0, time * SECOND);
            let mut rows = vec![model::Rows::default(); SOURCE.tables.len()];
            let (mut symbols, mut coverage, mut facts) = (Default::default(), Vec::new(), Vec::new());
            let mut out = Out::new("cgroups", SOURCE.tables, &mut rows, &mut symbols, &mut coverage, &mut facts);
            let result = reader.read(&host, &mut out);
            (rows[0].len(), result.is_ok())
        };
        assert_eq!(read(), (2, true));
        std::fs::create_dir(dir.path().join("c/b")).unwrap();
        std::fs::write(dir.path().join("c/b/cpu.stat"), stat).unwrap();
        assert_eq!(read(), (2, true), "the kernel's count did not say so");
        std::fs::write(dir.path().join("c/cgroup.stat"), "nr_descendants 2\n").unwrap();
        assert_eq!(read(), (3, true));
        std::fs::remove_dir_all(dir.path().join("c/a")).unwrap();
        assert_eq!(read(), (2, true));
        std::fs::remove_dir_all(dir.path().join("c")).unwrap();
        assert_eq!(read(), (0, false));
    }

    #[test]
    fn nothing_mounted_and_hostile() {
        let (_dir, host) = host_of(&[("/proc/self/mountinfo", "22 27 0:21 / /proc rw - proc proc rw\n")]);
        assert_eq!(play(&SOURCE, &host, 1).err().unwrap().status, model::Status::NotApplicable);
        for content in ["", "x", "usage_usec\n", "8:0 Read\n8:0 rbytes=\n", "some total=x\n", "\0\u{ffff} - cgroup2"] {
            survives(&SOURCE, content);
            let mounts = (
                "/proc/self/mountinfo",
                "1 1 1:1 / /c rw - cgroup2 c rw\n1 1 1:2 / /d rw - cgroup c rw,blkio,memory,pids\n",
            );
            let names = [
                "/c/cpu.stat",
                "/c/cpu.max",
                "/c/io.pressure",
                "/d/memory.stat",
                "/d/memory.usage_in_bytes",
                "/d/pids.current",
                "/d/blkio.throttle.io_service_bytes_recursive",
                "/d/memory.oom_control",
            ];
            let files: Vec<_> = std::iter::once(mounts).chain(names.map(|name| (name, content))).collect();
            let (_dir, host) = host_of(&files);
            play(&SOURCE, &host, 2).unwrap();
        }
    }
}
