//! How the CPUs hang together: sockets, cores, threads, caches, memory nodes.

use super::{Facts, fold};
use crate::parse;
use std::collections::{BTreeMap, BTreeSet};

const CPUS: &str = "/sys/devices/system/cpu";

pub(super) fn find(facts: &mut Facts<'_, '_>) {
    let online = match facts.host.read_text(&format!("{CPUS}/online")) {
        Ok(online) => online,
        Err(error) => return facts.missing("online", error.into()),
    };
    facts.set("online", &online);
    let cpus = parse::list(online.as_bytes());
    facts.set("cpus", cpus.len().to_string());
    facts.optional("offline", &format!("{CPUS}/offline"));
    facts.optional("isolated", &format!("{CPUS}/isolated"));
    // "(null)" is how the kernel prints a mask that was never set.
    if let Some(text) = facts.text("nohz_full", &format!("{CPUS}/nohz_full")).filter(|t| !t.starts_with('(')) {
        facts.set("nohz_full", text);
    }
    facts.optional("smt.control", &format!("{CPUS}/smt/control"));
    facts.optional("smt.active", &format!("{CPUS}/smt/active"));
    cores(facts, &cpus);
    caches(facts, &cpus);
    nodes(facts);
}

/// Sockets, dies, cores and threads (Documentation/admin-guide/cputopology.rst).
fn cores(facts: &mut Facts<'_, '_>, cpus: &[i64]) {
    let (mut sockets, mut dies, mut cores) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
    for cpu in cpus {
        let read = |file: &str| facts.host.read_text(&format!("{CPUS}/cpu{cpu}/topology/{file}")).ok();
        let socket = read("physical_package_id");
        if let Some(die) = read("die_id") {
            dies.insert((socket.clone(), die));
        }
        sockets.extend(socket);
        if let Some(siblings) = read("core_cpus_list").or_else(|| read("thread_siblings_list")) {
            cores.insert((parse::list(siblings.as_bytes()).first().copied(), siblings));
        }
    }
    let number = |n: usize| if n == 0 { String::new() } else { n.to_string() };
    facts.set("sockets", number(sockets.len()));
    facts.set("dies", number(if dies.len() > sockets.len() { dies.len() } else { 0 }));
    facts.set("cores", number(cores.len()));
    facts.set("threads_per_core", number(cores.iter().map(|(_, list)| fold::count(list)).max().unwrap_or(0)));
    if cores.iter().any(|(_, list)| fold::count(list) > 1) {
        let lists: Vec<&str> = cores.iter().map(|(_, list)| list.as_str()).collect();
        facts.set("smt.siblings", lists.join(" "));
    }
}

/// One kind of cache.
#[derive(Default)]
struct Cache {
    /// Size and shape as each CPU sees it.
    shapes: Vec<(i64, String)>,
    /// Which CPUs share one: a list for each instance.
    instances: BTreeSet<(Option<i64>, String)>,
}

/// Caches by level and type, as each online CPU sees them.
fn caches(facts: &mut Facts<'_, '_>, cpus: &[i64]) {
    let mut kinds: BTreeMap<String, Cache> = BTreeMap::new();
    for &cpu in cpus {
        let folder = format!("{CPUS}/cpu{cpu}/cache");
        for index in facts.host.list(&folder).unwrap_or_default() {
            let read =
                |file: &str| facts.host.read_text(&format!("{folder}/{index}/{file}")).ok().filter(|t| !t.is_empty());
            let (Some(level), Some(size)) = (read("level"), read("size")) else { continue };
            let suffix = match read("type").as_deref() {
                Some("Data") => "d",
                Some("Instruction") => "i",
                _ => "",
            };
            let cache = kinds.entry(format!("l{level}{suffix}")).or_default();
            let mut shape = size;
            // 0 ways is how the kernel says that it does not know.
            if let Some(ways) = read("ways_of_associativity").filter(|w| w != "0") {
                shape += &format!(", {ways}-way");
            }
            if let Some(line) = read("coherency_line_size") {
                shape += &format!(", {line}-byte lines");
            }
            cache.shapes.push((cpu, shape));
            if let Some(list) = read("shared_cpu_list") {
                cache.instances.insert((parse::list(list.as_bytes()).first().copied(), list));
            }
        }
    }
    let last_level = kinds.keys().next_back().cloned();
    for (kind, cache) in &kinds {
        facts.set(&format!("cache.{kind}"), fold::by_number(&cache.shapes));
        let lists: Vec<&str> = cache.instances.iter().map(|(_, list)| list.as_str()).collect();
        if lists.is_empty() {
            continue;
        }
        facts.set(&format!("cache.{kind}.instances"), lists.len().to_string());
        if Some(kind) == last_level.as_ref() {
            facts.set(&format!("cache.{kind}.shared_by"), lists.join(" "));
        }
    }
}

/// Memory nodes: their CPUs, memory and distances (Documentation/ABI/stable/sysfs-devices-node).
fn nodes(facts: &mut Facts<'_, '_>) {
    let folder = "/sys/devices/system/node";
    let names: Vec<String> = facts.host.glob(&format!("{folder}/node*"));
    let (mut count, mut totals) = (0, Vec::new());
    for path in names {
        let Some(name) = path.rsplit('/').next() else { continue };
        let Some(number) = name.strip_prefix("node").and_then(|n| n.parse::<u32>().ok()) else { continue };
        count += 1;
        facts.optional(&format!("numa.node{number}.cpus"), &format!("{path}/cpulist"));
        if let Some(text) = facts.text(&format!("numa.node{number}.distances"), &format!("{path}/distance")) {
            facts.set(
                &format!("numa.node{number}.distances"),
                text.split_ascii_whitespace().collect::<Vec<_>>().join(" "),
            );
        }
        let meminfo = facts.host.read_text(&format!("{path}/meminfo")).unwrap_or_default();
        if let Some(total) = super::memory::kibibytes(&meminfo, "MemTotal:") {
            totals.push((number, total));
        }
    }
    if count > 0 {
        facts.set("numa.nodes", count.to_string());
    }
    // The memory of the only node is that of the machine.
    for (number, total) in totals.into_iter().filter(|_| count > 1) {
        facts.set_in("memory", &format!("node{number}.total"), super::memory::rounded(total));
    }
}
