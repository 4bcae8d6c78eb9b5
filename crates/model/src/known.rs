//! Facts that are known to matter for performance, with one line why. A comparison of two hosts finds hundreds of facts that
//! differ; these are listed first.

use crate::matches;

/// One or more facts that are known to matter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Known {
    /// The fact's category.
    pub category: &'static str,
    /// Its name, in which `*` stands for any characters.
    pub name: &'static str,
    /// Why it matters, in one line.
    pub why: &'static str,
}

const fn known(category: &'static str, name: &'static str, why: &'static str) -> Known {
    Known { category, name, why }
}

const FREQUENCY: &str = "sets how fast the CPU may run";
const IDLE: &str = "deep idle states save power and add microseconds to every wake-up; disabled ones cost turbo";
const MITIGATION: &str = "a mitigation adds cost to each system call, context switch or indirect branch";
const THP: &str = "huge pages save TLB misses; making them can stall the thread that allocates";
const RECLAIM: &str = "decides when the kernel reclaims memory or swaps, and with it who waits";
const WRITEBACK: &str = "decides when dirty pages are written, and when writers are made to wait";
const SOCKET_MEMORY: &str = "limits the window of a connection, so its throughput over distance";
const BACKLOG: &str = "a queue that overflows drops connections or packets under load";
const COALESCE: &str = "trades latency of each packet against the number of interrupts";
const QUEUES: &str = "the number of CPUs that can handle packets at the same time";
const AFFINITY: &str = "decides which CPU handles the interrupts; one CPU for all is a bottleneck";
const QUOTA: &str = "a limit of the control group: work is throttled, stalled or killed at it";
const DEBUG: &str = "a debugging aid with a cost at run time";
const ISOLATED: &str = "takes CPUs away from ordinary threads, or from their housekeeping";
const SCHED: &str = "changes which thread runs when, and where it is moved to";
const HEAP: &str =
    "size of the Java heap: how often the collector runs, and how much memory is left for the page cache";
const GC: &str = "chooses or tunes the garbage collector: pauses, throughput, memory";
const JIT: &str = "changes what the just-in-time compiler does";

/// The facts known to matter; where several match, the first one counts. Tables `sysctl` and `kernel_config` are matched by their
/// names as categories.
pub static WELL_KNOWN: &[Known] = &[
    known(
        "platform",
        "instance_type",
        "another instance type is another machine: CPU, memory, network and disk limits",
    ),
    known("platform", "hypervisor", "a hypervisor adds exits, steal time and its own clock"),
    known("platform", "product", "another machine model"),
    known("platform", "cloud", "another cloud is another machine, network and disk"),
    known("platform", "life_cycle", "spot and burstable capacity can be throttled"),
    known("platform", "bios_version", "firmware sets power, memory and NUMA policy"),
    known("platform", "power_profile", FREQUENCY),
    known("kernel", "release", "another kernel: scheduler, memory management, drivers and mitigations differ"),
    known("kernel", "version", "another build of the kernel: its patches and configuration can differ"),
    known("kernel", "preemption", "trades throughput for latency"),
    known("kernel", "distribution", "other defaults, libraries and services"),
    known("kernel", "machine", "another architecture: other code, memory order and page size"),
    known("kernel", "page_size", "decides TLB reach, and the granularity of memory use and faults"),
    known("kernel", "boot.mitigations", MITIGATION),
    known("kernel", "boot.spec*", MITIGATION),
    known("kernel", "boot.*pti", MITIGATION),
    known("kernel", "boot.isolcpus", ISOLATED),
    known("kernel", "boot.nohz*", ISOLATED),
    known("kernel", "boot.rcu_nocbs", ISOLATED),
    known("kernel", "boot.transparent_hugepage*", THP),
    known("kernel", "boot.*cstate", IDLE),
    known("kernel", "boot.idle", IDLE),
    known("kernel", "boot.cpuidle*", IDLE),
    known("kernel", "boot.*pstate", FREQUENCY),
    known("kernel", "boot.*iommu*", "an IOMMU in strict mode adds work to every I/O"),
    known("kernel", "boot.swiotlb", "bounce buffers copy the data of every I/O"),
    known("kernel", "boot.init_on_*", "clears memory at each allocation or free"),
    known("kernel", "boot.slub_debug", DEBUG),
    known("kernel", "boot.page_poison", DEBUG),
    known("kernel", "boot.audit", "system-call auditing adds work to every system call"),
    known("kernel", "boot.*", "a boot parameter known to change performance"),
    known("kernel", "tainted", "modules from outside, or trouble that the kernel has met"),
    known("cpu", "model", "another CPU: speed per clock, caches, instructions"),
    known("cpu", "vendor", "another CPU: speed per clock, caches, instructions"),
    known("cpu", "stepping", "another revision of the CPU, with other errata and mitigations"),
    known("cpu", "microcode", "microcode carries mitigations that slow some instructions"),
    known("cpu", "flags", "instructions that libraries choose their code by, such as AVX-512"),
    known("cpu", "cpus", "how much can run at the same time"),
    known("cpu", "online", "how much can run at the same time"),
    known("cpu", "sockets", "more sockets, more remote memory and cache traffic"),
    known("cpu", "cores", "how much can run at the same time"),
    known("cpu", "threads_per_core", "threads of one core share its units: two busy ones each run slower"),
    known("cpu", "smt*", "threads of one core share its units: two busy ones each run slower"),
    known("cpu", "cache.*", "cache size and sharing decide how much of the working set is near"),
    known("cpu", "numa.*", "memory of another node is slower"),
    known("cpu", "isolated", ISOLATED),
    known("cpu", "nohz_full", ISOLATED),
    known("cpu", "governor", "a governor that lowers the clock makes everything slower, or slow to start"),
    known("cpu", "frequency.*", FREQUENCY),
    known("cpu", "energy_preference", FREQUENCY),
    known("cpu", "boost", FREQUENCY),
    known("cpu", "turbo", FREQUENCY),
    known("cpu", "idle.*", IDLE),
    known("cpu", "mitigation.*", MITIGATION),
    known("clock", "source", "a slow clock source makes each gettimeofday a system call or a VM exit"),
    known("clock", "tsc", "an unstable TSC forces a slow clock source"),
    known("clock", "event_device", "the timer that wakes sleeping threads: its cost and precision"),
    known("memory", "total", "how much the page cache and the workload can hold"),
    known("memory", "node*", "memory of another node is slower"),
    known("memory", "thp.*", THP),
    known("memory", "khugepaged.*", "the thread that makes huge pages later, and how eagerly"),
    known("memory", "hugepages.*", "memory set aside for huge pages; databases and JVMs use it if told"),
    known("memory", "swap.*", "swapping turns memory accesses into disk accesses"),
    known("memory", "zram*", "swap in compressed memory costs CPU time"),
    known("memory", "zswap.*", "swap in compressed memory costs CPU time"),
    known("memory", "ksm.*", "merging equal pages costs CPU time and copy-on-write faults"),
    known("memory", "lru_gen.*", RECLAIM),
    known("memory", "numa_demotion", "moves cold pages to slower memory"),
    known(
        "block",
        "*.scheduler",
        "the I/O scheduler decides which request goes first; on fast devices it costs CPU time",
    ),
    known("block", "*.rotational", "a spinning disk is slow at random access; the kernel treats it differently"),
    known("block", "*.requests", "how many requests may wait in the queue"),
    known("block", "*.queue_depth", "how many requests the device works on at once"),
    known("block", "*.hardware_queues", "how many CPUs can submit without sharing a lock"),
    known("block", "*.read_ahead", "how much is read ahead: helps streams, wastes on random reads"),
    known("block", "*.write_cache", "decides whether a flush must wait for the medium"),
    known("block", "*.throttle_latency", "writeback throttling slows background writes for the sake of reads"),
    known("block", "*.model", "another disk"),
    known("block", "*.transport", "how the disk is attached"),
    known("block", "*.rq_affinity", "on which CPU a request is completed"),
    known("mount", "*.type", "another file system: other locking, journalling and caching"),
    known("mount", "*.options", "options such as noatime, barrier, data=, discard or sync change each write"),
    known("mount", "*.device", "the disk behind the path"),
    known("network", "*.driver", "another driver: other queues, offloads and limits"),
    known("network", "*.firmware", "firmware of the adapter"),
    known("network", "*.speed", "the line rate"),
    known("network", "*.duplex", "half duplex collides"),
    known("network", "*.mtu", "larger packets, fewer of them: less work for each byte"),
    known("network", "*.ring.*", "a short ring drops packets in bursts"),
    known("network", "*.queues.*", QUEUES),
    known("network", "*.channels.*", QUEUES),
    known("network", "*.offload.*", "work that the adapter does, or leaves to the CPU"),
    known("network", "*.coalesce.*", COALESCE),
    known("network", "*.rps*", "spreads packet processing over CPUs in software"),
    known("network", "*.xps*", "which CPUs send through which queue"),
    known("network", "*.gro_flush_timeout", COALESCE),
    known("network", "*.napi*", COALESCE),
    known("network", "*.tx_queue_length", BACKLOG),
    known("network", "*.numa_node", "interrupts and buffers on another node cross the interconnect"),
    known("irq", "*.affinity", AFFINITY),
    known("irq", "*.effective", AFFINITY),
    known("irq", "default_affinity", AFFINITY),
    known("service", "irqbalance", "moves interrupts between CPUs while the workload runs"),
    known("service", "tuned", "sets many kernel parameters by a profile"),
    known("service", "*", "a service that costs time or changes settings while the workload runs"),
    known("container", "kind", "a container has its own limits and file system"),
    known("container", "cpuset.*", "the CPUs and memory nodes that may be used at all"),
    known("container", "cpu.*", QUOTA),
    known("container", "memory.*", QUOTA),
    known("container", "io.*", QUOTA),
    known("container", "pids.*", QUOTA),
    known("container", "cgroup_version", "control groups v1 and v2 account and throttle differently"),
    known("limit", "open_files", "a server that runs out of descriptors refuses connections"),
    known("limit", "processes", "fork and thread creation fail at it"),
    known("limit", "locked_memory", "io_uring, RDMA and huge pages need locked memory"),
    known("limit", "stack_size", "default size of thread stacks"),
    known("limit", "cpus_allowed", "the CPUs that the workload may use at all"),
    known("limit", "memory_nodes_allowed", "memory of another node is slower"),
    known("module", "*.guest_halt_poll_ns", IDLE),
    known("module", "kvm*", "how long a virtual CPU polls before it sleeps, and other costs of virtualisation"),
    known("module", "nvme*", "polling, queues and power states of NVMe disks"),
    known("module", "*.power_efficient", "moves kernel work to other CPUs"),
    known("module", "pcie_aspm.policy", "links that sleep take microseconds to wake up"),
    known("toolchain", "libc", "another C library: memory allocator, locks, string functions"),
    known("toolchain", "preload", "a library loaded into every program, such as another allocator"),
    known("toolchain", "gcc", "another compiler, if the workload is built here"),
    known("toolchain", "clang", "another compiler, if the workload is built here"),
    known("runtime", "java.*.-Xm*", HEAP),
    known("runtime", "java.*.-Xss", "stack size of each Java thread"),
    known("runtime", "java.*CodeHeapSize*", "a full code cache stops compilation"),
    known("runtime", "java.*HeapSize*", HEAP),
    known("runtime", "java.*RAMPercentage*", HEAP),
    known("runtime", "java.*RAMFraction*", HEAP),
    known("runtime", "java.*GC*", GC),
    known("runtime", "java.*Shenandoah*", GC),
    known("runtime", "java.*NewSize*", GC),
    known("runtime", "java.*NewRatio*", GC),
    known("runtime", "java.*Survivor*", GC),
    known("runtime", "java.*G1*", GC),
    known("runtime", "java.*ZUncommit*", GC),
    known("runtime", "java.*AlwaysPreTouch*", "touches the heap at the start, so that later faults are saved"),
    known("runtime", "java.*LargePages*", THP),
    known("runtime", "java.*TransparentHugePages*", THP),
    known("runtime", "java.*NUMA*", "places the heap on the memory nodes of its users"),
    known("runtime", "java.*CompressedOops*", "small references: less memory and cache traffic"),
    known("runtime", "java.*CompactObjectHeaders*", "small objects: less memory and cache traffic"),
    known("runtime", "java.*ActiveProcessorCount*", "how many CPUs the JVM believes to have: its thread pools follow"),
    known("runtime", "java.*Tiered*", JIT),
    known("runtime", "java.*Compile*", JIT),
    known("runtime", "java.*Inline*", JIT),
    known("runtime", "java.*CodeCache*", "a full code cache stops compilation"),
    known("runtime", "java.*.-Xint", "the interpreter is many times slower"),
    known("runtime", "java.*BiasedLocking*", "cost of locks that only one thread takes"),
    known("runtime", "java.*.-javaagent*", "an agent instruments classes, which costs time"),
    known("runtime", "java.*.-agent*", "an agent instruments the JVM, which costs time"),
    known("runtime", "java.*.version", "another JVM: other compiler, collector and defaults"),
    known("runtime", "java.*.-XX:*", "a flag of the JVM"),
    known("runtime", "java.*.*_OPTIONS", "options that the environment adds to the command line"),
    known("runtime", "python", "another interpreter"),
    known("runtime", "node", "another interpreter"),
    known("sysctl", "vm.swappiness", RECLAIM),
    known("sysctl", "vm.overcommit_*", "decides whether allocations fail early, or the OOM killer acts later"),
    known("sysctl", "vm.dirty*", WRITEBACK),
    known("sysctl", "vm.min_free_kbytes", RECLAIM),
    known("sysctl", "vm.watermark_*", RECLAIM),
    known("sysctl", "vm.vfs_cache_pressure", RECLAIM),
    known("sysctl", "vm.zone_reclaim_mode", RECLAIM),
    known("sysctl", "vm.max_map_count", "mmap fails beyond it"),
    known("sysctl", "vm.nr_hugepages*", THP),
    known("sysctl", "vm.nr_overcommit_hugepages", THP),
    known("sysctl", "vm.compaction_proactiveness", THP),
    known("sysctl", "vm.stat_interval", "how often each CPU is interrupted to fold its counters"),
    known("sysctl", "vm.page-cluster", "how many pages are read from swap at a time"),
    known("sysctl", "kernel.numa_balancing*", "moves pages to the node that uses them, at the cost of faults"),
    known("sysctl", "kernel.sched_*", SCHED),
    known("sysctl", "kernel.timer_migration", SCHED),
    known("sysctl", "kernel.nmi_watchdog", "takes a hardware counter, and an interrupt now and then on each CPU"),
    known("sysctl", "kernel.soft_watchdog", "a thread on each CPU that wakes up now and then"),
    known("sysctl", "kernel.randomize_va_space", "placement of code and data changes from run to run"),
    known("sysctl", "kernel.perf_event_*", "what may be profiled"),
    known("sysctl", "kernel.bpf_stats_enabled", DEBUG),
    known("sysctl", "kernel.ftrace_enabled", DEBUG),
    known("sysctl", "kernel.pid_max", "process and thread creation fail beyond it"),
    known("sysctl", "kernel.threads-max", "process and thread creation fail beyond it"),
    known("sysctl", "kernel.sem", "limits of System V semaphores, which databases use"),
    known("sysctl", "kernel.shm*", "limits of System V shared memory, which databases use"),
    known("sysctl", "kernel.io_uring_disabled", "programs fall back to slower I/O"),
    known("sysctl", "net.core.somaxconn", BACKLOG),
    known("sysctl", "net.core.netdev_max_backlog", BACKLOG),
    known("sysctl", "net.core.netdev_budget*", "how much one softirq may do before it gives way to ksoftirqd"),
    known("sysctl", "net.core.dev_weight*", "how much one softirq may do for one queue"),
    known("sysctl", "net.core.busy_*", "polling for packets: less latency, more CPU time"),
    known("sysctl", "net.core.*mem*", SOCKET_MEMORY),
    known("sysctl", "net.core.default_qdisc", "queueing discipline: fairness, pacing, a lock"),
    known("sysctl", "net.core.rps_sock_flow_entries", "brings packets to the CPU of their thread"),
    known("sysctl", "net.core.bpf_jit_*", "interpreted or hardened BPF programs are slower"),
    known("sysctl", "net.ipv4.tcp_*mem", SOCKET_MEMORY),
    known("sysctl", "net.ipv4.tcp_congestion_control", "how fast a connection sends, and how it reacts to loss"),
    known("sysctl", "net.ipv4.tcp_max_syn_backlog", BACKLOG),
    known("sysctl", "net.ipv4.tcp_syncookies", BACKLOG),
    known("sysctl", "net.ipv4.tcp_slow_start_after_idle", "a connection that was idle starts slowly again"),
    known("sysctl", "net.ipv4.tcp_tw_reuse", "whether ports of closed connections can be used again soon"),
    known("sysctl", "net.ipv4.tcp_fin_timeout", "how long closed connections hold resources"),
    known("sysctl", "net.ipv4.tcp_timestamps", "needed to measure round trips and to reuse ports"),
    known("sysctl", "net.ipv4.tcp_sack", "recovery from several losses at once"),
    known("sysctl", "net.ipv4.tcp_window_scaling", SOCKET_MEMORY),
    known("sysctl", "net.ipv4.tcp_moderate_rcvbuf", SOCKET_MEMORY),
    known("sysctl", "net.ipv4.tcp_notsent_lowat", "how much unsent data waits in the kernel"),
    known("sysctl", "net.ipv4.tcp_limit_output_bytes", "how much one connection may queue below TCP"),
    known("sysctl", "net.ipv4.tcp_mtu_probing", "finds the largest packet that passes"),
    known("sysctl", "net.ipv4.ip_local_port_range", "how many outgoing connections there can be"),
    known("sysctl", "net.netfilter.nf_conntrack_max", "a full connection table drops packets"),
    known("sysctl", "net.netfilter.nf_conntrack_buckets", "long hash chains make each packet slower"),
    known("sysctl", "fs.file-max", "open fails beyond it"),
    known("sysctl", "fs.nr_open", "open fails beyond it"),
    known("sysctl", "fs.aio-max-nr", "asynchronous I/O fails beyond it, and databases fall back"),
    known("sysctl", "fs.inotify.*", "watching files fails beyond it"),
    known("sysctl", "fs.epoll.*", "epoll fails beyond it"),
    known("kernel_config", "CONFIG_HZ*", "the scheduler's tick: time slices and timer precision"),
    known("kernel_config", "CONFIG_NO_HZ*", ISOLATED),
    known("kernel_config", "CONFIG_PREEMPT*", "trades throughput for latency"),
    known("kernel_config", "CONFIG_SCHED_*", SCHED),
    known("kernel_config", "CONFIG_NUMA*", "memory of another node is slower"),
    known("kernel_config", "CONFIG_TRANSPARENT_HUGEPAGE*", THP),
    known("kernel_config", "CONFIG_LRU_GEN*", RECLAIM),
    known("kernel_config", "CONFIG_MITIGATION_*", MITIGATION),
    known("kernel_config", "CONFIG_*RETPOLINE", MITIGATION),
    known("kernel_config", "CONFIG_PAGE_TABLE_ISOLATION", MITIGATION),
    known("kernel_config", "CONFIG_INIT_ON_*", "clears memory at each allocation or free"),
    known("kernel_config", "CONFIG_INIT_STACK_*", "clears variables on the stack"),
    known("kernel_config", "CONFIG_HARDENED_USERCOPY", "checks every copy between kernel and programs"),
    known("kernel_config", "CONFIG_SLAB_FREELIST_*", "hardens the allocator at a small cost"),
    known("kernel_config", "CONFIG_KASAN*", DEBUG),
    known("kernel_config", "CONFIG_KCSAN*", DEBUG),
    known("kernel_config", "CONFIG_UBSAN*", DEBUG),
    known("kernel_config", "CONFIG_KFENCE*", DEBUG),
    known("kernel_config", "CONFIG_DEBUG_*", DEBUG),
    known("kernel_config", "CONFIG_PROVE_LOCKING", DEBUG),
    known("kernel_config", "CONFIG_LOCK_STAT", DEBUG),
    known("kernel_config", "CONFIG_LOCKDEP", DEBUG),
    known("kernel_config", "CONFIG_SLUB_DEBUG_ON", DEBUG),
    known("kernel_config", "CONFIG_PAGE_POISONING", DEBUG),
    known("kernel_config", "CONFIG_CC_OPTIMIZE_*", "how the kernel was compiled"),
    known("kernel_config", "CONFIG_LTO_*", "how the kernel was compiled"),
    known("kernel_config", "CONFIG_AUTOFDO_*", "how the kernel was compiled"),
    known("kernel_config", "CONFIG_CFI_*", "checks every indirect call"),
    known("kernel_config", "CONFIG_CC_VERSION_TEXT", "how the kernel was compiled"),
    known("kernel_config", "CONFIG_PARAVIRT*", "how a guest talks to its hypervisor: spin locks, steal time, clock"),
    known("kernel_config", "CONFIG_X86_X2APIC", "how interrupts are sent between CPUs"),
    known("kernel_config", "CONFIG_*IOMMU_DEFAULT_*", "an IOMMU in strict mode adds work to every I/O"),
    known("kernel_config", "CONFIG_CPU_FREQ_DEFAULT_*", FREQUENCY),
    known("kernel_config", "CONFIG_CPU_IDLE_*", IDLE),
    known("kernel_config", "CONFIG_RCU_*", "how and where the kernel frees memory later"),
    known("kernel_config", "CONFIG_BLK_WBT*", "writeback throttling slows background writes for the sake of reads"),
    known("kernel_config", "CONFIG_IOSCHED_*", "which I/O schedulers there are"),
    known("kernel_config", "CONFIG_ZSWAP*", "swap in compressed memory costs CPU time"),
    known("kernel_config", "CONFIG_PSI_DEFAULT_DISABLED", "whether stalls are measured"),
    known("kernel_config", "CONFIG_ARM64_*K_PAGES", "decides TLB reach, and the granularity of memory use and faults"),
    known("kernel_config", "CONFIG_ARM64_LSE_ATOMICS", "atomic instructions that scale to many CPUs"),
];

/// Why a fact matters for performance, when it is one of [`WELL_KNOWN`].
pub fn why_it_matters(category: &str, name: &str) -> Option<&'static str> {
    WELL_KNOWN.iter().find(|k| k.category == category && matches(k.name, name)).map(|k| k.why)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_what_an_expert_would_look_at() {
        for (category, name) in [
            ("kernel", "release"),
            ("clock", "source"),
            ("memory", "thp.enabled"),
            ("cpu", "governor"),
            ("cpu", "mitigation.spectre_v2"),
            ("block", "nvme0n1.scheduler"),
            ("network", "eth0.ring.rx"),
            ("runtime", "java.org.example.Main.-XX:UseG1GC"),
            ("sysctl", "vm.swappiness"),
            ("sysctl", "net.ipv4.tcp_rmem"),
            ("kernel_config", "CONFIG_HZ_1000"),
        ] {
            assert!(why_it_matters(category, name).is_some(), "{category}.{name}");
        }
        assert_eq!(why_it_matters("cpu", "bogomips"), None);
        assert_eq!(why_it_matters("sysctl", "kernel.hostname"), None);
        assert_eq!(why_it_matters("elsewhere", "release"), None);
    }

    #[test]
    fn the_more_special_comes_first() {
        assert_eq!(why_it_matters("runtime", "java.App.-XX:MaxHeapSize"), Some(HEAP));
        assert_eq!(why_it_matters("kernel", "boot.init_on_alloc"), Some("clears memory at each allocation or free"));
    }

    #[test]
    fn no_entry_is_hidden_by_one_before_it() {
        for (at, entry) in WELL_KNOWN.iter().enumerate() {
            let example = entry.name.replace('*', "x");
            let first = WELL_KNOWN.iter().position(|k| k.category == entry.category && matches(k.name, &example));
            assert_eq!(first, Some(at), "{}.{} is never reached", entry.category, entry.name);
            assert!(!entry.why.is_empty() && !entry.why.ends_with('.') && entry.why.len() < 120, "{}", entry.why);
        }
    }
}
