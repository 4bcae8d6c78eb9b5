//! A reader of eBPF ring buffers that maps them once. libbpf's maps the records twice, one copy behind the other, so that those that wrap are in one
//! piece; all of that counts as memory of this program, and a record wraps only once a turn.

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// A ring buffer that is drained now and then. Programs should submit with `BPF_RB_NO_WAKEUP`: nobody waits for it.
#[derive(Debug)]
pub struct Ring {
    /// Up to where records were taken; written here.
    consumer: Mapping,
    /// Up to where there are some, and on the next page the records.
    producer: Mapping,
    page: usize,
    /// Bytes of the records' part; a power of two.
    size: usize,
    /// A record that wraps, in one piece.
    whole: Vec<u8>,
}

/// Before each record: its length with two marks, and the number of a page.
const HEADER: usize = 8;
/// `BPF_RINGBUF_BUSY_BIT`, `BPF_RINGBUF_DISCARD_BIT`: it is being written; it is to be passed over.
const BUSY: u32 = 1 << 31;
const DISCARDED: u32 = 1 << 30;

impl Ring {
    /// Maps the ring buffer `map` of `size` bytes.
    pub(crate) fn new(map: BorrowedFd<'_>, size: usize) -> io::Result<Self> {
        // SAFETY: takes a number only.
        let page = usize::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).map_err(io::Error::other)?;
        if page == 0 || !size.is_power_of_two() || !size.is_multiple_of(page) {
            return Err(io::Error::from(io::ErrorKind::InvalidInput));
        }
        Ok(Ring {
            consumer: Mapping::new(map, libc::PROT_READ | libc::PROT_WRITE, 0, page)?,
            producer: Mapping::new(map, libc::PROT_READ, page, page + size)?,
            page,
            size,
            whole: Vec::new(),
        })
    }

    /// Hands each record that is there to `take`, oldest first.
    pub fn drain(&mut self, mut take: impl FnMut(&[u8])) {
        // SAFETY: the first bytes of both mappings are the positions, aligned, and shared with the kernel by atomic access.
        let (consumed, produced) = unsafe {
            (&*self.consumer.at.as_ptr().cast::<AtomicU64>(), &*self.producer.at.as_ptr().cast::<AtomicU64>())
        };
        let mut at = consumed.load(Ordering::Relaxed);
        let end = produced.load(Ordering::Acquire);
        while at < end {
            let from = at as usize & (self.size - 1);
            // SAFETY: within the mapped records. A header is as long as records are aligned to, so that it never wraps.
            let (data, header) = unsafe {
                let data = self.producer.at.as_ptr().add(self.page);
                (data, (&*data.add(from).cast::<AtomicU32>()).load(Ordering::Acquire))
            };
            let length = (header & !(BUSY | DISCARDED)) as usize;
            // The kernel writes none longer than the ring.
            if header & BUSY != 0 || length > self.size - HEADER {
                break;
            }
            if header & DISCARDED == 0 {
                let begin = (from + HEADER) & (self.size - 1);
                let first = length.min(self.size - begin);
                // SAFETY: both parts lie within the mapped records, and the kernel does not write there before the consumer has moved on.
                let (first, rest) = unsafe {
                    (
                        std::slice::from_raw_parts(data.add(begin), first),
                        std::slice::from_raw_parts(data, length - first),
                    )
                };
                if rest.is_empty() {
                    take(first);
                } else {
                    self.whole.clear();
                    self.whole.extend_from_slice(first);
                    self.whole.extend_from_slice(rest);
                    take(&self.whole);
                }
            }
            at += (length + HEADER).next_multiple_of(HEADER) as u64;
            consumed.store(at, Ordering::Release);
        }
    }
}

/// A part of the map in memory.
#[derive(Debug)]
struct Mapping {
    at: NonNull<u8>,
    length: usize,
}

// SAFETY: it belongs to its ring alone, which is only read through `&mut`.
unsafe impl Send for Mapping {}

impl Mapping {
    fn new(map: BorrowedFd<'_>, protection: i32, offset: usize, length: usize) -> io::Result<Self> {
        // SAFETY: a new mapping, at a place that the kernel chooses.
        let at = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                length,
                protection,
                libc::MAP_SHARED,
                map.as_raw_fd(),
                offset as libc::off_t,
            )
        };
        match NonNull::new(at.cast::<u8>()) {
            Some(at) if at.as_ptr().cast() != libc::MAP_FAILED => Ok(Mapping { at, length }),
            _ => Err(io::Error::last_os_error()),
        }
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: the mapping is of this length and belongs to this alone.
        unsafe { libc::munmap(self.at.as_ptr().cast(), self.length) };
    }
}
