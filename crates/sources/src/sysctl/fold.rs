//! Folds settings that exist once for each interface or CPU: those that agree become one row, so that two hosts with other
//! numbers of interfaces or CPUs compare.

use std::collections::BTreeMap;

/// Where the repeated part of a name stands: the prefix before it.
const PER_INTERFACE: &[&str] =
    &["net.ipv4.conf.", "net.ipv4.neigh.", "net.ipv6.conf.", "net.ipv6.neigh.", "net.mpls.conf."];
/// The same for CPUs: kernel.sched_domain.cpu0.domain0.x (kernels before 5.13).
const PER_CPU: &str = "kernel.sched_domain.";

/// Settings on their way to sorted, folded rows.
#[derive(Default)]
pub(super) struct Folded {
    rows: BTreeMap<String, String>,
    /// By (prefix, rest of the name): instances and their values.
    repeated: BTreeMap<(String, String), Vec<(String, String)>>,
}

impl Folded {
    pub(super) fn add(&mut self, name: &str, value: &str) {
        match split(name) {
            Some((prefix, instance, rest)) => self
                .repeated
                .entry((prefix.to_owned(), rest.to_owned()))
                .or_default()
                .push((instance.to_owned(), value.to_owned())),
            None => drop(self.rows.insert(name.to_owned(), value.to_owned())),
        }
    }

    /// The rows, sorted by name. The value that most instances have stands for `*`; the others keep rows of their own.
    pub(super) fn finish(mut self) -> BTreeMap<String, String> {
        for ((prefix, rest), instances) in self.repeated {
            let count = |value: &str| instances.iter().filter(|(_, v)| v == value).count();
            // Of values that are equally frequent, the first instance's.
            let mut common = "";
            for (_, value) in &instances {
                if common.is_empty() || count(value) > count(common) {
                    common = value;
                }
            }
            for (instance, value) in &instances {
                if value != common {
                    self.rows.insert(format!("{prefix}{instance}.{rest}"), value.clone());
                }
            }
            self.rows.insert(format!("{prefix}*.{rest}"), common.to_owned());
        }
        self.rows
    }
}

/// The prefix, instance and rest of a setting that exists once for each interface or CPU. `all`, `default` and `lo` are no
/// interfaces like others.
fn split(name: &str) -> Option<(&str, &str, &str)> {
    let prefix = PER_INTERFACE.iter().copied().chain([PER_CPU]).find(|prefix| name.starts_with(prefix))?;
    let (instance, rest) = name.get(prefix.len()..)?.split_once('.')?;
    (!matches!(instance, "all" | "default" | "lo")).then_some((prefix, instance, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instances_that_agree_are_one() {
        let mut folded = Folded::default();
        for (name, value) in [
            ("net.ipv4.conf.all.x", "0"),
            ("net.ipv4.conf.lo.x", "5"),
            ("net.ipv4.conf.eth0.x", "1"),
            ("net.ipv4.conf.eth1.x", "1"),
            ("net.ipv4.conf.eth2.x", "2"),
            ("net.ipv6.conf.eth0.y", ""),
            ("net.ipv6.conf.eth1.y", "1"),
            ("kernel.sched_domain.cpu0.domain0.flags", "a"),
            ("kernel.sched_domain.cpu1.domain0.flags", "a"),
            ("vm.swappiness", "60"),
        ] {
            folded.add(name, value);
        }
        let rows: Vec<String> = folded.finish().into_iter().map(|(name, value)| format!("{name}={value}")).collect();
        assert_eq!(
            rows,
            [
                "kernel.sched_domain.*.domain0.flags=a",
                "net.ipv4.conf.*.x=1",
                "net.ipv4.conf.all.x=0",
                "net.ipv4.conf.eth2.x=2",
                "net.ipv4.conf.lo.x=5",
                "net.ipv6.conf.*.y=1",
                "net.ipv6.conf.eth0.y=",
                "vm.swappiness=60",
            ]
        );
    }
}
