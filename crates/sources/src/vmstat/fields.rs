//! The known fields of `/proc/vmstat` (mm/vmstat.c vmstat_text, include/linux/vm_event_item.h). Pages are those of the host.

use model::{Column, Unit};

/// Whether a field is a level rather than a counter. The kernel does not say; its names do, with exceptions both ways.
pub(super) fn is_level(name: &[u8]) -> bool {
    match name {
        b"nr_vmscan_write"
        | b"nr_vmscan_immediate_reclaim"
        | b"nr_dirtied"
        | b"nr_written"
        | b"nr_throttled_written"
        | b"nr_foll_pin_acquired"
        | b"nr_foll_pin_released"
        | b"nr_tlb_remote_flush"
        | b"nr_tlb_remote_flush_received"
        | b"nr_tlb_local_flush_all"
        | b"nr_tlb_local_flush_one"
        | b"nr_tlb_local_flush_one_kernel" => false,
        b"workingset_nodes" => true,
        _ => name.starts_with(b"nr_"),
    }
}

const fn pages(name: &'static str, help: &'static str) -> Column {
    // A few MiB a second at pages of 4 KiB.
    Column::counter(name, Unit::None, help).floor(500.0)
}

const fn events(name: &'static str, help: &'static str) -> Column {
    Column::counter(name, Unit::None, help)
}

/// Events that cost a thread much, each.
const fn costly(name: &'static str, help: &'static str) -> Column {
    Column::counter(name, Unit::None, help).worse().floor(1.0)
}

const fn level(name: &'static str, help: &'static str) -> Column {
    Column::gauge(name, Unit::None, help)
}

/// What counts up.
pub(super) static COUNTERS: &[Column] = &[
    Column::counter("pgpgin", Unit::Kibibytes, "read from block devices"),
    Column::counter("pgpgout", Unit::Kibibytes, "written to block devices"),
    pages("pswpin", "pages read from swap").worse(),
    pages("pswpout", "pages written to swap").worse(),
    pages("swap_ra", "pages read ahead from swap"),
    pages("swap_ra_hit", "pages read ahead from swap that were used").better(),
    pages("swpin_zero", "pages of zeros that came back from swap without I/O"),
    pages("swpout_zero", "pages of zeros that went to swap without I/O"),
    pages("zswpin", "pages taken from compressed swap").worse(),
    pages("zswpout", "pages put into compressed swap").worse(),
    pages("zswpwb", "pages that compressed swap wrote on to disk").worse(),
    events("pgfault", "page faults, minor and major").worse().floor(500.0),
    costly("pgmajfault", "page faults that waited for I/O"),
    pages("pgfree", "pages freed"),
    pages("pgalloc_dma", "pages allocated in zone DMA"),
    pages("pgalloc_dma32", "pages allocated in zone DMA32"),
    pages("pgalloc_normal", "pages allocated in zone Normal"),
    pages("pgalloc_movable", "pages allocated in zone Movable"),
    pages("pgalloc_device", "pages allocated in device memory"),
    costly("allocstall_dma", "direct reclaim: allocations that stalled for a page of zone DMA"),
    costly("allocstall_dma32", "direct reclaim: allocations that stalled for a page of zone DMA32"),
    costly("allocstall_normal", "direct reclaim: allocations that stalled for a page of zone Normal"),
    costly("allocstall_movable", "direct reclaim: allocations that stalled for a page of zone Movable"),
    costly("allocstall_device", "direct reclaim: allocations that stalled for a page of device memory"),
    costly("allocstall", "direct reclaim: stalled allocations (before Linux 4.9)"),
    pages("pgskip_dma", "pages of zone DMA that reclaim passed over"),
    pages("pgskip_dma32", "pages of zone DMA32 that reclaim passed over"),
    pages("pgskip_normal", "pages of zone Normal that reclaim passed over"),
    pages("pgskip_movable", "pages of zone Movable that reclaim passed over"),
    pages("pgactivate", "pages that became recently used"),
    pages("pgdeactivate", "pages that became less recently used"),
    pages("pglazyfree", "pages marked by MADV_FREE"),
    pages("pglazyfreed", "pages marked by MADV_FREE that were freed"),
    pages("pgrefill", "active pages scanned for deactivation"),
    pages("pgreuse", "pages written to in place, because no one else used them any more"),
    pages("pgrotated", "pages moved to the end of the list, to be reclaimed next"),
    pages("pgsteal_kswapd", "pages reclaimed in the background (kswapd)").worse(),
    pages("pgsteal_direct", "pages reclaimed directly, by allocating threads").worse(),
    pages("pgsteal_khugepaged", "pages reclaimed by khugepaged").worse(),
    pages("pgsteal_proactive", "pages reclaimed because user space asked (memory.reclaim)"),
    pages("pgsteal_anon", "pages of programs reclaimed").worse(),
    pages("pgsteal_file", "pages of file data reclaimed").worse(),
    pages("pgscan_kswapd", "pages scanned by background reclaim").worse(),
    pages("pgscan_direct", "pages scanned by direct reclaim").worse(),
    pages("pgscan_khugepaged", "pages scanned by reclaim of khugepaged").worse(),
    pages("pgscan_proactive", "pages scanned by reclaim that user space asked for"),
    pages("pgscan_anon", "pages of programs scanned by reclaim").worse(),
    pages("pgscan_file", "pages of file data scanned by reclaim").worse(),
    costly("pgscan_direct_throttle", "threads held back because reclaim could not keep up"),
    events("zone_reclaim_success", "reclaim within a NUMA node that found enough"),
    events("zone_reclaim_failed", "reclaim within a NUMA node that did not find enough").worse(),
    events("pginodesteal", "pages freed with inodes dropped"),
    events("kswapd_inodesteal", "pages freed with inodes dropped in the background"),
    events("slabs_scanned", "kernel objects scanned by reclaim"),
    events("kswapd_low_wmark_hit_quickly", "background reclaim ended, and the low watermark was passed again at once")
        .worse(),
    events(
        "kswapd_high_wmark_hit_quickly",
        "background reclaim ended, and the high watermark was passed again at once",
    )
    .worse(),
    events("pageoutrun", "runs of background reclaim").worse(),
    events("drop_pagecache", "times someone dropped cached file data by hand").floor(0.01),
    events("drop_slab", "times someone dropped kernel objects by hand").floor(0.01),
    Column::counter("oom_kill", Unit::None, "processes killed because memory ran out (OOM)").worse().floor(0.001),
    pages("workingset_refault_anon", "refaults of anonymous pages, soon after they were reclaimed").worse(),
    pages("workingset_refault_file", "refaults of file pages, soon after they were reclaimed").worse(),
    pages("workingset_refault", "refaults: pages read again soon after they were reclaimed (before Linux 5.9)").worse(),
    pages("workingset_activate_anon", "such pages of programs that were taken for recently used at once"),
    pages("workingset_activate_file", "such pages of file data that were taken for recently used at once"),
    pages("workingset_activate", "such pages that were taken for recently used at once (before Linux 5.9)"),
    pages("workingset_restore_anon", "such pages of programs that had been recently used when they were reclaimed")
        .worse(),
    pages("workingset_restore_file", "such pages of file data that had been recently used when they were reclaimed")
        .worse(),
    pages("workingset_restore", "such pages that had been recently used when they were reclaimed (before Linux 5.9)")
        .worse(),
    events("workingset_nodereclaim", "times records of reclaimed pages were reclaimed themselves"),
    pages("nr_vmscan_write", "pages that reclaim itself wrote to disk").worse(),
    pages("nr_vmscan_immediate_reclaim", "pages freed at the end of their writeback"),
    pages("nr_dirtied", "pages made dirty"),
    pages("nr_written", "pages written back"),
    pages("nr_throttled_written", "pages written back while reclaim was held back").worse(),
    pages("nr_foll_pin_acquired", "pages pinned for devices"),
    pages("nr_foll_pin_released", "pages pinned for devices and released"),
    pages("numa_hit", "pages allocated on the node that was wanted"),
    pages("numa_miss", "pages allocated on another node than the one that was wanted, counted where they are").worse(),
    pages(
        "numa_foreign",
        "pages allocated on another node than the one that was wanted, counted where they were wanted",
    )
    .worse(),
    pages("numa_interleave", "pages allocated on the node that interleaving wanted"),
    pages("numa_local", "pages allocated on the node of the CPU"),
    pages("numa_other", "pages allocated on another node than that of the CPU").worse(),
    pages("numa_pte_updates", "pages that NUMA balancing made fault, to see who uses them").worse(),
    pages("numa_huge_pte_updates", "huge pages that NUMA balancing made fault").worse(),
    events("numa_hint_faults", "faults that NUMA balancing caused").worse().floor(500.0),
    events("numa_hint_faults_local", "of these, those of memory on the node of the CPU").floor(500.0),
    pages("numa_pages_migrated", "pages that NUMA balancing moved to another node").worse(),
    pages("pgpromote_success", "pages moved to faster memory"),
    pages("pgpromote_candidate", "pages considered for faster memory"),
    pages("pgdemote_kswapd", "pages moved to slower memory in the background"),
    pages("pgdemote_direct", "pages moved to slower memory by direct reclaim").worse(),
    pages("pgdemote_khugepaged", "pages moved to slower memory by khugepaged"),
    pages("pgdemote_proactive", "pages moved to slower memory because user space asked"),
    pages("pgmigrate_success", "pages moved in memory"),
    pages("pgmigrate_fail", "pages that could not be moved").worse(),
    events("thp_migration_success", "transparent huge pages moved in memory"),
    events("thp_migration_fail", "transparent huge pages that could not be moved").worse(),
    events("thp_migration_split", "transparent huge pages split to be moved").worse(),
    pages("compact_migrate_scanned", "pages scanned by compaction, to be moved").worse(),
    pages("compact_free_scanned", "pages scanned by compaction, as places to move to").worse(),
    pages("compact_isolated", "pages taken by compaction").worse(),
    costly("compact_stall", "direct compaction: allocations that stalled for it"),
    costly("compact_fail", "of these, those that found no contiguous memory after it"),
    events("compact_success", "of these, those that found contiguous memory after it"),
    events("compact_daemon_wake", "times kcompactd was woken"),
    pages("compact_daemon_migrate_scanned", "pages scanned by kcompactd, to be moved"),
    pages("compact_daemon_free_scanned", "pages scanned by kcompactd, as places to move to"),
    events("htlb_buddy_alloc_success", "huge pages allocated for hugetlb"),
    events("htlb_buddy_alloc_fail", "huge pages for hugetlb that could not be allocated").worse().floor(0.1),
    events("unevictable_pgs_culled", "pages found not reclaimable"),
    events("unevictable_pgs_scanned", "not reclaimable pages looked at again"),
    events("unevictable_pgs_rescued", "pages that became reclaimable again"),
    events("unevictable_pgs_mlocked", "pages locked"),
    events("unevictable_pgs_munlocked", "pages unlocked"),
    events("unevictable_pgs_cleared", "locked pages that were freed"),
    events("unevictable_pgs_stranded", "pages left not reclaimable after they were unlocked").worse(),
    events("thp_fault_alloc", "transparent huge pages given at a fault").floor(5.0),
    events("thp_fault_fallback", "faults that wanted a huge page and got small ones").worse().floor(5.0),
    events("thp_fault_fallback_charge", "of these, those that a cgroup's limit refused").worse().floor(5.0),
    events("thp_collapse_alloc", "huge pages allocated by khugepaged, to put small ones together").floor(1.0),
    events("thp_collapse_alloc_failed", "huge pages that khugepaged could not allocate").worse().floor(1.0),
    events("thp_file_alloc", "huge pages allocated for shared memory or files").floor(5.0),
    events("thp_file_fallback", "huge pages for shared memory or files that could not be allocated").worse().floor(5.0),
    events("thp_file_fallback_charge", "of these, those that a cgroup's limit refused").worse().floor(5.0),
    events("thp_file_mapped", "huge pages of files mapped").floor(5.0),
    events("thp_split_page", "transparent huge pages split into small ones").worse().floor(5.0),
    events("thp_split_page_failed", "transparent huge pages that could not be split").worse().floor(5.0),
    events("thp_deferred_split_page", "transparent huge pages noted to be split when memory is short").floor(5.0),
    events("thp_underused_split_page", "transparent huge pages split because little of them was used").floor(5.0),
    events("thp_split_pmd", "mappings of transparent huge pages split, by munmap or mprotect of a part")
        .worse()
        .floor(5.0),
    events("thp_split_pud", "mappings of 1 GiB split").worse().floor(1.0),
    events("thp_scan_exceed_none_pte", "times khugepaged passed over memory that had too many unused pages"),
    events("thp_scan_exceed_swap_pte", "times khugepaged passed over memory that had too many pages in swap"),
    events("thp_scan_exceed_share_pte", "times khugepaged passed over memory that had too many shared pages"),
    events("thp_zero_page_alloc", "huge pages of zeros allocated").floor(1.0),
    events("thp_zero_page_alloc_failed", "huge pages of zeros that could not be allocated").worse().floor(1.0),
    events("thp_swpout", "transparent huge pages swapped out whole").worse().floor(1.0),
    events("thp_swpout_fallback", "transparent huge pages split to be swapped out").worse().floor(1.0),
    events("balloon_inflate", "pages given to the hypervisor"),
    events("balloon_deflate", "pages taken back from the hypervisor"),
    events("balloon_migrate", "pages of the balloon moved"),
    events("ksm_swpin_copy", "merged pages copied when they came from swap"),
    events("cow_ksm", "merged pages copied because they were written to").worse(),
    events("direct_map_level2_splits", "mappings of 2 MiB of the kernel split into small ones").worse().floor(0.1),
    events("direct_map_level3_splits", "mappings of 1 GiB of the kernel split into smaller ones").worse().floor(0.1),
    events("direct_map_level2_collapses", "mappings of the kernel put together to 2 MiB").floor(0.1),
    events("direct_map_level3_collapses", "mappings of the kernel put together to 1 GiB").floor(0.1),
    events("nr_tlb_remote_flush", "TLB shootdowns sent to other CPUs (kernels with CONFIG_DEBUG_TLBFLUSH)").worse(),
    events("nr_tlb_remote_flush_received", "TLB shootdowns received").worse(),
    events("nr_tlb_local_flush_all", "full flushes of a CPU's own TLB").worse(),
    events("nr_tlb_local_flush_one", "single-page flushes of a CPU's own TLB").worse(),
];

/// What goes up and down.
pub(super) static LEVELS: &[Column] = &[
    level("nr_free_pages", "free pages").better(),
    level("nr_free_pages_blocks", "free pages in whole page blocks").better(),
    level("nr_zone_inactive_anon", "less recently used pages of programs, summed over zones"),
    level("nr_zone_active_anon", "recently used pages of programs, summed over zones"),
    level("nr_zone_inactive_file", "less recently used pages of file data, summed over zones"),
    level("nr_zone_active_file", "recently used pages of file data, summed over zones"),
    level("nr_zone_unevictable", "pages that cannot be reclaimed, summed over zones"),
    level("nr_zone_write_pending", "dirty pages and pages under writeback, summed over zones"),
    level("nr_mlock", "locked pages"),
    level("nr_zspages", "pages of the compressed-memory allocator"),
    level("nr_free_cma", "free pages reserved for contiguous allocations"),
    level("nr_inactive_anon", "less recently used pages of programs"),
    level("nr_active_anon", "recently used pages of programs"),
    level("nr_inactive_file", "less recently used pages of file data"),
    level("nr_active_file", "recently used pages of file data"),
    level("nr_unevictable", "pages that cannot be reclaimed"),
    level("nr_slab_reclaimable", "pages of kernel objects that can be dropped"),
    level("nr_slab_unreclaimable", "pages of kernel objects that cannot be dropped"),
    level("nr_isolated_anon", "pages of programs that reclaim or migration holds right now"),
    level("nr_isolated_file", "pages of file data that reclaim or migration holds right now"),
    level("workingset_nodes", "nodes that hold records of reclaimed pages"),
    level("nr_anon_pages", "pages of programs that belong to no file"),
    level("nr_mapped", "pages of file data that programs have mapped"),
    level("nr_file_pages", "pages of file data, shared memory included"),
    level("nr_dirty", "pages changed and not yet on their way to disk"),
    level("nr_writeback", "pages on their way to disk"),
    level("nr_writeback_temp", "pages of FUSE under writeback"),
    level("nr_shmem", "pages of shared memory and tmpfs"),
    level("nr_shmem_hugepages", "huge pages of shared memory"),
    level("nr_shmem_pmdmapped", "huge pages of shared memory that are mapped whole"),
    level("nr_file_hugepages", "huge pages of file data"),
    level("nr_file_pmdmapped", "huge pages of file data that are mapped whole"),
    level("nr_anon_transparent_hugepages", "transparent huge pages of programs"),
    level("nr_kernel_misc_reclaimable", "other pages of the kernel that can be dropped"),
    Column::gauge("nr_kernel_stack", Unit::Kibibytes, "kernel stacks of threads"),
    level("nr_page_table_pages", "pages of page tables"),
    level("nr_sec_page_table_pages", "pages of page tables of virtual machines and IOMMUs"),
    level("nr_iommu_pages", "pages that IOMMU drivers hold"),
    level("nr_swapcached", "pages in memory that are in swap too"),
    level("nr_hugetlb", "pages in huge pages that are reserved for programs"),
    level("nr_balloon_pages", "pages given to the hypervisor by the balloon"),
    level("nr_kernel_file_pages", "pages of file data that the kernel itself holds, not charged to any cgroup"),
    level("nr_bounce", "bounce buffers of block devices"),
    level("nr_dirty_threshold", "dirty pages above which writers are throttled"),
    level("nr_dirty_background_threshold", "dirty pages above which writeback starts"),
    level("nr_memmap_pages", "pages that describe memory added after boot"),
    level("nr_memmap_boot_pages", "pages that describe memory, from boot"),
    level("nr_unstable", "written to an NFS server, not yet committed; 0 since Linux 5.8"),
];
