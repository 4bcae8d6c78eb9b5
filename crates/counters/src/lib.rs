//! Groups of hardware counters, from the files of `counters/`: which events of which CPU fill the columns of the table `pmu`, and the metrics that
//! are made of them. A group is counted together, so that its ratios are of the same moments. Nothing here reads a machine.

#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

mod formula;
mod microarchitecture;
mod names;
mod read;
pub mod tables;

pub use formula::{Formula, Operator, Sum};
pub use microarchitecture::{Identity, identities, microarchitecture};
pub use names::{Machine, Maker, Named, Plan};
pub use read::{CONSTANTS, Direction, Encoding, Event, Group, HARDWARE, Metric, Section, number, read};

use std::sync::OnceLock;

include!(concat!(env!("OUT_DIR"), "/counters.rs"));

/// Groups that are counted where nothing else is asked for.
pub const DEFAULT: [&str; 3] = ["core", "branch", "fetch"];

/// The groups of `counters/`, by name.
pub fn groups() -> &'static [Group] {
    static GROUPS: OnceLock<Vec<Group>> = OnceLock::new();
    // The build has read them all.
    GROUPS.get_or_init(|| FILES.iter().filter_map(|(name, text)| read(name, text).ok()).collect())
}

/// The microarchitectures that groups know, in the order of the files.
pub fn microarchitectures() -> Vec<&'static str> {
    let mut names: Vec<&str> = Vec::new();
    for name in groups().iter().flat_map(|group| &group.sections).flat_map(|section| &section.cpus) {
        if name != "generic" && !names.contains(&name.as_str()) {
            names.push(name);
        }
    }
    names.sort_unstable();
    names
}

/// Whether a metric of the table `pmu` means the same only on CPUs of one kind.
pub fn is_of_one_cpu(metric: &str) -> bool {
    groups().iter().flat_map(|group| &group.metrics).any(|known| known.name == metric && known.same_cpu)
}

impl Group {
    /// What is counted for a microarchitecture; what any CPU has where the group knows none of it and `generic` is asked for.
    pub fn section(&self, cpu: &str) -> Option<&Section> {
        self.sections.iter().find(|section| section.cpus.iter().any(|name| name == cpu))
    }
}

#[cfg(test)]
mod tests;
