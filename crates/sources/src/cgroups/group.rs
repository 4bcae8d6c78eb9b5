//! The files of one control group, and the rows made from them.

use super::tables::{MEMORY_EVENTS, MEMORY_STAT};
use super::tree::Hierarchies;
use crate::parse;
use host::{HeldFile, Host};
use model::{NULL, Out};

/// Numbers of the tables in the source.
pub(super) const CPU: usize = 0;
pub(super) const MEMORY: usize = 1;
pub(super) const MEMORY_STAT_TABLE: usize = 2;
pub(super) const MEMORY_EVENTS_TABLE: usize = 3;
pub(super) const IO: usize = 4;
pub(super) const PIDS: usize = 5;
pub(super) const PRESSURE: usize = 6;

/// What every read shares: the host, how many more files may be held open, and a buffer for the others.
pub(super) struct Reading<'a> {
    pub host: &'a Host,
    pub holdable: &'a mut usize,
    pub buffer: &'a mut Vec<u8>,
}

/// One file of a group.
#[derive(Debug)]
enum File {
    /// Not looked for yet.
    New(String),
    /// Held open.
    Held(HeldFile),
    /// Opened for each read, because there are too many.
    Opened(String),
    /// The group does not have it.
    Absent,
}

impl File {
    fn at(root: &Option<String>, path: &str, name: &str) -> Self {
        match root {
            Some(root) => File::New(format!("{root}{path}/{name}")),
            None => File::Absent,
        }
    }

    /// The same file, opened at each read: for what is seldom read.
    fn seldom(self) -> Self {
        match self {
            File::New(path) => File::Opened(path),
            other => other,
        }
    }

    /// What it holds; `None` where there is nothing to read, as in a group that is gone.
    fn read<'a>(&'a mut self, with: &'a mut Reading<'_>) -> Option<&'a [u8]> {
        if let File::New(path) = self {
            *self = match with.host.open(path) {
                Err(_) => File::Absent,
                Ok(_) if *with.holdable == 0 => File::Opened(std::mem::take(path)),
                Ok(file) => {
                    *with.holdable -= 1;
                    File::Held(file)
                }
            };
        }
        match self {
            File::Held(file) => file.read(with.host).ok(),
            File::Opened(path) => {
                with.host.read_into(path, with.buffer).ok()?;
                Some(with.buffer)
            }
            File::New(_) | File::Absent => None,
        }
    }

    /// A file that holds one number; "max", and the number that version 1 writes for no limit, are nothing.
    fn number(&mut self, with: &mut Reading<'_>) -> i64 {
        let value = self.read(with).map_or(NULL, |text| parse::number(text.trim_ascii()));
        // The greatest multiple of any page size (PAGE_COUNTER_MAX, mm/memcontrol.c).
        if value >= i64::MAX - (1 << 20) { NULL } else { value }
    }

    /// Whether it was open, so that one more may be held now that it is dropped.
    fn is_held(&self) -> bool {
        matches!(self, File::Held(_))
    }
}

/// Reads lines of the form "name value" into `cells` by their names.
fn keyed(text: &[u8], names: &[&[u8]], cells: &mut [i64]) {
    for line in parse::lines(text) {
        let mut words = parse::words(line);
        if let Some(name) = words.next()
            && let Some(cell) = names.iter().position(|known| *known == name).and_then(|at| cells.get_mut(at))
        {
            *cell = words.number();
        }
    }
}

/// Divides what is there.
fn over(value: i64, by: i64) -> i64 {
    if value == NULL { NULL } else { value / by }
}

fn times(value: i64, by: i64) -> i64 {
    if value == NULL { NULL } else { value.saturating_mul(by) }
}

/// A control group. Files of version 1 are empty where its hierarchy is not mounted, and then version 2 is asked.
#[derive(Debug)]
pub(super) struct Group {
    pub path: String,
    symbol: i64,
    /// cpuacct.usage and cpuacct.stat of version 1.
    usage1: File,
    times1: File,
    /// cpu.stat of version 1, of version 2.
    throttle1: File,
    cpu2: File,
    memory: File,
    swap: File,
    io: Io,
    pids: File,
    pids_events: File,
    pressure: [(File, &'static str); 4],
    limits: Limits,
    /// How often these were read because the group was new.
    limits_read: u32,
    /// memory.stat and memory.events (memory.oom_control), which seldom are read.
    stat: File,
    events: File,
    failures: File,
    version1: bool,
}

#[derive(Debug)]
enum Io {
    /// io.stat.
    V2(File),
    /// blkio.throttle.io_service_bytes_recursive, …io_serviced_recursive; on old kernels the ones of the group alone.
    V1([File; 2]),
}

/// What changes only by hand, read again every few seconds.
#[derive(Debug)]
struct Limits {
    cpu2: File,
    quota1: File,
    period1: File,
    weight: File,
    memory: [File; 4],
    pids: File,
    /// quota, period, weight.
    cpu_now: [i64; 3],
    /// max, high, swap_max, peak.
    memory_now: [i64; 4],
    pids_now: i64,
}

impl Group {
    pub fn new(path: &str, at: &Hierarchies, out: &mut Out<'_>) -> Self {
        // On a hybrid host a controller is in version 1 or in version 2, never in both.
        let v1 = |root: &Option<String>, name: &str| File::at(root, path, name);
        let v2 = |v1: &Option<String>, name: &str| match v1 {
            Some(_) => File::Absent,
            None => File::at(&at.v2, path, name),
        };
        let either = |root: &Option<String>, name1: &str, name2: &str| match root {
            Some(_) => v1(root, name1),
            None => v2(root, name2),
        };
        Group {
            symbol: out.text(if path.is_empty() { "/" } else { path }),
            path: path.to_owned(),
            usage1: v1(&at.cpuacct, "cpuacct.usage"),
            times1: v1(&at.cpuacct, "cpuacct.stat"),
            throttle1: v1(&at.cpu, "cpu.stat"),
            cpu2: if at.cpu.is_some() && at.cpuacct.is_some() {
                File::Absent
            } else {
                File::at(&at.v2, path, "cpu.stat")
            },
            memory: either(&at.memory, "memory.usage_in_bytes", "memory.current"),
            swap: v2(&at.memory, "memory.swap.current"),
            io: match &at.blkio {
                None => Io::V2(v2(&None, "io.stat")),
                root => Io::V1([
                    v1(root, "blkio.throttle.io_service_bytes_recursive"),
                    v1(root, "blkio.throttle.io_serviced_recursive"),
                ]),
            },
            pids: either(&at.pids, "pids.current", "pids.current"),
            pids_events: either(&at.pids, "pids.events", "pids.events"),
            // Stalls are counted in version 2 alone, and there for all groups.
            pressure: ["cpu", "memory", "io", "irq"]
                .map(|resource| (File::at(&at.v2, path, &format!("{resource}.pressure")), resource)),
            limits_read: 0,
            limits: Limits {
                cpu2: v2(&at.cpu, "cpu.max").seldom(),
                quota1: v1(&at.cpu, "cpu.cfs_quota_us").seldom(),
                period1: v1(&at.cpu, "cpu.cfs_period_us").seldom(),
                weight: v2(&at.cpu, "cpu.weight").seldom(),
                memory: [
                    either(&at.memory, "memory.limit_in_bytes", "memory.max"),
                    v2(&at.memory, "memory.high"),
                    either(&at.memory, "memory.memsw.limit_in_bytes", "memory.swap.max"),
                    either(&at.memory, "memory.max_usage_in_bytes", "memory.peak"),
                ]
                .map(File::seldom),
                pids: either(&at.pids, "pids.max", "pids.max").seldom(),
                cpu_now: [NULL; 3],
                memory_now: [NULL; 4],
                pids_now: NULL,
            },
            stat: either(&at.memory, "memory.stat", "memory.stat").seldom(),
            events: either(&at.memory, "memory.oom_control", "memory.events").seldom(),
            failures: v1(&at.memory, "memory.failcnt").seldom(),
            version1: at.memory.is_some(),
        }
    }

    /// How many of its files are held open.
    pub fn held(&self) -> usize {
        let io = match &self.io {
            Io::V2(file) => std::slice::from_ref(file),
            Io::V1(files) => files,
        };
        let files = [
            &self.usage1,
            &self.times1,
            &self.throttle1,
            &self.cpu2,
            &self.memory,
            &self.swap,
            &self.pids,
            &self.pids_events,
        ];
        files
            .into_iter()
            .chain(io)
            .chain(self.pressure.iter().map(|(file, _)| file))
            .filter(|file| file.is_held())
            .count()
    }

    /// CPU time and memory. Says whether anything was there.
    pub fn read_use(&mut self, with: &mut Reading<'_>, out: &mut Out<'_>) -> bool {
        // usage, user, system, nice, nr_periods, nr_throttled, throttled, nr_bursts, burst.
        let mut cpu = [NULL; 9];
        const V2: [&[u8]; 9] = [
            b"usage_usec",
            b"user_usec",
            b"system_usec",
            b"nice_usec",
            b"nr_periods",
            b"nr_throttled",
            b"throttled_usec",
            b"nr_bursts",
            b"burst_usec",
        ];
        if let Some(text) = self.cpu2.read(with) {
            keyed(text, &V2, &mut cpu);
        }
        // Version 1 counts nanoseconds and ticks of a hundredth of a second.
        let usage = over(self.usage1.number(with), 1000);
        if usage != NULL {
            cpu[0] = usage;
            let mut ticks = [NULL; 2];
            if let Some(text) = self.times1.read(with) {
                keyed(text, &[b"user", b"system"], &mut ticks);
            }
            (cpu[1], cpu[2]) = (times(ticks[0], 10_000), times(ticks[1], 10_000));
        }
        if let Some(text) = self.throttle1.read(with) {
            let mut all = [NULL; 5];
            keyed(text, &[b"nr_periods", b"nr_throttled", b"throttled_time", b"nr_bursts", b"burst_time"], &mut all);
            [cpu[4], cpu[5], cpu[7]] = [all[0], all[1], all[3]];
            (cpu[6], cpu[8]) = (over(all[2], 1000), over(all[4], 1000));
        }
        let mut found = false;
        if cpu.iter().any(|&value| value != NULL) {
            let [usage, user, system, nice, periods, throttled, throttled_time, bursts, burst] = cpu;
            let [quota, period, weight] = self.limits.cpu_now;
            let row = [
                self.symbol,
                usage,
                user,
                system,
                nice,
                periods,
                throttled,
                throttled_time,
                bursts,
                burst,
                quota,
                period,
                weight,
            ];
            out.row(CPU, &row);
            found = true;
        }
        let current = self.memory.number(with);
        if current != NULL {
            let [max, high, swap_max, peak] = self.limits.memory_now;
            out.row(MEMORY, &[self.symbol, current, self.swap.number(with), max, high, swap_max, peak]);
            found = true;
        }
        found
    }

    /// I/O, processes and stalls.
    pub fn read_waits(&mut self, with: &mut Reading<'_>, out: &mut Out<'_>, devices: &mut Devices) {
        devices.clear();
        match &mut self.io {
            Io::V2(file) => {
                if let Some(text) = file.read(with) {
                    devices.read2(text);
                }
            }
            Io::V1(files) => {
                for (file, places) in files.iter_mut().zip([[0, 1, 4], [2, 3, 5]]) {
                    if let Some(text) = file.read(with) {
                        devices.read1(text, places);
                    }
                }
            }
        }
        devices.put(with.host, out, self.symbol);
        let current = self.pids.number(with);
        if current != NULL {
            let mut refused = [NULL];
            if let Some(text) = self.pids_events.read(with) {
                keyed(text, &[b"max"], &mut refused);
            }
            out.row(PIDS, &[self.symbol, current, self.limits.pids_now, refused[0]]);
        }
        for (file, resource) in &mut self.pressure {
            // some avg10=0.00 avg60=0.00 avg300=0.00 total=0
            let Some(text) = file.read(with) else { continue };
            let (mut some, mut full) = (NULL, NULL);
            for line in parse::lines(text) {
                let mut words = parse::words(line);
                let kind = words.next();
                let total = words.filter_map(|word| word.strip_prefix(b"total=")).next().map_or(NULL, parse::number);
                match kind {
                    Some(b"some") => some = total,
                    Some(b"full") => full = total,
                    _ => {}
                }
            }
            if some != NULL || full != NULL {
                let resource = out.text(resource);
                out.row(PRESSURE, &[self.symbol, resource, some, full]);
            }
        }
    }

    /// Limits of a group that is new: they are set when it is made, or a moment later.
    pub fn read_first_limits(&mut self, with: &mut Reading<'_>) {
        if self.limits_read < FIRST_READS {
            self.limits_read += 1;
            self.limits.read(with);
        }
    }

    /// Limits, and the parts and events of memory.
    pub fn read_rest(&mut self, with: &mut Reading<'_>, out: &mut Out<'_>) {
        self.limits.read(with);
        if let Some(text) = self.stat.read(with) {
            let hierarchical = self.version1 && text.windows(7).any(|part| part == b"\ntotal_");
            for line in parse::lines(text) {
                let mut words = parse::words(line);
                let (Some(name), value) = (words.next(), words.number()) else { continue };
                // Version 1 gives the group's own numbers first, and then those with its children, as version 2 does.
                let name = match (hierarchical, name.strip_prefix(b"total_")) {
                    (true, None) => continue,
                    (_, Some(name)) => name,
                    (false, None) => name,
                };
                let name = if self.version1 { name_of_v2(name) } else { name };
                let name = String::from_utf8_lossy(name);
                if value == NULL || value == 0 || name.starts_with("hierarchical_") {
                    continue;
                }
                let table = if MEMORY_EVENTS.column(&name).is_some() {
                    MEMORY_EVENTS_TABLE
                } else if MEMORY_STAT.column(&name).is_some() || !is_counter(&name) {
                    MEMORY_STAT_TABLE
                } else {
                    MEMORY_EVENTS_TABLE
                };
                let field = out.text(&name);
                out.row(table, &[self.symbol, field, value]);
            }
        }
        if let Some(text) = self.events.read(with) {
            for line in parse::lines(text) {
                let mut words = parse::words(line);
                let (Some(name), value) = (words.next(), words.number()) else { continue };
                // oom_control of version 1 also holds two settings.
                if value != NULL && (!self.version1 || name == b"oom_kill") {
                    let field = out.bytes(name);
                    out.row(MEMORY_EVENTS_TABLE, &[self.symbol, field, value]);
                }
            }
        }
        let failures = self.failures.number(with);
        if failures != NULL {
            let field = out.text("max");
            out.row(MEMORY_EVENTS_TABLE, &[self.symbol, field, failures]);
        }
    }
}

/// Reads of a new group at which its limits are read too, which is seldom done later.
const FIRST_READS: u32 = 3;

/// Whether a field of memory.stat that is not known here counts: the kernel names levels by what they are, and events by what is done
/// (mm/vmstat.c, vmstat_text).
fn is_counter(name: &str) -> bool {
    const EVENTS: [&str; 9] = ["pg", "psw", "thp_", "workingset_", "zsw", "swp", "numa_", "drop_", "htlb_"];
    const LEVELS: [&str; 2] = ["workingset_nodes", "zswapped"];
    EVENTS.iter().any(|start| name.starts_with(start)) && !LEVELS.contains(&name)
}

/// What version 2 calls a field of version 1's memory.stat.
fn name_of_v2(name: &[u8]) -> &[u8] {
    match name {
        b"cache" => b"file",
        b"rss" => b"anon",
        b"rss_huge" => b"anon_thp",
        b"mapped_file" => b"file_mapped",
        b"dirty" => b"file_dirty",
        b"writeback" => b"file_writeback",
        name => name,
    }
}

impl Limits {
    fn read(&mut self, with: &mut Reading<'_>) {
        // "max 100000" or "20000 100000".
        if let Some(text) = self.cpu2.read(with) {
            let mut words = parse::words(text.trim_ascii());
            (self.cpu_now[0], self.cpu_now[1]) = (words.number(), words.number());
        }
        let quota = self.quota1.number(with);
        if quota != NULL {
            // -1 for no quota.
            self.cpu_now[0] = if quota < 0 { NULL } else { quota };
            self.cpu_now[1] = self.period1.number(with);
        }
        self.cpu_now[2] = self.weight.number(with);
        for (now, file) in self.memory_now.iter_mut().zip(&mut self.memory) {
            *now = file.number(with);
        }
        self.pids_now = self.pids.number(with);
    }
}

/// The devices of one group's I/O, collected from one or two files.
#[derive(Debug, Default)]
pub(super) struct Devices {
    /// Device number as text, and read, written, reads, writes, discarded, discards.
    rows: Vec<(Vec<u8>, [i64; 6])>,
    used: usize,
    /// Names by device number.
    names: Vec<(Vec<u8>, i64)>,
}

impl Devices {
    fn clear(&mut self) {
        self.used = 0;
    }

    /// The cells of a device; they begin as nothing.
    fn cells(&mut self, number: &[u8]) -> Option<&mut [i64; 6]> {
        let known = self.rows.iter().take(self.used).position(|(known, _)| known == number);
        let at = known.unwrap_or(self.used);
        if known.is_none() {
            if self.used == self.rows.len() {
                self.rows.push((Vec::new(), [NULL; 6]));
            }
            self.used += 1;
        }
        let (name, cells) = self.rows.get_mut(at)?;
        if known.is_none() {
            name.clear();
            name.extend_from_slice(number);
            *cells = [NULL; 6];
        }
        Some(cells)
    }

    /// Lines of io.stat: "8:0 rbytes=1 wbytes=2 rios=3 wios=4 dbytes=5 dios=6".
    fn read2(&mut self, text: &[u8]) {
        const NAMES: [&[u8]; 6] = [b"rbytes=", b"wbytes=", b"rios=", b"wios=", b"dbytes=", b"dios="];
        for line in parse::lines(text) {
            let mut words = parse::words(line);
            // A device without I/O has no fields.
            let (Some(number), rest) = (words.next().filter(|number| number.contains(&b':')), words) else { continue };
            for word in rest {
                for (at, name) in NAMES.iter().enumerate() {
                    if let Some(value) = word.strip_prefix(*name)
                        && let Some(cell) = self.cells(number).and_then(|cells| cells.get_mut(at))
                    {
                        *cell = parse::number(value);
                    }
                }
            }
        }
    }

    /// Lines of version 1: "8:0 Read 1", where `places` are those of reads, writes and discards.
    fn read1(&mut self, text: &[u8], places: [usize; 3]) {
        for line in parse::lines(text) {
            let mut words = parse::words(line);
            let (Some(number), Some(what), value) = (words.next(), words.next(), words.number()) else { continue };
            let place = match what {
                b"Read" => places[0],
                b"Write" => places[1],
                b"Discard" => places[2],
                _ => continue,
            };
            if let Some(cell) = self.cells(number).and_then(|cells| cells.get_mut(place)) {
                *cell = value;
            }
        }
    }

    fn put(&mut self, host: &Host, out: &mut Out<'_>, group: i64) {
        for (number, cells) in self.rows.iter().take(self.used) {
            if cells.iter().all(|&cell| cell == NULL) {
                continue;
            }
            let name = match self.names.iter().find(|(known, _)| known == number) {
                Some((_, name)) => *name,
                None => {
                    let text = String::from_utf8_lossy(number);
                    let link = host.link(&format!("/sys/dev/block/{text}")).ok();
                    let name = link.as_deref().and_then(|path| path.file_name()).and_then(|name| name.to_str());
                    let name = out.text(name.unwrap_or(&text));
                    self.names.push((number.clone(), name));
                    name
                }
            };
            let [read, written, reads, writes, discarded, discards] = *cells;
            out.row(IO, &[group, name, read, written, reads, writes, discarded, discards]);
        }
    }
}
