//! `perf.data`, as `perf record` writes it to a file or to a pipe (tools/perf/Documentation/perf.data-file-format.txt, include/uapi/linux/perf_event.h).
//! Read from front to back in rounds, as perf itself does: what lies before a `FINISHED_ROUND` is put in order of time, and what could still be overtaken
//! waits for the next one. So what grows with the file is the list of samples, 64 bytes each, and not what is read of it.

mod accesses;
mod attr;
mod record;
mod space;
mod spe;
#[cfg(test)]
pub(crate) mod tests;

use crate::bytes::{Bytes, hex, text};
use crate::profile::{Profile, Sample};
use access::Operation;
use accesses::{Accesses, Code, Who};
use attr::{Attr, Attrs};
use model::NULL;
use record::{Fields, sample};
use space::Spaces;
use spe::Spe;
use std::collections::BTreeMap;
use std::io::{Read, Seek, SeekFrom};

/// Record types (perf_event.h; from 64 on, tools/lib/perf/include/perf/event.h).
mod kind {
    pub(super) const MMAP: u32 = 1;
    pub(super) const LOST: u32 = 2;
    pub(super) const COMM: u32 = 3;
    pub(super) const FORK: u32 = 7;
    pub(super) const SAMPLE: u32 = 9;
    pub(super) const MMAP2: u32 = 10;
    pub(super) const LOST_SAMPLES: u32 = 13;
    pub(super) const SWITCH: u32 = 14;
    pub(super) const SWITCH_CPU_WIDE: u32 = 15;
    pub(super) const HEADER_ATTR: u32 = 64;
    pub(super) const HEADER_BUILD_ID: u32 = 67;
    pub(super) const FINISHED_ROUND: u32 = 68;
    pub(super) const AUXTRACE_INFO: u32 = 70;
    pub(super) const AUXTRACE: u32 = 71;
    pub(super) const TIME_CONV: u32 = 79;
    pub(super) const HEADER_FEATURE: u32 = 80;
    pub(super) const COMPRESSED: u32 = 81;
    pub(super) const COMPRESSED2: u32 = 83;
}

/// Features of the header (tools/perf/util/header.h).
mod feature {
    pub(super) const BUILD_ID: u64 = 2;
    pub(super) const HOSTNAME: u64 = 3;
    pub(super) const OSRELEASE: u64 = 4;
    pub(super) const ARCH: u64 = 6;
    pub(super) const NRCPUS: u64 = 7;
    pub(super) const CPUID: u64 = 9;
    pub(super) const TOTAL_MEM: u64 = 10;
    pub(super) const CMDLINE: u64 = 11;
    pub(super) const EVENT_DESC: u64 = 12;
    pub(super) const PMU_MAPPINGS: u64 = 16;
}

/// Most bytes of one feature.
const MOST_FEATURE: u64 = 256 << 20;

/// Most bytes held back for ordering; beyond, records are taken as they come.
const MOST_PENDING: usize = 512 << 20;

/// Whether an event counts nanoseconds of CPU time.
pub(crate) fn is_clock(event: &str) -> bool {
    let name = event.split(':').next().unwrap_or(event);
    matches!(name, "cpu-clock" | "task-clock") || name.ends_with("/cpu-clock/")
}

/// Of several events the one that stands for CPU time: a clock, else cycles, else the first.
pub(crate) fn preferred<'a>(events: &[&'a str]) -> Option<&'a str> {
    let cycles = |e: &&&str| e.split([':', '/']).any(|part| matches!(part, "cycles" | "cpu-cycles"));
    events.iter().find(|e| is_clock(e)).or_else(|| events.iter().find(cycles)).or_else(|| events.first()).copied()
}

/// Whether it is a file of perf, of either byte order.
pub(crate) fn looks_like(bytes: &[u8]) -> bool {
    bytes.starts_with(b"PERFILE2") || bytes.starts_with(b"2ELIFREP")
}

/// Reads a file.
///
/// # Errors
/// In words, where nothing could be read.
pub fn read(file: &mut (impl Read + Seek), profile: &mut Profile) -> Result<(), String> {
    let before = profile.said();
    let Some(other) = read_event(file, profile, None)? else { return Ok(()) };
    // The event that stands first has no samples, as those that only fill buffers or carry records: another has.
    file.seek(SeekFrom::Start(0)).map_err(|e| e.to_string())?;
    profile.take_back(before);
    read_event(file, profile, Some(other)).map(drop)
}

/// Reads the samples of an event, by its place; without one, of that which stands for CPU time. Where it has none, and nobody asked for it, another one that
/// has some comes back.
fn read_event(
    file: &mut (impl Read + Seek),
    profile: &mut Profile,
    event: Option<usize>,
) -> Result<Option<usize>, String> {
    let mut magic = [0; 16];
    file.read_exact(&mut magic).map_err(|e| format!("its header: {e}"))?;
    if magic.starts_with(b"2ELIFREP") {
        return Err("it was written on a machine of the other byte order, which is not read".into());
    }
    let size = u64::from_le_bytes(magic.get(8..).and_then(|b| b.try_into().ok()).unwrap_or_default());
    let (samples, rows) = (profile.samples.len(), profile.events());
    let is_asked = event.is_some() || profile.options.event.is_some();
    let mut reader = Reader::new(profile, event);
    if size == 16 {
        // A pipe's: all that a header holds comes as records.
        reader.records(file, u64::MAX)?;
    } else {
        let (from, length) = reader.header(file)?;
        file.seek(SeekFrom::Start(from)).map_err(|e| e.to_string())?;
        reader.records(file, length)?;
    }
    let other = reader.finish();
    let is_nothing = profile.samples.len() == samples && profile.events() == rows;
    Ok(other.filter(|_| is_nothing && !is_asked))
}

struct Reader<'a> {
    profile: &'a mut Profile,
    attrs: Attrs,
    /// The event that is taken, once it was chosen.
    taken: Option<usize>,
    /// The place of the event that shall be taken.
    asked: Option<usize>,
    /// Samples of the others.
    others: BTreeMap<usize, u64>,
    spaces: Spaces,
    /// Records that wait: time, order in the file, where their bytes lie.
    pending: Vec<(u64, u64, usize, usize)>,
    arena: Vec<u8>,
    spe: Spe,
    accesses: Accesses,
    order: u64,
    /// Greatest time of the round before the one being read, and of the one being read.
    limit: u64,
    greatest: u64,
    zstd: Option<zstd::stream::raw::Decoder<'static>>,
    /// What compressed records have grown to, bytes.
    grown: u64,
    /// Uncompressed bytes that are not a whole record yet.
    unpacked: Vec<u8>,
    places: Vec<u32>,
}

impl<'a> Reader<'a> {
    fn new(profile: &'a mut Profile, event: Option<usize>) -> Self {
        Reader {
            asked: event,
            others: BTreeMap::new(),
            spaces: Spaces::new(profile.options.symbols),
            profile,
            attrs: Attrs::default(),
            taken: None,
            pending: Vec::new(),
            arena: Vec::new(),
            spe: Spe::default(),
            accesses: Accesses::default(),
            order: 0,
            limit: 0,
            greatest: 0,
            zstd: None,
            grown: 0,
            unpacked: Vec::new(),
            places: Vec::new(),
        }
    }

    /// Reads the header of a file: events and features. Returns where the records lie.
    fn header(&mut self, file: &mut (impl Read + Seek)) -> Result<(u64, u64), String> {
        let mut head = [0; 104 - 16];
        file.read_exact(&mut head).map_err(|e| format!("its header: {e}"))?;
        let mut rest = Bytes(&head);
        let mut next = || rest.u64().unwrap_or(0);
        let (attr_size, attrs_at, attrs_size, data_at, data_size) = (next(), next(), next(), next(), next());
        let (_, _) = (next(), next());
        let flags = [next(), next(), next(), next()];
        let attrs = section(file, attrs_at, attrs_size)?;
        let attr_size = usize::try_from(attr_size).unwrap_or(0);
        if attr_size < 80 {
            return Err("its header says nothing of events".into());
        }
        for entry in attrs.chunks_exact(attr_size) {
            // The attributes, then where its ids lie.
            let Some((attr, ids)) = entry.split_at_checked(attr_size - 16) else { continue };
            let mut ids = Bytes(ids);
            let (at, size) = (ids.u64().unwrap_or(0), ids.u64().unwrap_or(0));
            let ids = section(file, at, size).unwrap_or_default();
            if let Some(attr) = Attr::parse(attr) {
                self.attrs.add(attr, &ids);
            }
        }
        // The table of features follows the data: one entry for each bit that is set.
        let mut at = data_at.saturating_add(data_size);
        if data_size == 0 {
            self.profile.note("perf did not finish this file: what it writes at its end is missing (host, build ids)");
        }
        for bit in (0..256u64).filter(|_| data_size > 0) {
            if flags.get((bit / 64) as usize).is_none_or(|f| f >> (bit % 64) & 1 == 0) {
                continue;
            }
            let Ok(entry) = section(file, at, 16) else { break };
            let mut entry = Bytes(&entry);
            let (Some(from), Some(size)) = (entry.u64(), entry.u64()) else { break };
            at = at.saturating_add(16);
            if matches!(bit, 2..=12 | feature::PMU_MAPPINGS)
                && let Ok(bytes) = section(file, from, size)
            {
                self.feature(bit, &bytes);
            }
        }
        let end = if data_size == 0 { u64::MAX } else { data_size };
        Ok((data_at, end))
    }

    fn feature(&mut self, bit: u64, bytes: &[u8]) {
        let mut rest = Bytes(bytes);
        let string = |rest: &mut Bytes<'_>| {
            let length = rest.u32()?;
            rest.take(length as usize).map(text)
        };
        let manifest = &mut self.profile.manifest;
        match bit {
            feature::HOSTNAME => manifest.host = string(&mut rest).unwrap_or_default(),
            feature::OSRELEASE => manifest.kernel = string(&mut rest).unwrap_or_default(),
            feature::ARCH => manifest.machine = string(&mut rest).unwrap_or_default(),
            feature::NRCPUS => manifest.cpus = rest.u32().and_then(|_| rest.u32()).map_or(0, i64::from),
            feature::TOTAL_MEM => {
                let kib = rest.u64().and_then(|n| i64::try_from(n).ok()).unwrap_or(0);
                manifest.memory = kib.saturating_mul(1024);
            }
            feature::CMDLINE => {
                let count = rest.u32().unwrap_or(0).min(1000);
                let words: Vec<String> = (0..count).map_while(|_| string(&mut rest)).collect();
                if !words.is_empty() {
                    manifest.labels.insert("perf".into(), words.join(" "));
                }
            }
            feature::EVENT_DESC => self.attrs.describe(rest),
            feature::PMU_MAPPINGS => self.attrs.describe_pmus(rest),
            feature::CPUID => self.spe.cpu(&string(&mut rest).unwrap_or_default()),
            feature::BUILD_ID => {
                while let Some(kind) = rest.u32() {
                    let (Some(misc), Some(size)) = (rest.u16(), rest.u16()) else { break };
                    let Some(body) = usize::from(size).checked_sub(8).and_then(|n| rest.take(n)) else { break };
                    let _ = kind;
                    self.build_id(misc, body);
                }
            }
            _ => {}
        }
    }

    /// An entry of the table of build ids: process, 24 bytes, name of the file.
    fn build_id(&mut self, misc: u16, body: &[u8]) {
        let mut rest = Bytes(body);
        let (Some(_pid), Some(id)) = (rest.u32(), rest.take(24)) else { return };
        // Newer ones say how long it is, in the byte after the twentieth.
        let length = if misc & 1 << 15 != 0 { id.get(20).map_or(20, |n| usize::from(*n).min(20)) } else { 20 };
        self.spaces.build_id(&text(rest.0), hex(id.get(..length).unwrap_or(id)));
    }

    fn records(&mut self, file: &mut impl Read, length: u64) -> Result<(), String> {
        let mut left = length;
        let mut buffer = Vec::new();
        while left >= 8 {
            let mut header = [0; 8];
            match file.read_exact(&mut header) {
                Ok(()) => {}
                Err(_) if length == u64::MAX => break,
                Err(_) => {
                    self.profile.note("the file is cut off: what came before is kept");
                    break;
                }
            }
            // What perf itself prints stands in the file too where both of its outputs were redirected.
            if length == u64::MAX && header.iter().all(|b| b.is_ascii_graphic() || b.is_ascii_whitespace()) {
                let text = std::io::copy(file, &mut std::io::sink()).unwrap_or(0) + header.len() as u64;
                self.profile.note(format!("{text} bytes of text follow the records of perf; they are left out"));
                break;
            }
            let size = usize::from(u16::from_le_bytes([header[6], header[7]]));
            if size < 8 {
                self.profile.note("a record is damaged: what came before is kept");
                break;
            }
            left = left.saturating_sub(size as u64);
            buffer.clear();
            buffer.extend_from_slice(&header);
            buffer.resize(size, 0);
            if file.read_exact(buffer.get_mut(8..).unwrap_or_default()).is_err() {
                self.profile.note("the file is cut off: what came before is kept");
                break;
            }
            let kind = u32::from_le_bytes([header[0], header[1], header[2], header[3]]);
            if kind == kind::AUXTRACE {
                // Its data follow it.
                let extra = Bytes(buffer.get(8..).unwrap_or_default()).u64().unwrap_or(0).min(left);
                self.trace(&mut file.by_ref().take(extra), &buffer)?;
                left -= extra;
                continue;
            }
            self.record(&buffer, 0);
            if self.grown > self.profile.options.limit.bytes {
                return Err(format!("compressed records: {}", self.profile.options.limit.exceeded()));
            }
        }
        Ok(())
    }

    /// The data of a buffer that a PMU has filled.
    fn trace(&mut self, data: &mut impl Read, record: &[u8]) -> Result<(), String> {
        let is_spe = self.spe.is_known || self.attrs.spe().is_some();
        if is_spe {
            let mut bytes = Vec::new();
            data.by_ref().take(spe::MOST_BLOCK).read_to_end(&mut bytes).map_err(|e| e.to_string())?;
            for (time, operation) in self.spe.read(record.get(8..).unwrap_or_default(), &bytes, self.profile) {
                // Without a clock they are as old as what was read before them.
                let time = time.unwrap_or(self.greatest);
                let at = self.arena.len();
                self.arena.extend(operation);
                self.pending.push((time, self.order, at, spe::SIZE));
                self.order += 1;
            }
            self.relieve();
        } else {
            self.profile.count("blocks of hardware traces; they are left out", 1);
        }
        let left = std::io::copy(data, &mut std::io::sink()).map_err(|e| e.to_string())?;
        if is_spe && left > 0 {
            self.profile.count("bytes of very large blocks of SPE; they are left out", left);
        }
        Ok(())
    }

    /// Takes what waits as it came, where that is more than can be held.
    fn relieve(&mut self) {
        if self.arena.len() > MOST_PENDING {
            self.profile.note("very long rounds: some samples may be out of order");
            self.flush(u64::MAX);
        }
    }

    /// One record, header included.
    fn record(&mut self, bytes: &[u8], depth: u32) {
        let mut rest = Bytes(bytes);
        let (Some(kind), Some(misc), Some(_)) = (rest.u32(), rest.u16(), rest.u16()) else { return };
        match kind {
            kind::FINISHED_ROUND => {
                self.flush(self.limit);
                self.limit = self.greatest;
            }
            kind::COMPRESSED | kind::COMPRESSED2 if depth == 0 => {
                if kind == kind::COMPRESSED2 {
                    let Some(size) = rest.u64().and_then(|n| usize::try_from(n).ok()) else { return };
                    rest = Bytes(rest.0.get(..size).unwrap_or(rest.0));
                }
                self.decompress(rest.0);
            }
            kind::HEADER_ATTR => {
                let size = rest.0.get(4..8).and_then(|b| b.try_into().ok()).map_or(0, u32::from_le_bytes) as usize;
                if let Some((attr, ids)) = rest.0.split_at_checked(size)
                    && let Some(attr) = Attr::parse(attr)
                {
                    self.attrs.add(attr, ids);
                }
            }
            kind::HEADER_BUILD_ID => self.build_id(misc, rest.0),
            kind::HEADER_FEATURE => {
                if let Some(bit) = rest.u64() {
                    self.feature(bit, rest.0);
                }
            }
            kind::AUXTRACE_INFO => self.spe.info(rest),
            kind::TIME_CONV => self.spe.clock(rest),
            kind::MMAP
            | kind::MMAP2
            | kind::COMM
            | kind::FORK
            | kind::SAMPLE
            | kind::LOST
            | kind::LOST_SAMPLES
            | kind::SWITCH
            | kind::SWITCH_CPU_WIDE => {
                let time = self.attrs.time(kind == kind::SAMPLE, rest.0).unwrap_or(0);
                self.greatest = self.greatest.max(time);
                let start = self.arena.len();
                self.arena.extend_from_slice(bytes);
                self.pending.push((time, self.order, start, bytes.len()));
                self.order += 1;
                self.relieve();
            }
            _ => {}
        }
    }

    fn decompress(&mut self, bytes: &[u8]) {
        use zstd::stream::raw::{InBuffer, Operation, OutBuffer};
        if self.zstd.is_none() {
            self.zstd = zstd::stream::raw::Decoder::new().ok();
        }
        let mut input = InBuffer::around(bytes);
        let mut room = vec![0u8; 256 << 10];
        loop {
            let Some(zstd) = &mut self.zstd else { return };
            let before = input.pos();
            let mut output = OutBuffer::around(room.as_mut_slice());
            if zstd.run(&mut input, &mut output).is_err() {
                self.profile.count("compressed blocks that are damaged", 1);
                self.zstd = None;
                self.unpacked.clear();
                return;
            }
            let made = output.pos();
            self.grown += made as u64;
            if self.grown > self.profile.options.limit.bytes {
                return;
            }
            self.unpacked.extend_from_slice(room.get(..made).unwrap_or_default());
            self.whole_records();
            if input.pos() == bytes.len() && made < 256 << 10 || (input.pos() == before && made == 0) {
                break;
            }
        }
    }

    /// Takes the whole records off the front of what was decompressed.
    fn whole_records(&mut self) {
        let unpacked = std::mem::take(&mut self.unpacked);
        let mut at = 0;
        while let Some(&[_, _, _, _, _, _, low, high]) = unpacked.get(at..at + 8) {
            let size = usize::from(u16::from_le_bytes([low, high]));
            if size < 8 {
                self.profile.count("compressed blocks that are damaged", 1);
                at = unpacked.len();
                break;
            }
            let Some(record) = unpacked.get(at..at + size) else { break };
            self.record(record, 1);
            at += size;
        }
        self.unpacked = unpacked.get(at..).unwrap_or_default().to_vec();
    }

    /// Deals with the records up to a time, in its order.
    fn flush(&mut self, limit: u64) {
        let mut pending = std::mem::take(&mut self.pending);
        let arena = std::mem::take(&mut self.arena);
        pending.sort_unstable();
        let due = pending.partition_point(|p| p.0 <= limit);
        let (now, later) = pending.split_at(due);
        for &(time, _, start, length) in now {
            self.deal(time, arena.get(start..start + length).unwrap_or_default());
        }
        for &(time, order, start, length) in later {
            let at = self.arena.len();
            self.arena.extend_from_slice(arena.get(start..start + length).unwrap_or_default());
            self.pending.push((time, order, at, length));
        }
    }

    fn deal(&mut self, time: u64, bytes: &[u8]) {
        let mut rest = Bytes(bytes);
        let (Some(kind), Some(misc), Some(_)) = (rest.u32(), rest.u16(), rest.u16()) else { return };
        match kind {
            kind::SAMPLE => self.sample(time, misc, rest.0),
            kind::MMAP | kind::MMAP2 => drop(self.spaces.mmap(kind == kind::MMAP2, misc, rest)),
            kind::COMM => drop(self.spaces.comm(misc, rest)),
            kind::FORK => drop(self.spaces.fork(rest)),
            kind::SWITCH | kind::SWITCH_CPU_WIDE => {
                if let Some(trailer) = self.attrs.trailer(rest.0) {
                    self.spe.switched(kind == kind::SWITCH_CPU_WIDE, misc, rest, trailer);
                }
            }
            spe::OPERATION => self.operation(time, rest),
            kind::LOST => {
                let _ = rest.u64();
                self.profile.count("records that perf lost while it recorded", rest.u64().unwrap_or(0));
            }
            kind::LOST_SAMPLES => {
                self.profile.count("samples that perf lost while it recorded", rest.u64().unwrap_or(0))
            }
            _ => {}
        }
    }

    /// Whether an event is the one that stands for CPU time.
    fn is_taken(&mut self, index: usize) -> bool {
        let taken = *self.taken.get_or_insert_with(|| {
            let taken = self.asked.unwrap_or_else(|| self.attrs.choose(self.profile.options.event.as_deref()));
            if let Some(caution) = self.attrs.caution(taken) {
                self.profile.note(caution);
            }
            taken
        });
        taken == index
    }

    /// The access that a sample tells of, if it does.
    fn access(&mut self, time: u64, misc: u16, index: usize, attr: &Attr, found: &Fields<'_>) {
        let of = if !found.raw.is_empty() && self.attrs.pmu(index).starts_with("ibs_op") {
            access::ibs::operation(found.raw)
        } else if attr.tells_source() {
            found.data_source.map(|word| {
                let mut of = access::source::data_source(word);
                (of.address, of.physical) = (found.address, found.physical);
                if let Some(weight) = found.weight {
                    weight.put(&mut of);
                }
                of
            })
        } else {
            None
        };
        let (Some(mut of), Some(pid), Some(tid)) = (of.filter(Operation::is_access), found.pid, found.tid) else {
            return;
        };
        of.code = of.code.or(found.ip);
        self.put(time, pid, tid, matches!(misc & 7, 1 | 4), &of);
    }

    fn put(&mut self, time: u64, pid: u32, tid: u32, is_kernel: bool, of: &Operation) {
        let Some(ip) = of.code else { return };
        let (comm, thread) = self.spaces.names(self.profile, Some(pid), Some(tid));
        let (place, address) = self.spaces.code(self.profile, pid, is_kernel, ip);
        let code = Code { stack: self.profile.stack(0, place), address };
        self.accesses.add(i64::try_from(time).unwrap_or(0), Who { pid, tid, comm, thread }, code, of);
    }

    /// An operation that SPE has sampled: an access, and where nothing else stands for CPU time, a sample.
    fn operation(&mut self, time: u64, rest: Bytes<'_>) {
        let Some((of, cpu, of_buffer)) = spe::unpack(rest) else { return };
        let (Some(ip), Some((pid, tid))) = (of.code, self.spe.who(&of, cpu, of_buffer, &self.spaces)) else {
            return self
                .profile
                .count("operations of SPE of which it is not known whose they are; they are left out", 1);
        };
        // The upper half of the addresses is the kernel's.
        let is_kernel = ip >> 63 == 1;
        if of.is_access() {
            self.put(time, pid, tid, is_kernel, &of);
        }
        let Some(index) = self.attrs.spe().filter(|index| self.is_taken(*index)) else { return };
        let (place, _) = self.spaces.code(self.profile, pid, is_kernel, ip);
        let stack = self.profile.stack(0, place);
        let (comm, thread) = self.spaces.names(self.profile, Some(pid), Some(tid));
        let weight = self.attrs.weight(index, None, self.profile);
        self.profile.samples.push(Sample {
            at: i64::try_from(time).unwrap_or(0),
            pid: pid.into(),
            tid: tid.into(),
            comm,
            thread,
            cpu: cpu.map_or(NULL, i64::from),
            stack,
            weight,
        });
    }

    fn sample(&mut self, time: u64, misc: u16, body: &[u8]) {
        let Some((index, attr)) = self.attrs.of_sample(body) else {
            return self.profile.count("samples of unknown events; they are left out", 1);
        };
        let Some(found) = sample(&attr, body) else {
            return self.profile.count("samples that are damaged; they are left out", 1);
        };
        self.access(time, misc, index, &attr, &found);
        if !self.is_taken(index) {
            *self.others.entry(index).or_default() += 1;
            return self.profile.count("samples of other events; they are left out (--event takes another)", 1);
        }
        let Fields { ip, pid, tid, cpu, period, chain, user_stack, .. } = found;
        self.places.clear();
        self.spaces.places(self.profile, pid, misc, ip, chain, &mut self.places);
        let stack = self.places.iter().rev().fold(0, |stack, place| self.profile.stack(stack, *place));
        if user_stack {
            self.profile.note("stacks were copied (--call-graph dwarf) and are not unwound here: only what perf itself walked is shown");
        }
        let (comm, thread) = self.spaces.names(self.profile, pid, tid);
        let number = |n: Option<u32>| n.map_or(NULL, i64::from);
        let weight = self.attrs.weight(index, period, self.profile);
        self.profile.samples.push(Sample {
            at: i64::try_from(time).unwrap_or(0),
            pid: number(pid),
            tid: number(tid),
            comm,
            thread,
            cpu: number(cpu),
            stack,
            weight,
        });
    }

    /// Deals with what waits. Returns the event that has most of the samples that were left out.
    fn finish(&mut self) -> Option<usize> {
        self.flush(u64::MAX);
        if !self.accesses.is_empty() {
            std::mem::take(&mut self.accesses).put(&mut self.spaces, self.profile);
        }
        for note in self.spaces.take_notes() {
            self.profile.note(note);
        }
        self.profile.note_unnamed(&self.spaces.unread());
        self.others.iter().max_by_key(|(_, samples)| **samples).map(|(index, _)| *index)
    }
}

/// Bytes of a part of the file.
fn section(file: &mut (impl Read + Seek), at: u64, size: u64) -> Result<Vec<u8>, String> {
    if size > MOST_FEATURE {
        return Err(format!("a part of {size} bytes"));
    }
    file.seek(SeekFrom::Start(at)).map_err(|e| e.to_string())?;
    let mut bytes = Vec::new();
    file.by_ref().take(size).read_to_end(&mut bytes).map_err(|e| e.to_string())?;
    if bytes.len() as u64 == size { Ok(bytes) } else { Err("the file is cut off".into()) }
}
