//! What Twinscope can read. One folder a source: where the kernel documents it, its tables, the reader, its default charts, its
//! tests. Everything else (report pages, SQL schema, comparison, reference documentation) is derived from the declaration,
//! so that adding a source adds a folder here and a line in [`ALL`].

#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

mod attributes;
#[cfg(feature = "bpf")]
mod counted;
mod cputime;
#[cfg(feature = "bpf")]
mod dearness;
mod entities;
#[cfg_attr(not(feature = "bpf"), allow(dead_code))]
mod looking;
pub mod mask;
#[cfg_attr(not(feature = "bpf"), allow(dead_code))]
mod memory;
pub mod parse;
pub mod scope;
mod source;
#[cfg_attr(not(feature = "bpf"), allow(dead_code))]
mod tally;
#[cfg(test)]
mod testing;

mod allocation;
mod block;
mod buddyinfo;
mod cgroups;
mod conntrack;
mod cpu;
mod cpu_speed;
mod cpufreq;
mod cpuidle;
mod disks;
mod ethtool;
mod facts;
mod faults;
mod filesystems;
#[cfg_attr(not(feature = "bpf"), allow(dead_code, unused_imports))]
mod hotspot;
mod hugepages;
mod instructions;
mod interrupts;
mod ipis;
mod irqs;
mod jvm;
mod kernel;
mod kernel_config;
mod ksm;
mod machine;
mod meminfo;
mod memory_samples;
mod network;
mod nfs;
mod numa;
mod pagetypeinfo;
mod pmu;
mod pressure;
mod process;
mod protocols;
mod reads;
mod schedstat;
mod slab;
mod sockets;
mod softirqs;
mod softnet;
pub mod stacks;
mod syscalls;
mod sysctl;
mod tcp;
mod thermal;
#[cfg(feature = "bpf")]
mod thin;
mod thinning;
mod threads;
mod turns;
mod vmstat;
mod working_set;
mod zoneinfo;

pub use facts::cpu_quota;
pub use jvm::{Flight, Flights};
pub use reads::ReadFrom;
pub use source::{Open, Pace, Reader, Scope, Source, Start};
pub use thinning::{Degrees, Thinning};

/// Every source, in the order in which they are read.
pub static ALL: &[&Source] = &[
    &cpu::SOURCE, //
    &cpufreq::SOURCE,
    &cpu_speed::SOURCE,
    &cpuidle::SOURCE,
    &pmu::SOURCE,
    &interrupts::SOURCE,
    &kernel::SOURCE,
    &meminfo::SOURCE,
    &pressure::SOURCE,
    &schedstat::SOURCE,
    &softirqs::SOURCE,
    &thermal::SOURCE,
    &vmstat::SOURCE,
    &zoneinfo::SOURCE,
    &buddyinfo::SOURCE,
    &numa::SOURCE,
    &hugepages::SOURCE,
    &ksm::SOURCE,
    &slab::SOURCE,
    &pagetypeinfo::SOURCE,
    &disks::SOURCE,
    &filesystems::SOURCE,
    &nfs::SOURCE,
    &network::SOURCE,
    &softnet::SOURCE,
    &ethtool::SOURCE,
    &sockets::SOURCE,
    &protocols::SOURCE,
    &conntrack::SOURCE,
    &kernel_config::SOURCE,
    &sysctl::SOURCE,
    &process::SOURCE,
    &threads::SOURCE,
    &cgroups::SOURCE,
    &syscalls::SOURCE,
    &ipis::SOURCE,
    &faults::SOURCE,
    &block::SOURCE,
    &irqs::SOURCE,
    &tcp::SOURCE,
    &turns::SOURCE,
    &reads::SOURCE,
    &jvm::SOURCE,
    &allocation::SOURCE,
    &facts::SOURCE,
    &machine::SOURCE,
    // Before the one that takes its samples.
    &memory_samples::SOURCE,
    &instructions::SOURCE,
    &working_set::SOURCE,
    // Last: a tick's rows of the dictionary come after those that refer to it.
    &stacks::SOURCE,
];

/// The source called `name`.
pub fn by_name(name: &str) -> Option<&'static Source> {
    ALL.iter().copied().find(|s| s.name == name)
}

/// Why a source that needs eBPF is not here.
#[cfg(not(feature = "bpf"))]
fn without_bpf() -> model::Unavailable {
    model::Unavailable::absent("this program was built without eBPF").remedy("a build with the feature `bpf`")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Pieces of what the kernel writes, in any order: gets further into readers than random bytes do.
    fn soup() -> impl Strategy<Value = String> {
        let pieces = prop_oneof![
            prop::sample::select(vec![
                "\n",
                "\n",
                " ",
                " ",
                ": ",
                "\t",
                ",",
                "-",
                "/",
                "(",
                ")",
                "=",
                ".",
                ">",
                "\0",
                "\u{fffd}",
                "cpu",
                "cpu0",
                "CPU0",
                "CPU1",
                "Node 0, zone",
                "type",
                "Number of blocks type",
                "version 15\n",
                "slabinfo - version: 2.1\n",
                "some",
                "full",
                "total=",
                "avg10=",
                "ctxt",
                "intr",
                "0",
                "1",
                "0-3",
                "18446744073709551615",
                "-9223372036854775808",
                "protection:",
                "present",
                "kB",
                "eth0",
                "Tcp:",
                "Ip:",
                "processor",
                "flags",
                "aperfmperf",
                "sda",
                "max",
                "0x1f",
                "ff",
            ])
            .prop_map(str::to_owned),
            any::<i64>().prop_map(|number| number.to_string()),
            "[a-zA-Z0-9_()-]{1,12}",
        ];
        prop::collection::vec(pieces, 0..80).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]
        #[test]
        fn no_source_panics_on_what_files_hold(content in soup()) {
            for source in ALL {
                testing::survives(source, &content);
            }
        }
    }
}
