//! The known fields of `/proc/meminfo` and of a node's meminfo (fs/proc/meminfo.c, drivers/base/node.c).

use model::{Column, Compare, Unit};

const fn kib(name: &'static str, help: &'static str) -> Column {
    Column::gauge(name, Unit::Kibibytes, help)
}

/// What belongs to the machine or its settings rather than to its use, or is part of another field.
const fn not_compared(name: &'static str, help: &'static str) -> Column {
    Column::gauge(name, Unit::Kibibytes, help).compared(Compare::Never)
}

const fn pages(name: &'static str, help: &'static str) -> Column {
    Column::gauge(name, Unit::None, help).floor(1.0)
}

/// Each with what it means; memory in KiB, which the file writes as "kB".
pub(crate) const FIELDS: &[Column] = &[
    not_compared("MemTotal", "memory that the kernel manages"),
    kib("MemFree", "memory that holds nothing").better(),
    kib("MemAvailable", "estimate of what programs can take without swapping").better(),
    not_compared("MemUsed", "of a node: MemTotal less MemFree"),
    kib("Buffers", "cached blocks of block devices"),
    kib("Cached", "cached file data, tmpfs and shared memory included"),
    kib("FilePages", "of a node: cached file data and blocks, tmpfs and shared memory included"),
    kib("SwapCached", "swapped out once, back in memory, and still in swap"),
    not_compared("Active", "recently used: Active(anon) and Active(file)"),
    not_compared("Inactive", "less recently used, first to be reclaimed: Inactive(anon) and Inactive(file)"),
    kib("Active(anon)", "recently used memory of programs"),
    kib("Inactive(anon)", "less recently used memory of programs"),
    kib("Active(file)", "recently used file data"),
    kib("Inactive(file)", "less recently used file data, first to be dropped"),
    kib("Unevictable", "cannot be reclaimed: locked memory, ramfs, pinned shared memory"),
    kib("Mlocked", "locked by mlock"),
    not_compared("HighTotal", "high memory of 32-bit kernels"),
    not_compared("HighFree", "free high memory of 32-bit kernels"),
    not_compared("LowTotal", "low memory of 32-bit kernels"),
    not_compared("LowFree", "free low memory of 32-bit kernels"),
    kib("MmapCopy", "copied for mappings on kernels without an MMU"),
    not_compared("SwapTotal", "swap space"),
    kib("SwapFree", "swap space not in use").better(),
    kib("Zswap", "memory that compressed swap takes").worse(),
    kib("Zswapped", "memory of programs that compressed swap holds, uncompressed size").worse(),
    kib("Dirty", "file data changed in memory, not yet on its way to disk"),
    kib("Writeback", "file data on its way to disk"),
    kib("AnonPages", "memory of programs that belongs to no file: heaps, stacks"),
    kib("Mapped", "file data that programs have mapped, shared libraries included"),
    kib("Shmem", "shared memory and tmpfs"),
    not_compared("KReclaimable", "memory of the kernel that it gives back under pressure, SReclaimable included"),
    not_compared("Slab", "caches of kernel objects: SReclaimable and SUnreclaim"),
    kib("SReclaimable", "kernel objects that can be dropped: dentries, inodes"),
    kib("SUnreclaim", "kernel objects that cannot be dropped; steady growth is a leak"),
    kib("KernelStack", "kernel stacks of threads"),
    kib("ShadowCallStack", "shadow call stacks of threads (arm64)"),
    kib("PageTables", "page tables of programs"),
    kib("SecPageTables", "page tables of virtual machines and IOMMUs"),
    not_compared("NFS_Unstable", "written to an NFS server, not yet committed; 0 since Linux 5.8"),
    not_compared("Bounce", "bounce buffers of block devices; 0 since Linux 6.16"),
    kib("WritebackTmp", "buffers of FUSE for writeback"),
    not_compared("CommitLimit", "how much may be promised to programs, when overcommit is strict"),
    kib("Committed_AS", "promised to programs: what they would need if they used all they asked for"),
    not_compared("VmallocTotal", "size of the kernel's vmalloc area"),
    kib("VmallocUsed", "vmalloc area in use"),
    not_compared("VmallocChunk", "0 since Linux 4.4"),
    kib("Percpu", "per-CPU allocations of the kernel"),
    kib("EarlyMemtestBad", "found bad by the memory test at boot").worse(),
    kib("HardwareCorrupted", "taken out of use because of memory errors").worse(),
    kib("AnonHugePages", "memory of programs in transparent huge pages"),
    kib("ShmemHugePages", "shared memory in huge pages"),
    kib("ShmemPmdMapped", "shared memory mapped by huge pages"),
    kib("FileHugePages", "file data in huge pages"),
    kib("FilePmdMapped", "file data mapped by huge pages"),
    not_compared("CmaTotal", "reserved for contiguous allocations"),
    kib("CmaFree", "reserved for contiguous allocations and free"),
    kib("Unaccepted", "memory of a confidential guest that it has not accepted yet"),
    kib("Balloon", "given back to the hypervisor by the balloon"),
    kib("GPUActive", "in use by GPUs"),
    kib("GPUReclaim", "held by GPU drivers and reclaimable"),
    pages("HugePages_Total", "huge pages of the default size that are reserved for programs"),
    pages("HugePages_Free", "of these, those not yet allocated"),
    pages("HugePages_Rsvd", "promised to programs and not yet allocated"),
    pages("HugePages_Surp", "allocated above the reserved number"),
    not_compared("Hugepagesize", "default size of huge pages"),
    kib("Hugetlb", "memory in huge pages of all sizes that are reserved for programs"),
    not_compared("DirectMap4k", "memory that the kernel maps by 4 KiB pages"),
    not_compared("DirectMap2M", "memory that the kernel maps by 2 MiB pages"),
    not_compared("DirectMap4M", "memory that the kernel maps by 4 MiB pages"),
    not_compared("DirectMap1G", "memory that the kernel maps by 1 GiB pages"),
];
