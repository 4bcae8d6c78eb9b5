//! A large host as files: what `/proc` and `/sys` of a machine with many CPUs, interrupt lines and processes hold, moving on by one second
//! at each step. A quarter of the CPUs is busy, half has little to do, a quarter sleeps. Files whose size does not depend on the
//! number of CPUs are those of the machine that this runs on, with numbers that move.
//!
//! Files are written in place, so that a recorder may hold them open as it does with those of a kernel. What is missing is the time that a
//! kernel takes to make the text.

use crate::random::Random;
use clap::Args;
use std::collections::HashMap;
use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::Result;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

/// How large the host is.
#[derive(Args, Clone, Copy)]
pub struct Size {
    pub cpus: usize,
    pub lines: usize,
    pub processes: usize,
}

/// Idle states of each CPU.
const STATES: [&str; 4] = ["POLL", "C1", "C1E", "C6"];
/// Control groups.
const GROUPS: usize = 40;
/// The first process; the kernel's own come before.
const FIRST_PID: usize = 1000;
/// Every so many processes, one has this many threads.
const THREADS: (usize, usize) = (10, 16);
/// A fifth of the processes is at work nearly always; this is how likely each of the others does something in a second.
const SELDOM: f64 = 0.02;
/// Interrupts that every CPU has, with how often a busy CPU sees them in a second.
const ARCHITECTURE: [(&str, f64, &str); 16] = [
    ("NMI", 0.0, "Non-maskable interrupts"),
    ("LOC", 260.0, "Local timer interrupts"),
    ("SPU", 0.0, "Spurious interrupts"),
    ("PMI", 0.0, "Performance monitoring interrupts"),
    ("IWI", 0.2, "IRQ work interrupts"),
    ("RTR", 0.0, "APIC ICR read retries"),
    ("RES", 40.0, "Rescheduling interrupts"),
    ("CAL", 90.0, "Function call interrupts"),
    ("TLB", 20.0, "TLB shootdowns"),
    ("TRM", 0.0, "Thermal event interrupts"),
    ("THR", 0.0, "Threshold APIC interrupts"),
    ("DFR", 0.0, "Deferred Error APIC interrupts"),
    ("MCE", 0.0, "Machine check exceptions"),
    ("MCP", 0.003, "Machine check polls"),
    ("PIN", 0.0, "Posted-interrupt notification event"),
    ("PIW", 0.0, "Posted-interrupt wakeup event"),
];
/// Soft interrupts, with how often a busy CPU sees them in a second.
const SOFTIRQS: [(&str, f64); 10] = [
    ("HI", 0.0),
    ("TIMER", 120.0),
    ("NET_TX", 1.0),
    ("NET_RX", 300.0),
    ("BLOCK", 30.0),
    ("IRQ_POLL", 0.0),
    ("TASKLET", 2.0),
    ("SCHED", 150.0),
    ("HRTIMER", 0.0),
    ("RCU", 100.0),
];
/// Files taken from this machine: how many numbers of a line move, and whether they count up.
const BORROWED: [(&str, usize, bool); 14] = [
    ("/proc/meminfo", 1, false),
    ("/proc/vmstat", 1, true),
    ("/proc/zoneinfo", 0, true),
    ("/proc/buddyinfo", 20, false),
    ("/proc/pagetypeinfo", 0, false),
    ("/proc/slabinfo", 2, false),
    ("/proc/filesystems", 0, true),
    ("/proc/net/dev", 20, true),
    ("/proc/net/snmp", 30, true),
    ("/proc/net/snmp6", 1, true),
    ("/proc/net/netstat", 200, true),
    ("/proc/net/sockstat", 0, true),
    ("/proc/sys/kernel/random/boot_id", 0, true),
    ("/proc/sys/kernel/osrelease", 0, true),
];

struct Cpu {
    /// How busy it is, 0 to 1.
    load: f64,
    stat: [u64; 10],
    softirq: [u64; SOFTIRQS.len()],
    schedstat: [u64; 9],
    packets: u64,
    states: [[u64; 4]; STATES.len()],
}

struct Process {
    active: bool,
    threads: usize,
    utime: u64,
    stime: u64,
    faults: u64,
    switches: [u64; 2],
    pages: u64,
    io: [u64; 6],
}

/// The host.
pub struct Simulated {
    dir: PathBuf,
    size: Size,
    random: Random,
    held: HashMap<String, File>,
    text: String,
    cpus: Vec<Cpu>,
    /// Of each line, the counts of all CPUs.
    interrupts: Vec<Vec<u64>>,
    processes: Vec<Process>,
    borrowed: Vec<(&'static str, String, usize, bool)>,
    disks: Vec<[u64; 17]>,
    groups: Vec<[u64; 4]>,
    stalls: [u64; 3],
    switches: u64,
    forks: u64,
}

impl Simulated {
    /// Writes all files.
    pub fn create(dir: &Path, size: Size) -> Result<Self> {
        let load = |n: usize| [0.8, 0.05, 0.05, 0.002][n % 4];
        let mut host = Simulated {
            dir: dir.to_owned(),
            size,
            random: Random::new(),
            held: HashMap::new(),
            text: String::new(),
            cpus: (0..size.cpus)
                .map(|n| Cpu {
                    load: load(n),
                    stat: [91_000, 300, 40_000, 9_000_000, 500, 0, 800, 20, 0, 0],
                    softirq: [1_000; 10],
                    schedstat: [0, 0, 400_000, 90_000, 80_000, 30_000, 40_000_000_000, 900_000_000, 300_000],
                    packets: 70_000,
                    states: [[1_000; 4]; 4],
                })
                .collect(),
            interrupts: vec![vec![0; size.cpus]; size.lines + ARCHITECTURE.len()],
            processes: (0..size.processes)
                .map(|n| Process {
                    active: n % 5 == 0,
                    threads: if n % THREADS.0 == 0 { THREADS.1 } else { 1 },
                    utime: 500,
                    stime: 200,
                    faults: 9_000,
                    switches: [4_000, 60],
                    pages: 2_000 + 37 * n as u64,
                    io: [100_000, 50_000, 400, 200, 8_192, 4_096],
                })
                .collect(),
            borrowed: BORROWED
                .iter()
                .filter_map(|&(path, numbers, up)| Some((path, fs::read_to_string(path).ok()?, numbers, up)))
                .collect(),
            disks: vec![[1_000; 17]; 8],
            groups: vec![[1_000_000; 4]; GROUPS],
            stalls: [1_000_000; 3],
            switches: 9_000_000,
            forks: 60_000,
        };
        host.fixed()?;
        host.step()?;
        Ok(host)
    }

    /// Files that never change.
    fn fixed(&mut self) -> Result<()> {
        let last = self.size.cpus.saturating_sub(1);
        self.put("/proc/self/mountinfo", "31 23 0:28 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n")?;
        for name in ["online", "possible", "present"] {
            self.put(&format!("/sys/devices/system/cpu/{name}"), &format!("0-{last}\n"))?;
        }
        let mut info = String::new();
        for cpu in 0..self.size.cpus {
            let _ = write!(
                info,
                "processor\t: {cpu}\nvendor_id\t: AuthenticAMD\ncpu family\t: 25\nmodel\t\t: 17\nmodel name\t: Simulated processor\n\
                 microcode\t: 0xa101148\ncpu MHz\t\t: 2400.000\nphysical id\t: {}\nsiblings\t: {}\ncore id\t\t: {}\nflags\t\t: fpu sse2 avx2\n\n",
                cpu / 96,
                self.size.cpus.min(96),
                cpu / 2
            );
            for (state, name) in STATES.iter().enumerate() {
                let folder = format!("/sys/devices/system/cpu/cpu{cpu}/cpuidle/state{state}");
                self.put(&format!("{folder}/name"), &format!("{name}\n"))?;
                self.put(&format!("{folder}/rejected"), "0\n")?;
            }
            let policy = format!("/sys/devices/system/cpu/cpufreq/policy{cpu}");
            self.put(&format!("{policy}/affected_cpus"), &format!("{cpu}\n"))?;
            for (name, value) in [("cpuinfo_min_freq", 400_000), ("cpuinfo_max_freq", 3_700_000)] {
                self.put(&format!("{policy}/{name}"), &format!("{value}\n"))?;
                self.put(&format!("{policy}/{}", name.replace("cpuinfo", "scaling")), &format!("{value}\n"))?;
            }
            for name in ["core_throttle_count", "core_throttle_total_time_ms", "package_throttle_count"] {
                self.put(&format!("/sys/devices/system/cpu/cpu{cpu}/thermal_throttle/{name}"), "0\n")?;
            }
        }
        self.put("/proc/cpuinfo", &info)?;
        for pid in 0..self.size.processes {
            let folder = format!("/proc/{}", FIRST_PID + pid);
            self.put(&format!("{folder}/cmdline"), &format!("/usr/bin/service-{pid}\0--listen\0:{}\0", 8000 + pid))?;
            self.put(&format!("{folder}/comm"), &format!("service-{pid}\n"))?;
            let group = pid % GROUPS;
            self.put(&format!("{folder}/cgroup"), &format!("0::/system.slice/service-{group}.service\n"))?;
        }
        Ok(())
    }

    /// Goes on by one second.
    pub fn step(&mut self) -> Result<()> {
        self.move_cpus();
        self.write_stat()?;
        self.write_tables()?;
        self.write_cpu_files()?;
        self.write_processes()?;
        self.write_groups()?;
        self.write_borrowed()
    }

    fn move_cpus(&mut self) {
        let random = &mut self.random;
        for (n, cpu) in self.cpus.iter_mut().enumerate() {
            let load = (cpu.load * (0.7 + 0.6 * random.unit())).min(1.0);
            let busy = (100.0 * load) as u64;
            let user = busy * 7 / 10;
            let softirq = u64::from(busy > 20) + u64::from(random.chance(load));
            for (i, add) in [(0, user), (2, busy - user), (3, 100 - busy), (6, softirq)] {
                cpu.stat[i] += add;
            }
            cpu.stat[4] += u64::from(random.chance(load / 4.0));
            for (count, (_, rate)) in cpu.softirq.iter_mut().zip(SOFTIRQS) {
                *count += random.about(rate * load);
            }
            for (i, rate) in [(2, 4_000.0), (3, 900.0), (4, 1_800.0), (5, 700.0), (6, 1e9), (7, 4e7), (8, 3_000.0)] {
                cpu.schedstat[i] += random.about(rate * load);
            }
            cpu.packets += random.about(900.0 * load);
            let mut idle = ((1.0 - load) * 1e6) as u64;
            for (i, state) in cpu.states.iter_mut().enumerate().rev() {
                let part = if i == 0 { idle / 100 } else { idle * 6 / 10 };
                idle -= part;
                state[0] += random.about(200.0 * load + 3.0);
                state[1] += part;
                state[2] += random.about(20.0 * load);
                state[3] += random.about(9.0 * load);
            }
            let count = (4_000.0 * load) as u64;
            self.switches += count;
            self.forks += u64::from(random.chance(load / 5.0));
            for (line, (_, rate, _)) in ARCHITECTURE.iter().enumerate() {
                if *rate > 0.0 {
                    self.interrupts[self.size.lines + line][n] += random.about(rate * load);
                }
            }
        }
        // Queues of network cards and disks: each line has its CPU, and half of them have work.
        for (line, counts) in self.interrupts.iter_mut().take(self.size.lines).enumerate() {
            let cpu = line % self.size.cpus;
            if line % 2 == 0 && random.chance(0.3 + self.cpus[cpu].load) {
                counts[cpu] += random.about(600.0);
            }
        }
    }

    fn write_stat(&mut self) -> Result<()> {
        let mut text = std::mem::take(&mut self.text);
        text.clear();
        let sum = |i: usize| self.cpus.iter().map(|c| c.stat[i]).sum::<u64>();
        let join = |numbers: &mut dyn Iterator<Item = u64>| numbers.map(|n| format!(" {n}")).collect::<String>();
        let _ = writeln!(text, "cpu {}", join(&mut (0..10).map(sum)));
        for (n, cpu) in self.cpus.iter().enumerate() {
            let _ = writeln!(text, "cpu{n}{}", join(&mut cpu.stat.iter().copied()));
        }
        let lines: Vec<u64> = self.interrupts.iter().map(|counts| counts.iter().sum()).collect();
        let numbered = lines.iter().take(self.size.lines).copied();
        let _ = writeln!(text, "intr {}{}", lines.iter().sum::<u64>(), join(&mut numbered.into_iter()));
        let running = self.cpus.iter().filter(|c| c.load > 0.5).count();
        let _ = write!(
            text,
            "ctxt {}\nbtime 1763000000\nprocesses {}\nprocs_running {running}\nprocs_blocked 0\n",
            self.switches, self.forks
        );
        let softirqs = |i: usize| self.cpus.iter().map(|c| c.softirq[i]).sum::<u64>();
        let all: u64 = (0..SOFTIRQS.len()).map(softirqs).sum();
        let _ = writeln!(text, "softirq {all}{}", join(&mut (0..SOFTIRQS.len()).map(softirqs)));
        self.put("/proc/stat", &text)?;
        let load = running as f64 + self.random.unit();
        self.put("/proc/loadavg", &format!("{load:.2} {load:.2} {load:.2} {running}/900 {}\n", self.forks))?;
        self.text = text;
        Ok(())
    }

    /// Files with a line or a column for each CPU.
    fn write_tables(&mut self) -> Result<()> {
        let mut text = std::mem::take(&mut self.text);
        text.clear();
        text.push_str("           ");
        for cpu in 0..self.size.cpus {
            let _ = write!(text, "{:<11}", format!("CPU{cpu}"));
        }
        text.push('\n');
        for (line, counts) in self.interrupts.iter().enumerate() {
            match line.checked_sub(self.size.lines) {
                None => write!(text, "{:>4}:", line + 24),
                Some(n) => write!(text, "{:>4}:", ARCHITECTURE[n].0),
            }
            .unwrap_or_default();
            for count in counts {
                let _ = write!(text, " {count:>10}");
            }
            let _ = match line.checked_sub(self.size.lines) {
                None => writeln!(text, "  IR-PCI-MSIX-0000:{:02x}:00.0 {line}-edge      queue-{line}", line % 32),
                Some(n) => writeln!(text, "   {}", ARCHITECTURE[n].2),
            };
        }
        text.push_str(" ERR:          0\n MIS:          0\n");
        self.put("/proc/interrupts", &text)?;

        text.clear();
        text.push_str("                    ");
        for cpu in 0..self.size.cpus {
            let _ = write!(text, "{:<11}", format!("CPU{cpu}"));
        }
        text.push('\n');
        for (i, (name, _)) in SOFTIRQS.iter().enumerate() {
            let _ = write!(text, "{name:>12}:");
            for cpu in &self.cpus {
                let _ = write!(text, " {:>10}", cpu.softirq[i]);
            }
            text.push('\n');
        }
        self.put("/proc/softirqs", &text)?;

        text.clear();
        text.push_str("version 15\ntimestamp 4300000000\n");
        for (n, cpu) in self.cpus.iter().enumerate() {
            let _ = write!(text, "cpu{n}");
            for number in cpu.schedstat {
                let _ = write!(text, " {number}");
            }
            text.push('\n');
            for domain in 0..3 {
                let _ = writeln!(text, "domain{domain} {}{}", "ffffffff,".repeat(6), " 123456".repeat(36));
            }
        }
        self.put("/proc/schedstat", &text)?;

        text.clear();
        for (n, cpu) in self.cpus.iter().enumerate() {
            let _ = writeln!(text, "{:08x} 00000000 00000000{}{n:08x}", cpu.packets, " 00000000".repeat(9) + " ");
        }
        self.put("/proc/net/softnet_stat", &text)?;
        self.text = text;
        Ok(())
    }

    fn write_cpu_files(&mut self) -> Result<()> {
        for n in 0..self.size.cpus {
            let (states, load) = (self.cpus[n].states, self.cpus[n].load);
            for (state, numbers) in states.iter().enumerate() {
                let folder = format!("/sys/devices/system/cpu/cpu{n}/cpuidle/state{state}");
                for (name, number) in ["usage", "time", "above", "below"].iter().zip(numbers) {
                    self.put(&format!("{folder}/{name}"), &format!("{number}\n"))?;
                }
            }
            let frequency = 1_500_000 + (2_000_000.0 * load * (0.9 + 0.1 * self.random.unit())) as u64;
            self.put(
                &format!("/sys/devices/system/cpu/cpufreq/policy{n}/scaling_cur_freq"),
                &format!("{frequency}\n"),
            )?;
        }
        Ok(())
    }

    fn write_processes(&mut self) -> Result<()> {
        for n in 0..self.processes.len() {
            let random = &mut self.random;
            let Some(p) = self.processes.get_mut(n) else { break };
            let first = p.utime == 500;
            let moves = first || p.active && random.chance(0.9) || random.chance(SELDOM);
            if !moves {
                continue;
            }
            p.utime += random.about(30.0);
            p.stime += random.about(8.0);
            p.faults += random.about(20.0);
            p.switches[0] += random.about(300.0);
            p.switches[1] += random.about(3.0);
            p.pages = (p.pages + random.about(8.0)).saturating_sub(random.about(8.0)).max(500);
            for (i, mean) in [30_000.0, 9_000.0, 60.0, 20.0, 4_096.0, 8_192.0].into_iter().enumerate() {
                p.io[i] += random.about(mean);
            }
            let pid = FIRST_PID + n;
            let stat = |id: usize, share: u64| {
                format!(
                    "{id} (service-{n}) S 1 {pid} {pid} 0 -1 4194560 {} 0 2 0 {} {} 0 0 20 0 {} 0 {} 734003200 {} 18446744073709551615 1 1 0 0 0 0 0 4096 17 0 0 0 17 {} 0 0 0 0 0 0 0 0 0 0 0 0 0\n",
                    p.faults / share,
                    p.utime / share,
                    p.stime / share,
                    p.threads,
                    100 + n,
                    p.pages,
                    n % self.size.cpus,
                )
            };
            let status = |id: usize, share: u64| {
                format!(
                    "Name:\tservice-{n}\nUmask:\t0022\nState:\tS (sleeping)\nTgid:\t{pid}\nNgid:\t0\nPid:\t{id}\nPPid:\t1\nTracerPid:\t0\n\
                     Uid:\t0\t0\t0\t0\nGid:\t0\t0\t0\t0\nFDSize:\t64\nGroups:\t\nVmPeak:\t  716800 kB\nVmSize:\t  716800 kB\nVmLck:\t       0 kB\n\
                     VmHWM:\t{:>8} kB\nVmRSS:\t{:>8} kB\nRssAnon:\t{:>8} kB\nRssFile:\t    1200 kB\nRssShmem:\t       0 kB\nVmData:\t   90000 kB\n\
                     VmSwap:\t       0 kB\nThreads:\t{}\nvoluntary_ctxt_switches:\t{}\nnonvoluntary_ctxt_switches:\t{}\n",
                    p.pages * 4,
                    p.pages * 4,
                    p.pages * 4 - 1200,
                    p.threads,
                    p.switches[0] / share,
                    p.switches[1] / share
                )
            };
            let io = format!(
                "rchar: {}\nwchar: {}\nsyscr: {}\nsyscw: {}\nread_bytes: {}\nwrite_bytes: {}\ncancelled_write_bytes: 0\n",
                p.io[0], p.io[1], p.io[2], p.io[3], p.io[4], p.io[5]
            );
            let share = p.threads as u64;
            let run = format!("{} {} {}\n", p.utime * 10_000_000, p.switches[0] * 9_000, p.switches[0]);
            let mut files =
                vec![("stat".to_owned(), stat(pid, 1)), ("status".into(), status(pid, 1)), ("io".into(), io)];
            files.push(("schedstat".into(), run.clone()));
            for id in pid..pid + if first { p.threads } else { p.threads.min(4) } {
                // Threads of a process have numbers far from those of the processes.
                let id = if id == pid { pid } else { 100_000 + n * 100 + id - pid };
                files.push((format!("task/{id}/stat"), stat(id, share)));
                files.push((format!("task/{id}/status"), status(id, share)));
                files.push((format!("task/{id}/schedstat"), run.clone()));
            }
            for (name, content) in files {
                self.put(&format!("/proc/{pid}/{name}"), &content)?;
            }
        }
        Ok(())
    }

    fn write_groups(&mut self) -> Result<()> {
        for n in 0..GROUPS {
            let folder = format!("/sys/fs/cgroup/system.slice/service-{n}.service");
            let Some(numbers) = self.groups.get_mut(n) else { break };
            if numbers[0] == 1_000_000 || n % 4 == 0 || self.random.chance(0.05) {
                for number in numbers.iter_mut() {
                    *number += self.random.about(40_000.0);
                }
            }
            let [user, system, memory, stall] = *numbers;
            self.put(
                &format!("{folder}/cpu.stat"),
                &format!(
                    "usage_usec {}\nuser_usec {user}\nsystem_usec {system}\nnr_periods 0\nnr_throttled 0\nthrottled_usec 0\n",
                    user + system
                ),
            )?;
            self.put(&format!("{folder}/memory.current"), &format!("{}\n", (memory & !4095) + (90 << 20)))?;
            self.put(
                &format!("{folder}/memory.stat"),
                &format!("anon {memory}\nfile 40960000\nkernel 900000\nslab 500000\npgfault {memory}\npgmajfault 3\n"),
            )?;
            self.put(&format!("{folder}/pids.current"), "3\n")?;
            self.put(&format!("{folder}/cpu.pressure"), &stalled(stall))?;
        }
        for (i, name) in ["cpu", "memory", "io"].iter().enumerate() {
            self.stalls[i] += self.random.about(30_000.0);
            let text = stalled(self.stalls[i]);
            self.put(&format!("/proc/pressure/{name}"), &text)?;
        }
        Ok(())
    }

    fn write_borrowed(&mut self) -> Result<()> {
        let mut text = String::new();
        for (n, disk) in self.disks.iter_mut().enumerate() {
            for (i, rate) in [90.0, 2.0, 2_000.0, 40.0, 300.0, 20.0, 9_000.0, 200.0].into_iter().enumerate() {
                disk[i] += self.random.about(if n % 2 == 0 { rate } else { 0.0 });
            }
            disk[8] = u64::from(self.random.chance(0.2));
            disk[9] += self.random.about(if n % 2 == 0 { 150.0 } else { 0.0 });
            let numbers: String = disk.iter().map(|n| format!(" {n}")).collect();
            let _ = writeln!(text, " 259 {n:>7} nvme{n}n1{numbers}");
        }
        self.put("/proc/diskstats", &text)?;
        let mut borrowed = std::mem::take(&mut self.borrowed);
        for (path, content, numbers, up) in &mut borrowed {
            *content = moved(content, *numbers, *up, &mut self.random);
            self.put(path, content)?;
        }
        self.borrowed = borrowed;
        Ok(())
    }

    /// Writes a file, in place where it is there.
    fn put(&mut self, path: &str, content: &str) -> Result<()> {
        if !self.held.contains_key(path) {
            let full = self.dir.join(path.trim_start_matches('/'));
            if let Some(folder) = full.parent() {
                fs::create_dir_all(folder)?;
            }
            let file = File::options().create(true).truncate(false).write(true).open(full)?;
            // Only the few large files are worth a descriptor.
            if content.len() < 4096 {
                file.write_all_at(content.as_bytes(), 0)?;
                return file.set_len(content.len() as u64);
            }
            self.held.insert(path.to_owned(), file);
        }
        if let Some(file) = self.held.get(path) {
            file.write_all_at(content.as_bytes(), 0)?;
            file.set_len(content.len() as u64)?;
        }
        Ok(())
    }
}

fn stalled(total: u64) -> String {
    let some = (total % 977) as f64 / 100.0;
    format!(
        "some avg10={some:.2} avg60=1.00 avg300=1.00 total={total}\nfull avg10=0.00 avg60=0.00 avg300=0.00 total={}\n",
        total / 3
    )
}

/// The text with up to so many numbers of each line a little larger, or, where they do not count `up`, a little different.
fn moved(text: &str, numbers: usize, up: bool, random: &mut Random) -> String {
    let mut out = String::with_capacity(text.len() + 64);
    for line in text.split_inclusive('\n') {
        let mut left = numbers;
        for word in line.split_inclusive([' ', '\t', '\n']) {
            let body = word.trim_end();
            match body.parse::<u64>() {
                Ok(number) if left > 0 => {
                    left -= 1;
                    let number = match number {
                        // Small numbers are settings as often as counts.
                        0..1000 => number,
                        _ if random.chance(0.5) => number,
                        _ if up => number + random.about(50.0),
                        _ => number - number / 2000 + (random.unit() * (number / 1000) as f64) as u64,
                    };
                    out.push_str(&number.to_string());
                    out.push_str(&word[body.len()..]);
                }
                _ => out.push_str(word),
            }
        }
    }
    out
}
