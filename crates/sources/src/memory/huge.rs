//! Which memory of a process lies in huge pages: the kernel walks its page tables and tells (ioctl `PAGEMAP_SCAN`, Linux 6.7; include/uapi/linux/fs.h).
//! Unlike `/proc/PID/smaps` it looks at a stretch only, not at all that is mapped before it.

use std::fs::File;
use std::ops::Range;
use std::os::fd::AsRawFd;

/// `_IOWR('f', 16, struct pm_scan_arg)`.
const PAGEMAP_SCAN: libc::c_ulong = 0xc060_6610;
const PAGE_IS_HUGE: u64 = 1 << 6;
/// Stretches that one call tells, and calls.
const REGIONS: usize = 64;
const MOST_CALLS: usize = 256;

/// `struct pm_scan_arg`.
#[repr(C)]
#[derive(Debug, Default)]
struct Scan {
    size: u64,
    flags: u64,
    start: u64,
    end: u64,
    walk_end: u64,
    vec: u64,
    vec_len: u64,
    max_pages: u64,
    category_inverted: u64,
    category_mask: u64,
    category_anyof_mask: u64,
    return_mask: u64,
}

/// `struct page_region`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
struct Region {
    start: u64,
    end: u64,
    categories: u64,
}

/// Bytes of a stretch of a process's memory that lie in huge pages; `None` where the kernel does not tell, or does not let us.
pub(super) fn bytes(pid: u32, of: Range<u64>) -> Option<u64> {
    Some(stretches(pid, of)?.iter().map(|huge| huge.end.saturating_sub(huge.start)).sum())
}

/// What of a stretch of a process's memory lies in huge pages; `None` where the kernel does not tell, or does not let us.
pub(crate) fn stretches(pid: u32, of: Range<u64>) -> Option<Vec<Range<u64>>> {
    let pagemap = File::open(format!("/proc/{pid}/pagemap")).ok()?;
    let mut regions = [Region::default(); REGIONS];
    let (mut from, end) = (of.start & !4095, of.end & !4095);
    let mut found = Vec::new();
    for _ in 0..MOST_CALLS {
        if from >= end {
            break;
        }
        let mut scan = Scan {
            size: size_of::<Scan>() as u64,
            start: from,
            end,
            vec: regions.as_mut_ptr().expose_provenance() as u64,
            vec_len: regions.len() as u64,
            category_mask: PAGE_IS_HUGE,
            return_mask: PAGE_IS_HUGE,
            ..Scan::default()
        };
        // SAFETY: `scan` says how large it is, and `regions` has room for as many as it says; both outlive the call.
        let filled = unsafe { libc::ioctl(pagemap.as_raw_fd(), PAGEMAP_SCAN as _, &raw mut scan) };
        let filled = usize::try_from(filled).ok()?;
        found.extend(regions.iter().take(filled).map(|region| region.start..region.end));
        if scan.walk_end <= from {
            break;
        }
        from = scan.walk_end;
    }
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_pages_are_not_huge() {
        let memory = vec![1u8; 1 << 16];
        let at = memory.as_ptr().addr() as u64;
        // Older kernels do not tell.
        if let Some(found) = bytes(std::process::id(), at..at + 4096) {
            assert!(found == 0 || found == 4096);
        }
        assert_eq!(bytes(std::process::id(), 8192..8192).unwrap_or(0), 0);
        assert_eq!(bytes(0, 4096..8192), None);
    }
}
