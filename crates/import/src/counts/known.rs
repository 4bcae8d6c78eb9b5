//! Metrics of other tools that mean what a metric of `counters/` does: those of PerfSpect, of metric groups of perf, and of the makers' lists.

/// Names, in small letters and without the dots of a tree; the metrics of `counters/` that mean the same; and by what values are multiplied. MPI is misses in
/// an instruction, PTI and MPKI in 1,000.
const NAMES: &[(&str, &str, f64)] = &[
    ("ipc", "ipc", 1.0),
    ("cpu utilization% in kernel mode", "kernel_share", 0.01),
    ("branch misprediction ratio", "branch_miss_ratio", 1.0),
    ("branch mispredict ratio", "branch_miss_ratio", 1.0),
    ("itlb mpi", "itlb_walks_pki", 1000.0),
    ("itlb (2nd level) mpi", "itlb_walks_pki", 1000.0),
    ("l2 itlb misses and instruction page walks pti", "itlb_walks_pki", 1.0),
    ("l2 dtlb misses and data page walks pti", "dtlb_walks_pki", 1.0),
    ("l1 dtlb misses pti", "dtlb_mpki", 1.0),
    ("l1d mpi (includes data+rfo w/ prefetches)", "l1d_mpki", 1000.0),
    ("all l1 data cache fills pti", "l1d_mpki", 1.0),
    ("l1-i code read misses (w/ prefetches) per instr", "l1i_mpki", 1000.0),
    ("l2 cache accesses from l1 instruction cache misses pti", "l1i_mpki", 1.0),
    ("l2 mpi (includes code+data+rfo w/ prefetches)", "l2_mpki", 1000.0),
    ("l2 cache misses from l1 instruction cache misses pti", "l2i_mpki", 1.0),
    ("tma_frontend_bound(%)", "frontend_bound", 0.01),
    ("tma_backend_bound(%)", "backend_bound", 0.01),
    ("tma_bad_speculation(%)", "bad_speculation", 0.01),
    ("tma_retiring(%)", "retiring", 0.01),
    ("tma_fetch_latency(%)", "fetch_latency", 0.01),
    ("tma_memory_bound(%)", "memory_bound", 0.01),
    ("frontend bound (%)", "frontend_bound", 0.01),
    ("backend bound (%)", "backend_bound", 0.01),
    ("bad speculation (%)", "bad_speculation", 0.01),
    ("retiring (%)", "retiring", 0.01),
    ("pipeline utilization - frontend bound (%)", "frontend_bound", 0.01),
    ("pipeline utilization - backend bound (%)", "backend_bound", 0.01),
    ("pipeline utilization - bad speculation (%)", "bad_speculation", 0.01),
    ("pipeline utilization - retiring (%)", "retiring", 0.01),
    ("pipeline utilization - smt contention (%)", "smt_contention", 0.01),
    ("smt contention (%)", "smt_contention", 0.01),
    ("numa %_reads addressed to remote dram", "remote_share", 0.01),
    // Of intel/perfmon.
    ("branch_misprediction_ratio", "branch_miss_ratio", 1.0),
    ("itlb_2nd_level_mpi", "itlb_walks_pki", 1000.0),
    ("l1d_mpi", "l1d_mpki", 1000.0),
    ("l2_mpi", "l2_mpki", 1000.0),
    ("l1_i_code_read_misses_with_prefetches_per_instr", "l1i_mpki", 1000.0),
    ("frontend_bound", "frontend_bound", 0.01),
    ("backend_bound", "backend_bound", 0.01),
    ("bad_speculation", "bad_speculation", 0.01),
    ("retiring", "retiring", 0.01),
    ("fetch_latency", "fetch_latency", 0.01),
    ("memory_bound", "memory_bound", 0.01),
    // Of perf.
    ("tma_frontend_bound", "frontend_bound", 0.01),
    ("tma_backend_bound", "backend_bound", 0.01),
    ("tma_bad_speculation", "bad_speculation", 0.01),
    ("tma_retiring", "retiring", 0.01),
    ("tma_fetch_latency", "fetch_latency", 0.01),
    ("tma_memory_bound", "memory_bound", 0.01),
    // Of Arm.
    ("backend_stalled_cycles", "backend_stalls", 0.01),
    ("frontend_stalled_cycles", "frontend_stalls", 0.01),
    ("branch_mpki", "branch_mpki", 1.0),
    ("l1d_cache_mpki", "l1d_mpki", 1.0),
    ("l1i_cache_mpki", "l1i_mpki", 1.0),
    ("l2_cache_mpki", "l2_mpki", 1.0),
    ("ll_cache_read_mpki", "llc_mpki", 1.0),
    ("l1d_tlb_mpki", "dtlb_mpki", 1.0),
    ("dtlb_mpki", "dtlb_walks_pki", 1.0),
    ("itlb_mpki", "itlb_walks_pki", 1.0),
];

/// What a metric of another tool is called here, and by what it is multiplied.
pub(crate) fn named(name: &str) -> (String, f64) {
    let plain = name.trim().to_ascii_lowercase();
    let plain = plain.strip_prefix("metric_").unwrap_or(&plain);
    let plain = match plain.strip_prefix("tma_..") {
        Some(rest) => format!("tma_{rest}"),
        None => plain.to_owned(),
    };
    match NAMES.iter().find(|(other, ..)| *other == plain) {
        Some((_, own, factor)) => ((*own).to_owned(), *factor),
        None => (name.trim().to_owned(), 1.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_the_groups() {
        let known: Vec<&str> = ::counters::groups().iter().flat_map(|g| &g.metrics).map(|m| m.name.as_str()).collect();
        for (name, own, _) in NAMES {
            assert!(known.contains(own), "{name}: there is no metric {own}");
            assert_eq!(*name, name.to_lowercase());
        }
        assert_eq!(named("TMA_..Fetch_Latency(%)"), ("fetch_latency".to_owned(), 0.01));
        // Another metric, further down the tree.
        assert_eq!(named("TMA_....Fetch_Latency(%)").0, "TMA_....Fetch_Latency(%)");
        assert_eq!(named("metric_IPC"), ("ipc".to_owned(), 1.0));
        assert_eq!(named("DRAM power (watts)"), ("DRAM power (watts)".to_owned(), 1.0));
    }
}
