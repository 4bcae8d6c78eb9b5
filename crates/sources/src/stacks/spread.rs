//! Over how much memory the code is spread that was sampled: in which file, or in the memory of which process, the innermost instruction of a sample lies,
//! and whether on a huge page. How many lines and pages that are is computed by whoever reads the recording.

use super::maps;
use super::process::{Mapping, Numbered, Processes};
use super::trie::Place;
use super::{Stacks, State};
use crate::memory::huge;
use host::Host;
use model::{NULL, Out};
use std::collections::{BTreeMap, HashMap};
use std::ops::Range;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// What has huge pages is at least so long.
const HUGE_PAGE: u64 = 1 << 21;
/// Which pages are huge is looked at so long after a process was first sampled, and then ever less often: the kernel walks its page tables for this.
const FIRST: Duration = Duration::from_millis(500);
/// Processes that are looked at, and files and processes that are told apart.
const MOST: usize = 64;
const MOST_SPACES: usize = 1 << 16;
/// Where only `/proc/PID/smaps` tells, for which the kernel walks all that a process has: resident pages that it may have.
const MOST_RESIDENT: u64 = (1 << 30) / 4096;

/// Where addresses of code count from: a file, the memory of a process, the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Space {
    Kernel,
    File(u32),
    Vdso,
    /// What a process made, by the number of the process.
    Made(u32),
}

impl Space {
    /// The space of a place in code, and the address there; `None` for what is no address.
    pub fn of(place: Place) -> Option<(Space, u64)> {
        match place {
            Place::Kernel(address) => Some((Space::Kernel, address)),
            Place::Module(file, address) => Some((Space::File(file), address)),
            Place::Vdso(offset) => Some((Space::Vdso, offset)),
            Place::Anonymous(process, address) => Some((Space::Made(process), address)),
            Place::Java(_) | Place::Python(_) | Place::Unknown(_) | Place::Truncated => None,
        }
    }

    fn word(self) -> &'static str {
        match self {
            Space::Kernel => "kernel",
            Space::File(_) | Space::Vdso => "file",
            Space::Made(_) => "jit",
        }
    }
}

/// Where the innermost instruction of a sample is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct At {
    /// Number of its space.
    pub code: u32,
    /// The address there; of the kernel, the address itself.
    pub address: u64,
    pub is_kernel: bool,
}

/// A process whose pages are looked at.
#[derive(Debug)]
struct Looked {
    pid: u32,
    comm: Arc<str>,
    /// When to look next, and how long after that again.
    due: Instant,
    pause: Duration,
    /// Stretches of its memory with the part of each that lies in huge pages; `None` as long as nobody told.
    huge: Option<Vec<(Range<u64>, f64)>>,
    /// By space: samples since it was first looked at, and of these on huge pages.
    samples: BTreeMap<u32, (u64, f64)>,
}

/// All spaces of a recording.
#[derive(Debug, Default)]
pub(super) struct Spread {
    numbers: HashMap<Space, u32>,
    /// Those without a row.
    fresh: Vec<(u32, Space)>,
    looked: BTreeMap<u32, Looked>,
}

/// What is to be looked at: the process, its number, and stretches of code that may have huge pages.
pub(super) struct Look {
    pid: u32,
    process: u32,
    mappings: Vec<Range<u64>>,
}

impl Spread {
    fn number(&mut self, space: Space) -> Option<u32> {
        if let Some(&known) = self.numbers.get(&space) {
            return Some(known);
        }
        let next = self.numbers.len() as u32 + 1;
        (self.numbers.len() < MOST_SPACES).then(|| {
            self.numbers.insert(space, next);
            self.fresh.push((next, space));
            next
        })
    }

    /// Counts a sample at an address of the kernel.
    pub fn kernel(&mut self, address: u64) -> Option<At> {
        Some(At { code: self.number(Space::Kernel)?, address, is_kernel: true })
    }

    /// Counts a sample at an address of a process's own code, which is a place.
    pub fn sampled(&mut self, (pid, comm): (u32, &Arc<str>), process: u32, ip: u64, place: Place) -> Option<At> {
        let (space, address) = Space::of(place)?;
        let code = self.number(space)?;
        if self.looked.len() < MOST || self.looked.contains_key(&process) {
            let new = || Looked {
                pid,
                comm: Arc::clone(comm),
                due: Instant::now() + FIRST,
                pause: FIRST,
                huge: None,
                samples: BTreeMap::new(),
            };
            let found = self.looked.entry(process).or_insert_with(new);
            if let Some(huge) = &found.huge {
                let part = huge.iter().find(|(range, _)| range.contains(&ip)).map_or(0.0, |(_, part)| *part);
                let of = found.samples.entry(code).or_default();
                *of = (of.0 + 1, of.1 + part);
            }
        }
        Some(At { code, address, is_kernel: false })
    }

    /// What is due to be looked at. What is looked at is due again later.
    pub fn due(&mut self, processes: &Processes) -> Vec<Look> {
        let now = Instant::now();
        let mut due = Vec::new();
        for (&process, looked) in self.looked.iter_mut().filter(|(_, looked)| looked.due <= now) {
            (looked.due, looked.pause) = (now + looked.pause, looked.pause * 2);
            let Some(known) = processes.by_pid.get(&looked.pid).filter(|known| known.number == process) else {
                // It has ended.
                looked.due = now + Duration::from_secs(1 << 30);
                continue;
            };
            let is_long = |m: &&Mapping| m.range.end - m.range.start >= HUGE_PAGE;
            let mappings = known.mappings.iter().filter(is_long).map(|m| m.range.clone()).collect();
            due.push(Look { pid: looked.pid, process, mappings });
        }
        due
    }

    /// Takes what was found.
    pub fn found(&mut self, look: &Look, huge: Option<Vec<(Range<u64>, f64)>>) {
        if let (Some(looked), Some(huge)) = (self.looked.get_mut(&look.process), huge) {
            looked.huge = Some(huge);
        }
    }

    /// Puts out the rows of spaces that are new.
    pub fn put(&mut self, at: usize, processes: &Processes, out: &mut Out<'_>) {
        for (number, space) in self.fresh.drain(..) {
            let module = match space {
                Space::Kernel => Some(Arc::from("[kernel]")),
                Space::Vdso => Some(Arc::from("[vdso]")),
                Space::File(file) => processes.modules.get(file).map(|known| Arc::clone(&known.identity.path)),
                Space::Made(_) => None,
            };
            let pid = match space {
                Space::Made(process) => processes.numbered.get(&process).map(|Numbered { pid, .. }| i64::from(*pid)),
                _ => None,
            };
            let module: i64 = module.map_or(NULL, |module: Arc<str>| out.text(&module));
            let kind = out.text(space.word());
            out.row(at, &[number.into(), kind, module, pid.unwrap_or(NULL)]);
        }
    }

    /// Puts out what of it lies on huge pages.
    pub fn put_huge(&self, at: usize, out: &mut Out<'_>) {
        for looked in self.looked.values() {
            for (&code, &(samples, huge)) in &looked.samples {
                let comm = out.text(&looked.comm);
                let row = [looked.pid.into(), comm, code.into(), samples as i64, huge.round() as i64];
                out.row(at, &row);
            }
        }
    }
}

impl State {
    /// Where the innermost instruction of a sample of a process is: one of the kernel, or of the program's own.
    pub(super) fn at_code(
        &mut self,
        (pid, comm): (u32, &Arc<str>),
        in_kernel: Option<u64>,
        ip: Option<u64>,
        host: &Host,
    ) -> Option<At> {
        if let Some(address) = in_kernel {
            return self.spread.kernel(address);
        }
        let ip = ip?;
        let place = self.processes.place(host, pid, ip);
        let process = self.processes.by_pid.get(&pid)?.number;
        self.spread.sampled((pid, comm), process, ip, place)
    }
}

impl Stacks {
    /// Looks which pages of the code that is sampled are huge, where that is due.
    pub(super) fn look_at_pages(&self) {
        let mut state = self.state();
        let State { spread, processes, .. } = &mut *state;
        let due = spread.due(processes);
        drop(state);
        for look in due {
            let huge = look.find(self.host());
            self.state().spread.found(&look, huge);
        }
    }
}

impl Look {
    /// Finds out which of it lies in huge pages: stretches, each with the part of it that does. `None` where nobody tells.
    pub fn find(&self, host: &Host) -> Option<Vec<(Range<u64>, f64)>> {
        let mut found = Vec::new();
        for range in &self.mappings {
            match huge::stretches(self.pid, range.clone()) {
                Some(huge) => found.extend(huge.into_iter().map(|huge| (huge, 1.0))),
                // Before Linux 6.7.
                None => return self.by_smaps(host),
            }
        }
        Some(found)
    }

    fn by_smaps(&self, host: &Host) -> Option<Vec<(Range<u64>, f64)>> {
        let statm = host.read_text(&format!("/proc/{}/statm", self.pid)).ok()?;
        let resident: u64 = statm.split_ascii_whitespace().nth(1)?.parse().ok()?;
        if resident > MOST_RESIDENT {
            return None;
        }
        Some(smaps(&host.read(&format!("/proc/{}/smaps", self.pid)).ok()?))
    }
}

/// The executable stretches in the text of `/proc/PID/smaps` (proc_pid_smaps(5)) that have huge pages, each with the part of what is resident.
fn smaps(text: &[u8]) -> Vec<(Range<u64>, f64)> {
    let mut found: Vec<(Range<u64>, f64)> = Vec::new();
    let (mut now, mut resident) = (None, 0u64);
    for line in text.split(|&byte| byte == b'\n') {
        let end = memchr::memchr(b' ', line).unwrap_or(line.len());
        let (name, rest) = line.split_at(end);
        let Some(name) = name.strip_suffix(b":") else {
            (now, resident) = (maps::executable(line).next().map(|line| line.start..line.end), 0);
            continue;
        };
        let Some(range) = &now else { continue };
        let digits = rest.trim_ascii().strip_suffix(b" kB").unwrap_or_default();
        let Some(value) = std::str::from_utf8(digits).ok().and_then(|text| text.parse::<u64>().ok()) else { continue };
        match name {
            b"Rss" => resident = value,
            b"AnonHugePages" | b"FilePmdMapped" | b"ShmemPmdMapped" if value > 0 && resident > 0 => {
                let part = value as f64 / resident as f64;
                match found.last_mut().filter(|(last, _)| last == range) {
                    Some((_, sum)) => *sum = (*sum + part).min(1.0),
                    None => found.push((range.clone(), part.min(1.0))),
                }
            }
            _ => {}
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn parts_in_huge_pages_are_read() {
        let text = b"55d0c0a00000-55d0c1a00000 r-xp 00002000 fe:00 1234                       /usr/bin/a b\n\
            Size:              16384 kB\nRss:                8192 kB\nAnonHugePages:         0 kB\nFilePmdMapped:      2048 kB\n\
            7f0000000000-7f0001000000 rw-p 00000000 00:00 0 \nRss:    4096 kB\nAnonHugePages:      4096 kB\n\
            7f1000000000-7f1001000000 rwxp 00000000 00:00 0 \nRss:    4096 kB\nAnonHugePages:      4096 kB\nVmFlags: rd wr ex mr\n";
        assert_eq!(
            smaps(text),
            [(0x55d0_c0a0_0000..0x55d0_c1a0_0000, 0.25), (0x7f10_0000_0000..0x7f10_0100_0000, 1.0)]
        );
    }

    #[test]
    fn samples_are_counted_once_their_pages_were_looked_at() {
        let mut spread = Spread::default();
        let comm: Arc<str> = Arc::from("a");
        let sample = |spread: &mut Spread, ip: u64| spread.sampled((7, &comm), 3, ip, Place::Anonymous(3, ip));
        let first = sample(&mut spread, 0x1000).unwrap();
        assert_eq!((first.code, first.address, first.is_kernel), (1, 0x1000, false));
        assert_eq!(spread.kernel(5).unwrap().code, 2);
        spread.found(&Look { pid: 7, process: 3, mappings: Vec::new() }, Some(vec![(0x20_0000..0x40_0000, 1.0)]));
        for ip in [0x1000, 0x20_0000, 0x3f_ffff, 0x40_0000] {
            assert_eq!(sample(&mut spread, ip).unwrap().code, 1);
        }
        assert_eq!(spread.looked[&3].samples, BTreeMap::from([(1, (4, 2.0))]));
        assert_eq!(Space::of(Place::Java(1)), None);
    }

    proptest! {
        #[test]
        fn foreign_bytes_never_panic(bytes: Vec<u8>) {
            smaps(&bytes);
        }
        #[test]
        fn foreign_lines_never_panic(text in "([0-9a-f-]{0,30} r-xp[ 0-9a-f:]{0,30}|[A-Z][a-zA-Z]{0,14}:? *[0-9]{0,22} k?B?|\n){0,12}") {
            for (range, part) in smaps(text.as_bytes()) {
                prop_assert!(range.start < range.end && (0.0..=1.0).contains(&part));
            }
        }
    }
}
