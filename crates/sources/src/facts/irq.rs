//! Which CPUs handle which interrupts (Documentation/core-api/irq/irq-affinity.rst). Interrupt numbers change from boot to boot; the names
//! of those who handle them do not. Interrupts whose names differ by their last number only (the queues of a device)
//! are one fact: `nvme0q*` is `0: 0; 1: 0-1; 2: 2-3`.

use super::{Facts, fold};
use std::collections::BTreeMap;

/// CPUs of each interrupt of a family: by number within the family, and by the order of interrupts of the same name.
type Family = BTreeMap<(i64, usize), String>;

pub(super) fn find(facts: &mut Facts<'_, '_>) {
    facts.optional("default_affinity", "/proc/irq/default_smp_affinity");
    let numbers = match facts.host.list("/proc/irq") {
        Ok(names) => names,
        Err(error) => return facts.missing("affinity", error.into()),
    };
    let mut asked: BTreeMap<String, Family> = BTreeMap::new();
    let mut effective: BTreeMap<String, Family> = BTreeMap::new();
    for (order, number) in numbers.iter().enumerate().filter(|(_, n)| n.bytes().all(|b| b.is_ascii_digit())) {
        // An interrupt that nobody handles has no action.
        let actions = facts.host.read_text(&format!("/sys/kernel/irq/{number}/actions")).unwrap_or_default();
        let Some(name) = actions.split(',').next().map(str::trim).filter(|name| !name.is_empty()) else { continue };
        let (family, member) = match fold::last_number(name) {
            Some((head, number, tail)) => (format!("{head}*{tail}"), number),
            None => (name.to_owned(), 0),
        };
        for (file, families) in [("smp_affinity_list", &mut asked), ("effective_affinity_list", &mut effective)] {
            if let Ok(list) = facts.host.read_text(&format!("/proc/irq/{number}/{file}"))
                && !list.is_empty()
            {
                families.entry(family.clone()).or_default().insert((member, order), list);
            }
        }
    }
    for (suffix, families) in [("affinity", asked), ("effective", effective)] {
        for (family, members) in families {
            facts.set(&format!("{family}.{suffix}"), text(&members));
        }
    }
}

/// `0-3` where all agree, else each member with its CPUs.
fn text(members: &Family) -> String {
    let mut lists = members.values();
    let first = lists.next().cloned().unwrap_or_default();
    if lists.all(|list| *list == first) {
        return first;
    }
    members.iter().map(|((member, _), list)| format!("{member}: {list}")).collect::<Vec<_>>().join("; ")
}
