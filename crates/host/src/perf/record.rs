//! Records of performance events, as the kernel writes them into a ring: samples, mappings, forks, names and what found no room
//! (include/uapi/linux/perf_event.h).

// Types of records.
const MMAP_RECORD: u32 = 1;
pub(crate) const LOST_RECORD: u32 = 2;
const COMM_RECORD: u32 = 3;
const EXIT_RECORD: u32 = 4;
const FORK_RECORD: u32 = 7;
pub(crate) const SAMPLE_RECORD: u32 = 9;
const MMAP2_RECORD: u32 = 10;
/// Bits of `misc`; the lowest three say who was running.
const MISC_MODE: u16 = 7;
const MISC_KERNEL: u16 = 1;
const MISC_EXEC: u16 = 1 << 13;
const MISC_BUILD_ID: u16 = 1 << 14;

/// Bytes after each record that is no sample: process and thread, time, CPU.
const TRAILER: usize = 24;

/// Bytes of a sample by instructions: header, instruction, process and thread, time, CPU, period. One by cycles or by a timer has three words more at
/// least: how many addresses of the kernel, whether there are registers, how much of the stack.
const SHORT: usize = 48;

/// When a record was made, nanoseconds of CLOCK_MONOTONIC.
pub(super) fn time_of(record: &[u8]) -> u64 {
    let kind = record.first_chunk().map_or(0, |bytes| u32::from_ne_bytes(*bytes));
    let at = if kind == SAMPLE_RECORD { 24 } else { record.len().saturating_sub(16) };
    record.get(at..).and_then(|rest| rest.first_chunk()).map_or(0, |bytes| u64::from_ne_bytes(*bytes))
}

/// A sample of what a CPU ran.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sample<'a> {
    /// Process and thread.
    pub pid: u32,
    /// The thread.
    pub tid: u32,
    /// The CPU.
    pub cpu: u32,
    /// The instruction that it was found at: what was to be executed next when the counter or the timer ran out.
    pub address: u64,
    /// Whether that is the kernel's.
    pub in_kernel: bool,
    /// What was counted since the sample before: cycles, instructions, or nanoseconds of a timer.
    pub period: u64,
    /// Kernel addresses, innermost first; none where the program itself ran.
    pub kernel: Vec<u64>,
    /// Instruction pointer, stack pointer, frame pointer and link register (0 where there is none) of the program, and rbx and r13 of x86-64; `None` for
    /// kernel threads.
    pub registers: Option<[u64; 6]>,
    /// The bytes of the program's stack from the stack pointer on.
    pub stack: &'a [u8],
}

/// What the kernel put into a ring.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Record<'a> {
    /// A sample by cycles, or by a timer.
    Sample(Sample<'a>),
    /// A sample by instructions, which has no stack.
    ByInstructions(Sample<'a>),
    /// A process mapped something that may be executed.
    Mapped {
        /// The process.
        pid: u32,
        /// Where.
        start: u64,
        /// How much, bytes.
        length: u64,
        /// Where it begins in the file.
        offset: u64,
        /// Device number of the file.
        device: (u32, u32),
        /// Inode of the file; 0 where it is not known.
        inode: u64,
        /// Path, or a name in brackets.
        path: &'a [u8],
    },
    /// A thread has another name.
    Comm {
        /// Its process.
        pid: u32,
        /// The thread.
        tid: u32,
        /// Its name.
        name: &'a [u8],
        /// Because its process runs another program.
        exec: bool,
    },
    /// A thread or process began.
    Forked {
        /// Its process.
        pid: u32,
        /// The thread.
        tid: u32,
        /// The process that began it.
        parent: u32,
        /// The thread that began it.
        parent_tid: u32,
    },
    /// A thread ended.
    Exited {
        /// Its process.
        pid: u32,
        /// The thread.
        tid: u32,
    },
    /// So many records found no room.
    Lost(u64),
}

/// Bytes that are taken from the front.
pub(crate) struct Cursor<'a>(pub(crate) &'a [u8]);

impl<'a> Cursor<'a> {
    pub(crate) fn u32(&mut self) -> Option<u32> {
        let (head, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(u32::from_ne_bytes(*head))
    }

    pub(crate) fn u64(&mut self) -> Option<u64> {
        let (head, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(u64::from_ne_bytes(*head))
    }

    fn take(&mut self, count: u64) -> Option<&'a [u8]> {
        let (head, rest) = self.0.split_at_checked(usize::try_from(count).ok()?)?;
        self.0 = rest;
        Some(head)
    }
}

/// The bytes up to the first zero.
fn name(bytes: &[u8]) -> &[u8] {
    bytes.split(|&b| b == 0).next().unwrap_or_default()
}

impl<'a> Record<'a> {
    /// Reads a record with its header; `None` for one that is of no interest here or makes no sense.
    pub fn parse(bytes: &'a [u8]) -> Option<Self> {
        let mut cursor = Cursor(bytes);
        let kind = cursor.u32()?;
        let misc = (cursor.u32()? & 0xffff) as u16;
        if kind == SAMPLE_RECORD {
            let in_kernel = misc & MISC_MODE == MISC_KERNEL;
            return match bytes.len() {
                SHORT => short(&mut cursor, in_kernel).map(Record::ByInstructions),
                _ => sample(cursor, in_kernel).map(Record::Sample),
            };
        }
        let mut cursor = Cursor(cursor.0.get(..cursor.0.len().checked_sub(TRAILER)?)?);
        Some(match kind {
            MMAP2_RECORD | MMAP_RECORD => {
                let (pid, _tid) = (cursor.u32()?, cursor.u32()?);
                let (start, length, offset) = (cursor.u64()?, cursor.u64()?, cursor.u64()?);
                let (mut device, mut inode) = ((0, 0), 0);
                if kind == MMAP2_RECORD {
                    let (major, minor, number) = (cursor.u32()?, cursor.u32()?, cursor.u64()?);
                    if misc & MISC_BUILD_ID == 0 {
                        (device, inode) = ((major, minor), number);
                    }
                    cursor.take(16)?;
                }
                Record::Mapped { pid, start, length, offset, device, inode, path: name(cursor.0) }
            }
            COMM_RECORD => {
                let (pid, tid) = (cursor.u32()?, cursor.u32()?);
                Record::Comm { pid, tid, name: name(cursor.0), exec: misc & MISC_EXEC != 0 }
            }
            FORK_RECORD | EXIT_RECORD => {
                let (pid, parent, tid, parent_tid) = (cursor.u32()?, cursor.u32()?, cursor.u32()?, cursor.u32()?);
                match kind {
                    FORK_RECORD => Record::Forked { pid, tid, parent, parent_tid },
                    _ => Record::Exited { pid, tid },
                }
            }
            LOST_RECORD => {
                cursor.u64()?;
                Record::Lost(cursor.u64()?)
            }
            _ => return None,
        })
    }
}

/// What every sample begins with.
fn short<'a>(cursor: &mut Cursor<'a>, in_kernel: bool) -> Option<Sample<'a>> {
    let address = cursor.u64()?;
    let (pid, tid) = (cursor.u32()?, cursor.u32()?);
    let _time = cursor.u64()?;
    let (cpu, _) = (cursor.u32()?, cursor.u32()?);
    let period = cursor.u64()?;
    Some(Sample { pid, tid, cpu, address, in_kernel, period, kernel: Vec::new(), registers: None, stack: &[] })
}

fn sample(mut cursor: Cursor<'_>, in_kernel: bool) -> Option<Sample<'_>> {
    let short = short(&mut cursor, in_kernel)?;
    let count = cursor.u64()?;
    let chain = cursor.take(count.checked_mul(8)?)?;
    let words = chain.chunks_exact(8).filter_map(|word| word.try_into().ok().map(u64::from_ne_bytes));
    // Marks of where a part begins are no addresses.
    let kernel = words.filter(|&word| word < u64::MAX - 4095).collect();
    let abi = cursor.u64()?;
    let mut registers = None;
    if abi != 0 {
        registers = Some(if cfg!(target_arch = "aarch64") {
            let (fp, lr, sp, pc) = (cursor.u64()?, cursor.u64()?, cursor.u64()?, cursor.u64()?);
            [pc, sp, fp, lr, 0, 0]
        } else {
            let (bx, bp, sp, ip, r13) = (cursor.u64()?, cursor.u64()?, cursor.u64()?, cursor.u64()?, cursor.u64()?);
            [ip, sp, bp, 0, bx, r13]
        });
    }
    let size = cursor.u64()?;
    // What was not used was left in the ring, and with it how much that is.
    let stack = match cursor.take(size) {
        Some(room) if size > 0 => room.get(..usize::try_from(cursor.u64()?).ok()?)?,
        Some(none) => none,
        None => cursor.0,
    };
    Some(Sample { kernel, registers, stack, ..short })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A sample of thread 7 in user space, whose stack had room for 32 bytes and used 16: as the kernel writes it, and without what was not used.
    #[test]
    fn stacks_of_samples() {
        let words: [u64; 7] = [1, 7 << 32 | 7, 5, 3, 1000, 0, 2];
        let mut bytes = vec![9, 0, 0, 0, 2, 0, 0, 0];
        words.iter().for_each(|word| bytes.extend(word.to_ne_bytes()));
        let registers: u64 = if cfg!(target_arch = "aarch64") { 4 } else { 5 };
        (0..registers).for_each(|word| bytes.extend(word.to_ne_bytes()));
        bytes.extend(32u64.to_ne_bytes());
        bytes.extend([0xab; 16]);
        let stack = |bytes: &[u8]| match Record::parse(bytes) {
            Some(Record::Sample(Sample { tid, cpu: 3, address: 1, in_kernel: false, period: 1000, stack, .. })) => {
                Some((tid, stack.to_vec()))
            }
            _ => None,
        };
        let trimmed = bytes.clone();
        bytes.extend([0; 16]);
        bytes.extend(16u64.to_ne_bytes());
        assert_eq!(stack(&bytes), Some((7, vec![0xab; 16])));
        assert_eq!(stack(&trimmed), Some((7, vec![0xab; 16])));
    }

    /// As the kernel writes them: thread 8 of process 7 on CPU 3, once in its program and once in the kernel.
    #[test]
    fn samples_by_instructions() {
        for (misc, in_kernel) in [(2, false), (1, true), (2 | 1 << 14, false)] {
            let mut bytes = [9u32.to_ne_bytes(), (misc | 48u32 << 16).to_ne_bytes()].concat();
            for word in [0x40_1000, 8 << 32 | 7, 5, 3, 123_456u64] {
                bytes.extend(word.to_ne_bytes());
            }
            assert_eq!((bytes.len(), time_of(&bytes)), (SHORT, 5));
            let sample = Sample {
                pid: 7,
                tid: 8,
                cpu: 3,
                address: 0x40_1000,
                in_kernel,
                period: 123_456,
                kernel: vec![],
                registers: None,
                stack: &[],
            };
            assert_eq!(Record::parse(&bytes), Some(Record::ByInstructions(sample)));
            assert_eq!(Record::parse(bytes.get(..SHORT - 8).unwrap()), None);
        }
    }

    #[test]
    fn foreign_bytes_never_panic() {
        // Every length and every type of a record, filled with small and with large numbers.
        for fill in [0u8, 1, 8, 0xff] {
            for kind in 0..20u32 {
                for length in 0..200 {
                    let mut bytes = vec![fill; length];
                    if let Some(head) = bytes.first_chunk_mut() {
                        *head = kind.to_ne_bytes();
                    }
                    let _ = (Record::parse(&bytes), time_of(&bytes));
                }
            }
        }
    }
}
